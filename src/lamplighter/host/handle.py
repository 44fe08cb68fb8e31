"""A process taken hold of, so that a signal or a wait can never mean another one that got its pid meanwhile."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Self

from lamplighter.host.identity import ProcessEntry, read_process

if sys.platform == "darwin":
    from lamplighter.host import darwin

# How long a process that is asked to end may take, and one that is killed; longer only where the kernel is stuck.
TERM_GRACE = timedelta(seconds=2)
KILL_PATIENCE = timedelta(seconds=5)
_TURN_SECONDS = 0.01


class Closing:
    """Lets go of what it holds at the end of a `with` block, by its `close`."""

    def close(self) -> None:
        """Let go; a second time nothing happens."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ProcessHandle(Closing):
    """A living process: by pidfd on Linux (pidfd_open(2)); elsewhere its start is looked at before every signal."""

    def __init__(self, pid: int) -> None:
        """Take hold of a process; raises ProcessLookupError when there is none."""
        self._descriptor = _open_pidfd(pid)
        entry = read_process(pid)
        if entry is None or entry.is_dead:
            self.close()
            raise ProcessLookupError(pid)
        self.entry = entry

    def send(self, number: int) -> None:
        """Send a signal; nothing happens when the process has ended. Raises PermissionError for another user's."""
        with contextlib.suppress(ProcessLookupError):
            if sys.platform == "linux":
                signal.pidfd_send_signal(self._descriptor, number)
            elif self._is_there():  # only on a Mac
                os.kill(self.entry.pid, number)

    def wait(self, limit: timedelta) -> bool:
        """Return whether the process has ended, as soon as it has or after `limit`; it may not be reaped yet."""
        seconds = max(0.0, limit.total_seconds())
        if sys.platform != "darwin":
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            return bool(poll.poll(seconds * 1000))
        else:  # noqa: RET505 - only on a Mac; mypy takes what follows for unreachable otherwise
            return darwin.wait_for_exit(self.entry.pid, seconds) or not self._is_there()

    def _is_there(self) -> bool:  # only on a Mac
        now = read_process(self.entry.pid)
        return now is not None and not now.is_dead and now.start == self.entry.start

    def close(self) -> None:
        """Let go; the process goes on."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def end_all(
    find: Callable[[], Iterable[ProcessEntry]],
    *,
    grace: timedelta = TERM_GRACE,
    limit: timedelta = KILL_PATIENCE,
    find_quickly: Callable[[], Iterable[ProcessEntry]] = tuple,
) -> tuple[int, int]:
    """End every process that `find` names, and those it names then: TERM and CONT, after `grace` KILL.

    Return how many there were, those apart that were made meanwhile, and how many are still there after `limit` more
    (stuck in the kernel, another user's).
    `find_quickly` is asked as well, and for the killing first: what forks without end is outrun only by a quick look.
    """
    first, left = 0, 0
    for signals, patience in (((signal.SIGTERM, signal.SIGCONT), grace), ((signal.SIGKILL,), limit)):
        end = time.monotonic() + patience.total_seconds()
        turn = 0
        while turn == 0 or time.monotonic() < end:
            # KILL again in every turn: between the look and the signal a process may have made another.
            again = signal.SIGKILL in signals and turn > 0
            alive = _look(*((find_quickly, find) if again else (find, find_quickly)))
            left = len(alive)
            first = first or left
            if not alive:
                return first, 0
            _send_to(alive, signals if again or turn == 0 else ())
            _wait_for_one(alive[0].pid, timedelta(seconds=_TURN_SECONDS))
            turn += 1
    return max(first, left), left


def _look(*finds: Callable[[], Iterable[ProcessEntry]]) -> list[ProcessEntry]:
    """Return the living of the first look that finds any."""
    for find in finds:
        alive = [entry for entry in find() if not entry.is_dead]
        if alive:
            return alive
    return []


def _send_to(entries: Iterable[ProcessEntry], signals: Iterable[signal.Signals]) -> None:
    for entry in entries:
        with contextlib.suppress(OSError), ProcessHandle(entry.pid) as handle:
            if handle.entry.start == entry.start:
                for number in signals:
                    handle.send(number)


def _wait_for_one(pid: int, limit: timedelta) -> None:
    with contextlib.suppress(OSError), ProcessHandle(pid) as handle:
        handle.wait(limit)


def _open_pidfd(pid: int) -> int:
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    else:  # noqa: RET505 - only on a Mac; mypy takes what follows for unreachable otherwise
        return -1
