"""Slots: one due time of a job, as wall clock in a zone, and which of them a run is for (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

from lamplighter.schedule.cron_words import due_after, parse_fields

EARLY = timedelta(minutes=2)
ON_TIME = timedelta(minutes=15)
LOOK_BACK = timedelta(days=35)
_LOOK_BACK_INTERVALS = timedelta(days=1)
_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_MOST_CLAIMED_AHEAD = 100
_OFTEN = 24  # times a day; what is due more often is looked for one day back only


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One due time; `key` names it for good, e.g. 2026-11-29-1930, or 2026-11-29 where nothing is scheduled."""

    key: str
    day: date
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """When a job is due, and how long a missed slot is still worth doing.

    Due are the wall times `at` of the zone, or what the cron expression says there, or every so often: one of these.

    Once a day means: a slot may be done until its local day ends, `catch_up` apart, and one that is done serves the
    whole day, whatever its time was when it was done.
    """

    zone: ZoneInfo
    at: tuple[time, ...] = ()
    every: timedelta = timedelta()
    catch_up: timedelta = timedelta(hours=6)
    once_a_day: bool = False
    cron: str = ""

    @property
    def is_timed(self) -> bool:
        """Return whether there are any due times."""
        return bool(self.at or self.every or self.cron)

    def describe(self) -> str:
        """Return the due times in words; other words mean another schedule."""
        if self.cron:
            return f"cron {' '.join(self.cron.split())} {self.zone.key}"
        if self.every:
            return f"every {self.every.total_seconds():g} s"
        return f"{' '.join(f'{moment:%H:%M}' for moment in sorted(set(self.at))) or 'never'} {self.zone.key}"

    @property
    def look_back(self) -> timedelta:
        """Return how far back a slot without a word is looked for."""
        return max(self.catch_up, _LOOK_BACK_INTERVALS if self._is_frequent else LOOK_BACK)

    @property
    def _is_frequent(self) -> bool:
        if self.cron:
            fields = parse_fields(self.cron)
            return len(fields.hours) * len(fields.minutes) > _OFTEN
        return bool(self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What is known of a job's slots: since when its schedule stands, the keys with a word, the days that were served.

    A slot from before `since` is none: a new schedule does not make old slots due.
    """

    since: datetime
    keys: frozenset[str] = frozenset()
    days: frozenset[date] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A run is for `slot`; older ones without a word went into it (`coalesced`) or are past doing (`missed`)."""

    slot: Slot
    is_catch_up: bool = False
    coalesced: tuple[Slot, ...] = ()
    missed: tuple[Slot, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDue:
    """No slot is open; `next` is the first to come, None when there are none at all."""

    next: Slot | None
    missed: tuple[Slot, ...] = ()


def decide_slot(now: datetime, cadence: Cadence, settled: Settled) -> Due | NotDue:
    """Return the slot that a scheduler woke us for: the newest that is due, has no word yet, and is worth doing.

    A clock that is up to two minutes early belongs to the slot it is early for.
    """
    early = _find_early(now, cadence)
    after = max(settled.since, now - cadence.look_back) - _SECOND
    left = [slot for slot in slots_between(cadence, after, now + early) if not _is_settled(slot, cadence, settled)]
    still = [slot for slot in left if _is_worth_doing(slot, now, cadence)]
    missed = tuple(slot for slot in left if slot not in still)
    if not still:
        coming = _first_open(cadence, max(now, settled.since), settled)
        return NotDue(next=coming, missed=missed)
    slot = still[-1]
    return Due(slot=slot, is_catch_up=now - slot.due_at > ON_TIME, coalesced=tuple(still[:-1]), missed=missed)


def decide_by_hand(now: datetime, cadence: Cadence, settled: Settled) -> Due | NotDue:
    """Return the slot that a person's run takes: today's newest that is due and has no word yet.

    A job that runs once a day takes its day at whatever hour, also where nothing is scheduled.
    """
    today = now.astimezone(cadence.zone).date()
    if cadence.once_a_day:
        slots = slots_between(cadence, now - _DAY - _DAY, now + _DAY + _DAY)
        own = [slot for slot in slots if slot.day == today] or [slot_of_day(today, None, cadence.zone)]
    else:
        own = [slot for slot in slots_between(cadence, now - _DAY, now + EARLY) if slot.day == today]
    left = [slot for slot in own if not _is_settled(slot, cadence, settled)]
    if not left:
        return NotDue(next=_first_open(cadence, max(now, settled.since), settled))
    return Due(slot=left[-1], coalesced=tuple(left[:-1]))


def slots_between(cadence: Cadence, after: datetime, until: datetime) -> tuple[Slot, ...]:
    """Return the slots with after < due_at <= until, each strictly later than the one before.

    Of two times of a day that the clock skips together, and which would be due at one moment, the first is the slot.
    """
    if cadence.cron:
        due = due_after(cadence.cron, cadence.zone, after)
        return tuple(_cron_slot(due_at, cadence.zone) for due_at in takewhile(lambda due_at: due_at <= until, due))
    if cadence.every:
        return tuple(_intervals(cadence, after, until))
    found: dict[datetime, Slot] = {}
    first, last = after.astimezone(cadence.zone).date() - _DAY, until.astimezone(cadence.zone).date() + _DAY
    for number in range((last - first).days + 1):
        for moment in sorted(set(cadence.at)):
            slot = slot_of_day(first + number * _DAY, moment, cadence.zone)
            exists = slot.due_at.astimezone(cadence.zone).date() == slot.day  # a zone may skip a whole day (Apia 2011)
            if exists and after < slot.due_at <= until:
                found.setdefault(slot.due_at, slot)
    return tuple(found[due_at] for due_at in sorted(found))


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


def slot_today(now: datetime, at: time | None, zone: ZoneInfo) -> Slot:
    """Return the slot of the local day that `now` falls on."""
    return slot_of_day(now.astimezone(zone).date(), at, zone)


def next_slot(now: datetime, at: tuple[time, ...], zone: ZoneInfo) -> Slot | None:
    """Return the first slot after `now`, None when there are none at all."""
    return next_due(now, Cadence(zone=zone, at=at))


def next_due(now: datetime, cadence: Cadence) -> Slot | None:
    """Return the first slot after `now`, None when there are none at all."""
    return next(iter_slots(cadence, now), None)


def iter_slots(cadence: Cadence, after: datetime) -> Iterator[Slot]:
    """Yield the slots after an instant, without end where there are any."""
    if cadence.cron:
        yield from (_cron_slot(due_at, cadence.zone) for due_at in due_after(cadence.cron, cadence.zone, after))
        return
    step = cadence.every or 3 * _DAY
    while cadence.is_timed:
        yield from slots_between(cadence, after, after + step)
        after += step


def _find_early(now: datetime, cadence: Cadence) -> timedelta:
    """Return how early a clock may be: never past the middle between two slots, which would be the wrong one's."""
    near = slots_between(cadence, now - 2 * EARLY, now + 2 * EARLY)
    gaps = (after.due_at - before.due_at for before, after in pairwise(near))
    return min((gap / 2 for gap in gaps if gap < 2 * EARLY), default=EARLY)


def _first_open(cadence: Cadence, now: datetime, settled: Settled) -> Slot | None:
    """Return the first slot after `now` that has no word yet; a slot may be claimed before its time."""
    slots = islice(iter_slots(cadence, now), _MOST_CLAIMED_AHEAD)
    return next((slot for slot in slots if not _is_settled(slot, cadence, settled)), None)


def _is_settled(slot: Slot, cadence: Cadence, settled: Settled) -> bool:
    return slot.key in settled.keys or (cadence.once_a_day and slot.day in settled.days)


def _is_worth_doing(slot: Slot, now: datetime, cadence: Cadence) -> bool:
    if cadence.once_a_day:
        return slot.day >= now.astimezone(cadence.zone).date()
    return now - slot.due_at <= cadence.catch_up


def _intervals(cadence: Cadence, after: datetime, until: datetime) -> Iterator[Slot]:
    """Yield the slots of a job that is due every so often, counted from 1970, so that no change of the clock counts."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    for number in range((after - start) // cadence.every + 1, (until - start) // cadence.every + 1):
        due_at = start + number * cadence.every
        yield Slot(key=f"{due_at:%Y-%m-%d-%H%M%SZ}", day=due_at.astimezone(cadence.zone).date(), due_at=due_at)


def _cron_slot(due_at: datetime, zone: ZoneInfo) -> Slot:
    """Return the slot of an instant, named by its wall time; in an hour that comes twice the second has its mark."""
    wall = due_at.astimezone(zone)
    return Slot(key=f"{wall:%Y-%m-%d-%H%M}{'-2' if wall.fold else ''}", day=wall.date(), due_at=due_at)


def _change_between(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the second at which the zone's offset becomes that of `after`."""
    old = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        before, after = (middle, after) if middle.astimezone(zone).utcoffset() == old else (before, middle)
    return after
