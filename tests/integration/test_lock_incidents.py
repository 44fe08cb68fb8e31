"""What made other locks fail: the old way's five failures, then incidents from public issues, each as a test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child, is_running, until
from tests.simulators.clock import VirtualClock
from tests.simulators.holder import HOUR, Holder, Manner, acquire, forge

from lamplighter.engine.holder import LOCK_FILE, read_is_held
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.lockstatus import read_status
from lamplighter.engine.owner import HELD, OWNER_FILE, Owner, read_owner, render_owner
from lamplighter.engine.record import SPARE_FILE
from lamplighter.errors import Fenced, LockBusy, LockUnusable
from lamplighter.host.identity import read_identity, read_namespaces

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root: another user's processes")
needs_unshare = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare(1)"
)
ANOTHER_BOOT = "e6f1f2f0-0000-4000-8000-000000000000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the lock of a job belongs."""
    return tmp_path / "locks" / "generate"


@pytest.fixture
def bystander() -> Iterator[Child]:
    """Return a process that has nothing to do with any lock, and must not come to harm."""
    with Child("input()") as child:
        yield child
        assert is_running(child.pid)


def leave_record(folder: Path, pid: int, *, boot_id: str = "", start: str = "", namespaces: str = "") -> Owner:
    """Make a lock folder in which a run of `pid` left its record, as after a kill."""
    identity = read_identity(pid)
    owner = Owner(
        pid=pid,
        start=start or identity.start,
        boot_id=boot_id or identity.boot_id,
        namespaces=namespaces or read_namespaces(),
        uid=os.getuid(),
        since="2026-05-04T11:59:59+00:00",
        command="lamplighter generate",
        generation=41,
        state=HELD,
        nonce="0123456789abcdef",
        limit=1.0,
        session=pid,
    )
    folder.mkdir(parents=True)
    (folder / OWNER_FILE).write_bytes(render_owner(owner))
    (folder / LOCK_FILE).write_text(f"{41:020}\n")
    return owner


def acquire_at_once(folder: Path) -> JobLock:
    """Take the lock without waiting a moment by the clock, in less than a twentieth of a second of work."""
    clock = VirtualClock()
    lock = JobLock(folder, clock)
    started = time.process_time()
    lock.acquire("lamplighter generate")
    assert time.process_time() - started < 0.05
    assert clock.waits == []
    return lock


# The old way: a file with a pid in it, believed for two hours.


def test_first_failure_a_killed_holder_with_a_fresh_file(folder: Path) -> None:
    """The story: killed by SIGKILL, its files are seconds old, and the next run works at once and says who died."""
    with Holder(folder) as holder:
        holder.kill()
        with acquire_at_once(folder) as lock:
            assert lock.predecessor is not None
            assert lock.predecessor.pid == holder.pid


def test_second_failure_a_reused_pid(folder: Path, bystander: Child) -> None:
    """The pid of the dead run is another program's now: neither believed nor harmed."""
    leave_record(folder, bystander.pid, start="1")
    with acquire_at_once(folder) as lock:
        assert lock.predecessor is not None
        assert (lock.generation, lock.leftovers_ended) == (42, 0)


@needs_root
def test_third_failure_another_users_process_has_the_pid() -> None:
    """Asking with kill(pid, 0) gives EPERM: neither "dead" nor "ours"; the lock is free and is taken."""
    folder = Path("/tmp") / f"lamplighter-eperm-{os.getpid()}"
    try:
        leave_record(folder, os.getppid(), start="1")
        for path in (folder, *folder.iterdir()):
            os.chown(path, 65534, 65534)
        with Holder(folder, Manner(uid=65534)) as holder:
            assert holder.generation == 42
    finally:
        shutil.rmtree(folder)


