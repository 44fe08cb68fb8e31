"""What a job last did: an exit 0 without its output is wrong, and one that nobody can judge is never ok."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from lamplighter.doctor.finding import Finding, good, say_age, say_at, unknown, wrong
from lamplighter.engine.job import Outcome
from lamplighter.engine.ledger import RunRow
from lamplighter.engine.made import MET

_TEMPORARY = frozenset({Outcome.LOCK_HELD, Outcome.COOLDOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """What is known of a job: how its entry stands and last ended, its newest runs, what it owes.

    `runs` are the newest runs, newest first, those that were not due apart. `due_at` and `due_key` are the newest due
    time that has passed, with the time a run may take, since the schedule stands (None: none has). `output_at` is when
    it last left output, `command` what starts it by hand.
    """

    job: str
    entry: str
    last_exit: str
    runs: Sequence[RunRow]
    output_at: datetime | None
    due_at: datetime | None
    due_key: str = ""
    is_served: bool = False
    pause: str = ""
    command: str = ""


def judge_job(facts: JobFacts, *, now: datetime, zone: tzinfo) -> Finding:
    """Return how a job stands, in one line."""
    about = f"job {facts.job}"
    run = next((run for run in facts.runs if run.report is not None), None)
    words = _describe(facts, run, now, zone)
    if facts.pause:
        return good(about, f"{facts.pause}; {words}")
    if facts.runs and facts.runs[0].report is None:
        return good(about, f"at work since {say_at(facts.runs[0].started_at.astimezone(zone))}; {words}")
    if facts.due_at is not None and not _is_served(facts):
        return wrong(about, f"{_say_absence(facts, run, zone)}; {words}", _advise(facts, run))
    return _judge_run(about, facts.job, run, words)


def _judge_run(about: str, job: str, run: RunRow | None, words: str) -> Finding:
    """Return how a job stands that owes nothing, by its last run alone."""
    if run is None or run.report is None:
        return good(about, words)
    if run.report.exit_code and run.report.outcome not in _TEMPORARY:
        return wrong(about, words, f"lamplighter runs show {run.number}")
    if run.report.outcome is Outcome.COMPLETED:
        return unknown(about, f"exit 0, and jobs.{job}.output names nothing by which anybody could tell; {words}")
    return good(about, words)


def _is_served(facts: JobFacts) -> bool:
    """Return whether the due time has its output, or evidence that none was needed; by hand before it counts too."""
    if facts.is_served:
        return True
    good_ones = (*MET, Outcome.COMPLETED)
    return any(
        run.report is not None
        and run.report.outcome in good_ones
        and facts.due_at is not None
        and (run.started_at >= facts.due_at or (bool(facts.due_key) and run.slot == facts.due_key))
        for run in facts.runs
    )


def _say_absence(facts: JobFacts, run: RunRow | None, zone: tzinfo) -> str:
    due = say_at(facts.due_at.astimezone(zone)) if facts.due_at else ""
    if run is None:
        return f"it was due at {due} and never ran"
    since = f"no output since {say_at(facts.output_at.astimezone(zone))}" if facts.output_at else "no output ever"
    code = run.report.exit_code if run.report else 0
    is_quiet = not code if facts.due_at and run.started_at >= facts.due_at else facts.last_exit.endswith(" 0")
    return f"{'exit 0, ' if is_quiet else ''}{since}, though it was due at {due}"


def _advise(facts: JobFacts, run: RunRow | None) -> str:
    failed = run is not None and run.report is not None and run.report.exit_code
    return f"lamplighter runs show {run.number}, then {facts.command}" if failed and run else facts.command


def _describe(facts: JobFacts, run: RunRow | None, now: datetime, zone: tzinfo) -> str:
    """Return entry, the system's last exit, our outcome, last output: always all four."""
    ended = facts.last_exit or "not said"
    if run is None or run.report is None:
        return f"{facts.entry}; system's last exit: {ended}; it has not run yet"
    outcome = f"{run.report.outcome.value} {say_age(now - (run.ended_at or run.started_at))} (run {run.number})"
    if run.report.exit_code:
        outcome = f"{outcome}: {run.report.line}"
    last = f"last output {say_at(facts.output_at.astimezone(zone))}" if facts.output_at else "no output yet"
    return f"{facts.entry}; system's last exit: {ended}; {outcome}; {last}"
