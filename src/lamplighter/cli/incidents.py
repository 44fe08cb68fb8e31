"""incidents list|ack|snooze, pause and resume."""

from __future__ import annotations

import argparse
from datetime import timedelta

from lamplighter.app import answering, place
from lamplighter.cli.command import Add, whole_number
from lamplighter.cli.console import Console
from lamplighter.cli.report import describe_incident
from lamplighter.config.basics import read_duration
from lamplighter.engine.incident_life import LONGEST_QUIET, Incident, Quiet
from lamplighter.errors import UsageError, render_line

_SHORTEST = timedelta(minutes=1)


def add_commands(add: Add, add_alone: Add) -> None:
    """Add the commands to the parser: those of the group, and those that stand alone."""
    parser = add("list", _list, "what is wrong, since when, and what to type")
    parser.add_argument("--all", action="store_true", help="also what is over, newest first")
    parser.add_argument("--limit", type=whole_number, default=50, metavar="N", help="default: %(default)s")
    parser = add("ack", _acknowledge, "say that an incident is known: no reminders for a while, unless more is missing")
    parser.add_argument("number", type=whole_number, metavar="N")
    parser.add_argument("--for", dest="lasting", default="1d", metavar="TIME", help="like 3h; default: %(default)s")
    parser = add("snooze", _snooze, "hear no more of an incident for a while, but for its end")
    parser.add_argument("number", type=whole_number, metavar="N")
    parser.add_argument("--for", dest="lasting", default="1d", metavar="TIME", help="like 3h; default: %(default)s")
    parser = add_alone("pause", _pause, "let a job rest for a while, or all of them; it ends by itself")
    parser.add_argument("job", nargs="?", default="", metavar="JOB")
    parser.add_argument("--for", dest="lasting", default="1d", metavar="TIME", help="like 3h; default: %(default)s")
    parser.add_argument("--reason", default="", metavar="TEXT")
    parser = add_alone("resume", _resume, "end the pause of a job, or every pause")
    parser.add_argument("job", nargs="?", default="", metavar="JOB")


def _list(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    found = answering.read_incidents(workspace, limit=arguments.limit, is_open=not arguments.all)
    for incident in found:
        tell = console.bad if incident.resolved_at is None else console.line
        tell(f"{incident.number:<4} {incident.severity.value:<8} {incident.line}")
        for line in _details(incident):
            console.line(f"     {line}")
    if not found:
        console.good("nothing is wrong" if not arguments.all else "nothing ever was")
    console.value([describe_incident(incident) for incident in found])
    return 0


def _details(incident: Incident) -> list[str]:
    lines = [f"since {incident.since:%Y-%m-%d %H:%M} UTC"]
    if incident.resolved_at is not None:
        return [*lines, f"over {incident.resolved_at:%Y-%m-%d %H:%M} UTC: {incident.resolution}"]
    lines += [f"why: {incident.why}"] if incident.why else []
    lines += [f"it has come back {incident.flaps} times"] if incident.flaps else []
    if incident.quiet is not Quiet.NO and incident.quiet_until is not None:
        lines.append(f"{incident.quiet.value} until {incident.quiet_until:%Y-%m-%d %H:%M} UTC")
    return [*lines, f"type: {incident.command}"] if incident.command else lines


def _acknowledge(arguments: argparse.Namespace, console: Console) -> int:
    return _answer(arguments, console, Quiet.ACKNOWLEDGED)


def _snooze(arguments: argparse.Namespace, console: Console) -> int:
    return _answer(arguments, console, Quiet.SNOOZED)


def _answer(arguments: argparse.Namespace, console: Console, quiet: Quiet) -> int:
    lasting = _read_lasting(f"incidents {arguments.subcommand}", arguments.lasting)
    workspace = place.open_workspace(arguments.workspace, console.say)
    incident = answering.answer(workspace, arguments.number, quiet, lasting=lasting)
    console.good(f"incident {incident.number} is {quiet.value} until {incident.quiet_until:%Y-%m-%d %H:%M} UTC")
    console.value(describe_incident(incident))
    return 0


def _pause(arguments: argparse.Namespace, console: Console) -> int:
    lasting = _read_lasting("pause", arguments.lasting)
    workspace = place.open_workspace(arguments.workspace, console.say)
    pause = answering.pause(workspace, arguments.job, lasting=lasting, reason=render_line(arguments.reason, limit=200))
    console.good(f"{pause.job or 'every job'} is {pause.describe()}; {pause.remedy} ends it")
    console.value({"job": pause.job, "until": pause.ends_at.isoformat(timespec="seconds"), "reason": pause.reason})
    return 0


def _resume(arguments: argparse.Namespace, console: Console) -> int:
    resumed = answering.resume(place.open_workspace(arguments.workspace, console.say), arguments.job)
    done = f"{resumed.ended} ended" if resumed.ended else "nothing was paused"
    console.good(f"{arguments.job or 'every job'}: {done}")
    for pause in resumed.left:
        console.bad(f"{pause.job or 'every job'} is still {pause.describe()}; {pause.remedy} ends it")
    console.value({"job": arguments.job, "ended": resumed.ended, "left": [pause.job for pause in resumed.left]})
    return 0


def _read_lasting(subject: str, text: str) -> timedelta:
    """Return how long something is to last; raises UsageError: nothing lasts for ever."""
    lasting = read_duration(text)
    if lasting is None:
        raise UsageError(f"{subject} --for", f"{text[:40]!r} is no time", "write it like 30m, 3h or 2d")
    if not _SHORTEST <= lasting <= LONGEST_QUIET:
        raise UsageError(f"{subject} --for", f"{text[:40]} is not 1m to 30d", "it always ends by itself")
    return lasting
