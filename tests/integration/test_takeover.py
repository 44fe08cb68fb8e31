"""A holder that hangs is ended when it is proved to be the holder, and nobody else ever is."""

from __future__ import annotations

import itertools
import os
import random
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
from tests.simulators.contender import play
from tests.simulators.holder import HOUR, Holder, Manner, ShiftedClock, acquire, forge

from lamplighter.engine.history import read_history
from lamplighter.engine.holder import LOCK_FILE, read_is_held
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.lockstatus import read_status
from lamplighter.engine.owner import OWNER_FILE, read_owner
from lamplighter.engine.takeover import Freed, free_lock
from lamplighter.errors import LockBusy, LockUnusable
from lamplighter.host.handle import ProcessHandle
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
            assert lock.predecessor is None  # one holder is told of once
            lock.check()
        assert holder.wait() == -signal.SIGTERM


def test_a_hung_holder_that_obeys_is_taken_over_before_its_grace_is_over(folder: Path) -> None:
    """It may let go in order: then it was ended, and did not die without a word."""
    with Holder(folder, OBEDIENT) as holder:
        started = time.monotonic()
        with acquire(folder, steady=HOUR) as lock:
            assert time.monotonic() - started < OBEDIENT.grace
            assert lock.taken_over is not None
            assert lock.predecessor is None
        assert holder.wait() == 0


def test_a_hung_holder_that_ignores_being_asked_is_killed_after_its_grace(folder: Path) -> None:
    """TERM, then its own grace, then KILL."""
    with Holder(folder, DEAF) as holder:
        started = time.monotonic()
        with acquire(folder, steady=HOUR) as lock:
            assert DEAF.grace <= time.monotonic() - started < DEAF.grace + 1
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


# Who leads the session, then two members, the younger a tick or more after the elder.
FAMILY = "sleep 0.03; sleep 60 & echo $!; sleep 0.03; sleep 60 & echo $!; wait"


