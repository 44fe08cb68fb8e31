"""When a person is told again of what is still wrong (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from lamplighter.schedule.cadence import slot_of_day

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """The times of the reminders, counted from the first word: after each of `after`, then each day at `daily`.

    Whoever has not answered after `escalate` is told by the second channel too (None: never). Without `daily` nothing
    follows the last of `after`.
    """

    after: tuple[timedelta, ...] = (timedelta(hours=1), timedelta(hours=4))
    daily: time | None = time(9)
    escalate: timedelta | None = timedelta(hours=4)


ONCE = Ladder(after=(), daily=None, escalate=None)


def find_step(ladder: Ladder, first_at: datetime, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the newest time of a ladder that has come, None when none has: of several that were missed, one is left.

    The daily ones begin at the first `daily` after the last of `after`, at the wall time of `zone`.
    """
    steps = [first_at + after for after in ladder.after if first_at + after <= now]
    if ladder.daily is not None:
        last = first_at + max(ladder.after, default=timedelta())
        today = now.astimezone(zone).date()
        days = [slot_of_day(day, ladder.daily, zone).due_at for day in (today - _DAY, today)]
        steps += [at for at in days if last < at <= now]
    return max(steps, default=None)
