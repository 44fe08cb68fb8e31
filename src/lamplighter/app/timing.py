"""Which due time a run is for: claimed before its work begins, and without one a scheduler's wake does nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from lamplighter.app.missing import MissReasons
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.settings import JobSettings
from lamplighter.engine.slot import MissReason, Slots
from lamplighter.engine.supervisor import Run, Work
from lamplighter.errors import InputError
from lamplighter.host.clock import Clock
from lamplighter.schedule.cadence import EARLY, Cadence, Due, NotDue, Slot, slots_between

_DONE = frozenset({Outcome.PRODUCED, Outcome.PARTIAL, Outcome.NOTHING_NEEDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a job is due, and the days that need no run of it any more (a post that its journal has).

    Where a journal keeps a job from doing its work twice (`is_journalled`), a run that did not do it frees its slot.
    `state_dir` is where it is noted what the system's scheduler had of the job.
    """

    cadence: Cadence
    served: Callable[[], frozenset[date]] = frozenset
    is_journalled: bool = False
    state_dir: Path | None = None

    def judge(self, outcome: Outcome | None) -> Outcome | None:
        """Return the outcome of a claim as its slot takes it: one of a run that died frees it."""
        frees = self.is_journalled and outcome is not None and outcome not in _DONE
        return Outcome.KILLED if frees else outcome


def post_cadence(at: time | None, zone: ZoneInfo) -> Cadence:
    """Return when the day's post is due: once a day, and until the day ends."""
    return Cadence(zone=zone, at=(at,) if at else (), once_a_day=True)


def job_cadence(job: JobSettings, zone: ZoneInfo) -> Cadence:
    """Return when a job of a person's own is due."""
    return Cadence(zone=zone, at=job.at, cron=job.cron, every=job.every, catch_up=job.catch_up)


def at_slot(
    work: Work, job: str, timing: Timing, *, slots: Slots, ledger: Ledger, clock: Clock, scheduled: bool
) -> Work:
    """Return work that first claims its slot; where none is open, a scheduled run ends as `not_due`."""
    reasons = MissReasons(slots.database, clock, ledger, state_dir=timing.state_dir)

    def reason_of(missed: Slot) -> MissReason:
        return reasons.find(job, missed)

    def work_at_slot(run: Run) -> RunReport:
        reasons.note()
        decided = slots.take(
            job,
            timing.cadence,
            run.number,
            scheduled=scheduled,
            outcome_of=lambda number: timing.judge(find_outcome(ledger, number)),
            reason_of=reason_of,
            served=timing.served(),
        )
        for slot in decided.missed:
            run.say(f"the slot {slot.key} was missed")
        if isinstance(decided, Due):
            if scheduled:  # a clock that is a little early must not do the work of a day that has not begun
                clock.wait(max(decided.slot.due_at - clock.now(), timedelta(0)))
            ledger.set_slot(run.number, decided.slot.key)
            if decided.is_catch_up:
                run.flag("catch_up")
        elif scheduled:
            return RunReport(outcome=Outcome.NOT_DUE, line=_say_next(decided, timing.cadence))
        return work(run)

    return work_at_slot


def wait_for_slot(job: str, timing: Timing, *, slots: Slots, clock: Clock) -> None:
    """Wait for the slot that a scheduler's clock was a little early for; without the lock, which counts the time."""
    now = clock.now()
    soon = next(iter(slots_between(timing.cadence, now, now + EARLY)), None)
    if soon is not None and slots.find(job, soon.key) is None and soon.day not in timing.served():
        clock.wait(soon.due_at - now)


def find_outcome(ledger: Ledger, number: int) -> Outcome | None:
    """Return how a run ended, None while it is at work and where nobody knows it any more."""
    with contextlib.suppress(InputError):
        report = ledger.find(number).report
        return report.outcome if report else None
    return None


def _say_next(decided: NotDue, cadence: Cadence) -> str:
    if decided.next is None:
        return "no slot is open, and none is to come"
    return f"no slot is open; the next is {decided.next.due_at.astimezone(cadence.zone):%Y-%m-%d %H:%M %Z}"
