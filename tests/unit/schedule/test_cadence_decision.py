"""Which slot a run is for: due, early, missed, coalesced, by hand, and after the schedule changed."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamplighter.schedule.cadence import (
    Cadence,
    Due,
    NotDue,
    Settled,
    decide_by_hand,
    decide_slot,
    next_due,
    slots_between,
)

BERLIN = ZoneInfo("Europe/Berlin")
GENERATE = Cadence(zone=BERLIN, at=(time(6), time(12), time(18)))
POST = Cadence(zone=BERLIN, at=(time(19, 30),), once_a_day=True)
EVERY_FIVE = Cadence(zone=BERLIN, every=timedelta(minutes=5), catch_up=timedelta(minutes=30))


def at(day: int, hour: int, minute: int = 0, second: int = 0) -> datetime:
    """Return an instant of November 2026, as a clock in Berlin shows it."""
    return datetime(2026, 11, day, hour, minute, second, tzinfo=BERLIN).astimezone(UTC)


FROM_THE_29TH = at(29, 0)


def settled(*keys: str, days: tuple[int, ...] = (), since: datetime = FROM_THE_29TH) -> Settled:
    """Return what is settled when the schedule stands since the 29th."""
    return Settled(since=since, keys=frozenset(keys), days=frozenset(date(2026, 11, day) for day in days))


def keys(decided: Due | NotDue) -> tuple[str, list[str], list[str]]:
    """Return the slot, what went into it, and what was missed."""
    missed = [slot.key for slot in decided.missed]
    if isinstance(decided, NotDue):
        return "", [], missed
    return decided.slot.key, [slot.key for slot in decided.coalesced], missed


def test_the_slot_that_is_due_is_taken() -> None:
    """A wake at six is for the slot of six, and no catch-up."""
    decided = decide_slot(at(29, 6, 0, 3), GENERATE, settled())
    assert isinstance(decided, Due)
    assert (decided.slot.key, decided.is_catch_up) == ("2026-11-29-0600", False)


def test_a_slot_with_a_word_is_not_due_again() -> None:
    """A second wake at six finds nothing, and says that noon is next."""
    decided = decide_slot(at(29, 6, 5), GENERATE, settled("2026-11-29-0600"))
    assert isinstance(decided, NotDue)
    assert decided.next is not None
    assert decided.next.key == "2026-11-29-1200"


@pytest.mark.parametrize(("early", "due"), [(0, True), (61, True), (120, True), (121, False), (600, False)])
def test_a_clock_a_little_early_belongs_to_the_slot(early: int, due: bool) -> None:
    """Up to two minutes early is the slot, more is not due."""
    decided = decide_slot(at(29, 6) - timedelta(seconds=early), GENERATE, settled())
    assert isinstance(decided, Due) is due


@pytest.mark.parametrize(
    "cadence",
    [
        Cadence(zone=BERLIN, at=(time(6, 0), time(6, 1), time(6, 2))),
        Cadence(zone=BERLIN, cron="* * * * *"),
        Cadence(zone=BERLIN, every=timedelta(minutes=1)),
    ],
)
def test_a_clock_is_never_early_past_the_middle_between_two_slots(cadence: Cadence) -> None:
    """A wake at six is for six, though the slots of the next two minutes are near."""
    decided = decide_slot(at(29, 6, 0, 5), cadence, settled(since=at(29, 5, 59)))
    assert isinstance(decided, Due)
    assert decided.slot.due_at == at(29, 6)
    early = decide_slot(at(29, 6, 0, 31), cadence, settled(since=at(29, 5, 59)))
    assert isinstance(early, Due)
    assert early.slot.due_at == at(29, 6, 1)


def test_an_early_wake_that_claimed_its_slot_is_not_due_when_the_time_comes() -> None:
    """The second wake, on time, finds it done."""
    assert isinstance(decide_slot(at(29, 6), GENERATE, settled("2026-11-29-0600")), NotDue)


@pytest.mark.parametrize(("minutes", "late"), [(0, False), (15, False), (16, True), (300, True)])
def test_a_late_start_is_a_catch_up(minutes: int, late: bool) -> None:
    """A quarter of an hour is what schedulers take, beyond it the slot is caught up."""
    decided = decide_slot(at(29, 6) + timedelta(minutes=minutes), GENERATE, settled())
    assert isinstance(decided, Due)
    assert decided.is_catch_up is late


def test_after_a_night_one_slot_is_caught_up_and_the_rest_has_a_word() -> None:
    """Switched on at 13:00: noon is done, six went into it or was missed for good."""
    assert keys(decide_slot(at(29, 11, 50), GENERATE, settled())) == ("2026-11-29-0600", [], [])
    assert keys(decide_slot(at(29, 12, 0), GENERATE, settled())) == ("2026-11-29-1200", ["2026-11-29-0600"], [])
    assert keys(decide_slot(at(29, 13, 0), GENERATE, settled())) == ("2026-11-29-1200", [], ["2026-11-29-0600"])


def test_beyond_catch_up_nothing_is_due() -> None:
    """Eighteen o'clock is past doing at half past midnight, and six in the morning is next."""
    decided = decide_slot(at(30, 0, 30), GENERATE, settled("2026-11-29-0600", "2026-11-29-1200"))
    assert keys(decided) == ("", [], ["2026-11-29-1800"])
    assert isinstance(decided, NotDue)
    assert decided.next is not None
    assert decided.next.key == "2026-11-30-0600"


