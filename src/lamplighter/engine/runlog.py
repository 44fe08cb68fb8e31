"""The log of one run in our words, and where what its worker wrote to its two streams lies beside it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from lamplighter.engine.log import log_file
from lamplighter.errors import LamplighterError, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.files import append_line, make_folder


def out_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where the standard output of a run's worker is."""
    return log_file(state_dir, job, number).with_suffix(".out")


def err_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where the standard error of a run's worker is."""
    return log_file(state_dir, job, number).with_suffix(".err")


class RunLog:
    """A run's log, a line at a time, each with its moment; one that cannot be written never stops the work."""

    def __init__(self, state_dir: Path, job: str, number: int, clock: Clock) -> None:
        """Name the file; nothing is touched yet."""
        self._state_dir = state_dir
        self._file = log_file(state_dir, job, number)
        self._clock = clock

    def write(self, text: str) -> None:
        """Append one line; a state folder that somebody removed is not made again for it."""
        with contextlib.suppress(LamplighterError, OSError):
            if not self._state_dir.is_dir():
                return
            make_folder(self._file.parent, mode=0o700)
            stamp = self._clock.now().isoformat(timespec="seconds")
            append_line(self._file, f"{stamp} {render_line(text)}", mode=0o600, durable=False)
