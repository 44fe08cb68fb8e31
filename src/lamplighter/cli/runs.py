"""runs list, show, log."""

from __future__ import annotations

import argparse

from lamplighter.app import looking, place
from lamplighter.cli.command import Add, whole_number
from lamplighter.cli.console import Console, Json
from lamplighter.cli.report import describe_report
from lamplighter.engine.ledger import RunRow


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("list", _list, "the newest runs and how each ended")
    parser.add_argument("--job", default="", metavar="JOB", help="of this job only")
    parser.add_argument("--limit", type=whole_number, default=20, metavar="N", help="default: %(default)s")
    for name, handler, text in (("show", _show, "one run, all of it"), ("log", _log, "the log of one run")):
        add(name, handler, text).add_argument("number", type=whole_number, metavar="N")


def _list(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace_to_look(arguments.workspace, console.say)
    rows = looking.read_runs(workspace, job=arguments.job, limit=arguments.limit)
    console.table(
        [
            (
                str(run.number),
                f"{run.started_at:%Y-%m-%d %H:%M}",
                run.job,
                run.report.outcome.value if run.report else "at work",
                run.report.line if run.report else "",
            )
            for run in rows
        ]
    )
    if not rows:
        console.line(f"no run of {arguments.job!r}" if arguments.job else "nothing has run yet")
    console.value([_describe(run) for run in rows])
    return 0


def _show(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace_to_look(arguments.workspace, console.say)
    run = looking.find_run(workspace, arguments.number)
    described = {**_describe(run), "logs": [str(file) for file in looking.find_logs(workspace, run)]}
    for key, value in described.items():
        first, *rest = _words(value).splitlines() or ["-"]
        console.line(f"{key.replace('_', ' '):<14} {first}")
        for line in rest:
            console.line(f"{'':<14} {line}")
    console.value(described)
    return 0


def _words(value: Json) -> str:
    """Return a value as a person reads it."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {text}" for name, text in value.items()) or "-"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "-"
    return "-" if value is None else str(value)


def _log(arguments: argparse.Namespace, console: Console) -> int:
    parts = looking.read_log(place.open_workspace_to_look(arguments.workspace, console.say), arguments.number)
    for part in parts:
        console.line(f"— {part.what}: {part.file}")
        for line in part.lines:
            console.line(line)
    if not parts:
        console.line(f"run {arguments.number} left no line")
    console.value([{"what": part.what, "file": str(part.file), "lines": list(part.lines)} for part in parts])
    return 0


def _describe(run: RunRow) -> dict[str, Json]:
    return {
        "number": run.number,
        "command": run.command,
        "trigger": run.trigger,
        "started_at": run.started_at.isoformat(timespec="seconds"),
        "ended_at": run.ended_at.isoformat(timespec="seconds") if run.ended_at else None,
        "generation": run.generation,
        "slot": run.slot or None,
        **(describe_report(run.job, run.report) if run.report else {"job": run.job, "outcome": None}),
        "own_exit_code": run.own_code,
        "last_output": run.tails.out,
        "last_errors": run.tails.err,
    }
