"""Runs one lamplighter command and kills its own process at the N-th line of our code: python -m tests.crash.killer.

usage: killer.py POINT PLANT COMMAND…

POINT is a line of our code and how many times it is reached before the process dies there, as "engine/lock.py:80:2";
"none" never kills and prints, as JSON, the points worth killing at, in the order they are reached: each line's first
and last time, once for each state of the disk, because where nothing was written in between, dying a line later is the
same death. A point is counted by its own line, so that a loop that waits for another process, a turn longer or shorter
in each run, moves no point but its own; of such a loop only the first turn counts.
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
# Turns of these loops are as many as another process is slow.
_WAITS = frozenset({"_wait_unreaped"})
NEVER = "none"
_PLANTED = str(Path(__file__).with_name("planted.py"))
_WRITERS = (*(_PACKAGE + part for part in _WRITING_PARTS), _PLANTED)
_STEPS = (*(_PACKAGE + part for part in _PARTS), _PLANTED)


class Killer:
    """Counts how often each line is reached and kills this process at the point it was told."""

    def __init__(self, point: str) -> None:
        self.point = point
        self.reached: dict[str, list[int]] = {}
        self.count = 0
        self.writing: list[int] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> Killer | None:
        """Count a line of our own code; follow calls into it only (sys.settrace's protocol)."""
        del argument
        if event == "call":
            return self if frame.f_code.co_filename.startswith(_STEPS) else None
        if event == "line":
            self.count += 1
            file = frame.f_code.co_filename
            line = f"{file.removeprefix(_PACKAGE)}:{frame.f_lineno}"
            times = self.reached.setdefault(line, [])
            if not times or frame.f_code.co_name not in _WAITS:
                times.append(self.count)
                if file.startswith(_WRITERS):
                    self.writing.append(self.count)
                if f"{line}:{len(times)}" == self.point:
                    os.kill(os.getpid(), signal.SIGKILL)
        return self

    def points(self) -> list[str]:
        """Return the points worth killing at, in the order they are reached."""
        found = {times[time - 1]: f"{line}:{time}" for line, times in self.reached.items() for time in {1, len(times)}}
        kept: dict[int, str] = {}
        for count, point in sorted(found.items()):
            kept.setdefault(bisect_left(self.writing, count), point)
        return list(kept.values())


def main() -> int:
    """Run the command under the killer and return its exit code."""
    killer = Killer(sys.argv[1])
    plant(sys.argv[2])
    sys.settrace(killer)
    try:
        return run(sys.argv[3:])
    finally:
        sys.settrace(None)
        if killer.point == NEVER:
            print(json.dumps(killer.points()), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
