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

from lamplighter.errors import Fenced, LockBusy, LockUnusable, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.identity import ProcessIdentity, read_own_identity

LOCK_FILE = "lock"
OWNER_FILE = "owner.json"
_RECORD_LIMIT = 64_000
_SCHEMA = 1
_GENERATION_DIGITS = 20
_IMPLAUSIBLE_GENERATION = 10**15  # a forged number must not be one that can't be counted on from
_TEMPORARY_FILE = f"{OWNER_FILE}.tmp"
# struct flock: fcntl_locking(2) on 64-bit Linux; sys/fcntl.h on macOS (never tried there)
_FLOCK = "hhqqi4x" if sys.platform == "linux" else "qqihh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What the record says of a holder: process, when it began (ISO 8601, UTC), its command and lock generation."""

    pid: int
    since: str
    command: str
    generation: int
    state: str
    start: str = ""
    boot_id: str = ""

    def describe(self) -> str:
        """Return "pid 4711 since 2026-11-29T19:30:00+00:00 (lamplighter generate)"."""
        return f"pid {self.pid} since {self.since} ({self.command})"

    @property
    def is_this_process(self) -> bool:
        """Return whether the record says that this very process holds the lock."""
        recorded = ProcessIdentity(pid=self.pid, start=self.start, boot_id=self.boot_id)
        return self.state == "held" and recorded == read_own_identity()


class JobLock:
    """The lock of one job, taken by `acquire` and held until `release` or the end of the process."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        """Name the job's lock folder; nothing is touched before `acquire`."""
        self._folder = folder
        self._clock = clock
        self._command = ""
        self._since: datetime | None = None
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
        try:
            with _unusable(self._folder):
                self._publish(command, floor, record)
        except BaseException:
            self._close()
            raise

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
            try:
                self._write_record(state="released")
            except OSError:  # a full disk: with no record at all the next run is not told of a death
                os.unlink(OWNER_FILE, dir_fd=self._descriptors[0])
        self._close()

    def _close(self) -> None:
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
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                file = os.open(LOCK_FILE, flags, 0o600, dir_fd=folder)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same_inode(folder, self._folder) and _same_inode(file, self._folder / LOCK_FILE):
                    return folder, file
            except OSError as error:
                _close(folder, file)
                if error.errno == errno.EAGAIN or (error.errno == errno.EACCES and file >= 0):  # EACCES: lockf(3)
                    raise LockBusy(f"job {self._folder.name}", _describe_holder(self._folder)) from None
                raise
            _close(folder, file)
        raise LockUnusable(str(self._folder), "the folder is being replaced again and again")

    def _publish(self, command: str, floor: int, old: Owner | None) -> None:
        file = self._descriptors[1]
        known = old.generation if old is not None else 0
        self.generation = 1 + max(_plausible(_read_generation(file)), known, floor)
        os.pwrite(file, f"{self.generation:0{_GENERATION_DIGITS}d}\n".encode(), 0)
        os.ftruncate(file, _GENERATION_DIGITS + 1)
        self._command, self._since = command, self._clock.now()
        self._write_record(state="held")

    def _write_record(self, *, state: str) -> None:
        """Replace owner.json as a whole through one fixed temporary name, in the folder that is locked."""
        own = read_own_identity()
        record = {
            "schema": _SCHEMA,
            "state": state,
            "generation": self.generation,
            "pid": own.pid,
            "start": own.start,
            "boot_id": own.boot_id,
            "uid": os.getuid(),
            "since": self._since.isoformat(timespec="seconds") if self._since else "",
            "command": self._command,
        }
        folder = self._descriptors[0]
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_TEMPORARY_FILE, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            with os.fdopen(os.open(_TEMPORARY_FILE, flags, 0o600, dir_fd=folder), "wb") as stream:
                stream.write(json.dumps(record).encode())
            os.replace(_TEMPORARY_FILE, OWNER_FILE, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(_TEMPORARY_FILE, dir_fd=folder)
            raise


def read_owner(folder: Path) -> Owner | None:
    """Return what owner.json says, or None when it is missing, empty, garbage or of another version."""
    try:
        descriptor = os.open(folder / OWNER_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            record = json.loads(stream.read(_RECORD_LIMIT))
        if record["schema"] != _SCHEMA:
            return None
        return Owner(
            pid=int(record["pid"]),
            since=render_line(str(record["since"]), limit=40),
            command=render_line(str(record["command"]), limit=200),
            generation=_plausible(int(record["generation"])),
            state=render_line(str(record["state"]), limit=20),
            start=render_line(str(record.get("start", "")), limit=40),
            boot_id=render_line(str(record.get("boot_id", "")), limit=80),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _plausible(generation: int) -> int:
    return generation if 0 < generation < _IMPLAUSIBLE_GENERATION else 0


def is_held(folder: Path) -> bool:
    """Return whether the kernel names a holder of this job's lock; asks only, so it never keeps a run out."""
    record = read_owner(folder)
    return (record is not None and record.is_this_process) or _find_holder(folder) is not None


def _describe_holder(folder: Path) -> str:
    """Say who holds the lock: the record when the kernel confirms its pid, else the kernel's pid alone.

    This process itself is known by its record alone: the kernel names only others, and to close a second descriptor of
    the file would free the record lock of the first.
    """
    record = read_owner(folder)
    if record is not None and record.is_this_process:
        return f"this very process is at work: {record.describe()}"
    pid = _find_holder(folder)
    if record is not None and record.state == "held" and pid == record.pid:
        return f"another run is at work: {record.describe()}"
    return f"another run is at work: {f'pid {pid}' if pid else 'a process that the system does not name'}"


def _find_holder(folder: Path) -> int | None:
    """Return the pid the kernel names, 0 when it lives in another namespace, None when it names nobody."""
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return _kernel_holder(descriptor)
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


def _read_generation(file: int) -> int:
    """Return the number in the lock file, 0 when there is none (empty, garbage, an old bare pid is taken as one)."""
    text = os.pread(file, _GENERATION_DIGITS + 1, 0).partition(b"\n")[0].strip()
    return int(text) if text.isdigit() else 0


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