def test_three_days_away_are_nine_words_and_one_run() -> None:
    """Everything since the schedule stands gets its word at once."""
    slot, coalesced, missed = keys(decide_slot(at(29, 13), GENERATE, settled(since=at(26, 15))))
    assert (slot, coalesced, len(missed)) == ("2026-11-29-1200", [], 8)


def test_a_post_is_done_until_its_day_ends() -> None:
    """At 23:59 it is still today's, at midnight it is missed and never made up for."""
    assert keys(decide_slot(at(29, 23, 59), POST, settled())) == ("2026-11-29-1930", [], [])
    assert keys(decide_slot(at(30, 0, 0), POST, settled())) == ("", [], ["2026-11-29-1930"])


def test_never_two_posts_for_one_day_when_the_time_is_changed() -> None:
    """Posted at 19:30, then the time set to 21:00: the day is served, and tomorrow is next."""
    later = Cadence(zone=BERLIN, at=(time(21),), once_a_day=True)
    decided = decide_slot(at(29, 21, 0), later, settled("2026-11-29-1930", days=(29,)))
    assert isinstance(decided, NotDue)
    assert decided.next is not None
    assert decided.next.key == "2026-11-30-2100"


def test_a_new_schedule_does_not_make_old_slots_due() -> None:
    """Set to 9, 14 and 19 at 15:00: nothing is due before 19:00, and nothing was missed."""
    changed = Cadence(zone=BERLIN, at=(time(9), time(14), time(19)))
    assert keys(decide_slot(at(29, 15), changed, settled(since=at(29, 15)))) == ("", [], [])
    assert keys(decide_slot(at(29, 19), changed, settled(since=at(29, 15)))) == ("2026-11-29-1900", [], [])


def test_a_post_early_at_midnight_is_tomorrows() -> None:
    """A post due at midnight that is woken a minute early is for the new day."""
    midnight = Cadence(zone=BERLIN, at=(time(0),), once_a_day=True)
    decided = decide_slot(at(29, 23, 59), midnight, settled(days=(29,)))
    assert keys(decided)[0] == "2026-11-30-0000"


def test_without_times_nothing_is_ever_due() -> None:
    """No slot, and none to come."""
    assert decide_slot(at(29, 12), Cadence(zone=BERLIN), settled()) == NotDue(next=None)


def test_a_job_that_is_due_every_five_minutes() -> None:
    """Its slots are counted from 1970; what a sleep of an hour missed goes into one run."""
    assert keys(decide_slot(at(29, 6, 3), EVERY_FIVE, settled(since=at(29, 6)))) == (
        "2026-11-29-050500Z",
        ["2026-11-29-050000Z"],
        [],
    )
    slot, coalesced, missed = keys(decide_slot(at(29, 7, 1), EVERY_FIVE, settled(since=at(29, 6))))
    assert (slot, len(coalesced), len(missed)) == ("2026-11-29-060000Z", 5, 7)
    coming = next_due(at(29, 7, 1), EVERY_FIVE)
    assert coming is not None
    assert coming.due_at == at(29, 7, 5)


