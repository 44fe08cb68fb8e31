"""Passes on to a person what a worker writes to a file, as it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lamplighter.host.files import open_without_waiting

_MOST_BYTES = 64_000
_MOST_LINES = 2_000  # at a time: who passes on must also look after the run's limit


class Relay:
    """Passes on what is appended to a file, whole lines, from now on."""

    def __init__(self, file: Path, show: Callable[[str], None]) -> None:
        """Begin at the file's present end."""
        self._file = file
        self._show = show
        self._at = read_size(file)
        self._rest = b""

    def pass_on(self) -> None:
        """Show the new lines; of a flood only the last part."""
        size = read_size(self._file)
        if size < self._at:  # it was rotated
            self._at, self._rest = 0, b""
        if size - self._at > _MOST_BYTES:
            self._show(f"… {size - self._at - _MOST_BYTES:,} bytes are in the log only")
            self._at, self._rest = size - _MOST_BYTES, b""
        if size == self._at:
            return
        try:
            with open(self._file, "rb", opener=open_without_waiting) as stream:
                stream.seek(self._at)
                new = stream.read(size - self._at)
        except OSError:
            return
        self._at += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        self._rest = self._rest[-_MOST_BYTES:]
        if len(lines) > _MOST_LINES:
            self._show(f"… {len(lines) - _MOST_LINES:,} lines are in the log only")
        for line in lines[-_MOST_LINES:]:
            self._show(line.decode("utf-8", "replace"))

    def finish(self) -> None:
        """Show what is left, a last line without an end included."""
        self.pass_on()
        if self._rest:
            self._show(self._rest.decode("utf-8", "replace"))
            self._rest = b""


def read_size(file: Path) -> int:
    """Return the bytes of a file, 0 when it is not there."""
    try:
        return file.stat().st_size
    except OSError:
        return 0
