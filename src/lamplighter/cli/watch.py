"""watch."""

from __future__ import annotations

import argparse
import contextlib

from lamplighter.app.place import open_workspace
from lamplighter.app.watch import run_watch
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console, Json
from lamplighter.cli.report import describe_incident
from lamplighter.engine.expectation import Standing, Verdict
from lamplighter.engine.watch import TickReport
from lamplighter.errors import DiskError


def add_commands(add: Add) -> None:
    """Add the command to the parser."""
    add("watch", _watch)


def _watch(arguments: argparse.Namespace, console: Console) -> int:
    report = run_watch(open_workspace(arguments.workspace, console.say))
    with contextlib.suppress(DiskError):  # what was found counts, not whether it could be told
        _tell(report, console)
    return report.code


def _tell(report: TickReport, console: Console) -> None:
    for verdict in report.verdicts:
        bad = verdict.standing in {Standing.FAILING, Standing.UNKNOWN}
        tell = console.bad if bad else console.line
        tell(f"{verdict.standing.value:<8} {verdict.line}")
        if bad:
            console.line(f"         why: {verdict.why}")
            console.line(f"         type: {verdict.command}")
    if report.away_since is not None:
        console.line(f"watch did not run from {report.away_since:%Y-%m-%d %H:%M} to {report.at:%Y-%m-%d %H:%M} UTC")
    console.value(_describe(report))


def _describe(report: TickReport) -> dict[str, Json]:
    return {
        "at": report.at.isoformat(timespec="seconds"),
        "standing": report.code.name.lower(),
        "exit_code": int(report.code),
        "away_since": report.away_since.isoformat(timespec="seconds") if report.away_since else None,
        "verdicts": [_describe_verdict(verdict) for verdict in report.verdicts],
        "incidents": [describe_incident(incident) for incident in report.incidents],
    }


def _describe_verdict(verdict: Verdict) -> dict[str, Json]:
    return {
        "key": verdict.key,
        "standing": verdict.standing.value,
        "line": verdict.line,
        "since": verdict.since.isoformat(timespec="seconds") if verdict.since else None,
        "severity": verdict.severity.value,
        "why": verdict.why,
        "command": verdict.command,
    }
