"""A damaged database is set aside whole and a new one made; what is no damage is left alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.simulators.child import Child, files_of_at_most, snapshot
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.repair import Repair, find_repairs, open_or_repair, open_to_look
from lamplighter.errors import Damaged, DiskError
from lamplighter.host.database import MARK, Database, beside, open_database, open_database_to_read
from lamplighter.host.identity import read_own_identity

DONE = RunReport(outcome=Outcome.PRODUCED, line="made one", outputs=("a",))
ASIDE = "lamplighter.db.damaged-20260504T120000Z"
BRIEFLY = timedelta(milliseconds=200)
DEAD_WRITER = """
import os, signal, sys
from pathlib import Path
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import open_database
from lamplighter.host.identity import read_own_identity
database = open_database(Path(sys.argv[1]), MIGRATIONS)
for _ in range(int(sys.argv[2])):
    ledger = Ledger(database, SystemClock(), "own")
    ledger.begin("generate", command="c" * 500, trigger="t", process=read_own_identity())
os.kill(os.getpid(), signal.SIGKILL)
"""


class State:
    """A state folder with a database and logs."""

    def __init__(self, folder: Path, clock: VirtualClock) -> None:
        """Use an empty folder."""
        self.folder = folder
        self.file = folder / "lamplighter.db"
        self.logs_dir = folder / "logs"
        self.clock = clock

    def open(self, patience: timedelta = timedelta(seconds=10)) -> tuple[Database, Repair | None]:
        """Open to write, as the program does."""
        return open_or_repair(self.file, MIGRATIONS, logs_dir=self.logs_dir, clock=self.clock, patience=patience)

    def run(self, times: int = 1) -> Repair | None:
        """Do runs that leave a row and a log, and return the repair that was needed."""
        database, repair = self.open()
        with database:
            ledger = Ledger(database, self.clock, "own")
            for _ in range(times):
                number = ledger.begin("generate", command="c" * 500, trigger="t", process=read_own_identity())
                log = self.logs_dir / "generate" / f"{number}.log"
                assert not log.exists(), "a run number was given twice"
                log.parent.mkdir(parents=True, exist_ok=True)
                log.write_text("begun\n")
                ledger.end(number, DONE)
        return repair

    def numbers(self) -> list[int]:
        """Return the runs the database knows, oldest first."""
        with open_database_to_read(self.file, MIGRATIONS) as database:
            return [row.number for row in reversed(Ledger(database, self.clock, "own").latest(limit=1_000))]

    def die_writing(self, times: int = 3) -> None:
        """Let a process write runs and be killed, so that they are in the log beside the database."""
        with Child(DEAD_WRITER, self.file, times) as child:
            child.wait()


@pytest.fixture
def state(tmp_path: Path) -> State:
    """Return a state folder in which 30 runs have been."""
    (tmp_path / "state").mkdir()
    made = State(tmp_path / "state", VirtualClock())
    assert made.run(30) is None
    return made


def be_garbage(file: Path) -> None:
    """Replace the content by text."""
    file.write_bytes(b"this is no database " * 500)


def be_short(file: Path) -> None:
    """Cut the file off in the middle."""
    os.truncate(file, file.stat().st_size // 2)


def be_tiny(file: Path) -> None:
    """Leave less than the header."""
    os.truncate(file, 50)


def be_empty(file: Path) -> None:
    """Leave nothing."""
    os.truncate(file, 0)


def be_folder(file: Path) -> None:
    """Put a folder in its place."""
    file.unlink()
    file.mkdir()
    (file / "inside").write_text("kept")


def be_fifo(file: Path) -> None:
    """Put a FIFO in its place."""
    file.unlink()
    os.mkfifo(file)


def be_zeroed(file: Path) -> None:
    """Let the header be nought, as after a power cut."""
    content = file.read_bytes()
    file.write_bytes(bytes(4096) + content[4096:])


def have_foreign_log(file: Path) -> None:
    """Lay the log of another, larger database beside it."""
    other = file.with_name("other.db")
    with contextlib.closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE other (text TEXT)")
        connection.executemany("INSERT INTO other VALUES (?)", [("x" * 3_000,)] * 50)
        shutil.copy(beside(other, "-wal"), beside(file, "-wal"))
    other.unlink()


DAMAGES = (be_garbage, be_short, be_tiny, be_empty, be_folder, be_fifo, be_zeroed, have_foreign_log)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_set_aside_whole_and_a_new_one_works(
    state: State, damage: Callable[[Path], None]
) -> None:
    """The command goes on with a new one; numbers go on above the logs; the next run finds nothing amiss."""
    damage(state.file)
    was = state.file.read_bytes() if state.file.is_file() else b""
    repair = state.run()
    assert repair is not None
    aside = state.folder / ASIDE
    assert repair == Repair(file=state.file, cause=repair.cause, at=START, set_aside=aside)
    assert (aside.read_bytes() if aside.is_file() else b"") == was
    assert beside(aside, "-wal").exists() == (damage is have_foreign_log)
    assert state.numbers() == [31]
    assert find_repairs(state.file) == (repair,)
    assert state.run() is None
    assert state.numbers() == [31, 32]


def test_what_is_said_of_a_repair_is_one_line(state: State) -> None:
    """File, why, where the old one is, what follows."""
    be_garbage(state.file)
    repair = state.run()
    assert repair is not None
    assert repair.line == (
        f"{state.file}: it was damaged (file is not a database); it is kept as {ASIDE}, a new one was made, "
        "and what exists and what went out is found again from the files"
    )


def test_a_folder_in_its_place_is_kept_with_what_it_holds(state: State) -> None:
    """Nothing is ever deleted."""
    be_folder(state.file)
    state.run()
    assert (state.folder / ASIDE / "inside").read_text() == "kept"


def test_damage_deep_inside_is_found_by_the_run_that_meets_it_and_repaired_by_the_next(state: State) -> None:
    """Opening reads a page or two; the run that reads more fails in one line and marks it for the next."""
    state.run(100)
    content = bytearray(state.file.read_bytes())
    middle = len(content) // 4096 // 2 * 4096
    content[middle : middle + 8192] = b"\xff" * 8192
    state.file.write_bytes(content)
    database, repair = state.open()
    assert repair is None
    with database, pytest.raises(Damaged):
        Ledger(database, state.clock, "own").latest(limit=1_000)
    assert beside(state.file, MARK).exists()
    repair = state.run()
    assert repair is not None
    assert not beside(state.file, MARK).exists()
    assert state.numbers() == [131]


def test_a_mark_on_a_whole_database_goes_away(state: State) -> None:
    """What looked like damage once and is none is no reason to set anything aside."""
    beside(state.file, MARK).touch()
    assert state.run() is None
    assert not beside(state.file, MARK).exists()
    assert len(state.numbers()) == 31


def test_a_log_that_a_killed_writer_left_is_no_damage(state: State) -> None:
    """It is looked at closely, and nothing of it is lost."""
    state.die_writing()
    assert state.run() is None
    assert state.numbers() == list(range(1, 35))


def test_a_torn_log_loses_its_last_writes_and_nothing_else(state: State) -> None:
    """SQLite's checksums tell where it ends; what was whole is kept, and no number that has a log is given again."""
    state.die_writing(20)
    (state.logs_dir / "generate" / "50.log").touch()
    wal = beside(state.file, "-wal")
    os.truncate(wal, wal.stat().st_size * 2 // 3)
    database, repair = state.open()
    with database:
        assert repair is None
    numbers = state.numbers()
    assert numbers == list(range(1, len(numbers) + 1))
    assert 30 <= len(numbers) < 50
    state.run()
    assert state.numbers()[-1] == 51


def test_a_database_that_is_gone_is_missed(state: State) -> None:
    """Somebody moved it away: a new one, above the logs, and it is said."""
    state.file.unlink()
    repair = state.run()
    assert repair is not None
    assert (repair.cause, repair.set_aside) == ("it is gone", None)
    assert find_repairs(state.file) == (repair,)
    assert state.numbers() == [31]


def test_a_log_beside_no_database_is_kept(state: State) -> None:
    """SQLite would delete it when it makes a new database."""
    state.die_writing()
    wal = beside(state.file, "-wal").read_bytes()
    state.file.unlink()
    repair = state.run()
    assert repair is not None
    assert beside(state.folder / ASIDE, "-wal").read_bytes() == wal


def test_a_new_workspace_is_no_damage(tmp_path: Path) -> None:
    """Nothing there, or an empty file of a writer killed at its first step, and no run before."""
    state = State(tmp_path, VirtualClock())
    assert state.run() is None
    other = State(tmp_path / "other", VirtualClock())
    other.folder.mkdir()
    other.file.touch()
    assert other.run() is None
    assert (find_repairs(state.file), find_repairs(other.file)) == ((), ())


def test_a_database_that_knows_of_no_run_though_there_are_logs_is_told(state: State) -> None:
    """Somebody put a new one in its place: nothing is to be set aside, and numbers go on above the logs."""
    state.file.unlink()
    open_database(state.file, MIGRATIONS).close()
    repair = state.run()
    assert repair is not None
    assert (repair.cause, repair.set_aside) == ("it was empty", None)
    assert find_repairs(state.file) == (repair,)
    assert state.run() is None
    assert state.numbers() == [31, 32]


def test_what_cannot_be_set_aside_stays_and_is_told(tmp_path: Path) -> None:
    """One line, and the file is as and where it was."""
    file = tmp_path / ("x" * 240)
    file.write_bytes(b"this is no database " * 100)
    with pytest.raises(DiskError, match="cannot be set aside: File name too long; move it away by hand"):
        open_or_repair(file, MIGRATIONS, logs_dir=tmp_path / "logs", clock=VirtualClock())
    assert file.read_bytes().startswith(b"this is no database")


def test_damage_without_end_is_told(state: State) -> None:
    """A disk that spoils each new one is not filled up with remains."""
    be_garbage(state.file)
    for number in ("", *(f"-{count}" for count in range(2, 999))):
        (state.folder / f"{ASIDE}{number}.txt").touch()
    with pytest.raises(DiskError, match="it was damaged again and again; look after the disk"):
        state.run()


def test_an_earlier_one_is_never_overwritten(state: State) -> None:
    """Twice in one second, each under a name of its own."""
    kept = []
    for number in range(3):
        state.file.write_bytes(b"no database %d" % number * 100)
        repair = state.run()
        assert repair is not None
        assert repair.set_aside is not None
        kept.append(repair.set_aside)
    assert [path.name for path in kept] == [ASIDE, f"{ASIDE}-2", f"{ASIDE}-3"]
    assert [path.read_bytes()[:13] for path in kept] == [b"no database %d" % number for number in range(3)]
    assert [repair.set_aside for repair in find_repairs(state.file)] == kept


def test_when_a_person_removes_the_remains_nothing_is_told_any_more(state: State) -> None:
    """The files are the flag; other names beside them are not ours."""
    be_garbage(state.file)
    state.run()
    (state.folder / "lamplighter.db.damaged-by-the-dog").touch()
    assert len(find_repairs(state.file)) == 1
    for path in state.folder.glob(f"{ASIDE}*"):
        path.unlink()
    assert find_repairs(state.file) == ()


def test_a_note_that_is_gone_or_odd_never_hides_a_repair(state: State) -> None:
    """The name alone says when."""
    be_garbage(state.file)
    state.run()
    note = state.folder / f"{ASIDE}.txt"
    assert note.read_text() == "file is not a database\n"
    note.write_bytes(b"\xff\x1b[31m" * 10)
    assert "\x1b" not in find_repairs(state.file)[0].line
    note.unlink()
    assert find_repairs(state.file)[0].cause == "nobody noted why"
    (state.folder / "lamplighter.db.damaged-99999999T999999Z").touch()
    assert len(find_repairs(state.file)) == 2


@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if damage is not be_fifo])
def test_looking_at_a_damaged_database_changes_nothing(state: State, damage: Callable[[Path], None]) -> None:
    """One line with the file and what will be done; not a byte in the folder changes."""
    damage(state.file)
    before = snapshot(state.folder)
    with pytest.raises(Damaged) as caught, open_to_look(state.file, MIGRATIONS, logs_dir=state.logs_dir):
        pytest.fail("it was opened")
    assert snapshot(state.folder) == before
    assert str(caught.value).startswith(f"{state.file}: ")
    assert "; the next run " in str(caught.value)


