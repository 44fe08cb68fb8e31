"""What must be true by when, and the verdict on it: rules, facts and the present instant in, a verdict out (pure).

A fact that cannot be read is `Unreadable`, and its verdict is `unknown`: never ok, and never a guess.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from lamplighter.engine.job import Evidence, Outcome
from lamplighter.engine.ladder import Ladder
from lamplighter.notify.severity import Severity
from lamplighter.schedule.cadence import EARLY, LOOK_BACK, Cadence, Slot, slots_between

_SHOWN_RUNS = 3
_DAY = timedelta(days=1)
LATELY = timedelta(hours=50)
_FIRST = timedelta(days=1)  # in which a new job comes to its first time of day
_GOOD = frozenset({Outcome.PRODUCED, Outcome.PARTIAL, Outcome.NOTHING_NEEDED, Outcome.COMPLETED})
_SILENT = frozenset({None, Outcome.NOT_DUE, Outcome.PAUSED})
_LADDER = Ladder()


class Standing(enum.Enum):
    """How an expectation stands.

    Late is inside its grace, new was never met and never due, excused is a person's pause: no reason to call anybody.
    """

    OK = "ok"
    NEW = "new"
    EXCUSED = "excused"
    LATE = "late"
    FAILING = "failing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one expectation stands: what is missing, since when, why, the facts behind it, and what a person types.

    `occurrence` names the newest thing that is missing (a slot), so that the next one is told of too. While what
    `parent` names is told of, this is not. `repaired` says what was put right without anybody, "" when nothing was.
    `is_critical` is what its rule says, also while nobody can tell.
    """

    key: str
    standing: Standing
    line: str
    since: datetime | None = None
    why: str = ""
    evidence: tuple[Evidence, ...] = ()
    command: str = ""
    occurrence: str = ""
    severity: Severity = Severity.WARNING
    parent: str = ""
    ladder: Ladder = _LADDER
    repaired: str = ""
    is_critical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What every expectation has: its key, what it is about, how much it matters, whose trouble causes it, its job.

    A pause of `job` excuses it ("": no pause does).
    """

    key: str
    about: str
    severity: Severity = Severity.WARNING
    parent: str = ""
    job: str = ""
    ladder: Ladder = _LADDER


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTime(Rule):
    """Each local day its output, by the day's slot and a grace: "no post went out" + " for 2026-11-29"."""

    missing: str
    cadence: Cadence
    grace: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level(Rule):
    """At least so many at all times, but for a while."""

    missing: str
    at_least: int = 1
    lasting: timedelta = timedelta(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxAge(Rule):
    """Something new at least so often, as long as something new is wanted."""

    missing: str
    max_age: timedelta = timedelta(hours=36)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak(Rule):
    """Not so many runs of a job in a row that left nothing done."""

    count: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Expires(Rule):
    """Something that ends at a known time (a token, a login), told of so long before; ended, it is critical."""

    warn_before: timedelta = timedelta(days=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(Rule):
    """Something that is looked at, and is well or not."""


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
    ended_at: datetime | None = None

    def describe(self) -> str:
        """Return the run in one line."""
        return f"run {self.number} ({self.job}): {self.outcome.value if self.outcome else 'at work'}: {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFacts:
    """The days that have their output, the first day that counts, the job's newest runs (newest first).

    `excused` are the days whose time fell into a pause. `missed` says in words why the newest slot was missed, "" when
    it was not; `command` is what a person types.
    """

    days: frozenset[date]
    first_day: date
    runs: tuple[RunFact, ...] = ()
    missed: str = ""
    command: str = ""
    excused: frozenset[date] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFacts:
    """How many there are, and since when there have been too few (None: there are enough); new: there never was any."""

    have: int
    runs: tuple[RunFact, ...] = ()
    command: str = ""
    below_since: datetime | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeFacts:
    """When the newest was made, why none is wanted ("" when one is), and since when one has been.

    Where something is wanted at all times (`is_always_wanted`), only the newest counts, where there is one.
    """

    newest_at: datetime | None
    excuse: str
    runs: tuple[RunFact, ...] = ()
    command: str = ""
    wanted_since: datetime | None = None
    is_always_wanted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreakFacts:
    """The newest runs of a job, newest first."""

    runs: tuple[RunFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryFacts:
    """When it ends (None: never), what is known of it, and what a person types to have it renewed."""

    expires_at: datetime | None
    why: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFacts:
    """What is wrong with what was looked at ("": nothing), since when, why, and what a person types.

    `repaired` says what was found wrong and put right by the looking, "" when nothing was. `is_worse` makes it critical
    whatever the rule says.
    """

    trouble: str = ""
    since: datetime | None = None
    why: str = ""
    command: str = ""
    repaired: str = ""
    is_worse: bool = False


Facts = DayFacts | LevelFacts | AgeFacts | StreakFacts | ExpiryFacts | ProbeFacts | Unreadable


def evaluate(rule: Rule, facts: Facts, now: datetime, *, excuse: str = "") -> Verdict:
    """Return how an expectation stands; facts of another kind than the rule's are as good as none.

    `excuse` says why nothing is expected for the time being, "" when something is.
    """
    if excuse:
        return _say(rule, Standing.EXCUSED, excuse)
    match rule, facts:
        case ByTime(), DayFacts():
            verdict = _evaluate_by_time(rule, facts, now)
        case Level(), LevelFacts():
            verdict = _evaluate_level(rule, facts, now)
        case MaxAge(), AgeFacts():
            verdict = _evaluate_max_age(rule, facts, now)
        case Streak(), StreakFacts():
            verdict = _evaluate_streak(rule, facts, now)
        case Expires(), ExpiryFacts():
            verdict = _evaluate_expires(rule, facts, now)
        case Probe(), ProbeFacts():
            verdict = _evaluate_probe(rule, facts)
        case _:
            cause = facts.cause if isinstance(facts, Unreadable) else "its facts are of another kind"
            verdict = doubt(rule, cause)
    return verdict


def doubt(rule: Rule, cause: str) -> Verdict:
    """Return that nobody can tell: a warning, whatever the rule, until its time has passed without anybody knowing."""
    return Verdict(
        key=rule.key,
        standing=Standing.UNKNOWN,
        line=f"nobody can tell about {rule.about}",
        why=cause,
        command="lamplighter status",
        parent=rule.parent,
        ladder=rule.ladder,
        is_critical=rule.severity is Severity.CRITICAL,
    )


def is_past_its_time(rule: Rule, since: datetime, now: datetime) -> bool:
    """Return whether something was due, its grace over, while nobody could tell: then doubt matters as absence does."""
    if not isinstance(rule, ByTime) or since > now:
        return False
    return bool(slots_between(rule.cadence, max(since, now - LOOK_BACK) - rule.grace, now - rule.grace))


def _evaluate_by_time(rule: ByTime, facts: DayFacts, now: datetime) -> Verdict:
    """Judge the newest day whose slot has come; the output of a later day counts, one of an earlier day never."""
    today = now.astimezone(rule.cadence.zone).date()
    if today in facts.days:
        return _ok(rule, f"there for {today}")
    newest = _list_due(rule, facts, now, back=LATELY)[-1:]
    if not newest:
        is_new = not any(day <= today for day in facts.days)
        return _say(rule, Standing.NEW if is_new else Standing.OK, "nothing is due yet")
    if newest[0].day in facts.days:
        return _ok(rule, f"there for {newest[0].day}")
    missing = _tail_of_missing(_list_due(rule, facts, now, back=LOOK_BACK), facts.days)
    overdue = [slot for slot in missing if now - slot.due_at >= rule.grace]
    if not overdue:
        return _fail(
            rule,
            f"{rule.missing} yet for {newest[0].day}",
            standing=Standing.LATE,
            since=newest[0].due_at,
            command=facts.command,
        )
    more = f", nor for the {len(overdue) - 1} before" if len(overdue) > 1 else ""
    return _fail(
        rule,
        f"{rule.missing} for {overdue[-1].day}{more}",
        since=overdue[0].due_at,
        why=_explain_absence(rule.job, overdue[-1], facts),
        runs=facts.runs,
        command=facts.command,
        occurrence=overdue[-1].key,
    )


def _list_due(rule: ByTime, facts: DayFacts, now: datetime, *, back: timedelta) -> list[Slot]:
    """Return the slots of the last days that have come, those before the first day that counts and excused ones apart.

    The output of a day is excused by a pause at its time, not by one at another.
    """
    due = slots_between(rule.cadence, now - back, now)
    return [slot for slot in due if slot.day >= facts.first_day and slot.day not in facts.excused]


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
    if facts.is_new and now - since < max(rule.lasting, _FIRST):
        return _say(rule, Standing.NEW, "nothing has been made yet")
    return _fail(
        rule,
        rule.missing,
        standing=Standing.FAILING if now - since >= rule.lasting else Standing.LATE,
        since=since,
        why=_explain_runs(facts.runs),
        facts=(Evidence(name="have", value=f"{facts.have}"),),
        runs=facts.runs,
        command=facts.command,
    )


def _evaluate_max_age(rule: MaxAge, facts: AgeFacts, now: datetime) -> Verdict:
    """Judge from when something new was wanted or last made, whichever is later: a full stock is no failure."""
    if facts.excuse:
        return _ok(rule, facts.excuse)
    newest_at = facts.newest_at or datetime.min.replace(tzinfo=now.tzinfo)
    is_steady = facts.is_always_wanted and facts.newest_at is not None
    since = newest_at if is_steady else max(facts.wanted_since or now, newest_at)
    if now - since < rule.max_age:
        return _ok(rule, "the last one is not old") if facts.newest_at else _say(rule, Standing.NEW, "none is due yet")
    return _fail(
        rule,
        f"{rule.missing} for {describe_length(rule.max_age)}",
        since=since,
        why=_explain_runs(facts.runs),
        runs=facts.runs,
        command=facts.command,
    )


def _evaluate_streak(rule: Streak, facts: StreakFacts, now: datetime) -> Verdict:
    """Count the runs since the last good one; one that was not due, was paused or is at work says nothing.

    What was tried while that one was still at work is made good by its end.
    """
    told = [run for run in facts.runs if run.outcome not in _SILENT]
    good = next((place for place, run in enumerate(told) if run.outcome in _GOOD), len(told))
    ended_at = told[good].ended_at if good < len(told) else None
    is_past = ended_at is not None and ended_at <= now
    bad = [run for run in told[:good] if not is_past or ended_at is None or run.started_at >= ended_at]
    if not told:
        return _say(rule, Standing.NEW, "none has been yet")
    if len(bad) < rule.count:
        return _ok(rule, f"the last {len(bad)} left nothing done" if bad else "the last one did its work")
    outcomes = ", ".join(run.outcome.value for run in reversed(bad[:_SHOWN_RUNS]) if run.outcome)
    more = "the last ones " if len(bad) > _SHOWN_RUNS else ""
    held = bad[0].outcome is Outcome.LOCK_HELD
    return _fail(
        rule,
        f"{len(bad)} runs of {rule.job} in a row left nothing done: {more}{outcomes}",
        since=bad[-1].started_at,
        why=bad[0].describe(),
        runs=tuple(bad),
        command=f"lamplighter lock status {rule.job}" if held else f"lamplighter runs log {bad[0].number}",
    )


def _evaluate_expires(rule: Expires, facts: ExpiryFacts, now: datetime) -> Verdict:
    """Judge by the time left; when it has ended that is told anew, and matters most."""
    if facts.expires_at is None:
        return _ok(rule, "it does not end")
    left = facts.expires_at - now
    if left > rule.warn_before:
        return _ok(rule, f"{describe_length(left)} left")
    ended = left <= timedelta()
    when = f"{facts.expires_at:%Y-%m-%d %H:%M} UTC"
    return _fail(
        rule,
        f"{rule.about} ended at {when}" if ended else f"{rule.about} ends in {describe_length(left)}, at {when}",
        since=facts.expires_at if ended else facts.expires_at - rule.warn_before,
        why=facts.why,
        command=facts.command,
        occurrence="ended" if ended else "ending",
        severity=Severity.CRITICAL if ended else rule.severity,
    )


def _evaluate_probe(rule: Probe, facts: ProbeFacts) -> Verdict:
    if not facts.trouble:
        return _ok(rule, facts.repaired or "well", repaired=facts.repaired)
    severity = Severity.CRITICAL if facts.is_worse else rule.severity
    return _fail(rule, facts.trouble, since=facts.since, why=facts.why, command=facts.command, severity=severity)


def _fail(
    rule: Rule,
    line: str,
    *,
    standing: Standing = Standing.FAILING,
    since: datetime | None,
    why: str = "",
    facts: tuple[Evidence, ...] = (),
    runs: tuple[RunFact, ...] = (),
    command: str = "",
    occurrence: str = "",
    severity: Severity | None = None,
) -> Verdict:
    return Verdict(
        key=rule.key,
        standing=standing,
        line=line,
        since=since,
        why=why,
        evidence=(*facts, *_list_runs(runs)),
        command=command,
        occurrence=occurrence,
        severity=severity or rule.severity,
        parent=rule.parent,
        ladder=rule.ladder,
        is_critical=rule.severity is Severity.CRITICAL,
    )


def _ok(rule: Rule, fact: str, *, repaired: str = "") -> Verdict:
    return _say(rule, Standing.OK, fact, repaired=repaired)


def _say(rule: Rule, standing: Standing, fact: str, *, repaired: str = "") -> Verdict:
    line = f"{rule.about}: {fact}"
    return Verdict(
        key=rule.key,
        standing=standing,
        line=line,
        severity=rule.severity,
        ladder=rule.ladder,
        repaired=repaired,
        is_critical=rule.severity is Severity.CRITICAL,
    )


def _explain_runs(runs: tuple[RunFact, ...]) -> str:
    return runs[0].describe() if runs else "no run has been recorded"


def _list_runs(runs: tuple[RunFact, ...]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(name=f"{run.started_at:%Y-%m-%d %H:%M} UTC", value=run.describe()) for run in runs[:_SHOWN_RUNS]
    )


def describe_length(duration: timedelta) -> str:
    """Return a duration in hours, or from four days on in days."""
    if duration >= 4 * _DAY:
        return f"{duration // _DAY} days"
    return f"{round(duration.total_seconds() / 3600, 1):g} hours"
