"""Runs and logs are kept long enough to explain, and no longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.log import log_file
from lamplighter.engine.retention import Retention, prune
from lamplighter.host.database import Database, open_database
from lamplighter.host.identity import read_own_identity

FEW = Retention(runs=3, age=timedelta(days=90))
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> VirtualClock:
    """Return the clock of the ledger."""
    return VirtualClock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


@pytest.fixture
def ledger(database: Database, clock: VirtualClock) -> Ledger:
    """Return a ledger."""
    return Ledger(database, clock, "own")


def run(
    ledger: Ledger, state_dir: Path, outcome: Outcome | None = Outcome.NOTHING_NEEDED, job: str = "generate"
) -> int:
    """Do a run that leaves a log of its time; None is one that goes on."""
    number = ledger.begin(job, command="c", trigger="t", process=read_own_identity())
    file = log_file(state_dir, job, number)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("line\n")
    os.utime(file, (ledger.now.timestamp(), ledger.now.timestamp()))
    if outcome is not None:
        ledger.end(number, RunReport(outcome=outcome, line="x"))
    return number


def kept(ledger: Ledger, job: str = "generate") -> list[int]:
    """Return the numbers that are left, oldest first."""
    return [row.number for row in reversed(ledger.latest(job=job, limit=10_000))]


def logs(state_dir: Path, job: str = "generate") -> list[int]:
    """Return the numbers that have a log."""
    return sorted(int(path.name.partition(".")[0]) for path in (state_dir / "logs" / job).iterdir())


def test_old_runs_go_with_their_logs(ledger: Ledger, clock: VirtualClock, tmp_path: Path) -> None:
    """The newest of each job stay, whatever their age."""
    for _ in range(5):
        run(ledger, tmp_path)
    run(ledger, tmp_path, job="post")
    clock.advance(91 * DAY)
    assert prune(ledger, tmp_path / "logs", FEW) == 2
    assert (kept(ledger), logs(tmp_path)) == ([3, 4, 5], [3, 4, 5])
    assert (kept(ledger, "post"), logs(tmp_path, "post")) == ([6], [6])


def test_young_runs_stay_however_many_they_are(ledger: Ledger, clock: VirtualClock, tmp_path: Path) -> None:
    """A job that runs every minute keeps all of its 90 days."""
    for _ in range(5):
        run(ledger, tmp_path)
    clock.advance(89 * DAY)
    assert prune(ledger, tmp_path / "logs", FEW) == 0
    assert (kept(ledger), logs(tmp_path)) == ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])


def test_the_last_run_of_each_outcome_is_never_forgotten(ledger: Ledger, clock: VirtualClock, tmp_path: Path) -> None:
    """When it last made something, and when it last crashed, can be told after years."""
    for outcome in (Outcome.PRODUCED, Outcome.PRODUCED, Outcome.CRASHED):
        run(ledger, tmp_path, outcome)
    for _ in range(5):
        run(ledger, tmp_path)
    clock.advance(1_000 * DAY)
    prune(ledger, tmp_path / "logs", FEW)
    assert (kept(ledger), logs(tmp_path)) == ([2, 3, 6, 7, 8], [2, 3, 6, 7, 8])


def test_a_run_at_work_is_never_pruned(ledger: Ledger, clock: VirtualClock, tmp_path: Path) -> None:
    """Not even after a year."""
    run(ledger, tmp_path, None)
    for _ in range(5):
        run(ledger, tmp_path)
    clock.advance(365 * DAY)
    prune(ledger, tmp_path / "logs", FEW)
    assert (kept(ledger), logs(tmp_path)) == ([1, 4, 5, 6], [1, 4, 5, 6])


def test_it_is_done_once_a_day(ledger: Ledger, clock: VirtualClock, tmp_path: Path) -> None:
    """And at once again when the clock was set back."""
    for _ in range(5):
        run(ledger, tmp_path)
    clock.advance(91 * DAY)
    counts = []
    for hours in (0, 23, 1):
        clock.advance(timedelta(hours=hours))
        run(ledger, tmp_path)
        counts.append(prune(ledger, tmp_path / "logs", FEW))
    assert counts == [3, 0, 2]
    clock.jump(START - 400 * DAY)
    assert [ledger.claim_upkeep(every=DAY), ledger.claim_upkeep(every=DAY)] == [True, False]


def test_numbers_are_not_given_again(ledger: Ledger, clock: VirtualClock, tmp_path: Path) -> None:
    """The newest run always stays, so that the next is above it."""
    for _ in range(5):
        run(ledger, tmp_path)
    clock.advance(91 * DAY)
    prune(ledger, tmp_path / "logs", Retention(runs=1))
    assert kept(ledger) == [5]
    assert run(ledger, tmp_path) == 6


def test_another_accounts_runs_and_logs_are_left_alone(
    ledger: Ledger, database: Database, clock: VirtualClock, tmp_path: Path
) -> None:
    """Two configurations on one state folder share the folders of logs."""
    other = Ledger(database, clock, "other")
    for _ in range(4):
        run(ledger, tmp_path)
        run(other, tmp_path)
    clock.advance(91 * DAY)
    prune(ledger, tmp_path / "logs", FEW)
    assert (kept(ledger), kept(other)) == ([3, 5, 7], [2, 4, 6, 8])
    assert logs(tmp_path) == [2, 3, 4, 5, 6, 7, 8]


def test_logs_that_only_a_lost_database_knew_go_when_they_are_old(
    ledger: Ledger, clock: VirtualClock, tmp_path: Path
) -> None:
    """Nobody else would ever remove them."""
    run(ledger, tmp_path)
    orphan = log_file(tmp_path, "generate", 999)
    orphan.write_text("x")
    os.utime(orphan, (START.timestamp(), START.timestamp()))
    clock.advance(89 * DAY)
    prune(ledger, tmp_path / "logs", FEW)
    assert logs(tmp_path) == [1, 999]
    clock.advance(2 * DAY)
    prune(ledger, tmp_path / "logs", FEW)
    assert logs(tmp_path) == [1]


def test_pruning_many_is_cheap(ledger: Ledger, database: Database, clock: VirtualClock, tmp_path: Path) -> None:
    """A year of runs every five minutes, and no run waits for long."""
    first = run(ledger, tmp_path)
    with database.transaction():
        database.change(
            """WITH RECURSIVE count (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM count WHERE n < 100000)
            INSERT INTO run
            (account, number, job, command, trigger_name, started_at, outcome, pid, process_start, boot_id)
            SELECT account, n, job, command, trigger_name, started_at, outcome, pid, process_start, boot_id
            FROM run, count WHERE number = ?""",
            (first,),
        )
    clock.advance(91 * DAY)
    assert prune(ledger, tmp_path / "logs") == 99_000
    assert kept(ledger)[0] == 99_001
