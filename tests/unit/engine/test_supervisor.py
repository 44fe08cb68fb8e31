"""Whatever the work does, the run ends in exactly one recorded outcome."""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import signal
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child, is_running
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.boundary import report_error
from lamplighter.engine.holder import read_is_held
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger, RunRow
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.log import log_file, out_file
from lamplighter.engine.owner import OWNER_FILE, read_owner
from lamplighter.engine.supervisor import Run, Setup, Supervisor, perform
from lamplighter.errors import (
    ConfigError,
    DiskError,
    FailureClass,
    Fenced,
    InputError,
    InternalError,
    LamplighterError,
    LockBusy,
    LockUnusable,
    NeedsHuman,
    UpstreamError,
    UsageError,
)
from lamplighter.host.database import Database, open_database
from lamplighter.host.identity import read_own_identity
from lamplighter.host.signals import Interrupts
from lamplighter.value import replace

MADE = RunReport(outcome=Outcome.PRODUCED, line="made one", outputs=("feature-0007",), flags=("forced",))
FULL = RunReport(outcome=Outcome.NOTHING_NEEDED, line="stock is full", evidence=(Evidence(name="stock", value="3"),))

CHILD = """
import sys, time
from pathlib import Path
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.supervisor import Setup, Supervisor
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import open_database
state_dir = Path(sys.argv[1])
def work(run):
    try:
        print(run.number, flush=True)
        time.sleep(60)
    finally:
        run.say("tidied")
with open_database(state_dir / "lamplighter.db", MIGRATIONS) as database:
    ledger = Ledger(database, SystemClock(), "own")
    supervisor = Supervisor(ledger=ledger, state_dir=state_dir, clock=SystemClock(), say=print)
    setup = Setup(work=work)
    sys.exit(supervisor.run("generate", lambda: setup, command="lamplighter generate", trigger="cron").exit_code)
"""


HOLDER = """
import sys
from pathlib import Path
from lamplighter.engine.lock import JobLock
from lamplighter.host.clock import SystemClock
lock = JobLock(Path(sys.argv[1]) / "locks" / "generate", SystemClock())
lock.acquire("the run before")
print("held", flush=True)
input()
"""


class Place:
    """A workspace's state: its database, its ledger, and a supervisor whose words are remembered."""

    def __init__(self, state_dir: Path, database: Database) -> None:
        """Build a supervisor in `state_dir`."""
        self.state_dir = state_dir
        self.database = database
        self.clock = VirtualClock()
        self.ledger = Ledger(database, self.clock, "own")
        self.said: list[str] = []
        self.supervisor = self.supervise(self.said.append)

    def supervise(self, say: Callable[[str], None]) -> Supervisor:
        """Return a supervisor that speaks by `say`."""
        return Supervisor(ledger=self.ledger, state_dir=self.state_dir, clock=self.clock, say=say)

    def run(self, work: Callable[[Run], RunReport]) -> RunReport:
        """Run a piece of work."""
        setup = Setup(work=work)
        return self.supervisor.run("generate", lambda: setup, command="lamplighter generate --force", trigger="cron")

    def last(self) -> RunRow:
        """Return the newest row."""
        return self.ledger.latest(limit=1)[0]

    def log(self, number: int = 1) -> list[str]:
        """Return a run's log without its times."""
        lines = log_file(self.state_dir, "generate", number).read_text("utf-8").splitlines()
        return [line.partition(" ")[2] for line in lines]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return an empty place."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as database:
        yield Place(tmp_path, database)


def fail(error: BaseException) -> Callable[[Run], RunReport]:
    """Return work that raises `error`."""

    def work(_: Run) -> RunReport:
        raise error

    return work


@pytest.mark.parametrize("report", [MADE, FULL, RunReport(outcome=Outcome.NOTHING_READY, line="none is ready")])
def test_what_the_work_reports_is_recorded_and_returned(place: Place, report: RunReport) -> None:
    """Row, log and return value say the same."""
    assert place.run(lambda _: report) == report
    row = place.last()
    assert (row.report, row.job, row.command, row.trigger) == (
        report, "generate", "lamplighter generate --force", "cron",
    )  # fmt: skip
    assert (row.started_at, row.ended_at, row.generation) == (START, START, 1)
    assert place.log() == [f"{report.outcome.value}: {report.line}"]


