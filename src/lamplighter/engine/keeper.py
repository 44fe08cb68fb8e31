"""Who keeps a lock alive: the processes that have it open, those included that only got it by a fork."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from lamplighter.engine.holder import keeps, name_inodes
from lamplighter.value import value


@value
class Keeper:
    """A process that keeps an flock on the folder or its file alive, and the pid that once took it."""

    pid: int
    taken_by: int
    on_folder: bool


def read_keepers(folder: Path) -> tuple[Keeper, ...]:
    """Return who keeps an flock on the folder or its lock file, as far as this user may see them.

    Linux lists each lock with its descriptors (proc_pid_fdinfo(5)), also those a fork made; elsewhere nothing is known.
    """
    names = list(name_inodes(folder))
    wanted = set(names)
    found = set()
    for pid in _list_pids():
        for words in _read_locks(pid):
            if keeps(wanted, words):
                found.add((pid, int(words[-4]), words[-3] == names[0]))
    return tuple(Keeper(pid=pid, taken_by=taken_by, on_folder=first) for pid, taken_by, first in sorted(found))


def _list_pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(found.name) for found in os.scandir("/proc") if found.name.isdigit())


def _read_locks(pid: int) -> Iterator[list[str]]:
    """Give the lock lines of all descriptors of a process, in words, none where it is not ours to see."""
    with contextlib.suppress(OSError):
        for found in os.scandir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError):
                lines = Path(found.path).read_text("ascii", "replace").splitlines()
                yield from (line.split() for line in lines if line.startswith("lock:"))
