"""Slots are claimed once, released when nothing came of it, and each gets its word."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.engine.job import Outcome
from lamplighter.engine.slot import (
    RELEASING,
    MissReason,
    Slots,
    SlotStatus,
    decide_miss_reason,
)
from lamplighter.engine.slot_table import MIGRATIONS
from lamplighter.errors import InputError
from lamplighter.host.database import Database, open_database
from lamplighter.schedule.cadence import Cadence, Due, NotDue, Slot, slot_of_day

BERLIN = ZoneInfo("Europe/Berlin")
GENERATE = Cadence(zone=BERLIN, at=(time(6), time(12), time(18)))
POST = Cadence(zone=BERLIN, at=(time(19, 30),), once_a_day=True)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Return an instant of November 2026 in Berlin."""
    return datetime(2026, 11, day, hour, minute, tzinfo=BERLIN).astimezone(UTC)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock at midnight of the 25th in Berlin."""
    return VirtualClock(at(25, 0))


@pytest.fixture
def slots(database: Database, clock: VirtualClock) -> Slots:
    """Return the slots of an account whose schedules stand since the 25th."""
    slots = Slots(database, clock, "own")
    slots.observe("generate", GENERATE)
    slots.observe("post", POST)
    return slots


def nobody(_: int) -> Outcome | None:
    """Know how no run ended."""
    return None


def unknown(_: Slot) -> MissReason:
    """Know no reason."""
    return MissReason.UNKNOWN


def take(slots: Slots, job: str, run: int, *, scheduled: bool = True, ended: dict[int, Outcome] | None = None) -> str:
    """Take what is due and return its key, "" when nothing is."""
    decided = slots.take(
        job,
        POST if job == "post" else GENERATE,
        run,
        scheduled=scheduled,
        outcome_of=(ended or {}).get,
        reason_of=unknown,
    )
    return decided.slot.key if isinstance(decided, Due) else ""


def words(slots: Slots, job: str) -> dict[str, tuple[SlotStatus, int]]:
    """Return what became of each slot, and which run had it."""
    return {row.slot.key: (row.status, row.run) for row in slots.latest(job, limit=100)}


def test_a_slot_is_claimed_once_and_says_who_has_it(slots: Slots) -> None:
    """The second claim changes nothing and is told of the first."""
    slot = slot_of_day(date(2026, 11, 29), time(6), BERLIN)
    assert slots.claim("generate", slot, 7).run == 7
    second = slots.claim("generate", slot, 8)
    assert (second.run, second.status, second.slot) == (7, SlotStatus.CLAIMED, slot)


def test_jobs_and_accounts_have_slots_of_their_own(database: Database, clock: VirtualClock, slots: Slots) -> None:
    """The same due time of another job, or of another account, is another slot."""
    slot = slot_of_day(date(2026, 11, 29), time(6), BERLIN)
    others = Slots(database, clock, "other")
    assert [slots.claim("generate", slot, 1).run, slots.claim("backup", slot, 2).run] == [1, 2]
    assert others.find("generate", slot.key) is None
    assert others.claim("generate", slot, 3).run == 3


def test_of_many_that_claim_at_once_one_has_it(tmp_path: Path) -> None:
    """Eight connections at one moment: one run has the slot, and all are told so."""
    file = tmp_path / "lamplighter.db"
    open_database(file, MIGRATIONS).close()
    slot = slot_of_day(date(2026, 11, 29), time(6), BERLIN)
    start = threading.Barrier(8)
    told: list[int] = []

    def claim(run: int) -> None:
        with open_database(file, MIGRATIONS) as database:
            start.wait()
            told.append(Slots(database, VirtualClock(), "own").claim("generate", slot, run).run)

    threads = [threading.Thread(target=claim, args=(run,)) for run in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 8
    assert len(set(told)) == 1


def test_a_wake_takes_its_slot_and_a_second_one_finds_none(slots: Slots, clock: VirtualClock) -> None:
    """Two wakes for six o'clock, one run."""
    clock.jump(at(25, 6))
    assert (take(slots, "generate", 1), take(slots, "generate", 2)) == ("2026-11-25-0600", "")


