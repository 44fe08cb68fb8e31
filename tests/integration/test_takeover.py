"""A holder that hangs is ended when it is proved to be the holder, and nobody else ever is."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child, is_running, until
from tests.simulators.holder import HOUR, Holder, Manner, ShiftedClock, acquire, forge

from lamplighter.engine.history import read_history
from lamplighter.engine.holder import LOCK_FILE
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.lockstatus import read_status
from lamplighter.engine.owner import OWNER_FILE, read_owner
from lamplighter.errors import LockBusy, LockUnusable
from lamplighter.host.identity import read_identity

HUNG = Manner(limit=60, grace=0.3)
DEAF = Manner(limit=60, grace=0.3, term="ignore")
OBEDIENT = Manner(limit=60, grace=0.3, term="obey")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root: another user's processes")
needs_unshare = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare(1)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the lock of a job belongs."""
    return tmp_path / "locks" / "generate"


@pytest.fixture
def public() -> Iterator[Path]:
    """Return a folder in which every user may make one."""
    with tempfile.TemporaryDirectory(prefix="lamplighter-public-") as name:
        place = Path(name)
        place.chmod(0o777)
        yield place


def refused(folder: Path, *, steady: timedelta = HOUR) -> str:
    """Return why a contender that comes an hour later does not get the lock."""
    with pytest.raises(LockBusy) as caught:
        acquire(folder, steady=steady)
    return str(caught.value)


def test_a_holder_within_its_time_is_left_alone(folder: Path) -> None:
    """Busy, however long others wait by their own standards."""
    with Holder(folder, Manner(limit=7200)) as holder:
        assert "another run is at work" in refused(folder)
        assert is_running(holder.pid)


def test_a_holder_without_a_limit_is_never_ended(folder: Path) -> None:
    """A job that set itself no limit is never killed by a default of ours, nor by a contender's own limit."""
    with Holder(folder) as holder:
        with pytest.raises(LockBusy, match="another run is at work"):
            acquire(folder, steady=1000 * HOUR, terms=Terms(limit=timedelta(0)))
        assert is_running(holder.pid)


def test_a_hung_holder_is_ended_and_its_lock_taken(folder: Path) -> None:
    """The next run says whom it ended; the generation rises."""
    with Holder(folder, HUNG) as holder:
        holder.order("phase copy.md, brand Wrenfold")
        with acquire(folder, steady=HOUR) as lock:
            assert lock.taken_over is not None
            assert (lock.taken_over.pid, lock.taken_over.phase) == (holder.pid, "copy.md, brand Wrenfold")
            assert lock.generation == holder.generation + 1
            lock.check()
        assert holder.wait() == -signal.SIGTERM


def test_a_hung_holder_that_obeys_is_taken_over_within_a_tenth_of_a_second(folder: Path) -> None:
    """It may let go in order: then it was ended, and did not die without a word."""
    with Holder(folder, OBEDIENT) as holder:
        started = time.monotonic()
        with acquire(folder, steady=HOUR) as lock:
            assert time.monotonic() - started < 0.3  # a tenth on a quiet machine
            assert lock.taken_over is not None
            assert lock.predecessor is None
        assert holder.wait() == 0


def test_a_hung_holder_that_ignores_being_asked_is_killed_after_its_grace(folder: Path) -> None:
    """TERM, then its own grace, then KILL."""
    with Holder(folder, DEAF) as holder:
        started = time.monotonic()
        with acquire(folder, steady=HOUR) as lock:
            assert 0.3 <= time.monotonic() - started < 1.3
            assert lock.taken_over is not None
        assert holder.wait() == -signal.SIGKILL


def test_a_stopped_holder_is_woken_to_end(folder: Path) -> None:
    """SIGSTOP keeps it from hearing TERM; it is continued, and may end in order."""
    with Holder(folder, OBEDIENT) as holder:
        holder.signal(signal.SIGSTOP)
        acquire(folder, steady=HOUR).release()
        assert holder.wait() == 0


