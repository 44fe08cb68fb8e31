"""The story this project starts from, as `make incident` plays it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_story_ends_well_only_with_our_lock() -> None:
    """Killed, emptied, with another's pid: the old lock by age makes nothing and exits 0; ours makes all and tells."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.incident"], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    ours = [line for line in lines if line.strip().startswith("lamplighter ")]
    assert len(ours) == 3
    assert all("made 3 of 3" in line and "predecessor_died" in line for line in ours)
    assert sum("old lock, age" in line and "made 0 of 3" in line for line in lines) >= 3
    assert any("3x lock held, nothing to do (exit 0)" in line for line in lines)
