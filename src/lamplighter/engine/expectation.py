"""What must be true by when, and the verdict on it: rules, facts and the present instant in, a verdict out (pure).

A fact that cannot be read is `Unreadable`, and its verdict is `unknown`: never ok, and never a guess.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from lamplighter.engine.job import Evidence, Outcome
from lamplighter.schedule.cadence import EARLY, LOOK_BACK, Cadence, Slot, slots_between

_SHOWN_RUNS = 3
_GOOD = frozenset({Outcome.PRODUCED, Outcome.PARTIAL, Outcome.NOTHING_NEEDED, Outcome.COMPLETED})


class Standing(enum.Enum):
    """How an expectation stands; late is inside its grace, and no reason to call anybody."""

    OK = "ok"
    LATE = "late"
    FAILING = "failing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one expectation stands: what is missing, since when, why, the facts behind it, and what a person types.

    `occurrence` names the newest thing that is missing (a slot), so that the next one is told of too.
    """

    key: str
    standing: Standing
    line: str
    since: datetime | None = None
    why: str = ""
    evidence: tuple[Evidence, ...] = ()
    command: str = ""
    occurrence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTime:
    """Each local day its output, by the day's slot and a grace: "no post went out" + " for 2026-11-29"."""

    key: str
    about: str
    missing: str
    job: str
    cadence: Cadence
    grace: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """At least so many at all times, but for a while."""

    key: str
    about: str
    missing: str
    at_least: int = 1
    lasting: timedelta = timedelta(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxAge:
    """Something new at least so often, as long as something new is wanted."""

    key: str
    about: str
    missing: str
    max_age: timedelta = timedelta(hours=36)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """Not so many runs of a job in a row that left nothing done."""

    key: str
    about: str
    job: str
    count: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Something that is looked at, and is well or not."""

    key: str
    about: str


Rule = ByTime | Level | MaxAge | Streak | Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Facts that could not be read, and why."""

    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFact:
    """A run as far as expectations look at it; `outcome` is None while it is at work."""

    number: int
    job: str
    started_at: datetime
    outcome: Outcome | None
    line: str

    def describe(self) -> str:
        """Return the run in one line."""
        return f"run {self.number} ({self.job}): {self.outcome.value if self.outcome else 'at work'}: {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFacts:
    """The days that have their output, the first day that counts, the job's newest runs (newest first).

    `missed` says in words why the newest slot was missed, "" when it was not; `command` is what a person types.
    """

    days: frozenset[date]
    first_day: date
    runs: tuple[RunFact, ...] = ()
    missed: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFacts:
    """How many there are, and since when there have been too few (None: there are enough)."""

    have: int
    runs: tuple[RunFact, ...] = ()
    command: str = ""
    below_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeFacts:
    """When the newest was made, why none is wanted ("" when one is), and since when one has been."""

    newest_at: datetime | None
    excuse: str
    runs: tuple[RunFact, ...] = ()
    command: str = ""
    wanted_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreakFacts:
    """The newest runs of a job, newest first."""

    runs: tuple[RunFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFacts:
    """What is wrong with what was looked at ("": nothing), since when, why, and what a person types."""

    trouble: str = ""
    since: datetime | None = None
    why: str = ""
    command: str = ""


Facts = DayFacts | LevelFacts | AgeFacts | StreakFacts | ProbeFacts | Unreadable


def evaluate(rule: Rule, facts: Facts, now: datetime) -> Verdict:
    """Return how an expectation stands; facts of another kind than the rule's are as good as none."""
    match rule, facts:
        case ByTime(), DayFacts():
            return _evaluate_by_time(rule, facts, now)
        case Level(), LevelFacts():
            return _evaluate_level(rule, facts, now)
        case MaxAge(), AgeFacts():
            return _evaluate_max_age(rule, facts, now)
        case Streak(), StreakFacts():
            return _evaluate_streak(rule, facts)
        case Probe(), ProbeFacts():
            return _evaluate_probe(rule, facts)
        case _:
            cause = facts.cause if isinstance(facts, Unreadable) else "its facts are of another kind"
            line = f"nobody can tell about {rule.about}"
            return Verdict(key=rule.key, standing=Standing.UNKNOWN, line=line, why=cause, command="lamplighter status")


def _evaluate_by_time(rule: ByTime, facts: DayFacts, now: datetime) -> Verdict:
    """Judge the newest day whose slot has come; the output of a later day counts, one of an earlier day never."""
    newest = _list_due(rule, facts, now, back=timedelta(days=3))[-1:]
    today = now.astimezone(rule.cadence.zone).date()
    if today in facts.days:
        return _ok(rule, f"there for {today}")
    if not newest:
        return _ok(rule, "nothing is due yet")
    if newest[0].day in facts.days:
        return _ok(rule, f"there for {newest[0].day}")
    missing = _tail_of_missing(_list_due(rule, facts, now, back=LOOK_BACK), facts.days)
    overdue = [slot for slot in missing if now - slot.due_at >= rule.grace]
    if not overdue:
        return Verdict(
            key=rule.key,
            standing=Standing.LATE,
            line=f"{rule.missing} yet for {newest[0].day}",
            since=newest[0].due_at,
            command=facts.command,
        )
    more = f", nor for the {len(overdue) - 1} before" if len(overdue) > 1 else ""
    return Verdict(
        key=rule.key,
        standing=Standing.FAILING,
        line=f"{rule.missing} for {overdue[-1].day}{more}",
        since=overdue[0].due_at,
        why=_explain_absence(rule.job, overdue[-1], facts),
        evidence=_list_runs(facts.runs),
        command=facts.command,
        occurrence=overdue[-1].key,
    )


def _list_due(rule: ByTime, facts: DayFacts, now: datetime, *, back: timedelta) -> list[Slot]:
    """Return the slots of the last days that have come, those of days before the first that counts apart."""
    return [slot for slot in slots_between(rule.cadence, now - back, now) if slot.day >= facts.first_day]


def _tail_of_missing(due: list[Slot], days: frozenset[date]) -> list[Slot]:
    """Return the newest slots in a row whose days have no output."""
    missing: list[Slot] = []
    for slot in reversed(due):
        if slot.day in days:
            break
        missing.insert(0, slot)
    return missing


def _explain_absence(job: str, slot: Slot, facts: DayFacts) -> str:
    begun = [run for run in facts.runs if run.started_at >= slot.due_at - EARLY]
    if begun:
        return begun[0].describe()
    if facts.missed:
        return f"{job} was not started: {facts.missed}"
    return f"no run of {job} has begun since it was due"


def _evaluate_level(rule: Level, facts: LevelFacts, now: datetime) -> Verdict:
    if facts.have >= rule.at_least:
        return _ok(rule, f"{facts.have}, and at least {rule.at_least} is expected")
    since = facts.below_since or now
    failing = now - since >= rule.lasting
    return Verdict(
        key=rule.key,
        standing=Standing.FAILING if failing else Standing.LATE,
        line=rule.missing,
        since=since,
        why=_explain_runs(facts.runs),
        evidence=(Evidence(name="have", value=f"{facts.have}"), *_list_runs(facts.runs)),
        command=facts.command,
    )


def _evaluate_max_age(rule: MaxAge, facts: AgeFacts, now: datetime) -> Verdict:
    """Judge from when something new was wanted or last made, whichever is later: a full stock is no failure."""
    if facts.excuse:
        return _ok(rule, facts.excuse)
    since = max(facts.wanted_since or now, facts.newest_at or datetime.min.replace(tzinfo=now.tzinfo))
    if now - since < rule.max_age:
        return _ok(rule, "the last one is not old" if facts.newest_at else "none is due yet")
    return Verdict(
        key=rule.key,
        standing=Standing.FAILING,
        line=f"{rule.missing} for {_describe_hours(rule.max_age)}",
        since=since,
        why=_explain_runs(facts.runs),
        evidence=_list_runs(facts.runs),
        command=facts.command,
    )


def _evaluate_streak(rule: Streak, facts: StreakFacts) -> Verdict:
    """Count the runs since the last good one; one that was not due or is at work says nothing."""
    told = [run for run in facts.runs if run.outcome not in {None, Outcome.NOT_DUE}]
    good = next((place for place, run in enumerate(told) if run.outcome in _GOOD), len(told))
    bad = told[:good]
    if len(bad) < rule.count:
        done = "the last one did its work" if told else "none has been yet"
        return _ok(rule, f"the last {len(bad)} left nothing done" if bad else done)
    outcomes = ", ".join(run.outcome.value for run in reversed(bad[:_SHOWN_RUNS]) if run.outcome)
    held = bad[0].outcome is Outcome.LOCK_HELD
    return Verdict(
        key=rule.key,
        standing=Standing.FAILING,
        line=f"{len(bad)} runs of {rule.job} in a row left nothing done: {outcomes}",
        since=bad[-1].started_at,
        why=bad[0].describe(),
        evidence=_list_runs(tuple(bad)),
        command=f"lamplighter lock status {rule.job}" if held else f"lamplighter runs log {bad[0].number}",
    )


def _evaluate_probe(rule: Probe, facts: ProbeFacts) -> Verdict:
    if not facts.trouble:
        return _ok(rule, "well")
    return Verdict(
        key=rule.key,
        standing=Standing.FAILING,
        line=facts.trouble,
        since=facts.since,
        why=facts.why,
        command=facts.command,
    )


def _ok(rule: Rule, fact: str) -> Verdict:
    return Verdict(key=rule.key, standing=Standing.OK, line=f"{rule.about}: {fact}")


def _explain_runs(runs: tuple[RunFact, ...]) -> str:
    return runs[0].describe() if runs else "no run has been recorded"


def _list_runs(runs: tuple[RunFact, ...]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(name=f"{run.started_at:%Y-%m-%d %H:%M} UTC", value=run.describe()) for run in runs[:_SHOWN_RUNS]
    )


def _describe_hours(duration: timedelta) -> str:
    return f"{duration.total_seconds() / 3600:g} hours"
