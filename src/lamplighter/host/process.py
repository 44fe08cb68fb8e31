"""Run another program under a deadline, alone in its session, and end the whole of it."""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Protocol

from lamplighter.errors import InputError, UpstreamError
from lamplighter.host.files import temporary_trouble
from lamplighter.host.handle import KILL_PATIENCE, TERM_GRACE, ProcessHandle
from lamplighter.host.session import LATER, dying_with
from lamplighter.host.signals import deferring_signals

_GRACES_SECONDS = (TERM_GRACE.total_seconds(), KILL_PATIENCE.total_seconds())


class Ending(enum.Enum):
    """How a program ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run: arguments as given (never a shell), the whole environment, input, and a deadline."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    deadline: timedelta
    stdin: bytes = b""
    output_limit: int = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a program left: exit code (negative: signal), output up to the limit, seconds of wall time.

    A program that even SIGKILL does not end in time, stuck in the kernel, counts as killed and is left behind.
    """

    ending: Ending
    code: int
    seconds: float
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)


class Runner(Protocol):
    """Runs a Command and returns what it left.

    Raises InputError when the program cannot be started, UpstreamError when it cannot be now, DiskError when there is
    no room for its output.
    """

    def run(self, command: Command) -> Finished:
        """Return after the program has ended or has been ended."""


class SystemRunner:
    """Runs programs on this machine."""

    def run(self, command: Command) -> Finished:
        """Run in a session of its own, output to files, TERM then KILL to the group at the deadline."""
        with _spool(command.stdin) as stdin, _spool() as out, _spool() as err:
            started = time.monotonic()
            process: subprocess.Popen[bytes] | None = None
            try:
                with deferring_signals():
                    process = _start(command, stdin, out, err)
                ending = _wait(process, command.deadline)
            except BaseException:
                if process is not None:
                    _end_group(process)
                raise
            return Finished(
                ending=ending,
                code=-signal.SIGKILL if process.returncode is None else process.returncode,
                seconds=time.monotonic() - started,
                stdout=_read_start(out, command.output_limit),
                stderr=_read_start(err, command.output_limit),
            )


def die_with_parent(parent: int, *, limit: timedelta) -> None:
    """Let this process not outlive `parent` (see `dying_with`), nor `limit` from now: it is killed."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limit.total_seconds())
    dying_with(parent)()


@contextlib.contextmanager
def _spool(content: bytes = b"") -> Iterator[IO[bytes]]:
    """Lend a nameless file that holds `content`."""
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(tempfile.TemporaryFile(buffering=0))
            while content:
                content = content[stream.write(content) :]
            stream.seek(0)
        except OSError as error:
            raise temporary_trouble(error.strerror or str(error)) from error
        yield stream


def _start(command: Command, stdin: IO[bytes], out: IO[bytes], err: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=dict(command.env),
            stdin=stdin,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    except OSError as error:
        if error.errno in LATER:
            raise UpstreamError(command.argv[0], f"cannot be started now: {error.strerror}") from error
        where = "" if command.cwd.is_dir() else f" in {command.cwd}, which is not a folder"
        raise InputError(command.argv[0], f"cannot be started{where}: {error.strerror}") from error
    except ValueError as error:  # a NUL in an argument
        raise InputError(command.argv[0], f"cannot be started: {error}") from None


def _wait(process: subprocess.Popen[bytes], deadline: timedelta) -> Ending:
    if not _wait_unreaped(process.pid, deadline.total_seconds()):
        _end_group(process)
        return Ending.DEADLINE
    return Ending.SIGNALLED if process.wait() < 0 else Ending.EXITED


def _end_group(process: subprocess.Popen[bytes], graces: tuple[float, float] = _GRACES_SECONDS) -> None:
    """TERM and CONT, a short grace, then KILL to the group; the leader is reaped last so its id stays ours.

    KILL has a grace too: a process that hangs in the kernel (state D) takes no signal, and must not hold us up.
    """
    if process.returncode is not None:
        return
    ended = False
    for signals, seconds in zip(((signal.SIGTERM, signal.SIGCONT), (signal.SIGKILL,)), graces, strict=True):
        for number in signals:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        ended = _wait_unreaped(process.pid, seconds)
    if ended:
        process.wait()


def _wait_unreaped(pid: int, seconds: float) -> bool:
    """Return whether a child ended within `seconds`, and leave it to be reaped."""
    try:
        with ProcessHandle(pid) as handle:
            return handle.wait(timedelta(seconds=seconds))
    except ProcessLookupError:  # a zombie, or reaped just before a signal broke in
        return True


def _read_start(stream: IO[bytes], limit: int) -> bytes:
    stream.seek(0)
    return stream.read(limit)
