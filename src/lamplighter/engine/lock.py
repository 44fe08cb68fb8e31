"""One run of a job at a time: the kernel decides who holds the lock, the record only explains.

Two flock(2) anchors, on the job's lock folder and on a permanent file in it, are held for the life of the run; a
POSIX record lock on the same file lets the kernel name the holder. Nothing is ever unlinked, unlocked by hand or
stolen: what a dead process held is free the moment it is dead (reference/locks.md §4).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from lamplighter.errors import Fenced, LockBusy, LockUnusable
from lamplighter.host.clock import Clock, read_boot_id

LOCK_FILE = "lock"
OWNER_FILE = "owner.json"
_RECORD_LIMIT = 64_000
_GENERATION_DIGITS = 20
# struct flock: fcntl_locking(2) on 64-bit Linux; sys/fcntl.h on macOS (never tried there)
_FLOCK = "hhqqi4x" if sys.platform == "linux" else "qqihh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What the record says of a holder: pid, when it began (ISO 8601, UTC), its command and lock generation."""

    pid: int
    since: str
    command: str
    generation: int
    state: str
    boot_id: str = ""

    def describe(self) -> str:
        """Return "pid 4711 since 2026-11-29T19:30:00+00:00 (lamplighter generate)"."""
        return f"pid {self.pid} since {self.since} ({self.command})"


class JobLock:
    """The lock of one job, taken by `acquire` and held until `release` or the end of the process."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        """Name the job's lock folder; nothing is touched before `acquire`."""
        self._folder = folder
        self._clock = clock
        self._descriptors: tuple[int, ...] = ()
        self.generation = 0
        self.predecessor: Owner | None = None

    def acquire(self, command: str, *, floor: int = 0) -> None:
        """Take the lock or raise LockBusy (who has it) or LockUnusable (why it can't be relied on).

        `floor` is the highest generation the ledger knows; ours will be higher. `predecessor` afterwards tells of a
        holder that died without a word.
        """
        with _unusable(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptors = self._open_both()
        record = read_owner(self._folder)
        self.predecessor = record if record is not None and record.state == "held" else None
        with _unusable(self._folder):
            self._publish(command, floor, record)

    def check(self) -> None:
        """Raise Fenced unless this run still holds the lock on disk; call before every commit."""
        try:
            folder, file = self._descriptors
            same = _same_inode(folder, self._folder) and _same_inode(file, self._folder / LOCK_FILE)
            current = _read_generation(file)
        except (OSError, ValueError) as error:
            raise Fenced(str(self._folder), f"the lock is gone: {error}") from None
        if not same or current != self.generation:
            raise Fenced(str(self._folder), "the lock was replaced while this run was at work")

    def release(self) -> None:
        """Say that the run has ended and let go; never fails, whatever became of the folder."""
        with contextlib.suppress(OSError, Fenced):
            self.check()
            self._write_record(self._command, state="released")
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._descriptors = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _open_both(self) -> tuple[int, int]:
        """Open and flock folder and file, and see that the file is still the one at its path."""
        for _ in range(100):
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            file = -1
            try:
                file = os.open(self._folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same_inode(folder, self._folder) and _same_inode(file, self._folder / LOCK_FILE):
                    return folder, file
            except OSError as error:
                busy = error.errno in {errno.EAGAIN, errno.EACCES} and file >= 0
                holder = self._describe_holder(file) if busy else ""
                _close(folder, file)
                if busy:
                    raise LockBusy(f"job {self._folder.name}", f"another run is at work: {holder}") from None
                raise
            _close(folder, file)
        raise LockUnusable(str(self._folder), "the folder is being replaced again and again")

    def _describe_holder(self, file: int) -> str:
        """Say who holds the lock: the record when the kernel confirms its pid, else the kernel's pid alone."""
        record, pid = read_owner(self._folder), _kernel_holder(file)
        if record is not None and record.state == "held" and pid in {record.pid, None}:
            return record.describe()
        return f"pid {pid}" if pid else "a process this one cannot see"

    def _publish(self, command: str, floor: int, old: Owner | None) -> None:
        file = self._descriptors[1]
        known = old.generation if old is not None else 0
        self.generation = 1 + max(_read_generation(file, missing=0), known, floor)
        os.pwrite(file, f"{self.generation:0{_GENERATION_DIGITS}d}\n".encode(), 0)
        self._command = command
        self._since: datetime = self._clock.now()
        self._write_record(command, state="held")

    def _write_record(self, command: str, *, state: str) -> None:
        """Replace owner.json as a whole through one fixed temporary name."""
        record = {
            "schema": 1,
            "state": state,
            "generation": self.generation,
            "pid": os.getpid(),
            "uid": os.getuid(),
            "boot_id": read_boot_id(),
            "since": self._since.isoformat(timespec="seconds"),
            "command": command,
        }
        temporary_file = self._folder / f"{OWNER_FILE}.tmp"
        temporary_file.write_text(json.dumps(record), "utf-8")
        os.replace(temporary_file, self._folder / OWNER_FILE)


def read_owner(folder: Path) -> Owner | None:
    """Return what owner.json says, or None when it is missing, empty, garbage or of another version."""
    try:
        with (folder / OWNER_FILE).open("rb") as stream:
            record = json.loads(stream.read(_RECORD_LIMIT))
        return Owner(
            pid=int(record["pid"]),
            since=str(record["since"])[:40],
            command=str(record["command"])[:200],
            generation=min(max(int(record["generation"]), 0), 10**18),
            state=str(record["state"])[:20],
            boot_id=str(record.get("boot_id", ""))[:80],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def is_held(folder: Path) -> bool:
    """Return whether the kernel names a holder of this job's lock; asks only, so it never keeps a run out."""
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _kernel_holder(descriptor) is not None
    finally:
        os.close(descriptor)


def _kernel_holder(file: int) -> int | None:
    """Return the pid of the POSIX lock's holder, 0 when it lives in another namespace, None when nobody holds it."""
    linux = sys.platform == "linux"
    asked = (fcntl.F_WRLCK, 0, 0, 0, 0) if linux else (0, 0, 0, fcntl.F_WRLCK, 0)
    with contextlib.suppress(OSError):
        answer = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, *asked)))
        kind, pid = (answer[0], answer[4]) if linux else (answer[3], answer[2])
        return None if kind == fcntl.F_UNLCK else max(pid, 0)
    return None


def _read_generation(file: int, *, missing: int | None = None) -> int:
    text = os.pread(file, 32, 0).strip()
    if missing is not None and not (text.isdigit() and len(text) <= _GENERATION_DIGITS):
        return missing
    return int(text)


def _same_inode(descriptor: int, path: Path) -> bool:
    try:
        held, there = os.fstat(descriptor), path.stat()
    except FileNotFoundError:
        return False
    return (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)


@contextlib.contextmanager
def _unusable(folder: Path) -> Iterator[None]:
    """Turn what the operating system says into LockUnusable: never "busy", never "go on without"."""
    try:
        yield
    except OSError as error:
        cause = error.strerror or str(error)
        raise LockUnusable(str(folder), cause, "put the state on a writable local disk (state_dir)") from error
