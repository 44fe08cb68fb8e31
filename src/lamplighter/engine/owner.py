"""The owner record: what a holder says of itself in owner.json. It explains; it never decides who holds the lock."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from lamplighter.errors import render_line
from lamplighter.host.identity import ProcessIdentity, read_own_identity
from lamplighter.value import value

OWNER_FILE = "owner.json"
SCHEMA = 2
HELD, RELEASED = "held", "released"
_RECORD_LIMIT = 64_000
_MOST_CHILDREN = 64
_CHILD_COMMAND = 120  # 64 of them, each letter six bytes in JSON, and all else stay below the limit
IMPLAUSIBLE_GENERATION = 10**15  # a forged number must not be one that can't be counted on from
_MOST_PID = 2**31 - 1
_MOST_SECONDS = 10.0**10  # three centuries: a forged number must not be one that no timedelta can hold


@value
class Child:
    """A process a holder started as the leader of a session of its own: what is left of it must not outlive the run."""

    pid: int
    start: str
    command: str = ""


@value
class Owner:
    """What the record says of a holder.

    `since` is wall time for people (ISO 8601, UTC); `since_steady` and `phase_steady` are seconds of steady time, good
    within one boot and one time namespace; `limit` is the most seconds the run may take (None: any time), after which
    `grace` seconds pass before another may end it. `nonce` tells two holders apart that share everything else.
    `session` is the one the holder is in, 0 where it is not known.
    """

    pid: int
    since: str
    command: str
    generation: int
    state: str
    start: str = ""
    boot_id: str = ""
    namespaces: str = ""
    uid: int = -1
    host: str = ""
    trigger: str = ""
    nonce: str = ""
    since_steady: float = 0.0
    limit: float | None = None
    grace: float = 0.0
    phase: str = ""
    phase_steady: float = 0.0
    children: tuple[Child, ...] = ()
    ended: str = ""
    session: int = 0

    def describe(self) -> str:
        """Return "pid 4711 since 2026-11-29T19:30:00+00:00 (lamplighter generate), at: slides"."""
        doing = f", at: {self.phase}" if self.phase else ""
        return f"pid {self.pid} since {self.since} ({self.command}){doing}"

    @property
    def process(self) -> ProcessIdentity:
        """Return which process the record means."""
        return ProcessIdentity(pid=self.pid, start=self.start, boot_id=self.boot_id)

    @property
    def is_this_process(self) -> bool:
        """Return whether the record says that this very process holds the lock."""
        return self.state == HELD and self.process == read_own_identity()

    def age(self, steady: timedelta, boot_id: str, namespaces: str) -> timedelta | None:
        """Return how long it has held, None where its steady clock is not the one `steady` was read from."""
        if not boot_id or (self.boot_id, self.namespaces) != (boot_id, namespaces):
            return None
        return max(timedelta(0), steady - timedelta(seconds=self.since_steady))

    @property
    def patience(self) -> timedelta | None:
        """Return the age from which another may end this holder, None when it never may."""
        return None if self.limit is None else timedelta(seconds=self.limit + self.grace)


def render_owner(owner: Owner) -> bytes:
    """Return the record as JSON, its texts and children cut to what `parse_owner` takes."""
    record = {name: getattr(owner, name) for name in _FIELDS}
    texts = {name: _cut(text, _TEXTS[name]) for name, text in record.items() if name in _TEXTS}
    children = [
        {"pid": child.pid, "start": child.start, "command": _cut(child.command, _CHILD_COMMAND)}
        for child in owner.children[-_MOST_CHILDREN:]
    ]
    return json.dumps({"schema": SCHEMA, **record, **texts, "children": children}).encode("ascii")


def parse_owner(content: bytes) -> Owner | None:
    """Return what a record says, None for anything that is not whole: empty, garbage, forged, of another version."""
    try:
        record = json.loads(content)
        if record["schema"] != SCHEMA:
            return None
        return Owner(**{name: read(record[name]) for name, read in _FIELDS.items()})  # type: ignore[arg-type]  # each by its own reader
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def read_owner(folder: Path) -> Owner | None:
    """Return the record in a lock folder, None where there is none that can be read."""
    with contextlib.suppress(OSError):
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
        with os.fdopen(os.open(folder / OWNER_FILE, flags), "rb") as stream:
            return parse_owner(stream.read(_RECORD_LIMIT))
    return None


def plausible(generation: int) -> int:
    """Return a generation that can be counted on from, 0 in place of any other."""
    return generation if 0 < generation < IMPLAUSIBLE_GENERATION else 0


def _text(limit: int) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise TypeError(value)
        return _cut(value, limit)

    return read


def _cut(text: str, limit: int) -> str:
    """Return text as one printable line; most of it is one already."""
    return text if len(text) <= limit and text.isprintable() else render_line(text, limit=limit)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(value)
    return value


def _pid(value: object) -> int:
    pid = _whole(value)
    if not 0 < pid <= _MOST_PID:
        raise ValueError(value)
    return pid


def _generation(value: object) -> int:
    return plausible(_whole(value))


def _seconds(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < _MOST_SECONDS:
        raise TypeError(value)
    return float(value)


def _seconds_or_none(value: object) -> float | None:
    return None if value is None else _seconds(value)


def _children(value: object) -> tuple[Child, ...]:
    if not isinstance(value, list) or len(value) > _MOST_CHILDREN:
        raise TypeError(value)
    return tuple(
        Child(pid=_pid(child["pid"]), start=_text(40)(child["start"]), command=_text(_CHILD_COMMAND)(child["command"]))
        for child in value
    )


_TEXTS: Mapping[str, int] = {
    "since": 40,
    "command": 200,
    "state": 20,
    "start": 40,
    "boot_id": 80,
    "namespaces": 120,
    "host": 100,
    "trigger": 40,
    "nonce": 40,
    "phase": 200,
    "ended": 200,
}
_FIELDS: Mapping[str, Callable[[object], object]] = {
    **{name: _text(limit) for name, limit in _TEXTS.items()},
    "pid": _pid,
    "generation": _generation,
    "uid": _whole,
    "session": _whole,
    "since_steady": _seconds,
    "limit": _seconds_or_none,
    "grace": _seconds,
    "phase_steady": _seconds,
    "children": _children,
}
