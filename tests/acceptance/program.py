"""The installed program, run as a user runs it: another process, another folder, an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tests.simulators.clock import daytime_zone

_ZONE = daytime_zone()
Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the program ended, and what it printed."""

    code: int
    out: str
    err: str

    def value(self) -> dict[str, Json]:
        """Return the one JSON value that was printed."""
        return cast("dict[str, Json]", json.loads(self.out))


def run(*arguments: str | Path, cwd: Path | None = None, program: Path | None = None) -> Ended:
    """Run `lamplighter` and return how it ended."""
    executable = program or Path(sys.executable).parent / "lamplighter"
    done = subprocess.run(
        [executable, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TZ": _ZONE},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return every path below a folder with its mode, its modification time in ns and its bytes."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return found