def test_the_row_is_there_before_the_work_begins(place: Place) -> None:
    """The work can be seen while it is at work, under its number and its lock's generation."""

    def work(run: Run) -> RunReport:
        row = place.ledger.find(run.number)
        assert (row.report, row.generation) == (None, run.generation)
        assert read_is_held(place.state_dir / "locks" / "generate")
        run.check()
        return MADE

    assert place.run(work) == MADE
    assert not read_is_held(place.state_dir / "locks" / "generate")


def test_each_run_has_a_number_and_a_higher_generation(place: Place) -> None:
    """Across outcomes of every kind."""
    seen = []

    def work(run: Run) -> RunReport:
        seen.append((run.number, run.generation))
        raise UpstreamError("shop")

    for _ in range(3):
        place.run(work)
    assert seen == [(1, 1), (2, 2), (3, 3)]


def test_what_is_said_reaches_the_person_and_the_log(place: Place) -> None:
    """A line of progress is one line in both, with its time in the log."""

    def work(run: Run) -> RunReport:
        run.say("brand kibo: 12 products")
        run.say("two\nlines")
        return MADE

    place.run(work)
    assert place.said == ["brand kibo: 12 products", "two lines"]
    file = log_file(place.state_dir, "generate", 1)
    assert file.read_text().splitlines()[0] == "2026-05-04T12:00:00+00:00 brand kibo: 12 products"
    assert place.log() == ["brand kibo: 12 products", "two lines", "produced: made one"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_reader_that_went_away_does_not_stop_the_work(place: Place) -> None:
    """A closed pipe or an odd terminal costs the line, not the run; the log has it."""
    for error in (BrokenPipeError(), UnicodeEncodeError("ascii", "皿", 0, 1, "no")):

        def say(_: str, error: Exception = error) -> None:
            raise error

        def work(run: Run) -> RunReport:
            run.say("皿 \udcff")
            return MADE

        supervisor = place.supervise(say)
        assert supervisor.run("generate", lambda: Setup(work=work), command="c") == MADE
    assert place.log(2)[0] == "皿 ?"


@pytest.mark.parametrize(
    ("kind", "outcome", "code"),
    [
        (UsageError, Outcome.FAILED, 64),
        (ConfigError, Outcome.FAILED, 65),
        (InputError, Outcome.FAILED, 66),
        (UpstreamError, Outcome.FAILED, 69),
        (InternalError, Outcome.FAILED, 70),
        (Fenced, Outcome.FAILED, 70),
        (LockUnusable, Outcome.FAILED, 73),
        (DiskError, Outcome.FAILED, 74),
        (LockBusy, Outcome.LOCK_HELD, 75),
        (NeedsHuman, Outcome.NEEDS_HUMAN, 77),
    ],
)
def test_an_expected_error_becomes_its_outcome(
    place: Place, kind: type[LamplighterError], outcome: Outcome, code: int
) -> None:
    """One line for the person, the class for the scheduler, no traceback."""
    error = kind("brand kibo", "it broke", "mend it")
    report = place.run(fail(error))
    assert (report.outcome, report.exit_code, report.line) == (outcome, code, "brand kibo: it broke; mend it")
    assert report == report_error(error) == place.last().report
    assert place.log() == [f"{outcome.value}: brand kibo: it broke; mend it"]


def test_what_the_machine_refuses_is_no_bug_of_ours(place: Place) -> None:
    """A file that cannot be read, in a place that no part expects it: its name, why, what to do; and where it was."""
    report = place.run(fail(PermissionError(errno.EACCES, "Permission denied", "logs/a")))
    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 74)
    assert report.line == "logs/a: Permission denied; give this user the right to it"
    assert any("in work" in line for line in place.log())


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("division by zero"), RecursionError(), MemoryError(), SystemExit(0)]
)
def test_a_bug_is_a_crash_with_its_traceback_in_the_log(place: Place, error: BaseException) -> None:
    """Exit code 1, one line that says where to look, and the lock is free; also when work ends the program itself."""
    report = place.run(fail(error))
    assert (report.outcome, report.exit_code) == (Outcome.CRASHED, 1)
    assert report.line.startswith(f"a bug in lamplighter: {type(error).__name__}")
    assert report.line.endswith("; lamplighter runs log 1 shows it")
    log = place.log()
    assert log[0] == "Traceback (most recent call last):"
    assert any("in work" in line for line in log)
    assert log[-1] == f"crashed: {report.line}"
    assert not read_is_held(place.state_dir / "locks" / "generate")