@pytest.mark.parametrize("recorded", ["leader", "elder", "younger", "nobody"])
@pytest.mark.parametrize("is_leader_alive", [True, False])
def test_a_session_that_left_the_run_is_ended_whoevers_start_was_recorded(
    folder: Path, recorded: str, is_leader_alive: bool
) -> None:
    """Without the run's mark: all its members, the leader with them; no start is recorded of a leader that is gone."""
    if recorded == "nobody" and is_leader_alive:
        return
    with Holder(folder) as holder:
        leader = subprocess.Popen(
            ["sh", "-c", FAMILY], start_new_session=True, env={"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE
        )
        assert leader.stdout is not None
        pids = [leader.pid, int(leader.stdout.readline()), int(leader.stdout.readline())]
        starts = dict(zip(("leader", "elder", "younger"), (read_identity(pid).start for pid in pids), strict=True))
        leader.stdout.close()
        if not is_leader_alive:
            leader.kill()
            leader.wait()
        child = {"pid": leader.pid, "start": starts.get(recorded, ""), "command": "left its session"}
        forge(folder, children=[child])
        holder.kill()
        with acquire(folder) as lock:
            assert lock.leftovers_ended == (3 if is_leader_alive else 2)
            assert not any(map(is_running, pids))
        leader.wait()


@pytest.mark.parametrize("recorded", ["", "the holder's"])
def test_a_session_number_that_was_given_anew_is_spared(folder: Path, recorded: str) -> None:
    """Its leader lives and is younger than what was recorded, or there was no leader then: it is another session."""
    with Holder(folder) as holder:
        until(lambda: read_identity(holder.pid).start != read_identity(os.getpid()).start, "time passes")
        with Child("input()") as bystander:
            record = read_owner(folder)
            assert record is not None
            start = record.start if recorded else ""
            assert start < read_identity(bystander.pid).start
            forge(folder, children=[{"pid": bystander.pid, "start": start, "command": "left its session"}])
            holder.kill()
            with acquire(folder) as lock:
                assert lock.leftovers_ended == 0
            assert is_running(bystander.pid)


def test_a_fork_that_keeps_the_lock_of_a_killed_holder_is_ended(folder: Path) -> None:
    """A child that C code forked outlives its parent with the lock: status names it, the next run frees the lock.

    Its parent died, and nobody ended it: that is what the run is told.
    """
    with Holder(folder) as holder:
        keeper = int(holder.order("keep"))
        holder.kill()
        status = read_status(folder, timedelta(0))
        assert (status.is_held, status.is_confirmed, status.keepers) == (True, False, (keeper,))
        with acquire(folder) as lock:
            assert lock.taken_over is None
            assert lock.predecessor is not None
            assert lock.predecessor.pid == holder.pid
        assert not is_running(keeper)


def test_who_let_go_meanwhile_was_not_ended(folder: Path) -> None:
    """A holder found overdue that lets go in good order before a signal is sent: nobody hung, and nobody died."""
    with Holder(folder, HUNG) as holder:
        record = read_owner(folder)
        assert record is not None
        holder.order("release")
        freed = free_lock(folder, record, clock=ShiftedClock(steady=HOUR), try_lock=lambda: True)
        assert freed is Freed.BY_ITSELF
        assert is_running(holder.pid)


def test_who_died_just_before_the_signal_was_not_ended(folder: Path) -> None:
    """Dead when it is looked for, or between that and the signal: it is told of as a death."""

    def take_hold_too_late(pid: int) -> ProcessHandle:
        handle = ProcessHandle(pid)
        os.kill(pid, signal.SIGKILL)
        assert handle.wait(HOUR)
        return handle

    for take_hold in (take_hold_too_late, ProcessHandle):
        with Holder(folder, HUNG) as holder:
            record = read_owner(folder)
            assert record is not None
            if take_hold is ProcessHandle:
                holder.kill()
            clock = ShiftedClock(steady=HOUR)
            freed = free_lock(folder, record, clock=clock, try_lock=lambda: True, take_hold=take_hold)
            assert freed is Freed.BY_ITSELF
            assert free_lock(folder, record, clock=clock, try_lock=lambda: False) is Freed.NOT


def test_no_signal_is_sent_to_one_that_has_just_ended(folder: Path) -> None:
    """All fitted when it was looked at, and then it ended: the lock comes free by itself."""

    class Ended(ProcessHandle):
        """A process that ends between the look and the signal."""

        def wait(self, limit: timedelta) -> bool:
            """Tell that it has ended."""
            del limit
            return True

    with Holder(folder, HUNG) as holder:
        record = read_owner(folder)
        assert record is not None
        freed = free_lock(folder, record, clock=ShiftedClock(steady=HOUR), try_lock=lambda: True, take_hold=Ended)
        assert freed is Freed.BY_ITSELF
        assert holder.order("check") == "held"


def test_what_a_holder_left_that_ended_just_before_the_signal_is_ended(folder: Path) -> None:
    """Its fork keeps the lock: that is ended at once, as after any death, and not told of as busy."""
    with Holder(folder, HUNG) as holder:
        record = read_owner(folder)
        assert record is not None
        keeper = int(holder.order("keep"))

        def take_hold(pid: int) -> ProcessHandle:
            handle = ProcessHandle(pid)
            holder.kill()
            return handle

        clock = ShiftedClock(steady=HOUR)
        freed = free_lock(folder, record, clock=clock, try_lock=lambda: not read_is_held(folder), take_hold=take_hold)
        assert freed is Freed.BY_ITSELF
        assert not is_running(keeper)


def test_who_lets_go_when_asked_and_lives_on_is_not_killed(folder: Path) -> None:
    """Another run was quicker and has the lock: the record is read again before each signal."""
    with Holder(folder, Manner(limit=60, grace=0.1, term="let-go")) as holder:
        record = read_owner(folder)
        assert record is not None
        clock = ShiftedClock(steady=HOUR)
        assert free_lock(folder, record, clock=clock, try_lock=lambda: False) is Freed.NOT
        assert holder.order("check") != "held"


def test_a_holder_that_the_system_does_not_let_end_is_said_so_and_keeps_its_lock(folder: Path) -> None:
    """Stuck in the kernel or in a frozen group: the lock is not stolen, and a person is told."""

    class Stuck(ProcessHandle):
        """A process that takes no signal."""

        def send(self, number: int) -> None:
            """Let it be."""

    class Hasty(ShiftedClock):
        """A clock on which each look costs a second."""

        looks = 0

        def monotonic(self) -> timedelta:
            """Return a later time than the last."""
            self.looks += 1
            return super().monotonic() + timedelta(seconds=self.looks)

    with Holder(folder, HUNG) as holder:
        record = read_owner(folder)
        assert record is not None
        with pytest.raises(LockBusy) as caught:
            free_lock(folder, record, clock=Hasty(steady=HOUR), try_lock=lambda: False, take_hold=Stuck)
        assert "was asked to end and then killed, but the system does not let it end" in str(caught.value)
        assert f"pid {holder.pid} since" in str(caught.value)
        assert holder.order("check") == "held"


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
            ("took_over", 1, holder.pid),
            ("acquired", 2, os.getpid()),
        ]


