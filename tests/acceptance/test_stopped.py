"""A command that is asked to stop says so in one line and leaves nothing; what SIGKILL left goes the next time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.acceptance.program import run

LIMIT_SECONDS = 60.0


def _start_check(workspace: Path, temporary_dir: Path) -> subprocess.Popen[str]:
    """Start a check and return once it works in its folder for temporary files."""
    process = subprocess.Popen(
        [Path(sys.executable).parent / "lamplighter", "template", "check", "default", "--workspace", workspace],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary_dir)},
    )
    end = time.monotonic() + LIMIT_SECONDS
    try:
        while not _is_at_work(temporary_dir, process.pid):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return process


def _is_at_work(temporary_dir: Path, pid: int) -> bool:
    """Return whether a check draws; a folder of its start may go while it is looked into."""
    with contextlib.suppress(FileNotFoundError):
        return any(temporary_dir.glob(f".tmp-lamplighter-*-{pid}-*/trial-*"))
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_check_that_is_asked_to_stop_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """One line, 128 + the signal, no sheet, no temporary folder."""
    assert run("init", tmp_path / "w").code == 0
    (tmp_path / "tmp").mkdir()
    with _start_check(tmp_path / "w", tmp_path / "tmp") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, out, err) == (128 + number, "", "lamplighter: interrupted\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not list((tmp_path / "w").glob("template-check*"))


def test_what_a_killed_check_left_goes_with_the_next(tmp_path: Path) -> None:
    """The folder's name holds the pid of who is dead."""
    assert run("init", tmp_path / "w").code == 0
    (tmp_path / "tmp").mkdir()
    with _start_check(tmp_path / "w", tmp_path / "tmp") as process:
        process.kill()
    (left,) = (tmp_path / "tmp").iterdir()
    with _start_check(tmp_path / "w", tmp_path / "tmp") as process:
        assert not left.exists()
        process.terminate()
