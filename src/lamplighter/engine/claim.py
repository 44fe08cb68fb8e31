"""The claim: what a worker needs to know to ask whether its run still holds the lock."""

from __future__ import annotations

import os
from pathlib import Path

from lamplighter.engine.holder import LOCK_FILE
from lamplighter.engine.owner import read_owner
from lamplighter.errors import Fenced
from lamplighter.value import value

GENERATION_DIGITS = 20


@value
class Claim:
    """A held lock as others see it: its folder, generation and nonce, device and inode of folder and lock file.

    For another process than the holder: `check` opens and closes the lock file, which would drop the record lock of
    the process that holds it (fcntl(2)).
    """

    folder: Path
    generation: int
    nonce: str
    folder_inode: tuple[int, int]
    file_inode: tuple[int, int]

    def check(self) -> None:
        """Raise Fenced unless the run still holds the lock on disk; call before every commit."""
        try:
            descriptor = os.open(self.folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                generation = read_generation(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise Fenced(str(self.folder), f"the lock is gone: {error.strerror}") from None
        self.check_generation(generation)

    def check_generation(self, generation: int) -> None:
        """Raise Fenced unless folder, file, record and `generation` are those of this claim."""
        try:
            found = (read_inode(self.folder), read_inode(self.folder / LOCK_FILE))
        except OSError as error:
            raise Fenced(str(self.folder), f"the lock is gone: {error.strerror}") from None
        same = found == (self.folder_inode, self.file_inode)
        record = read_owner(self.folder)
        if not same or generation != self.generation or (record is not None and record.nonce != self.nonce):
            raise Fenced(str(self.folder), "the lock was replaced while this run was at work")


def read_inode(path: Path | int) -> tuple[int, int] | None:
    """Return device and inode of a path or descriptor, None when there is nothing."""
    try:
        found = os.fstat(path) if isinstance(path, int) else path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def read_generation(file: int) -> int:
    """Return the number in the lock file, 0 when there is none (empty, garbage, an old bare pid is taken as one)."""
    text = os.pread(file, GENERATION_DIGITS + 1, 0).partition(b"\n")[0].strip()
    return int(text) if text.isdigit() else 0
