"""The run by which a scheduler proves that it can start us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.acceptance.program import run


def probe(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Start it as a scheduler does: from anywhere, with next to no environment."""
    kept = ("HOME", "PYTHONPATH", "LAMPLIGHTER_REAL_HOME", "COVERAGE_PROCESS_START", "COVERAGE_FILE")
    return subprocess.run(
        [sys.executable, "-P", "-m", "lamplighter.app.probe", *map(str, arguments)],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", **{name: os.environ[name] for name in kept if name in os.environ}},
    )


def test_it_leaves_a_row_with_its_token_and_where_it_ran(tmp_path: Path) -> None:
    """What a scheduler gave it is there to be looked at."""
    assert run("init", tmp_path / "brand", "--shop", "sample").code == 0
    done = probe("token", tmp_path / "brand")
    assert (done.returncode, done.stdout) == (0, "schedule-probe: completed: the scheduler started lamplighter\n")
    (row,) = json.loads(run("runs", "list", "--json", "--workspace", tmp_path / "brand").out)
    assert (row["job"], row["evidence"]["token"], row["evidence"]["path"]) == (
        "schedule-probe",
        "token",
        "/usr/bin:/bin",
    )


def test_nobody_else_starts_it(tmp_path: Path) -> None:
    """One line each: without its words, and where there is nothing."""
    done = probe()
    assert (done.returncode, done.stderr.count("\n")) == (66, 1)
    assert "this is started by a scheduler only; lamplighter schedule install" in done.stderr
    gone = probe("token", tmp_path / "gone")
    assert (gone.returncode, gone.stderr.count("\n")) == (74, 1)
