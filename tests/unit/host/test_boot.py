"""When the machine was started."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamplighter.host.boot import read_boot_at


def test_the_boot_is_where_the_kernel_has_it() -> None:
    """Within two seconds of what /proc/stat says (proc(5))."""
    stat = Path("/proc/stat")
    if not stat.exists():
        pytest.skip("no /proc here")
    (line,) = (line for line in stat.read_text("ascii").splitlines() if line.startswith("btime "))
    booted = datetime.fromtimestamp(int(line.split()[1]), tz=UTC)
    assert abs(read_boot_at(datetime.now(tz=UTC)) - booted) < timedelta(seconds=2)


def test_the_boot_moves_with_the_wall_clock() -> None:
    """A clock that is a year ahead has booted a year ahead."""
    now, year = datetime(2026, 5, 4, tzinfo=UTC), timedelta(days=365)
    assert abs(read_boot_at(now + year) - read_boot_at(now) - year) < timedelta(seconds=2)
