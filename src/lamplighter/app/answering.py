"""A person's answers: incidents acknowledged and snoozed, jobs paused and resumed; each ends by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamplighter.app.opening import MIGRATIONS, reading
from lamplighter.app.place import Workspace, refuse_other_user
from lamplighter.app.running import opening_to_write
from lamplighter.app.watch_table import WATCH_MIGRATIONS
from lamplighter.config.basics import BUILT_IN_JOBS
from lamplighter.config.settings import Settings, read_settings
from lamplighter.engine.incident import Incidents
from lamplighter.engine.incident_life import Incident, Quiet
from lamplighter.engine.pause import Pause, Pauses
from lamplighter.engine.watch import last_tick_at
from lamplighter.errors import InputError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.notify.outbox import Outbox

ALL_MIGRATIONS = (*MIGRATIONS, *WATCH_MIGRATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What `resume` did: how many pauses it ended, and which still cover the job."""

    ended: int
    left: tuple[Pause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What the watcher last saw, as `status` shows it: when it looked, what is open, what is paused."""

    last_tick_at: datetime | None
    incidents: tuple[Incident, ...]
    pauses: tuple[Pause, ...]


def pause(workspace: Workspace, job: str, *, lasting: timedelta, reason: str) -> Pause:
    """Pause a job, or all with ""; raises InputError for a job that is not there."""
    with _writing(workspace) as (settings, database):
        _check_job(settings, job)
        return Pauses(database, workspace.clock, settings.account).begin(job, lasting=lasting, reason=reason)


def resume(workspace: Workspace, job: str) -> Resumed:
    """End the pauses of a job, or all with ""; raises InputError for a job that is not there."""
    with _writing(workspace) as (settings, database):
        _check_job(settings, job)
        pauses = Pauses(database, workspace.clock, settings.account)
        ended = pauses.end(job)
        return Resumed(ended=ended, left=tuple(left for left in pauses.now() if left.job in {"", job}))


def answer(workspace: Workspace, number: int, quiet: Quiet, *, lasting: timedelta) -> Incident:
    """Acknowledge or snooze an open incident; raises InputError when none of that number is open."""
    with _writing(workspace) as (settings, database):
        return _incidents(settings, database, workspace.clock).answer(number, quiet, lasting=lasting)


def read_incidents(workspace: Workspace, *, limit: int, is_open: bool) -> tuple[Incident, ...]:
    """Return the open incidents, oldest first, or the newest of all, newest first; writes nothing."""
    with reading(workspace, migrations=ALL_MIGRATIONS) as parts:
        incidents = _incidents(parts.settings, parts.database, workspace.clock)
        return incidents.open()[:limit] if is_open else incidents.latest(limit=limit)


def read_watched(settings: Settings, database: Database, clock: Clock) -> Watched:
    """Return what the watcher last saw."""
    return Watched(
        last_tick_at=last_tick_at(database, settings.account),
        incidents=_incidents(settings, database, clock).open(),
        pauses=Pauses(database, clock, settings.account).now(),
    )


def _incidents(settings: Settings, database: Database, clock: Clock) -> Incidents:
    outbox = Outbox(database, clock, settings.account)
    return Incidents(database, clock, settings.account, outbox=outbox, zone=settings.post.zone)


@contextlib.contextmanager
def _writing(workspace: Workspace) -> Iterator[tuple[Settings, Database]]:
    refuse_other_user(workspace.folder)
    settings = read_settings(workspace.folder)
    with opening_to_write(workspace, settings.state_dir, ALL_MIGRATIONS) as opened:
        yield settings, opened.database


def _check_job(settings: Settings, job: str) -> None:
    known = (*BUILT_IN_JOBS[:2], *(own.name for own in settings.jobs))
    if job and job not in known:
        raise InputError(f"job {job[:60]!r}", "there is no such job", f"known are {', '.join(known)}")
