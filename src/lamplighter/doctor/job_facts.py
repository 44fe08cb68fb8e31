"""Reads what is known of a job from the ledger: its newest runs, its last output, the due time it owes for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.doctor.job import JobFacts
from lamplighter.engine.job import Outcome
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.engine.made import Outputs
from lamplighter.engine.pause import Pauses
from lamplighter.engine.reconcile import see_as_ended
from lamplighter.engine.slot import WAKE_LAG, Slots
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.schedule.cadence import Cadence, Slot, slots_between
from lamplighter.value import replace

_RUNS = 20
_PATIENCE, _LONGEST = timedelta(minutes=15), timedelta(hours=2)
_OUTPUT = (Outcome.PRODUCED, Outcome.PARTIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A job to be looked at: when it is due, how long a run may take, and what starts it by hand.

    `is_served` says of a due time that it has its output whatever the ledger knows; `lock_dir` is its lock folder.
    """

    job: str
    cadence: Cadence | None
    limit: timedelta | None
    command: str
    is_served: Callable[[Slot], bool]
    lock_dir: Path


def read_job_facts(
    asked: Asked, database: Database, clock: Clock, account: str, *, entry: str, last_exit: str
) -> JobFacts:
    """Return the facts of a job; `database` is a copy, since the schedule is noted in it as seen."""
    now, ledger = clock.now(), Ledger(database, clock, account)
    told = Outputs(database, account).told(asked.job, limit=_RUNS)
    slot = _find_due(asked, database, clock, account, now)
    pause = Pauses(database, clock, account).find(asked.job)
    return JobFacts(
        job=asked.job,
        entry=entry,
        last_exit=last_exit,
        runs=tuple(_see(ledger.find(fact.number), now, asked.lock_dir) for fact in told),
        output_at=Outputs(database, account, counts=_OUTPUT).newest_at(asked.job, until=now),
        due_at=slot.due_at if slot else None,
        due_key=slot.key if slot else "",
        is_served=slot is not None and asked.is_served(slot),
        pause=f"{pause.describe()}; {pause.remedy} ends it" if pause else "",
        command=asked.command,
    )


def _see(run: RunRow, now: datetime, lock_dir: Path) -> RunRow:
    return replace(run, report=see_as_ended(run, now, lock_dir=lock_dir))


def _find_due(asked: Asked, database: Database, clock: Clock, account: str, now: datetime) -> Slot | None:
    """Return the newest due time whose run would have ended by now, since the schedule was first seen."""
    if asked.cadence is None:
        return None
    seen_at = Slots(database, clock, account).observe(asked.job, asked.cadence) + WAKE_LAG
    until = now - _PATIENCE - min(asked.limit or timedelta(), _LONGEST)
    begin = max(seen_at, now - asked.cadence.look_back)
    return next(iter(slots_between(asked.cadence, begin, until)[-1:]), None) if begin < until else None
