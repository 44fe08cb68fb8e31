"""Writing to an output that perhaps nobody reads, without waiting for it longer than asked."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import time
from collections import deque
from datetime import timedelta

_MOST_KEPT = 256_000
_PIECE = 512  # POSIX: what a pipe or terminal that is ready takes at once, so that the write does not wait
AT_ONCE = timedelta(0)


class Outlet:
    """A queue of lines before a descriptor: what the reader does not take now is offered again with the next line.

    Of a queue that is too long new lines are dropped, and that is said in their place. The descriptor's mode is left
    as it is: it is shared with whoever started us.
    """

    def __init__(self, descriptor: int, *, note: str) -> None:
        """Write to `descriptor`; `note` is the line for what was dropped, with {} for how many lines."""
        self._shared = descriptor
        self._descriptor = -1
        self._is_plain = False
        self._note = note
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0

    def add(self, line: bytes, *, is_kept: bool = False) -> None:
        """Queue a line; one that is kept is never dropped, whatever waits before it."""
        if not is_kept and self._size + len(line) > _MOST_KEPT:
            self._dropped += 1
            return
        self._say_dropped()
        self._queue.append(line)
        self._size += len(line)

    def flush(self, patience: timedelta | None) -> bool:
        """Write what is queued and return whether nothing is left; None waits for as long as it takes.

        Raises OSError for an output that is full or whose reader has gone.
        """
        self._open()
        end = None if patience is None else time.monotonic() + patience.total_seconds()
        while self._queue or self._dropped:
            if not self._queue:
                self._say_dropped()
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._is_ready(left) or (not self._write() and left == 0):
                return False
        return True

    def _say_dropped(self) -> None:
        if self._dropped:
            line = self._note.format(f"{self._dropped:,}").encode()
            self._dropped = 0
            self._queue.append(line)
            self._size += len(line)

    def _open(self) -> None:
        """Open the same pipe or terminal once more where that can be done, so that no write to it ever waits."""
        if self._descriptor >= 0:
            return
        self._descriptor = self._shared
        mode = os.fstat(self._shared).st_mode
        self._is_plain = stat.S_ISREG(mode)
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            with contextlib.suppress(OSError):  # another user's, no /proc, a reader that has gone
                self._descriptor = os.open(f"/proc/self/fd/{self._shared}", flags)

    def _is_ready(self, seconds: float | None) -> bool:
        if self._is_plain:
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        return bool(poll.poll(None if seconds is None else seconds * 1000))

    def _write(self) -> bool:
        first = self._queue[0]
        piece = first if self._is_plain or self._descriptor != self._shared else first[:_PIECE]
        try:
            written = os.write(self._descriptor, piece)
        except BlockingIOError:
            return False
        self._size -= written
        if written == len(first):
            self._queue.popleft()
        else:
            self._queue[0] = first[written:]
        return True

    def close(self) -> None:
        """Drop what is queued and let go of what was opened; the descriptor stays."""
        self._queue.clear()
        self._size = self._dropped = 0
        if self._descriptor not in {-1, self._shared}:
            os.close(self._descriptor)
        self._descriptor = -1
