"""Runs that ended without a word get one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.reconcile import reconcile, see_as_ended
from lamplighter.host.database import open_database
from lamplighter.host.identity import ProcessIdentity, read_own_identity

DEAD = ProcessIdentity(pid=94799, start="1", boot_id="a boot long ago")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as database:
        yield Ledger(database, VirtualClock(), "own")


def begin(ledger: Ledger, process: ProcessIdentity, job: str = "generate") -> int:
    """Begin a run of a process."""
    return ledger.begin(job, command="c", trigger="t", process=process)


def test_a_run_of_a_dead_process_was_killed(ledger: Ledger) -> None:
    """The word is written for it: killed, 137, and which pid it was."""
    number = begin(ledger, DEAD)
    assert reconcile(ledger, "generate", own=0) == 1
    report = ledger.find(number).report
    assert report is not None
    assert (report.outcome, report.exit_code) == (Outcome.KILLED, 137)
    assert "pid 94799" in report.line


def test_a_run_of_a_living_process_is_left_alone(ledger: Ledger) -> None:
    """Who has begun and waits for the lock is no dead run."""
    number = begin(ledger, read_own_identity())
    assert reconcile(ledger, "generate", own=0) == 0
    assert ledger.find(number).report is None


def test_a_reused_pid_does_not_keep_a_dead_run_open(ledger: Ledger) -> None:
    """The pid lives, the process does not."""
    begin(ledger, replace(read_own_identity(), start="1"))
    assert reconcile(ledger, "generate", own=0) == 1


def test_the_own_row_is_left_alone(ledger: Ledger) -> None:
    """Even when nobody is thought alive, the run that asks is at work."""
    other, own = begin(ledger, DEAD), begin(ledger, DEAD)
    assert reconcile(ledger, "generate", own=own, alive=lambda _: False) == 1
    assert ledger.find(own).report is None
    assert ledger.find(other).report is not None


def test_other_jobs_and_ended_runs_are_left_alone(ledger: Ledger) -> None:
    """Terminal states never change, and each job has its own lock."""
    ended, other = begin(ledger, DEAD), begin(ledger, DEAD, "post")
    report = RunReport(outcome=Outcome.PRODUCED, line="made", outputs=("a",))
    ledger.end(ended, report)
    assert reconcile(ledger, "generate", own=0) == 0
    assert ledger.find(ended).report == report
    assert ledger.find(other).report is None


def test_reconciling_again_finds_nothing(ledger: Ledger) -> None:
    """Each dead run is told once."""
    for _ in range(3):
        begin(ledger, DEAD)
    assert reconcile(ledger, "generate", own=0) == 3
    assert reconcile(ledger, "generate", own=0) == 0


def test_reading_sees_the_dead_run_as_killed_and_writes_nothing(ledger: Ledger) -> None:
    """A status before the next run tells the truth in memory only."""
    number = begin(ledger, DEAD)
    seen = see_as_ended(ledger.find(number))
    assert seen is not None
    assert seen.outcome is Outcome.KILLED
    assert ledger.find(number).report is None


def test_reading_sees_living_and_ended_runs_as_they_are(ledger: Ledger) -> None:
    """At work is no outcome, and a recorded outcome is the outcome."""
    number = begin(ledger, read_own_identity())
    assert see_as_ended(ledger.find(number)) is None
    report = RunReport(outcome=Outcome.NOTHING_READY, line="none")
    ledger.end(number, report)
    assert see_as_ended(ledger.find(number)) == report
