"""What a person may set about posting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class PostSettings:
    """When the day's post is due (None: any time), the zone the day is counted in, the most time a run may take."""

    at: time | None
    zone: ZoneInfo
    limit: timedelta = timedelta(minutes=10)
