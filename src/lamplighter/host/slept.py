"""How long the machine has slept; apart from what holds sleep off, which most runs need not load."""

from __future__ import annotations

import sys
import time
from datetime import timedelta


def read_slept() -> timedelta:
    """Return how long this machine has slept since it was started.

    The clock that goes on in sleep minus the one that stops: CLOCK_BOOTTIME and CLOCK_MONOTONIC of clock_gettime(2),
    on macOS CLOCK_MONOTONIC and CLOCK_UPTIME_RAW.
    """
    if sys.platform == "darwin":
        through, awake = time.CLOCK_MONOTONIC, time.CLOCK_UPTIME_RAW
    else:
        through, awake = time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC
    return timedelta(seconds=max(0.0, time.clock_gettime(through) - time.clock_gettime(awake)))
