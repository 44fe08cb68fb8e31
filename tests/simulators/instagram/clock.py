"""The time of the simulator: it runs, or it stands still, and a test may move either."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class MovableClock(Protocol):
    """What the simulator asks of a clock; `tests.simulators.clock.VirtualClock` is one too."""

    def now(self) -> datetime:
        """Return the instant, in UTC."""
        ...

    def advance(self, duration: timedelta) -> None:
        """Let time pass at once."""
        ...

    def jump(self, now: datetime) -> None:
        """Set the instant."""
        ...


class RunningClock:
    """The computer's clock plus what it was moved by: for real processes, and by hand."""

    def __init__(self) -> None:
        """Begin at the computer's time."""
        self._offset = timedelta()

    def now(self) -> datetime:
        """Return the instant, in UTC."""
        return datetime.now(tz=UTC) + self._offset

    def advance(self, duration: timedelta) -> None:
        """Let time pass at once."""
        self._offset += duration

    def jump(self, now: datetime) -> None:
        """Set the instant; from there the clock runs on."""
        self._offset = now - datetime.now(tz=UTC)