def test_what_a_hung_holder_started_ends_with_it(folder: Path) -> None:
    """The recorded session, and what bears the run's mark, are gone before the next run works; bystanders stay."""
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        with Holder(folder, HUNG) as holder:
            worker, marked = int(holder.order("start-session")), int(holder.order("start-marked"))
            with acquire(folder, steady=HOUR) as lock:
                assert lock.leftovers_ended == 2
                assert not is_running(worker)
                assert not is_running(marked)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_fork_that_keeps_the_lock_of_a_killed_holder_is_ended(folder: Path) -> None:
    """A child that C code forked outlives its parent with the lock: status names it, the next run frees the lock."""
    with Holder(folder) as holder:
        keeper = int(holder.order("keep"))
        holder.kill()
        status = read_status(folder, timedelta(0))
        assert (status.is_held, status.is_confirmed, status.keepers) == (True, False, (keeper,))
        with acquire(folder) as lock:
            assert lock.taken_over is not None
            assert lock.taken_over.pid == holder.pid
        assert not is_running(keeper)


def test_a_fork_that_keeps_the_lock_of_a_hung_holder_is_ended_too(folder: Path) -> None:
    """That the leader is gone is no proof that the lock is free: the lock is waited for."""
    with Holder(folder, DEAF) as holder:
        keeper = int(holder.order("keep"))
        acquire(folder, steady=HOUR).release()
        assert holder.wait() == -signal.SIGKILL
        assert not is_running(keeper)


def test_a_keeper_in_another_session_is_named_and_not_touched(folder: Path) -> None:
    """What the holder cannot be proved to have meant as its own is not ended, and the lock is not stolen."""
    with Holder(folder, HUNG) as holder:
        keeper = int(holder.order("keep-away"))
        try:
            told = refused(folder)
            assert f"is dead, but its lock is kept by pid {keeper}; end that process" in told
            assert is_running(keeper)
            assert f"kept by pid {keeper}" in refused(folder, steady=timedelta(0))
            assert read_status(folder, timedelta(0)).keepers == (keeper,)
        finally:
            os.kill(keeper, signal.SIGKILL)
        until(lambda: not is_running(keeper), "the keeper is gone")
        acquire(folder).release()