def test_a_catch_up_gives_the_older_ones_their_word(slots: Slots, clock: VirtualClock) -> None:
    """On at 12:00 the next day: noon is run, six went into it, the day before was missed; asked again, nothing."""
    clock.jump(at(26, 12))
    assert take(slots, "generate", 1) == "2026-11-26-1200"
    assert words(slots, "generate") == {
        "2026-11-26-1200": (SlotStatus.CLAIMED, 1),
        "2026-11-26-0600": (SlotStatus.COALESCED, 0),
        "2026-11-25-1800": (SlotStatus.MISSED, 0),
        "2026-11-25-1200": (SlotStatus.MISSED, 0),
        "2026-11-25-0600": (SlotStatus.MISSED, 0),
    }
    assert take(slots, "generate", 2) == ""


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_claim_that_came_to_nothing_is_due_again(slots: Slots, clock: VirtualClock, outcome: Outcome) -> None:
    """Killed, stopped, held up, in a cooldown, with nothing ready: the next wake takes the slot; else it is done."""
    clock.jump(at(25, 6))
    take(slots, "generate", 1)
    clock.advance(timedelta(hours=1))
    again = take(slots, "generate", 2, ended={1: outcome})
    assert again == ("2026-11-25-0600" if outcome in RELEASING else "")
    assert words(slots, "generate") == {"2026-11-25-0600": (SlotStatus.CLAIMED, 2 if again else 1)}


def test_a_run_at_work_keeps_its_slot(slots: Slots, clock: VirtualClock) -> None:
    """No outcome yet is no reason to take the slot from it."""
    clock.jump(at(25, 6))
    take(slots, "generate", 1)
    assert take(slots, "generate", 2, ended={}) == ""


def test_a_killed_run_of_yesterday_leaves_a_missed_post(slots: Slots, clock: VirtualClock) -> None:
    """Its day is over: the slot is not done today, and its word is missed."""
    clock.jump(at(25, 19, 30))
    assert take(slots, "post", 1) == "2026-11-25-1930"
    clock.jump(at(26, 8))
    assert take(slots, "post", 2, ended={1: Outcome.KILLED}) == ""
    assert take(slots, "post", 2, ended={1: Outcome.KILLED}) == ""
    assert words(slots, "post") == {"2026-11-25-1930": (SlotStatus.MISSED, 0)}


def test_release_gives_back_only_what_the_run_has(slots: Slots) -> None:
    """Another run's claim, a missed slot and a second release stay as they are."""
    first, second, third = (slot_of_day(date(2026, 11, 25), time(hour), BERLIN) for hour in (6, 12, 18))
    slots.claim("generate", first, 1)
    slots.claim("generate", second, 2)
    slots.excuse("generate", third, "paused")
    assert (slots.release("generate", 1), slots.release("generate", 1)) == (1, 0)
    assert {key: status.value for key, (status, _) in words(slots, "generate").items()} == {
        "2026-11-25-0600": "due",
        "2026-11-25-1200": "claimed",
        "2026-11-25-1800": "excused",
    }
    assert slots.claim("generate", third, 3).status is SlotStatus.EXCUSED


def test_a_post_by_hand_serves_the_day(slots: Slots, clock: VirtualClock) -> None:
    """Posted at breakfast: the wake at 19:30 is not due, and tomorrow is as ever."""
    clock.jump(at(25, 8))
    assert take(slots, "post", 1, scheduled=False) == "2026-11-25-1930"
    clock.jump(at(25, 19, 30))
    assert take(slots, "post", 2) == ""
    clock.jump(at(26, 19, 30))
    assert take(slots, "post", 3) == "2026-11-26-1930"


def test_a_day_that_the_journal_knows_is_served(slots: Slots, clock: VirtualClock) -> None:
    """What went out while nobody claimed a slot is a post of that day all the same."""
    clock.jump(at(25, 19, 30))
    decided = slots.take(
        "post",
        POST,
        1,
        scheduled=True,
        outcome_of=nobody,
        reason_of=unknown,
        served=frozenset({date(2026, 11, 25)}),
    )
    assert isinstance(decided, NotDue)


