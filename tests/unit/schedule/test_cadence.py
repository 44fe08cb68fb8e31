"""Slots: wall clock in a zone, over every change of the clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamplighter.schedule.cadence import Slot, next_slot, slot_of_day, slot_today

BERLIN = ZoneInfo("Europe/Berlin")
NUUK = ZoneInfo("America/Nuuk")
ZONES = sorted(
    name for name in available_timezones() if "/" in name and not name.startswith(("posix/", "right/", "Etc/"))
)
zones = st.sampled_from(ZONES).map(ZoneInfo)
days = st.dates(date(2015, 1, 1), date(2037, 12, 31))
times = st.times(timezones=st.none()).map(lambda moment: moment.replace(second=0, microsecond=0, fold=0))
instants = st.datetimes(datetime(2015, 1, 2), datetime(2037, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


def local(slot: Slot, zone: ZoneInfo) -> str:
    """Return when a slot is due, as its zone's clock shows it."""
    return f"{slot.due_at.astimezone(zone):%Y-%m-%d %H:%M:%S %z}"


def test_a_slot_is_wall_clock_in_its_zone() -> None:
    """Half past seven is half past seven, in summer and in winter."""
    summer, winter = (slot_of_day(date(2026, month, 1), time(19, 30), BERLIN) for month in (7, 12))
    assert summer == Slot(key="2026-07-01-1930", day=date(2026, 7, 1), due_at=datetime(2026, 7, 1, 17, 30, tzinfo=UTC))
    assert winter.due_at == datetime(2026, 12, 1, 18, 30, tzinfo=UTC)


def test_where_nothing_is_scheduled_the_day_is_the_slot() -> None:
    """A post by hand takes the local day, from its midnight."""
    slot = slot_of_day(date(2026, 11, 29), None, BERLIN)
    assert (slot.key, local(slot, BERLIN)) == ("2026-11-29", "2026-11-29 00:00:00 +0100")


@pytest.mark.parametrize("minute", [0, 1, 30, 59])
def test_a_time_that_spring_skips_is_due_when_the_clock_is_set_forward(minute: int) -> None:
    """02:30 on the last Sunday of March does not exist: it is due at three, once, under its own name."""
    slot = slot_of_day(date(2026, 3, 29), time(2, minute), BERLIN)
    assert (slot.key, local(slot, BERLIN)) == (f"2026-03-29-02{minute:02}", "2026-03-29 03:00:00 +0200")


def test_a_time_that_autumn_has_twice_is_due_the_first_time() -> None:
    """02:30 on the last Sunday of October comes twice and is one slot."""
    slot = slot_of_day(date(2026, 10, 25), time(2, 30), BERLIN)
    assert (slot.key, local(slot, BERLIN)) == ("2026-10-25-0230", "2026-10-25 02:30:00 +0200")
    again = slot.due_at + timedelta(hours=1)
    assert again.astimezone(BERLIN).time() == time(2, 30)
    assert slot_today(again, time(2, 30), BERLIN) == slot
    assert next_slot(slot.due_at, (time(2, 30),), BERLIN) == slot_of_day(date(2026, 10, 26), time(2, 30), BERLIN)


@pytest.mark.parametrize("at", [time(1, 59), time(3, 0), time(3, 1)])
def test_times_around_the_gap_are_as_written(at: time) -> None:
    """Only what is skipped is moved."""
    slot = slot_of_day(date(2026, 3, 29), at, BERLIN)
    assert slot.due_at.astimezone(BERLIN).time() == at


def test_a_gap_that_reaches_midnight_keeps_the_slot_on_its_day() -> None:
    """Nuuk went from 22:59:59 to 00:00 of the next day: a slot at 23:30 is due in the last second before."""
    slot = slot_of_day(date(2024, 3, 30), time(23, 30), NUUK)
    assert local(slot, NUUK) == "2024-03-30 22:59:59 -0200"


def test_a_gap_of_half_an_hour_is_found_too() -> None:
    """Lord Howe moves its clock by thirty minutes."""
    zone = ZoneInfo("Australia/Lord_Howe")
    slot = slot_of_day(date(2026, 10, 4), time(2, 15), zone)
    assert local(slot, zone) == "2026-10-04 02:30:00 +1100"


