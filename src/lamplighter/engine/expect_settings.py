"""What a person may set about what a job is to leave behind; apart, so that no run loads it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time, timedelta

from lamplighter.notify.severity import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectSettings:
    """What a person expects of a job: by a time of each day, at least so often, or not so many bad runs in a row.

    `kind` is "by_time" (`at` and `at_least` outputs by then, and `grace`), "max_age" or "streak" (`count`).
    """

    name: str
    kind: str
    job: str
    severity: Severity = Severity.WARNING
    at: time = time(0)
    at_least: int = 1
    grace: timedelta = timedelta(minutes=15)
    max_age: timedelta = timedelta(hours=36)
    count: int = 3