@needs_root
def test_third_failure_another_users_holder_is_not_taken_for_dead() -> None:
    """A live lock of another user stays his: nothing of it is deleted."""
    folder = Path("/tmp") / f"lamplighter-live-{os.getpid()}"
    try:
        with Holder(folder, Manner(uid=65534)) as holder:
            with pytest.raises(LockBusy, match=f"pid {holder.pid} of user 65534"):
                acquire(folder)
            assert holder.order("check") == "held"
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("content", [b"", b"0", b"-1", b"-94799\n", b"94799abc", b"9" * 400, b"\0" * 4096, b"0x1f"])
def test_fourth_failure_odd_content(folder: Path, content: bytes) -> None:
    """Whatever is in lock and record: no wait, no wedge, and a generation that can be counted on from."""
    folder.mkdir(parents=True)
    (folder / LOCK_FILE).write_bytes(content)
    (folder / OWNER_FILE).write_bytes(content)
    for _ in range(2):
        with acquire_at_once(folder) as lock:
            lock.check()
            assert 0 < lock.generation < 10**15


def test_fourth_failure_a_bare_pid_file_of_the_old_way_never_blocks(tmp_path: Path, bystander: Child) -> None:
    """In the place of the lock file with a living pid in it; in the place of the folder it is said what is there."""
    folder = tmp_path / "locks" / "generate"
    folder.mkdir(parents=True)
    (folder / LOCK_FILE).write_text(f"{bystander.pid}\n")
    acquire_at_once(folder).release()
    old = tmp_path / "locks" / "post"
    old.write_text(f"{bystander.pid}\n")
    with pytest.raises(LockUnusable, match="File exists"):
        acquire(old)


@pytest.mark.parametrize("name", [LOCK_FILE, OWNER_FILE, SPARE_FILE])
def test_fifth_failure_killed_between_truncating_and_writing(folder: Path, name: str) -> None:
    """A file of no bytes, of this very second."""
    with Holder(folder) as holder:
        holder.kill()
    (folder / name).write_bytes(b"")
    with acquire_at_once(folder) as lock:
        assert lock.generation == 2


# A. The recorded pid is not the holder any more.


@needs_root
def test_status_tells_whose_a_holder_of_another_user_is() -> None:
    """Daemon-Control issue 68: its user by the kernel, whether the record can be read or not."""
    parent = Path("/tmp") / f"lamplighter-status-{os.getpid()}"
    try:
        parent.mkdir()
        parent.chmod(0o777)
        with Holder(parent / "generate", Manner(uid=65534)) as holder:
            status = read_status(parent / "generate", timedelta(0))
            assert (status.is_confirmed, status.pid, status.user) == (True, holder.pid, 65534)
            (parent / "generate" / OWNER_FILE).unlink()
            status = read_status(parent / "generate", timedelta(0))
            assert (status.is_confirmed, status.pid, status.user) == (False, holder.pid, 65534)
            assert holder.order("check") == "held"
    finally:
        shutil.rmtree(parent)


def test_after_a_reboot_the_lock_is_free_whoever_has_the_pid(folder: Path, bystander: Child) -> None:
    """python-pidfile issue 12, packetfence issue 3291: another boot, even with the same pid and start."""
    leave_record(folder, bystander.pid, boot_id=ANOTHER_BOOT)
    with acquire_at_once(folder) as lock:
        assert lock.predecessor is not None
        assert lock.leftovers_ended == 0


def test_a_record_on_a_volume_outlives_its_container(folder: Path) -> None:
    """Conjur issue 2381, zammad issue 1934: pid 1 of a container that is gone blocks no new one."""
    leave_record(folder, 1, namespaces="pid:[4026532000] time:[4026531834]")
    acquire_at_once(folder).release()


def test_cleaning_up_after_a_death_never_hits_who_has_the_pid_now(folder: Path, bystander: Child) -> None:
    """Wazuh issue 38733: the recorded leftovers are other processes, this one among them; nobody is signalled."""
    leave_record(folder, bystander.pid, start="1")
    others = [
        {"pid": pid, "start": "1", "command": "claude -p"} for pid in (bystander.pid, os.getpid(), os.getppid(), 1)
    ]
    forge(folder, children=others)
    with acquire_at_once(folder) as lock:
        assert lock.leftovers_ended == 0


def test_status_asks_the_kernel_and_not_the_record(folder: Path, bystander: Child) -> None:
    """OpenIPC issue 2245: the file says one pid, the daemon is another."""
    with Holder(folder) as holder:
        forge(folder, pid=bystander.pid, start=read_identity(bystander.pid).start)
        status = read_status(folder, timedelta(0))
        assert (status.is_held, status.pid, status.is_confirmed) == (True, holder.pid, False)
        assert status.keepers == (holder.pid,)
        with pytest.raises(LockBusy, match=f"another run is at work: pid {holder.pid}$"):
            acquire(folder)


