"""What the crash matrices share: a workspace to kill in, runs of the program, and which steps to kill at."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARDS = 8  # so that two processes share a proof evenly
SAMPLED_STEPS = 2


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


def run_killed(at: int, plant: str, *command: str) -> Ended:
    """Run a command that kills itself at line `at` of our code."""
    return _run("-m", "tests.crash.killer", str(at), plant, *command)


def run(*command: str) -> Ended:
    """Run a command as a user would."""
    return _run("-m", "lamplighter", *command)


def run_planted(plant: str, *command: str) -> Ended:
    """Run a command to its end, as a user would, or with a planted bug."""
    return run(*command) if plant == "none" else run_killed(0, plant, *command)


def list_steps(plant: str, *command: str, inside: str = "") -> list[int]:
    """Return the steps of a command worth killing at, all or those inside the files whose path ends so."""
    ended = run_killed(0, plant, *command)
    steps: list[tuple[int, str]] = json.loads(ended.err.splitlines()[-1])
    return [step for step, file in steps if file.endswith(inside)]


def choose_steps(steps: list[int], shard: int) -> list[int]:
    """Return a shard's share of all steps in a proof, a sample of it with a printed seed in a test."""
    share = steps[shard::SHARDS]
    if os.environ.get("LAMPLIGHTER_PROOF") == "all":
        return share
    seed = int(os.environ.get("LAMPLIGHTER_SEED") or random.randrange(10**6))
    print(f"LAMPLIGHTER_SEED={seed}")
    return sorted(random.Random(seed).sample(share, SAMPLED_STEPS))


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
        env={**os.environ, "PYTHONPYCACHEPREFIX": _BYTECODE, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)
