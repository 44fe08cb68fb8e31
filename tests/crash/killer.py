"""Runs one lamplighter command and kills one of its processes at the N-th line of our code.

usage: LAMPLIGHTER_CRASH=ORDER python -m tests.crash.killer COMMAND…

ORDER is JSON: `point`, `plant`, `report`. A command is two processes, the supervisor and, where our own jobs are at
work, the worker; `tests/guarded/sitecustomize.py` installs the same killer in the worker. A point is a process, a line
of our code and how many times it is reached before that process dies there, as "worker|engine/lock.py:80:2"; "none"
never kills and leaves in the folder `report` a file for each process, the points worth killing it at in the order they
are reached: each line's first and last time, once for each state of the disk, because where nothing was written in
between, dying a line later is the same death. A point is counted by its own line, so that a loop that waits for
another process, a turn longer or shorter in each run, moves no point but its own; of what happens in such a loop only
the first time counts. `plant` names a planted bug of `tests/crash/planted.py`, or "none". A process that is killed
leaves the file "killed" in `report`.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import signal
import sys
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from tests.crash.planted import plant

import lamplighter

ORDER = "LAMPLIGHTER_CRASH"
NEVER = "none"
KILLED = "killed"
SUPERVISOR, WORKER = "supervisor", "worker"
_PACKAGE = str(Path(lamplighter.__file__).parent) + os.sep
# Where state changes hands; parsing arguments and drawing pictures cannot leave anything behind.
_FEATURE_PARTS = ("stock", "index", "making", "generate", "brandstate")
_PARTS = (
    "engine",
    "publish",
    "host",
    "app/running.py",
    "app/working.py",
    *(f"featurepost/{part}.py" for part in _FEATURE_PARTS),
)
# Where files and rows are written, processes started and ended; between two lines of these all stays as it is. The lock
# has a matrix of its own (`lock_killer.py`), each line of it.
_WRITING_PARTS = (
    "host/files.py",
    "host/database.py",
    "host/process.py",
    "host/session.py",
    "publish/folder.py",
)
# What only looks, in the files where the rest writes.
_LOOKS = frozenset(
    {
        "row",
        "rows",
        "name",
        "read_capped",
        "_check_place",
        "_disk_error",
        "_disk_errors",
        "_errors",
        "_explain",
        "_is_busy",
        "_name",
        "_open_without_waiting",
        "_read_inode",
        "_read_start",
        "_sqlite_errors",
        "_storable",
        "beside",
        "is_doubtful",
        "refuse_non_file",
    }
)
# What takes as many turns as another process is slow; what happens there counts once.
_WAITS = frozenset({"_wait_unreaped", "_watch"})
# What takes as many turns as there are processes on the machine, and goes other ways when one ends; it changes nothing.
_LISTS = frozenset({"list_processes", "list_children", "_strays", "adopted"})
_PLANTED = str(Path(__file__).with_name("planted.py"))
_WRITERS = (*(_PACKAGE + part for part in _WRITING_PARTS), _PLANTED)
_STEPS = (*(_PACKAGE + part for part in _PARTS), _PLANTED)


class Killer:
    """Counts how often each line is reached and kills this process at the point it was told."""

    def __init__(self, point: str, before: Callable[[], object] = tuple) -> None:
        self.point = point
        self.reached: dict[str, list[int]] = {}
        self.count = 0
        self.writing: list[int] = []
        self._before = before
        self._waits = 0
        self._lists = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> Killer | None:
        """Count a line of our own code; follow calls into it only (sys.settrace's protocol)."""
        del argument
        code = frame.f_code
        if event == "call" and not (code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(_STEPS)):
            return None  # of others, or the body of a module or class, which is run by an import
        if event in {"call", "return"} and code.co_name in _WAITS:
            self._waits += 1 if event == "call" else -1
        if event in {"call", "return"} and code.co_name in _LISTS:
            self._lists += 1 if event == "call" else -1
        if event == "line" and not self._lists:
            self._count(frame)
        return self

    def _count(self, frame: FrameType) -> None:
        self.count += 1
        file = frame.f_code.co_filename
        line = f"{file.removeprefix(_PACKAGE)}:{frame.f_lineno}"
        times = self.reached.setdefault(line, [])
        if not times or not self._waits:
            times.append(self.count)
            if file.startswith(_WRITERS) and frame.f_code.co_name not in _LOOKS:
                self.writing.append(self.count)
            if f"{line}:{len(times)}" == self.point:
                self._before()
                os.kill(os.getpid(), signal.SIGKILL)

    def points(self) -> list[str]:
        """Return the points worth killing at, in the order they are reached."""
        found = {times[time - 1]: f"{line}:{time}" for line, times in self.reached.items() for time in {1, len(times)}}
        kept: dict[int, str] = {}
        for count, point in sorted(found.items()):
            kept.setdefault(bisect_left(self.writing, count), point)
        return list(kept.values())


def install(process: str) -> None:
    """Let this process die where the order says, or tell in the end where it could have died."""
    order = json.loads(os.environ[ORDER])
    report_dir = Path(order["report"])
    named, _, point = order["point"].rpartition("|")
    plant(order["plant"])
    killer = Killer(point if named in {"", process} else NEVER, (report_dir / KILLED).touch)

    def tell() -> None:
        sys.settrace(None)
        if order["point"] == NEVER:
            points = [f"{process}|{point}" for point in killer.points()]
            (report_dir / f"{process}.json").write_text(json.dumps(points))

    atexit.register(tell)
    sys.settrace(killer)


def main() -> int:
    """Run the command under the killer and return its exit code."""
    from lamplighter.cli.main import main as run  # noqa: PLC0415 - the worker needs none of it

    install(SUPERVISOR)
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
