"""Cron expressions: what is wrong with one, and when a good one is due."""

from __future__ import annotations

import time as steady
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamplighter.schedule.cadence import Cadence, iter_slots, next_due, next_slot, slots_between
from lamplighter.schedule.cron_words import due_after, explain_cron, parse_fields

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "text",
    ["*/30 8-18 * * 1-5", "30 19 * * *", "0 0 29 2 *", "0 9 L * *", "0 9 * * MON#1", "15 2 * * sun", "0 0 31 2 1"],
)
def test_a_good_expression_has_nothing_wrong(text: str) -> None:
    """Lists, steps, ranges and names; a day that most years have not is no mistake."""
    assert explain_cron(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0 30 2 *", "its day-of-month is not one, or no day ever has it"),
        ("0 0 31 4,6 *", "its day-of-month is not one, or no day ever has it"),
        ("0 0 */31 * MON#5", "no day ever matches it"),
        ("60 * * * *", "its minute is not one"),
        ("* 24 * * *", "its hour is not one"),
        ("* * * 13 *", "its month is not one"),
        ("* * * * 8", "its day-of-week is not one"),
        ("x y z a b", "its minute is not one"),
        ("*/0 * * * *", "its minute is not one"),
        ("5-1 * * * *", "its minute is not one"),
        ("² * * * *", "its minute is not one"),
        ("* * * * * *", "it has 6 fields and must have five"),
        ("@daily", "it has 1 fields and must have five"),
        ("", "it has 0 fields and must have five"),
        ("1" * 300, "it has more than 200 letters"),
    ],
)
def test_a_bad_expression_is_explained(text: str, words: str) -> None:
    """Feb 30, seconds, macros, garbage."""
    assert explain_cron(text).startswith(words)


@settings(max_examples=300)
@given(st.text(alphabet="0123456789*/-,#LWMONSU \t\x00²x", max_size=40))
def test_whatever_is_typed_is_explained_and_quickly(text: str) -> None:
    """No traceback, and no search through a thousand years."""
    begun = steady.monotonic()
    assert isinstance(explain_cron(text), str)
    assert steady.monotonic() - begun < 2


def test_a_workday_schedule_is_due_on_workdays() -> None:
    """Every half hour from eight, Monday to Friday: from Friday evening the next is on Monday."""
    cadence = Cadence(zone=BERLIN, cron="*/30 8-18 * * 1-5")
    slot = next_due(datetime(2026, 11, 27, 17, 31, tzinfo=UTC), cadence)  # a Friday, 18:31 in Berlin
    assert slot is not None
    assert (slot.key, slot.due_at) == ("2026-11-30-0800", datetime(2026, 11, 30, 7, 0, tzinfo=UTC))


def test_the_next_slot_may_be_years_away() -> None:
    """The 29th of February, asked for in March."""
    slot = next_due(datetime(2024, 3, 1, tzinfo=UTC), Cadence(zone=BERLIN, cron="0 9 29 2 *"))
    assert slot is not None
    assert slot.key == "2028-02-29-0900"


def test_hours_that_the_clock_skips_are_due_once_when_it_is_set_forward() -> None:
    """02:00 and 02:30 of the last Sunday of March: one slot, at three."""
    cadence = Cadence(zone=BERLIN, cron="0,30 2 * * *")
    begin = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert [slot.key for slot in slots_between(cadence, begin, begin + timedelta(days=1))] == ["2026-03-29-0300"]


def test_an_hour_that_comes_twice_has_a_fixed_time_once_and_an_interval_twice() -> None:
    """02:30 is due the first time; every hour is every hour, each with a name of its own."""
    begin, end = datetime(2026, 10, 24, 23, tzinfo=UTC), datetime(2026, 10, 25, 2, tzinfo=UTC)
    fixed = slots_between(Cadence(zone=BERLIN, cron="30 2 * * *"), begin, end)
    hourly = slots_between(Cadence(zone=BERLIN, cron="0 * * * *"), begin, end)
    assert [slot.key for slot in fixed] == ["2026-10-25-0230"]
    assert [slot.key for slot in hourly] == ["2026-10-25-0200", "2026-10-25-0200-2", "2026-10-25-0300"]


def test_words_tell_expressions_apart() -> None:
    """Blanks make no other schedule, the zone does."""
    one, same = (Cadence(zone=BERLIN, cron=text) for text in ("30  19 * * *", "30 19 * * *"))
    assert one.describe() == same.describe() == "cron 30 19 * * * Europe/Berlin"
    assert Cadence(zone=ZoneInfo("UTC"), cron="30 19 * * *").describe() != one.describe()


def test_what_is_due_often_is_looked_for_one_day_back() -> None:
    """Every minute: a day's slots, not fifty thousand; once a day: five weeks."""
    assert Cadence(zone=BERLIN, cron="* * * * *").look_back == timedelta(days=1)
    assert Cadence(zone=BERLIN, cron="30 19 * * *").look_back == timedelta(days=35)


def test_without_times_there_is_nothing_to_come() -> None:
    """The iteration ends, the interval does not."""
    now = datetime(2026, 11, 29, tzinfo=UTC)
    assert list(iter_slots(Cadence(zone=BERLIN), now)) == []
    assert next_slot(now, (), BERLIN) is None
    every = Cadence(zone=BERLIN, every=timedelta(minutes=30))
    assert [slot.due_at.minute for slot in islice(iter_slots(every, now), 3)] == [30, 0, 30]


EXPRESSIONS = (
    "30 2 * * *",
    "*/30 8-18 * * 1-5",
    "0,30 1-3 * * *",
    "15 */2 * * *",
    "* 2 * * *",
    "0 0 1 * *",
    "59 23 * * *",
)
zones = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Africa/Cairo", "Asia/Tokyo", "UTC"]
).map(ZoneInfo)
instants = st.datetimes(datetime(2024, 1, 1), datetime(2029, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


@settings(max_examples=60)
@given(now=instants, zone=zones, text=st.sampled_from(EXPRESSIONS))
def test_slots_strictly_increase_and_have_names_of_their_own(now: datetime, zone: ZoneInfo, text: str) -> None:
    """In every zone, over every change, however one cuts the time into pieces."""
    cadence = Cadence(zone=zone, cron=text)
    whole = slots_between(cadence, now, now + timedelta(days=4))
    half = now + timedelta(days=2)
    assert (*slots_between(cadence, now, half), *slots_between(cadence, half, now + timedelta(days=4))) == whole
    assert all(before.due_at < after.due_at for before, after in pairwise(whole))
    assert len({slot.key for slot in whole}) == len(whole)
    assert all(slot.due_at.astimezone(zone).date() == slot.day for slot in whole)
    fields = parse_fields(text)
    assert all(slot.due_at.astimezone(zone).minute in fields.minutes | {0, 30} for slot in whole)
    assert list(islice(due_after(text, zone, now), len(whole))) == [slot.due_at for slot in whole]