def test_a_midnight_that_is_skipped_begins_the_day_later() -> None:
    """Beirut's spring day begins at one."""
    zone = ZoneInfo("Asia/Beirut")
    slot = slot_of_day(date(2026, 3, 29), None, zone)
    assert (slot.key, local(slot, zone)) == ("2026-03-29", "2026-03-29 01:00:00 +0300")


def test_today_is_the_local_day() -> None:
    """At 23:30 UTC it is tomorrow in Tokyo."""
    now = datetime(2026, 5, 4, 23, 30, tzinfo=UTC)
    assert slot_today(now, time(19, 30), ZoneInfo("Asia/Tokyo")).key == "2026-05-05-1930"
    assert slot_today(now, time(19, 30), ZoneInfo("America/New_York")).key == "2026-05-04-1930"


def test_the_next_slot_is_strictly_later() -> None:
    """At the moment of a slot the next one is the one after it."""
    at = (time(18), time(6), time(12))
    now = datetime(2026, 5, 4, 10, 0, tzinfo=UTC)  # noon in Berlin
    keys = []
    for _ in range(4):
        slot = next_slot(now, at, BERLIN)
        assert slot is not None
        keys.append(slot.key)
        now = slot.due_at
    assert keys == ["2026-05-04-1800", "2026-05-05-0600", "2026-05-05-1200", "2026-05-05-1800"]


def test_without_times_there_is_no_next_slot() -> None:
    """Nothing scheduled, nothing due."""
    assert next_slot(datetime(2026, 5, 4, tzinfo=UTC), (), BERLIN) is None


@settings(deadline=None)
@given(day=days, at=times, zone=zones)
def test_a_slot_is_always_due_on_its_local_day(day: date, at: time, zone: ZoneInfo) -> None:
    """In every zone, on every day, whatever the clock is set to."""
    slot = slot_of_day(day, at, zone)
    assert slot.due_at.tzinfo is UTC
    assert slot.due_at.astimezone(zone).date() == day
    assert slot_today(slot.due_at, at, zone) == slot


@settings(deadline=None)
@given(day=days, at=times, zone=zones)
def test_a_slot_is_due_at_its_wall_time_or_within_the_gap(day: date, at: time, zone: ZoneInfo) -> None:
    """Exactly as written, or moved by no more than the longest gap there is (Casey station, three hours)."""
    due = slot_of_day(day, at, zone).due_at.astimezone(zone)
    assert abs(due.replace(tzinfo=None) - datetime.combine(day, at)) <= timedelta(hours=3)


@settings(deadline=None)
@given(now=instants, at=times, zone=zones)
def test_there_is_exactly_one_slot_a_day(now: datetime, at: time, zone: ZoneInfo) -> None:
    """Going from slot to slot counts the days, each once."""
    seen = []
    for _ in range(5):
        slot = next_slot(now, (at,), zone)
        assert slot is not None
        assert slot.due_at > now
        seen.append(slot.day)
        now = slot.due_at
    assert seen == [seen[0] + timedelta(days=ahead) for ahead in range(5)]


@settings(deadline=None)
@given(now=instants, at=st.lists(times, min_size=1, max_size=4), zone=zones)
def test_the_next_slot_is_the_first_of_all_that_follow(now: datetime, at: list[time], zone: ZoneInfo) -> None:
    """No slot of the days around lies between now and the next."""
    found = next_slot(now, tuple(at), zone)
    today = now.astimezone(zone).date()
    around = [slot_of_day(today + timedelta(days=ahead), moment, zone) for ahead in (-1, 0, 1, 2) for moment in at]
    assert found is not None
    assert found.due_at == min(slot.due_at for slot in around if slot.due_at > now)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Nuuk", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Gaza"])
def test_every_minute_of_the_days_the_clock_changes_is_on_its_day(zone: str) -> None:
    """The days that hypothesis seldom meets, in whole."""
    place = ZoneInfo(zone)
    noons = [datetime(2023, 1, 1, 12, tzinfo=place) + timedelta(days=ahead) for ahead in range(4 * 365)]
    changes = [noon.date() for noon in noons if noon.utcoffset() != (noon - timedelta(days=1)).utcoffset()]
    assert len(changes) >= 6
    for day in [change - timedelta(days=back) for change in changes for back in (0, 1)]:
        for minute in range(0, 24 * 60, 15):
            slot = slot_of_day(day, time(minute // 60, minute % 60), place)
            assert slot.due_at.astimezone(place).date() == day
