"""What every scheduler of a system can do for us: launchd, systemd and cron are one each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamplighter.schedule.check import Fact
from lamplighter.schedule.entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class NextWakes:
    """When the system says that it wakes us next, and in words what it does not say."""

    at: tuple[datetime, ...] = ()
    words: str = ""


class Launcher(Protocol):
    """A scheduler of this machine.

    Everything raises UpstreamError when the system refuses or does not answer, NeedsHuman when only a person can make
    it answer, DiskError for files.
    """

    name: str

    def read(self, entries: Sequence[Entry], project: str) -> tuple[Fact, ...]:
        """Return what there is of each entry, and of every other entry of the project."""

    def install(self, entries: Sequence[Entry], project: str, *, gently: bool = False) -> tuple[str, ...]:
        """Make exactly these the project's entries, and return the labels that were made, changed or taken away.

        `gently` leaves for another time what cannot be changed without ending a run that is at work.
        """

    def remove(self, project: str) -> tuple[str, ...]:
        """Take every entry of the project away and return their labels; nothing else is touched."""

    def start(self, entry: Entry, now: datetime) -> datetime:
        """Have the scheduler start an entry once, soon, and return by when it will have done so."""

    def clear(self, entry: Entry, project: str) -> None:
        """Take away what `start` made."""

    def list_next(self, entry: Entry, now: datetime, count: int) -> NextWakes:
        """Return the next times at which the system wakes us for an entry."""

    def list_remarks(self) -> tuple[str, ...]:
        """Return what a person has to know of this scheduler, and can do about it."""

    def explain_silence(self, entry: Entry) -> str:
        """Return why an entry that was to be started did not report, as far as the system says."""
