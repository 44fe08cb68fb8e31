"""What notices and heartbeats need to know; imports no library, and holds no secret, only where each is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Language = Literal["en", "ja"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """One place notices go to: its name, and where its address is kept (env:NAME, file:PATH, or a local one)."""

    name: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    """Where notices go: `made` and `posted` to each channel listed, `alert` to the first that works.

    `allowed_hosts` are private "host:port" that may be reached; `folder` is where relative paths of `file:` begin.
    """

    folder: Path
    channels: tuple[ChannelSettings, ...] = ()
    made: tuple[str, ...] = ()
    posted: tuple[str, ...] = ()
    alert: tuple[str, ...] = ()
    language: Language = "en"
    desktop: bool = True
    contact: str = ""
    allowed_hosts: frozenset[str] = frozenset()

    def channel(self, name: str) -> ChannelSettings | None:
        """Return a channel by its name."""
        return next((channel for channel in self.channels if channel.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatSettings:
    """Whom we ping: `watch` at each tick, `verdict` once a day's expectations hold; "" where nobody is pinged.

    `words` are what a template's {result} says when all is well and when it is not.
    """

    folder: Path
    watch: str = ""
    verdict: str = ""
    words: tuple[str, str] = ("up", "down")
    contact: str = ""
    allowed_hosts: frozenset[str] = frozenset()
