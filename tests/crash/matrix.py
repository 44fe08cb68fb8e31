"""What the crash matrices share: a workspace to kill in, runs of the program, and which points to kill at."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.crash.killer import NEVER
from tests.simulators.clock import daytime_zone

ROOT = Path(__file__).parents[2]
SHARDS = 8  # so that two processes share a proof evenly
SAMPLED_POINTS = 2


_ZONE = daytime_zone()
# A start costs half as much with bytecode; it is kept out of the source tree.
_BYTECODE = str(Path(tempfile.gettempdir()) / f"lamplighter-bytecode-{os.getuid()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        """Return whether SIGKILL ended it."""
        return self.code == -signal.SIGKILL


def run_killed(point: str, plant: str, *command: str) -> Ended:
    """Run a command that kills itself at a point of our code (`tests/crash/killer.py`)."""
    return _run("-m", "tests.crash.killer", point, plant, *command)


def run(*command: str) -> Ended:
    """Run a command as a user would."""
    return _run("-m", "lamplighter", *command)


def run_planted(plant: str, *command: str) -> Ended:
    """Run a command to its end, as a user would, or with a planted bug."""
    return run(*command) if plant == "none" else run_killed(NEVER, plant, *command)


def list_points(source: Path, folder: Path, command: str, plant: str = "none", inside: str = "") -> list[str]:
    """Return the points of a command worth killing at, all or those inside the files whose path ends so."""
    workspace = make_workspace(source, folder / "count")
    ended = run_killed(NEVER, plant, command, "--workspace", str(workspace))
    points: list[str] = json.loads(ended.err.splitlines()[-1])
    return [point for point in points if point.rsplit(":", 2)[0].endswith(inside)]


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
    """A command, the workspace to kill it in, and what to look for afterwards."""

    command: str
    source: Path
    folder: Path
    find_harm: Callable[[Path, str], list[str]]
    plant: str = "none"

    def kill_and_look(self, point: str) -> list[str]:
        """Kill the command at one point in a fresh workspace and return the harm done."""
        workspace = make_workspace(self.source, self.folder / re.sub(r"\W", "-", point))
        ended = run_killed(point, self.plant, self.command, "--workspace", str(workspace))
        if not ended.killed:
            return [f"was not killed: {ended}"]
        return self.find_harm(workspace, self.plant)

    def harms(self, points: list[str]) -> dict[str, list[str]]:
        """Return the points that did harm, each with the harm."""
        looked = {point: self.kill_and_look(point) for point in points}
        return {point: harm for point, harm in looked.items() if harm}


def make_workspace(source: Path, folder: Path) -> Path:
    """Copy a workspace; its shops are linked, they are only read."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("shop"))
    (folder / "shop").symlink_to(source / "shop")
    return folder


def runs_without_outcome(workspace: Path) -> list[str]:
    """Return the runs that nobody wrote an outcome for."""
    ended = run("runs", "list", "--json", "--limit", "1000", "--workspace", str(workspace))
    return [f"run {row['number']} has no outcome" for row in json.loads(ended.out) if row["outcome"] is None]


def leftovers(workspace: Path) -> list[str]:
    """Return what must never be left behind by a finished run: temporary and half-removed files."""
    return [
        str(path.relative_to(workspace))
        for path in workspace.rglob("*")
        if path.name.startswith((".tmp-", ".removed-")) or path.name.endswith(".tmp")
    ]


def _run(*arguments: str) -> Ended:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "TZ": _ZONE, "PYTHONPYCACHEPREFIX": _BYTECODE, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)
