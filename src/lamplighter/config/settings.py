"""Reads lamplighter.toml: every key known, every value of its type, or one line that says which is not."""

from __future__ import annotations

import contextlib
import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from lamplighter.errors import ConfigError
from lamplighter.featurepost.settings import GenerateSettings, ShopSettings
from lamplighter.host.files import read_capped
from lamplighter.publish.settings import PostSettings

SETTINGS_FILE = "lamplighter.toml"
_LIMIT_BYTES = 1_000_000
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_REMEDY = "correct it and run again"


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: unknown keys are errors."""


class GenerateTable(_Table, frozen=True, kw_only=True):
    """[generate]: how the stock is kept."""

    target: int = 3
    max_per_run: int = 2
    writer: Literal["template"] = "template"
    review: Literal["auto", "ask"] = "auto"
    keep_drafts: str = "30d"
    slides_limit: str = "60s"


class ShopTable(_Table, frozen=True, kw_only=True):
    """[shop]: how a shop that answers with nothing or an error is asked again."""

    tries: int = 3
    wait: str = "15s"
    total: str = "90s"


class PostTable(_Table, frozen=True, kw_only=True):
    """[post]: when and where the day's post goes out."""

    at: str = "19:30"
    publisher: Literal["folder"] = "folder"


class NetworkTable(_Table, frozen=True, kw_only=True):
    """[network]: who we say we are, and which private "host:port" may be reached."""

    contact: str = ""
    allowed_hosts: tuple[str, ...] = ()