def test_a_job_every_minute_is_early_by_half_a_minute_at_most() -> None:
    """The tolerance never reaches the slot after the next."""
    every = Cadence(zone=BERLIN, every=timedelta(minutes=1))
    assert keys(decide_slot(at(29, 6, 0, 29), every, settled(since=at(29, 6))))[0] == "2026-11-29-050000Z"
    assert keys(decide_slot(at(29, 6, 0, 31), every, settled(since=at(29, 6))))[0] == "2026-11-29-050100Z"


def test_by_hand_takes_the_newest_slot_of_today_that_is_due() -> None:
    """At 13:00 that is noon, six went into it; at 5:00 there is none yet."""
    assert keys(decide_by_hand(at(29, 13), GENERATE, settled())) == ("2026-11-29-1200", ["2026-11-29-0600"], [])
    assert keys(decide_by_hand(at(29, 13), GENERATE, settled("2026-11-29-1200"))) == ("2026-11-29-0600", [], [])
    assert isinstance(decide_by_hand(at(29, 5), GENERATE, settled()), NotDue)


def test_a_post_by_hand_takes_its_day_at_whatever_hour() -> None:
    """At breakfast it is today's post already, and then there is none left."""
    decided = decide_by_hand(at(29, 8), POST, settled())
    assert isinstance(decided, Due)
    assert (decided.slot.key, decided.is_catch_up) == ("2026-11-29-1930", False)
    assert isinstance(decide_by_hand(at(29, 20), POST, settled(days=(29,))), NotDue)


def test_a_post_by_hand_takes_the_local_day_where_nothing_is_scheduled() -> None:
    """The day itself is the slot."""
    unscheduled = Cadence(zone=BERLIN, once_a_day=True)
    assert keys(decide_by_hand(at(29, 8), unscheduled, settled()))[0] == "2026-11-29"


def test_words_tell_schedules_apart() -> None:
    """The order of the times and how long one catches up make no other schedule; time and zone do."""
    same = Cadence(zone=BERLIN, at=(time(18), time(6), time(12)), catch_up=timedelta(hours=1))
    tokyo = Cadence(zone=ZoneInfo("Asia/Tokyo"), at=GENERATE.at)
    assert GENERATE.describe() == same.describe() == "06:00 12:00 18:00 Europe/Berlin"
    assert tokyo.describe() != GENERATE.describe()
    assert (EVERY_FIVE.describe(), Cadence(zone=BERLIN).describe()) == ("every 300 s", "never Europe/Berlin")


wakes = st.lists(st.integers(0, 9 * 24 * 60), min_size=1, max_size=60).map(sorted)


@settings(deadline=None, max_examples=60)
@given(wakes=wakes, cadence=st.sampled_from([GENERATE, POST, EVERY_FIVE]), lost=st.sets(st.integers(0, 59)))
def test_whatever_wakes_us_a_slot_is_run_once_and_each_has_one_word(
    wakes: list[int], cadence: Cadence, lost: set[int]
) -> None:
    """Over nine days, one with an hour twice: claims strictly increase, and no slot has two words."""
    start = datetime(2026, 10, 22, tzinfo=UTC)
    claimed: list[str] = []
    words: dict[str, str] = {}
    days: set[date] = set()
    for number, minute in enumerate(wakes):
        decided = decide_slot(
            start + timedelta(minutes=minute),
            cadence,
            Settled(since=start, keys=frozenset(words), days=frozenset(days)),
        )
        told = {slot.key: "missed" for slot in decided.missed}
        if isinstance(decided, Due):
            told |= {slot.key: "coalesced" for slot in decided.coalesced}
            assert all(slot.due_at < decided.slot.due_at for slot in decided.coalesced)
            assert decided.slot.key not in words
            if number not in lost:  # a run that died before its work gives its slot back
                told[decided.slot.key] = "claimed"
                claimed.append(decided.slot.key)
                days.add(decided.slot.day)
        assert not told.keys() & words.keys()
        words |= told
    assert claimed == sorted(set(claimed))
    if cadence.once_a_day:
        assert len({key[:10] for key in claimed}) == len(claimed)


def test_slots_of_a_doubled_hour_of_intervals_do_not_repeat() -> None:
    """Every five minutes through the night that the clock is set back: two hours of slots, each once."""
    slots = slots_between(EVERY_FIVE, datetime(2026, 10, 25, 0, tzinfo=UTC), datetime(2026, 10, 25, 2, tzinfo=UTC))
    assert len({slot.key for slot in slots}) == 24