def test_a_bug_with_a_long_message_is_still_one_short_line(place: Place) -> None:
    """Line breaks and kilobytes go to the log only."""
    report = place.run(fail(ValueError("bad\n\tvalue " * 100)))
    assert "\n" not in report.line
    assert len(report.line) < 700
    assert report.line.startswith("a bug in lamplighter: ValueError: bad value bad value")


def test_a_bug_that_cannot_say_its_name_is_recorded(place: Place) -> None:
    """An error whose own text fails, or is not UTF-8, is an outcome too."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    for error in (Mute(), ValueError("\udcff")):
        assert place.run(fail(error)).outcome is Outcome.CRASHED
        recorded = place.last().report
        assert recorded is not None
        assert recorded.outcome is Outcome.CRASHED


@pytest.mark.parametrize(
    "claim",
    [
        RunReport(outcome=Outcome.NOTHING_NEEDED, line="nothing to do"),
        RunReport(outcome=Outcome.PRODUCED, line="made one"),
    ],
)
def test_a_claim_without_proof_is_recorded_as_a_failure(place: Place, claim: RunReport) -> None:
    """An exit 0 that did nothing is a failure in row, log and exit code."""
    report = place.run(lambda _: claim)
    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 70)
    assert place.last().report == report


def test_a_lock_held_by_another_is_recorded_and_the_work_never_begins(place: Place) -> None:
    """The row was written before the lock was tried, so the skip has a reason."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.host.clock import SystemClock
    JobLock(Path(sys.argv[1]), SystemClock()).acquire("lamplighter generate")
    print("held", flush=True)
    input()
    """
    with Child(code, place.state_dir / "locks" / "generate") as holder:
        holder.hear()
        report = place.run(fail(AssertionError("the work began")))
    assert (report.outcome, report.exit_code) == (Outcome.LOCK_HELD, 75)
    assert report.line.startswith(f"job generate: another run is at work: pid {holder.pid} since ")
    assert place.last().report == report
    assert place.last().generation == 0


def test_another_job_is_not_kept_out(place: Place) -> None:
    """Each job has its own lock."""

    def work(_: Run) -> RunReport:
        return place.supervisor.run("post", lambda: Setup(work=lambda _: MADE), command="lamplighter post")

    assert place.run(work) == MADE
    assert [row.job for row in place.ledger.latest()] == ["post", "generate"]


def test_an_unusable_lock_is_recorded(place: Place) -> None:
    """A file where the locks belong is told, with exit code 73."""
    (place.state_dir / "locks").write_bytes(b"94799")
    report = place.run(fail(AssertionError("the work began")))
    assert (report.outcome, report.failure, report.exit_code) == (Outcome.FAILED, FailureClass.LOCK_UNUSABLE, 73)
    assert place.last().report == report


def test_a_lock_that_moved_on_fences_the_work(place: Place) -> None:
    """The work's check stops it before it commits."""

    def work(run: Run) -> RunReport:
        (place.state_dir / "locks" / "generate" / "lock").write_text(f"{9:020}\n")
        run.check()
        return MADE

    report = place.run(work)
    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 70)
    assert "replaced while this run was at work" in report.line


def test_the_generation_stays_above_the_ledgers_when_the_lock_was_lost(place: Place) -> None:
    """With the lock folder deleted the rows remember how far it had come."""
    for _ in range(3):
        place.run(lambda _: MADE)
    folder = place.state_dir / "locks" / "generate"
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    place.run(lambda _: MADE)
    assert place.last().generation == 4


