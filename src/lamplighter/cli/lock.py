"""lock status and end."""

from __future__ import annotations

import argparse
import contextlib
import os
from datetime import timedelta
from pathlib import Path

from lamplighter.app import place
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console, Json, confirm
from lamplighter.config.basics import BUILT_IN_JOBS, find_basics, find_job
from lamplighter.engine.history import Event, read_history
from lamplighter.engine.holder import is_gone
from lamplighter.engine.lock import JobLock
from lamplighter.engine.lockstatus import LockStatus, read_status
from lamplighter.errors import InputError, LamplighterError, LockBusy, UsageError

_EVENTS = 10


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("status", _status, "who holds the lock of each job, or of one, and for how long it may")
    parser.add_argument("job", nargs="?", default="", metavar="JOB")
    parser = add("end", _end, "end the run that holds a job's lock, once it is proved to be that run")
    parser.add_argument("job", metavar="JOB")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _status(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace_to_look(arguments.workspace, console.say)
    folders = _find_folders(workspace.folder, arguments.job)
    stati = [read_status(folder, workspace.clock.monotonic()) for folder in folders]
    for status in stati:
        for line in _render(status):
            console.line(line)
    events = read_history(folders[0], limit=_EVENTS) if arguments.job else ()
    for event in events:
        console.line(_render_event(event))
    described = [_describe(status) for status in stati]
    if arguments.job:
        console.value({**described[0], "history": [_describe_event(event) for event in events]})
    else:
        console.value(described)
    return 0


def _end(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace_to_look(arguments.workspace, console.say)
    place.refuse_other_user(workspace.folder)
    (folder,) = _find_folders(workspace.folder, arguments.job)
    status = read_status(folder, workspace.clock.monotonic())
    had = status.is_held
    if had:
        owner = status.owner
        if owner is None or not (status.is_confirmed or is_gone(owner)):
            raise LockBusy(
                f"job {status.job}", f"held by {_say_holder(status)}, so nothing was touched", "end that process itself"
            )
        if not arguments.yes and not confirm(f"End {_say_holder(status)}?"):
            raise UsageError("lock end", "it was not confirmed", "say yes at a terminal, or add --yes")
        had = JobLock(folder, workspace.clock).end_holder(owner.nonce)
    console.good(f"{status.job}: {'ended, and the lock is free' if had else 'the lock is free already'}")
    console.value({"job": status.job, "ended": had})
    return 0


def _find_folders(workspace_dir: Path, job: str) -> list[Path]:
    """Return the lock folder of each known job, or of the named one; raises InputError when it is not known."""
    locks = find_basics(workspace_dir)[0] / "locks"
    found = {path.name for path in locks.iterdir() if path.is_dir()} if locks.is_dir() else set()
    with contextlib.suppress(LamplighterError):
        found.add(find_job(workspace_dir, job).name)
    jobs = sorted({*BUILT_IN_JOBS, *found})
    if job and job not in jobs:
        raise InputError(f"job {job!r}", "no run of it was ever locked here", f"known are {', '.join(jobs)}")
    return [locks / name for name in jobs if job in {"", name}]


def _render(status: LockStatus) -> list[str]:
    """Return what a person reads of one lock."""
    owner = status.owner
    if not status.is_held:
        last = f"; last held by {owner.describe()}" if owner else ""
        ended = f", ended: {owner.ended}" if owner and owner.ended else ""
        return [f"{status.job}: free{last}{ended}"]
    lines = [f"{status.job}: held by {_say_holder(status)}"]
    if status.user not in {None, os.geteuid()}:
        lines.append(f"  it is user {status.user}'s and cannot be signalled from here")
    if status.is_confirmed and owner is not None:
        lines.append("  the system confirms that pid")
        if status.age is not None:
            lines.append(f"  for {_say_duration(status.age)}{_say_left(status.left)}")
        if status.phase_age is not None:
            lines.append(f"  at {owner.phase} for {_say_duration(status.phase_age)}")
        lines += [f"  started pid {child.pid} ({child.command})" for child in owner.children]
    if status.keepers not in {(), (status.pid,)}:
        lines.append(f"  kept by pids {', '.join(map(str, status.keepers))}")
    return lines


def _say_holder(status: LockStatus) -> str:
    if status.is_confirmed and status.owner is not None:
        return status.owner.describe()
    who = f"pid {status.pid}" if status.pid else "a process that the system does not name"
    return f"{who}, which the record does not tell of"


def _say_left(left: timedelta | None) -> str:
    if left is None:
        return ", and it set itself no limit"
    if left < timedelta(0):
        return f", {_say_duration(-left)} past its limit: the next run ends it"
    return f", and the next run may end it in {_say_duration(left)}"


def _say_duration(duration: timedelta) -> str:
    return str(timedelta(seconds=int(duration.total_seconds())))


def _render_event(event: Event) -> str:
    generation = f" {event.generation}" if event.generation else ""
    return f"  {event.at} {event.what}{generation} pid {event.pid}: {event.text}"


def _describe(status: LockStatus) -> dict[str, Json]:
    owner = status.owner
    return {
        "job": status.job,
        "held": status.is_held,
        "pid": status.pid or None,
        "confirmed": status.is_confirmed,
        "keepers": list(status.keepers),
        "user": status.user,
        "age_seconds": status.age.total_seconds() if status.age is not None else None,
        "left_seconds": status.left.total_seconds() if status.left is not None else None,
        "phase_seconds": status.phase_age.total_seconds() if status.phase_age is not None else None,
        "record": None
        if owner is None
        else {
            "state": owner.state,
            "pid": owner.pid,
            "uid": owner.uid,
            "host": owner.host,
            "command": owner.command,
            "trigger": owner.trigger,
            "since": owner.since,
            "generation": owner.generation,
            "phase": owner.phase,
            "limit_seconds": owner.limit,
            "grace_seconds": owner.grace,
            "children": [{"pid": child.pid, "command": child.command} for child in owner.children],
            "ended": owner.ended,
        },
    }


def _describe_event(event: Event) -> dict[str, Json]:
    return {
        "at": event.at,
        "what": event.what,
        "generation": event.generation,
        "pid": event.pid,
        "text": event.text,
    }
