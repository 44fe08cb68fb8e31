"""systemd: a service and a timer for each entry, and what systemctl says of them (pure).

Keys and reasons: systemd.service(5), systemd.timer(5), systemd.exec(5). RuntimeMaxSec= has no effect on a oneshot
service, so the limit is TimeoutStartSec=. There is no Condition…= and no After=network-online.target: a timer that
makes up for a missed time does not heed them, so a run itself waits for the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lamplighter.schedule.entry import LABEL_PREFIX, WATCH, Entry, group_minutes

HEAD = "# Written by `lamplighter schedule install` from the settings; a change here does not last."
_STOP_SECONDS = 60
_ENV, _UNSAFE = "/usr/bin/env", frozenset("\"'\\")  # systemd refuses a program with these in its path
_SOFT, _VERDICTS = "75", "75 2 3"  # a lock that is held; what the watcher found is no failure of it either
_MARGIN = timedelta(minutes=10)  # for the network, and for ending what is left
_NEVER_STARTED = re.compile(r"exit-code exited 2[0-4][0-9]|resources .*")  # systemd.exec(5), "Process Exit Codes"
_NEXT = re.compile(r"^\s*(?:Next elapse|Iter\. #[0-9]+|Iteration #[0-9]+): \w{3} ([0-9-]+ [0-9:]+) (\S+)", re.MULTILINE)
_IN_UTC = re.compile(r"^\s*\(in UTC\): \w{3} ([0-9-]+ [0-9:]+) UTC", re.MULTILINE)
Unit = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitState:
    """What `systemctl show` says of a unit."""

    id: str
    is_loaded: bool
    is_active: bool
    enabled: str
    file: str
    needs_reload: bool
    drop_ins: str
    result: str
    code: str
    status: str
    next_at: str


SHOWN = (
    "Id", "LoadState", "ActiveState", "UnitFileState", "FragmentPath", "NeedDaemonReload", "DropInPaths",
    "Result", "ExecMainCode", "ExecMainStatus", "NextElapseUSecRealtime",
)  # fmt: skip


def service_name(label: str) -> str:
    """Return the name of an entry's service."""
    return f"{label}.service"


def timer_name(label: str) -> str:
    """Return the name of an entry's timer."""
    return f"{label}.timer"


def render_service(entry: Entry) -> str:
    """Return the service of an entry; when it fails, the watcher looks at once."""
    project = entry.label.removesuffix(f".{entry.job}")
    watch = service_name(f"{project}.watch")
    limit = f"{(entry.limit + _MARGIN) // timedelta(seconds=1)}" if entry.limit is not None else "infinity"
    environment = " ".join(_quote(f"{name}={value}", dollar="$") for name, value in entry.environment)
    first, *rest = (_ENV, *entry.argv) if _UNSAFE & set(entry.argv[0]) else entry.argv
    argv = " ".join((_quote(first, dollar="$"), *(_quote(word) for word in rest)))
    ended = _quote(str(entry.boot_line_file))
    lines = [
        HEAD,
        "[Unit]",
        f"Description=lamplighter {entry.job} of {_percent(str(entry.folder))}",
        *([f"OnFailure={watch}"] if entry.catches_up and entry.job != WATCH else []),
        "",
        "[Service]",
        "Type=oneshot",
        f"ExecStart={argv}",
        f'ExecStopPost=-/bin/sh -c \'echo "$$SERVICE_RESULT $$EXIT_CODE $$EXIT_STATUS" > "$$0"\' {ended}',
        f"WorkingDirectory={_percent(str(entry.folder))}",
        f"Environment={environment}",
        "StandardInput=null",
        f"TimeoutStartSec={limit}",
        f"TimeoutStopSec={_STOP_SECONDS}",
        "KillMode=mixed",
        "OOMPolicy=stop",
        f"SuccessExitStatus={_VERDICTS if entry.job == WATCH else _SOFT}",
        "UMask=0077",
        "",
    ]
    return "\n".join(lines)


