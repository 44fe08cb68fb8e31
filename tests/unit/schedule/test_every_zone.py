"""Slots by the rules of every zone there is, for two years, and by the odd days of the past."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest

from lamplighter.schedule.cadence import Cadence, slots_between

BEGIN, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
TIMES = tuple(time(hour, minute) for hour in (0, 1, 2, 3, 22, 23) for minute in (0, 15, 30, 59))
Rule = tuple[tuple[datetime, timedelta], ...]


def changes(zone: ZoneInfo, begin: datetime = BEGIN, end: datetime = END) -> Rule:
    """Return from when on which offset holds."""
    found = [(begin, zone.utcoffset(begin.astimezone(zone)) or timedelta())]
    now = begin
    while now < end:
        later = min(now + DAY, end)
        offset = later.astimezone(zone).utcoffset() or timedelta()
        if offset != found[-1][1]:
            low, high = now, later
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) // 2
                low, high = (middle, high) if middle.astimezone(zone).utcoffset() == found[-1][1] else (low, middle)
            found.append((high.replace(microsecond=0), offset))
        now = later
    return tuple(found)


@cache
def rules() -> dict[Rule, ZoneInfo]:
    """Return one zone for each rule that two years tell apart."""
    found: dict[Rule, ZoneInfo] = {}
    for name in sorted(available_timezones()):
        found.setdefault(changes(ZoneInfo(name)), ZoneInfo(name))
    return found


def days_between(first: date, last: date) -> list[date]:
    """Return every date from one to another."""
    return [first + number * DAY for number in range((last - first).days + 1)]


def test_there_are_many_rules() -> None:
    """What follows is worth something: some eighty rules, most of the changes included."""
    assert len(rules()) > 60
    assert sum(len(rule) > 1 for rule in rules()) > 20


@pytest.mark.parametrize("at", [time(2, 30), time(19, 30)])
def test_a_daily_job_has_one_slot_each_local_day(at: time) -> None:
    """Two years of each rule: strictly increasing, and each date exactly once."""
    for zone in rules().values():
        slots = slots_between(Cadence(zone=zone, at=(at,)), BEGIN, END)
        assert all(before.due_at < after.due_at for before, after in pairwise(slots)), zone
        assert [slot.day for slot in slots] == days_between(slots[0].day, slots[-1].day), zone
        assert len(slots) in {729, 730, 731}, zone


def test_on_the_days_of_change_every_time_has_one_slot() -> None:
    """Skipped 02:30, doubled 01:30, skipped midnight: of each rule, around each change, at each of many times."""
    seen = 0
    for rule, zone in rules().items():
        for changed_at, _ in rule[1:]:
            day = changed_at.astimezone(zone).date()
            begin, end = changed_at - 4 * DAY, changed_at + 4 * DAY
            for at in TIMES:
                slots = slots_between(Cadence(zone=zone, at=(at,)), begin, end)
                assert all(before.due_at < after.due_at for before, after in pairwise(slots)), (zone, at)
                assert [slot.day for slot in slots] == days_between(slots[0].day, slots[-1].day), (zone, at)
                assert {day - DAY, day, day + DAY} <= {slot.day for slot in slots}, (zone, at)
                assert all(slot.due_at.astimezone(zone).date() == slot.day for slot in slots), (zone, at)
                seen += 1
    assert seen > 1_000


def test_several_times_a_day_strictly_increase_through_every_change() -> None:
    """Times that the clock skips together are one slot; all others are kept."""
    for rule, zone in rules().items():
        for changed_at, _ in rule[1:]:
            slots = slots_between(Cadence(zone=zone, at=TIMES), changed_at - 2 * DAY, changed_at + 2 * DAY)
            assert all(before.due_at < after.due_at for before, after in pairwise(slots)), zone
            assert len({slot.key for slot in slots}) == len(slots) >= 4 * len(TIMES) - 8, zone


@pytest.mark.parametrize("cron", ["30 2 * * *", "30 19 * * *"])
def test_a_daily_cron_expression_has_one_slot_each_local_day(cron: str) -> None:
    """Two years of each rule: strictly increasing, and each date once; what a day skips at its end comes after it."""
    for zone in rules().values():
        slots = slots_between(Cadence(zone=zone, cron=cron), BEGIN, END)
        assert all(before.due_at < after.due_at for before, after in pairwise(slots)), zone
        assert [slot.day for slot in slots] == days_between(slots[0].day, slots[-1].day), zone
        assert len(slots) in {729, 730, 731}, zone


def test_cron_expressions_strictly_increase_through_every_change() -> None:
    """Several times a day and every quarter of an hour, around each change of each rule: names and instants are one."""
    seen = 0
    for rule, zone in rules().items():
        for changed_at, _ in rule[1:]:
            for cron in ("0,15,30,59 0-3,22,23 * * *", "*/15 * * * *", "0 */2 * * *"):
                slots = slots_between(Cadence(zone=zone, cron=cron), changed_at - DAY, changed_at + DAY)
                assert all(before.due_at < after.due_at for before, after in pairwise(slots)), (zone, cron)
                assert len({slot.key for slot in slots}) == len(slots) > 20, (zone, cron)
                seen += len(slots)
    assert seen > 10_000


@pytest.mark.parametrize(
    ("zone", "first", "skipped"),
    [
        ("Pacific/Apia", date(2011, 12, 28), date(2011, 12, 30)),
        ("Pacific/Kwajalein", date(1993, 8, 19), date(1993, 8, 21)),
    ],
)
def test_a_day_that_a_zone_left_out_has_no_slot(zone: str, first: date, skipped: date) -> None:
    """Apia went from the 29th to the 31st: no slot for a day that nobody had, and no second one beside it."""
    place = ZoneInfo(zone)
    begin = datetime.combine(first, time(0), place).astimezone(UTC)
    for at in (time(0), time(2, 30), time(19, 30), time(23, 59)):
        slots = slots_between(Cadence(zone=place, at=(at,)), begin - timedelta(seconds=1), begin + 4 * DAY)
        days = [day for day in days_between(first, first + 6 * DAY) if day != skipped]
        assert [slot.day for slot in slots] == days[: len(slots)]
        assert len(slots) >= 3
        assert all(before.due_at < after.due_at for before, after in pairwise(slots))


def test_a_half_hour_change_moves_a_slot_by_half_an_hour() -> None:
    """Lord Howe's 02:15 is due at 02:30 on the day the clock is set forward."""
    zone = ZoneInfo("Australia/Lord_Howe")
    day = datetime(2026, 10, 3, 12, tzinfo=zone).astimezone(UTC)
    (slot,) = slots_between(Cadence(zone=zone, at=(time(2, 15),)), day, day + DAY)
    assert f"{slot.due_at.astimezone(zone):%Y-%m-%d %H:%M}" == "2026-10-04 02:30"


def test_the_night_that_has_an_hour_twice_has_its_slot_once() -> None:
    """Berlin's 02:30 of 25 October is due the first time."""
    zone = ZoneInfo("Europe/Berlin")
    begin = datetime(2026, 10, 24, 12, tzinfo=zone).astimezone(UTC)
    (slot,) = slots_between(Cadence(zone=zone, at=(time(2, 30),)), begin, begin + DAY)
    assert slot.due_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
