"""When something of ours was seen: spans, and the gaps between them with their cause."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.engine.miss import Gap, GapCause
from lamplighter.engine.presence import UNSEEN, Moment, Presence
from lamplighter.engine.slot_table import MIGRATIONS
from lamplighter.host.database import Database, open_database

BEGIN = datetime(2026, 11, 29, 8, tzinfo=UTC)
FIVE, HOUR = timedelta(minutes=5), timedelta(hours=1)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


class Days:
    """A machine that is on, sleeps and is started anew, with something of ours looking in."""

    def __init__(self, database: Database) -> None:
        """Start it."""
        self.database = database
        self.clock = VirtualClock(BEGIN)
        self.presence = Presence(database, self.clock, "main")
        self.moment = Moment(boot_id="one", boot_at=BEGIN, slept=timedelta())

    def tick(self, times: int) -> None:
        """Look in every five minutes."""
        for _ in range(times):
            self.clock.advance(FIVE)
            self.presence.note(self.moment)

    def sleep(self, duration: timedelta) -> None:
        """Sleep: the wall clock goes on."""
        self.clock.advance(duration)
        self.moment = Moment(boot_id="one", boot_at=self.moment.boot_at, slept=self.moment.slept + duration)

    def spans(self) -> int:
        """Return how many spans are noted."""
        return len(self.database.rows("SELECT * FROM presence"))


@pytest.fixture
def days(database: Database) -> Days:
    """Return a machine that was just started."""
    return Days(database)


def test_as_long_as_something_is_seen_there_is_one_span_and_no_gap(days: Days) -> None:
    """A day of ticks is one row."""
    days.tick(288)
    assert days.spans() == 1
    assert days.presence.find_gap(BEGIN + 4 * HOUR) is None
    assert days.presence.was_seen(BEGIN + 4 * HOUR, within=UNSEEN)


def test_a_sleep_over_slots_is_told_as_sleep(days: Days) -> None:
    """Eight hours between two ticks, by the clocks that go on in sleep and that do not."""
    days.tick(12)
    slept_at = days.clock.now()
    days.sleep(8 * HOUR)
    days.tick(1)
    gap = days.presence.find_gap(slept_at + 3 * HOUR)
    assert gap == Gap(begin_at=slept_at, end_at=days.clock.now(), cause=GapCause.SLEEP, boot_at=BEGIN)
    assert not days.presence.was_seen(slept_at + 3 * HOUR, within=UNSEEN)


def test_a_short_nap_is_no_gap(days: Days) -> None:
    """A minute of sleep between two ticks loses no slot."""
    days.tick(1)
    days.sleep(timedelta(minutes=1))
    days.tick(1)
    assert days.spans() == 1


def test_another_boot_ends_the_span(days: Days) -> None:
    """With when it was, so that what was due between boot and first look is told apart."""
    days.tick(3)
    off_at = days.clock.now()
    days.clock.advance(5 * HOUR)
    boot_at = days.clock.now()
    days.moment = Moment(boot_id="two", boot_at=boot_at, slept=timedelta())
    days.tick(1)
    gap = days.presence.find_gap(off_at + HOUR)
    assert gap is not None
    assert (gap.cause, gap.boot_at) == (GapCause.BOOT, boot_at)


def test_a_machine_that_is_on_while_nothing_of_ours_runs_is_idle(days: Days) -> None:
    """The entries were gone: it did not sleep, and it was not off."""
    days.tick(3)
    gone_at = days.clock.now()
    days.clock.advance(5 * HOUR)
    days.tick(1)
    gap = days.presence.find_gap(gone_at + HOUR)
    assert gap is not None
    assert gap.cause is GapCause.IDLE


def test_before_anything_was_seen_nobody_knows(days: Days) -> None:
    """No gap begins with nothing, and none is still open."""
    assert days.presence.find_gap(BEGIN) is None
    days.tick(1)
    assert days.presence.find_gap(BEGIN - HOUR) is None
    assert days.presence.find_gap(days.clock.now() + HOUR) is None


def test_a_clock_that_is_set_back_makes_no_fact_of_the_time_to_come(days: Days) -> None:
    """What was noted in 2030 is forgotten."""
    days.clock.jump(datetime(2030, 1, 1, tzinfo=UTC))
    days.tick(1)
    days.clock.jump(BEGIN + HOUR)
    days.tick(1)
    assert days.spans() == 1
    assert not days.presence.was_seen(datetime(2030, 1, 1, tzinfo=UTC), within=UNSEEN)


def test_old_spans_go(days: Days) -> None:
    """Two months are enough; and another account's stay its own."""
    days.tick(1)
    days.clock.advance(timedelta(days=70))
    days.tick(1)
    Presence(days.database, days.clock, "other").note(days.moment)
    assert days.spans() == 2
