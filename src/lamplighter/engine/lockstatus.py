"""How a job's lock stands, for people: what the kernel says, what the record says, and whether the two agree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from lamplighter.engine.holder import is_that_process, read_holder
from lamplighter.engine.keeper import read_keepers
from lamplighter.engine.owner import HELD, Owner, read_owner
from lamplighter.host.identity import read_boot_id, read_namespaces, read_process


@dataclass(frozen=True, slots=True, kw_only=True)
class LockStatus:
    """A lock as it is now: whether it is held, by which pid the kernel names (0: one it does not show), and the record.

    `user` is the uid of that pid (None: not known). `is_confirmed`: kernel and record mean the same process. `keepers`
    are the pids that keep the lock alive, forked children included (Linux only). `age`, `left` and `phase_age` are None
    where they cannot be known; `left` is what remains of the record's patience, negative when it is used up, and
    `phase_age` how long the run has been at what it says it is at.
    """

    job: str
    is_held: bool
    pid: int
    user: int | None
    is_confirmed: bool
    owner: Owner | None
    keepers: tuple[int, ...]
    age: timedelta | None
    left: timedelta | None
    phase_age: timedelta | None


def read_status(folder: Path, steady: timedelta) -> LockStatus:
    """Return how a job's lock stands at `steady`, the steady clock's time; never raises for odd files."""
    owner = read_owner(folder)
    own = owner is not None and owner.is_this_process
    pid = os.getpid() if own else read_holder(folder)
    keepers = read_keepers(folder)
    confirmed = owner is not None and owner.state == HELD and owner.pid == pid and is_that_process(owner)
    age = owner.age(steady, read_boot_id(), read_namespaces()) if owner is not None and confirmed else None
    patience = owner.patience if owner is not None else None
    return LockStatus(
        job=folder.name,
        is_held=pid is not None or bool(keepers),
        pid=pid or 0,
        user=_read_user(pid or 0),
        is_confirmed=confirmed,
        owner=owner,
        keepers=tuple(sorted({keeper.pid for keeper in keepers})),
        age=age,
        left=patience - age if patience is not None and age is not None else None,
        phase_age=_find_phase_age(owner, steady) if owner is not None and age is not None else None,
    )


def _read_user(pid: int) -> int | None:
    found = read_process(pid) if pid else None
    return found.uid if found is not None else None


def _find_phase_age(owner: Owner, steady: timedelta) -> timedelta | None:
    return max(timedelta(0), steady - timedelta(seconds=owner.phase_steady)) if owner.phase else None
