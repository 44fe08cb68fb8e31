"""The tables [notify] and [heartbeat]: names, routes, and where each secret is kept; a secret itself is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

from lamplighter.config.basics import REMEDY
from lamplighter.errors import ConfigError
from lamplighter.notify.settings import ChannelSettings, HeartbeatSettings, NotifySettings

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?")
_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")
# Apprise's addresses of this machine's own desktop and log: there is nothing in them to steal.
_LOCAL = re.compile(r"(?:dbus|glib|qt|kde|gnome|macosx|windows|syslog)://(?:_?/?)", re.IGNORECASE)
NOBODY = "nobody"
_RESERVED = frozenset({"desktop", NOBODY})
_KEPT = "keep it in a file of mode 0600 and write file:PATH, or in a variable and write env:NAME"


class NotifyTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[notify]: the channels, what goes to which of them, and in which language."""

    channels: dict[str, str] = {}
    made: tuple[str, ...] = ()
    posted: tuple[str, ...] = ()
    alert: tuple[str, ...] = ()
    language: Literal["en", "ja"] = "en"
    desktop: bool = True


class HeartbeatTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[heartbeat]: whom we tell that the watcher ticks, and that the day's expectations hold."""

    watch: str = ""
    verdict: str = ""
    words: tuple[str, str] = ("up", "down")


def parse_notify(
    table: NotifyTable, name: str, folder: Path, *, contact: str, allowed_hosts: frozenset[str]
) -> NotifySettings:
    """Return where notices go; raises ConfigError, which names the channel and never what it holds.

    With no route written, success goes to the first channel and alerts to each in turn until one works.
    """
    for channel, source in table.channels.items():
        if not _NAME.fullmatch(channel) or channel in _RESERVED:
            shown = channel[:40] if _NAME.fullmatch(channel) else "a channel"
            raise ConfigError(name, f"notify.channels: {shown} must have another name, like phone or team", REMEDY)
        _check_source(name, f"notify.channels.{channel}", source, may_be_local=True)
    known = tuple(table.channels)
    return NotifySettings(
        folder=folder,
        channels=tuple(ChannelSettings(name=channel, source=source) for channel, source in table.channels.items()),
        made=_parse_route(name, "made", table.made, known, known[:1]),
        posted=_parse_route(name, "posted", table.posted, known, known[:1]),
        alert=_parse_route(name, "alert", table.alert, known, known),
        language=table.language,
        desktop=table.desktop,
        contact=contact,
        allowed_hosts=allowed_hosts,
    )


def parse_heartbeat(
    table: HeartbeatTable, name: str, folder: Path, *, contact: str, allowed_hosts: frozenset[str]
) -> HeartbeatSettings:
    """Return whom we ping; raises ConfigError."""
    for key, source in (("watch", table.watch), ("verdict", table.verdict)):
        if source:
            _check_source(name, f"heartbeat.{key}", source, may_be_local=False)
    if not all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", word) for word in table.words):
        raise ConfigError(name, 'heartbeat.words must be two words like ["up", "down"]', REMEDY)
    return HeartbeatSettings(
        folder=folder,
        watch=table.watch,
        verdict=table.verdict,
        words=table.words,
        contact=contact,
        allowed_hosts=allowed_hosts,
    )


def _parse_route(
    name: str, key: str, route: tuple[str, ...], known: tuple[str, ...], default: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the channels of a route, each once; raises ConfigError for one that is not among `known`."""
    if route == (NOBODY,) and key != "alert":
        return ()
    for channel in route:
        if channel not in known:
            shown = channel if _NAME.fullmatch(channel) else "one of them"
            have = f"there are {', '.join(known)}" if known else "there is none yet"
            raise ConfigError(name, f"notify.{key}: {shown} is no channel of [notify.channels]", have)
    return tuple(dict.fromkeys(route)) or default


def _check_source(name: str, key: str, source: str, *, may_be_local: bool) -> None:
    """Raise ConfigError unless a source says where a secret is kept; what it says is never repeated."""
    if _VARIABLE.fullmatch(source) or (may_be_local and _LOCAL.fullmatch(source)):
        return
    if source.startswith("file:"):
        path = source.removeprefix("file:")
        if path and not path.startswith("~") and path.isprintable():
            return
        raise ConfigError(name, f"{key}: file: must be followed by a path, without ~", REMEDY)
    if source.startswith("env:"):
        raise ConfigError(name, f"{key}: env: must be followed by the name of a variable", REMEDY)
    raise ConfigError(name, f"{key} is written in clear, and such an address lets anybody write there", _KEPT)
