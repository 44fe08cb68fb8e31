"""Whether the machine sleeps: how long it has, and holding it off while there is work."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamplighter.errors import LamplighterError
from lamplighter.host.process import Command, Runner, SystemRunner

_PATIENCE = timedelta(seconds=20)
_SYSTEM_BUS = Path("/run/dbus/system_bus_socket")
_SLEPT = re.compile(
    r"^(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4})\s+(?P<what>Sleep|Wake|DarkWake)\s", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """From when to when a machine slept; None: it had not woken when this was written."""

    begin_at: datetime
    end_at: datetime | None


def parse_power_log(text: str) -> tuple[Sleep, ...]:
    """Return the sleeps that `pmset -g log` of a Mac tells of; a DarkWake, when no job is started, ends none."""
    sleeps: list[Sleep] = []
    begin_at: datetime | None = None
    for found in _SLEPT.finditer(text):
        at = datetime.strptime(found["at"], "%Y-%m-%d %H:%M:%S %z").astimezone(UTC)
        if found["what"] == "Sleep":
            begin_at = begin_at or at
        elif found["what"] == "Wake" and begin_at is not None:
            sleeps.append(Sleep(begin_at=begin_at, end_at=at))
            begin_at = None
    return (*sleeps, *([Sleep(begin_at=begin_at, end_at=None)] if begin_at else []))


def read_sleeps(runner: Runner | None = None, *, is_mac: bool = sys.platform == "darwin") -> tuple[Sleep, ...]:
    """Return the sleeps that this machine's log tells of, none where it keeps no such log or does not say."""
    if not is_mac:
        return ()
    asked = Command(argv=("pmset", "-g", "log"), cwd=Path("/"), env={**os.environ, "LC_ALL": "C"}, deadline=_PATIENCE)
    with contextlib.suppress(LamplighterError):
        return parse_power_log((runner or SystemRunner()).run(asked).stdout.decode("utf-8", "replace"))
    return ()


def choose_guard(pid: int, *, why: str, is_mac: bool, has_bus: bool) -> tuple[str, ...]:
    """Return the program that holds sleep off for as long as process `pid` lives, nothing where there is none."""
    if is_mac:
        return ("caffeinate", "-i", "-w", str(pid))
    if has_bus:  # its child waits for the end of its input, which is the end of this process too
        return ("systemd-inhibit", "--what=sleep", "--mode=block", "--who=lamplighter", f"--why={why}", "cat")
    return ()


@contextlib.contextmanager
def holding_awake(why: str, guard: Sequence[str] | None = None) -> Iterator[bool]:
    """Hold sleep off until the end of the block, and say whether something does; a missing program is no failure."""
    argv = guard
    if argv is None:
        has_bus = _SYSTEM_BUS.exists()
        argv = choose_guard(os.getpid(), why=why, is_mac=sys.platform == "darwin", has_bus=has_bus)
    process = _start(argv) if argv else None
    try:
        yield process is not None
    finally:
        if process is not None:
            _end(process)


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes] | None:
    program = shutil.which(argv[0])
    if program is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        return subprocess.Popen(
            (program, *argv[1:]),
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the guard: its input ends, and it is asked; one that does not go is left to the death of this process."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
        process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
