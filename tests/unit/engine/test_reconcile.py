"""Runs that ended without a word get one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child, until
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.lock import JobLock
from lamplighter.engine.reconcile import reconcile, see_as_ended
from lamplighter.host.database import open_database
from lamplighter.host.identity import ProcessIdentity, read_identity, read_own_identity, read_process
from lamplighter.value import replace

LOCK_DIR = Path("nowhere")
DEAD = ProcessIdentity(pid=94799, start="1", boot_id="a boot long ago")


@pytest.fixture
def clock() -> VirtualClock:
    """Return the clock of the ledger."""
    return VirtualClock()


@pytest.fixture
def ledger(tmp_path: Path, clock: VirtualClock) -> Iterator[Ledger]:
    """Return a ledger."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as database:
        yield Ledger(database, clock, "own")


def begin(ledger: Ledger, process: ProcessIdentity, job: str = "generate") -> int:
    """Begin a run of a process."""
    return ledger.begin(job, command="c", trigger="t", process=process)


def begin_elsewhere(ledger: Ledger, file: Path) -> int:
    """Begin a run whose pid is counted in another container."""
    number = begin(ledger, DEAD)
    with open_database(file, MIGRATIONS) as database:
        database.change("UPDATE run SET namespaces = 'pid:[4026532999]' WHERE number = ?", (number,))
    return number


def test_a_run_of_a_dead_process_was_killed(ledger: Ledger) -> None:
    """The word is written for it: killed, 137, and which pid it was."""
    number = begin(ledger, DEAD)
    assert reconcile(ledger, "generate", own=0, lock_dir=None) == 1
    report = ledger.find(number).report
    assert report is not None
    assert (report.outcome, report.exit_code) == (Outcome.KILLED, 137)
    assert "pid 94799" in report.line


def test_a_run_of_a_living_process_is_left_alone(ledger: Ledger) -> None:
    """Who has begun and waits for the lock is no dead run."""
    number = begin(ledger, read_own_identity())
    assert reconcile(ledger, "generate", own=0, lock_dir=None) == 0
    assert ledger.find(number).report is None


def test_a_reused_pid_does_not_keep_a_dead_run_open(ledger: Ledger) -> None:
    """The pid lives, the process does not."""
    begin(ledger, replace(read_own_identity(), start="1"))
    assert reconcile(ledger, "generate", own=0, lock_dir=None) == 1


def test_the_own_row_is_left_alone(ledger: Ledger) -> None:
    """Even when nobody is thought alive, the run that asks is at work."""
    other, own = begin(ledger, DEAD), begin(ledger, DEAD)
    assert reconcile(ledger, "generate", own=own, lock_dir=None, alive=lambda _: False) == 1
    assert ledger.find(own).report is None
    assert ledger.find(other).report is not None


def test_other_jobs_and_ended_runs_are_left_alone(ledger: Ledger) -> None:
    """Terminal states never change, and each job has its own lock."""
    ended, other = begin(ledger, DEAD), begin(ledger, DEAD, "post")
    report = RunReport(outcome=Outcome.PRODUCED, line="made", outputs=("a",))
    ledger.end(ended, report)
    assert reconcile(ledger, "generate", own=0, lock_dir=None) == 0
    assert ledger.find(ended).report == report
    assert ledger.find(other).report is None


def test_reconciling_again_finds_nothing(ledger: Ledger) -> None:
    """Each dead run is told once."""
    for _ in range(3):
        begin(ledger, DEAD)
    assert reconcile(ledger, "generate", own=0, lock_dir=None) == 3
    assert reconcile(ledger, "generate", own=0, lock_dir=None) == 0


def test_reading_sees_the_dead_run_as_killed_and_writes_nothing(ledger: Ledger) -> None:
    """A status before the next run tells the truth in memory only."""
    number = begin(ledger, DEAD)
    seen = see_as_ended(ledger.find(number), START, lock_dir=LOCK_DIR)
    assert seen is not None
    assert seen.outcome is Outcome.KILLED
    assert ledger.find(number).report is None


def test_reading_sees_living_and_ended_runs_as_they_are(ledger: Ledger) -> None:
    """At work is no outcome, and a recorded outcome is the outcome."""
    number = begin(ledger, read_own_identity())
    assert see_as_ended(ledger.find(number), START, lock_dir=LOCK_DIR) is None
    report = RunReport(outcome=Outcome.NOTHING_READY, line="none")
    ledger.end(number, report)
    assert see_as_ended(ledger.find(number), START, lock_dir=LOCK_DIR) == report


def word(ledger: Ledger, number: int) -> str:
    """Reconcile and return what is written of a run, "" while it is open."""
    reconcile(ledger, "generate", own=0, lock_dir=None)
    report = ledger.find(number).report
    return report.line if report else ""


def test_another_boot_is_a_restart_of_the_machine(ledger: Ledger) -> None:
    """Which boot it was in tells more than that its process is gone."""
    assert word(ledger, begin(ledger, DEAD)) == (
        "ended without a word: the machine was restarted while its process (pid 94799) was at work"
    )


def test_the_same_boot_is_a_kill(ledger: Ledger) -> None:
    """Its process is gone, and the machine was not restarted."""
    number = begin(ledger, replace(read_own_identity(), start="1"))
    assert word(ledger, number) == f"ended without a word: its process (pid {os.getpid()}) was killed"


