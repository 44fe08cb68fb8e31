"""What a command prints: plain lines for a pipe, colour and a moving bar for a person, one JSON value for a program."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TextIO

from lamplighter.errors import DiskError
from lamplighter.host.outlet import AT_ONCE, Outlet

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
_GOOD, _BAD, _SOFT = "32", "31", "2"
_PATIENCE = timedelta(seconds=1)  # with a reader that does not read, where the command must come to its end
_NOTE = "  … {} lines were not taken here; lamplighter runs log N shows them\n"


class Console:
    """The terminal, pipe or file that a command speaks to.

    What tells of work in progress never waits for a reader; a command that only looks waits for as long as it takes.
    """

    def __init__(self, *, as_json: bool) -> None:
        """Speak JSON or lines; progress then goes to standard error, so that standard output is one value."""
        self._as_json = as_json
        self._person = sys.stdout is not None and sys.stdout.isatty() and not as_json
        self._patience: timedelta | None = None
        self._outlets: dict[int, Outlet] = {}

    def hurry(self) -> None:
        """From now on wait a second for a reader that does not read, and then no more: a run must come to its end."""
        if self._patience is None:
            self._patience = _PATIENCE

    def finish(self) -> None:
        """Offer once more what was not taken yet."""
        self.hurry()
        for descriptor in (*self._outlets,):
            with contextlib.suppress(OSError):
                self._outlets[descriptor].flush(self._patience)
                self._outlets.pop(descriptor).close()

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
                self._write(_printable(text), sys.stderr, waits=False)
            else:
                self._print(f"  {text}", _SOFT, waits=False)

    def value(self, value: Json) -> None:
        """Print one JSON value when a program is listening."""
        if self._as_json:
            self._write(json.dumps(value, ensure_ascii=False, indent=2), sys.stdout)

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
        from rich.console import Console as Terminal  # noqa: PLC0415 - for a person
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - the same

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
        terminal = Terminal(file=_Steady(self._outlet(sys.stdout), sys.stdout))
        with Progress(*columns, transient=True, console=terminal) as progress:
            progress.add_task(what, total=None)
            yield

    def _print(self, text: str, colour: str, *, waits: bool = True) -> None:
        if not self._as_json:
            shown = _printable(text)
            coloured = f"\x1b[{colour}m{shown}\x1b[0m" if colour and self._person else shown
            self._write(coloured, sys.stdout, waits=waits)

    def _write(self, text: str, stream: TextIO | None, *, waits: bool = True) -> None:
        if stream is None:  # the program was started with this output closed
            return
        outlet = self._outlet(stream)
        patience = self._patience if waits else AT_ONCE
        if not _write(text, stream, outlet, patience=patience, is_kept=waits) and waits:
            self._patience = AT_ONCE

    def _outlet(self, stream: TextIO) -> Outlet | None:
        descriptor = _find_descriptor(stream)
        return self._outlets.setdefault(descriptor, Outlet(descriptor, note=_NOTE)) if descriptor is not None else None


class _Steady(io.StringIO):
    """A terminal as rich sees it, to which no write waits."""

    def __init__(self, outlet: Outlet | None, stream: TextIO) -> None:
        super().__init__()
        self._outlet = outlet
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with contextlib.suppress(DiskError):
            _write(text, self._stream, self._outlet, patience=AT_ONCE, is_kept=False, end="")
        return len(text)


def confirm(question: str) -> bool:
    """Ask a person at a terminal; with nobody there the answer is no."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def print_error(text: str) -> None:
    """Print one line on standard error; a reader that does not read is waited for a second."""
    if sys.stderr is None:
        return
    with contextlib.suppress(DiskError):
        descriptor = _find_descriptor(sys.stderr)
        outlet = Outlet(descriptor, note=_NOTE) if descriptor is not None else None
        line = f"lamplighter: {' '.join(text.split())}"
        _write(line, sys.stderr, outlet, patience=_PATIENCE, is_kept=True)
        if outlet is not None:
            outlet.close()


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


def _find_descriptor(stream: TextIO) -> int | None:
    """Return the descriptor that a stream writes to, None of one that somebody put in its place."""
    return stream.fileno() if type(stream) is io.TextIOWrapper else None


def _write(
    text: str, stream: TextIO, outlet: Outlet | None, *, patience: timedelta | None, is_kept: bool, end: str = "\n"
) -> bool:
    """Print one text and return whether all was taken; quietly when the reader has gone (`| head`).

    Raises DiskError when it cannot be written.
    """
    try:
        if outlet is None:
            print(text, end=end, file=stream, flush=True)
            return True
        outlet.add(f"{text}{end}".encode(stream.encoding, stream.errors or "strict"), is_kept=is_kept)
        return outlet.flush(patience)
    except BrokenPipeError:
        _close_both(stream, outlet)
        return True
    except OSError as error:
        _close_both(stream, outlet)
        raise DiskError("output", error.strerror or str(error)) from error


def _close_both(stream: TextIO, outlet: Outlet | None) -> None:
    if outlet is not None:
        outlet.close()
    close_output(stream)


def _width(text: str) -> int:
    """Return the columns a text takes in a terminal: East Asian wide letters take two."""
    from unicodedata import combining, east_asian_width  # noqa: PLC0415 - 1 ms that most commands do not need

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in {"W", "F"} else 1 for letter in text)
