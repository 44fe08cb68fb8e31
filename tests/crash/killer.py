"""Runs one lamplighter command and kills its own process at the N-th line of our code: python -m tests.crash.killer.

usage: killer.py N PLANT COMMAND…    N counts lines executed where state changes hands; 0 never kills and prints, as
JSON, the steps worth killing at: the first and the last time each line of code is reached.
PLANT names a planted bug of `tests/crash/planted.py`, or "none".
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from tests.crash.planted import plant

import lamplighter
from lamplighter.cli.main import main as run

_PACKAGE = str(Path(lamplighter.__file__).parent) + os.sep
# Where state changes hands; parsing arguments and drawing pictures cannot leave anything behind.
_FEATURE_PARTS = ("stock", "index", "making", "generate", "brandstate")
_PARTS = ("engine", "publish", "host", *(f"featurepost/{part}.py" for part in _FEATURE_PARTS))
_STEPS = (*(_PACKAGE + part for part in _PARTS), str(Path(__file__).with_name("planted.py")))


class Killer:
    """Counts lines and kills this process at the one it was told."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.first: dict[tuple[str, int], int] = {}
        self.last: dict[tuple[str, int], int] = {}

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
        return sorted(found.items())


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