def test_without_a_boot_id_it_is_not_told_which(ledger: Ledger) -> None:
    """What is not known is not said."""
    number = begin(ledger, ProcessIdentity(pid=94799, start="1", boot_id=""))
    assert word(ledger, number) == ("ended without a word: its process (pid 94799) was killed or the machine stopped")


def bounds(ledger: Ledger, process: ProcessIdentity, clock: VirtualClock, later: timedelta, boot: timedelta) -> str:
    """Reconcile a run `later` than it began, on a machine that was started `boot` after that; return the bounds."""
    clock.jump(START)
    number = begin(ledger, process)
    clock.jump(START + later)
    reconcile(ledger, "generate", own=0, lock_dir=None, boot_at=lambda _: START + boot)
    report = ledger.find(number).report
    assert report is not None
    assert [fact.name for fact in report.evidence] == ["ended_between"]
    return report.evidence[0].value


def test_when_it_ended_is_told_as_far_as_it_is_known(ledger: Ledger, clock: VirtualClock) -> None:
    """Since nobody saw it: between its beginning and now, or the machine's start; no clock that was set is a bound."""
    hour = timedelta(hours=1)
    killed = replace(read_own_identity(), start="1")
    assert bounds(ledger, killed, clock, 2 * hour, -hour) == "2026-05-04T12:00:00+00:00 and 2026-05-04T14:00:00+00:00"
    assert bounds(ledger, DEAD, clock, 2 * hour, hour) == "2026-05-04T12:00:00+00:00 and 2026-05-04T13:00:00+00:00"
    assert bounds(ledger, DEAD, clock, 2 * hour, -hour) == "2026-05-04T12:00:00+00:00 and 2026-05-04T14:00:00+00:00"
    assert bounds(ledger, DEAD, clock, -hour, -hour) == "not known: the clock was set back since it began"


def test_a_run_of_another_container_lives_while_its_lock_is_held(
    ledger: Ledger, clock: VirtualClock, tmp_path: Path
) -> None:
    """Its pid says nothing here; the kernel's lock does, and before that it is given a day."""
    file = tmp_path / "lamplighter.db"
    number = begin_elsewhere(ledger, file)
    folder = tmp_path / "locks" / "generate"
    assert reconcile(ledger, "generate", own=0, lock_dir=folder) == 0, "it may be waiting for the lock"
    ledger.set_generation(number, 7)
    lock = JobLock(folder, clock)
    lock.acquire("the other container's run")
    assert see_as_ended(ledger.find(number), START, lock_dir=folder) is None
    assert reconcile(ledger, "generate", own=0, lock_dir=folder) == 0
    lock.release()
    assert reconcile(ledger, "generate", own=0, lock_dir=folder) == 1
    waiting = begin_elsewhere(ledger, file)
    clock.jump(START + timedelta(days=2))
    assert reconcile(ledger, "generate", own=0, lock_dir=folder) == 1
    assert ledger.find(waiting).report is not None


def test_a_stopped_process_is_alive_and_a_zombie_is_dead(ledger: Ledger) -> None:
    """Stopped, it can go on; dead and not yet looked at by its parent, it cannot."""
    with Child("print('up', flush=True); input()") as child:
        child.hear()
        number = begin(ledger, read_identity(child.pid))
        os.kill(child.pid, signal.SIGSTOP)
        assert word(ledger, number) == ""
        os.kill(child.pid, signal.SIGKILL)
        until(lambda: (entry := read_process(child.pid)) is None or entry.is_dead, "the child is a zombie")
        assert "was killed" in word(ledger, number)


def test_reconcilers_at_once_write_one_word_for_each_run(ledger: Ledger, tmp_path: Path) -> None:
    """Two processes look at the same dead runs: each run is counted by one of them."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.ledger import MIGRATIONS, Ledger
    from lamplighter.engine.reconcile import reconcile
    from lamplighter.host.clock import SystemClock
    from lamplighter.host.database import open_database
    with open_database(Path(sys.argv[1]), MIGRATIONS) as database:
        ledger = Ledger(database, SystemClock(), "own")
        print("ready", flush=True)
        input()
        print(reconcile(ledger, "generate", own=0, lock_dir=None), flush=True)
    """
    numbers = [begin(ledger, DEAD) for _ in range(60)]
    file = tmp_path / "lamplighter.db"
    with Child(code, file) as one, Child(code, file) as two:
        for child in (one, two):
            child.hear()
        for child in (one, two):
            child.tell()
        assert int(one.hear()) + int(two.hear()) == len(numbers)
    assert all(ledger.find(number).report is not None for number in numbers)


def test_a_run_that_ends_by_itself_just_before_keeps_its_word(ledger: Ledger) -> None:
    """It was open when the reconciler looked, and not when it wrote."""
    number = begin(ledger, DEAD)
    report = RunReport(outcome=Outcome.NOTHING_READY, line="none")

    def end_meanwhile(_: ProcessIdentity) -> bool:
        ledger.end(number, report)
        return False

    assert reconcile(ledger, "generate", own=0, lock_dir=None, alive=end_meanwhile) == 0
    assert ledger.find(number).report == report
