"""A person at a terminal: colour, a question before what cannot be undone, and Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.simulators.desk import Desk

FIRST = "feature-0001-wrenfold"


class Terminal:
    """A terminal on which one command runs."""

    def __init__(self, cwd: Path, *arguments: str) -> None:
        ours, theirs = pty.openpty()
        self._ours = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lamplighter", *arguments],
            cwd=cwd,
            env={**os.environ, "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""

    def read_until(self, words: str) -> None:
        """Read until the command has said something, or has ended when that is ""."""
        while not words or words not in self.text:
            ready, _, _ = select.select([self._ours], [], [], 30)
            assert ready, f"never said {words!r}: {self.text!r}"
            with contextlib.suppress(OSError):  # Linux says EIO at the end
                more = os.read(self._ours, 65_536)
                self.text += more.decode().replace("\r\n", "\n")
                if more:
                    continue
            assert not words, f"never said {words!r}: {self.text!r}"
            return

    def type(self, words: str) -> None:
        """Type something."""
        os.write(self._ours, words.encode())

    def interrupt(self) -> None:
        """Send Ctrl-C until it is heard: CPython misses one that comes just before it begins to wait for input."""
        for _ in range(60):
            os.kill(self._process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.5)
                return

    def end(self) -> int:
        """Return the exit code once the command has ended."""
        try:
            self.read_until("")
            return self._process.wait(30)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            os.close(self._ours)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace with two ready features."""
    desk = Desk.in_workspace(tmp_path / "workspace")
    desk.put()
    desk.put()
    return desk


def test_a_person_sees_colour(desk: Desk) -> None:
    """Green for success, red for failure."""
    terminal = Terminal(desk.folder, "post")
    assert terminal.end() == 0
    assert f"\x1b[32mpost: produced: posted {FIRST}" in terminal.text
    terminal = Terminal(desk.folder, "generate")
    assert terminal.end() == 66
    assert "\x1b[31mgenerate: failed: " in terminal.text


def test_a_program_sees_none_even_there(desk: Desk) -> None:
    """JSON is JSON."""
    terminal = Terminal(desk.folder, "stock", "list", "--json")
    assert (terminal.end(), "\x1b" in terminal.text) == (0, False)


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, 1), ("YES\n", 0, 1), ("n\n", 64, 2), ("\n", 64, 2), ("\x04", 64, 2)]
)
def test_deleting_asks_first(desk: Desk, answer: str, code: int, left: int) -> None:
    """Only a yes is a yes; Enter and the end of input are none."""
    terminal = Terminal(desk.folder, "stock", "drop", FIRST)
    terminal.read_until(f"Delete {FIRST} for good? [y/N] ")
    terminal.type(answer)
    assert terminal.end() == code
    assert len(desk.stock.ready()) == left


def test_ctrl_c_at_a_question_is_130_and_one_line(desk: Desk) -> None:
    """Nothing is deleted."""
    terminal = Terminal(desk.folder, "stock", "drop", FIRST)
    terminal.read_until("[y/N] ")
    terminal.interrupt()
    assert terminal.end() == 130
    assert "lamplighter: interrupted" in terminal.text
    assert "Traceback" not in terminal.text
    assert len(desk.stock.ready()) == 2


def test_an_extra_post_asks_first(desk: Desk) -> None:
    """The question names the feature."""
    terminal = Terminal(desk.folder, "post")
    assert terminal.end() == 0
    terminal = Terminal(desk.folder, "post", "--force")
    terminal.read_until("Today has its post. Publish feature-0002-wrenfold too? [y/N] ")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert len(desk.journal.entries()) == 2