def render_timer(entry: Entry) -> str:
    """Return the timer of an entry: it makes up for the last missed time, and not all machines wake at one moment."""
    lines = [
        HEAD,
        "[Unit]",
        f"Description=when lamplighter {entry.job} of {_percent(str(entry.folder))} may be due",
        "",
        "[Timer]",
        *(f"OnCalendar={times}" for times in list_calendars(entry.minutes)),
        "Persistent=true",
        "AccuracySec=1min",
        "RandomizedDelaySec=90",
        "FixedRandomDelay=true",
        f"Unit={service_name(entry.label)}",
        "",
        "[Install]",
        "WantedBy=timers.target",
        "",
    ]
    return "\n".join(lines)


def list_calendars(minutes: frozenset[int]) -> Iterator[str]:
    """Yield times as systemd.time(7) has them."""
    for hours, shared in group_minutes(minutes):
        hour = "*" if len(hours) == 24 else ",".join(f"{number:02}" for number in hours)
        minute = "*" if len(shared) == 60 else ",".join(f"{number:02}" for number in shared)
        yield f"*-*-* {hour}:{minute}:00"


def find_edits(wanted: str, found: str) -> tuple[str, ...]:
    """Return the keys in which a unit is not as it is to be."""
    right, there = _parse_unit(wanted), _parse_unit(found)
    keys = dict.fromkeys(key for key, _ in (*right, *there))
    return tuple(key for key in keys if _values(right, key) != _values(there, key))


def parse_argv(unit: str) -> tuple[str, ...]:
    """Return what a service of ours starts, as far as it can be read."""
    line = next((value for key, value in _parse_unit(unit) if key == "Service.ExecStart"), "")
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
    found = tuple(
        re.sub(r"\\(.)", r"\1", quoted or plain).replace("%%", "%").replace("$$", "$") for quoted, plain in words
    )
    return found[1:] if found[:1] == (_ENV,) else found


def parse_show(text: str) -> dict[str, UnitState]:
    """Return what `systemctl show` says, by the name of the unit."""
    found: dict[str, UnitState] = {}
    for block in text.split("\n\n"):
        values = dict(line.partition("=")[::2] for line in block.splitlines() if "=" in line)
        if not values.get("Id"):
            continue
        found[values["Id"]] = UnitState(
            id=values["Id"],
            is_loaded=values.get("LoadState") == "loaded",
            is_active=values.get("ActiveState") in {"active", "activating"},
            enabled=values.get("UnitFileState", ""),
            file=values.get("FragmentPath", ""),
            needs_reload=values.get("NeedDaemonReload") == "yes",
            drop_ins=values.get("DropInPaths", ""),
            result=values.get("Result", ""),
            code=values.get("ExecMainCode", ""),
            status=values.get("ExecMainStatus", ""),
            next_at=values.get("NextElapseUSecRealtime", ""),
        )
    return found


def parse_ended(text: str) -> tuple[str, bool]:
    """Return how a service ended by what ExecStopPost= left, and whether its program never began."""
    words = text.strip()
    if words == "success exited 0":
        return "exit 0", False
    result, _, rest = words.partition(" ")
    code, _, status = rest.partition(" ")
    if _NEVER_STARTED.fullmatch(words):
        return f"systemd could not start it ({status or result})", True
    if result in {"exit-code", "success"}:
        return f"exit {status}", False
    return f"{result} {code} {status}".strip(), False


def parse_calendar(text: str) -> tuple[datetime, ...]:
    """Return the instants, in UTC, that `systemd-analyze calendar --iterations` tells."""
    in_utc = _IN_UTC.findall(text) or [when for when, zone in _NEXT.findall(text) if zone == "UTC"]
    return tuple(datetime.strptime(when, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) for when in in_utc)


def is_label(name: str) -> str:
    """Return the label of a unit's file name, "" for what is none of ours."""
    stem, _, kind = name.rpartition(".")
    return stem if stem.startswith(f"{LABEL_PREFIX}.") and kind in {"timer", "service"} else ""


def _quote(word: str, *, dollar: str = "$$") -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", dollar)
    return f'"{_percent(escaped)}"'


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _parse_unit(text: str) -> Unit:
    """Return section.key and value of every line that says something, in order."""
    section, found = "", []
    for line in text.splitlines():
        words = line.strip()
        if words.startswith("[") and words.endswith("]"):
            section = words[1:-1]
        elif words and not words.startswith(("#", ";")):
            key, _, value = words.partition("=")
            found.append((f"{section}.{key.strip()}", value.strip()))
    return tuple(found)


def _values(unit: Unit, key: str) -> list[str]:
    return [value for name, value in unit if name == key]