def test_the_start_is_stored_when_the_lock_is_taken(folder: Path) -> None:
    """Psutil issue 286: a start that is looked up later is compared with itself."""
    with Holder(folder) as holder:
        record = read_owner(folder)
        assert record is not None
        assert record.start == read_identity(holder.pid).start != ""


# D. Age instead of liveness.


@pytest.mark.parametrize("years", [-10, 10])
def test_a_wall_clock_that_is_years_off_changes_nothing(folder: Path, years: int) -> None:
    """Mongosh issue 2853, borg issue 9888: neither is a holder judged stale by it, nor kept for ever."""
    wall = timedelta(days=365 * years)
    with Holder(folder, Manner(limit=600)) as holder:
        with pytest.raises(LockBusy, match=f"pid {holder.pid} since"):
            acquire(folder, wall=wall)
        assert holder.order("check") == "held"
        holder.kill()
        with acquire(folder, wall=wall) as lock:
            assert lock.predecessor is not None
    with acquire(folder, wall=-wall) as lock:
        assert lock.predecessor is None


def test_files_of_any_age_change_nothing(folder: Path) -> None:
    """Proper-lockfile issue 109: files of 1970 or of 2100, a living holder holds and a dead one does not."""
    with Holder(folder) as holder:
        for moment, held in ((0, True), (4_102_444_800, True), (4_102_444_800, False), (0, False)):
            if not held:
                holder.kill()
            for path in (folder, *folder.iterdir()):
                os.utime(path, (moment, moment))
            assert read_is_held(folder) == held
            if held:
                with pytest.raises(LockBusy):
                    acquire(folder)
        acquire_at_once(folder).release()


def test_a_machine_that_slept_judges_nobody(folder: Path) -> None:
    """Borg issue 9888, mecatl issue 1333: steady time stops in sleep, so a night ages nobody."""
    with Holder(folder, Manner(limit=600)) as holder:
        with pytest.raises(LockBusy):
            acquire(folder, wall=timedelta(hours=9))
        assert holder.order("check") == "held"


def test_a_dead_holder_costs_no_wait_whatever_patience_others_have(folder: Path) -> None:
    """Openclaw issue 27650: 250 restarts in 42 minutes, because a dead one counted as alive for 30 s."""
    for _ in range(5):
        with Holder(folder) as holder:
            holder.kill()
        clock = VirtualClock()
        lock = JobLock(folder, clock)
        lock.acquire("lamplighter generate", wait=HOUR)
        lock.release()
        assert clock.waits == []


def test_the_holder_sets_the_limit_and_not_who_waits(folder: Path) -> None:
    """npm/lockfile issue 30: each contender had its own idea of stale."""
    impatient = Terms(limit=timedelta(0), grace=timedelta(0))
    with Holder(folder, Manner(limit=7200)) as holder:
        with pytest.raises(LockBusy):
            acquire(folder, steady=HOUR, terms=impatient)
        assert holder.order("check") == "held"


def test_a_late_release_lets_nobody_into_the_run_after(folder: Path) -> None:
    """laravel/framework issue 53342: the end of an overtaken run released the lock of the next."""
    with Holder(folder) as first:
        folder.rename(folder.with_name("away"))
        with Holder(folder) as second:
            assert "the lock was replaced" in first.order("check")
            first.order("release")
            assert second.order("check") == "held"
            with pytest.raises(LockBusy, match=f"pid {second.pid} since"):
                acquire(folder)


# F. Children and fork.


def test_a_forked_child_does_not_hold_what_its_parent_holds(folder: Path) -> None:
    """Spack issue 52004: it believed so; here it is told, and its release takes nothing from the parent."""
    with Holder(folder) as holder:
        assert "the lock is gone" in holder.order("ask-in-fork")
        assert holder.order("check") == "held"
        with pytest.raises(LockBusy):
            acquire(folder)


