"""Reads lamplighter.toml: every key known, every value of its type, or one line that says which is not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import time, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from lamplighter.config.basics import (
    ACCOUNT,
    BUILT_IN_JOBS,
    REMEDY,
    SETTINGS_FILE,
    STATE_DIR,
    ZONE,
    is_account,
    is_folder,
    parse_duration,
    parse_job,
    parse_toml,
    parse_wall_time,
    read_settings_file,
)
from lamplighter.config.expect import ExpectTable, parse_expectations
from lamplighter.config.notify import HeartbeatTable, NotifyTable, parse_heartbeat, parse_notify
from lamplighter.engine.expect_settings import ExpectSettings
from lamplighter.engine.settings import JobSettings
from lamplighter.errors import ConfigError
from lamplighter.featurepost.settings import GenerateSettings, ShopSettings, longest_feature
from lamplighter.notify.settings import HeartbeatSettings, NotifySettings
from lamplighter.publish.settings import PostSettings

_SHOWN_LETTERS = 60


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: unknown keys are errors."""


class GenerateTable(_Table, frozen=True, kw_only=True):
    """[generate]: how the stock is kept."""

    target: int = 3
    max_per_run: int = 2
    writer: Literal["template"] = "template"
    review: Literal["auto", "ask"] = "auto"
    at: tuple[str, ...] = ("06:00", "12:00", "18:00")
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


class JobTable(_Table, frozen=True, kw_only=True):
    """[jobs.NAME]: a command of one's own, run like every job: under a lock, with a limit, an output and an outcome."""

    command: tuple[str, ...]
    folder: str = "."
    output: str = ""
    max_runtime: str = ""
    expected_runtime: str = ""
    env: dict[str, str] = {}
    at: tuple[str, ...] = ()
    cron: str = ""
    every: str = ""
    catch_up: str = ""
    network: bool = False


class SettingsFile(_Table, frozen=True, kw_only=True):
    """The whole of lamplighter.toml."""

    zone: str = ZONE
    account: str = ACCOUNT
    state_dir: str = STATE_DIR
    generate: GenerateTable = GenerateTable()
    shop: ShopTable = ShopTable()
    post: PostTable = PostTable()
    network: NetworkTable = NetworkTable()
    notify: NotifyTable = NotifyTable()
    heartbeat: HeartbeatTable = HeartbeatTable()
    jobs: dict[str, JobTable] = {}
    expect: dict[str, ExpectTable] = {}


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
    notify: NotifySettings
    heartbeat: HeartbeatSettings
    jobs: tuple[JobSettings, ...] = ()
    expectations: tuple[ExpectSettings, ...] = ()


def read_settings(workspace_dir: Path) -> Settings:
    """Return the settings of a workspace; raises InputError, DiskError or ConfigError, one line each."""
    return parse_settings(read_settings_file(workspace_dir), workspace_dir)


def parse_settings(content: bytes, workspace_dir: Path) -> Settings:
    """Return what the text of a settings file says; raises ConfigError naming line, key and the nearest right one."""
    name = str(workspace_dir / SETTINGS_FILE)
    table, text = parse_toml(content, name)
    try:
        return _build(msgspec.convert(table, SettingsFile), table, workspace_dir)
    except msgspec.ValidationError as error:
        raise ConfigError(name, _explain(str(error), table, text), REMEDY) from None


