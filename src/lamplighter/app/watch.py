"""What is expected of a workspace, and one tick of watching it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from lamplighter.app.cadence import list_cadences
from lamplighter.app.opening import MIGRATIONS, Parts, assemble, build_publisher
from lamplighter.app.place import Workspace, refuse_other_user
from lamplighter.app.running import DATABASE_FILE, opening_to_write
from lamplighter.config.basics import find_basics
from lamplighter.config.settings import read_settings
from lamplighter.engine import incident, slot_table, watch
from lamplighter.engine.alert import render_alert, write_alert, write_mark
from lamplighter.engine.expectation import (
    AgeFacts,
    ByTime,
    DayFacts,
    Level,
    LevelFacts,
    MaxAge,
    Probe,
    ProbeFacts,
    RunFact,
    Streak,
    StreakFacts,
)
from lamplighter.engine.incident import Incidents
from lamplighter.engine.job import Outcome
from lamplighter.engine.ledger import RunRow
from lamplighter.engine.reconcile import reconcile
from lamplighter.engine.repair import find_repairs
from lamplighter.engine.slot import MISS_WORDS, MissReason, Slots, decide_miss_reason
from lamplighter.engine.watch import EVERY, TROUBLES, Expected, TickReport, Watcher, add_doubt, blind_report
from lamplighter.errors import InputError, LamplighterError
from lamplighter.featurepost import generate
from lamplighter.featurepost.generate import StockLevel, read_level
from lamplighter.featurepost.stock import Place
from lamplighter.host.boot import read_boot_at
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.host.identity import read_boot_id
from lamplighter.notify import outbox
from lamplighter.notify.outbox import Outbox
from lamplighter.publish import post
from lamplighter.publish.post import read_record
from lamplighter.schedule.cadence import LOOK_BACK, Cadence, Slot, slots_between

WATCH_MIGRATIONS: tuple[Migration, ...] = (
    *slot_table.MIGRATIONS,
    *outbox.MIGRATIONS,
    *incident.MIGRATIONS,
    *watch.MIGRATIONS,
)
_RUNS_READ = 20
_RUNS_SEARCHED = 300
_SEEN_ON = timedelta(minutes=10)


def run_watch(workspace: Workspace) -> TickReport:
    """Look once: the function behind `lamplighter watch`.

    Whatever cannot be read is said as unknown, broken settings and a database that does not open included. Raises
    UsageError for another user than the workspace's own.
    """
    refuse_other_user(workspace.folder)
    state_dir, _ = find_basics(workspace.folder)
    zone = ZoneInfo("UTC")
    try:
        settings = read_settings(workspace.folder)
        zone = settings.post.zone
        migrations = (*MIGRATIONS, *WATCH_MIGRATIONS)
        with opening_to_write(workspace, settings.state_dir, migrations) as opened:
            parts = assemble(settings, opened.database, workspace.clock)
            report = _Watch(parts, opened.database, workspace.clock).tick()
    except TROUBLES as error:
        report = blind_report(workspace.clock.now(), error)
    try:
        write_alert(workspace.folder, render_alert(report, zone), report.at)
        write_mark(state_dir, report.at, EVERY)
    except LamplighterError as error:
        report = add_doubt(report, "alert", "anything by ALERT.txt: it cannot be written", error)
    return report


class _Watch:
    """The expectations of one workspace, and how their facts are read."""

    def __init__(self, parts: Parts, database: Database, clock: Clock) -> None:
        settings = parts.settings
        self._parts = parts
        self._clock = clock
        self._zone = settings.post.zone
        self._slots = Slots(database, clock, settings.account)
        incidents = Incidents(
            database,
            clock,
            settings.account,
            outbox=Outbox(database, clock, settings.account),
            zone=self._zone,
        )
        self._watcher = Watcher(database, clock, settings.account, incidents=incidents, boot_id=read_boot_id())
        self._cadences = list_cadences(settings)
        self._level: StockLevel | None = None

    def tick(self) -> TickReport:
        return self._watcher.tick(tuple(self._expected()), reconcile=self._reconcile)

    def _expected(self) -> Iterator[Expected]:
        cadence = self._cadences.get(post.JOB)
        if cadence is not None:
            rule = ByTime(
                key="post_today", about="the day's post", missing="no post went out", job=post.JOB, cadence=cadence
            )
            yield Expected(rule=rule, read=lambda: self._read_days(cadence))
        yield Expected(
            rule=Level(key="stock", about="the stock", missing="the stock is empty: no feature is ready"),
            read=self._read_stock,
        )
        yield Expected(
            rule=MaxAge(key="made_recently", about="new features", missing="no feature was made"), read=self._read_age
        )
        for job in (generate.JOB, post.JOB, *(job.name for job in self._parts.settings.jobs)):
            streak = Streak(key=f"streak_{job}", about=f"the runs of {job}", job=job)
            yield Expected(rule=streak, read=functools.partial(self._read_streak, job))
        yield Expected(rule=Probe(key="database", about="the database"), read=self._read_repairs)

    def _reconcile(self) -> None:
        """Write the word of runs that died, and that of slots that nobody can do any more."""
        open_runs = [run for run in self._parts.ledger.latest(limit=_RUNS_SEARCHED) if run.report is None]
        for job in {run.job for run in open_runs}:
            reconcile(self._parts.ledger, job, own=0, lock_dir=self._parts.settings.state_dir / "locks" / job)
        for job, cadence in self._cadences.items():
            self._slots.tidy(job, cadence, outcome_of=self._find_outcome, reason_of=self._find_reason)

    def _find_outcome(self, number: int) -> Outcome | None:
        with contextlib.suppress(InputError):
            report = self._parts.ledger.find(number).report
            return report.outcome if report else None
        return None

    def _find_reason(self, missed: Slot) -> MissReason:
        seen_on = self._watcher.ticked_between(missed.due_at, missed.due_at + _SEEN_ON)
        return decide_miss_reason(missed, boot_at=read_boot_at(self._clock.now()), seen_on=seen_on)

    def _read_days(self, cadence: Cadence) -> DayFacts:
        now = self._clock.now()
        first_day = self._slots.observe(post.JOB, cadence).astimezone(self._zone).date()
        days = frozenset(_days(entry.slot for entry in self._parts.journal.entries() if entry.receipt is not None))
        due = slots_between(cadence, now - LOOK_BACK, now)
        if due and due[-1].day not in days:
            days |= self._read_recalled_days()
        reason = self._find_reason(due[-1]) if due else MissReason.UNKNOWN
        return DayFacts(
            days=days,
            first_day=min(first_day, now.astimezone(self._zone).date()),
            runs=self._read_runs(post.JOB),
            missed=MISS_WORDS[reason] if reason is not MissReason.UNKNOWN else "",
            command=self._choose_command(),
        )

    def _read_recalled_days(self) -> frozenset[date]:
        """Return the days whose posts only the record or the channel knows, as after the loss of the database."""
        settings = self._parts.settings
        recorded = read_record(settings.state_dir / f"{settings.publisher}_posted.jsonl", settings.publisher)
        known = self._parts.journal.feature_ids()
        recalled = build_publisher(settings, self._clock).recall(besides=known)
        return frozenset(_days(entry.slot for entry in (*recorded, *recalled)))

    def _choose_command(self) -> str:
        """Return what a person types for a post that is missing, whether or not the stock can be read."""
        with contextlib.suppress(LamplighterError):
            level = self._read_level()
            return "lamplighter post" if level.ready else f"{_fill(level)} && lamplighter post"
        return "lamplighter post"

    def _read_level(self) -> StockLevel:
        if self._level is None:
            parts = self._parts
            self._level = read_level(parts.stock, parts.settings.generate.target, parts.journal.went_out)
        return self._level

    def _read_stock(self) -> LevelFacts:
        level = self._read_level()
        return LevelFacts(have=len(level.ready), runs=self._read_runs(generate.JOB), command=_fill(level))

    def _read_age(self) -> AgeFacts:
        level, now = self._read_level(), self._clock.now()
        stock = self._parts.stock
        made = [stock.read(item).made_at for place in (Place.READY, Place.HELD) for item in stock.items(place)]
        remembered = self._parts.index.newest_made_at(until=now)
        past = [at for at in (*made, *((remembered,) if remembered else ())) if at <= now]
        return AgeFacts(
            newest_at=max(past, default=None),
            excuse=f"the stock is full: {level.have} of {level.target}" if level.have >= level.target else "",
            runs=self._read_runs(generate.JOB),
            command="lamplighter generate",
        )

    def _read_streak(self, job: str) -> StreakFacts:
        return StreakFacts(runs=self._read_runs(job))

    def _read_runs(self, job: str) -> tuple[RunFact, ...]:
        return tuple(_fact(run) for run in self._parts.ledger.latest(job=job, limit=_RUNS_READ))

    def _read_repairs(self) -> ProbeFacts:
        found = find_repairs(self._parts.settings.state_dir / DATABASE_FILE)
        if not found:
            return ProbeFacts()
        newest = found[-1]
        name = newest.set_aside.name if newest.set_aside else f"{DATABASE_FILE}.damaged-*"
        return ProbeFacts(
            trouble="the database was damaged and a new one was made",
            since=newest.at,
            why=newest.line,
            command=f"look whether runs and posts are as you know them (lamplighter posted), then remove {name}",
        )


def _fill(level: StockLevel) -> str:
    return f"lamplighter stock approve {level.waiting[0]}" if level.waiting else "lamplighter generate"


def _days(slots: Iterator[str]) -> Iterator[date]:
    """Yield the days of slots; a name that no slot has was written by somebody else."""
    for key in slots:
        with contextlib.suppress(ValueError):
            yield date.fromisoformat(key[:10])


def _fact(run: RunRow) -> RunFact:
    report = run.report
    return RunFact(
        number=run.number,
        job=run.job,
        started_at=run.started_at,
        outcome=report.outcome if report else None,
        line=report.line if report else "",
    )
