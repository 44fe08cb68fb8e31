"""status and posted."""

from __future__ import annotations

import argparse
from datetime import datetime

from lamplighter.app import looking, opening, place
from lamplighter.cli.command import Add, whole_number
from lamplighter.cli.console import Console, Json
from lamplighter.cli.report import describe_incident, describe_report
from lamplighter.engine.alert import describe_age
from lamplighter.engine.watch import AWAY


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    add("status", _status)
    parser = add("posted", _posted)
    parser.add_argument("--limit", type=whole_number, default=30, metavar="N", help="default: %(default)s")


def _status(arguments: argparse.Namespace, console: Console) -> int:
    status = looking.read_status(place.open_workspace(arguments.workspace, console.say))
    level = status.level
    tell = console.good if level.have >= level.target else console.line
    waiting = f", {len(level.waiting)} waiting for review" if level.waiting else ""
    tell(f"stock     {len(level.ready)} of {level.target} ready{waiting}; drafts: {status.drafts}, held: {status.held}")
    for line in level.troubles:
        console.bad(f"          does not count: {line}")
    console.line(f"post      {_post_line(status)}")
    for run in status.runs:
        ended = f"{run.report.outcome.value}: {run.report.line}" if run.report else "at work"
        tell = console.bad if run.report and run.report.exit_code else console.line
        tell(f"{run.job:<9} {run.started_at:%Y-%m-%d %H:%M}  {ended}")
    for holder in status.holders:
        console.line(f"lock      {holder}")
    for skip in status.skipped:
        console.line(f"skipped   {skip}")
    _tell_watched(status, console)
    console.value(_describe(status))
    return 0


def _tell_watched(status: looking.Status, console: Console) -> None:
    """Say what is due next, what is paused, what is wrong, and when the watcher last looked."""
    for job, due_at in status.next_slots:
        console.line(f"next      {job:<9} {due_at:%Y-%m-%d %H:%M %Z}")
    for pause in status.watched.pauses:
        console.line(f"paused    {pause.job or 'every job'} is {pause.describe()}; {pause.remedy} ends it")
    for incident in status.watched.incidents:
        answer = incident.quiet_at(status.looked_at).value
        tell = console.line if answer else console.bad
        tell(f"incident  {incident.number}: {incident.line}{f' ({answer})' if answer else ''}")
    last = status.watched.last_tick_at
    age = describe_age(status.looked_at - last) if last else ""
    tell = console.bad if last is None or status.looked_at - last > AWAY else console.line
    tell(f"watch     last looked {age} ago" if age else "watch     nobody has looked yet: lamplighter watch does")


def _post_line(status: looking.Status) -> str:
    today = status.posted_today
    done = f"today: {today.feature_id} ({today.state.value})" if today else "none today"
    due = f"; next slot {status.next_post_at:%Y-%m-%d %H:%M %Z}" if status.next_post_at else ""
    return f"{done}{due}"


def _describe(status: looking.Status) -> dict[str, Json]:
    return {
        "stock": {
            "have": status.level.have,
            "target": status.level.target,
            "ready": list(status.level.ready),
            "waiting": list(status.level.waiting),
            "troubles": list(status.level.troubles),
            "drafts": status.drafts,
            "held": status.held,
        },
        "posted_today": status.posted_today.feature_id if status.posted_today else None,
        "next_post_at": status.next_post_at.isoformat() if status.next_post_at else None,
        "runs": [
            {
                "number": run.number,
                "started_at": run.started_at.isoformat(timespec="seconds"),
                **(describe_report(run.job, run.report) if run.report else {"job": run.job, "outcome": None}),
            }
            for run in status.runs
        ],
        "locks": list(status.holders),
        "skipped": list(status.skipped),
        "next_slots": {job: due_at.isoformat() for job, due_at in status.next_slots},
        "paused": [{"job": pause.job, "until": pause.ends_at.isoformat()} for pause in status.watched.pauses],
        "incidents": [describe_incident(incident) for incident in status.watched.incidents],
        "last_watch_at": _say_instant(status.watched.last_tick_at),
    }


def _say_instant(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _posted(arguments: argparse.Namespace, console: Console) -> int:
    with opening.reading(place.open_workspace(arguments.workspace, console.say)) as parts:
        entries = parts.journal.entries(limit=arguments.limit)
    out = [(entry, entry.receipt) for entry in entries if entry.receipt is not None]
    console.table([(entry.slot, entry.feature_id, receipt.location) for entry, receipt in out])
    if not out:
        console.line("nothing has gone out yet")
    console.value(
        [
            {
                "slot": entry.slot,
                "feature": entry.feature_id,
                "id": receipt.id,
                "location": receipt.location,
                "published_at": receipt.published_at.isoformat(timespec="seconds"),
            }
            for entry, receipt in out
        ]
    )
    return 0