def _build(file: SettingsFile, table: Mapping[str, object], workspace_dir: Path) -> Settings:
    name = str(workspace_dir / SETTINGS_FILE)
    _check(file, name)
    shop = ShopSettings(
        tries=file.shop.tries,
        wait=parse_duration(name, "shop.wait", file.shop.wait, "0s", "1h"),
        total=parse_duration(name, "shop.total", file.shop.total, "1s", "1d"),
        allowed_hosts=frozenset(file.network.allowed_hosts),
    )
    slides_limit = parse_duration(name, "generate.slides_limit", file.generate.slides_limit, "1s", "1h")
    contact, hosts = file.network.contact, frozenset(file.network.allowed_hosts)
    jobs = _parse_jobs(table, workspace_dir)
    return Settings(
        workspace_dir=workspace_dir,
        state_dir=workspace_dir / file.state_dir,
        account=file.account,
        contact=file.network.contact,
        publisher=file.post.publisher,
        slides_limit=slides_limit,
        generate=GenerateSettings(
            target=file.generate.target,
            max_per_run=file.generate.max_per_run,
            keep_drafts=parse_duration(name, "generate.keep_drafts", file.generate.keep_drafts, "1h", "3650d"),
            review=file.generate.review == "ask",
            at=tuple(parse_wall_time(name, "generate.at", text) for text in file.generate.at),
            feature_limit=longest_feature(shop, slides_limit),
        ),
        shop=shop,
        post=PostSettings(
            at=parse_wall_time(name, "post.at", file.post.at) if file.post.at else None, zone=_zone(name, file.zone)
        ),
        notify=parse_notify(file.notify, name, workspace_dir, contact=contact, allowed_hosts=hosts),
        heartbeat=parse_heartbeat(file.heartbeat, name, workspace_dir, contact=contact, allowed_hosts=hosts),
        jobs=jobs,
        expectations=parse_expectations(file.expect, _list_times(file, jobs, name), name),
    )


def _check(file: SettingsFile, name: str) -> None:
    """Raise ConfigError for the first value that is out of its range."""
    problems = (
        ("account", not is_account(file.account), "1 to 40 small letters, digits and hyphens"),
        ("state_dir", not is_folder(file.state_dir), "a folder, written in full without ~"),
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
            raise ConfigError(name, f"{key} must be {right}", REMEDY)


def _parse_jobs(table: Mapping[str, object], workspace_dir: Path) -> tuple[JobSettings, ...]:
    """Return every job of one's own; raises ConfigError, also for one that has the name of a job of ours."""
    jobs = table.get("jobs")
    parsed = []
    for job, found in jobs.items() if isinstance(jobs, Mapping) else ():
        if job in BUILT_IN_JOBS:
            raise ConfigError(str(workspace_dir / SETTINGS_FILE), f"[jobs.{job}]: that is a job of ours", "rename it")
        parsed.append(parse_job(str(job), found, workspace_dir))
    return tuple(parsed)


def _list_times(file: SettingsFile, jobs: tuple[JobSettings, ...], name: str) -> dict[str, tuple[time, ...]]:
    """Return the times of day of each job there is; none where it has no such times."""
    posted = (file.post.at,) if file.post.at else ()
    times = {"generate": file.generate.at, "post": posted}
    ours = {job: tuple(parse_wall_time(name, f"{job}.at", text) for text in at) for job, at in times.items()}
    return ours | {job.name: job.at for job in jobs}


def _is_host_and_port(text: str) -> bool:
    match = re.fullmatch(r"[^\s/@]+:([0-9]{1,5})", text)
    return match is not None and 1 <= int(match[1]) <= 65_535


def _zone(name: str, text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(name, f"zone = {text[:60]!r} is not a zone like Europe/Berlin", REMEDY) from None


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
    choices = get_args(get_type_hints(_TABLES.get(where, _NAMED.get(where.partition(".")[0], SettingsFile))).get(key))
    if words.startswith("Invalid enum value") and choices:
        words = f"{words}: it must be {' or '.join(repr(choice) for choice in choices)}"
    return f"{full or 'the file'}{_line_of(where, key, text)}: {words}"


def _unknown_keys(table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield table and name of each key that is no setting, in the file's order."""
    for key, value in table.items():
        if key not in _known_keys(""):
            yield "", key
        elif key in _NAMED and isinstance(value, Mapping):
            for name, settings in value.items():
                if isinstance(settings, Mapping):
                    where = f"{key}.{name}"
                    yield from ((where, inner) for inner in settings if inner not in _known_keys(where))
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


_TABLES: Mapping[str, type[msgspec.Struct]] = MappingProxyType(
    {
        "": SettingsFile,
        "generate": GenerateTable,
        "shop": ShopTable,
        "post": PostTable,
        "network": NetworkTable,
        "notify": NotifyTable,
        "heartbeat": HeartbeatTable,
    }
)


_NAMED: Mapping[str, type[msgspec.Struct]] = MappingProxyType({"jobs": JobTable, "expect": ExpectTable})


def _known_keys(table: str) -> tuple[str, ...]:
    named = table.partition(".")[0] if "." in table else ""
    return (_NAMED.get(named) or _TABLES[table]).__struct_fields__
