"""Reads lamplighter.toml: every key known, every value of its type, or one line that says which is not."""

from __future__ import annotations

import contextlib
import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import time, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from lamplighter.errors import ConfigError, LamplighterError
from lamplighter.featurepost.settings import GenerateSettings, ShopSettings
from lamplighter.host.files import read_capped
from lamplighter.publish.settings import PostSettings

SETTINGS_FILE = "lamplighter.toml"
_LIMIT_BYTES = 64_000  # a name of a megabyte of dots takes tomllib minutes
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_ACCOUNT = re.compile(r"[a-z0-9-]{1,40}")
_SHOWN_LETTERS = 60
_REMEDY = "correct it and run again"
_BASIC_LINE = re.compile(r"""^\s*(state_dir|account)\s*=\s*["']([^"']*)["']""", re.MULTILINE)


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
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: a number of 5,000 digits
        raise ConfigError(name, f"this is not TOML: {error}", _REMEDY) from None
    try:
        return _build(msgspec.convert(table, SettingsFile), workspace_dir, name)
    except msgspec.ValidationError as error:
        raise ConfigError(name, _explain(str(error), table, text), _REMEDY) from None


def find_basics(workspace_dir: Path) -> tuple[Path, str]:
    """Return state folder and account, also of broken settings: a run that fails by them is recorded too."""
    table: Mapping[str, object] = {}
    with contextlib.suppress(LamplighterError, ValueError, RecursionError):
        text = read_capped(workspace_dir / SETTINGS_FILE, limit=_LIMIT_BYTES).decode("utf-8-sig")
        table = dict(_BASIC_LINE.findall(text.partition("\n[")[0]))  # of a file that is not even TOML
        table = tomllib.loads(text)
    state_dir, account = table.get("state_dir"), table.get("account")
    return (
        workspace_dir
        / (state_dir if isinstance(state_dir, str) and _is_folder(state_dir) else SettingsFile().state_dir),
        account if isinstance(account, str) and _ACCOUNT.fullmatch(account) else SettingsFile().account,
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
        slides_limit=_duration(name, "generate.slides_limit", file.generate.slides_limit, "1s", "1h"),
        generate=GenerateSettings(
            target=file.generate.target,
            max_per_run=file.generate.max_per_run,
            keep_drafts=_duration(name, "generate.keep_drafts", file.generate.keep_drafts, "1h", "3650d"),
            review=file.generate.review == "ask",
        ),
        shop=ShopSettings(
            tries=file.shop.tries,
            wait=_duration(name, "shop.wait", file.shop.wait, "0s", "1h"),
            total=_duration(name, "shop.total", file.shop.total, "1s", "1d"),
            allowed_hosts=allowed,
        ),
        post=PostSettings(at=_wall_time(name, file.post.at), zone=_zone(name, file.zone)),
    )


def _check(file: SettingsFile, name: str) -> None:
    """Raise ConfigError for the first value that is out of its range."""
    problems = (
        ("account", not _ACCOUNT.fullmatch(file.account), "1 to 40 small letters, digits and hyphens"),
        ("state_dir", not _is_folder(file.state_dir), "a folder, written in full without ~"),
        ("generate.target", not 1 <= file.generate.target <= 100, "1 to 100"),
        ("generate.max_per_run", not 1 <= file.generate.max_per_run <= 20, "1 to 20"),
        ("shop.tries", not 1 <= file.shop.tries <= 10, "1 to 10"),
        ("network.contact", not re.fullmatch(r"[\x21-\x7e]{0,200}", file.network.contact), "mailto:… or https://…"),
        (
            "network.allowed_hosts",
            not all(_is_host_and_port(host) for host in file.network.allowed_hosts),
            'like ["127.0.0.1:8080"]',
        ),
    )
    for key, wrong, right in problems:
        if wrong:
            raise ConfigError(name, f"{key} must be {right}", _REMEDY)


def _is_host_and_port(text: str) -> bool:
    match = re.fullmatch(r"[^\s/@]+:([0-9]{1,5})", text)
    return match is not None and 1 <= int(match[1]) <= 65_535


def _is_folder(text: str) -> bool:
    """Say whether a text can name a folder; a ~ is the shell's and would become a folder of that name."""
    return bool(text) and "\0" not in text and not text.startswith("~")


def _duration(name: str, key: str, text: str, least: str, most: str) -> timedelta:
    """Return a duration like 15s, 5m, 2h or 30d between two others; raises ConfigError."""
    duration = _parse_duration(text)
    if duration is None:
        raise ConfigError(name, f"{key} = {text[:40]!r} must be like 15s, 5m, 2h or 30d", _REMEDY)
    if not (_parse_duration(least) or timedelta()) <= duration <= (_parse_duration(most) or timedelta.max):
        raise ConfigError(name, f"{key} = {text[:40]!r} must be {least} to {most}", _REMEDY)
    return duration


def _parse_duration(text: str) -> timedelta | None:
    match = re.fullmatch(r"([0-9]{1,6})\s*([smhd])", text.strip())
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]]) if match else None


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


def _explain(message: str, table: Mapping[str, object], text: str) -> str:
    """Say msgspec's words with the key's full name, its line, and the nearest right key or the values it may have."""
    unknown = next(_unknown_keys(table), None)
    if unknown is not None:
        where, key = unknown
        full = f"{where}.{key}" if where else key
        known = _known_keys(where)
        elsewhere = [f"{other}.{key}" for other in _TABLES if other and key in _known_keys(other)]
        near = elsewhere or difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        guess = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        shown = full[:_SHOWN_LETTERS] if key.strip() else repr(full[:_SHOWN_LETTERS])
        return f"{shown}{_line_of(where, key, text)} is not a setting; {guess}"
    path = re.search(r" - at `\$\.?(.*?)`$", message)
    full = re.sub(r"\[.*?\]", "", path[1]) if path else ""
    where, _, key = full.rpartition(".")
    words = message.removesuffix(path[0]) if path else message
    choices = get_args(get_type_hints(_TABLES.get(where, SettingsFile)).get(key))
    if words.startswith("Invalid enum value") and choices:
        words = f"{words}: it must be {' or '.join(repr(choice) for choice in choices)}"
    return f"{full or 'the file'}{_line_of(where, key, text)}: {words}"


def _unknown_keys(table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield table and name of each key that is no setting, in the file's order."""
    for key, value in table.items():
        if key not in _known_keys(""):
            yield "", key
        elif isinstance(value, Mapping) and key in _TABLES:
            yield from ((key, inner) for inner in value if inner not in _known_keys(key))


def _line_of(table: str, key: str, text: str) -> str:
    """Return " (line N)" for where a key of a table stands, "" when it cannot be told."""
    quoted, outer = rf"[\"']?{re.escape(key)}[\"']?", re.escape(table)
    here = re.compile(rf"\s*{quoted}\s*[.=]|\s*\[+\s*{quoted}\s*[\].]")
    elsewhere = re.compile(rf"\s*\[*\s*{outer}\s*(\.\s*{quoted}\s*[\].=]|=\s*{{.*{quoted}\s*[.=])")
    current = ""
    for number, line in enumerate(text.split("\n"), 1):
        if key and ((current == table and here.match(line)) or (table and elsewhere.match(line))):
            return f" (line {number})"
        header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
        current = header[1] if header else current
    return ""


_TABLES: Mapping[str, type[_Table]] = MappingProxyType(
    {"": SettingsFile, "generate": GenerateTable, "shop": ShopTable, "post": PostTable, "network": NetworkTable}
)


def _known_keys(table: str) -> tuple[str, ...]:
    return _TABLES[table].__struct_fields__