class SettingsFile(_Table, frozen=True, kw_only=True):
    """The whole of lamplighter.toml."""

    zone: str = "UTC"
    account: str = "main"
    state_dir: str = "state"
    generate: GenerateTable = GenerateTable()
    shop: ShopTable = ShopTable()
    post: PostTable = PostTable()
    network: NetworkTable = NetworkTable()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of every part; `workspace_dir` is where the file lies and relative paths begin."""

    workspace_dir: Path
    state_dir: Path
    account: str
    contact: str
    publisher: str
    slides_limit: timedelta
    generate: GenerateSettings
    shop: ShopSettings
    post: PostSettings


def read_settings(workspace_dir: Path) -> Settings:
    """Return the settings of a workspace; raises InputError, DiskError or ConfigError, one line each."""
    file = workspace_dir / SETTINGS_FILE
    return parse_settings(read_capped(file, limit=_LIMIT_BYTES, what="settings file"), workspace_dir)


def parse_settings(content: bytes, workspace_dir: Path) -> Settings:
    """Return what the text of a settings file says; raises ConfigError naming line, key and the nearest right one."""
    name = str(workspace_dir / SETTINGS_FILE)
    try:
        text = content.decode("utf-8-sig")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigError(name, f"byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(name, f"this is not TOML: {error}", _REMEDY) from None
    try:
        return _build(msgspec.convert(table, SettingsFile), workspace_dir, name)
    except msgspec.ValidationError as error:
        raise ConfigError(name, _explain(str(error), text), _REMEDY) from None


def find_basics(workspace_dir: Path) -> tuple[Path, str]:
    """Return state folder and account, also of broken settings: a run that fails by them is recorded too."""
    table: Mapping[str, object] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        table = tomllib.loads((workspace_dir / SETTINGS_FILE).read_text("utf-8-sig"))
    state_dir, account = table.get("state_dir"), table.get("account")
    return (
        workspace_dir / (state_dir if isinstance(state_dir, str) and state_dir else SettingsFile().state_dir),
        account if isinstance(account, str) else SettingsFile().account,
    )


def _build(file: SettingsFile, workspace_dir: Path, name: str) -> Settings:
    _check(file, name)
    allowed = frozenset(file.network.allowed_hosts)
    return Settings(
        workspace_dir=workspace_dir,
        state_dir=workspace_dir / file.state_dir,
        account=file.account,
        contact=file.network.contact,
        publisher=file.post.publisher,
        slides_limit=_duration(name, "generate.slides_limit", file.generate.slides_limit),
        generate=GenerateSettings(
            target=file.generate.target,
            max_per_run=file.generate.max_per_run,
            keep_drafts=_duration(name, "generate.keep_drafts", file.generate.keep_drafts),
            review=file.generate.review == "ask",
        ),
        shop=ShopSettings(
            tries=file.shop.tries,
            wait=_duration(name, "shop.wait", file.shop.wait),
            total=_duration(name, "shop.total", file.shop.total),
            allowed_hosts=allowed,
        ),
        post=PostSettings(at=_wall_time(name, file.post.at), zone=_zone(name, file.zone)),
    )


def _check(file: SettingsFile, name: str) -> None:
    """Raise ConfigError for the first value that is out of its range."""
    problems = (
        ("account", not re.fullmatch(r"[a-z0-9-]{1,40}", file.account), "small letters, digits and hyphens"),
        ("state_dir", not file.state_dir or "\0" in file.state_dir, "a folder"),
        ("generate.target", not 1 <= file.generate.target <= 100, "1 to 100"),
        ("generate.max_per_run", not 1 <= file.generate.max_per_run <= 20, "1 to 20"),
        ("shop.tries", not 1 <= file.shop.tries <= 10, "1 to 10"),
        ("network.contact", not re.fullmatch(r"[\x21-\x7e]{0,200}", file.network.contact), "mailto:… or https://…"),
        (
            "network.allowed_hosts",
            any(not re.fullmatch(r"[^\s/@]+:[0-9]{1,5}", host) for host in file.network.allowed_hosts),
            'like ["127.0.0.1:8080"]',
        ),
    )
    for key, wrong, right in problems:
        if wrong:
            raise ConfigError(name, f"{key} must be {right}", _REMEDY)


def _duration(name: str, key: str, text: str) -> timedelta:
    match = re.fullmatch(r"([0-9]{1,6})\s*([smhd])", text.strip())
    if match is None:
        raise ConfigError(name, f"{key} = {text[:40]!r} must be like 15s, 5m, 2h or 30d", _REMEDY)
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def _wall_time(name: str, text: str) -> time | None:
    if not text:
        return None
    match = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", text)
    if match is None:
        raise ConfigError(name, f"post.at = {text[:40]!r} must be like 19:30", _REMEDY)
    return time(int(match[1]), int(match[2]))


def _zone(name: str, text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(name, f"zone = {text[:60]!r} is not a zone like Europe/Berlin", _REMEDY) from None


def _explain(message: str, text: str) -> str:
    """Say msgspec's words with the key's full name, its line, and the nearest right key."""
    path = re.search(r" - at `\$\.?(.*?)`$", message)
    table = path[1] if path else ""
    unknown = re.search(r"unknown field `(.+?)`", message)
    if unknown is None:
        bare = message.removesuffix(path[0]) if path else message
        return f"{table or 'the file'}{_line_of(table.rpartition('.')[2], text)}: {bare}"
    key = unknown[1]
    full = f"{table}.{key}" if table else key
    near = difflib.get_close_matches(key, _known_keys(table), n=1, cutoff=0.5)
    guess = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(_known_keys(table))}"
    return f"{full}{_line_of(key, text)} is not a setting{guess}"


def _line_of(key: str, text: str) -> str:
    pattern = re.compile(rf"^\s*(\[\s*)?[\"']?{re.escape(key)}[\"']?\s*[\].=]")
    numbers = [number for number, line in enumerate(text.splitlines(), 1) if key and pattern.match(line)]
    return f" (line {numbers[0]})" if numbers else ""


def _known_keys(table: str) -> tuple[str, ...]:
    tables = {
        "": SettingsFile,
        "generate": GenerateTable,
        "shop": ShopTable,
        "post": PostTable,
        "network": NetworkTable,
    }
    kind = tables.get(table)
    return kind.__struct_fields__ if kind else ()
