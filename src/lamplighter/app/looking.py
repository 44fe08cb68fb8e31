"""What commands show: how things stand, what ran, what a run wrote. Nothing here writes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lamplighter.app.answering import ALL_MIGRATIONS, Watched, read_watched
from lamplighter.app.cadence import list_cadences
from lamplighter.app.opening import Parts, reading
from lamplighter.app.place import Workspace
from lamplighter.config.settings import Settings
from lamplighter.engine.holder import read_is_held
from lamplighter.engine.ledger import RunRow
from lamplighter.engine.log import err_file, log_file, log_parts, out_file
from lamplighter.engine.owner import read_owner
from lamplighter.engine.reconcile import see_as_ended
from lamplighter.featurepost import generate
from lamplighter.featurepost.generate import StockLevel, read_level
from lamplighter.featurepost.stock import Place
from lamplighter.host.files import open_without_waiting
from lamplighter.publish import post
from lamplighter.publish.journal import Entry
from lamplighter.schedule.cadence import next_due, next_slot
from lamplighter.value import replace

_LONGEST_LOG = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What `lamplighter status` shows.

    Stock, today's post and the next slots of each job, last runs, lock holders, skips, and what the watcher last saw.
    """

    level: StockLevel
    drafts: int
    held: int
    posted_today: Entry | None
    next_post_at: datetime | None
    next_slots: tuple[tuple[str, datetime], ...]
    runs: tuple[RunRow, ...]
    holders: tuple[str, ...]
    skipped: tuple[str, ...]
    watched: Watched
    looked_at: datetime


def read_status(workspace: Workspace) -> Status:
    """Return how things stand; writes nothing."""
    now = workspace.clock.now()
    with reading(workspace, migrations=ALL_MIGRATIONS) as parts:
        settings = parts.settings
        at, zone = settings.post.at, settings.post.zone
        today = parts.journal.of_day(f"{now.astimezone(zone):%Y-%m-%d}")
        coming = next_slot(now, (at,) if at else (), zone)
        skips = [(brand.slug, parts.states.read(brand.slug, now=now)) for brand in parts.read_brands()]
        return Status(
            level=read_level(parts.stock, settings.generate.target, parts.journal.went_out),
            drafts=len(parts.stock.items(Place.DRAFT)),
            held=len(parts.stock.items(Place.HELD)),
            posted_today=today[0] if today else None,
            next_slots=_list_next(settings, now),
            watched=read_watched(settings, parts.database, workspace.clock),
            looked_at=now,
            next_post_at=coming.due_at.astimezone(zone) if coming else None,
            runs=tuple(
                _seen(run, parts) for job in (generate.JOB, post.JOB) for run in parts.ledger.latest(job=job, limit=1)
            ),
            holders=tuple(_describe_holders(settings.state_dir)),
            skipped=tuple(
                f"{slug} until {state.skip_until:%Y-%m-%d %H:%M} UTC: {state.skip_reason}"
                for slug, state in skips
                if state.skip_until is not None
            ),
        )


def _list_next(settings: Settings, now: datetime) -> tuple[tuple[str, datetime], ...]:
    """Return when each job is due next, those without due times apart."""
    found = ((job, next_due(now, cadence)) for job, cadence in list_cadences(settings).items())
    return tuple((job, slot.due_at.astimezone(settings.post.zone)) for job, slot in found if slot is not None)


def read_runs(workspace: Workspace, *, job: str, limit: int) -> tuple[RunRow, ...]:
    """Return the newest runs; one whose process is gone is shown as killed before the next run writes it."""
    with reading(workspace) as parts:
        return tuple(_seen(run, parts) for run in parts.ledger.latest(job=job, limit=limit))


def find_run(workspace: Workspace, number: int) -> RunRow:
    """Return one run; raises InputError."""
    with reading(workspace) as parts:
        return _seen(parts.ledger.find(number), parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """What was written to one of a run's logs."""

    what: str
    file: Path
    lines: tuple[str, ...]


def read_log(workspace: Workspace, number: int) -> tuple[LogPart, ...]:
    """Return the logs of a run in which anything is, that of our own words last; raises InputError."""
    with reading(workspace) as parts:
        run = parts.ledger.find(number)
        found = []
        for what, name in (("standard output", out_file), ("standard error", err_file), ("the run", log_file)):
            file = name(parts.settings.state_dir, run.job, number)
            lines = tuple(line for part in log_parts(file) for line in _read_lines(part, file))
            if lines:
                found.append(LogPart(what=what, file=file, lines=lines))
        return tuple(found)


def find_logs(workspace: Workspace, run: RunRow) -> tuple[Path, ...]:
    """Return the logs of a run that there are."""
    with reading(workspace) as parts:
        files = (name(parts.settings.state_dir, run.job, run.number) for name in (log_file, out_file, err_file))
        return tuple(part for file in files for part in log_parts(file))


def _read_lines(part: Path, file: Path) -> Iterator[str]:
    """Give the lines of a log's part; where the beginning is gone, or it is very long, that is said first."""
    with open(part, "rb", opener=open_without_waiting) as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            yield f"… {part} is not a regular file"
            return
        if part != file or status.st_size > _LONGEST_LOG:
            yield f"… what {file.name} said before this is not kept, or not shown: {part}"
        stream.seek(max(0, status.st_size - _LONGEST_LOG))
        yield from stream.read(_LONGEST_LOG).decode("utf-8", "replace").splitlines()


def _seen(run: RunRow, parts: Parts) -> RunRow:
    """Return a run as it is told now: its death if it was not written yet, its times in the workspace's zone."""
    zone, lock_dir = parts.settings.post.zone, parts.settings.state_dir / "locks" / run.job
    ended_at = run.ended_at.astimezone(zone) if run.ended_at else None
    return replace(
        run,
        report=see_as_ended(run, parts.ledger.now, lock_dir=lock_dir),
        started_at=run.started_at.astimezone(zone),
        ended_at=ended_at,
    )


def _describe_holders(state_dir: Path) -> Iterator[str]:
    for job in (generate.JOB, post.JOB):
        folder = state_dir / "locks" / job
        if read_is_held(folder):
            owner = read_owner(folder)
            yield f"{job}: {owner.describe() if owner else 'held'}"
