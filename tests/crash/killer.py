"""Runs one lamplighter command and kills its own process at the N-th line of our code: python -m tests.crash.killer.

usage: killer.py N PLANT COMMAND…    N counts lines executed where state changes hands; 0 never kills and prints, as
JSON, the steps worth killing at: the first and the last time each line of code is reached, once for each state of the
disk, because where nothing was written in between, dying a line later is the same death.
PLANT names a planted bug of `tests/crash/planted.py`, or "none".
"""

from __future__ import annotations

import json
import os
import signal
import sys
from bisect import bisect_left
from pathlib import Path
from types import FrameType

from tests.crash.planted import plant

import lamplighter
from lamplighter.cli.main import main as run

_PACKAGE = str(Path(lamplighter.__file__).parent) + os.sep
# Where state changes hands; parsing arguments and drawing pictures cannot leave anything behind.
_FEATURE_PARTS = ("stock", "index", "making", "generate", "brandstate")
_PARTS = ("engine", "publish", "host", *(f"featurepost/{part}.py" for part in _FEATURE_PARTS))
# Where files, locks and rows are written; between two lines of these the disk stays as it is.
_WRITING_PARTS = ("host/files.py", "host/database.py", "host/process.py", "engine/lock.py", "publish/folder.py")
_PLANTED = str(Path(__file__).with_name("planted.py"))
_WRITERS = (*(_PACKAGE + part for part in _WRITING_PARTS), _PLANTED)
_STEPS = (*(_PACKAGE + part for part in _PARTS), _PLANTED)


class Killer:
    """Counts lines and kills this process at the one it was told."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.first: dict[tuple[str, int], int] = {}
        self.last: dict[tuple[str, int], int] = {}
        self.writing: list[int] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> Killer | None:
        """Count a line of our own code; follow calls into it only (sys.settrace's protocol)."""
        del argument
        if event == "call":
            return self if frame.f_code.co_filename.startswith(_STEPS) else None
        if event == "line":
            self.count += 1
            line = (frame.f_code.co_filename, frame.f_lineno)
            self.first.setdefault(line, self.count)
            self.last[line] = self.count
            if line[0].startswith(_WRITERS):
                self.writing.append(self.count)
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
        return self

    def steps(self) -> list[tuple[int, str]]:
        """Return the steps worth killing at, each with the file whose line it is, as a path in the package."""
        found = {
            step: file.removeprefix(_PACKAGE)
            for reached in (self.first, self.last)
            for (file, _), step in reached.items()
        }
        kept: dict[int, tuple[int, str]] = {}
        for step, file in sorted(found.items()):
            kept.setdefault(bisect_left(self.writing, step), (step, file))
        return sorted(kept.values())


def main() -> int:
    """Run the command under the killer and return its exit code."""
    killer = Killer(int(sys.argv[1]))
    plant(sys.argv[2])
    sys.settrace(killer)
    try:
        return run(sys.argv[3:])
    finally:
        sys.settrace(None)
        if not killer.at:
            print(json.dumps(killer.steps()), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
