"""The disk a folder is on: whether locks and databases can be relied on there, and what rename(2) alone cannot do."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

if sys.platform == "darwin":
    from lamplighter.host import darwin

_NETWORK_TYPES = frozenset(
    {
        "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
        "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs3", "nfs4", "smb2", "smb3", "smbfs", "webdav",
    }
)  # fmt: skip
# Folders that a program copies elsewhere and back: a lock file that is replaced by a copy of itself holds nothing.
_SYNCED = (
    ("Mobile Documents", "iCloud Drive"),
    ("CloudStorage", "a cloud drive"),
    ("Dropbox", "Dropbox"),
    ("OneDrive", "OneDrive"),
    ("Google Drive", "Google Drive"),
    ("GoogleDrive", "Google Drive"),
    ("Nextcloud", "Nextcloud"),
    ("ownCloud", "ownCloud"),
    ("pCloudDrive", "pCloud"),
    ("Syncthing", "Syncthing"),
)
_SYNC_MARKS = ((".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox"))
_AT_FDCWD, _RENAME_NOREPLACE, _RENAME_EXCHANGE = -100, 1, 2  # rename(2)
# What says that system or file system knows no such rename.
_CANNOT = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})
_MOUNTS = "/proc/self/mountinfo"
# To name a thing needs no right to read it, and a FIFO is not waited for.
if sys.platform == "linux":
    _LOOK = os.O_PATH | os.O_CLOEXEC
else:
    _LOOK = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def find_disk_trouble(folder: Path) -> str:
    """Return why a lock in `folder` could not be relied on, "" where it can: a network disk or a synced folder."""
    real = Path(os.path.realpath(folder))
    if sys.platform == "darwin":
        there = next((path for path in (real, *real.parents) if path.exists()), real)
        kind, is_local = darwin.read_disk(str(there))
        network = "" if is_local else kind
    else:
        network = find_network_type(real, Path(_MOUNTS))
    if network:
        return f"it is on a network disk ({network}), where locks do not hold"
    synced = find_sync(real)
    return f"it is in a folder that {synced} copies to and fro" if synced else ""


def find_network_type(folder: Path, mounts: Path) -> str:
    """Return the type of the network file system `folder` is on, "" where it is local or the system does not say."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    name = f"{folder}/"
    longest, found = -1, ""
    for line in lines:
        place, kind = _parse_mount(line)
        if kind and len(place) >= longest and name.startswith(place):
            longest, found = len(place), kind
    return found if found in _NETWORK_TYPES else ""


def _parse_mount(line: str) -> tuple[str, str]:
    """Return mount point, ending in a slash, and type of one line of mountinfo (proc(5)); spaces are octal there."""
    left, _, right = line.partition(" - ")
    fields, kinds = left.split(" "), right.split(" ")
    if len(fields) < 5 or not kinds[0]:
        return "", ""
    place = fields[4]
    if "\\" in place:
        for octal, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            place = place.replace(octal, letter)
    return f"{place.rstrip('/')}/", kinds[0]


def read_kernel_device(path: Path, mounts: Path = Path(_MOUNTS)) -> str:
    """Return the device of `path` as the kernel lists it beside locks, such as "fe:01"; "" where there is nothing.

    Not always that of stat(2): btrfs and overlayfs give each subvolume or layer a device of its own there, while
    proc_locks(5) and the third field of mountinfo name that of the mount.
    """
    try:
        descriptor = os.open(path, _LOOK)
    except OSError:
        return ""
    try:
        device = os.fstat(descriptor).st_dev
        with contextlib.suppress(OSError, ValueError, IndexError):
            about = Path(f"/proc/self/fdinfo/{descriptor}").read_text("ascii").split()
            number = about[about.index("mnt_id:") + 1]
            for line in mounts.read_text("utf-8", "surrogateescape").splitlines():
                if line.startswith(f"{number} "):
                    major, _, minor = line.split(" ", 3)[2].partition(":")
                    return f"{int(major):02x}:{int(minor):02x}"
        return f"{os.major(device):02x}:{os.minor(device):02x}"
    finally:
        os.close(descriptor)


def find_sync(folder: Path) -> str:
    """Return the name of the program that synchronises `folder`, "" where none is known to."""
    for part in folder.parts:
        for name, program in _SYNCED:
            if part.startswith(name) and part[len(name) : len(name) + 1] in {"", " ", "-"}:
                return program
    place = str(folder)
    while True:
        for mark, program in _SYNC_MARKS:
            if os.path.lexists(f"{place}/{mark}"):
                return program
        if place in {"", "/"}:
            return ""
        place = place.rpartition("/")[0]


def exchange(first: str, second: str, *, folder: int) -> bool:
    """Swap two names in a folder in one step; return False where the system or the disk can't, or one is missing.

    No file is freed by it, as one is by rename(2) over another: that took ext4 milliseconds on a busy machine, and the
    next record needs no room on a full disk.
    """
    if sys.platform == "darwin":
        return darwin.swap(first, second, folder=folder) == 0
    else:  # noqa: RET505 - mypy takes what follows for unreachable otherwise
        return _renameat2(first, second, _RENAME_EXCHANGE, folder=folder) == 0


def rename_new(source: str, target: str) -> int:
    """Rename in one step to a name that nothing has; return 0, else the number of the error, EEXIST when it is taken.

    EINVAL, ENOSYS or ENOTSUP where system or file system knows no such rename; nothing was changed then.
    """
    if sys.platform == "darwin":
        return darwin.rename_new(source, target)
    else:  # noqa: RET505 - mypy takes what follows for unreachable otherwise
        return _renameat2(source, target, _RENAME_NOREPLACE, folder=_AT_FDCWD)


def move_new(source: Path, target: Path, rename: Callable[[str, str], int] = rename_new) -> None:
    """Rename to a name that nothing has; raises OSError.

    It is one step where `rename` can do that, else a look and a rename, which between them replaces an empty folder.
    """
    number = rename(str(source), str(target))
    if number in _CANNOT:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        os.rename(source, target)
    elif number:
        raise OSError(number, os.strerror(number))


def _renameat2(source: str, target: str, flags: int, *, folder: int) -> int:
    import ctypes  # noqa: PLC0415 - an eighth of what importing the lock costs, and asking for a lock needs none

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return errno.ENOSYS
    return 0 if call(folder, os.fsencode(source), folder, os.fsencode(target), flags) == 0 else ctypes.get_errno()