@pytest.mark.parametrize("how", ["pool", "fork-copy"])
def test_a_forked_child_that_ends_frees_nothing_of_its_parents(folder: Path, how: str) -> None:
    """Filelock issue 634: a worker of a pool ends, or a copy that a C library made; the parent holds as before."""
    code = """
    import ctypes, multiprocessing, os, sys
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.host.clock import SystemClock
    lock = JobLock(Path(sys.argv[1]), SystemClock())
    lock.acquire("lamplighter generate")
    if sys.argv[2] == "pool":
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(sum(pool.map(abs, range(-4, 0))), flush=True)
            pool.close()
            pool.join()
    else:
        pid = ctypes.CDLL(None).fork()  # without Python's hooks: the copy keeps the descriptors until it ends
        if pid == 0:
            os._exit(10)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    input()
    lock.check()
    print("held", flush=True)
    """
    with Child(code, folder, how) as holder:
        assert holder.hear() == "10"
        assert read_status(folder, timedelta(0)).keepers == (holder.pid,)
        with pytest.raises(LockBusy, match=f"pid {holder.pid} since"):
            acquire(folder)
        holder.tell()
        assert holder.hear() == "held"


def test_a_child_that_lives_on_keeps_nothing_after_a_release(folder: Path) -> None:
    """zc.lockfile issue 8: a forked worker kept the lock alive, so it was unlocked by hand, which broke the reverse."""
    with Holder(folder) as holder:
        child = int(holder.order("fork-stay"))
        holder.order("release")
        assert is_running(child)
        acquire_at_once(folder).release()


def test_a_child_that_lives_on_keeps_nothing_after_a_death(folder: Path) -> None:
    """Clocker issue 382: what was forked under the lock held it for ever."""
    with Holder(folder) as holder:
        child = int(holder.order("fork-stay"))
        holder.kill()
        assert is_running(child)
        acquire_at_once(folder).release()


def test_a_daemon_that_left_its_session_is_found_by_its_mark(folder: Path) -> None:
    """Gptme issue 3805: what double-forked out of the tree bears the run's mark, and ends before the next run works."""
    with Holder(folder) as holder:
        daemon = int(holder.order("start-marked"))
        holder.kill()
        with acquire(folder) as lock:
            assert lock.leftovers_ended == 1
            assert not is_running(daemon)


def test_a_shell_that_forwards_no_signal_leaves_a_holder_that_is_named(folder: Path) -> None:
    """watt-mind/factory issue 2098: flock(1) is ended, its child lives on with the lock; who keeps it is told."""
    acquire(folder).release()
    shell = subprocess.Popen(
        ["flock", str(folder / LOCK_FILE), "sh", "-c", "echo $$; exec sleep 60"], stdout=subprocess.PIPE
    )
    assert shell.stdout is not None
    keeper = int(shell.stdout.readline())
    shell.stdout.close()
    try:
        shell.kill()
        shell.wait()
        with pytest.raises(LockBusy):
            acquire(folder)
        assert read_status(folder, timedelta(0)).keepers == (keeper,)
    finally:
        os.kill(keeper, signal.SIGKILL)
    until(lambda: not read_is_held(folder), "the keeper is gone")


# G. Unlink and takeover races.


def test_a_lock_file_that_is_cleaned_away_lets_nobody_in(folder: Path) -> None:
    """Systemd issue 30760, puppeteer issue 4860: every file removed under the holder; the folder still holds."""
    with Holder(folder) as holder:
        for path in folder.iterdir():
            path.unlink()
        with pytest.raises(LockBusy):
            acquire(folder)
        assert "the lock was replaced" in holder.order("check") or "the lock is gone" in holder.order("check")


def test_a_waiter_is_not_fooled_by_a_file_that_was_replaced(folder: Path) -> None:
    """werf/lockgate issue 48: what is locked must be what lies there; the folder is replaced while somebody waits."""
    code = """
    import sys
    from datetime import timedelta
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.host.clock import SystemClock
    print("waiting", flush=True)
    lock = JobLock(Path(sys.argv[1]), SystemClock())
    lock.acquire("waiter", wait=timedelta(seconds=30))
    lock.check()
    print(lock.generation, flush=True)
    input()
    """
    with Holder(folder) as first, Child(code, folder) as waiter:
        assert waiter.hear() == "waiting"
        folder.rename(folder.with_name("away"))
        assert waiter.hear() == "1"
        with pytest.raises(LockBusy, match=f"pid {waiter.pid} since"):
            acquire(folder)
        assert "the lock was replaced" in first.order("check")


