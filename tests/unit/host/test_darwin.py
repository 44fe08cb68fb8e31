"""What macOS says, read from bytes laid out as its headers say; never tried on a Mac."""

from __future__ import annotations

import errno
import struct
import sys

import pytest

from lamplighter.errors import InternalError
from lamplighter.host.darwin import (
    Kinfo,
    list_kinfo,
    read_boot_session,
    read_disk,
    read_kinfo,
    rename_new,
    swap,
    wait_for_exit,
)

KERN_PROC_PID_4711 = (1, 14, 1, 4711)
KERN_PROC_ALL = (1, 14, 0)
NOTE_EXIT, EV_ONESHOT, EV_ERROR = 0x8000_0000, 0x10, 0x4000


def kinfo(pid: int, *, start: tuple[int, int] = (1_796_000_000, 7), state: int = 2) -> bytes:
    """Return a struct kinfo_proc, field by field as in sys/proc.h and sys/sysctl.h for 64 bits.

    extern_proc takes 296 bytes; eproc 352: session pointers, _pcred with a lock of 72 bytes, _ucred, vmspace, then ids.
    """
    process = struct.pack("<qi4x", *start)  # p_un.__p_starttime
    process += struct.pack("<QQi", 1, 2, 0x4004)  # p_vmspace, p_sigacts, p_flag
    process += struct.pack("<b3xiii", state, pid, 0, 0)  # p_stat, p_pid, p_oppid, p_dupfd
    process += b"\xaa" * (243 - len(process)) + b"Python\0".ljust(17, b"\0") + b"\0" * 36  # …, p_comm, …
    assert len(process) == 296
    credentials = b"\0" * 72 + struct.pack("<QIIIIi4x", 5, 502, 502, 20, 20, 1)  # _pcred: lock, p_ruid and so on
    user = struct.pack("<iIh2x", 1, 501, 1) + struct.pack("<16I", 20, *[0] * 15)  # _ucred: cr_ref, cr_uid, groups
    other = struct.pack("<QQ", 8, 9) + credentials + user + b"\0" * 4 + b"\0" * 64  # vmspace is aligned to 8
    other += struct.pack("<iih2x", 4242, 4243, 0)  # e_ppid, e_pgid, e_jobc
    return (process + other).ljust(648, b"\0")


def test_a_process_is_read_from_a_kinfo_proc() -> None:
    """Pid, parent, group, user, start to the microsecond."""
    found = read_kinfo(4711, lambda name: kinfo(4711) if name == KERN_PROC_PID_4711 else b"")
    assert found is not None
    assert (found.pid, found.parent, found.group, found.uid) == (4711, 4242, 4243, 501)
    assert (found.start, found.is_zombie) == ("1796000000.000007", False)


def test_two_starts_a_microsecond_apart_are_two_processes() -> None:
    """`ps -o lstart` would tell seconds only (gascity issue 4854)."""
    first, second = Kinfo(kinfo(5, start=(1_796_000_000, 7))), Kinfo(kinfo(5, start=(1_796_000_000, 8)))
    assert first.start != second.start


def test_a_zombie_is_known_by_its_state() -> None:
    """SZOMB is 5."""
    assert Kinfo(kinfo(5, state=5)).is_zombie


def test_no_entry_is_no_process() -> None:
    """Sysctl answers with nothing for a pid that nobody has."""
    assert read_kinfo(4711, lambda _: b"") is None


def test_the_entry_of_another_pid_is_none_of_ours() -> None:
    """An answer about somebody else is not taken."""
    assert read_kinfo(4711, lambda _: kinfo(4712)) is None


def test_every_process_is_listed_and_the_kernel_itself_left_out() -> None:
    """Pid 0 is the kernel's own."""
    content = kinfo(0) + kinfo(1) + kinfo(4711)
    assert [entry.pid for entry in list_kinfo(lambda name: content if name == KERN_PROC_ALL else b"")] == [1, 4711]


