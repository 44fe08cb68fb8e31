"""What befell a lock, a line each in history.jsonl: it is told even when the run ledger is damaged or another's.

It explains and never decides: nothing reads it but people, and what cannot be written is left out.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from lamplighter.errors import render_line
from lamplighter.value import value

HISTORY_FILE = "history.jsonl"
_LIMIT = 64_000
_KEPT = 32_000
_LONGEST_TEXT = 300


@value
class Event:
    """One thing that befell a lock: `what` is acquired, died, took_over or refused; `at` is wall time."""

    at: str
    what: str
    generation: int
    pid: int
    text: str


def append_event(folder: Path, event: Event) -> None:
    """Add a line; a folder that is gone, full or another's never stops anybody."""
    line = json.dumps(
        {
            "at": event.at,
            "what": event.what,
            "generation": event.generation,
            "pid": event.pid,
            "text": render_line(event.text, limit=_LONGEST_TEXT),
        }
    )
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with contextlib.suppress(OSError):
        file = os.open(folder / HISTORY_FILE, flags, 0o600)
        try:
            if os.fstat(file).st_size < 2 * _LIMIT:
                os.write(file, f"{line}\n".encode("ascii"))
        finally:
            os.close(file)


def shorten_history(folder: Path) -> None:
    """Drop the older half of a history that has grown long; only for the holder of the lock."""
    path = folder / HISTORY_FILE
    with contextlib.suppress(OSError):
        if path.stat().st_size <= _LIMIT:
            return
        kept = path.read_bytes()[-_KEPT:].partition(b"\n")[2]
        fresh = folder / f"{HISTORY_FILE}.tmp"
        fresh.write_bytes(kept)
        fresh.replace(path)


def read_history(folder: Path, *, limit: int) -> tuple[Event, ...]:
    """Return the newest events, oldest first; lines that are torn or foreign are passed over."""
    return tuple(_read_events(folder))[-limit:]


def _read_events(folder: Path) -> Iterator[Event]:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    content = b""
    with contextlib.suppress(OSError), os.fdopen(os.open(folder / HISTORY_FILE, flags), "rb") as stream:
        content = stream.read(3 * _LIMIT)
    for line in content.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError, OverflowError, RecursionError):
            record = json.loads(line)
            yield Event(
                at=render_line(str(record["at"]), limit=40),
                what=render_line(str(record["what"]), limit=20),
                generation=int(record["generation"]),
                pid=int(record["pid"]),
                text=render_line(str(record["text"]), limit=_LONGEST_TEXT),
            )
