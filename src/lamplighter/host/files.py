"""Files that are whole or not there: atomic writes, capped reads, moves that never replace."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from lamplighter.errors import DiskError, InputError
from lamplighter.host.disk import move_new

TEMPORARY_PREFIX = ".tmp-"
DISK_TROUBLES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
_UNPLAIN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PRIVATE_NAME = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}lamplighter-(?P<space>[0-9]+)-(?P<pid>[0-9]{{1,9}})-.+")
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR})
# A file system that cannot sync a folder, or a folder that may be entered but not read (PostgreSQL, fsync_fname).
_NO_FOLDER_SYNC = frozenset(
    {errno.EINVAL, errno.EBADF, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES, errno.EPERM}
)
_REMEDIES = {
    errno.EACCES: "give this user the right to it",
    errno.EPERM: "give this user the right to it",
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "the quota is used up: free some space",
    errno.EFBIG: "raise the limit for file sizes (ulimit -f)",
    errno.EROFS: "the disk is read-only: move the workspace or set state_dir",
    errno.EIO: "the disk may be failing: look after it and its backup",
    errno.EEXIST: "move away what is in its place",
    errno.ENOTEMPTY: "move away what is in its place",
    errno.EISDIR: "move away what is in its place",
    errno.ELOOP: "remove the link in its place",
    errno.ENOENT: "see that its folder is there",
    errno.ENOTDIR: "see that its folder is there",
    errno.EXDEV: "keep both on one disk",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def write_atomic(file: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Replace `file` by `content` in one step, durably; raises DiskError and leaves no temporary behind."""
    temporary_file = file.with_name(f"{TEMPORARY_PREFIX}{file.name}.{os.getpid()}")
    with _disk_errors(file):
        try:
            temporary_file.unlink(missing_ok=True)  # left by a killed process with our pid, or a link laid there
            descriptor = os.open(temporary_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary_file, file)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary_file.unlink(missing_ok=True)
            raise
    sync_folder(file.parent)


def append_line(file: Path, line: str, *, mode: int = 0o644, durable: bool = True) -> None:
    """Append one line durably, to a new file too; a torn last line left by a killed writer is closed first.

    A line that is not `durable` may be lost when the machine stops, never when the process does; it costs no wait.

    What UTF-8 cannot say (a file name of other bytes) is escaped, so that a log can always name it.
    """
    if "\n" in line:
        raise ValueError("a line holds no line break")
    descriptor = open_to_append(file, mode=mode)
    with _disk_errors(file):
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            _write_all(descriptor, (("\n" if torn else "") + line + "\n").encode("utf-8", "backslashreplace"))
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    if durable and size == 0:
        sync_folder(file.parent)


def read_capped(file: Path, *, limit: int, what: str = "file") -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes; raises InputError or DiskError."""
    content = _read(file, limit + 1, what)
    if len(content) > limit:
        raise InputError(str(file), f"this {what} is larger than {limit:,} bytes")
    return content


def read_start(file: Path, *, length: int, what: str = "file") -> bytes:
    """Return the first `length` bytes of a regular file of any size; raises InputError or DiskError."""
    return _read(file, length, what)


def _read(file: Path, most: int, what: str) -> bytes:
    try:
        with open(file, "rb", opener=open_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise InputError(str(file), f"this {what} is not a regular file")
            return stream.read(most)
    except IsADirectoryError:
        raise InputError(str(file), f"this is a folder, not a {what}") from None
    except OSError as error:
        if error.errno in _ABSENT:
            raise InputError(str(file), f"there is no such {what}") from None
        if error.errno == errno.ENXIO:
            raise InputError(str(file), f"this {what} is not a regular file") from None
        raise disk_error(file, error) from error
    except ValueError as error:
        raise InputError(repr(str(file)), f"no {what} can have such a name: {error}") from None


def list_folder(folder: Path) -> tuple[os.DirEntry[str], ...]:
    """Return what is in a folder by the order of the names, nothing when it is missing; raises DiskError.

    A link to nowhere on the way to it, or what is no folder, is told by its own name: what is behind is not missing.
    """
    with _disk_errors(folder):
        try:
            with os.scandir(folder) as entries:
                return tuple(sorted(entries, key=lambda entry: entry.name))
        except (FileNotFoundError, NotADirectoryError):
            _refuse_in_the_way(folder)
            return ()


def make_folder(folder: Path, *, mode: int = 0o755) -> None:
    """Make `folder` and its parents where they are missing, durably; raises DiskError."""
    with _disk_errors(folder):
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        if missing:
            _refuse_in_the_way(folder)
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


@contextlib.contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """Lend a folder for temporary files that only this user can enter; raises DiskError when it cannot be made.

    It is inside `parent`, without one in the system's place for such. What killed processes left there goes first.
    """
    import tempfile  # noqa: PLC0415 - it loads much, and most commands need no such folder

    try:
        _sweep_private(Path(parent or tempfile.gettempdir()))
        prefix = f"{TEMPORARY_PREFIX}lamplighter-{_pid_space()}-{os.getpid()}-"
        folder = tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise temporary_trouble(error.strerror or str(error)) from error
    with folder as name:
        yield Path(name).resolve()


def _sweep_private(parent: Path) -> None:
    """Remove the private folders of this user's dead processes; another pid namespace is not ours to judge."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            name = _PRIVATE_NAME.fullmatch(entry.name)
            if name and int(name["space"]) == _pid_space() and _is_gone(int(name["pid"])):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        import shutil  # noqa: PLC0415 - it loads much, and there is seldom anything to sweep

                        shutil.rmtree(entry.path, ignore_errors=True)