def test_a_new_schedule_makes_no_old_slot_due(slots: Slots, clock: VirtualClock) -> None:
    """Times changed at 15:00: 14:00 is no slot; the old times that are past keep no claim on anybody either."""
    changed = Cadence(zone=BERLIN, at=(time(9), time(14), time(19)))
    clock.jump(at(25, 15))
    assert isinstance(slots.decide("generate", changed, scheduled=True, outcome_of=nobody), NotDue)
    clock.jump(at(25, 19))
    decided = slots.decide("generate", changed, scheduled=True, outcome_of=nobody)
    assert isinstance(decided, Due)
    assert (decided.slot.key, decided.missed) == ("2026-11-25-1900", ())


def test_the_first_wake_of_a_new_schedule_is_for_its_slot(database: Database, clock: VirtualClock) -> None:
    """Nobody saw the schedule before: a wake a minute after six is still for six, one at eight is for none."""
    for account, minutes, due in (("a", 1, True), ("b", 120, False)):
        clock.jump(at(25, 6) + timedelta(minutes=minutes))
        decided = Slots(database, clock, account).decide("generate", GENERATE, scheduled=True, outcome_of=nobody)
        assert isinstance(decided, Due) is due


def test_a_clock_set_years_ahead_and_back_hides_no_slot(database: Database, clock: VirtualClock) -> None:
    """The beginning of the schedule goes back with the clock."""
    slots = Slots(database, clock, "own")
    clock.jump(datetime(2036, 1, 1, tzinfo=UTC))
    slots.observe("generate", GENERATE)
    clock.jump(at(25, 6))
    assert take(slots, "generate", 1) == "2026-11-25-0600"


def test_a_watcher_gives_missed_slots_their_word_and_claims_none(slots: Slots, clock: VirtualClock) -> None:
    """What is still worth doing is left to whoever is woken for it."""
    clock.jump(at(26, 13))
    missed = slots.tidy("generate", GENERATE, outcome_of=nobody, reason_of=lambda _: MissReason.POWERED_OFF)
    assert [slot.key for slot in missed] == ["2026-11-25-0600", "2026-11-25-1200", "2026-11-25-1800", "2026-11-26-0600"]
    assert {row.reason for row in slots.latest("generate")} == {"powered_off"}
    assert slots.tidy("generate", GENERATE, outcome_of=nobody, reason_of=unknown) == ()
    assert take(slots, "generate", 1) == "2026-11-26-1200"


def test_old_slots_are_forgotten(slots: Slots, clock: VirtualClock) -> None:
    """After 400 days a slot is deleted; what is asked for stays."""
    clock.jump(at(25, 6))
    take(slots, "generate", 1)
    clock.jump(at(25, 6) + timedelta(days=401))
    take(slots, "generate", 2)
    assert slots.find("generate", "2026-11-25-0600") is None


def test_a_failed_take_leaves_no_word(slots: Slots, clock: VirtualClock) -> None:
    """Killed in the middle is all or nothing."""
    clock.jump(at(26, 13))

    def fail(_: Slot) -> MissReason:
        raise InputError("slot")

    with pytest.raises(InputError):
        slots.take("generate", GENERATE, 1, scheduled=True, outcome_of=nobody, reason_of=fail)
    assert slots.latest("generate") == ()


@pytest.mark.parametrize(
    ("boot", "seen_on", "reason"),
    [
        (at(25, 7), False, MissReason.POWERED_OFF),
        (at(25, 7), True, MissReason.UNKNOWN),
        (at(25, 5), False, MissReason.UNKNOWN),
        (None, False, MissReason.UNKNOWN),
    ],
)
def test_why_a_slot_was_missed(boot: datetime | None, seen_on: bool, reason: MissReason) -> None:
    """Started after the slot was due, and not seen on at that time: it was off; else nobody can say."""
    slot = slot_of_day(date(2026, 11, 25), time(6), BERLIN)
    assert decide_miss_reason(slot, boot_at=boot, seen_on=seen_on) is reason
