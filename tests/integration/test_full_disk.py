"""A full disk is survived: one line, nothing lost, and it works again when there is room."""

from __future__ import annotations

from pathlib import Path

from tests.simulators.small_disk import run_on_small_disk

FULL = """
import sys
from pathlib import Path
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import MIGRATIONS, Ledger
from lamplighter.engine.repair import find_repairs, open_or_repair
from lamplighter.errors import Damaged, DiskError
from lamplighter.host.clock import SystemClock
from lamplighter.host.identity import read_own_identity

state = Path(sys.argv[1])
file = state / "lamplighter.db"

def run():
    database, repair = open_or_repair(file, MIGRATIONS, logs_dir=state / "logs", clock=SystemClock())
    assert repair is None, repair.line
    with database:
        ledger = Ledger(database, SystemClock(), "own")
        number = ledger.begin("backup", command="c" * 3_000, trigger="t", process=read_own_identity())
        ledger.end(number, RunReport(outcome=Outcome.COMPLETED, line="x" * 3_000))
    return number

def fill():
    with open(state / "filler", "ab", buffering=0) as filler:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    filler.write(bytes(size))
            except OSError as error:
                assert error.errno == 28, error

def count():
    database, _ = open_or_repair(file, MIGRATIONS, logs_dir=state / "logs", clock=SystemClock())
    with database:
        rows = Ledger(database, SystemClock(), "own").latest(limit=1_000)
    assert all(row.report is not None or row.number > 10 for row in rows)
    return sorted(row.number for row in rows)
"""


def test_runs_on_a_full_disk_fail_in_one_line_and_lose_nothing(tmp_path: Path) -> None:
    """Filled between two runs: told by what the system said, nothing set aside; emptied, it goes on where it was."""
    code = (
        FULL
        + """
for _ in range(10):
    run()
fill()
for _ in range(3):
    try:
        run()
    except DiskError as error:
        assert not isinstance(error, Damaged), error
        print(error)
(state / "filler").unlink()
assert count() == list(range(1, 11)), count()
assert run() == 11
print(len(find_repairs(file)), *sorted(path.name for path in state.iterdir()))
"""
    )
    lines = run_on_small_disk(code, tmp_path).splitlines()
    told = f"{tmp_path}/lamplighter.db: No space left on device; free some space and run it again"
    assert lines == [told, told, told, "0 lamplighter.db"]


def test_a_disk_that_fills_up_in_mid_run_loses_nothing_that_was_recorded(tmp_path: Path) -> None:
    """Runs go on until there is no room, again and again: each that was recorded is there afterwards, and whole."""
    code = (
        FULL
        + """
done = []
for turn in range(3):
    try:
        while True:
            done.append(run())
    except DiskError as error:
        assert not isinstance(error, Damaged), error
        print(error)
        (state / "spare").unlink() if turn == 0 else None
assert set(done) <= set(count()), (done, count())
assert len(done) > 20
print(len(find_repairs(file)))
"""
    )
    lines = run_on_small_disk(code, tmp_path, prepare='head -c 300000 /dev/zero > "$1/spare"').splitlines()
    assert len(lines) == 4
    assert all(line.endswith("No space left on device; free some space and run it again") for line in lines[:3])
    assert lines[3] == "0"


def test_a_damaged_database_on_a_full_disk_is_repaired_when_there_is_room(tmp_path: Path) -> None:
    """It is one after the other: set aside needs no room, a new one does; numbers go on above the logs."""
    code = (
        FULL
        + """
run()
(state / "logs" / "backup").mkdir(parents=True)
(state / "logs" / "backup" / "1.log").touch()
file.write_bytes(b"no database" * 100)
fill()
for _ in range(2):
    try:
        run()
    except DiskError as error:
        print(error)
(state / "filler").unlink()
database, repair = open_or_repair(file, MIGRATIONS, logs_dir=state / "logs", clock=SystemClock())
database.close()
assert repair is not None
assert run() == 2
kept = [repair.set_aside.read_bytes() for repair in find_repairs(file) if repair.set_aside]
assert b"no database" * 100 in kept, kept
"""
    )
    lines = run_on_small_disk(code, tmp_path).splitlines()
    assert len(lines) == 2
    assert all(line.endswith("No space left on device; free some space and run it again") for line in lines)


def test_a_read_only_disk_is_told_by_its_name_and_can_be_looked_at(tmp_path: Path) -> None:
    """A log that a killed writer left is read there all the same."""
    code = (
        FULL
        + """
import os, signal, subprocess
from lamplighter.engine.repair import open_to_look
if os.fork() == 0:
    database, _ = open_or_repair(file, MIGRATIONS, logs_dir=state / "logs", clock=SystemClock())
    Ledger(database, SystemClock(), "own").begin("x", command="c", trigger="t", process=read_own_identity())
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
subprocess.run(["mount", "-o", "remount,ro", str(state)], check=True)
with open_to_look(file, MIGRATIONS, logs_dir=state / "logs") as database:
    print(len(Ledger(database, SystemClock(), "own").latest()))
try:
    run()
except DiskError as error:
    print(error)
"""
    )
    lines = run_on_small_disk(code, tmp_path).splitlines()
    told = "Read-only file system; the disk is read-only: set state_dir to a folder on another"
    assert lines == ["1", f"{tmp_path}/lamplighter.db: {told}"]
