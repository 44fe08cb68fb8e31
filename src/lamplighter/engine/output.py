"""Declared output: the files a command said it would leave, and which of them are new or changed since it began."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lamplighter.errors import render_line
from lamplighter.value import value

_WILD = frozenset("*?[")


@value
class Mark:
    """What tells a file from a later one of its name."""

    modified_ns: int
    size: int
    inode: int


def read_outputs(folder: Path, pattern: str) -> dict[str, Mark]:
    """Return the files that match a pattern, seen from `folder`; what is empty or no file is no output.

    "" matches nothing; an absolute pattern and one with .. look elsewhere; what cannot be looked into does not match.
    """
    found = {}
    for path in _list_paths(folder, pattern) if pattern else ():
        try:
            entry = path.stat()
        except (OSError, ValueError):
            continue
        if not _explain(entry):
            name = str(path).removeprefix(f"{folder}/")
            found[name] = Mark(modified_ns=entry.st_mtime_ns, size=entry.st_size, inode=entry.st_ino)
    return found


def choose_new(before: Mapping[str, Mark], after: Mapping[str, Mark]) -> tuple[str, ...]:
    """Return the names of the files that are new or changed, in order, each as one line."""
    return tuple(render_line(name) for name in sorted(after) if _is_new(before.get(name), after[name]))


def _is_new(before: Mark | None, after: Mark) -> bool:
    """Tell whether a file was written: one that only has an older time now was touched, no more."""
    return (
        before is None
        or (before.size, before.inode) != (after.size, after.inode)
        or after.modified_ns > before.modified_ns
    )


def find_missing(folder: Path, names: Iterable[str]) -> str:
    """Return what is wrong with the first of some outputs that is not there, "" when all are."""
    for name in names:
        path = folder / name
        try:
            entry = path.stat()
        except (OSError, ValueError):
            return f"it names the output {name!r}, which is not there"
        if why := _explain(entry):
            return f"it names the output {name!r}, which {why}"
    return ""


def explain_none(folder: Path, pattern: str) -> str:
    """Return why what matches a pattern is no output, for the first that is none, "" when nothing matches."""
    for path in sorted(_list_paths(folder, pattern)):
        name = render_line(str(path).removeprefix(f"{folder}/"))
        try:
            why = _explain(path.stat())
        except (OSError, ValueError):
            why = "is a link to nowhere" if os.path.islink(path) else ""  # noqa: PTH114 - never raises
        if why:
            return f"{name} {why}"
    return ""


def _explain(entry: os.stat_result) -> str:
    """Return why what has such an entry is no output, "" when it is one."""
    if stat.S_ISDIR(entry.st_mode):
        return "is a folder"
    if not stat.S_ISREG(entry.st_mode):
        return "is not a regular file"
    return "" if entry.st_size else "is empty"


def _list_paths(folder: Path, pattern: str) -> Iterator[Path]:
    """Give what matches; links to folders are not followed below **, which may lead in a circle."""
    parts = (folder / pattern).parts
    plain = next((at for at, part in enumerate(parts) if _WILD & set(part)), len(parts))
    base, wild = Path(*parts[:plain]), [_mend(part) for part in parts[plain:]]
    if not wild:
        yield base
        return
    try:
        yield from base.glob("/".join(wild))
    except OSError:  # a name that is too long, a folder that went away
        return


def _mend(part: str) -> str:
    """Return a part of a pattern with ** as it is taken everywhere: beside other letters it is one *."""
    return part if part == "**" else re.sub(r"\*+", "*", part)
