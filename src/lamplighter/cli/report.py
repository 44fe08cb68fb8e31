"""How a finished run is told: one line and an exit code, or its record as JSON."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from lamplighter.cli.console import Console, Json
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.errors import DiskError

if TYPE_CHECKING:  # `run` reports too, and knows of no incident
    from lamplighter.engine.incident_life import Incident


def tell_report(console: Console, job: str, report: RunReport) -> int:
    """Print a run's outcome, as one line or as one JSON value, and return its exit code."""
    console.hurry()
    with contextlib.suppress(DiskError):  # what the run did counts, not whether it could be told
        console.value(describe_report(job, report))
    tell_line(console, job, report)
    return report.exit_code


def tell_line(console: Console, job: str, report: RunReport) -> None:
    """Print a run's outcome in a line for a person, with the evidence where nothing was done."""
    console.hurry()
    tell = console.bad if report.exit_code else console.good
    with contextlib.suppress(DiskError):
        tell(f"{job}: {report.outcome.value}: {report.line}")
        if report.outcome is Outcome.NOTHING_NEEDED:
            for fact in report.evidence:
                console.line(f"  {fact.name}: {fact.value}")


def describe_report(job: str, report: RunReport) -> dict[str, Json]:
    """Return a report as JSON says it."""
    return {
        "job": job,
        "outcome": report.outcome.value,
        "exit_code": report.exit_code,
        "line": report.line,
        "failure": report.failure.name.lower() if report.failure else None,
        "evidence": {fact.name: fact.value for fact in report.evidence},
        "outputs": list(report.outputs),
        "flags": list(report.flags),
    }


def describe_incident(incident: Incident) -> dict[str, Json]:
    """Return an incident for a program."""
    return {
        "number": incident.number,
        "key": incident.key,
        "opened_at": incident.opened_at.isoformat(timespec="seconds"),
        "since": incident.since.isoformat(timespec="seconds"),
        "line": incident.line,
        "why": incident.why,
        "severity": incident.severity.value,
        "quiet": incident.quiet.value,
        "quiet_until": incident.quiet_until.isoformat(timespec="seconds") if incident.quiet_until else None,
        "flaps": incident.flaps,
        "evidence": {fact.name: fact.value for fact in incident.evidence},
        "command": incident.command,
    }
