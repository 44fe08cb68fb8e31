"""launchd: agents as property lists, and what launchctl says of them (pure). Never tried on a Mac.

Keys and reasons: launchd.plist(5); a list that group or others may write is refused, so it is 0644.
"""

from __future__ import annotations

import plistlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from xml.parsers.expat import ExpatError

from lamplighter.schedule.entry import Entry, group_minutes

EXIT_SECONDS = 60  # launchd's own 20 are short for writing the record of a run at logout
UMASK = 0o077
_NEVER_STARTED = 78  # launchd's own word for a program that it could not start; no exit code of ours
_EXIT = re.compile(r"^\s*last exit code = (?P<code>-?[0-9]+)", re.MULTILINE)
_SIGNAL = re.compile(r"^\s*last terminating signal = (?P<signal>.+)$", re.MULTILINE)
_RUNNING = re.compile(r"^\tstate = running$", re.MULTILINE)  # what is deeper in has states of its own
_DISABLED = re.compile(r'^\s*"(?P<label>[^"]+)" => (?P<word>\w+)', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """What `launchctl print` says of an agent: its file, and how its last start ended ("": it has not ended yet)."""

    file: str
    last_exit: str
    failed_start: bool
    is_running: bool


def render_agent(entry: Entry) -> bytes:
    """Return the property list of an entry.

    StartCalendarInterval makes up after sleep and RunAtLoad after a power-off: the slot of a run makes both harmless.
    There is no KeepAlive, which would start again what fails, and no StartInterval, which is lost in sleep.
    """
    agent: dict[str, object] = {
        "Label": entry.label,
        "ProgramArguments": list(entry.argv),
        "WorkingDirectory": str(entry.folder),
        "EnvironmentVariables": dict(entry.environment),
        "StandardOutPath": str(entry.boot_file),
        "StandardErrorPath": str(entry.boot_file),
        "RunAtLoad": entry.catches_up,
        "ExitTimeOut": EXIT_SECONDS,
        "Umask": UMASK,
    }
    if entry.minutes:
        agent["StartCalendarInterval"] = list(_list_intervals(entry.minutes))
    if entry.is_content:
        agent["ProcessType"] = "Interactive"  # the others are throttled
    return plistlib.dumps(agent, sort_keys=True)


def _list_intervals(minutes: frozenset[int]) -> list[dict[str, int]]:
    """Return the times as launchd has them: what a dictionary leaves out is any."""
    found: list[dict[str, int]] = []
    for hours, shared in group_minutes(minutes):
        if len(hours) == 24:
            found += [{}] if len(shared) == 60 else [{"Minute": minute} for minute in shared]
        else:
            found += [{"Hour": hour, "Minute": minute} for hour in hours for minute in shared]
    return found


def find_edits(entry: Entry, content: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys in which a property list is not as it is to be, and what it starts."""
    wanted = plistlib.loads(render_agent(entry))
    try:
        found = plistlib.loads(content)
    except (ValueError, ExpatError, plistlib.InvalidFileException, OverflowError, TypeError, LookupError):
        return ("it is no property list",), ()
    if not isinstance(found, Mapping):
        return ("it is no property list",), ()
    edits = tuple(key for key in sorted({*wanted, *map(str, found)}) if wanted.get(key) != found.get(key))
    argv = found.get("ProgramArguments")
    return edits, tuple(map(str, argv)) if isinstance(argv, list) else ()


def parse_print(text: str) -> AgentState:
    """Return what `launchctl print gui/UID/LABEL` says."""
    code, signal = _EXIT.search(text), _SIGNAL.search(text)
    number = int(code["code"]) if code else None
    words = f"exit {number}" if number is not None else ""
    if signal:
        words = f"ended by {signal['signal'].strip()}"
    file = re.search(r"^\s*path = (.+)$", text, re.MULTILINE)
    return AgentState(
        file=file[1].strip() if file else "",
        last_exit=words,
        failed_start=number == _NEVER_STARTED and not signal,
        is_running=_RUNNING.search(text) is not None,
    )


def parse_disabled(text: str) -> frozenset[str]:
    """Return the labels that `launchctl print-disabled gui/UID` calls disabled; older systems say true for that."""
    return frozenset(found["label"] for found in _DISABLED.finditer(text) if found["word"] in {"disabled", "true"})


def parse_list(text: str) -> frozenset[str]:
    """Return the labels of `launchctl list`: pid, last status and label, parted by tabs."""
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return frozenset(row[2].strip() for row in rows if len(row) == 3)
