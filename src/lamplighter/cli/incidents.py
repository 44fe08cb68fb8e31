"""incidents list, ack and snooze."""

from __future__ import annotations

import argparse

from lamplighter.app import answering, place
from lamplighter.cli.command import Add, read_lasting, whole_number
from lamplighter.cli.console import Console
from lamplighter.cli.report import describe_incident
from lamplighter.engine.incident_life import Incident, Quiet


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("list", _list, "what is wrong, since when, and what to type")
    parser.add_argument("--all", action="store_true", help="also what is over, newest first")
    parser.add_argument("--limit", type=whole_number, default=50, metavar="N", help="default: %(default)s")
    parser = add("ack", _acknowledge, "say that an incident is known: no reminders for a while, unless more is missing")
    parser.add_argument("number", type=whole_number, metavar="N")
    parser.add_argument("--for", dest="lasting", default="1d", metavar="TIME", help="like 3h; default: %(default)s")
    parser = add("snooze", _snooze, "hear no more of an incident for a while, but for its end")
    parser.add_argument("number", type=whole_number, metavar="N")
    parser.add_argument("--for", dest="lasting", default="1d", metavar="TIME", help="like 3h; default: %(default)s")


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
    lasting = read_lasting(f"incidents {arguments.subcommand}", arguments.lasting)
    workspace = place.open_workspace(arguments.workspace, console.say)
    incident = answering.answer(workspace, arguments.number, quiet, lasting=lasting)
    console.good(f"incident {incident.number} is {quiet.value} until {incident.quiet_until:%Y-%m-%d %H:%M} UTC")
    console.value(describe_incident(incident))
    return 0
