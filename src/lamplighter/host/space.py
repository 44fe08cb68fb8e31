"""How much room a disk has left."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lamplighter.host.files import disk_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Bytes that this user may still write and bytes in all; files likewise, 0 in all where there is no such limit."""

    free: int
    total: int
    free_files: int
    total_files: int


def read_space(folder: Path) -> Space:
    """Return how much room there is on the disk of a folder (statvfs(3)); raises DiskError."""
    try:
        found = os.statvfs(folder)
    except OSError as error:
        raise disk_error(folder, error) from error
    return Space(
        free=found.f_bavail * found.f_frsize,
        total=found.f_blocks * found.f_frsize,
        free_files=found.f_favail,
        total_files=found.f_files,
    )
