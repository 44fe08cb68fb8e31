"""A small disk of one's own for a child process: a tmpfs in a private namespace, gone with the child."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def can_mount() -> bool:
    """Return whether this user may mount a disk in a namespace of its own."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    command = ["unshare", *_ways(), "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0


def _ways() -> tuple[str, ...]:
    return ("-m",) if os.getuid() == 0 else ("-U", "-r", "-m")


def run_on_small_disk(code: str, folder: Path, *, options: str = "size=1m", prepare: str = "true") -> str:
    """Run Python `code` with a tmpfs over `folder` (its only argument) and return what it printed.

    `prepare` is a shell command that runs after mounting, with the folder as $1.
    """
    if not can_mount():
        if os.environ.get("LAMPLIGHTER_REQUIRE") == "all":
            pytest.fail("no disk can be mounted in a namespace")
        pytest.skip("no disk can be mounted in a namespace")
    script = f'mount -t tmpfs -o {options} none "$1" && {prepare} && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        ["unshare", *_ways(), "sh", "-c", script, "sh", str(folder), sys.executable, textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
