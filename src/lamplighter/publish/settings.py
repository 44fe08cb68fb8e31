"""What a person may set about posting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class PostSettings:
    """When the day's post is due (None: any time), and the zone the day is counted in."""

    at: time | None
    zone: ZoneInfo
