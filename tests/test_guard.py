"""The guard itself."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.guard import GuardError


def test_the_home_of_a_test_is_not_the_real_one() -> None:
    """HOME and the XDG folders point into the session's temporary folder."""
    assert Path.home() != Path(os.environ["LAMPLIGHTER_REAL_HOME"])
    assert os.environ["XDG_STATE_HOME"].startswith(os.environ["HOME"])


def test_writing_to_the_real_home_raises() -> None:
    """A test cannot make a file in the real home."""
    with pytest.raises(GuardError, match="real home"):
        (Path(os.environ["LAMPLIGHTER_REAL_HOME"]) / "lamplighter-guard").write_text("x")


def test_leaving_loopback_raises() -> None:
    """A test cannot connect to an outside address."""
    with socket.socket() as outside, pytest.raises(GuardError, match=r"203\.0\.113\.1"):
        outside.connect(("203.0.113.1", 80))


@pytest.mark.parametrize("program", ["crontab", "launchctl", "systemctl"])
def test_calling_a_scheduler_raises(program: str) -> None:
    """A test cannot call the machine's schedulers."""
    with pytest.raises(GuardError, match=program):
        subprocess.run([program, "-l"], check=False)


def test_a_child_process_is_guarded_too() -> None:
    """A Python process that a test starts has the same guard."""
    code = "import socket; socket.socket().connect(('203.0.113.1', 80))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "GuardError" in child.stderr
