"""The proof that a scheduler starts us: it is asked for one run, and that run is looked for in the ledger."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.app import probe
from lamplighter.app.running import DATABASE_FILE, ENGINE_MIGRATIONS
from lamplighter.config.settings import Settings
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.engine.repair import open_to_look
from lamplighter.errors import LamplighterError, NeedsHuman, UpstreamError
from lamplighter.host.clock import Clock
from lamplighter.schedule.check import INSTALL
from lamplighter.schedule.entry import Entry
from lamplighter.schedule.launcher import Launcher

_LOOK_EVERY = timedelta(milliseconds=500)
_TOKEN_AT = 4  # of the arguments


def prove(
    launcher: Launcher, entry: Entry, project: str, *, clock: Clock, settings: Settings, say: Callable[[str], None]
) -> str:
    """Have the scheduler start a run of ours, and return in words that it did; raises UpstreamError or NeedsHuman."""
    now = clock.now()
    try:
        until = launcher.start(entry, now)
        say(f"waiting for {launcher.name} to start a run, {(until - now).total_seconds():.0f} s at most")
        found = _wait_for_run(clock, settings, entry.argv[_TOKEN_AT], until)
        if found is None:
            raise _explain_silence(launcher, entry)
    finally:
        launcher.clear(entry, project)
    when = found.started_at.astimezone(settings.post.zone)
    return f"{launcher.name} started lamplighter at {when:%H:%M:%S}: it works"


def _wait_for_run(clock: Clock, settings: Settings, token: str, until: datetime) -> RunRow | None:
    while True:
        found = [run for run in _read_probes(clock, settings) if _token_of(run) == token]
        if found or clock.now() >= until:
            return found[0] if found else None
        clock.wait(_LOOK_EVERY)


def _read_probes(clock: Clock, settings: Settings) -> tuple[RunRow, ...]:
    with contextlib.suppress(LamplighterError):
        file = settings.state_dir / DATABASE_FILE
        with open_to_look(file, ENGINE_MIGRATIONS, logs_dir=settings.state_dir / "logs") as database:
            return Ledger(database, clock, settings.account).latest(job=probe.JOB, limit=5)
    return ()


def _token_of(run: RunRow) -> str:
    facts = run.report.evidence if run.report else ()
    return next((fact.value for fact in facts if fact.name == probe.TOKEN), "")


def _explain_silence(launcher: Launcher, entry: Entry) -> LamplighterError:
    """Return what to raise when no run was seen: what the system says, and the last line of what the run said."""
    said, why = _read_last_line(entry.boot_file), launcher.explain_silence(entry)
    subject = f"schedule {launcher.name}"
    if "no cron daemon" in why:
        return NeedsHuman(subject, "the entries are in place, but no cron daemon runs", "sudo service cron start")
    cause = f"the entries are in place, but no run was seen: {why}{f'; it said: {said}' if said else ''}"
    return UpstreamError(subject, cause, f"look into {entry.boot_file}, then {INSTALL}")


def _read_last_line(file: Path) -> str:
    with contextlib.suppress(OSError):
        lines = file.read_bytes()[-2_000:].decode("utf-8", "replace").splitlines()
        return lines[-1][:300] if lines else ""
    return ""
