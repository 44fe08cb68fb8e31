"""One row for every run, from before anything can fail to its one outcome."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger, has_runs, raise_number_floor
from lamplighter.engine.log import TAIL_LETTERS, Tails
from lamplighter.errors import Damaged, FailureClass, InputError
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


def test_the_slot_is_recorded_while_a_run_is_at_work(ledger: Ledger) -> None:
    """A reader sees for which slot it works."""
    number = ledger.begin("post", command="c", trigger="launchd", process=PROCESS, slot="2026-05-04-1930")
    row = ledger.find(number)
    assert (row.slot, row.own_code, row.tails, row.report) == ("2026-05-04-1930", None, Tails(), None)


def test_the_end_carries_the_tails_and_the_commands_own_code(ledger: Ledger) -> None:
    """What a person needs first is in the row; what is printed is printable and short."""
    number = begin(ledger)
    tails = Tails(out="one\n\x1b[31mtwo\x1b[0m\n", err="x" * 10_000 + "\x00end")
    assert ledger.end(number, REPORTS[1], tails, own_code=3)
    row = ledger.find(number)
    assert (row.own_code, row.tails.out) == (3, "one\ntwo")
    assert (len(row.tails.err), row.tails.err[:2], row.tails.err[-4:]) == (TAIL_LETTERS, "…x", "?end")


@pytest.mark.parametrize("outcome", Outcome)
def test_nothing_of_a_terminal_row_changes(ledger: Ledger, outcome: Outcome) -> None:
    """Neither slot, generation, tails nor code: what is told of a run that ended stays told."""
    number = begin(ledger)
    ledger.end(number, RunReport(outcome=outcome, line="first"), Tails(out="first"), own_code=1)
    before = ledger.find(number)
    ledger.set_slot(number, "late")
    ledger.set_generation(number, 99)
    assert not ledger.end(number, DONE, Tails(out="late"), own_code=2)
    assert ledger.find(number) == before


def test_rows_of_the_first_version_are_read_and_ended(tmp_path: Path) -> None:
    """An upgrade in mid-run: what it did not know is empty."""
    file = tmp_path / "old.db"
    with open_database(file, MIGRATIONS[:1]) as old:
        old.change(
            """INSERT INTO run (account, number, job, command, trigger_name, started_at, pid, process_start, boot_id)
            VALUES ('own', 7, 'post', 'c', 't', 0, 2, '3', 'b')"""
        )
    with open_database(file, MIGRATIONS) as database:
        ledger = Ledger(database, VirtualClock(), "own")
        row = ledger.find(7)
        assert (row.slot, row.own_code, row.tails) == ("", None, Tails())
        assert ledger.end(7, DONE)
        assert begin(ledger) == 8


def test_numbers_go_on_above_the_floor(ledger: Ledger, database: Database) -> None:
    """A floor below what is known changes nothing, and none is ever lowered."""
    assert not has_runs(database)
    raise_number_floor(database, 40)
    assert has_runs(database)
    raise_number_floor(database, 12)
    assert [begin(ledger), begin(ledger)] == [41, 42]
    raise_number_floor(database, 41)
    assert begin(ledger) == 43
    raise_number_floor(database, 99)
    assert begin(ledger) == 100


@pytest.mark.parametrize("jump", [datetime(1999, 1, 1, tzinfo=UTC), datetime(2080, 1, 1, tzinfo=UTC)])
def test_a_clock_that_is_set_in_mid_run_breaks_nothing(ledger: Ledger, clock: VirtualClock, jump: datetime) -> None:
    """Start and end are told as the clock told them; the order is that of the numbers."""
    first, second = begin(ledger), begin(ledger)
    clock.jump(jump)
    ledger.end(first, DONE)
    third = begin(ledger)
    ledger.end(third, DONE)
    row = ledger.find(first)
    assert (row.started_at, row.ended_at) == (START, jump)
    assert [run.number for run in ledger.latest()] == [third, second, first]


def test_a_row_that_makes_no_sense_is_damage(ledger: Ledger, database: Database) -> None:
    """One line instead of a traceback."""
    number = begin(ledger)
    ledger.end(number, DONE)
    database.change("UPDATE run SET outcome = 'posted, or so'")
    with pytest.raises(Damaged, match="run 1: its row in the database makes no sense: 'posted, or so'"):
        ledger.latest()


def test_two_accounts_at_once_in_one_database(tmp_path: Path) -> None:
    """Two configurations on one state folder: processes of both write at once, and each sees its own whole."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.job import Outcome, RunReport
    from lamplighter.engine.ledger import MIGRATIONS, Ledger
    from lamplighter.host.clock import SystemClock
    from lamplighter.host.database import open_database
    from lamplighter.host.identity import read_own_identity
    with open_database(Path(sys.argv[1]), MIGRATIONS) as database:
        ledger = Ledger(database, SystemClock(), sys.argv[2])
        print("ready", flush=True)
        input()
        for _ in range(25):
            number = ledger.begin("generate", command=sys.argv[2], trigger="t", process=read_own_identity())
            ledger.end(number, RunReport(outcome=Outcome.PRODUCED, line=sys.argv[2], outputs=("a",)))
        print("done", flush=True)
    """
    file = tmp_path / "lamplighter.db"
    with Child(code, file, "one") as one, Child(code, file, "two") as two:
        for child in (one, two):
            child.hear()
        for child in (one, two):
            child.tell()
        assert [one.hear(), two.hear()] == ["done", "done"]
    with open_database(file, MIGRATIONS) as database:
        seen = {name: Ledger(database, VirtualClock(), name).latest(limit=100) for name in ("one", "two")}
    assert {name: {row.command for row in rows} for name, rows in seen.items()} == {"one": {"one"}, "two": {"two"}}
    assert sorted(row.number for rows in seen.values() for row in rows) == list(range(1, 51))
    assert all(row.report is not None for rows in seen.values() for row in rows)
