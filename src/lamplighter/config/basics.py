"""What is needed of a workspace before its settings are known to be right: where it is, where its state is, its jobs.

Imports no library: `lamplighter run` starts with this, many times a day.
"""

from __future__ import annotations

import contextlib
import os
import re
import tomllib
from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lamplighter.engine.settings import JobSettings
from lamplighter.errors import ConfigError, InputError, LamplighterError, NoWorkspace, UsageError
from lamplighter.host.files import is_plain, read_capped

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

SETTINGS_FILE = "lamplighter.toml"
LIMIT_BYTES = 64_000  # a name of a megabyte of dots takes tomllib minutes
STATE_DIR, ACCOUNT, ZONE = "state", "main", "UTC"
BUILT_IN_JOBS = ("generate", "post", "watch")
REMEDY = "correct it and run again"
_NO_OUTPUT = "leave the line out where the command leaves no file"
_NAMELESS = MappingProxyType({"env:": "variable", "file:": "file"})
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_ACCOUNT = re.compile(r"[a-z0-9-]{1,40}")
_JOB = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BASIC_LINE = re.compile(r"""^\s*(state_dir|account)\s*=\s*["']([^"']*)["']""", re.MULTILINE)
_NO_TABLE: Mapping[str, object] = MappingProxyType({})


def find_workspace(start: Path) -> Path:
    """Return the nearest folder from `start` upwards that holds lamplighter.toml; raises InputError.

    A folder, a pipe or a broken link of that name is an error: to look further up would be to take another workspace.
    """
    for folder in (start, *start.parents):
        file = folder / SETTINGS_FILE
        with contextlib.suppress(OSError):  # a parent we may not look into, a name that is too long
            if file.is_file():
                return folder
            if os.path.lexists(file):
                raise InputError(str(file), "it is in the way: this is not a file", "move it away")
    raise NoWorkspace(str(start), f"no {SETTINGS_FILE} here or above", "lamplighter init makes a workspace")


def refuse_odd_place(folder: Path) -> None:
    """Raise InputError for a folder whose path is no plain text: JSON, Typst and a log line could not have it."""
    if not is_plain(folder):
        raise InputError(
            str(folder),
            "its path is not UTF-8 text, or has a control character in it",
            "move it or give it another name",
        )


def find_basics(workspace_dir: Path) -> tuple[Path, str]:
    """Return state folder and account, also of broken settings: a run that fails by them is recorded too."""
    table = _NO_TABLE
    with contextlib.suppress(LamplighterError, ValueError, RecursionError):
        text = read_capped(workspace_dir / SETTINGS_FILE, limit=LIMIT_BYTES).decode("utf-8-sig")
        table = dict(_BASIC_LINE.findall(text.partition("\n[")[0]))  # of a file that is not even TOML
        table = tomllib.loads(text)
    state_dir, account = table.get("state_dir"), table.get("account")
    return (
        workspace_dir / (state_dir if isinstance(state_dir, str) and is_folder(state_dir) else STATE_DIR),
        account if isinstance(account, str) and is_account(account) else ACCOUNT,
    )


def find_zone(workspace_dir: Path) -> ZoneInfo:
    """Return the zone of settings that are known to be right."""
    table, _ = parse_toml(read_settings_file(workspace_dir), str(workspace_dir / SETTINGS_FILE))
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - it loads much, and only jobs with due times need one

    zone = table.get("zone")
    return ZoneInfo(zone if isinstance(zone, str) else ZONE)


def read_settings_file(workspace_dir: Path) -> bytes:
    """Return the settings file as it is; raises InputError or DiskError."""
    return read_capped(workspace_dir / SETTINGS_FILE, limit=LIMIT_BYTES, what="settings file")


