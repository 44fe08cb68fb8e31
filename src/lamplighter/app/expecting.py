"""What is expected of a workspace, and how the facts are read that tell whether it holds."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

from lamplighter.app.cadence import list_cadences
from lamplighter.app.opening import Parts, build_publisher
from lamplighter.app.running import DATABASE_FILE
from lamplighter.engine.expect_settings import ExpectSettings
from lamplighter.engine.expectation import (
    LATELY,
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
from lamplighter.engine.ladder import ONCE
from lamplighter.engine.made import Outputs
from lamplighter.engine.pause import Pause, Pauses
from lamplighter.engine.repair import find_repairs
from lamplighter.engine.slot import MISS_WORDS, WAKE_LAG, MissReason, Slots
from lamplighter.engine.watch import TROUBLES, Expected
from lamplighter.errors import LamplighterError
from lamplighter.featurepost import generate
from lamplighter.featurepost.generate import StockLevel, read_level
from lamplighter.featurepost.stock import Place
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.host.space import Space, read_space
from lamplighter.notify.severity import Severity
from lamplighter.publish import post
from lamplighter.publish.post import read_record
from lamplighter.schedule.cadence import LOOK_BACK, Cadence, Slot, slots_between

REVIEW_WITHIN = timedelta(hours=24)
MOST_DRAFTS = 30
_FREE_BYTES, _FREE_PART, _FREE_FILES = 512_000_000, 20, 1_000
_POSTS_READ, _RUNS_READ = 40, 10


class Expectations:
    """The expectations of one workspace at one tick; what several of them need is read once."""

    def __init__(
        self, parts: Parts, database: Database, clock: Clock, *, reason_of: Callable[[str, Slot], MissReason]
    ) -> None:
        """Take the parts of a workspace; `reason_of` tells why a slot was missed."""
        settings = parts.settings
        self._parts = parts
        self._clock = clock
        self._zone = settings.post.zone
        self._slots = Slots(database, clock, settings.account)
        self._outputs = Outputs(database, settings.account)
        self._pauses = Pauses(database, clock, settings.account)
        self._reason_of = reason_of
        self._paused: tuple[Pause, ...] | None = None
        self._runs: dict[str, tuple[RunFact, ...]] = {}
        self._level: StockLevel | None = None

    def list(self) -> Iterator[Expected]:
        """Yield every expectation; one of a paused job is excused."""
        now = self._clock.now()
        try:
            pauses = self._read_pauses()
        except TROUBLES:
            pauses = ()
            yield Expected(rule=Probe(key="pauses", about="pauses"), read=self._probe_pauses)
        for entry in self._list_all():
            pause = next((pause for pause in pauses if entry.rule.job and pause.covers(entry.rule.job, now)), None)
            excuse = pause.describe() if pause else ""
            yield Expected(rule=entry.rule, read=entry.read, excuse=excuse)

    def quiet(self) -> tuple[str, ...]:
        """Return the pauses that last, a line each, for the day's digest."""
        with contextlib.suppress(*TROUBLES):
            now = self._clock.now()
            lasting = [pause for pause in self._read_pauses() if pause.covers(pause.job, now)]
            return tuple(f"{pause.job or 'every job'} is {pause.describe()}" for pause in lasting)
        return ()

    def _list_all(self) -> Iterator[Expected]:
        settings = self._parts.settings
        cadence = list_cadences(settings).get(post.JOB)
        if cadence is not None:
            yield Expected(rule=_post_today(cadence), read=lambda: self._read_posts(cadence))
        yield Expected(rule=STOCK, read=self._read_stock)
        yield Expected(rule=MADE, read=self._read_age)
        own = {entry.job: f"expect.{entry.name}" for entry in reversed(settings.expectations)}
        parents = {generate.JOB: STOCK.key, post.JOB: "post_today"} | own
        watched = {entry.job for entry in settings.expectations if entry.kind == "streak"}
        for job in (generate.JOB, post.JOB, *(job.name for job in settings.jobs)):
            if job not in watched:
                yield self._expect_streak(job, f"streak_{job}", parent=parents.get(job, ""))
        for entry in settings.expectations:
            yield self._expect(entry)
        yield Expected(rule=REVIEW, read=self._read_review)
        yield Expected(rule=Probe(key="disk", about="the disk"), read=self._read_disk)
        yield Expected(rule=DRAFTS, read=self._read_drafts)
        yield Expected(rule=Probe(key="database", about="the database"), read=self._read_repairs)

    def _expect(self, entry: ExpectSettings) -> Expected:
        """Return what a person expects by the settings."""
        key, job = f"expect.{entry.name}", entry.job
        about, missing = f"the output of {job}", f"{job} left no output"
        if entry.kind == "streak":
            return self._expect_streak(job, key, severity=entry.severity, count=entry.count)
        if entry.kind == "max_age":
            age = MaxAge(key=key, about=about, missing=missing, job=job, severity=entry.severity, max_age=entry.max_age)
            return Expected(rule=age, read=lambda: self._read_output_age(job))
        cadence = Cadence(zone=self._zone, at=(entry.at,))
        if entry.at_least > 1:
            missing = f"{job} left its output fewer than {entry.at_least} times"
        rule = ByTime(
            key=key,
            about=about,
            missing=missing,
            job=job,
            severity=entry.severity,
            cadence=cadence,
            grace=entry.grace,
        )
        return Expected(rule=rule, read=lambda: self._read_output_days(entry, cadence))

    def _expect_streak(
        self, job: str, key: str, *, severity: Severity = Severity.WARNING, count: int = 3, parent: str = ""
    ) -> Expected:
        rule = Streak(key=key, about=f"the runs of {job}", job=job, severity=severity, count=count, parent=parent)
        return Expected(rule=rule, read=functools.partial(self._read_streak, job))

    def _read_posts(self, cadence: Cadence) -> DayFacts:
        """Read which days have their post: by the journal, and where it lacks the newest by record and channel."""
        out = self._parts.journal.entries(limit=_POSTS_READ)
        days = frozenset(_days(entry.slot for entry in out if entry.receipt is not None))
        due = self._find_due(cadence, days)
        if due is not None and due.day not in days:
            days |= self._read_recalled_days()
        return self._read_days(post.JOB, cadence, days, due, command=self._choose_command)

    def _read_output_days(self, entry: ExpectSettings, cadence: Cadence) -> DayFacts:
        days = self._outputs.days(entry.job, self._zone, at_least=entry.at_least)
        due, schedule = self._find_due(cadence, days), f"expect:{entry.name}"
        command = functools.partial(_start, entry.job)
        return self._read_days(entry.job, cadence, days, due, command=command, schedule=schedule)

    def _find_due(self, cadence: Cadence, days: frozenset[date]) -> Slot | None:
        """Return the newest slot that has come, None where none has of late or today is done."""
        now = self._clock.now()
        if now.astimezone(self._zone).date() in days:
            return None
        return next(iter(slots_between(cadence, now - LATELY, now)[-1:]), None)

    def _read_days(
        self,
        job: str,
        cadence: Cadence,
        days: frozenset[date],
        due: Slot | None,
        *,
        command: Callable[[], str],
        schedule: str = "",
    ) -> DayFacts:
        """Complete the days that have their output; `schedule` names under which the cadence was first seen."""
        now = self._clock.now()
        seen_at = self._slots.observe(schedule or job, cadence) + WAKE_LAG
        first_day = seen_at.astimezone(self._zone).date()
        missing = due is not None and due.day not in days
        reason = self._reason_of(job, due) if due is not None and missing else MissReason.UNKNOWN
        return DayFacts(
            days=days,
            first_day=min(first_day, now.astimezone(self._zone).date()),
            runs=self._read_runs(job),
            missed=MISS_WORDS[reason] if reason is not MissReason.UNKNOWN else "",
            command=command() if missing else "",
            excused=self._read_excused(job, cadence, now),
        )

    def _read_excused(self, job: str, cadence: Cadence, now: datetime) -> frozenset[date]:
        pauses = [pause for pause in self._read_pauses() if pause.job in {"", job}]
        if not pauses:
            return frozenset()
        due = slots_between(cadence, now - LOOK_BACK, now)
        return frozenset(slot.day for slot in due if any(pause.covers(job, slot.due_at) for pause in pauses))

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
        runs = self._read_runs(generate.JOB)
        is_new = not runs and not self._parts.index.known_ids()
        return LevelFacts(have=len(level.ready), runs=runs, command=_fill(level), is_new=is_new)

    def _read_age(self) -> AgeFacts:
        """Read when the newest was made; the folders are asked only where the index knows of no new one."""
        level, now = self._read_level(), self._clock.now()
        newest_at = self._parts.index.newest_made_at(until=now)
        if newest_at is None or now - newest_at >= MADE.max_age:
            stock = self._parts.stock
            made = [stock.read(item).made_at for place in (Place.READY, Place.HELD) for item in stock.items(place)]
            past = [at for at in (*made, *((newest_at,) if newest_at else ())) if at <= now]
            newest_at = max(past, default=None)
        return AgeFacts(
            newest_at=newest_at,
            excuse=f"the stock is full: {level.have} of {level.target}" if level.have >= level.target else "",
            runs=self._read_runs(generate.JOB),
            command="lamplighter generate",
        )

    def _read_output_age(self, job: str) -> AgeFacts:
        """Read when a job last left its output; the time of a pause is not counted against it."""
        now = self._clock.now()
        newest_at = self._outputs.newest_at(job, until=now)
        paused = [pause.ends_at for pause in self._read_pauses() if pause.job in {"", job} and pause.ends_at <= now]
        return AgeFacts(
            newest_at=max((newest_at, *paused)) if newest_at else None,
            excuse="",
            runs=self._read_runs(job),
            command=_start(job),
            is_always_wanted=True,
        )

    def _read_streak(self, job: str) -> StreakFacts:
        return StreakFacts(runs=self._read_runs(job))

    def _read_runs(self, job: str) -> tuple[RunFact, ...]:
        if job not in self._runs:
            counts = (entry.count for entry in self._parts.settings.expectations if entry.job == job)
            self._runs[job] = self._outputs.told(job, limit=max((_RUNS_READ, *counts)))
        return self._runs[job]

    def _read_review(self) -> ProbeFacts:
        """Read how long the oldest feature has waited for a person's word."""
        level, now = self._read_level(), self._clock.now()
        if not level.waiting:
            return ProbeFacts()
        stock = self._parts.stock
        reasons = [(name, stock.reason(stock.find(name))) for name in level.waiting]
        since = {name: min(reason.at, now) for name, reason in reasons if reason is not None}
        oldest = min(since, key=lambda name: since[name], default="")
        if not oldest or now - since[oldest] < REVIEW_WITHIN:
            return ProbeFacts()
        return ProbeFacts(
            trouble=f"{oldest} has waited for your review for more than 24 hours",
            since=since[oldest],
            why=f"{len(level.waiting)} wait, and none goes out before you approve it",
            command=f"lamplighter stock approve {oldest}",
        )

    def _read_disk(self) -> ProbeFacts:
        settings = self._parts.settings
        for folder in (settings.state_dir, settings.workspace_dir):
            facts = judge_space(read_space(folder), f"{folder}")
            if facts.trouble:
                return facts
        return ProbeFacts()

    def _read_drafts(self) -> ProbeFacts:
        drafts = self._parts.stock.items(Place.DRAFT)
        if len(drafts) <= MOST_DRAFTS:
            return ProbeFacts()
        return ProbeFacts(
            trouble=f"more than {MOST_DRAFTS} drafts have piled up",
            why="each is a feature that could not be made; its folder says why",
            command="lamplighter stock list --all",
        )

    def _probe_pauses(self) -> ProbeFacts:
        """Raise what makes the pauses unreadable."""
        self._read_pauses()
        return ProbeFacts()

    def _read_pauses(self) -> tuple[Pause, ...]:
        """Return the pauses of the days that are looked back on, past ones too."""
        if self._paused is None:
            self._paused = self._pauses.since(self._clock.now() - LOOK_BACK)
        return self._paused

    def _read_repairs(self) -> ProbeFacts:
        found = find_repairs(self._parts.settings.state_dir / DATABASE_FILE)
        if not found:
            return ProbeFacts()
        newest = found[-1]
        name = f"{DATABASE_FILE}.damaged-*"
        return ProbeFacts(
            trouble="the database was damaged and a new one was made",
            since=newest.at,
            why=newest.line,
            command=f"look whether runs and posts are as you know them (lamplighter posted), then remove {name}",
        )