def test_a_log_that_cannot_be_written_never_stops_the_work(place: Place) -> None:
    """A file where the logs belong costs the log and nothing else."""
    (place.state_dir / "logs").write_bytes(b"")

    def work(run: Run) -> RunReport:
        run.say("still at it")
        return MADE

    assert place.run(work) == MADE
    assert place.said == ["still at it"]


def test_an_outcome_that_cannot_be_recorded_is_a_failure_that_tells_it(place: Place) -> None:
    """Made but not recorded: the line says both, the exit code says disk, the log has the outcome."""
    place.database.change(
        "CREATE TRIGGER full BEFORE UPDATE OF outcome ON run BEGIN SELECT RAISE(ABORT, 'no room'); END"
    )
    report = place.run(lambda _: MADE)
    assert (report.outcome, report.failure, report.exit_code) == (Outcome.FAILED, FailureClass.DISK, 74)
    assert report.line.startswith("produced: made one; but this could not be recorded: ")
    assert report.line.endswith("no room")
    assert place.log() == ["produced: made one"]


def test_without_a_row_nothing_is_done(place: Place) -> None:
    """When not even the beginning can be recorded the error is the caller's, and lock and work are untouched."""
    place.database.change("CREATE TRIGGER full BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'no room'); END")
    with pytest.raises(DiskError):
        place.run(fail(AssertionError("the work began")))
    assert not (place.state_dir / "locks").exists()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)], ids=["TERM", "INT", "HUP"]
)
def test_a_stop_signal_ends_the_run_as_interrupted(place: Place, number: signal.Signals, code: int) -> None:
    """The work tidies up, the row says which signal, the exit code is the shell's, and the lock was let go."""
    with Child(CHILD, place.state_dir) as child:
        run_number = int(child.hear())
        child.signal(number)
        assert child.hear() == "tidied"
        assert child.wait() == code
    report = place.ledger.find(run_number).report
    assert report is not None
    assert (report.outcome, report.signal, report.exit_code) == (Outcome.INTERRUPTED, number, code)
    assert place.log()[-2:] == ["tidied", "interrupted: asked to stop; what was begun is kept"]
    record = json.loads((place.state_dir / "locks" / "generate" / OWNER_FILE).read_text())
    assert record["state"] == "released"


class Stopping(VirtualClock):
    """A clock at whose every reading, in ledger, lock and log, somebody sends TERM while `asking`."""

    def __init__(self, *, asking: bool) -> None:
        """Begin to ask at once, or when `asking` is set."""
        super().__init__()
        self.asking = asking

    def now(self) -> datetime:
        """Send TERM, then tell the time."""
        if self.asking:
            signal.raise_signal(signal.SIGTERM)
        return super().now()

    def monotonic(self) -> timedelta:
        """Send TERM, then tell steady time, by which a wait for a lock goes."""
        if self.asking:
            signal.raise_signal(signal.SIGTERM)
        return super().monotonic()


def test_a_stop_signal_before_the_work_begins_stops_it_there(place: Place) -> None:
    """It breaks neither the row nor the lock, and no first step is done."""
    clock = Stopping(asking=True)
    ledger = Ledger(place.database, clock, "own")
    supervisor = Supervisor(ledger=ledger, state_dir=place.state_dir, clock=clock, say=place.said.append)
    report = supervisor.run("generate", lambda: Setup(work=fail(AssertionError("the work began"))), command="c")
    assert (report.outcome, report.exit_code) == (Outcome.INTERRUPTED, 143)
    assert place.last().report == report
    assert not (place.state_dir / "locks" / "generate" / OWNER_FILE).exists()  # not even the lock was taken


def test_a_stop_signal_is_heard_while_another_run_is_waited_for(place: Place) -> None:
    """Neither the wait for a lock nor that for a due time is deaf, however long it may be."""
    holder = JobLock(place.state_dir / "locks" / "generate", place.clock, Terms())
    with Child(HOLDER, place.state_dir) as child:
        child.hear()
        clock = Stopping(asking=False)
        supervisor = Supervisor(
            ledger=Ledger(place.database, clock, "own"), state_dir=place.state_dir, clock=clock, say=place.said.append
        )

        def set_up() -> Setup:
            clock.asking = True
            return Setup(work=fail(AssertionError("the work began")))

        report = supervisor.run("generate", set_up, command="c", wait=timedelta(days=30))
    assert (report.outcome, place.last().report) == (Outcome.INTERRUPTED, report)
    holder.acquire("the next run")
    holder.release()


