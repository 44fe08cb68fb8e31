"""Taking over from a holder that hangs: its verified process is ended, then the lock is taken that the kernel frees.

Nothing is stolen, deleted or outlived by age. Kernel, record, start time and boot must agree before any signal is sent,
and the record is read again before each one, so that of two contenders the later never hits the earlier.
"""

from __future__ import annotations

import enum
import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from lamplighter.engine.holder import is_gone, read_flock_holder, read_holder
from lamplighter.engine.keeper import read_keepers
from lamplighter.engine.owner import HELD, Child, Owner, read_owner
from lamplighter.errors import LockBusy
from lamplighter.host.clock import Clock
from lamplighter.host.handle import KILL_PATIENCE, ProcessHandle, end_all
from lamplighter.host.identity import (
    ProcessEntry,
    list_processes,
    read_boot_id,
    read_mark,
    read_namespaces,
    read_process,
)

MARK = "LAMPLIGHTER_RUN"  # every process of a run is started with its holder's nonce under this name
_LONGEST_GRACE = timedelta(seconds=60)
_TURN = timedelta(milliseconds=10)
_LONGEST_LINE_OF_PARENTS = 100
_AT_ONCE = timedelta(0)


class Freed(enum.Enum):
    """What became of a lock: still another's, ours without a signal to its recorded holder, or ours after one."""

    NOT = "not"
    BY_ITSELF = "by itself"
    ENDED = "ended"


def is_overdue(owner: Owner, clock: Clock) -> bool:
    """Return whether a holder has used up the time it gave itself; one that gave itself none never has."""
    age = owner.age(clock.monotonic(), read_boot_id(), read_namespaces())
    return owner.state == HELD and age is not None and owner.patience is not None and age > owner.patience


def free_lock(
    folder: Path,
    owner: Owner,
    *,
    clock: Clock,
    try_lock: Callable[[], bool],
    by_hand: bool = False,
    take_hold: Callable[[int], ProcessHandle] = ProcessHandle,
) -> Freed:
    """End the processes that hold the lock where that is due; return whether `try_lock` then got it, and by what.

    Due is a holder past its own limit and grace, any holder `by_hand`, and what a dead one forked and left with a copy
    of its lock. Raises LockBusy when it cannot be verified, so that nothing was signalled, or when even SIGKILL does
    not free the lock.
    """
    if is_gone(owner):
        return _freed(_end_heirs(folder, owner, try_lock))
    if owner.state == HELD and (by_hand or is_overdue(owner, clock)):
        try:
            handle = take_hold(owner.pid)
        except ProcessLookupError:  # it has just ended
            return _freed(_end_heirs(folder, owner, try_lock))
        with handle:
            return _end_holder(folder, owner, handle, clock=clock, try_lock=try_lock)
    return Freed.NOT


def _freed(is_ours: bool, *, was_signalled: bool = False) -> Freed:
    if not is_ours:
        return Freed.NOT
    return Freed.ENDED if was_signalled else Freed.BY_ITSELF


def _end_holder(
    folder: Path, owner: Owner, handle: ProcessHandle, *, clock: Clock, try_lock: Callable[[], bool]
) -> Freed:
    doubt = _doubt(owner, read_holder(folder)) or _doubt_process(folder, owner, handle.entry)
    if not _is_still(folder, owner):
        return _freed(try_lock())
    if doubt and handle.wait(_AT_ONCE):
        return _freed(_end_heirs(folder, owner, try_lock) if is_gone(owner) else try_lock())
    if doubt:
        raise LockBusy(
            f"job {folder.name}",
            f"{owner.describe()} holds the lock, but {doubt}, so it was not touched",
            f"look with: lamplighter lock status {folder.name}",
        )
    return _stop_holder(folder, owner, handle, clock=clock, try_lock=try_lock)


def _stop_holder(
    folder: Path, owner: Owner, handle: ProcessHandle, *, clock: Clock, try_lock: Callable[[], bool]
) -> Freed:
    """Ask the verified holder to end, kill it after its grace, then end what it left with the lock."""
    was_signalled = False
    grace = min(timedelta(seconds=owner.grace), _LONGEST_GRACE)
    for signals, patience in (((signal.SIGTERM, signal.SIGCONT), grace), ((signal.SIGKILL,), KILL_PATIENCE)):
        if not _is_still(folder, owner):
            return _freed(try_lock(), was_signalled=was_signalled)
        if handle.wait(_AT_ONCE):  # what is left of it is ended as what is left of any that died
            break
        for number in signals:
            handle.send(number)
        was_signalled = True
        if _wait_for_lock(handle, patience, clock=clock, try_lock=try_lock):
            return Freed.ENDED
    return _freed(_end_heirs(folder, owner, try_lock, handle), was_signalled=was_signalled)


