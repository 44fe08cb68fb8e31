"""Declared output: the files a command said it would leave, and which of them are new or changed since it began."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
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
        if stat.S_ISREG(entry.st_mode) and entry.st_size:
            name = str(path).removeprefix(f"{folder}/")
            found[name] = Mark(modified_ns=entry.st_mtime_ns, size=entry.st_size, inode=entry.st_ino)
    return found


def choose_new(before: Mapping[str, Mark], after: Mapping[str, Mark]) -> tuple[str, ...]:
    """Return the names of the files that are new or changed, in order, each as one line."""
    return tuple(render_line(name) for name in sorted(after) if after[name] != before.get(name))


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