def _pid_space() -> int:
    """Return the number of the namespace our pids are of, 0 where there are none (pid_namespaces(7))."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def is_plain(path: Path) -> bool:
    """Tell whether a path is UTF-8 text without control characters, which is all that every program takes."""
    return not _UNPLAIN.search(str(path))


def temporary_trouble(cause: str) -> DiskError:
    """Return the error for what went wrong with files that are ours and temporary."""
    return DiskError("the folder for temporary files", cause, "free some space there or set TMPDIR")


def move_folder(source_dir: Path, target_dir: Path) -> None:
    """Rename a folder in one step, durably; raises DiskError when the target exists, never replaces it."""
    with _disk_errors(source_dir):
        if not stat.S_ISDIR(source_dir.lstat().st_mode):  # rename(2) replaces files, of folders only empty ones
            raise NotADirectoryError(errno.ENOTDIR, "this is not a folder")
    with _disk_errors(target_dir):
        try:
            move_new(source_dir, target_dir)
        except FileExistsError:
            raise FileExistsError(errno.EEXIST, "exists already") from None
    sync_folder(target_dir.parent)
    if source_dir.parent != target_dir.parent:
        sync_folder(source_dir.parent)


def sync_folder(folder: Path) -> None:
    """Make the names inside `folder` durable where that can be done; raises DiskError when the disk fails at it."""
    with _disk_errors(folder):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise


def sync_file(file: Path) -> None:
    """Make the content of `file` durable; raises DiskError."""
    with _disk_errors(file):
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_owner(path: Path) -> int:
    """Return the uid that owns `path`; raises DiskError."""
    with _disk_errors(path):
        return path.stat().st_uid


def current_user() -> int:
    """Return the uid this process acts as."""
    return os.geteuid()


def _refuse_in_the_way(folder: Path) -> None:
    """Raise DiskError that names what on the way to a folder is no folder; nothing when it is only missing."""
    for path in (folder, *folder.parents):
        if os.path.lexists(path):
            if not path.exists():
                raise DiskError(str(path), "this link leads nowhere", "bring back what it leads to, or move it away")
            if not path.is_dir():
                raise DiskError(str(path), "this is not a folder", "move it away")
            return


def open_without_waiting(name: str, flags: int) -> int:
    """Open, but not wait for the writer of a FIFO; the opener of a file that may be anything."""
    return os.open(name, flags | os.O_NONBLOCK)


def open_to_append(file: Path, *, mode: int) -> int:
    """Open a file, made where it is missing, to append to it; raises DiskError, also for what is no file.

    A FIFO in its place would otherwise wait for a reader for ever, or be filled until it does.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with _disk_errors(file):
        try:
            descriptor = os.open(file, flags, mode)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a socket, a FIFO
                raise _no_regular_file(file) from None
            raise
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
            os.close(descriptor)
            raise _no_regular_file(file)
        os.set_blocking(descriptor, True)
    return descriptor


def _no_regular_file(file: Path) -> DiskError:
    return DiskError(str(file), "this is not a regular file", "move away what is in its place")


def _write_all(descriptor: int, content: bytes) -> None:
    """Write until the last byte; a disk that fills up takes a part first and says so only the next time."""
    while content:
        content = content[os.write(descriptor, content) :]


@contextlib.contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    """Turn what the operating system says about `path` into one line."""
    try:
        yield
    except OSError as error:
        raise disk_error(path, error) from error


def disk_error(path: Path, error: OSError) -> DiskError:
    """Return the line for what the operating system said about `path`."""
    return DiskError(str(path), error.strerror or str(error), _REMEDIES.get(error.errno or 0, ""))