def test_looking_where_no_run_has_been_is_looking_at_nothing(tmp_path: Path) -> None:
    """A new workspace, an empty file: an empty ledger."""
    state = State(tmp_path, VirtualClock())
    for exists in (False, True):
        if exists:
            state.file.touch()
        with open_to_look(state.file, MIGRATIONS, logs_dir=state.logs_dir) as database:
            assert Ledger(database, state.clock, "own").latest() == ()


def test_a_busy_database_is_not_set_aside(state: State) -> None:
    """Another program keeps it: that is told, and all stays in its place."""
    with contextlib.closing(sqlite3.connect(state.file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DiskError, match="another program keeps it open"):
            state.open(BRIEFLY)[0].change("INSERT INTO run_floor (id, number) VALUES ('x', 1)")
    assert state.run() is None
    assert len(state.numbers()) == 31


def test_a_full_disk_is_not_damage(state: State) -> None:
    """Nothing is set aside, nothing is lost, and with room again it works."""
    with files_of_at_most(1_000), pytest.raises(DiskError) as caught:
        state.run()
    assert not isinstance(caught.value, Damaged)
    assert "File too large; free some space" in str(caught.value)
    assert find_repairs(state.file) == ()
    assert state.run() is None
    assert len(state.numbers()) == 31


def test_a_newer_database_is_not_damage(state: State) -> None:
    """It is refused as it always was, marked or not."""
    with open_database(state.file, MIGRATIONS) as database:
        database.change("INSERT INTO migration (name, number) VALUES ('ledger-9999', 9999)")
    for _ in range(2):
        with pytest.raises(DiskError, match="newer lamplighter; update this one"):
            state.run()
        beside(state.file, MARK).touch()
    assert find_repairs(state.file) == ()


def test_who_has_it_open_while_it_is_set_aside_writes_nothing_more(state: State) -> None:
    """Its outcome cannot be recorded any more, and that is said; the new database is none of its business."""
    with open_database(state.file, MIGRATIONS) as old:
        ledger = Ledger(old, state.clock, "own")
        number = ledger.begin("post", command="c", trigger="t", process=read_own_identity())
        content = state.file.read_bytes()
        state.file.with_name("keep").write_bytes(content)
        state.file.rename(state.file.with_name("moved-by-hand"))
        be_garbage(state.file)
        assert state.run() is not None
        with pytest.raises(DiskError, match="it was set aside or replaced while this run was at work"):
            ledger.end(number, DONE)
    assert state.run() is None
    assert state.numbers() == [31, 32]


RACER = """
import sys
from pathlib import Path
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.repair import open_or_repair
from lamplighter.host.clock import SystemClock
from lamplighter.host.identity import read_own_identity
file = Path(sys.argv[1])
print("ready", flush=True)
while True:
    input()
    database, repair = open_or_repair(file, MIGRATIONS, logs_dir=file.parent / "logs", clock=SystemClock())
    with database:
        ledger = Ledger(database, SystemClock(), "own")
        number = ledger.begin("generate", command="c", trigger="t", process=read_own_identity())
        print(number, 0 if repair is None else 1, flush=True)
        input()
    print("closed", flush=True)
"""


@pytest.mark.parametrize("damage", [be_garbage, be_empty, be_folder, have_foreign_log])
def test_processes_that_find_the_damage_at_once_repair_it_once(state: State, damage: Callable[[Path], None]) -> None:
    """One sets it aside, all work in the one new database, and no number is given twice."""
    with contextlib.ExitStack() as stack:
        racers = [stack.enter_context(Child(RACER, state.file)) for _ in range(3)]
        for racer in racers:
            racer.hear()
        for turn in range(1, 5):
            highest = max(state.numbers(), default=30)
            with open_database(state.file, MIGRATIONS):
                pass  # three that close at once may leave a whole log, and no damage to the file would be any
            damage(state.file)
            for racer in racers:
                racer.tell()
            said = [tuple(map(int, racer.hear().split())) for racer in racers]
            for racer in racers:
                racer.tell()
            assert [racer.hear() for racer in racers] == ["closed"] * 3
            for number, _ in said:
                (state.logs_dir / "generate" / f"{number}.log").touch()
            assert sorted(number for number, _ in said) == [highest + 1, highest + 2, highest + 3]
            assert sum(repaired for _, repaired in said) == 1
            assert state.numbers() == [highest + 1, highest + 2, highest + 3]
            assert len(find_repairs(state.file)) == turn


KILLED = """
import os, signal, sys
from pathlib import Path
from lamplighter.engine import repair
from lamplighter.engine.ledger import MIGRATIONS
from tests.simulators.clock import VirtualClock

left = int(sys.argv[2])

def count(frame, event, argument):
    global left
    if frame.f_code.co_filename != repair.__file__:
        return None
    if event == "line":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return count

file = Path(sys.argv[1])
sys.settrace(count)
opened, _ = repair.open_or_repair(file, MIGRATIONS, logs_dir=file.parent / "logs", clock=VirtualClock())
sys.settrace(None)
print(left, flush=True)
input()
"""


@pytest.mark.parametrize("damage", [be_garbage, have_foreign_log])
def test_a_repair_that_is_killed_at_any_step_is_finished_by_the_next_run(
    state: State, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Nothing of the old one is lost, nothing is overwritten, numbers never fall back, and it is always told."""
    damage(state.file)
    wal = beside(state.file, "-wal")
    if not wal.exists():
        wal.write_bytes(b"a log of it")
    whole = sorted([state.file.read_bytes(), wal.read_bytes()])
    with Child(KILLED, shutil.copytree(state.folder, tmp_path / "count") / state.file.name, 10_000) as child:
        lines = 10_000 - int(child.hear())
    first = 1 if damage is be_garbage else 2  # between them every step
    for line in range(first, lines, 2):
        copy = State(shutil.copytree(state.folder, tmp_path / f"killed-{line}"), VirtualClock())
        with Child(KILLED, copy.file, line) as child:
            assert child.wait() < 0
        copy.run()
        kept = [path.read_bytes() for path in copy.folder.glob("lamplighter.db.damaged-*") if path.suffix != ".txt"]
        assert sorted(filter(None, kept)) == whole, line
        assert copy.numbers() == [31], line
        assert find_repairs(copy.file), line
        assert copy.run() is None, line


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_done_to_the_files_the_next_runs_work(
    state: State, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cuts and overwritten stretches anywhere in database and log: no number twice, and all is well once it was seen.

    A page that no run needs may stay spoilt until one does: the mark stands for the run that meets it.
    """
    copy = State(shutil.copytree(state.folder, tmp_path_factory.mktemp("fuzz") / "state"), VirtualClock())
    wal = data.draw(st.booleans())
    if wal:
        shutil.copytree(_dead_state(tmp_path_factory), copy.folder, dirs_exist_ok=True)
    target = beside(copy.file, "-wal") if wal and data.draw(st.booleans()) else copy.file
    content = bytearray(target.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, max(0, len(content) - 1)))
        if data.draw(st.integers(0, 3)) == 0:
            del content[start:]
        else:
            content[start : start + 400] = data.draw(st.binary(min_size=1, max_size=400))
    target.write_bytes(content)
    with contextlib.suppress(DiskError):
        copy.run()
    copy.run()
    beside(copy.file, MARK).touch()
    copy.run()
    assert copy.run() is None
    with open_database(copy.file, MIGRATIONS) as database:
        assert [row[0] for row in database.rows("PRAGMA integrity_check")] == ["ok"]


def _dead_state(factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a database whose writer was killed, made once."""
    folder = factory.getbasetemp() / "dead-writer"
    if not folder.exists():
        folder.mkdir()
        made = State(folder, VirtualClock())
        made.run(30)
        made.die_writing(20)
    return folder
