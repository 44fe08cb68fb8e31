"""The zone that this machine's own clock shows, whatever a person's terminal has in TZ: schedulers count in it."""

from __future__ import annotations

import contextlib
from datetime import UTC, tzinfo
from pathlib import Path


def read_machine_zone(link: Path = Path("/etc/localtime")) -> tzinfo:
    """Return the machine's zone: where the link points, or what the file says, or UTC where there is none."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - it loads much, and few ask for a zone

    with contextlib.suppress(OSError, ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(str(link.readlink()).partition("zoneinfo/")[2])
    with contextlib.suppress(OSError, ValueError), link.open("rb") as stream:
        return ZoneInfo.from_file(stream, key="localtime")
    return UTC
