"""Slots: one due time of a job, as wall clock in a zone (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One due time; `key` names it for good, e.g. 2026-11-29-1930, or 2026-11-29 where nothing is scheduled."""

    key: str
    day: date
    due_at: datetime


def slot_of_day(day: date, at: time | None, zone: ZoneInfo) -> Slot:
    """Return the slot of a local day.

    A wall time the day skips (DST) is due when the clock is set forward, in the last second before where that is
    midnight; one the day has twice is due the first time.
    """
    key = f"{day:%Y-%m-%d}" if at is None else f"{day:%Y-%m-%d}-{at:%H%M}"
    wall = datetime.combine(day, at or time(0), zone)
    due_at = wall.astimezone(UTC)
    if due_at.astimezone(zone).replace(tzinfo=None) != wall.replace(tzinfo=None):
        change_at = _change_between(wall.replace(fold=1).astimezone(UTC), due_at, zone)
        due_at = change_at if change_at.astimezone(zone).date() == day else change_at - _SECOND
    return Slot(key=key, day=day, due_at=due_at)


def _change_between(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the second at which the zone's offset becomes that of `after`."""
    old = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        before, after = (middle, after) if middle.astimezone(zone).utcoffset() == old else (before, middle)
    return after


def slot_today(now: datetime, at: time | None, zone: ZoneInfo) -> Slot:
    """Return the slot of the local day that `now` falls on."""
    return slot_of_day(now.astimezone(zone).date(), at, zone)


def next_slot(now: datetime, at: tuple[time, ...], zone: ZoneInfo) -> Slot | None:
    """Return the first slot after `now`, None when there are none at all."""
    today = now.astimezone(zone).date()
    slots = [slot_of_day(today + timedelta(days=ahead), moment, zone) for ahead in (0, 1) for moment in at]
    return min((slot for slot in slots if slot.due_at > now), key=lambda slot: slot.due_at, default=None)
