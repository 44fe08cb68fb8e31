"""Outputs by the ledger: what was made, for which day, and never what merely exited 0."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine import ledger as ledger_table
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.made import MET, MIGRATIONS, Outputs
from lamplighter.errors import DiskError
from lamplighter.host.database import Database, open_database
from lamplighter.host.identity import ProcessIdentity

TOKYO = ZoneInfo("Asia/Tokyo")
GONE = ProcessIdentity(pid=1, start="1", boot_id="b")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", (*ledger_table.MIGRATIONS, *MIGRATIONS)) as opened:
        yield opened


@pytest.fixture
def outputs(database: Database) -> Outputs:
    """Return the outputs of an account."""
    return Outputs(database, "own")


def end(database: Database, at: datetime, outcome: Outcome, slot: str = "", job: str = "backup") -> int:
    """Record a run that ended."""
    ledger = Ledger(database, VirtualClock(at), "own")
    number = ledger.begin(job, command="x", trigger="cron", process=GONE, slot=slot)
    ledger.end(number, RunReport(outcome=outcome, line="as it was"))
    return number


@pytest.mark.parametrize("outcome", list(Outcome))
def test_output_is_what_was_made_and_nothing_else(database: Database, outputs: Outputs, outcome: Outcome) -> None:
    """`completed`, `paused` and `not_due` exit 0 too, and none of them is output."""
    end(database, START, outcome)
    assert (outputs.newest_at("backup", until=START) is not None) is (outcome in MET)
    assert bool(outputs.days("backup", TOKYO)) is (outcome in MET)


def test_an_output_counts_for_the_day_of_its_slot(database: Database, outputs: Outputs) -> None:
    """Caught up after midnight it is yesterday's; without a slot it is the local day's."""
    end(database, START, Outcome.PRODUCED, slot="2026-05-03-2330")
    end(database, datetime(2026, 5, 4, 16, 0, tzinfo=UTC), Outcome.PRODUCED)
    end(database, START, Outcome.PRODUCED, slot="some day")
    assert outputs.days("backup", TOKYO) == {date(2026, 5, 3), date(2026, 5, 5), date(2026, 5, 4)}


def test_a_day_may_need_more_than_one(database: Database, outputs: Outputs) -> None:
    """Two of three are too few."""
    for _ in range(2):
        end(database, START, Outcome.PRODUCED, slot="2026-05-04-0300")
    assert outputs.days("backup", TOKYO, at_least=2) == {date(2026, 5, 4)}
    assert outputs.days("backup", TOKYO, at_least=3) == frozenset()


def test_an_output_of_a_time_to_come_is_not_new(database: Database, outputs: Outputs) -> None:
    """A clock that was ahead dated it."""
    end(database, START + timedelta(days=900), Outcome.PRODUCED)
    assert outputs.newest_at("backup", until=START) is None
    end(database, START - timedelta(hours=2), Outcome.PRODUCED)
    assert outputs.newest_at("backup", until=START) == START - timedelta(hours=2)


def test_a_hundred_wakes_that_were_not_due_hide_no_run(database: Database, outputs: Outputs) -> None:
    """An hourly entry wakes a job that is due thrice a day: its failures are found behind all of those."""
    number = end(database, START, Outcome.FAILED)
    for _ in range(100):
        end(database, START, Outcome.NOT_DUE)
    (run,) = outputs.told("backup")
    assert (run.number, run.outcome) == (number, Outcome.FAILED)
    assert outputs.open_jobs() == ()


def test_a_run_that_nobody_here_wrote_is_one_line(database: Database, outputs: Outputs) -> None:
    """A word that is no outcome, a time that is none."""
    end(database, START, Outcome.PRODUCED)
    database.change("UPDATE run SET ended_at = 1e300, outcome = 'splendid'")
    with pytest.raises(DiskError):
        outputs.told("backup")
    database.change("UPDATE run SET outcome = 'produced'")
    with pytest.raises(DiskError):
        outputs.newest_at("backup", until=START)
