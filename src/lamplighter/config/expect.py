"""[expect.NAME] of lamplighter.toml: what a person expects of a job, checked strictly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import time
from typing import Literal

import msgspec

from lamplighter.config.basics import REMEDY, explain_job_name, parse_duration, parse_wall_time
from lamplighter.engine.expect_settings import ExpectSettings
from lamplighter.errors import ConfigError
from lamplighter.notify.severity import Severity

_OWN_KEYS = {"by_time": ("by", "at_least", "grace"), "max_age": ("max_age",), "streak": ("count",)}


class ExpectTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[expect.NAME]: one expectation."""

    kind: Literal["by_time", "max_age", "streak"]
    job: str
    by: str = ""
    at_least: int = 0
    grace: str = ""
    max_age: str = ""
    count: int = 0
    severity: Literal["info", "warning", "critical"] = "warning"


def parse_expectations(
    tables: Mapping[str, ExpectTable], times: Mapping[str, tuple[time, ...]], name: str
) -> tuple[ExpectSettings, ...]:
    """Return what is expected of jobs; `times` are the due times of each job there is. Raises ConfigError, one line."""
    return tuple(_parse(key, table, times, name) for key, table in tables.items())


def _parse(key: str, table: ExpectTable, times: Mapping[str, tuple[time, ...]], name: str) -> ExpectSettings:
    where = f"expect.{key}"
    for problem in _find_problems(where, table, times):
        raise ConfigError(name, problem, REMEDY)
    at_least = table.at_least or 1
    at = sorted(set(times[table.job]))
    by = table.by or (f"{at[min(at_least, len(at)) - 1]:%H:%M}" if at else "00:00")
    return ExpectSettings(
        name=key,
        kind=table.kind,
        job=table.job,
        severity=Severity(table.severity),
        at=parse_wall_time(name, f"{where}.by", by),
        at_least=at_least,
        grace=parse_duration(name, f"{where}.grace", table.grace or "15m", "0s", "1d"),
        max_age=parse_duration(name, f"{where}.max_age", table.max_age or "36h", "10m", "400d"),
        count=table.count or 3,
    )


def _find_problems(where: str, table: ExpectTable, times: Mapping[str, tuple[time, ...]]) -> Iterator[str]:
    """Yield what is wrong with an expectation, the first thing first."""
    if problem := explain_job_name(where.removeprefix("expect.")):
        yield f"[{where}]: {problem.replace('a job', 'an expectation')}"
    if table.job not in times:
        known = ", ".join(sorted(times)) or "none"
        yield f"{where}.job = {table.job[:40]!r}: there is no such job; known are {known}"
    for kind in (kind for kind in _OWN_KEYS if kind != table.kind):
        for key in (key for key in _OWN_KEYS[kind] if getattr(table, key)):
            yield f"{where}.{key} is for kind = {kind!r}, and this is {table.kind!r}"
    yield from _find_missing(where, table, times.get(table.job, ()))
    for key, value, most in (("at_least", table.at_least, 100), ("count", table.count, 20)):
        if not 0 <= value <= most:
            yield f"{where}.{key} must be 1 to {most}"


def _find_missing(where: str, table: ExpectTable, at: tuple[time, ...]) -> Iterator[str]:
    if table.kind == "max_age" and not table.max_age:
        yield f"{where}.max_age is missing: how old the newest output may be, like 36h"
    if table.kind == "by_time" and not table.by and not at:
        yield f"{where}.by is missing: {table.job} has no times of its own"
