"""What the crash matrices share: a workspace to kill in, runs of the program, and which points to kill at."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.crash.killer import KILLED, NEVER, ORDER, SUPERVISOR, WORKER
from tests.simulators.clock import daytime_zone

from lamplighter.app.opening import MIGRATIONS
from lamplighter.app.running import DATABASE_FILE
from lamplighter.config.basics import find_basics
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import open_database_to_read

ROOT = Path(__file__).parents[2]
SHARDS = 8  # so that two processes share a proof evenly
SAMPLED_POINTS = 1


_ZONE = daytime_zone()
# A start costs half as much with bytecode; it is kept out of the source tree.
_BYTECODE = str(Path(tempfile.gettempdir()) / f"lamplighter-bytecode-{os.getuid()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended, and what it printed."""

    code: int
    out: str
    err: str


def run_killed(point: str, plant: str, report_dir: Path, *command: str) -> Ended:
    """Run a command of which one process kills itself at a point of our code (`tests/crash/killer.py`)."""
    order = json.dumps({"point": point, "plant": plant, "report": str(report_dir)})
    return _run("-m", "tests.crash.killer", *command, **{ORDER: order})


def run(*command: str) -> Ended:
    """Run a command as a user would."""
    return _run("-m", "lamplighter", *command)


def run_planted(plant: str, *command: str) -> Ended:
    """Run a command to its end, as a user would, or with a planted bug."""
    if plant == "none":
        return run(*command)
    with tempfile.TemporaryDirectory() as report_dir:
        return run_killed(NEVER, plant, Path(report_dir), *command)


def choose_points(points: list[str], shard: int) -> list[str]:
    """Return a shard's share of all points in a proof, a sample of it with a printed seed in a test."""
    share = points[shard::SHARDS]
    if os.environ.get("LAMPLIGHTER_PROOF") == "all":
        return share
    seed = int(os.environ.get("LAMPLIGHTER_SEED") or random.randrange(10**6))
    print(f"LAMPLIGHTER_SEED={seed}")
    return random.Random(seed).sample(share, SAMPLED_POINTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A command, the workspace to kill it in, and what to look for afterwards.

    "{workspace}" stands for the workspace among the words of the command.
    """

    command: tuple[str, ...]
    source: Path
    folder: Path
    find_harm: Callable[[Path, str], list[str]]
    plant: str = "none"

    def points(self, inside: str = "") -> list[str]:
        """Return the points worth killing at, all or those inside files whose path ends so, found once."""
        kept = self.source.parent / f"points-{self.command[0]}-{self.plant}.json"
        if not kept.exists():
            _, report_dir = self._run(NEVER)
            found = [report_dir / f"{process}.json" for process in (SUPERVISOR, WORKER)]
            kept.write_text(
                json.dumps([point for file in found if file.exists() for point in json.loads(file.read_text())])
            )
        points: list[str] = json.loads(kept.read_text())
        return [point for point in points if point.rsplit(":", 2)[0].endswith(inside)]

    def kill_and_look(self, point: str) -> list[str]:
        """Kill the command at one point in a fresh workspace and return the harm done."""
        workspace, report_dir = self._run(point)
        if not (report_dir / KILLED).exists():
            return ["was not killed"]
        return [*self.find_harm(workspace, self.plant), *list_living(workspace)]

    def harms(self, points: list[str]) -> dict[str, list[str]]:
        """Return the points that did harm, each with the harm."""
        looked = {point: self.kill_and_look(point) for point in points}
        return {point: harm for point, harm in looked.items() if harm}

    def _run(self, point: str) -> tuple[Path, Path]:
        """Run the command up to a point; return the workspace it ran in and the folder with the killer's report."""
        folder = self.folder / re.sub(r"\W", "-", point)
        folder.mkdir()
        workspace = make_workspace(self.source, folder / "workspace")
        command = (word.replace("{workspace}", str(workspace)) for word in self.command)
        run_killed(point, self.plant, folder, *command)
        return workspace, folder


def make_workspace(source: Path, folder: Path) -> Path:
    """Copy a workspace; its shops are linked, they are only read."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("shop"))
    if (source / "shop").exists():
        (folder / "shop").symlink_to(source / "shop")
    return folder


def read_runs(workspace: Path) -> tuple[RunRow, ...]:
    """Return the recorded runs, the newest first."""
    with open_database_to_read(workspace / "state" / DATABASE_FILE, MIGRATIONS) as database:
        return Ledger(database, SystemClock(), find_basics(workspace)[1]).latest(limit=1_000)


def runs_without_outcome(workspace: Path) -> list[str]:
    """Return the runs that nobody wrote an outcome for."""
    return [f"run {row.number} has no outcome" for row in read_runs(workspace) if row.report is None]


def leftovers(workspace: Path) -> list[str]:
    """Return what must never be left behind by a finished run: temporary and half-removed files."""
    return [
        str(path.relative_to(workspace))
        for path in workspace.rglob("*")
        if path.name.startswith((".tmp-", ".removed-")) or path.name.endswith((".tmp", ".result"))
    ]


def list_living(workspace: Path) -> list[str]:
    """Return the processes that still work for a workspace: by then nobody is to."""
    living = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and f"={workspace}/".encode() in (folder / "environ").read_bytes():
                living.append(f"pid {folder.name} is alive")
    return living


def _run(*arguments: str, **env: str) -> Ended:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "TZ": _ZONE, "PYTHONPYCACHEPREFIX": _BYTECODE, "PYTHONDONTWRITEBYTECODE": "", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)
