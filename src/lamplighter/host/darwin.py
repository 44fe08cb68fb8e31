"""What macOS says of processes, boots and disks, by sysctl(3) and statfs(2). Never tried on a Mac.

Every function takes the call that asks the system, so that the reading of an answer is tested with recorded bytes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import time
from collections.abc import Callable

from lamplighter.errors import InternalError

Ask = Callable[[tuple[int, ...]], bytes]
AskByName = Callable[[str], bytes]
AskDisk = Callable[[str], bytes]
Rename = Callable[[int, str, str, int], int]  # folder, two names and flags in; 0 or the error's number out
Watch = Callable[[int, float], "tuple[int, int] | None"]  # pid and seconds in; flags and data of the event out

_CTL_KERN, _KERN_PROC, _KERN_PROC_ALL, _KERN_PROC_PID = 1, 14, 0, 1
_ZOMBIE = 5  # SZOMB, sys/proc.h
# struct kinfo_proc of 64-bit macOS (sys/sysctl.h): p_starttime, p_stat and p_pid of extern_proc, then of eproc the
# uid in e_ucred, e_ppid and e_pgid.
_KINFO_BYTES = 648
_START, _STATE, _PID, _UID, _PARENT, _GROUP = 0, 36, 40, 420, 560, 564
# struct statfs (sys/mount.h): f_flags and f_fstypename
_STATFS_BYTES = 2168
_FLAGS, _TYPE = 64, slice(72, 88)
_MNT_LOCAL = 0x1000
_AT_FDCWD = -2  # sys/fcntl.h
_RENAME_SWAP, _RENAME_EXCL = 2, 4  # sys/stdio.h
_EV_ERROR = 0x4000  # sys/event.h


class Kinfo:
    """One struct kinfo_proc: start is seconds and microseconds since 1970, as the kernel keeps it."""

    __slots__ = ("group", "is_zombie", "parent", "pid", "start", "uid")

    def __init__(self, content: bytes) -> None:
        """Read the fields; raises struct.error for what is too short."""
        seconds, micros = struct.unpack_from("<qi", content, _START)
        self.start = f"{seconds}.{micros:06}"
        self.is_zombie = content[_STATE] == _ZOMBIE
        (self.pid,) = struct.unpack_from("<i", content, _PID)
        (self.uid,) = struct.unpack_from("<I", content, _UID)
        self.parent, self.group = struct.unpack_from("<ii", content, _PARENT)


def read_kinfo(pid: int, ask: Ask | None = None) -> Kinfo | None:
    """Return what the kernel knows of a process, None when there is none; raises InternalError for an odd answer."""
    found = _split((ask or _sysctl)((_CTL_KERN, _KERN_PROC, _KERN_PROC_PID, pid)))
    return next((entry for entry in found if entry.pid == pid), None)


def list_kinfo(ask: Ask | None = None) -> tuple[Kinfo, ...]:
    """Return every process; raises InternalError for an odd answer."""
    return tuple(entry for entry in _split((ask or _sysctl)((_CTL_KERN, _KERN_PROC, _KERN_PROC_ALL))) if entry.pid > 0)


def read_boot_session(ask: AskByName | None = None) -> str:
    """Return the id of this boot; raises InternalError when the system has none: nothing could tell two boots apart."""
    found = (ask or _sysctl_by_name)("kern.bootsessionuuid").rstrip(b"\0").decode("ascii", "replace")
    if not found:
        raise InternalError("kern.bootsessionuuid", "this system does not say which boot it is in")
    return found


def read_disk(path: str, ask: AskDisk | None = None) -> tuple[str, bool]:
    """Return the file system's type, and whether it is on a disk of this machine."""
    content = (ask or _statfs)(path)
    (flags,) = struct.unpack_from("<I", content, _FLAGS)
    return content[_TYPE].partition(b"\0")[0].decode("ascii", "replace"), bool(flags & _MNT_LOCAL)


