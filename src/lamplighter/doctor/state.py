"""What the state folder knows: a whole database, a watcher that looks, drafts, incidents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from lamplighter.doctor.finding import Finding, good, say_age, say_count, wrong
from lamplighter.engine.incident_life import Incident
from lamplighter.schedule.check import INSTALL

_AWAY = timedelta(minutes=15)
_SHOWN = 3


def judge_watch(last_at: datetime | None, now: datetime, *, is_installed: bool, is_sample: bool) -> Finding:
    """Return whether somebody looks; `is_installed`: the system's scheduler is to have it done."""
    remedy = "lamplighter schedule verify" if is_installed else INSTALL
    if last_at is None:
        if is_sample:
            return good("watch", "nobody has looked yet, and these are only the sample brands; lamplighter watch does")
        return wrong("watch", "nobody has ever looked whether all is there", remedy)
    age = now - last_at
    said = f"last looked {say_age(age)}"
    if age < -_AWAY:
        return wrong(
            "watch", f"it last looked at {last_at:%Y-%m-%d %H:%M} UTC, which is to come", "set the clock right"
        )
    if age <= _AWAY or (is_sample and not is_installed):
        return good("watch", said)
    return wrong("watch", f"{said}, and should every five minutes", remedy)


def judge_drafts(count: int, most: int) -> Finding:
    """Return whether features that could not be made have piled up."""
    if count > most:
        return wrong(
            "drafts", f"{count} have piled up, each a feature that could not be made", "lamplighter stock list --all"
        )
    return good("drafts", say_count(count, "draft") if count else "none")


def judge_incidents(incidents: Sequence[Incident], now: datetime) -> tuple[Finding, ...]:
    """Return what the watcher found wrong; what a person has answered is known to them."""
    loud = [incident for incident in incidents if not incident.quiet_at(now).value]
    if not loud:
        known = f"{say_count(len(incidents), 'open incident')}, answered by you" if incidents else "none is open"
        return (good("incidents", known),)
    found = [
        wrong(f"incident {incident.number}", incident.line, incident.command or "lamplighter incidents list")
        for incident in loud[:_SHOWN]
    ]
    if len(loud) > _SHOWN:
        found.append(wrong("incidents", f"{len(loud) - _SHOWN} more are open", "lamplighter incidents list"))
    return tuple(found)
