"""Our lock behind the adapter of the shared bench of locks: lock_peers.py --adapter bench/lock_peer.py:BenchPeer.

Does nothing when it is run.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

from lamplighter.engine.lock import JobLock
from lamplighter.errors import LockBusy
from lamplighter.host.clock import SystemClock


class BenchPeer:
    """One hold of our lock; the folder of the path is the job's lock folder."""

    name = "lamplighter"
    package = ""
    imports = ""
    wait = "pidfd"
    kind = "flock on folder and file, record"

    def __init__(self, path: str) -> None:
        """Name the lock."""
        self.path = path
        self._lock = JobLock(Path(path).parent, SystemClock())

    def try_acquire(self) -> bool:
        """Take it or say no."""
        return self.acquire(0)

    def acquire(self, timeout: float) -> bool:
        """Take it, waiting so many seconds for another."""
        try:
            self._lock.acquire(Path(sys.argv[0]).name, wait=timedelta(seconds=timeout))
        except LockBusy:
            return False
        return True

    def release(self) -> None:
        """Let go."""
        self._lock.release()
