"""What a holder leaves in the lock folder while it holds: the generation in the lock file, its record in owner.json.

Only for the process that holds the lock. Readers see one whole record or the one before, and on a full disk both are
still written, once they have been there.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from lamplighter.engine.claim import GENERATION_DIGITS, Claim, read_generation, read_inode
from lamplighter.engine.owner import OWNER_FILE, Owner, plausible, render_owner
from lamplighter.host.disk import exchange

SPARE_FILE = "owner.spare"
_TRIES = 100


def write_next_generation(file: int, *, floor: int) -> int:
    """Write a generation above `floor` and the one that stands there, in place, which needs no room; return it."""
    generation = 1 + max(plausible(read_generation(file)), floor)
    os.pwrite(file, f"{generation:0{GENERATION_DIGITS}d}\n".encode(), 0)
    os.ftruncate(file, GENERATION_DIGITS + 1)
    return generation


def read_claim(path: Path, folder: int, file: int, owner: Owner) -> Claim:
    """Return what the holder of these two descriptors may claim."""
    return Claim(
        folder=path,
        generation=owner.generation,
        nonce=owner.nonce,
        folder_inode=read_inode(folder) or (0, 0),
        file_inode=read_inode(file) or (0, 0),
    )


def write_owner(folder: int, owner: Owner) -> None:
    """Replace owner.json as a whole, in the folder of this descriptor, by swapping it with a spare file."""
    spare = _open_spare(folder)
    try:
        content = memoryview(render_owner(owner))
        while content:
            content = content[os.write(spare, content) :]
        os.ftruncate(spare, os.lseek(spare, 0, os.SEEK_CUR))
    finally:
        os.close(spare)
    if not (_is_plain(folder) and exchange(SPARE_FILE, OWNER_FILE, folder=folder)):
        os.replace(SPARE_FILE, OWNER_FILE, src_dir_fd=folder, dst_dir_fd=folder)


def _is_plain(folder: int) -> bool:
    """Return whether the record is a file; anything else in its place is not kept as the spare."""
    try:
        return stat.S_ISREG(os.stat(OWNER_FILE, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _open_spare(folder: int) -> int:
    """Open the spare file, a new one in place of anything that is not a plain file with this one name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    for _ in range(_TRIES):
        try:
            file = os.open(SPARE_FILE, flags, 0o600, dir_fd=folder)
        except OSError as error:
            if error.errno not in {errno.ELOOP, errno.ENXIO}:  # a link, a FIFO
                raise
        else:
            found = os.fstat(file)
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                return file
            os.close(file)
        os.unlink(SPARE_FILE, dir_fd=folder)
    raise OSError(errno.EEXIST, "it is being replaced again and again", SPARE_FILE)