def test_what_goes_wrong_before_the_lock_is_in_a_row(place: Place) -> None:
    """Broken settings, a secret that is missing, a bug: the row was there before them."""

    def missing() -> Setup:
        raise ConfigError("jobs.x.env.A", "there is no variable B", "set it")

    def bug() -> Setup:
        raise ZeroDivisionError

    outcomes = [place.supervisor.run("x", set_up, command="c").outcome for set_up in (missing, bug)]
    assert outcomes == [Outcome.FAILED, Outcome.CRASHED]
    assert [row.report and row.report.outcome for row in place.ledger.latest()] == [Outcome.CRASHED, Outcome.FAILED]


@pytest.mark.parametrize(("work", "ended"), [(lambda _: MADE, "produced"), (lambda _: 1 / 0, "crashed")])
def test_the_record_says_how_the_run_ended(place: Place, work: Callable[[Run], RunReport], ended: str) -> None:
    """Who looks at the lock sees the outcome too, whatever it was."""
    place.run(work)
    record = json.loads((place.state_dir / "locks" / "generate" / OWNER_FILE).read_text())
    assert (record["state"], record["ended"]) == ("released", ended)


def test_the_record_says_what_the_run_is_at_once_a_second(place: Place) -> None:
    """Who waits for it sees what it waits for; a run that says much writes little."""
    seen = []
    folder = place.state_dir / "locks" / "generate"

    def work(run: Run) -> RunReport:
        for line, pause in (("copy", 0.2), ("photos", 0.9), ("slides", 0)):
            run.phase(line)
            seen.append(getattr(read_owner(folder), "phase", None))
            place.clock.wait(timedelta(seconds=pause))
        return MADE

    assert place.run(work) == MADE
    assert seen == ["copy", "copy", "slides"]


def test_a_living_run_whose_lock_was_taken_away_keeps_others_out(place: Place) -> None:
    """The folder of its lock is deleted in mid-run: the next run does not work beside it, and it says so itself."""
    with Child(CHILD, place.state_dir) as child:
        number = int(child.hear().partition(" ")[0])
        shutil.rmtree(place.state_dir / "locks")
        report = place.run(fail(AssertionError("two at once")))
        assert report.outcome is Outcome.LOCK_HELD
        assert report.line.startswith(f"job generate: run {number} is at work (pid {child.pid}), though its lock")
        child.signal(signal.SIGTERM)
        child.wait()
    ended = place.ledger.find(number).report
    assert ended is not None
    assert ended.flags == ("lock_lost",)
    assert "its lock was taken from under it" in ended.line
    assert place.run(lambda _: MADE).flags == MADE.flags


def test_an_outcome_that_could_not_be_recorded_is_taken_from_the_lock(place: Place) -> None:
    """A full disk refuses the row and never the record, which is written in place: no death is made of it."""
    dead = replace(read_own_identity(), start="1")
    number = place.ledger.begin("generate", command="c", trigger="cron", process=dead)
    lock = JobLock(place.state_dir / "locks" / "generate", place.clock, Terms())
    lock.acquire("c")
    place.ledger.set_generation(number, lock.generation)
    lock.release("completed")
    unknown = place.ledger.begin("generate", command="c", trigger="cron", process=dead)
    assert "predecessor_died" in place.run(lambda _: MADE).flags  # that one ended without any word
    assert getattr(place.ledger.find(unknown).report, "outcome", None) is Outcome.KILLED
    told = place.ledger.find(number).report
    assert told is not None
    assert (told.outcome, told.exit_code) == (Outcome.COMPLETED, 0)
    assert "could not be recorded" in told.line


