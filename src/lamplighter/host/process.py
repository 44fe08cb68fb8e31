"""Run another program under a deadline, alone in its session, and end the whole of it."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Protocol

from lamplighter.errors import InputError

_TERM_GRACE_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1


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
    """What a program left: exit code (negative: signal), output up to the limit, seconds of wall time."""

    ending: Ending
    code: int
    seconds: float
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)


class Runner(Protocol):
    """Runs a Command and returns what it left; raises InputError when the program does not exist."""

    def run(self, command: Command) -> Finished:
        """Return after the program has ended or has been ended."""


class SystemRunner:
    """Runs programs on this machine."""

    def run(self, command: Command) -> Finished:
        """Run in a session of its own, output to files, TERM then KILL to the group at the deadline."""
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            stdin.write(command.stdin)
            stdin.seek(0)
            started = time.monotonic()
            process = _start(command, stdin, out, err)
            try:
                ending = _wait(process, command.deadline)
            except BaseException:
                _end_group(process)
                raise
            return Finished(
                ending=ending,
                code=process.returncode,
                seconds=time.monotonic() - started,
                stdout=_read_start(out, command.output_limit),
                stderr=_read_start(err, command.output_limit),
            )


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies (Linux only; prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


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
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise InputError(command.argv[0], f"cannot be started: {error.strerror}") from error


def _wait(process: subprocess.Popen[bytes], deadline: timedelta) -> Ending:
    try:
        code = process.wait(deadline.total_seconds())
    except subprocess.TimeoutExpired:
        _end_group(process)
        return Ending.DEADLINE
    return Ending.SIGNALLED if code < 0 else Ending.EXITED


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """TERM and CONT, a short grace, then KILL to the group; the leader is reaped last so its id stays ours."""
    for signals in ((signal.SIGTERM, signal.SIGCONT), (signal.SIGKILL,)):
        for number in signals:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        if signal.SIGKILL not in signals:
            _wait_unreaped(process.pid, _TERM_GRACE_SECONDS)
    process.wait()


def _wait_unreaped(pid: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.01)


def _read_start(stream: IO[bytes], limit: int) -> bytes:
    stream.seek(0)
    return stream.read(limit)
