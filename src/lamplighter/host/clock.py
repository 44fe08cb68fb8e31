"""Time as the rest of the program is allowed to see it."""

from __future__ import annotations

import contextlib
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """Wall clock, steady clock and waiting; a virtual one in tests/simulators lets a year pass in a second."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""

    def monotonic(self) -> timedelta:
        """Return time since an arbitrary fixed point; never goes back, stops while the machine sleeps."""

    def wait(self, duration: timedelta) -> None:
        """Return after `duration`."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(tz=UTC)

    def monotonic(self) -> timedelta:
        """Return CLOCK_MONOTONIC as a duration."""
        return timedelta(seconds=time.monotonic())

    def wait(self, duration: timedelta) -> None:
        """Sleep for `duration`."""
        time.sleep(max(0.0, duration.total_seconds()))


def read_zone_name(link: Path = Path("/etc/localtime")) -> str:
    """Return the machine's zone as an IANA name: $TZ, where the link points, or "UTC" where neither tells."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - it loads much, and few ask for a zone

    candidates = [os.environ.get("TZ", "").removeprefix(":")]
    with contextlib.suppress(OSError):
        candidates.append(str(link.readlink()).partition("zoneinfo/")[2])
    for name in candidates:
        with contextlib.suppress(ZoneInfoNotFoundError, ValueError, OSError):
            if name and ZoneInfo(name).key == name:
                return name
    return "UTC"
