"""One row for every run, from before anything can fail to its one outcome."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.errors import FailureClass, InputError
from lamplighter.host.database import Database, open_database, open_database_to_read
from lamplighter.host.identity import ProcessIdentity

PROCESS = ProcessIdentity(pid=94799, start="12345", boot_id="boot")
DONE = RunReport(outcome=Outcome.PRODUCED, line="made one", outputs=("feature-0007",))
REPORTS = (
    RunReport(
        outcome=Outcome.PRODUCED,
        line="2 of 2 — 皿 🆕",
        evidence=(Evidence(name="stock", value="3 of 3"), Evidence(name="", value='"quoted"\n[]')),
        outputs=("feature-0007-bowl", "feature-0008-皿"),
        flags=("forced", "predecessor_died"),
    ),
    RunReport(outcome=Outcome.FAILED, line="no room", failure=FailureClass.DISK),
    RunReport(outcome=Outcome.INTERRUPTED, line="asked to stop", signal=signal.SIGHUP),
    RunReport(outcome=Outcome.LOCK_HELD, line=""),
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


@pytest.fixture
def clock() -> VirtualClock:
    """Return the clock of the ledger."""
    return VirtualClock()


@pytest.fixture
def ledger(database: Database, clock: VirtualClock) -> Ledger:
    """Return the ledger of an account."""
    return Ledger(database, clock, "own")


def begin(ledger: Ledger, job: str = "generate") -> int:
    """Begin a run."""
    return ledger.begin(job, command=f"lamplighter {job}", trigger="person", process=PROCESS)


def test_a_run_is_recorded_from_its_beginning(ledger: Ledger) -> None:
    """The row says who began what and when, before there is an outcome."""
    row = ledger.find(begin(ledger))
    assert (row.number, row.job, row.command, row.trigger) == (1, "generate", "lamplighter generate", "person")
    assert (row.started_at, row.ended_at, row.generation, row.process, row.report) == (START, None, 0, PROCESS, None)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.outcome.value)
def test_a_report_comes_back_as_it_was_written(ledger: Ledger, clock: VirtualClock, report: RunReport) -> None:
    """Line, evidence, outputs, flags, class and signal survive the table."""
    number = begin(ledger)
    clock.advance(timedelta(minutes=3))
    assert ledger.end(number, report)
    row = ledger.find(number)
    assert row.report == report
    assert row.ended_at == START + timedelta(minutes=3)


def test_the_exit_code_is_recorded_beside_the_outcome(ledger: Ledger, database: Database) -> None:
    """A person with sqlite3 sees what the scheduler saw."""
    ledger.end(begin(ledger), REPORTS[1])
    row = database.row("SELECT outcome, exit_code, failure FROM run")
    assert row is not None
    assert tuple(row) == ("failed", 74, "disk")


@pytest.mark.parametrize("outcome", Outcome)
def test_a_terminal_state_never_changes(ledger: Ledger, outcome: Outcome) -> None:
    """The first outcome stands, whatever a late writer says."""
    number = begin(ledger)
    first = RunReport(outcome=outcome, line="first")
    assert ledger.end(number, first)
    assert not ledger.end(number, DONE)
    ledger.set_generation(number, 99)
    row = ledger.find(number)
    assert (row.report, row.generation) == (first, 0)


def test_ending_a_run_that_is_not_there_changes_nothing(ledger: Ledger) -> None:
    """A number of another database is no run of this one."""
    assert not ledger.end(7, DONE)
    with pytest.raises(InputError) as caught:
        ledger.find(7)
    assert str(caught.value) == "run 7: there is no such run; lamplighter runs list shows them"


def test_the_latest_runs_come_first(ledger: Ledger) -> None:
    """Of one job or of all, and no more than asked for."""
    for job in ("generate", "post", "generate", "generate"):
        begin(ledger, job)
    assert [row.number for row in ledger.latest()] == [4, 3, 2, 1]
    assert [row.number for row in ledger.latest(job="generate")] == [4, 3, 1]
    assert [row.number for row in ledger.latest(job="generate", limit=2)] == [4, 3]
    assert ledger.latest(job="watch") == ()


def test_open_runs_are_those_without_an_outcome(ledger: Ledger) -> None:
    """Of this job only, the oldest first."""
    numbers = [begin(ledger) for _ in range(3)]
    begin(ledger, "post")
    ledger.end(numbers[1], DONE)
    assert [row.number for row in ledger.open_runs("generate")] == [numbers[0], numbers[2]]


def test_the_highest_generation_is_of_the_job(ledger: Ledger) -> None:
    """It outlives the run, and another job's does not count."""
    assert ledger.highest_generation("generate") == 0
    for generation in (4, 9, 7):
        number = begin(ledger)
        ledger.set_generation(number, generation)
        ledger.end(number, DONE)
    ledger.set_generation(begin(ledger, "post"), 30)
    assert ledger.highest_generation("generate") == 9


def test_accounts_share_a_database_and_see_only_their_own(database: Database, ledger: Ledger) -> None:
    """Rows, outcomes and generations are each account's own; numbers are not, because they name the logs."""
    other = Ledger(database, VirtualClock(), "other")
    begin(ledger)
    assert begin(other) == 2
    assert other.end(2, DONE)
    other.set_generation(begin(other), 50)
    assert ledger.find(1).report is None
    assert [row.number for row in ledger.latest()] == [1]
    assert ledger.highest_generation("generate") == 0


def test_a_command_of_other_bytes_is_recorded(ledger: Ledger) -> None:
    """An argument that is not UTF-8 is escaped, never a run without a row."""
    number = ledger.begin("run", command="echo \udcff", trigger="person", process=PROCESS)
    ledger.end(number, RunReport(outcome=Outcome.FAILED, line="no \udcff", outputs=("\udcff",)))
    row = ledger.find(number)
    assert (row.command, row.report is not None and row.report.line) == ("echo \\udcff", "no \\udcff")


def test_numbers_are_unique_when_processes_begin_at_once(tmp_path: Path) -> None:
    """Several processes in a row of their own: no number twice, none missing."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.ledger import MIGRATIONS, Ledger
    from lamplighter.host.clock import SystemClock
    from lamplighter.host.database import open_database
    from lamplighter.host.identity import read_own_identity
    with open_database(Path(sys.argv[1]), MIGRATIONS) as database:
        ledger = Ledger(database, SystemClock(), "own")
        print("ready", flush=True)
        input()
        numbers = [ledger.begin("generate", command="c", trigger="t", process=read_own_identity()) for _ in range(25)]
        print(*numbers, flush=True)
    """
    file = tmp_path / "lamplighter.db"
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(Child(code, file)) for _ in range(3)]
        for child in children:
            child.hear()
        for child in children:
            child.tell()
        numbers = [int(number) for child in children for number in child.hear().split()]
    assert sorted(numbers) == list(range(1, 76))


def test_an_empty_ledger_can_be_read_where_nothing_is(tmp_path: Path) -> None:
    """A workspace that never ran has no runs, and looking makes no file."""
    with open_database_to_read(tmp_path / "lamplighter.db", MIGRATIONS) as database:
        assert Ledger(database, VirtualClock(), "own").latest() == ()
    assert list(tmp_path.iterdir()) == []