def _end_heirs(folder: Path, owner: Owner, try_lock: Callable[[], bool], killed: ProcessHandle | None = None) -> bool:
    """End what a dead holder forked and what keeps its lock since; return whether the lock is ours then.

    Raises LockBusy when that does not free the lock, or when a holder that was `killed` lives on.
    """
    if try_lock():
        return True
    if killed is not None and _is_still(folder, owner) and not killed.wait(_AT_ONCE):
        raise LockBusy(
            f"job {folder.name}",
            f"{owner.describe()} was asked to end and then killed, but the system does not let it end",
            "see what it waits for (a disk, a frozen group), or restart the machine",
        )
    now = read_process(owner.pid)
    if read_flock_holder(folder) != owner.pid or (now is not None and not now.is_dead):
        return False  # another contender was quicker, or another process got that pid, and may have taken the lock
    end_all(lambda: _find_heirs(folder, owner))
    if try_lock():
        return True
    left = sorted({keeper.pid for keeper in read_keepers(folder) if keeper.taken_by == owner.pid})
    if not left and read_flock_holder(folder) != owner.pid:
        return False
    raise LockBusy(
        f"job {folder.name}",
        f"{owner.describe()} is dead, but its lock is kept by "
        + (f"pid {', '.join(map(str, left))}" if left else "a process that this user may not see"),
        "end that process, or restart the machine",
    )


def _find_heirs(folder: Path, owner: Owner) -> Iterator[ProcessEntry]:
    """Give the living processes that keep what the recorded holder locked, and are of its session or of its run.

    Who opened the lock for himself, with flock(1) say, is none of them: the kernel lists the pid that took the lock.
    """
    keepers = {keeper.pid for keeper in read_keepers(folder) if keeper.on_folder and keeper.taken_by == owner.pid}
    spared = set(_list_ancestors())
    for entry in map(read_process, sorted(keepers - spared)):
        if entry is None or entry.is_dead or entry.pid <= 1 or entry.uid != os.getuid():
            continue
        if 0 < owner.session == entry.session and _is_not_older(entry.start, owner.start):
            yield entry
    yield from (entry for entry in find_leftovers(owner) if entry.pid in keepers)


def end_leftovers(owner: Owner) -> tuple[int, int]:
    """End what is left of a run's processes; return how many there were and how many could not be ended.

    That is every process of this user in a session that the record names, and every one that bears the run's mark.
    """
    if (owner.boot_id, owner.namespaces) != (read_boot_id(), read_namespaces()):
        return 0, 0
    return end_all(lambda: find_leftovers(owner))


def find_leftovers(owner: Owner) -> Iterator[ProcessEntry]:
    """Give the living processes of a run, never one that is older, nor this process or one it comes from."""
    spared = set(_list_ancestors())
    try:
        began = float(owner.start)
    except ValueError:
        return
    sessions = {child.pid for child in owner.children if _is_session_of_run(child, began)}
    for entry in list_processes(os.getuid(), since=began):
        if entry.is_dead or entry.pid in spared or entry.pid <= 1:
            continue
        if entry.session in sessions or (owner.nonce and read_mark(entry.pid, MARK) == owner.nonce):
            yield entry


def _is_session_of_run(child: Child, began: float) -> bool:
    """Return whether a session number still means what a run recorded that `began` then.

    While a session has members its number is given to nobody else. So it does when its leader is gone, also when that
    was so already as it was recorded (no start), and when the leader that lives is no younger than the record's start,
    be that its own or a member's. A younger one got the number later, after the last member had ended.
    """
    entry = read_process(child.pid)
    if entry is None or entry.is_dead:
        return True
    try:
        return began <= float(entry.start) <= float(child.start)
    except ValueError:
        return False


def _is_not_older(start: str, than: str) -> bool:
    try:
        return float(start) >= float(than)
    except ValueError:
        return False


def _list_ancestors() -> Iterator[int]:
    """Give this process and those it comes from."""
    pid = os.getpid()
    for _ in range(_LONGEST_LINE_OF_PARENTS):
        yield pid
        entry = read_process(pid)
        if entry is None or entry.parent <= 1:
            return
        pid = entry.parent


def _doubt(owner: Owner, pid: int | None) -> str:
    """Return why the record cannot be trusted to mean the kernel's holder, "" when it can."""
    if not pid:
        return "the system does not name the process that holds the lock"
    if pid == 1:
        return "that is the process all others come from"
    if owner.pid != pid:
        return f"the system names pid {pid} as the holder"
    if owner.boot_id != read_boot_id() or owner.namespaces != read_namespaces():
        return "it was recorded in another boot or container"
    if pid in set(_list_ancestors()):
        return "this command was started by it"
    return ""


def _doubt_process(folder: Path, owner: Owner, entry: ProcessEntry) -> str:
    if entry.start != owner.start:
        return f"pid {owner.pid} is another process now"
    if entry.uid != owner.uid or entry.uid != os.getuid():
        return f"it belongs to user {entry.uid}"
    if sys.platform == "linux" and owner.pid not in {keeper.pid for keeper in read_keepers(folder)}:
        return f"pid {owner.pid} does not keep the lock"
    return ""


def _is_still(folder: Path, owner: Owner) -> bool:
    now = read_owner(folder)
    return now is not None and (now.state, now.generation, now.nonce) == (HELD, owner.generation, owner.nonce)


def _wait_for_lock(handle: ProcessHandle, patience: timedelta, *, clock: Clock, try_lock: Callable[[], bool]) -> bool:
    """Wait for the lock, not for the process: what it forked may keep the one when the other is gone."""
    end = clock.monotonic() + patience
    while not try_lock():
        if clock.monotonic() >= end:
            return False
        if handle.wait(_TURN):
            return try_lock()
    return True
