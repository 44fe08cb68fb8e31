"""Who holds a job's lock: what the kernel says, what the record says, and whether the two agree."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from lamplighter.engine.owner import HELD, Owner, read_owner
from lamplighter.host.disk import read_kernel_device
from lamplighter.host.identity import is_alive, read_boot_id, read_identity, read_namespaces

LOCK_FILE = "lock"
# struct flock: fcntl_locking(2) on 64-bit Linux; sys/fcntl.h on macOS (never tried there)
_FLOCK = "hhqqi4x" if sys.platform == "linux" else "qqihh"


def read_is_held(folder: Path) -> bool:
    """Return whether somebody holds this job's lock; asks only, so it never keeps a run out."""
    owner = read_owner(folder)
    own = owner is not None and owner.is_this_process
    return own or read_holder(folder) is not None


def is_gone(owner: Owner) -> bool:
    """Return whether the recorded process is known to be dead, though its lock may be kept by what it forked."""
    here = (owner.boot_id, owner.namespaces) == (read_boot_id(), read_namespaces())
    return owner.state == HELD and here and owner.pid > 1 and not is_alive(owner.process)


def describe_holder(folder: Path) -> str:
    """Say who holds the lock: the record when the kernel confirms its pid, else the kernel's pid alone.

    This process itself is known by its record alone: the kernel names only others, and to close a second descriptor of
    the file would free the record lock of the first.
    """
    owner = read_owner(folder)
    if owner is not None and owner.is_this_process:
        return f"this very process is at work: {owner.describe()}"
    pid = read_holder(folder)
    if owner is not None and owner.state == HELD and pid == owner.pid and is_that_process(owner):
        return f"another run is at work: {owner.describe()}{_describe_end(owner)}"
    return f"another run is at work: {f'pid {pid}' if pid else 'a process that the system does not name'}"


def _describe_end(owner: Owner) -> str:
    """Return ", until 06:30 at most", by the holder's own limit; "" where it has none."""
    if owner.patience is None:
        return ""
    try:
        latest = datetime.fromisoformat(owner.since) + owner.patience
    except (ValueError, OverflowError):
        return ""
    return f", until {latest.isoformat(timespec='minutes')} at most"


def read_holder(folder: Path) -> int | None:
    """Return the holder's pid as the kernel knows it, 0 when it does not tell, None when nobody holds the lock.

    The POSIX lock's holder, or, where there is none (flock(1) takes none, and any close of the file drops it), the pid
    that took the flock.
    """
    pid = read_record_lock_holder(folder)
    return read_flock_holder(folder) if pid is None else pid


def read_record_lock_holder(folder: Path) -> int | None:
    """Return the pid of the POSIX lock's holder, 0 when it lives in another namespace, None when nobody holds it.

    Not for the process that holds it itself: closing the file drops its own record lock (fcntl(2)).
    """
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        linux = sys.platform == "linux"
        asked = (fcntl.F_WRLCK, 0, 0, 0, 0) if linux else (0, 0, 0, fcntl.F_WRLCK, 0)
        answer = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(_FLOCK, *asked)))
        kind, pid = (answer[0], answer[4]) if linux else (answer[3], answer[2])
        return None if kind == fcntl.F_UNLCK else max(pid, 0)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def read_flock_holder(folder: Path) -> int | None:
    """Return the pid that took an flock on the folder or its lock file, as by flock(1); None when none is known.

    That process may be gone, and another keep what it took. Linux only (proc_locks(5)).
    """
    wanted = set(name_inodes(folder))
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text("ascii", "replace").splitlines():
            words = line.split()
            if "->" not in words and keeps(wanted, words):  # an arrow marks one that only waits
                return int(words[-4])
    return None


def is_that_process(owner: Owner) -> bool:
    """Return whether the process that has the recorded pid is the one that was recorded."""
    return read_identity(owner.pid) == owner.process


def name_inodes(folder: Path) -> Iterator[str]:
    """Give folder and lock file, in this order, as the kernel lists them: device and inode."""
    device = read_kernel_device(folder)
    for path in (folder, folder / LOCK_FILE):
        with contextlib.suppress(OSError):
            yield f"{device}:{path.stat().st_ino}"


def keeps(wanted: set[str], words: list[str]) -> bool:
    """Return whether a line such as "1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234 0 EOF" means one of these."""
    return "FLOCK" in words and words[-3] in wanted and words[-4].isdigit()