@pytest.mark.parametrize("content", [b"x", kinfo(4711)[:-1], kinfo(4711) + b"x", b"\0" * 492])
def test_an_answer_of_another_size_fails_and_is_not_passed_over(content: bytes) -> None:
    """A kernel with another struct must not make identity checks silently weaker."""
    with pytest.raises(InternalError):
        read_kinfo(4711, lambda _: content)


def test_the_boot_session_is_read() -> None:
    """As text, without the byte that ends it."""
    name = "kern.bootsessionuuid"
    assert read_boot_session(lambda asked: b"6E1A-7C\0" if asked == name else b"") == "6E1A-7C"


def test_a_missing_boot_session_fails_and_is_not_skipped() -> None:
    """Without it nothing could tell the process of this boot from one of the last."""
    with pytest.raises(InternalError):
        read_boot_session(lambda _: b"\0")


def statfs(kind: bytes, *, is_local: bool) -> bytes:
    """Return a struct statfs64 (sys/mount.h)."""
    head = struct.pack("<IiQQQQQ", 4096, 1_048_576, 1, 1, 1, 1, 1) + struct.pack("<iiII", 16, 17, 501, 25)
    flags = 0x0400_0000 | (0x1000 if is_local else 0)
    body = head + struct.pack("<II", flags, 0) + kind.ljust(16, b"\0") + b"/System/Volumes/Data".ljust(1024, b"\0")
    return body.ljust(2168, b"\0")


@pytest.mark.parametrize(
    ("kind", "is_local"), [(b"apfs", True), (b"smbfs", False), (b"nfs", False), (b"macfuse", False)]
)
def test_a_disk_is_read_from_a_statfs(kind: bytes, is_local: bool) -> None:
    """Its type, and whether MNT_LOCAL is set."""
    assert read_disk("/Users/me", lambda _: statfs(kind, is_local=is_local)) == (kind.decode(), is_local)


def test_an_exit_ends_the_wait() -> None:
    """NOTE_EXIT comes as an event."""
    asked = []

    def watch(pid: int, seconds: float) -> tuple[int, int]:
        asked.append((pid, seconds))
        return EV_ONESHOT, 0

    assert wait_for_exit(4711, 0.05, watch)
    assert asked == [(4711, 0.05)]


def test_no_event_is_no_exit() -> None:
    """The time has passed in the kernel already."""
    assert not wait_for_exit(4711, 0.05, lambda *_: None, _never)


def test_a_process_that_is_gone_before_it_is_watched_has_ended() -> None:
    """ESRCH comes as an event that is an error."""
    assert wait_for_exit(4711, 0.05, lambda *_: (EV_ERROR, errno.ESRCH), _never)


def test_a_process_that_may_not_be_watched_is_waited_for_blindly() -> None:
    """EACCES is no exit, and the time is waited, so that nobody spins."""
    waits: list[float] = []
    assert not wait_for_exit(4711, 0.05, lambda *_: (EV_ERROR, errno.EACCES), waits.append)
    assert waits == [0.05]


def test_where_there_is_no_kqueue_the_wait_fails_and_is_not_skipped() -> None:
    """On another system the real call says so."""
    if sys.platform != "darwin":
        with pytest.raises(InternalError):
            wait_for_exit(4711, 0.05)


def _never(seconds: float) -> None:
    raise AssertionError(seconds)


@pytest.mark.parametrize("number", [0, errno.EEXIST, errno.ENOTSUP])
def test_a_rename_that_swaps_or_never_replaces_is_asked_for_by_its_flag(number: int) -> None:
    """renameatx_np(2) with RENAME_SWAP in a folder, RENAME_EXCL from anywhere; its error is passed on."""
    asked = []

    def rename(folder: int, source: str, target: str, flags: int) -> int:
        asked.append((folder, source, target, flags))
        return number

    assert swap("new", "old", folder=7, rename=rename) == number
    assert rename_new("/a", "/b", rename=rename) == number
    assert asked == [(7, "new", "old", 2), (-2, "/a", "/b", 4)]
