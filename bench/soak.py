"""The lock under fire: six workers contend, one is killed every 10 to 40 ms, and nothing may be lost.

usage: python bench/soak.py [--minutes N]     (default: one minute)

Counts violations (two in the critical section at once, seen by a POSIX lock on a witness file, which the kernel drops
before it drops a dead process's lock), lost updates of a counter file, wedges (nobody got the lock for two seconds),
deaths not told of, and generations that did not rise. Ends with 1 when there is any.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from lamplighter.engine.lock import JobLock
from lamplighter.errors import LamplighterError
from lamplighter.host.clock import SystemClock

WORKERS = 6
WEDGED_SECONDS = 2.0
FIELDS = ("acquired", "acknowledged", "violations", "not rising", "not told", "errors", "inside")


class Board:
    """Counters in memory that all processes share, a row a worker, so that a kill loses none."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 4096)

    def get(self, worker: int, name: str) -> int:
        """Return a counter."""
        value: int = struct.unpack_from("q", self._memory, self._at(worker, name))[0]
        return value

    def put(self, worker: int, name: str, value: int) -> None:
        """Set a counter."""
        struct.pack_into("q", self._memory, self._at(worker, name), value)

    def add(self, worker: int, name: str) -> None:
        """Count one more."""
        self.put(worker, name, self.get(worker, name) + 1)

    def total(self, name: str) -> int:
        """Return the sum of all workers."""
        return sum(self.get(worker, name) for worker in range(WORKERS))

    @staticmethod
    def _at(worker: int, name: str) -> int:
        return 8 * (worker * len(FIELDS) + FIELDS.index(name))


def work(place: Path, board: Board, worker: int) -> None:
    """Take the lock, add one to the counter, let go, again and again."""
    witness = os.open(place / "witness", os.O_RDWR)
    os.dup2(witness, 0)  # a dying process's descriptors are closed in order: the witness first
    while True:
        lock = JobLock(place / "locks" / "soak", SystemClock())
        try:
            lock.acquire("soak", wait=timedelta(seconds=5))
        except LamplighterError:
            board.add(worker, "errors")
            continue
        try:
            fcntl.lockf(0, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            board.add(worker, "violations")
        board.put(worker, "inside", 1)
        add_one(place, board, worker, lock)
        board.put(worker, "inside", 0)
        fcntl.lockf(0, fcntl.LOCK_UN)
        lock.release()


def add_one(place: Path, board: Board, worker: int, lock: JobLock) -> None:
    """Read the counter, wait a moment, write it one higher, as a careless program would."""
    last = int((place / "generation").read_text() or 0)
    if lock.generation <= last:
        board.add(worker, "not rising")
    # What was killed inside left its pid here; whoever comes next is to be told of a death: of this one, or of one that
    # had been told and was killed before it came here.
    victim = int((place / "inside").read_text() or 0)
    if victim and lock.predecessor is None:
        board.add(worker, "not told")
    (place / "inside").write_text(f"{os.getpid():>12}")
    (place / "generation").write_text(f"{lock.generation:>12}")
    number = int((place / "counter").read_text())
    time.sleep(0.001)
    lock.check()
    overwrite(place / "counter", number + 1)
    board.add(worker, "acknowledged")
    board.add(worker, "acquired")
    overwrite(place / "inside", 0)


def overwrite(file: Path, number: int) -> None:
    """Write a number in one step, in place."""
    descriptor = os.open(file, os.O_WRONLY)
    os.pwrite(descriptor, f"{number:>12}".encode(), 0)
    os.close(descriptor)


def start(place: Path, board: Board, worker: int) -> int:
    """Return the pid of a new worker."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            work(place, board, worker)
        finally:
            os._exit(1)
    return pid


def soak(place: Path, seconds: float) -> dict[str, int]:
    """Let them contend for so long and return what was counted."""
    for name in ("witness", "counter", "generation", "inside"):
        (place / name).write_text(f"{0:>12}")
    board, chance = Board(), random.Random()  # noqa: S311 - no secret
    pids = [start(place, board, worker) for worker in range(WORKERS)]
    kills = inside = wedges = 0
    end, seen, since = time.monotonic() + seconds, 0, time.monotonic()
    longest = 0.0
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.010, 0.040))
        if board.total("acquired") != seen:
            seen, since = board.total("acquired"), time.monotonic()
        longest = max(longest, time.monotonic() - since)
        if time.monotonic() - since > WEDGED_SECONDS:
            wedges, since = wedges + 1, time.monotonic()
        # More often than not one that is in the section.
        victims = [worker for worker in range(WORKERS) if board.get(worker, "inside")] if chance.random() < 0.7 else []
        worker = chance.choice(victims or range(WORKERS))
        os.kill(pids[worker], signal.SIGKILL)
        os.waitpid(pids[worker], 0)
        kills, inside = kills + 1, inside + board.get(worker, "inside")
        board.put(worker, "inside", 0)
        pids[worker] = start(place, board, worker)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    counted = int((place / "counter").read_text())
    return {
        "seconds": round(seconds),
        "acquired": board.total("acquired"),
        "kills": kills,
        "of them inside": inside,
        "longest gap, ms": round(longest * 1000),
        "violations": board.total("violations"),
        "lost updates": max(0, board.total("acknowledged") - counted),
        "wedges": wedges,
        "generations not rising": board.total("not rising"),
        "deaths not told": board.total("not told"),
        "errors": board.total("errors"),
    }


def main() -> int:
    """Soak, print the table, and return 1 when anything went wrong."""
    minutes = float(sys.argv[sys.argv.index("--minutes") + 1]) if "--minutes" in sys.argv else 1.0
    place = Path(tempfile.mkdtemp(prefix="lamplighter-soak-"))
    try:
        found = soak(place, minutes * 60)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"soak: {WORKERS} workers, a SIGKILL every 10 to 40 ms")
    for name, value in found.items():
        print(f"  {name:<24}{value:>10}")
    with contextlib.suppress(KeyError):
        found.pop("longest gap, ms")
    bad = list(found)[list(found).index("violations") :]
    return 1 if any(found[name] for name in bad) or not found["acquired"] else 0


if __name__ == "__main__":
    sys.exit(main())
