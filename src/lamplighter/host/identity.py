"""Which process a pid means: a pid alone is reused, a pid with its start time and boot is not."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from lamplighter.value import value

if sys.platform == "darwin":
    from lamplighter.host import darwin

_DEAD = frozenset({b"Z", b"X"})
_LONGEST_STAT = 4096


@value
class ProcessIdentity:
    """A process for good: pid, start ("" where unknown), boot id ("" where unknown).

    The start is in clock ticks since boot on Linux, in seconds since 1970 on macOS.
    """

    pid: int
    start: str
    boot_id: str


@value
class ProcessEntry:
    """A process as the kernel lists it now; a zombie is dead, it only waits for its parent to look."""

    pid: int
    parent: int
    group: int
    session: int
    start: str
    uid: int
    is_dead: bool


def read_boot_id() -> str:
    """Return the kernel's id of this boot, or "" where the system has none (Linux: proc(5))."""
    if sys.platform == "darwin":
        return darwin.read_boot_session()
    else:  # noqa: RET505 - mypy takes what follows for unreachable otherwise
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            return ""


def read_namespaces() -> str:
    """Return a name for the namespaces that pids and steady time are counted in; "" where there are none."""
    with contextlib.suppress(OSError):
        return f"{Path('/proc/self/ns/pid').readlink()} {Path('/proc/self/ns/time').readlink()}"
    return ""


def read_own_identity() -> ProcessIdentity:
    """Return the identity of this process."""
    return read_identity(os.getpid())


def read_identity(pid: int) -> ProcessIdentity:
    """Return the identity of a process; its start is "" when the process is gone."""
    entry = read_process(pid)
    return ProcessIdentity(pid=pid, start=entry.start if entry else "", boot_id=read_boot_id())


def is_alive(process: ProcessIdentity) -> bool:
    """Return whether that very process still runs; a zombie is dead, an unknown start time errs towards alive.

    Pid 1 is a run only by its start time too, as in a container whose one program it is.
    """
    if process.pid < 1 or (process.pid == 1 and not process.start) or process.boot_id != read_boot_id():
        return False
    entry = read_process(process.pid)
    if entry is not None:
        return not entry.is_dead and (not process.start or entry.start == process.start)
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # alive, and another user's, whose entry may be hidden (hidepid, proc(5))
    return True


def read_process(pid: int) -> ProcessEntry | None:
    """Return a process, None when there is none or the system hides it."""
    if sys.platform == "darwin":
        found = darwin.read_kinfo(pid)
        return _from_kinfo(found) if found is not None else None
    else:  # noqa: RET505 - mypy takes what follows for unreachable otherwise
        return _read_stat(pid)


def list_processes(uid: int | None = None, *, since: float = 0.0) -> Iterator[ProcessEntry]:
    """Give every process that the system shows, or those of one user; with `since` those that started no earlier."""
    if sys.platform == "darwin":
        found = (_from_kinfo(found) for found in darwin.list_kinfo() if uid in {None, found.uid})
        yield from (entry for entry in found if float(entry.start) >= since)
    else:
        for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is needed
            entry = _read_stat(int(name), only_uid=uid, since=since) if name.isdigit() else None
            if entry is not None:
                yield entry


def list_children() -> list[int]:
    """Return the pids of this process's children, by a quick look where the system has one (proc_tid_children(5))."""
    try:
        files = [Path(found.path, "children") for found in os.scandir("/proc/self/task")]
        return [int(pid) for file in files for pid in file.read_text("ascii").split()]
    except OSError:
        return [entry.pid for entry in list_processes() if entry.parent == os.getpid()]


def read_mark(pid: int, name: str) -> str:
    """Return a variable of the environment a process was started with, "" where it can't be read (macOS: never)."""
    with contextlib.suppress(OSError):
        wanted = f"{name}=".encode()
        for pair in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if pair.startswith(wanted):
                return pair[len(wanted) :].decode("utf-8", "replace")
    return ""


def _read_stat(pid: int, only_uid: int | None = None, since: float = 0.0) -> ProcessEntry | None:
    """Return fields 3 to 6 and 22 of /proc/PID/stat, read behind the last ")" (proc_pid_stat(5)).

    A run that follows a dead one reads those of all processes, so this is kept quick.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = os.read(descriptor, _LONGEST_STAT)
        finally:
            os.close(descriptor)
        fields = content[content.rindex(b")") + 2 :].split(None, 20)
        if since and int(fields[19]) < since:
            return None
        uid = os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116 - a Path costs as much as the rest
        if only_uid not in {None, uid}:
            return None
        return ProcessEntry(
            pid=pid,
            parent=int(fields[1]),
            group=int(fields[2]),
            session=int(fields[3]),
            start=fields[19].decode("ascii"),
            uid=uid,
            is_dead=fields[0] in _DEAD,
        )
    return None


if sys.platform == "darwin":

    def _from_kinfo(found: darwin.Kinfo) -> ProcessEntry:
        session = 0
        with contextlib.suppress(OSError):
            session = os.getsid(found.pid)
        return ProcessEntry(
            pid=found.pid,
            parent=found.parent,
            group=found.group,
            session=session,
            start=found.start,
            uid=found.uid,
            is_dead=found.is_zombie,
        )
