"""Slots: one due time of a job, as wall clock in a zone (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One due time; `key` names it for good, e.g. 2026-11-29-1930, or 2026-11-29 where nothing is scheduled."""

    key: str
    day: date
    due_at: datetime


def slot_of_day(day: date, at: time | None, zone: ZoneInfo) -> Slot:
    """Return the slot of a local day; a wall time the day skips (DST) falls where the clock was set forward to."""
    local = datetime.combine(day, at or time(0), zone)
    key = f"{day:%Y-%m-%d}" if at is None else f"{day:%Y-%m-%d}-{at:%H%M}"
    return Slot(key=key, day=day, due_at=local.astimezone(UTC))


def slot_today(now: datetime, at: time | None, zone: ZoneInfo) -> Slot:
    """Return the slot of the local day that `now` falls on."""
    return slot_of_day(now.astimezone(zone).date(), at, zone)


def next_slot(now: datetime, at: tuple[time, ...], zone: ZoneInfo) -> Slot | None:
    """Return the first slot after `now`, None when there are none at all."""
    today = now.astimezone(zone).date()
    slots = [slot_of_day(today + timedelta(days=ahead), moment, zone) for ahead in (0, 1) for moment in at]
    return min((slot for slot in slots if slot.due_at > now), key=lambda slot: slot.due_at, default=None)
