"""The worker seen from its supervisor: clocks that jump, errors in between, what is passed on and what is kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.child import is_running

from lamplighter.engine.claim import Claim
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.lock import Terms
from lamplighter.engine.owner import Child
from lamplighter.engine.relay import Relay
from lamplighter.engine.supervisor import Run, Setup, Supervisor
from lamplighter.engine.worker import LOCK_GRACE, STOP_GRACE, Assignment, Worker, WorkerOrder, parse_assignment
from lamplighter.errors import DiskError, InputError
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import Database, open_database
from lamplighter.host.handle import KILL_PATIENCE, TERM_GRACE


def hush(line: str) -> None:
    """Take a line of progress."""
    assert line


class JumpingClock(SystemClock):
    """The machine's clock, whose wall time somebody sets to another year at every second look."""

    def __init__(self, years: int) -> None:
        """Jump by so many years."""
        self._years = years
        self._looks = 0

    def now(self) -> datetime:
        """Return the time, now right, now wrong."""
        self._looks += 1
        return super().now() + timedelta(days=365 * self._years * (self._looks % 2))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an empty database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


def work(tmp_path: Path, script: str, limit: timedelta | None = None, *, show_output: bool = False) -> Worker:
    """Return a shell script as the work of a run."""
    order = WorkerOrder(argv=("sh", "-c", script), cwd=tmp_path, env=os.environ, limit=limit)
    return Worker(order, job="x", state_dir=tmp_path, clock=SystemClock(), show_output=show_output)


@pytest.mark.parametrize("years", [-30, 30])
@pytest.mark.parametrize(
    ("script", "outcome"),
    [("sleep 0.4", Outcome.COMPLETED), ("sleep 60", Outcome.TIMED_OUT), ("exit 3", Outcome.FAILED)],
)
def test_a_clock_that_is_set_in_mid_run_changes_no_outcome(
    tmp_path: Path, database: Database, years: int, script: str, outcome: Outcome
) -> None:
    """Limits go by steady time; neither is a run ended early by a jump, nor does it get longer."""
    clock = JumpingClock(years)
    ledger = Ledger(database, clock, "main")
    limit = timedelta(seconds=1)
    supervisor = Supervisor(ledger=ledger, state_dir=tmp_path, clock=clock, say=hush)
    began = clock.monotonic()
    for _ in range(2):
        report = supervisor.run(
            "x", lambda: Setup(work=work(tmp_path, script, limit), terms=Terms(limit=limit)), command="c"
        )
        assert report.outcome is outcome
    assert clock.monotonic() - began < timedelta(seconds=15)
    assert [row.report and row.report.outcome for row in ledger.latest()] == [outcome, outcome]
    assert [row.generation for row in ledger.latest()] == [2, 1]


def make_run(**changes: object) -> Run:
    """Return a run that takes no notice of anything, these things apart."""
    known = {"number": 1, "generation": 1, "check": lambda: None, "say": hush, **changes}
    return Run(**known)  # type: ignore[arg-type]  # each by its name


def test_an_error_between_start_and_end_leaves_no_worker(tmp_path: Path) -> None:
    """Whatever fails while it is at work: it is ended, and what failed is told."""
    started: list[Child] = []

    def fail(child: Child) -> None:
        started.append(child)
        raise DiskError("record", "no room")

    with pytest.raises(DiskError, match="no room"):
        work(tmp_path, "sleep 60 & sleep 60")(make_run(started=fail))
    assert not is_running(started[0].pid)


def test_a_worker_is_told_its_claim_and_nobody_else_is_believed() -> None:
    """What a supervisor renders is what its worker reads; anything else is one line."""
    claim = Claim(folder=Path("/x"), generation=7, nonce="abc", folder_inode=(1, 2), file_inode=(3, 4))
    for limit in (None, timedelta(minutes=5)):
        assignment = Assignment(number=3, claim=claim, limit=limit)
        assert parse_assignment(assignment.render()) == assignment
    for text in ("", "{}", "[]", '{"inodes": [1]}', "null", '{"inodes": [1,2,3,4], "folder": "/x"}'):
        with pytest.raises(InputError, match="started by a supervisor only"):
            parse_assignment(text)


def test_output_is_shown_in_whole_lines_as_it_comes(tmp_path: Path) -> None:
    """Half a line waits for its other half, what was there before is not shown, of a flood only the end is."""
    file, shown = tmp_path / "out", list[str]()
    file.write_text("before\n")
    relay = Relay(file, shown.append)
    with file.open("ab", buffering=0) as stream:
        stream.write(b"one\ntw")
        relay.pass_on()
        assert shown == ["one"]
        stream.write(b"o\n")
        relay.pass_on()
        relay.pass_on()
        assert shown == ["one", "two"]
        stream.write(b"x" * 99 + b"\n")
        stream.write(b"y\n" * 50_000 + b"end")
        relay.finish()
    assert shown[2:4] == ["… 36,103 bytes are in the log only", "… 29,999 lines are in the log only"]
    assert shown[4:-1] == ["y"] * 2_000
    assert shown[-1] == "end"


def test_output_that_was_rotated_or_removed_is_shown_from_its_new_beginning(tmp_path: Path) -> None:
    """The log is shortened while it is shown."""
    file, shown = tmp_path / "out", list[str]()
    file.write_text("a long line that was there\n")
    relay = Relay(file, shown.append)
    file.write_text("new\n")
    relay.pass_on()
    file.unlink()
    relay.pass_on()
    relay.finish()
    assert shown == ["new"]


def test_a_worker_that_nobody_awaits_any_more_is_reported_by_its_signal(tmp_path: Path, database: Database) -> None:
    """Ended from outside by KILL: the row says so, whatever it had begun to write."""
    ledger = Ledger(database, SystemClock(), "main")
    supervisor = Supervisor(ledger=ledger, state_dir=tmp_path, clock=SystemClock(), say=hush)
    script = 'printf \'{"outcome": "produced", "outputs": ["a"]}\' > "$LAMPLIGHTER_RESULT"; kill -9 $$'
    report = supervisor.run("x", lambda: Setup(work=work(tmp_path, script)), command="c")
    assert (report.outcome, report.signal) == (Outcome.KILLED, signal.SIGKILL)
    assert ledger.latest()[0].started_at.tzinfo is UTC
    assert isinstance(report, RunReport)


def test_a_run_counts_its_limit_from_when_it_took_its_lock(tmp_path: Path, database: Database) -> None:
    """What comes before the worker is part of it: else others would end a run that is well, as one that hangs."""
    clock = SystemClock()
    supervisor = Supervisor(ledger=Ledger(database, clock, "main"), state_dir=tmp_path, clock=clock, say=hush)
    worker = work(tmp_path, "sleep 60", timedelta(seconds=30))

    def begin_late(run: Run) -> RunReport:
        clock.wait(timedelta(seconds=0.7))
        return worker(run)

    began = clock.monotonic()
    terms = Terms(limit=timedelta(seconds=1))
    report = supervisor.run("x", lambda: Setup(work=begin_late, terms=terms), command="c")
    assert report.outcome is Outcome.TIMED_OUT
    assert clock.monotonic() - began < timedelta(seconds=1.5)


def test_the_grace_of_the_lock_is_longer_than_the_ending_of_a_worker() -> None:
    """All that may come between the limit and the release: else the lock of a run that is ending would be taken."""
    ending = STOP_GRACE + KILL_PATIENCE + TERM_GRACE + KILL_PATIENCE
    assert ending + timedelta(seconds=10) <= LOCK_GRACE
