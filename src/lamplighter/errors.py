"""The exception tree: one line for a person, an exit class for a scheduler.

LamplighterError
├── UsageError           64  the command was typed wrongly
├── ConfigError          65  settings or catalog say something impossible
├── InputError           66  something named does not exist
│   └── NoWorkspace      66  no folder here or above is one
├── UpstreamError        69  a shop, tool or service did not do its part
├── InternalError        70  a rule of ours was broken before harm was done
│   └── Fenced           70  the lock moved on to another run
├── LockUnusable         73  the lock cannot be relied on here
├── DiskError            74  a file could not be read or written
│   └── Damaged          74  a database is one no more
├── LockBusy             75  another run holds the lock
└── NeedsHuman           77  only a person can go on
"""

from __future__ import annotations

import enum
from typing import ClassVar


class FailureClass(enum.Enum):
    """Why a run failed, and the exit code that says so (DESIGN §3)."""

    USAGE = 64
    CONFIG = 65
    INPUT = 66
    UPSTREAM = 69
    INTERNAL = 70
    LOCK_UNUSABLE = 73
    DISK = 74
    LOCK_BUSY = 75
    NEEDS_HUMAN = 77


class LamplighterError(Exception):
    """it did not work."""

    failure: ClassVar[FailureClass] = FailureClass.INTERNAL
    permanent: ClassVar[bool] = True

    def __init__(self, subject: str, cause: str = "", remedy: str = "") -> None:
        """Say what failed, why, and what the person can do about it."""
        self.subject = subject
        self.cause = cause or _default_cause(type(self))
        self.remedy = remedy
        super().__init__(subject, self.cause, remedy)

    def __str__(self) -> str:
        """Render one line: subject, cause, what to do."""
        line = f"{self.subject}: {self.cause}"
        if self.remedy:
            line = f"{line}; {self.remedy}"
        return render_line(line)


def render_line(text: str, *, limit: int = 1_000) -> str:
    """Return foreign text as one line that no terminal can be moved by: unprintable letters are shown as "?".

    A joiner (U+200D) stays, emoji are made with it; text beyond `limit` letters is cut and ends with "…".
    """
    line = " ".join(text[: limit + 1].split())
    line = "".join(letter if letter.isprintable() or letter == "\u200d" else "?" for letter in line)
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _default_cause(kind: type[LamplighterError]) -> str:
    """Return the first docstring up the tree; `python -OO` has none, and an error must still be told."""
    written = (known.__doc__ for known in kind.__mro__ if issubclass(known, LamplighterError))
    return next((text.splitlines()[0].rstrip(".") for text in written if text), "it did not work")


class UsageError(LamplighterError):
    """the command was typed wrongly."""

    failure = FailureClass.USAGE


class ConfigError(LamplighterError):
    """the settings say something impossible."""

    failure = FailureClass.CONFIG


class InputError(LamplighterError):
    """there is no such thing."""

    failure = FailureClass.INPUT


class NoWorkspace(InputError):
    """there is no workspace here or above."""


class UpstreamError(LamplighterError):
    """the other side did not do its part."""

    failure = FailureClass.UPSTREAM
    permanent = False


class InternalError(LamplighterError):
    """a rule of ours was broken, so the run stopped before harm was done."""

    failure = FailureClass.INTERNAL


class Fenced(InternalError):
    """another run took the lock over, so this one stops without committing."""


class LockUnusable(LamplighterError):
    """the lock cannot be relied on here."""

    failure = FailureClass.LOCK_UNUSABLE


class DiskError(LamplighterError):
    """the file could not be read or written."""

    failure = FailureClass.DISK
    permanent = False


class Damaged(DiskError):
    """the database is damaged."""


class LockBusy(LamplighterError):
    """another run is at work."""

    failure = FailureClass.LOCK_BUSY
    permanent = False


class NeedsHuman(LamplighterError):
    """only a person can go on from here."""

    failure = FailureClass.NEEDS_HUMAN