STOCK = Level(
    key="stock",
    about="the stock",
    missing="the stock is empty: no feature is ready",
    job=generate.JOB,
    severity=Severity.CRITICAL,
)
MADE = MaxAge(
    key="made_recently", about="new features", missing="no feature was made", job=generate.JOB, parent=STOCK.key
)
REVIEW = Probe(key="review", about="features that wait for review", parent=STOCK.key)
DRAFTS = Probe(key="drafts", about="drafts", severity=Severity.INFO, ladder=ONCE, parent=MADE.key)


def _post_today(cadence: Cadence) -> ByTime:
    return ByTime(
        key="post_today",
        about="the day's post",
        missing="no post went out",
        job=post.JOB,
        severity=Severity.CRITICAL,
        cadence=cadence,
    )


def judge_space(space: Space, where: str) -> ProbeFacts:
    """Return whether a disk is nearly full: less than 512 MB or a twentieth of a small one; a quarter is worse."""
    least = min(_FREE_BYTES, space.total // _FREE_PART)
    few_files = space.total_files > 0 and space.free_files < min(_FREE_FILES, space.total_files // _FREE_PART)
    if space.free >= least and not few_files:
        return ProbeFacts()
    left = f"room for {space.free_files} files" if few_files else f"{space.free // 1_000_000} MB"
    return ProbeFacts(
        trouble="the disk is nearly full",
        why=f"{where}: {left} left",
        command="free some space; lamplighter stock clean removes old drafts",
        is_worse=space.free < least // 4,
    )


def list_pauses(pauses: tuple[Pause, ...]) -> tuple[str, ...]:
    """Return pauses as a person reads them, with what ends them."""
    return tuple(f"{pause.job or 'every job'} is {pause.describe()}; {pause.remedy} ends it" for pause in pauses)


def _start(job: str) -> str:
    return f"lamplighter {job}" if job in {generate.JOB, post.JOB} else f"lamplighter run {job}"


def _fill(level: StockLevel) -> str:
    return f"lamplighter stock approve {level.waiting[0]}" if level.waiting else "lamplighter generate"


def _days(slots: Iterator[str]) -> Iterator[date]:
    """Yield the days of slots; a name that no slot has was written by somebody else."""
    for key in slots:
        with contextlib.suppress(ValueError):
            yield date.fromisoformat(key[:10])
