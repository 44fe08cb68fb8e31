"""A clock that moves only when somebody waits or moves it: a year passes in a second."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def daytime_zone(now: datetime | None = None) -> str:
    """Return a zone where it is about noon, so that no day ends while real programs are at work in it."""
    hours = 12 - (now or datetime.now(tz=UTC)).hour
    return f"Etc/GMT{-hours:+d}"  # their signs are the other way round


class VirtualClock:
    """Implements host.clock.Clock; `waits` remembers what was waited for."""

    def __init__(self, now: datetime = START) -> None:
        """Begin at `now`, with the steady clock at nought."""
        self._now = now
        self._steady = timedelta()
        self.waits: list[timedelta] = []

    def now(self) -> datetime:
        """Return the instant of this clock, in UTC."""
        return self._now.astimezone(UTC)

    def monotonic(self) -> timedelta:
        """Return the time that has passed, jumps of the wall clock apart."""
        return self._steady

    def wait(self, duration: timedelta) -> None:
        """Let `duration` pass at once."""
        self.waits.append(duration)
        self.advance(duration)

    def advance(self, duration: timedelta) -> None:
        """Let time pass for both clocks; never backwards."""
        passed = max(duration, timedelta())
        self._now += passed
        self._steady += passed

    def jump(self, now: datetime) -> None:
        """Set the wall clock, as a person or a time server does; the steady clock doesn't notice."""
        self._now = now