def parse_toml(content: bytes, name: str) -> tuple[dict[str, object], str]:
    """Return a settings file as a table and as text; raises ConfigError, one line."""
    try:
        text = content.decode("utf-8-sig")
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        raise ConfigError(name, f"byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: a number of 5,000 digits
        raise ConfigError(name, f"this is not TOML: {error}", REMEDY) from None


def find_job(workspace_dir: Path, job: str) -> JobSettings:
    """Return a command job of a workspace; raises InputError when there is none of that name, ConfigError."""
    name = str(workspace_dir / SETTINGS_FILE)
    table, _ = parse_toml(read_settings_file(workspace_dir), name)
    jobs = table.get("jobs")
    found = jobs.get(job) if isinstance(jobs, Mapping) else None
    if not isinstance(found, Mapping):
        known = ", ".join(sorted((*BUILT_IN_JOBS[:2], *(jobs if isinstance(jobs, Mapping) else ()))))
        raise InputError(f"job {job!r}", "it is in no [jobs] of the settings", f"known are {known}; or give a command")
    return parse_job(job, found, workspace_dir)


def parse_job(job: str, table: Mapping[str, object], workspace_dir: Path) -> JobSettings:
    """Return the settings of one job; raises ConfigError that names the key."""
    name = str(workspace_dir / SETTINGS_FILE)
    where = f"jobs.{job}"
    if problem := explain_job_name(job):
        raise ConfigError(name, f"[{where}]: {problem}", REMEDY)
    reader = _Reader(name, where, table)
    command = reader.texts("command")
    if not command or not command[0]:
        raise ConfigError(name, f'{where}.command is missing: it is a list like ["./backup.sh", "--all"]', REMEDY)
    env = reader.mapping("env")
    for variable in env:
        if not _VARIABLE.fullmatch(variable):
            raise ConfigError(name, f"{where}.env: {variable[:40]!r} is no name of a variable", REMEDY)
        if env[variable].strip() in _NAMELESS:
            kind, what = env[variable].strip(), _NAMELESS[env[variable].strip()]
            raise ConfigError(name, f"{where}.env.{variable}: the name of the {what} is missing behind {kind}", REMEDY)
    if "output" in table and not reader.text("output").strip():
        raise ConfigError(name, f"{where}.output is empty: it is a pattern like 'backups/*.tar'", _NO_OUTPUT)
    due = [key for key in ("at", "cron", "every") if table.get(key)]
    if len(due) > 1:
        raise ConfigError(name, f"{where} has both {due[0]} and {due[1]}: one of them says when it is due", REMEDY)
    return JobSettings(
        name=job,
        command=command,
        folder=workspace_dir / reader.text("folder"),
        output=reader.text("output"),
        limit=reader.duration("max_runtime"),
        expected=reader.duration("expected_runtime"),
        env=env,
        at=tuple(parse_wall_time(name, f"{where}.at", text) for text in reader.texts("at")),
        cron=_parse_cron(name, where, reader),
        every=_parse_every(name, where, reader),
        catch_up=reader.duration("catch_up") or timedelta(hours=6),
        network=reader.flag("network"),
    )


def _parse_cron(name: str, where: str, reader: _Reader) -> str:
    text = reader.text("cron")
    if not text:
        return ""
    from lamplighter.schedule.cron_words import explain_cron  # noqa: PLC0415 - only a job with such an expression

    if problem := explain_cron(text):
        raise ConfigError(name, f"{where}.cron = {text[:40]!r}: {problem}", REMEDY)
    return text


def _parse_every(name: str, where: str, reader: _Reader) -> timedelta:
    text = reader.text("every")
    if not text:
        return timedelta()
    every = parse_duration(name, f"{where}.every", text, "1m", "30d")
    if every % timedelta(minutes=1):
        raise ConfigError(name, f"{where}.every = {text[:40]!r} must be whole minutes", REMEDY)
    return every


def check_job_name(job: str) -> str:
    """Return the name of a job a person typed; raises UsageError where it is none."""
    if problem := explain_job_name(job):
        raise UsageError(f"job {job[:60]!r}", problem, "give it a name like backup or nightly-report")
    return job


def explain_job_name(job: str) -> str:
    """Return why a name can be no job's, "" when it can: it names a folder, on disks that know no capitals too."""
    if _JOB.fullmatch(job) and ".." not in job:
        return ""
    return "a job's name has 1 to 64 small letters, digits and - _ . inside"


class _Reader:
    """Reads the keys of one table."""

    def __init__(self, name: str, where: str, table: Mapping[str, object]) -> None:
        self._name = name
        self._where = where
        self._table = table

    def text(self, key: str) -> str:
        value = self._table.get(key, "")
        if not isinstance(value, str) or "\0" in value:
            raise self._wrong(key, "a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._table.get(key, [])
        if not isinstance(value, (list, tuple)) or any(not isinstance(one, str) or "\0" in one for one in value):
            raise self._wrong(key, "a list of texts")
        return tuple(value)

    def mapping(self, key: str) -> dict[str, str]:
        value = self._table.get(key, {})
        if not isinstance(value, Mapping) or any(not isinstance(one, str) or "\0" in one for one in value.values()):
            raise self._wrong(key, 'like { NAME = "value" }')
        return dict(value)

    def flag(self, key: str) -> bool:
        value = self._table.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def duration(self, key: str) -> timedelta | None:
        text = self.text(key)
        return parse_duration(self._name, f"{self._where}.{key}", text, "1s", "30d") if text else None

    def _wrong(self, key: str, right: str) -> ConfigError:
        return ConfigError(self._name, f"{self._where}.{key} must be {right}", REMEDY)


def parse_duration(name: str, key: str, text: str, least: str, most: str) -> timedelta:
    """Return a duration like 15s, 5m, 2h or 30d between two others; raises ConfigError."""
    duration = read_duration(text)
    if duration is None:
        raise ConfigError(name, f"{key} = {text[:40]!r} must be like 15s, 5m, 2h or 30d", REMEDY)
    if not (read_duration(least) or timedelta()) <= duration <= (read_duration(most) or timedelta.max):
        raise ConfigError(name, f"{key} = {text[:40]!r} must be {least} to {most}", REMEDY)
    return duration


def read_duration(text: str) -> timedelta | None:
    """Return a duration like 15s, 5m, 2h or 30d, None for any other text."""
    match = re.fullmatch(r"([0-9]{1,6})\s*([smhd])", text.strip())
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]]) if match else None


def parse_wall_time(name: str, key: str, text: str) -> time:
    """Return a time of day like 19:30; raises ConfigError."""
    match = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", text)
    if match is None:
        raise ConfigError(name, f"{key} = {text[:40]!r} must be like 19:30", REMEDY)
    return time(int(match[1]), int(match[2]))


def is_folder(text: str) -> bool:
    """Say whether a text can name a folder; a ~ is the shell's and would become a folder of that name."""
    return bool(text) and "\0" not in text and not text.startswith("~")


def is_account(text: str) -> bool:
    """Say whether a text can be the name of an account."""
    return bool(_ACCOUNT.fullmatch(text))