# I. Where it lives.


@needs_unshare
def test_a_network_disk_is_refused_with_a_way_out(folder: Path) -> None:
    """go-filemutex issue 24, filelock issue 6: never "busy", never "go on without"; the line names the setting."""
    mounts = folder.parent.parent / "mountinfo"
    mounts.write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        f"31 27 0:45 / {folder.parent.parent} rw,relatime - nfs4 nas.local:/volume1 rw,vers=4.2\n"
    )
    code = """
import sys
from pathlib import Path
from lamplighter.engine.lock import JobLock
from lamplighter.errors import LockUnusable
from lamplighter.host.clock import SystemClock
try:
    JobLock(Path(sys.argv[1]), SystemClock()).acquire("lamplighter generate")
except LockUnusable as error:
    print(error)
"""
    script = 'mount --bind "$0" /proc/$$/mountinfo && exec "$@"'  # what the kernel says of this process's mounts
    command = ["unshare", "-m", "sh", "-c", script, str(mounts), sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    cause = "it is on a network disk (nfs4), where locks do not hold"
    assert done.stdout == f"{folder}: {cause}; set state_dir to a folder on a local disk\n", done.stderr
    assert not folder.exists()


def test_a_synced_folder_is_refused_with_a_way_out(tmp_path: Path) -> None:
    """A program that copies files to and fro would replace the lock by a copy of itself."""
    folder = tmp_path / "Dropbox" / "shop" / "state" / "locks" / "generate"
    with pytest.raises(LockUnusable, match="Dropbox copies to and fro; set state_dir to"):
        acquire(folder)
    assert not folder.exists()


def test_a_new_host_name_changes_nothing(folder: Path) -> None:
    """Openclaw issue 22997, borg issue 3968: the name is for people; the boot tells computers apart."""
    with Holder(folder, Manner(limit=60, grace=0.1)) as holder:
        forge(folder, host="macbook-of-before.local")
        with acquire(folder, steady=HOUR) as lock:
            assert lock.taken_over is not None
            assert lock.taken_over.pid == holder.pid


@needs_root
def test_a_folder_one_may_not_write_is_unusable_and_not_busy() -> None:
    """Anyvm issue 35: permission denied is no holder."""
    parent = Path("/tmp") / f"lamplighter-closed-{os.getpid()}"
    try:
        parent.mkdir(mode=0o755)
        with Holder(parent / "generate", Manner(uid=65534), take=False) as holder:
            assert holder.order("acquire") == (
                f"{parent}/generate: Permission denied; put the state on a writable local disk (state_dir)"
            )
    finally:
        shutil.rmtree(parent)


def test_a_folder_that_becomes_unreadable_fences_its_run(folder: Path) -> None:
    """Where nothing can be asked any more nothing is committed."""
    with acquire(folder) as lock:
        parent = folder.parent
        parent.rename(parent.with_name("away"))
        parent.symlink_to(parent)  # a loop
        with pytest.raises(Fenced):
            lock.check()


# J. Busy is not broken.


def test_waiting_gets_the_lock_within_moments_of_a_death_or_a_release(folder: Path) -> None:
    """nix-config issue 241: a retry ladder against what only needs waiting for; here the kernel wakes the waiter."""
    code = """
    import sys, time
    from datetime import timedelta
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.host.clock import SystemClock
    for line in sys.stdin:
        lock = JobLock(Path(sys.argv[1]), SystemClock())
        lock.acquire("waiter", wait=timedelta(seconds=30))
        print(time.monotonic(), flush=True)
        lock.release()
    """
    late = []
    with Child(code, folder) as waiter:
        for how in ("kill", "release") * 3:
            with Holder(folder) as holder:
                waiter.tell()
                with pytest.raises(LockBusy):
                    acquire(folder)
                if how == "kill":
                    started = time.monotonic()
                    os.kill(holder.pid, signal.SIGKILL)
                else:
                    started = time.monotonic()
                    holder.tell("release")
                late.append(float(waiter.hear()) - started)
    assert min(late) < 0.1
    assert max(late) < 2.0  # also on a machine that is busy with other tests