def swap(first: str, second: str, *, folder: int, rename: Rename | None = None) -> int:
    """Swap two names in a folder in one step; return 0, else the number of the error (renameatx_np(2))."""
    return (rename or _rename)(folder, first, second, _RENAME_SWAP)


def rename_new(source: str, target: str, rename: Rename | None = None) -> int:
    """Rename in one step to a name that nothing has; return 0, else the number of the error (renameatx_np(2))."""
    return (rename or _rename)(_AT_FDCWD, source, target, _RENAME_EXCL)


def wait_for_exit(
    pid: int, seconds: float, watch: Watch | None = None, wait: Callable[[float], None] | None = None
) -> bool:
    """Return whether a process ended within `seconds`; where the system lets us not watch it, that time has passed.

    kqueue(2), NOTE_EXIT: it comes once, and at once when the process is a zombie already. A failure to watch comes as
    an event too, with the error's number: ESRCH means that there is no such process any more.
    """
    event = (watch or _watch_exit)(pid, seconds)
    if event is None:
        return False
    flags, number = event
    if not flags & _EV_ERROR or number == errno.ESRCH:
        return True
    (wait or time.sleep)(seconds)
    return False


def _split(content: bytes) -> list[Kinfo]:
    if len(content) % _KINFO_BYTES:
        raise InternalError("kern.proc", f"{len(content)} bytes are no whole number of entries of {_KINFO_BYTES}")
    return [Kinfo(content[at : at + _KINFO_BYTES]) for at in range(0, len(content), _KINFO_BYTES)]


def _sysctl(name: tuple[int, ...]) -> bytes:  # only on a Mac
    """Return a value of sysctl(3); the list of processes may grow between the two calls, so there is room to spare."""
    library = ctypes.CDLL(None, use_errno=True)
    numbers = (ctypes.c_int * len(name))(*name)
    size = ctypes.c_size_t(0)
    _check(library.sysctl(numbers, len(name), None, ctypes.byref(size), None, 0))
    size = ctypes.c_size_t(size.value + 64 * _KINFO_BYTES)
    buffer = ctypes.create_string_buffer(size.value)
    _check(library.sysctl(numbers, len(name), buffer, ctypes.byref(size), None, 0))
    return buffer.raw[: size.value]


def _sysctl_by_name(name: str) -> bytes:  # only on a Mac
    library = ctypes.CDLL(None, use_errno=True)
    size = ctypes.c_size_t(256)
    buffer = ctypes.create_string_buffer(size.value)
    _check(library.sysctlbyname(name.encode("ascii"), buffer, ctypes.byref(size), None, 0))
    return buffer.raw[: size.value]


def _statfs(path: str) -> bytes:  # only on a Mac
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "statfs$INODE64", library.statfs)  # the plain name is the old struct on Intel
    buffer = ctypes.create_string_buffer(_STATFS_BYTES)
    _check(call(os.fsencode(path), buffer))
    return buffer.raw


def _rename(folder: int, source: str, target: str, flags: int) -> int:  # only on a Mac
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameatx_np", None)
    if call is None:
        return errno.ENOSYS
    return 0 if call(folder, os.fsencode(source), folder, os.fsencode(target), flags) == 0 else ctypes.get_errno()


def _check(result: int) -> None:  # only on a Mac
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _watch_exit(pid: int, seconds: float) -> tuple[int, int] | None:  # only on a Mac
    if sys.platform != "darwin":
        raise InternalError("kqueue", "this system has none")
    else:  # noqa: RET506 - mypy takes what follows for unreachable otherwise
        import select  # noqa: PLC0415 - the rest of this module is read elsewhere too

        event = select.kevent(
            pid,
            filter=select.KQ_FILTER_PROC,
            flags=select.KQ_EV_ADD | select.KQ_EV_ONESHOT,
            fflags=select.KQ_NOTE_EXIT,
        )
        queue = select.kqueue()
        try:
            found = queue.control([event], 1, seconds)
        except ProcessLookupError:
            return _EV_ERROR, errno.ESRCH
        finally:
            queue.close()
        return (found[0].flags, found[0].data) if found else None
