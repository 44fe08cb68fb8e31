"""Which process a pid means."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from tests.simulators.child import Child, until

from lamplighter.host.identity import ProcessIdentity, is_alive, read_boot_id, read_identity, read_own_identity
from lamplighter.value import replace

SPEAK_AND_WAIT = """
from lamplighter.host.identity import read_own_identity
own = read_own_identity()
print(own.start, flush=True)
input()
"""


def identity_of(child: Child) -> ProcessIdentity:
    """Return what a child says of itself."""
    return replace(read_own_identity(), pid=child.pid, start=child.hear())


def test_this_process_is_alive() -> None:
    """The own identity has all three parts and lives."""
    own = read_own_identity()
    assert own.pid == os.getpid()
    assert own.start.isdigit()
    assert own.boot_id
    assert is_alive(own)


def test_the_boot_id_is_the_same_each_time_it_is_read() -> None:
    """One boot, one id."""
    assert read_boot_id() == read_boot_id() != ""


def test_a_process_lives_until_it_is_killed() -> None:
    """SIGKILL and a reap later its identity is dead."""
    with Child(SPEAK_AND_WAIT) as child:
        identity = identity_of(child)
        assert is_alive(identity)
        child.kill()
        assert not is_alive(identity)


def test_a_zombie_is_dead() -> None:
    """A process that nobody reaped yet holds a pid and nothing else."""
    with Child(SPEAK_AND_WAIT) as child:
        identity = identity_of(child)
        os.kill(child.pid, signal.SIGKILL)
        until(lambda: not is_alive(identity), "the killed child counts as dead")
        assert os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        assert not is_alive(replace(identity, start=""))


def test_a_stopped_process_is_alive() -> None:
    """SIGSTOP is a pause, not a death."""
    with Child(SPEAK_AND_WAIT) as child:
        identity = identity_of(child)
        child.signal(signal.SIGSTOP)
        assert is_alive(identity)


def test_a_process_of_another_boot_is_dead() -> None:
    """After a reboot every recorded process is gone, whatever has its pid now."""
    assert not is_alive(replace(read_own_identity(), boot_id="e6f1f2f0-0000-4000-8000-000000000000"))
    assert not is_alive(replace(read_own_identity(), boot_id=""))


def test_a_reused_pid_is_another_process() -> None:
    """The start time tells the recorded process from the one that has its pid now."""
    own = read_own_identity()
    assert not is_alive(replace(own, start=str(int(own.start) - 1)))


def test_an_unknown_start_errs_towards_alive() -> None:
    """Where the start was never recorded the pid alone decides, for waiting rather than for two at once."""
    assert is_alive(replace(read_own_identity(), start=""))


@pytest.mark.parametrize("pid", [1, 0, -1, -94799])
def test_init_groups_and_everybody_are_never_a_process_of_ours(pid: int) -> None:
    """Pids that kill(2) reads as groups, and init, are never alive."""
    assert not is_alive(replace(read_own_identity(), pid=pid, start=""))


def test_pid_one_is_a_process_by_its_start_time_alone() -> None:
    """A container's one program is pid 1, and no dead run; whatever else has that pid is none of ours."""
    init = read_identity(1)
    assert is_alive(init)
    assert not is_alive(replace(init, start=f"{init.start}1"))


@pytest.mark.parametrize("pid", [2**22 + 1, 2**31, 2**63, 10**30])
def test_a_pid_that_cannot_exist_is_dead(pid: int) -> None:
    """A forged number neither lives nor crashes anything."""
    assert not is_alive(replace(read_own_identity(), pid=pid))


def test_a_process_of_another_user_is_alive() -> None:
    """That we may not signal it (EPERM) is no death; root puts its rights aside to ask."""
    code = """
    import os
    from pathlib import Path
    from lamplighter.host.identity import ProcessIdentity, is_alive, read_own_identity
    boot_id, user = read_own_identity().boot_id, os.getuid()
    foreign = os.getppid()
    if user == 0:
        os.setresuid(65534, 65534, 0)
    else:
        pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        foreign = next(pid for pid in pids if pid > 1 and Path(f"/proc/{pid}").stat().st_uid != user)
    alive = is_alive(ProcessIdentity(pid=foreign, start="", boot_id=boot_id))
    os.setresuid(user, user, user)
    print(alive, flush=True)
    """
    with Child(code) as child:
        assert child.hear() == "True"
        assert child.wait() == 0


def test_a_name_with_a_bracket_does_not_confuse_the_reading() -> None:
    """The start is read behind the last bracket: a program may be named ") Z 1 1"."""
    code = """
    import ctypes
    ctypes.CDLL(None).prctl(15, b") Z 1 1 1", 0, 0, 0)
    from lamplighter.host.identity import is_alive, read_own_identity
    own = read_own_identity()
    print(own.start.isdigit() and is_alive(own), flush=True)
    """
    with Child(code) as child:
        assert child.hear() == "True"


def test_a_process_that_ended_by_itself_is_dead() -> None:
    """A clean end is an end."""
    done = subprocess.Popen(["true"])
    done.wait()
    assert not is_alive(replace(read_own_identity(), pid=done.pid, start=""))
