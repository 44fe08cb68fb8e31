"""A program at work in a session of its own: its output goes to files, and nothing of it outlives its end."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from lamplighter.errors import InputError, UpstreamError
from lamplighter.host.files import open_to_append
from lamplighter.host.handle import KILL_PATIENCE, Closing, ProcessHandle, end_all
from lamplighter.host.identity import (
    ProcessEntry,
    ProcessIdentity,
    list_children,
    list_processes,
    read_identity,
    read_process,
)
from lamplighter.host.signals import deferring_signals

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LONGEST_NAME = 200
_LET_GO = b"."
_TURN = timedelta(milliseconds=100)
LATER = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


class Watcher(Closing):
    """A process that kills a session's group when this one dies, for where the kernel does not; use `watch_parent`."""

    def __init__(self, pid: int, pipe: int) -> None:
        """Take over a watcher just forked, and the end of the pipe that it reads from."""
        self.pid = pid
        self._pipe = pipe

    def close(self) -> None:
        """Let it go without a signal to anybody: the group's number may be another's by now."""
        if self._pipe < 0:
            return
        with contextlib.suppress(OSError):  # it was killed
            os.write(self._pipe, _LET_GO)
        os.close(self._pipe)
        self._pipe = -1
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


class Session(Closing):
    """A running program, the leader of its session and group; use `start_session`.

    On Linux what escapes into another session, and loses its parent, becomes a child of this process, which is how it
    is still found (PR_SET_CHILD_SUBREAPER, prctl(2)); elsewhere such a process gets away.
    """

    def __init__(self, process: subprocess.Popen[bytes], watcher: Watcher | None, before: frozenset[int]) -> None:
        """Take over a program just started, its watcher where it needs one, and the children there were before."""
        self._process = process
        self._watcher = watcher
        self._before = before if watcher is None else before | {watcher.pid}
        self.identity: ProcessIdentity = read_identity(process.pid)

    def wait(self, limit: timedelta) -> bool:
        """Return whether the program has ended, as soon as it has or after `limit`; it is not reaped yet."""
        try:
            with ProcessHandle(self.identity.pid) as handle:
                return handle.wait(limit)
        except ProcessLookupError:
            return True

    def send(self, number: int) -> None:
        """Send a signal to the whole group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.identity.pid, number)

    def end(
        self, grace: timedelta, number: int = signal.SIGTERM, is_urgent: Callable[[], bool] = lambda: False
    ) -> None:
        """Ask the group to stop by a signal, wake what is stopped, after `grace` kill it, or once it `is_urgent`."""
        for one in (number, signal.SIGCONT):
            self.send(one)
        end = time.monotonic() + grace.total_seconds()
        while (left := end - time.monotonic()) > 0 and not is_urgent():
            if self.wait(min(_TURN, timedelta(seconds=left))):
                return
        self.send(signal.SIGKILL)
        self.wait(KILL_PATIENCE)

    def end_strays(self) -> tuple[int, int]:
        """End what the program left running, in its session or adopted; return how many, and how many remain."""
        found = end_all(self._strays, find_quickly=self.adopted)
        for _ in self.adopted():
            pass
        return found

    def reap(self) -> int | None:
        """Return the exit code (negative: the signal) of a program that has ended, None of one stuck in the kernel."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(0.1)
        return None

    def _strays(self) -> Iterator[ProcessEntry]:
        own = os.getsid(0)
        for entry in list_processes():
            in_session = entry.session == self.identity.pid
            adopted = entry.parent == os.getpid() and entry.pid not in self._before and entry.session != own
            if (in_session or adopted) and entry.pid != self.identity.pid:
                yield entry

    def adopted(self) -> Iterator[ProcessEntry]:
        """Give the living processes that became this one's children, and reap the dead; no other child is touched.

        What dies between the list and the look may have left another one here, so that only a list without any new
        child is the end. That is exact: each living descendant is a child of this process or of such a child.
        """
        spared = {*self._before, self.identity.pid}
        alive = False
        while not alive and (pids := [pid for pid in list_children() if pid not in spared]):
            for pid in pids:
                entry = read_process(pid)
                if entry is None or entry.parent != os.getpid() or entry.session == os.getsid(0):
                    spared.add(pid)
                elif not entry.is_dead:
                    alive = True
                    yield entry
                elif not _reap(pid):
                    spared.add(pid)

    def close(self) -> None:
        """Let the watcher go."""
        if self._watcher is not None:
            self._watcher.close()


