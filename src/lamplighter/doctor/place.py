"""Where a workspace is: whose, writable, on what kind of disk, with how much room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from lamplighter.doctor.finding import Finding, good, wrong
from lamplighter.errors import UsageError
from lamplighter.host.disk import find_disk_trouble
from lamplighter.host.files import current_user, read_owner
from lamplighter.host.space import Space

_LEAST_BYTES, _PART, _LEAST_FILES = 512_000_000, 20, 1_000


def look_at_owner(folder: Path, *, user: int | None = None) -> Iterator[Finding]:
    """Find whether the workspace is this user's: what writes refuses every other, root included."""
    owner, user = read_owner(folder), current_user() if user is None else user
    if owner == user:
        yield good("owner", f"{folder} belongs to this user")
    else:
        yield wrong("owner", f"{folder} belongs to user {owner}, and this is user {user}", "run it as its owner")


def refuse_other_eyes(folder: Path) -> None:
    """Raise UsageError where this user is not the one who is to write there: what they may says nothing of it."""
    if read_owner(folder) != current_user():
        raise UsageError(str(folder), "only its owner can tell", "run it as its owner")


def look_at_folders(folders: tuple[Path, ...]) -> Iterator[Finding]:
    """Find whether every folder we write into can be written, or made."""
    closed = [(folder, why) for folder in folders if (why := find_closed(folder))]
    if not closed:
        yield good("folders", f"{', '.join(folder.name for folder in folders)} can be written")
    for folder, why in closed:
        yield wrong("folders", f"{folder} {why}", "give it back to its owner, with chmod u+rwx")


def find_closed(folder: Path, *, may: Callable[[Path, int], bool] = os.access) -> str:
    """Return why a folder cannot be written, or made where it is missing, "" where it can; nothing is tried."""
    there = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    if not there.is_dir():
        return "is in the way: this is no folder" if there == folder else f"cannot be made: {there} is no folder"
    if may(there, os.R_OK | os.W_OK | os.X_OK):
        return ""
    return "cannot be written" if there == folder else f"cannot be made: {there} cannot be written"


def look_at_state_disk(state_dir: Path) -> Iterator[Finding]:
    """Find whether locks and the database can be relied on where they are."""
    trouble = find_disk_trouble(state_dir)
    if trouble:
        remedy = "name a folder on a local disk by state_dir, and move what is in it there"
        yield wrong("state disk", f"{state_dir}: {trouble}", remedy)
    else:
        yield good("state disk", f"{state_dir.name} is on a local disk that nothing copies to and fro")


def judge_space(where: Path, space: Space) -> Finding:
    """Return whether a disk has room for what runs leave: half a gigabyte, or a twentieth of a small one."""
    least = min(_LEAST_BYTES, space.total // _PART)
    few_files = space.total_files > 0 and space.free_files < min(_LEAST_FILES, space.total_files // _PART)
    left = f"room for {space.free_files} files" if few_files else f"{space.free // 1_000_000:,} MB"
    if space.free < least or few_files:
        return wrong("disk", f"{where}: {left} left", "free some space; lamplighter stock clean removes old drafts")
    return good("disk", f"{left} left for {where}")
