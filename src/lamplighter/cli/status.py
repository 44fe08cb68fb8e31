"""status and posted."""

from __future__ import annotations

import argparse

from lamplighter.app import looking, opening, place
from lamplighter.cli.command import Add, whole_number
from lamplighter.cli.console import Console, Json
from lamplighter.cli.report import describe_report


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    add("status", _status, "what is in stock, how the last runs ended, when the next post is due")
    parser = add("posted", _posted, "what went out")
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
    console.value(_describe(status))
    return 0


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
    }


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
