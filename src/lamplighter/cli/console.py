"""What a command prints: plain lines for a pipe, colour and a moving bar for a person, one JSON value for a program."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from lamplighter.errors import DiskError

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
_GOOD, _BAD, _SOFT = "32", "31", "2"


class Console:
    """The terminal, pipe or file that a command speaks to."""

    def __init__(self, *, as_json: bool) -> None:
        """Speak JSON or lines; progress then goes to standard error, so that standard output is one value."""
        self._as_json = as_json
        self._person = sys.stdout is not None and sys.stdout.isatty() and not as_json

    def line(self, text: str = "") -> None:
        """Print one line for a person; nothing when a program is listening."""
        self._print(text, "")

    def good(self, text: str) -> None:
        """Print a line that tells of success."""
        self._print(text, _GOOD)

    def bad(self, text: str) -> None:
        """Print a line that tells of failure."""
        self._print(text, _BAD)

    def say(self, text: str) -> None:
        """Print one line of progress; an output that is gone or full never stops the work."""
        with contextlib.suppress(DiskError):
            if self._as_json:
                _write(_printable(text), sys.stderr)
            else:
                self._print(f"  {text}", _SOFT)

    def value(self, value: Json) -> None:
        """Print one JSON value when a program is listening."""
        if self._as_json:
            _write(json.dumps(value, ensure_ascii=False, indent=2), sys.stdout)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print rows in columns."""
        widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
        for row in rows:
            cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
            self.line("  ".join(cells).rstrip())

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show a person that long work goes on; lines said meanwhile scroll above the bar."""
        if not self._person:
            yield
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - for a person

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
        with Progress(*columns, transient=True) as progress:
            progress.add_task(what, total=None)
            yield

    def _print(self, text: str, colour: str) -> None:
        if not self._as_json:
            shown = _printable(text)
            _write(f"\x1b[{colour}m{shown}\x1b[0m" if colour and self._person else shown, sys.stdout)


def confirm(question: str) -> bool:
    """Ask a person at a terminal; with nobody there the answer is no."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def print_error(text: str) -> None:
    """Print one line on standard error."""
    with contextlib.suppress(DiskError):
        _write(f"lamplighter: {' '.join(text.split())}", sys.stderr)


def close_output(stream: TextIO) -> None:
    """Let nothing more be written to a stream whose reader has gone, so that the rest of the program ends quietly."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()


def _printable(text: str) -> str:
    """Return text by which no shop and no file can move a person's terminal; line ends and emoji joiners stay."""
    return "".join(letter if letter.isprintable() or letter in "\n\u200d" else "?" for letter in text)


def _write(text: str, stream: TextIO | None) -> None:
    """Print one text; quietly when the reader has gone (`| head`), else raises DiskError when it cannot be written."""
    if stream is None:  # the program was started with this output closed
        return
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        close_output(stream)
    except OSError as error:
        close_output(stream)
        raise DiskError("output", error.strerror or str(error)) from error


def _width(text: str) -> int:
    """Return the columns a text takes in a terminal: East Asian wide letters take two."""
    from unicodedata import combining, east_asian_width  # noqa: PLC0415 - 1 ms that most commands do not need

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in {"W", "F"} else 1 for letter in text)
