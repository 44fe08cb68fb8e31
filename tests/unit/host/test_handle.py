"""A process taken hold of: signals and waits mean it and nobody else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.simulators.child import Child, is_running, until

from lamplighter.host.handle import ProcessHandle, end_all
from lamplighter.host.identity import ProcessEntry, read_process

needs_unshare = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare(1)"
)
SOON, LONG = timedelta(milliseconds=20), timedelta(seconds=20)
DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
input()
"""


def test_a_process_that_ends_is_known_at_once() -> None:
    """Long before the limit of the wait."""
    with Child("input()") as child, ProcessHandle(child.pid) as handle:
        assert not handle.wait(SOON)
        started = time.monotonic()
        os.kill(child.pid, signal.SIGKILL)
        assert handle.wait(LONG)
        assert time.monotonic() - started < 5


def test_nobody_has_that_pid() -> None:
    """It is an error of its own, also for a zombie, which nobody can end any more."""
    done = subprocess.Popen(["true"])
    until(lambda: not is_running(done.pid), "it is a zombie")
    with pytest.raises(ProcessLookupError):
        ProcessHandle(done.pid)
    done.wait()
    with pytest.raises(ProcessLookupError):
        ProcessHandle(done.pid)


def test_a_signal_to_one_that_ended_is_no_error() -> None:
    """Who is to end and has ended is as it should be."""
    with Child("input()") as child, ProcessHandle(child.pid) as handle:
        child.kill()
        handle.send(signal.SIGKILL)


@needs_unshare
def test_a_signal_to_one_that_ended_does_not_hit_who_has_its_pid_now() -> None:
    """The handle means that process for good: in a PID namespace the pid is given to another, who lives on."""
    code = """
import os, signal, subprocess
from datetime import timedelta
from pathlib import Path
from lamplighter.host.handle import ProcessHandle
first = subprocess.Popen(["sleep", "60"])
with ProcessHandle(first.pid) as handle:
    first.kill()
    first.wait()
    Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
    second = subprocess.Popen(["sleep", "60"])
    handle.send(signal.SIGKILL)
    with ProcessHandle(second.pid) as other:
        print(second.pid == first.pid, handle.wait(timedelta(0)), other.wait(timedelta(milliseconds=100)))
os.kill(second.pid, signal.SIGKILL)
"""
    command = ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "True True False\n", done.stderr


def test_all_of_them_are_asked_and_then_killed() -> None:
    """One that obeys, one that does not, one that is stopped: all are gone, and counted."""
    with Child("input()") as meek, Child(DEAF) as deaf, Child("input()") as stopped:
        deaf.hear()
        stopped.signal(signal.SIGSTOP)
        pids = (meek.pid, deaf.pid, stopped.pid)

        def find() -> Iterator[ProcessEntry]:
            yield from (entry for entry in map(read_process, pids) if entry is not None)

        assert end_all(find, grace=timedelta(milliseconds=100), limit=LONG) == (3, 0)
        assert not any(map(is_running, pids))


def test_what_cannot_be_ended_is_counted_and_not_waited_for_without_end() -> None:
    """A process that is named but cannot be signalled."""
    with Child("input()") as child:
        entry = read_process(child.pid)
        assert entry is not None
        other = ProcessEntry(pid=entry.pid, parent=1, group=1, session=1, start="1", uid=1, is_dead=False)
        assert end_all(lambda: [other], grace=SOON, limit=SOON) == (1, 1)
        assert is_running(child.pid)


def test_with_nobody_to_end_nothing_is_waited_for() -> None:
    """One look is enough."""
    assert end_all(list, grace=LONG, limit=LONG) == (0, 0)
