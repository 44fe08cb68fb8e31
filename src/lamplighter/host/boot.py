"""When the machine was started."""

from __future__ import annotations

import sys
import time
from datetime import datetime, timedelta


def read_boot_at(now: datetime) -> datetime:
    """Return the instant of the present boot, as the wall clock that says `now` counts.

    The clocks asked go on while the machine sleeps: CLOCK_BOOTTIME of clock_gettime(2), on macOS CLOCK_MONOTONIC.
    """
    if sys.platform == "darwin":
        clock = time.CLOCK_MONOTONIC
    else:
        clock = time.CLOCK_BOOTTIME
    return now - timedelta(seconds=time.clock_gettime(clock))