def test_a_shell_that_took_the_lock_by_itself_after_a_death_is_no_heir(folder: Path) -> None:
    """The record still names a dead run, and flock(1) of the same session holds: it is refused, not ended."""
    with Holder(folder) as holder:
        holder.kill()
    shell = subprocess.Popen(
        ["flock", str(folder / LOCK_FILE), "sh", "-c", "echo in; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"in\n"
        forge(folder, session=os.getsid(0))
        assert refused(folder) == f"job generate: another run is at work: pid {shell.pid}"
        assert shell.poll() is None
    finally:
        shell.communicate(b"\n", timeout=30)


def test_a_holder_that_lost_its_record_lock_is_still_known_by_its_flock(folder: Path) -> None:
    """Any close of the file drops the POSIX lock; the kernel's list of flocks names the holder as well."""
    with Holder(folder, HUNG) as holder:
        holder.order("drop")
        assert f"pid {holder.pid} since" in refused(folder, steady=timedelta(0))
        assert read_status(folder, timedelta(0)).is_confirmed
        acquire(folder, steady=HOUR).release()
        assert holder.wait() == -signal.SIGTERM


FORGERIES = {
    "another start": {"start": "1"},
    "no start": {"start": ""},
    "another boot": {"boot_id": "e6f1f2f0-0000-4000-8000-000000000000"},
    "no boot": {"boot_id": ""},
    "another container": {"namespaces": "pid:[1] time:[2]"},
    "another user": {"uid": 12345},
}


@pytest.mark.parametrize("changes", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_record_that_does_not_fit_the_holder_gets_nobody_signalled(folder: Path, changes: dict[str, object]) -> None:
    """Any doubt is an answer for a person, and the holder goes on."""
    with Holder(folder, HUNG) as holder:
        forge(folder, **changes)
        refused(folder)
        assert holder.order("check") == "held"


@pytest.mark.parametrize("whom", ["this process", "its parent", "init", "a bystander", "nobody", "every process"])
def test_a_forged_pid_gets_nobody_signalled(folder: Path, whom: str) -> None:
    """The record may name anybody: the kernel's holder is another, so nobody is touched."""
    with Holder(folder, HUNG) as holder, Child("input()") as bystander:
        pids = {"this process": os.getpid(), "its parent": os.getppid(), "init": 1, "a bystander": bystander.pid}
        pids |= {"nobody": 4_000_000, "every process": -1}
        pid = pids[whom]
        forge(folder, pid=pid, start=read_identity(pid).start if pid > 0 else "1")
        refused(folder)
        assert is_running(bystander.pid)
        assert holder.order("check") == "held"


def test_a_forged_pid_with_a_true_start_is_named_as_a_doubt(folder: Path) -> None:
    """The line says what does not fit, and what to type."""
    with Holder(folder, HUNG) as holder, Child("input()") as bystander:
        forge(folder, pid=bystander.pid, start=read_identity(bystander.pid).start)
        told = refused(folder)
        assert f"but the system names pid {holder.pid} as the holder, so it was not touched; look with" in told


def test_a_command_started_by_the_hung_run_does_not_end_its_own_ancestor(folder: Path) -> None:
    """A nested run of the same job is refused."""
    code = """
    import subprocess, sys
    from datetime import timedelta
    from pathlib import Path
    from lamplighter.engine.lock import JobLock, Terms
    from lamplighter.host.clock import SystemClock
    lock = JobLock(Path(sys.argv[1]), SystemClock(), Terms(limit=timedelta(0), grace=timedelta(0)))
    lock.acquire("outer")
    print(subprocess.run([sys.executable, "-c", sys.argv[2], sys.argv[1]], capture_output=True, text=True).stdout)
    """
    nested = (
        "import sys\nfrom pathlib import Path\nfrom lamplighter.engine.lock import JobLock\n"
        "from lamplighter.errors import LockBusy\nfrom lamplighter.host.clock import SystemClock\n"
        "try:\n    JobLock(Path(sys.argv[1]), SystemClock()).acquire('inner')\n"
        "except LockBusy as error:\n    print(error)\n"
    )
    with Child(code, folder, nested) as outer:
        assert "but this command was started by it, so it was not touched" in outer.hear()
        assert outer.hear() == ""
        assert outer.wait() == 0


def test_this_process_never_ends_or_waits_for_itself(folder: Path) -> None:
    """Its own overdue lock is busy at once, however long it would wait, and loses nothing by the question."""
    with acquire(folder, terms=Terms(limit=timedelta(0), grace=timedelta(0))) as lock:
        with pytest.raises(LockBusy, match="this very process is at work"):
            acquire(folder, steady=HOUR, wait=HOUR)
        lock.check()


@needs_unshare
def test_a_contender_in_another_container_ends_nobody(folder: Path) -> None:
    """From another PID namespace the lock is held, however overdue, and pids mean nothing there."""
    code = """
import sys
from datetime import timedelta
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from tests.simulators.holder import HOUR, acquire
from lamplighter.errors import LockBusy
try:
    acquire(Path(sys.argv[1]), steady=HOUR)
    print("got it")
except LockBusy as error:
    print(error)
"""
    root = Path(__file__).parents[2]
    with Holder(folder, HUNG) as holder:
        command = ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", code, str(folder), str(root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.stdout == ("job generate: another run is at work: a process that the system does not name\n"), (
            done.stderr
        )
        assert holder.order("check") == "held"


@needs_unshare
def test_a_death_in_a_container_frees_the_lock_for_the_host(folder: Path) -> None:
    """The record names pid 2 of another namespace: the host's pid 2 is nobody's business, and the lock is free."""
    code = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from tests.simulators.holder import acquire
lock = acquire(Path(sys.argv[1]))
print(os.getpid(), flush=True)
os._exit(9)
"""
    root = Path(__file__).parents[2]
    command = ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", code, str(folder), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    with acquire(folder) as lock:
        assert lock.predecessor is not None
        assert (lock.predecessor.pid, lock.leftovers_ended) == (int(done.stdout), 0)


@needs_root
def test_another_users_holder_is_busy_and_not_signalled(public: Path) -> None:
    """Held by user 65534: root is told so, and the holder goes on; when it is gone, root is told whose lock it is."""
    folder = public / "generate"
    with Holder(folder, Manner(limit=60, grace=0.1, uid=65534)) as holder:
        assert refused(folder) == (
            f"job generate: another run is at work: pid {holder.pid} of user 65534, which cannot be signalled from here"
        )
        assert holder.order("check") == "held"
        holder.kill()
        with pytest.raises(LockUnusable) as caught:
            acquire(folder, steady=HOUR)
        assert str(caught.value) == f"{folder}: it belongs to user 65534; run it as its owner"


@needs_root
def test_a_third_user_is_told_who_holds_what_he_may_not_see(public: Path) -> None:
    """EPERM is not death: the folder is closed to him, and the kernel names the holder all the same."""
    folder = public / "generate"
    with (
        Holder(folder, Manner(uid=65534)) as holder,
        Holder(folder, Manner(uid=65532), take=False) as other,
    ):
        assert other.order("acquire") == (
            f"job generate: another run is at work: pid {holder.pid} of user 65534, which cannot be signalled from here"
        )
        holder.kill()
        assert other.order("acquire") == f"{folder}: it belongs to user 65534; run it as its owner"


def test_a_takeover_is_written_into_the_locks_history(folder: Path) -> None:
    """Refusals, takeovers, deaths and acquisitions, in order, each with pid and generation."""
    with Holder(folder, HUNG) as holder:
        refused(folder, steady=timedelta(0))
        acquire(folder, steady=HOUR).release()
        events = [(event.what, event.generation, event.pid) for event in read_history(folder, limit=9)]
        assert events == [
            ("acquired", 1, holder.pid),
            ("refused", 0, os.getpid()),
            ("died", 1, holder.pid),
            ("took_over", 1, holder.pid),
            ("acquired", 2, os.getpid()),
        ]


CONTENDER = """
import os, sys
from pathlib import Path
from tests.simulators.holder import HOUR, acquire
from lamplighter.errors import LockBusy
print("ready", flush=True)
for line in sys.stdin:
    lock = None
    try:
        lock = acquire(Path(line.strip()), steady=HOUR)
        print(f"got {os.getpid()} {lock.generation}", flush=True)
    except LockBusy as error:
        print(f"busy {error}", flush=True)
    sys.stdin.readline()
    if lock is not None:
        lock.release()
    print("done", flush=True)
"""


@pytest.mark.parametrize("term", ["die", "obey", "ignore"])
def test_of_contenders_for_a_hung_holder_one_wins_and_is_never_signalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    """However they meet, one gets the lock; were the winner signalled in the old one's place, it would not answer."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parents[2]), os.environ["PYTHONPATH"])))
    with contextlib.ExitStack() as stack:
        contenders = [stack.enter_context(Child(CONTENDER)) for _ in range(4)]
        assert [contender.hear() for contender in contenders] == ["ready"] * 4
        for number in range(6):
            folder = tmp_path / f"{number}"
            with Holder(folder, Manner(limit=1, grace=0.05, term=term)):
                for contender in contenders:
                    contender.tell(str(folder))
                answers = [contender.hear() for contender in contenders]
            assert sorted(answer.split()[0] for answer in answers) == ["busy", "busy", "busy", "got"], answers
            winner = next(answer for answer in answers if answer.startswith("got"))
            assert winner.split()[2] == "2"
            for contender in contenders:
                contender.tell("")
            assert [contender.hear() for contender in contenders] == ["done"] * 4


def test_a_holder_that_ends_just_at_its_deadline_gets_no_other_signalled(tmp_path: Path) -> None:
    """The takeover and the holder's own end race: whoever is quicker, the contender has the lock or says who has."""
    for number in range(10):
        folder = tmp_path / f"{number}"
        with Holder(folder, Manner(limit=1, grace=0.05, term="obey")) as holder:
            holder.tell("release")
            with acquire(folder, steady=HOUR, wait=timedelta(seconds=20)) as lock:
                lock.check()
                assert lock.generation == 2


def test_a_run_that_is_ended_by_hand_need_not_be_overdue(folder: Path) -> None:
    """`lock end` takes the same verified path."""
    with Holder(folder, OBEDIENT) as holder:
        record = read_owner(folder)
        assert record is not None
        assert JobLock(folder, ShiftedClock()).end_holder(record.nonce)
        assert holder.wait() == 0
        after = read_owner(folder)
        assert after is not None
        assert (after.state, after.ended) == ("released", "ended by hand")
        assert not JobLock(folder, ShiftedClock()).end_holder(record.nonce)


def test_ending_by_hand_spares_the_run_that_came_after(folder: Path) -> None:
    """The question was about another run."""
    with Holder(folder, OBEDIENT) as holder:
        with pytest.raises(LockBusy):
            JobLock(folder, ShiftedClock()).end_holder("0123456789abcdef")
        assert holder.order("check") == "held"


def test_a_record_that_is_gone_gets_nobody_signalled(folder: Path) -> None:
    """Without a record nobody knows how long the holder may hold: it stays."""
    with Holder(folder, HUNG) as holder:
        (folder / OWNER_FILE).unlink()
        assert refused(folder) == f"job generate: another run is at work: pid {holder.pid}"
        assert holder.order("check") == "held"
