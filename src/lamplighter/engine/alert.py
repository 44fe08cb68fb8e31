"""ALERT.txt: what is wrong, in plain words beside the settings, while anything is; and the line at each command's head.

Beside it a mark of the last tick in the state folder, so that a watcher that stopped is told of by every command.
"""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lamplighter.errors import DiskError, render_line
from lamplighter.host.files import TEMPORARY_PREFIX, write_atomic

if TYPE_CHECKING:  # every command reads the head line, and only watch needs these
    from collections.abc import Iterable, Sequence
    from zoneinfo import ZoneInfo

    from lamplighter.engine.incident_life import Incident
    from lamplighter.engine.watch import TickReport

ALERT_FILE = "ALERT.txt"
MARK_FILE = "watch-tick"
_HEAD = "ALERT: "
_HEAD_BYTES = 4_000
_MARK_BYTES = 100
_LONGEST_HEAD = 400
_WRITING = timedelta(minutes=1)


def render_alert(report: TickReport, zone: ZoneInfo) -> str:
    """Return what ALERT.txt says after a tick, "" when all is well; the same text as long as nothing changes.

    The worst comes first. What a person has answered stands at the end, and is not cried at the head of commands.
    """
    open_keys = {incident.key.removesuffix(":unknown") for incident in report.shown}
    loud = [incident for incident in report.shown if not _answer(incident, report.at, zone)]
    blocks = [incident.describe(zone) for incident in sorted(loud, key=lambda one: -one.severity.rank)]
    blocks += [
        (verdict.line, f"why: {verdict.why}", f"type: {verdict.command}")
        for verdict in report.unknown
        if verdict.key not in open_keys
    ]
    answered = [
        (*incident.describe(zone), answer)
        for incident in report.shown
        if (answer := _answer(incident, report.at, zone))
    ]
    if not blocks:
        return _render_blocks([f"Known, and answered: {len(answered)}", ""], answered, zone) if answered else ""
    told = [line for line in blocks[0][1:] if line.startswith(("since: ", "type: "))]
    more = [f"{len(blocks) - 1} more"] if len(blocks) > 1 else []
    head = render_line(_HEAD + "; ".join((blocks[0][0], *told, *more)), limit=_LONGEST_HEAD)
    return _render_blocks([head, ""], [*blocks, *answered], zone)


def _answer(incident: Incident, at: datetime, zone: ZoneInfo) -> str:
    """Return what a person has answered as far as it still holds, "" when nobody has."""
    answer, until = incident.quiet_at(at).value, incident.quiet_until
    return f"{answer} until {until.astimezone(zone):%Y-%m-%d %H:%M}" if answer and until else ""


def _render_blocks(lines: list[str], blocks: Iterable[Sequence[str]], zone: ZoneInfo) -> str:
    for title, *rest in blocks:
        lines += [render_line(title), *(f"  {render_line(line)}" for line in rest), ""]
    lines.append(f"Times are {zone.key}. lamplighter watch wrote this file, and removes it when all is well again.")
    return "\n".join(lines) + "\n"


def write_alert(workspace_dir: Path, text: str, now: datetime) -> None:
    """Make ALERT.txt say `text`, or take it away when there is nothing to say; raises DiskError."""
    file = workspace_dir / ALERT_FILE
    _sweep(file, now)
    if not text:
        _remove(file)
    elif _read_start(file, len(text.encode()) + 1) != text.encode():
        write_atomic(file, text.encode())


def write_mark(state_dir: Path, at: datetime, every: timedelta) -> None:
    """Note when a tick ended and how soon the next is expected; raises DiskError."""
    _sweep(state_dir / MARK_FILE, at)
    write_atomic(state_dir / MARK_FILE, f"{at.timestamp():.0f} {every.total_seconds():.0f}\n".encode(), mode=0o600)


def head_line(workspace_dir: Path, state_dir: Path, now: datetime) -> str:
    """Return the line that stands above what any command says, "" when all is well or nobody ever watched.

    It costs the reading of two small files and never fails.
    """
    first = _read_start(workspace_dir / ALERT_FILE, _HEAD_BYTES).partition(b"\n")[0].decode("utf-8", "replace")
    alert = f"{render_line(first, limit=_LONGEST_HEAD)}; see {ALERT_FILE}" if first.startswith(_HEAD) else ""
    silence = _describe_silence(_read_start(state_dir / MARK_FILE, _MARK_BYTES), now)
    return "; ".join(part for part in (alert, silence) if part)


def _sweep(file: Path, now: datetime) -> None:
    """Take away what a watcher that was killed in mid-writing left beside a file; one at work is given a minute."""
    for leftover in file.parent.glob(f"{TEMPORARY_PREFIX}{file.name}.*"):
        with contextlib.suppress(OSError):
            if leftover.stat().st_mtime < (now - _WRITING).timestamp():
                leftover.unlink()


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(str(file), error.strerror or str(error), "take it away: all is well again") from error


def _describe_silence(mark: bytes, now: datetime) -> str:
    """Return that the watcher stopped, when its last tick is more than three intervals old."""
    with contextlib.suppress(ValueError, OverflowError, OSError):
        at, every = (int(word) for word in mark.split())
        age = now - datetime.fromtimestamp(at, tz=UTC)
        if age > 3 * timedelta(seconds=every):
            return f"watch has not run for {describe_age(age)}: nothing raises an alarm; lamplighter watch looks now"
    return ""


def describe_age(age: timedelta) -> str:
    """Return a length of time in minutes, hours or days, whichever is handy."""
    minutes = int(age.total_seconds() // 60)
    if minutes < 120:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours" if minutes < 48 * 60 else f"{minutes // 1440} days"


def _read_start(file: Path, limit: int) -> bytes:
    """Return the first bytes of a regular file, none when it cannot be read."""
    with contextlib.suppress(OSError):
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            return stream.read(limit)
    return b""
