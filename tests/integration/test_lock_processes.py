"""The lock between real processes: kills, races, inherited descriptors."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.simulators.child import Child, is_running, until
from tests.simulators.clock import VirtualClock

from lamplighter.engine.holder import LOCK_FILE, read_is_held
from lamplighter.engine.lock import JobLock
from lamplighter.engine.owner import read_owner
from lamplighter.errors import Fenced, LockBusy

HOLDER = """
import os, subprocess, sys
from pathlib import Path
from lamplighter.engine.lock import JobLock
from lamplighter.host.clock import SystemClock
lock = JobLock(Path(sys.argv[1]), SystemClock())
lock.acquire("lamplighter generate --scheduled")
print(lock.generation, flush=True)
for line in sys.stdin:
    if line.strip() == "release":
        lock.release()
        print("released", flush=True)
    if line.strip() == "start":
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
        print(child.pid, flush=True)
    if line.strip() == "fork":
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        print("reaped", flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the lock of a job belongs."""
    return tmp_path / "locks" / "generate"


def acquire(folder: Path) -> JobLock:
    """Take the lock in this process."""
    lock = JobLock(folder, VirtualClock())
    lock.acquire("lamplighter generate")
    return lock


def test_the_lock_of_a_killed_holder_is_free_at_once(folder: Path) -> None:
    """The founding story: SIGKILL, a record of this very second, and the next run works and says who died."""
    with Child(HOLDER, folder) as holder:
        generation = int(holder.hear())
        holder.kill()
        assert not read_is_held(folder)
        with acquire(folder) as lock:
            assert lock.generation == generation + 1
            assert lock.predecessor is not None
            assert (lock.predecessor.pid, lock.predecessor.generation) == (holder.pid, generation)
            assert lock.predecessor.command == "lamplighter generate --scheduled"
        with acquire(folder) as lock:
            assert lock.predecessor is None


def test_every_kill_is_reported_once(folder: Path) -> None:
    """Five holders killed, five predecessors told, five generations."""
    told = []
    for _ in range(5):
        with Child(HOLDER, folder) as holder:
            holder.hear()
            holder.kill()
            with acquire(folder) as lock:
                assert lock.predecessor is not None
                told.append((lock.predecessor.pid == holder.pid, lock.generation))
    assert told == [(True, 2 * number) for number in range(1, 6)]


def test_busy_names_the_holder(folder: Path) -> None:
    """The pid the kernel confirms, since when, and with which command."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        record = read_owner(folder)
        assert record is not None
        with pytest.raises(LockBusy) as caught:
            acquire(folder)
        assert str(caught.value) == (
            f"job generate: another run is at work: pid {holder.pid} since {record.since} "
            "(lamplighter generate --scheduled)"
        )
        assert read_is_held(folder)


def test_a_holder_that_lets_go_and_lives_on_blocks_nobody(folder: Path) -> None:
    """Release frees the lock, not the end of the process."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        holder.tell("release")
        holder.hear()
        assert not read_is_held(folder)
        with acquire(folder) as lock:
            assert lock.predecessor is None


def test_a_stopped_holder_still_holds(folder: Path) -> None:
    """SIGSTOP or a sleeping laptop is no death: nobody gets in beside it."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        holder.signal(signal.SIGSTOP)
        with pytest.raises(LockBusy):
            acquire(folder)
        assert read_is_held(folder)


def test_a_zombie_holds_nothing(folder: Path) -> None:
    """A holder that was killed and not reaped has lost the lock."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        os.kill(holder.pid, signal.SIGKILL)
        until(lambda: not is_running(holder.pid), "the holder is a zombie")
        acquire(folder).release()


def test_a_program_started_under_the_lock_does_not_keep_it(folder: Path) -> None:
    """What a killed holder had started, even with every descriptor inheritable asked for, blocks nobody."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        holder.tell("start")
        started = int(holder.hear())
        holder.kill()
        assert is_running(started)
        acquire(folder).release()
        os.kill(started, signal.SIGKILL)


def test_the_end_of_a_forked_child_does_not_free_the_lock(folder: Path) -> None:
    """A copy that closes takes nothing from its parent."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        holder.tell("fork")
        holder.hear()
        with pytest.raises(LockBusy, match=f"pid {holder.pid} since"):
            acquire(folder)


def test_deleting_the_lock_file_lets_nobody_in(folder: Path) -> None:
    """The folder itself is the second anchor."""
    with Child(HOLDER, folder) as holder:
        holder.hear()
        (folder / LOCK_FILE).unlink()
        with pytest.raises(LockBusy):
            acquire(folder)


def test_whose_folder_was_replaced_is_fenced_and_leaves_the_new_holder_alone(folder: Path) -> None:
    """A folder made anew by hand is another lock: the old run stops before it commits, and its end changes nothing."""
    with acquire(folder) as old:
        shutil.move(folder, folder.with_name("away"))
        with Child(HOLDER, folder) as holder:
            holder.hear()
            with pytest.raises(Fenced):
                old.check()
            old.release()
            record = read_owner(folder)
            assert record is not None
            assert (record.pid, record.state) == (holder.pid, "held")
            assert read_is_held(folder)


def test_flock_of_a_shell_excludes_and_is_excluded(folder: Path) -> None:
    """flock(1) on the lock file and our lock are one lock."""
    acquire(folder).release()
    program = shutil.which("flock")
    assert program is not None
    shell = subprocess.Popen(
        [program, str(folder / LOCK_FILE), "sh", "-c", "echo in; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert shell.stdout is not None
    assert shell.stdout.readline() == b"in\n"
    with pytest.raises(LockBusy):
        acquire(folder)
    shell.communicate(b"\n", timeout=30)
    with acquire(folder):
        refused = subprocess.run([program, "-n", str(folder / LOCK_FILE), "true"], check=False)
    assert refused.returncode == 1


def test_of_two_that_race_exactly_one_wins(tmp_path: Path) -> None:
    """Fifty rounds over locks that are new, free or used before: never two, never none."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.errors import LockBusy
    from lamplighter.host.clock import SystemClock
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip():
            lock = JobLock(Path(line.strip()), SystemClock())
            try:
                lock.acquire("race")
                print(lock.generation, flush=True)
            except LockBusy as error:
                print("busy", flush=True)
        else:
            lock.release()
            print("released", flush=True)
    """
    with Child(code) as first, Child(code) as second:
        racers = (first, second)
        for racer in racers:
            racer.hear()
        for number in range(50):
            folder = tmp_path / f"{number % 5}"
            for racer in racers if number % 2 else reversed(racers):
                racer.tell(str(folder))
            assert sorted(racer.hear() for racer in racers) == [str(number // 5 + 1), "busy"]
            for racer in racers:
                racer.tell("")
            assert [racer.hear() for racer in racers] == ["released", "released"]


def test_asking_never_keeps_a_run_out(folder: Path) -> None:
    """While others ask without a pause, every try to take the lock succeeds."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.holder import read_is_held
    from lamplighter.engine.owner import read_owner
    print("asking", flush=True)
    while True:
        read_is_held(Path(sys.argv[1]))
        read_owner(Path(sys.argv[1]))
    """
    with Child(code, folder) as one, Child(code, folder) as two:
        one.hear()
        two.hear()
        for generation in range(1, 301):
            with acquire(folder) as lock:
                lock.check()
                assert lock.generation == generation
                assert read_is_held(folder)
        assert is_running(one.pid)
        assert is_running(two.pid)


def test_a_holder_killed_at_any_moment_never_wedges_the_next(folder: Path) -> None:
    """Taking and letting go in a loop, killed in the middle of it: the next run gets in at once and counts on."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.host.clock import SystemClock
    print("looping", flush=True)
    while True:
        lock = JobLock(Path(sys.argv[1]), SystemClock())
        lock.acquire("loop")
        lock.release()
    """
    last = 0
    for _ in range(12):
        with Child(code, folder) as holder:
            holder.hear()
            record = read_owner(folder)
            seen = record.generation if record else 0
            until(lambda seen=seen: (now := read_owner(folder)) is not None and now.generation > seen, "it loops")  # type: ignore[misc]
            holder.kill()
        with acquire(folder) as lock:
            lock.check()
            assert lock.generation > last
            last = lock.generation
