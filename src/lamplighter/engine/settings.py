"""What a person may set about a job of their own; imports no library, so that reading it costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path
from types import MappingProxyType

from lamplighter.value import value


@value
class JobSettings:
    """A command job: arguments as given, its folder, what is added to the environment, what is expected of it.

    `limit` is the most awake time it may take (None: any), `expected` what it should; `output` a pattern of files below
    `folder` of which each run must leave a new one ("": nothing is declared). An `env` value may be "env:NAME" or
    "file:PATH": then it is a secret, read when the job starts and kept out of logs. It is due at its times of day `at`,
    or by the cron expression, or every so often. A job that needs the `network` is given time to find it.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    output: str = ""
    limit: timedelta | None = None
    expected: timedelta | None = None
    env: Mapping[str, str] = MappingProxyType({})
    at: tuple[time, ...] = ()
    catch_up: timedelta = timedelta(hours=6)
    cron: str = ""
    every: timedelta = timedelta()
    network: bool = False

    @property
    def is_timed(self) -> bool:
        """Return whether it has due times."""
        return bool(self.at or self.cron or self.every)