@pytest.mark.parametrize("term", ["die", "obey", "ignore"])
def test_of_contenders_for_a_hung_holder_one_wins_and_is_never_signalled(tmp_path: Path, term: str) -> None:
    """However they meet, one gets the lock; were the winner signalled in the old one's place, it would not answer."""
    manners = itertools.repeat(Manner(limit=1, grace=0.05, term=term), 6)
    for one in play(tmp_path, count=4, manners=manners):
        assert (one.generations, one.busy, one.is_told_both) == ((2,), 3, False)


SECOND = """
import sys, time
from datetime import timedelta
from pathlib import Path
from lamplighter.engine.lock import JobLock
from lamplighter.host.clock import SystemClock
for line in sys.stdin:
    lock = JobLock(Path(line.strip()), SystemClock())
    print("waiting", flush=True)
    lock.acquire("second", wait=timedelta(seconds=25))
    time.sleep(0.01)
    lock.check()
    print(lock.generation, flush=True)
    lock.release()
"""


def test_a_holder_that_ends_just_as_it_is_ended_gets_no_other_signalled(tmp_path: Path) -> None:
    """It lets go within about a millisecond of the takeover, and a second run takes the lock: that one is not hit.

    The second dies by any signal. Whoever is quicker, each has the lock once, and is told the truth of the first.
    """
    seed = int(os.environ.get("LAMPLIGHTER_SEED") or random.randrange(10**6))
    print(f"LAMPLIGHTER_SEED={seed}")
    chance = random.Random(seed)
    with Child(SECOND) as second:
        for number in range(12):
            folder = tmp_path / f"{number}"
            with Holder(folder, Manner(limit=1, grace=0.05)) as first:
                second.tell(str(folder))
                assert second.hear() == "waiting"
                moment = time.monotonic() + chance.uniform(0, 0.002)
                first.tell("release")
                while time.monotonic() < moment:
                    pass
                with acquire(folder, steady=HOUR, wait=timedelta(seconds=20)) as lock:
                    lock.check()
                    told = [record.pid for record in (lock.taken_over, lock.predecessor) if record is not None]
                    assert told in ([], [first.pid])
                    assert is_running(first.pid) or told or lock.generation == 3
                    mine = lock.generation
                assert {mine, int(second.hear())} == {2, 3}


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


def test_ending_by_hand_ends_what_a_run_that_forwards_nothing_left_with_the_lock(folder: Path) -> None:
    """watt-mind/factory issue 2098: the wrapper ends, what it wrapped keeps the lock, and "down" said it was done."""
    with Holder(folder) as holder:
        keeper = int(holder.order("keep"))
        record = read_owner(folder)
        assert record is not None
        assert JobLock(folder, ShiftedClock()).end_holder(record.nonce)
        assert holder.wait() == -signal.SIGTERM
        assert not is_running(keeper)
        acquire(folder).release()


def test_ending_by_hand_never_says_done_while_the_lock_is_kept(folder: Path) -> None:
    """What keeps it in a session of its own cannot be proved to be the run's: it is named, and left to a person."""
    with Holder(folder) as holder:
        keeper = int(holder.order("keep-away"))
        try:
            record = read_owner(folder)
            assert record is not None
            with pytest.raises(LockBusy, match=f"is dead, but its lock is kept by pid {keeper}; end that process"):
                JobLock(folder, ShiftedClock()).end_holder(record.nonce)
            assert is_running(keeper)
        finally:
            os.kill(keeper, signal.SIGKILL)


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