def test_no_tail_of_a_run_that_broke_off_holds_a_secret(place: Place) -> None:
    """Whatever the work raised after its program had written."""

    def work(run: Run) -> RunReport:
        file = out_file(place.state_dir, "generate", run.number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("token hunter2-hunter2\n")
        raise DiskError("somewhere", "the disk is full")

    place.supervisor.run("generate", lambda: Setup(work=work, secrets=("hunter2-hunter2",)), command="c")
    assert place.last().tails.out == "token ***"


def test_a_stop_signal_after_the_work_does_not_unsay_it(place: Place) -> None:
    """What was made is made, and its outcome is recorded whole."""
    clock = Stopping(asking=False)
    ledger = Ledger(place.database, clock, "own")

    def work(_: Run) -> RunReport:
        clock.asking = True
        return MADE

    supervisor = Supervisor(ledger=ledger, state_dir=place.state_dir, clock=clock, say=place.said.append)
    assert supervisor.run("generate", lambda: Setup(work=work), command="c") == MADE
    assert place.last().report == MADE


def test_a_stop_signal_on_the_last_step_does_not_unsay_the_work() -> None:
    """The report was given and the signal came before the block of work was left: the report stands."""

    class Late(Interrupts):
        @contextlib.contextmanager
        def raising(self) -> Iterator[None]:
            with super().raising():
                yield
                self.receive(signal.SIGTERM, None)

    run = Run(number=1, generation=1, check=lambda: None, say=lambda _: None)
    assert perform(lambda _: MADE, run, Late()) == MADE
    with pytest.raises(UpstreamError):
        perform(fail(UpstreamError("shop")), run, Late())


def test_a_killed_run_is_told_by_the_next_one(place: Place) -> None:
    """SIGKILL leaves the row open; the next run writes killed, carries the flag, says so, and does its work."""
    with Child(CHILD, place.state_dir) as child:
        number = int(child.hear())
        child.kill()
        assert not is_running(child.pid)
    assert place.ledger.find(number).report is None
    report = place.run(lambda _: MADE)
    killed = place.ledger.find(number).report
    assert killed is not None
    assert (killed.outcome, killed.exit_code) == (Outcome.KILLED, 137)
    assert report.flags == ("predecessor_died", "forced")
    assert place.said == ["the run before this one was killed"]
    assert place.run(lambda _: MADE).flags == ("forced",)
    assert len(place.said) == 1


@pytest.mark.parametrize("error", [UpstreamError("shop"), ValueError("bug"), SystemExit(2)])
def test_a_predecessors_death_is_told_however_this_run_ends(place: Place, error: BaseException) -> None:
    """The flag is not lost with the work's failure: nobody would be told of it again."""
    with Child(CHILD, place.state_dir) as child:
        child.hear()
        child.kill()
    assert place.run(fail(error)).flags == ("predecessor_died",)
    recorded = place.last().report
    assert recorded is not None
    assert recorded.flags == ("predecessor_died",)


def test_a_run_killed_before_its_lock_is_told_too(place: Place) -> None:
    """A row without a lock record: the word is written for it all the same, and this run is flagged."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.ledger import MIGRATIONS, Ledger
    from lamplighter.host.clock import SystemClock
    from lamplighter.host.database import open_database
    from lamplighter.host.identity import read_own_identity
    with open_database(Path(sys.argv[1]) / "lamplighter.db", MIGRATIONS) as database:
        ledger = Ledger(database, SystemClock(), "own")
        ledger.begin("generate", command="c", trigger="t", process=read_own_identity())
        print("begun", flush=True)
        input()
    """
    with Child(code, place.state_dir) as child:
        child.hear()
        child.kill()
    assert place.run(lambda _: MADE).flags == ("predecessor_died", "forced")
    killed = place.ledger.find(1).report
    assert killed is not None
    assert killed.outcome is Outcome.KILLED
    assert len(place.said) == 1


def test_the_handlers_of_before_are_back_after_a_run(place: Place) -> None:
    """A run leaves the process as it found it, also after a crash."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]
    place.run(lambda _: MADE)
    place.run(fail(ValueError()))
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] == before


def test_the_lock_is_free_for_others_after_every_run(place: Place) -> None:
    """Whatever the outcome was, the kernel holds nothing for it."""
    for error in (UpstreamError("shop"), ValueError("bug"), SystemExit(1)):
        place.run(fail(error))
        lock = JobLock(place.state_dir / "locks" / "generate", VirtualClock())
        lock.acquire("another")
        assert lock.predecessor is None
        lock.release()
