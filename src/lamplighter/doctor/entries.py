"""The scheduler's entries: there, taken in, enabled, as we installed them, and woken when we are due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from lamplighter.doctor.finding import Finding, good, say_at, unknown, wrong
from lamplighter.engine.slot import WAKE_LAG
from lamplighter.schedule.check import INSTALL, Check

_NO_DAEMON = "no cron daemon runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fires:
    """When a job is due next as we count, when the system wakes us, and in words what it does not say."""

    due_at: tuple[datetime, ...] = ()
    woken_at: tuple[datetime, ...] = ()
    words: str = ""


def judge_none(*, is_timed: bool, is_sample: bool) -> Finding:
    """Return what it means that nothing was ever installed."""
    if is_sample:
        return good("scheduler", f"nothing starts the jobs, and these are only the sample brands; {INSTALL} would")
    if not is_timed:
        return good("scheduler", "nothing is installed, and no job has due times")
    return wrong("scheduler", "nothing starts the jobs when they are due", INSTALL)


def judge_entries(checks: Sequence[Check], fires: Mapping[str, Fires], zone: tzinfo) -> Iterator[Finding]:
    """Yield how each entry stands."""
    for check in checks:
        about = f"entry {check.job or check.label}"
        last = f"; its last start: {check.last_exit}" if check.last_exit else ""
        if check.drift is not None:
            yield wrong(about, f"{check.drift.value}: {check.words}{last}", check.remedy or INSTALL)
            continue
        yield _judge_fires(about, f"loaded, enabled, {check.words}", fires.get(check.label, Fires()), last, zone)


def _judge_fires(about: str, words: str, fires: Fires, last: str, zone: tzinfo) -> Finding:
    """Return whether the system wakes us by when we are due; it may well do so more often than that."""
    due, woken = _say(fires.due_at, zone), _say(fires.woken_at, zone)
    if not fires.woken_at:
        return unknown(about, f"{words}, but when the system wakes us is not known: {fires.words or 'it does not say'}")
    late = bool(fires.due_at) and min(fires.woken_at) > fires.due_at[0] + WAKE_LAG
    if late:
        return wrong(about, f"it is due at {due}, and the system wakes us at {woken} only", INSTALL)
    due = f"due {due}, " if due else ""
    return good(about, f"{words}; {due}woken {woken}{last}")


def judge_login(launcher: str, remarks: Sequence[str], silence: str) -> Finding:
    """Return whether entries run while nobody is logged in; `silence` is what cron says of its daemon."""
    words = "; ".join(remarks)
    if launcher == "cron":
        if silence.startswith(_NO_DAEMON):
            return wrong("login", _NO_DAEMON, silence.partition(": ")[2] or "start it")
        return good("login", f"cron needs nobody to be logged in; {words}")
    if launcher == "systemd":
        if remarks:
            what, _, remedy = words.partition(": ")
            return wrong("login", what, remedy.removesuffix(" lets them run on") or INSTALL)
        return good("login", "timers run on when you log out (lingering)")
    return good("login", words or "nobody need be logged in")


def _say(instants: Sequence[datetime], zone: tzinfo) -> str:
    return say_at(instants[0].astimezone(zone)) if instants else ""
