"""Pauses: of one job or of all, never without an end, remembered for what fell into them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.pause import LONGEST, MIGRATIONS, Pauses
from lamplighter.errors import DiskError
from lamplighter.host.database import Database, open_database

DAY = timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


@pytest.fixture
def clock() -> VirtualClock:
    """Return the clock."""
    return VirtualClock()


@pytest.fixture
def pauses(database: Database, clock: VirtualClock) -> Pauses:
    """Return the pauses of an account."""
    return Pauses(database, clock, "own")


def test_a_pause_ends_by_itself(pauses: Pauses, clock: VirtualClock) -> None:
    """In force until its last second, of its own job only, and told with how to end it."""
    pause = pauses.begin("post", lasting=timedelta(hours=3), reason="holiday")
    assert pause.describe() == "paused until 2026-05-04 15:00 UTC: holiday"
    assert pause.remedy == "lamplighter resume post"
    assert (pauses.find("post"), pauses.find("generate")) == (pause, None)
    clock.jump(START + timedelta(hours=3))
    assert (pauses.find("post"), pauses.now()) == (None, ())


def test_a_pause_of_all_covers_every_job(pauses: Pauses) -> None:
    """And ending all of them ends those of single jobs too."""
    everything = pauses.begin("", lasting=DAY)
    pauses.begin("post", lasting=DAY)
    assert (pauses.find("backup"), everything.remedy) == (everything, "lamplighter resume")
    assert pauses.end("generate") == 0
    assert pauses.end("") == 2
    assert pauses.now() == ()


def test_a_pause_lasts_thirty_days_at_most(pauses: Pauses) -> None:
    """However long one is asked for."""
    assert pauses.begin("post", lasting=timedelta(days=4_000)).ends_at == START + LONGEST


def test_a_second_pause_takes_the_place_of_the_first(pauses: Pauses, clock: VirtualClock) -> None:
    """A shorter one shortens it."""
    pauses.begin("post", lasting=DAY)
    clock.advance(timedelta(hours=1))
    shorter = pauses.begin("post", lasting=timedelta(hours=1))
    assert pauses.now() == (shorter,)


def test_what_was_paused_is_remembered(pauses: Pauses, clock: VirtualClock) -> None:
    """For weeks, so that a day that fell into it is not missed; then it is forgotten."""
    pauses.begin("post", lasting=DAY)
    clock.advance(timedelta(hours=2))
    pauses.end("post")
    clock.advance(10 * DAY)
    (past,) = pauses.since(clock.now() - 30 * DAY)
    assert past.covers("post", START + timedelta(hours=1))
    assert not past.covers("post", START + timedelta(hours=3))
    clock.advance(100 * DAY)
    pauses.begin("generate", lasting=DAY)
    assert len(pauses.since(START - DAY)) == 1


@pytest.mark.parametrize("years", [-10, 10])
def test_a_clock_set_by_years_pauses_nothing_for_years(pauses: Pauses, clock: VirtualClock, years: int) -> None:
    """A pause made in another year holds in that year only."""
    clock.jump(START + timedelta(days=365 * years))
    pauses.begin("post", lasting=DAY)
    clock.jump(START)
    assert pauses.find("post") is None


def test_a_row_that_no_pause_has_is_no_pause(pauses: Pauses, database: Database) -> None:
    """Years long, or not even a time: it covers nothing, or is one line."""
    pauses.begin("post", lasting=DAY)
    database.change("UPDATE pause SET ends = begins + 1e9")
    assert pauses.find("post") is None
    database.change("UPDATE pause SET ends = 1e300")
    with pytest.raises(DiskError):
        pauses.find("post")