def _reap(pid: int) -> bool:
    """Reap a child that has ended; return whether it was there to be reaped."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    return False


def start_session(
    argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], out_file: Path, err_file: Path
) -> Session:
    """Start a program with arguments as given, never by a shell; its output is appended to the two files.

    When this process dies, it dies too: by the kernel on Linux, by a watching process elsewhere. Raises InputError when
    it cannot be started, UpstreamError when it cannot be now, DiskError for the files.
    """
    adopt_orphans()
    before = frozenset(list_children())
    watcher: Watcher | None = None
    with _open_to_append(out_file) as out, _open_to_append(err_file) as err:
        process: subprocess.Popen[bytes] | None = None
        try:
            with deferring_signals():
                process = _start(argv, cwd, env, out, err)
                if sys.platform != "linux":
                    watcher = watch_parent(process.pid)
                return Session(process, watcher, before)
        except BaseException:
            if process is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if watcher is not None:
                watcher.close()
            raise


def _find_remedy(program: Path, number: int | None) -> str:
    """Return what a person can do about a program that cannot be started."""
    if os.path.isdir(program):  # noqa: PTH112 - never raises
        return "it is a folder: name the program in it"
    if not os.path.isfile(program):  # noqa: PTH113 - never raises
        return ""
    remedies = {
        errno.ENOEXEC: "let it begin with a line like #!/bin/sh",
        errno.EACCES: "make it executable: chmod +x",
        errno.ENOENT: "the program that its first line names is missing",
    }
    return remedies.get(number or 0, "")


def adopt_orphans() -> None:
    """Let this process be the parent of what its descendants leave behind (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def watch_parent(leader: int) -> Watcher:
    """Fork a process that kills a session's group when the pipe to it closes without a byte, as by our own death."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(writing)
            os.setsid()
            if os.read(reading, 1) != _LET_GO:
                _kill_group(leader)
        finally:
            os._exit(0)
    os.close(reading)
    return Watcher(pid, writing)


def dying_with(parent: int) -> Callable[[], None]:
    """Return what lets the process that calls it not outlive `parent`, its parent's pid; to be called after a fork too.

    The kernel kills it when the parent dies (Linux only; prctl(2)), or rather the thread that started it; a parent that
    had died before is told by another pid in its place.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None

    def die_with_parent() -> None:
        if library is not None:
            library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return die_with_parent


def _kill_group(leader: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


@contextlib.contextmanager
def _open_to_append(file: Path) -> Iterator[int]:
    descriptor = open_to_append(file, mode=0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _start(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], out: int, err: int) -> subprocess.Popen[bytes]:
    subject = argv[0][:_LONGEST_NAME]
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=dying_with(os.getpid()),  # noqa: PLW1509 - this process has one thread when it starts a worker
        )
    except OSError as error:
        if error.errno in LATER:
            raise UpstreamError(subject, f"cannot be started now: {error.strerror}") from error
        where = "" if os.path.isdir(cwd) else f" in {cwd}, which is not a folder"  # noqa: PTH112 - never raises
        remedy = _find_remedy(cwd / argv[0], error.errno)
        raise InputError(subject, f"cannot be started{where}: {error.strerror}", remedy) from error
    except (ValueError, subprocess.SubprocessError) as error:  # a NUL in an argument
        raise InputError(subject, f"cannot be started: {error}") from None
