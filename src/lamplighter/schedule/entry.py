"""What is to be installed at the system's scheduler: one entry a job, and at which minutes it wakes us (pure)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from math import gcd
from pathlib import Path

from lamplighter.schedule.cadence import Cadence, slots_between
from lamplighter.schedule.cron_words import parse_fields

LABEL_PREFIX = "dev.lamplighter"
WATCH = "watch"
DAY_MINUTES = 24 * 60
_LOOKED_AHEAD = timedelta(days=2 * 366)
_STEP = timedelta(hours=12)
_DAY = timedelta(days=1)
_LONGEST_NAME = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing the system's scheduler starts: `argv` at `minutes` of its day (0 is midnight), and at its own start.

    `path` and `folder` are the PATH and the working folder it gets, `boot_file` takes what is said before our own log
    is open; `limit` is the most time the job has by itself (None: any); work for a person to see `is_content`.
    """

    label: str
    job: str
    argv: tuple[str, ...]
    folder: Path
    path: str
    minutes: frozenset[int]
    boot_file: Path
    limit: timedelta | None = None
    is_content: bool = False
    catches_up: bool = True

    @property
    def fingerprint(self) -> str:
        """Return a word for all of it: with other settings an entry has another."""
        parts = (self.label, *self.argv, str(self.folder), self.path, str(self.boot_file), str(self.limit))
        words = "\0".join((*parts, ",".join(map(str, sorted(self.minutes)))))
        return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """Return what the process gets beside the scheduler's own; never a secret: anybody may read an entry."""
        return (("PATH", self.path), ("LANG", "en_US.UTF-8"), ("PYTHONUNBUFFERED", "1"))

    @property
    def boot_line_file(self) -> Path:
        """Return where systemd leaves how the entry's last start ended."""
        return self.boot_file.with_suffix(".ended")


def project_name(folder: Path) -> str:
    """Return a workspace's part of a label: its folder's name, and what tells it from another of that name."""
    plain = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "workspace"
    return f"{plain}-{hashlib.sha256(str(folder).encode()).hexdigest()[:8]}"


def label_of(project: str, job: str) -> str:
    """Return the name of a job's entry; all of a workspace begin alike, so that each is found again."""
    return f"{LABEL_PREFIX}.{project}.{job}"


def job_of(label: str, project: str) -> str:
    """Return the job of a label of the project, "" for every other label."""
    prefix = f"{LABEL_PREFIX}.{project}."
    return label.removeprefix(prefix) if label.startswith(prefix) else ""


def find_minutes(cadence: Cadence, machine: tzinfo, now: datetime) -> frozenset[int]:
    """Return the minutes of the machine's day at which a job may be due, whatever the day.

    Where the job's zone is not the machine's, or either changes its clock, that is a superset: what wakes us once too
    often finds no slot open, and does nothing.
    """
    zone = UTC if cadence.every else cadence.zone  # intervals are counted from 1970, by no zone's clock
    shifts, changes = _compare_zones(zone, machine, now)
    found = {(minute + shift) % DAY_MINUTES for minute in _nominal_minutes(cadence) for shift in shifts}
    for changed_at in changes:
        if len(found) == DAY_MINUTES:
            break
        for slot in slots_between(cadence, changed_at - _DAY, changed_at + _DAY):
            found.add(_minute_of(slot.due_at, machine))
    return frozenset(found)


def group_minutes(minutes: Iterable[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield hours and the minutes that those hours share, so that what regular there is takes few words."""
    by_hour: dict[int, list[int]] = {}
    for minute in sorted(minutes):
        by_hour.setdefault(minute // 60, []).append(minute % 60)
    by_minutes: dict[tuple[int, ...], list[int]] = {}
    for hour, found in by_hour.items():
        by_minutes.setdefault(tuple(found), []).append(hour)
    for shared, hours in by_minutes.items():
        yield tuple(hours), shared


def every_minutes(step: int) -> frozenset[int]:
    """Return the minutes of a day that are `step` apart, from midnight on."""
    return frozenset(range(0, DAY_MINUTES, step))


def _nominal_minutes(cadence: Cadence) -> frozenset[int]:
    """Return the minutes of the day at which a job is due by its own zone's clock, of UTC for an interval."""
    if cadence.cron:
        fields = parse_fields(cadence.cron)
        return frozenset(hour * 60 + minute for hour in fields.hours for minute in fields.minutes)
    if cadence.every:
        return every_minutes(gcd(cadence.every // timedelta(minutes=1), DAY_MINUTES))
    return frozenset(moment.hour * 60 + moment.minute for moment in cadence.at)


def _compare_zones(zone: tzinfo, machine: tzinfo, now: datetime) -> tuple[frozenset[int], tuple[datetime, ...]]:
    """Return the minutes that the machine's clock is ahead of the zone's in the next years, and when either changes."""
    shifts, changes, before = set(), [], None
    begin = datetime(now.year, now.month, now.day, tzinfo=UTC)
    for number in range(_LOOKED_AHEAD // _STEP):
        at = begin + number * _STEP
        offsets = tuple(at.astimezone(one).utcoffset() or timedelta() for one in (machine, zone))
        if before is not None and offsets != before:
            changes.append(at)
        before = offsets
        shifts.add((offsets[0] - offsets[1]) // timedelta(minutes=1))
    return frozenset(shifts), tuple(changes)


def _minute_of(instant: datetime, zone: tzinfo) -> int:
    wall = instant.astimezone(zone)
    return wall.hour * 60 + wall.minute
