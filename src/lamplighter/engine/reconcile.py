"""Finds runs that ended without a word and writes the word for them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.engine.holder import read_is_held
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.engine.owner import RELEASED, Owner, read_owner
from lamplighter.errors import FailureClass
from lamplighter.host.boot import read_boot_at
from lamplighter.host.identity import (
    ProcessIdentity,
    is_alive,
    read_boot_id,
    read_namespaces,
    read_own_identity,
)

_LONGEST_WAIT = timedelta(days=1)

Alive = Callable[[ProcessIdentity], bool]


def reconcile(
    ledger: Ledger,
    job: str,
    *,
    own: int,
    lock_dir: Path | None,
    record: Owner | None = None,
    alive: Alive = is_alive,
    boot_at: Callable[[datetime], datetime] = read_boot_at,
) -> int:
    """Write `killed` into every open row of a dead run, this run's own apart; return how many had died.

    `lock_dir` is the job's lock folder, which is asked about runs of other containers; None where the lock is ours, and
    then `record` is the one that was found in it: a run that could not record its outcome, on a full disk, left it
    there.
    """
    boot_id, now = read_boot_id(), ledger.now
    others = (run for run in ledger.open_runs(job) if run.number != own)
    dead = [run for run in others if not _is_at_work(run, now, alive, lock_dir)]
    left = record if lock_dir is None else read_owner(lock_dir)
    died = 0
    for run in dead:
        known = _recall(run, left)
        word = known or decide_word(run, boot_id=boot_id, now=now, boot_at=boot_at(now))
        died += ledger.end(run.number, word) and known is None
    return died


def find_living(ledger: Ledger, job: str, *, own: int, alive: Alive = is_alive) -> tuple[RunRow, ...]:
    """Return the runs of a job that had its lock and whose processes live, of other processes than this one.

    Only what is proved by pid, start and boot in our own namespaces is alive: a row never blocks a dead process's job.
    """
    here, me = read_namespaces(), read_own_identity()
    return tuple(
        run
        for run in ledger.open_runs(job)
        if run.number != own
        and run.generation > 0
        and run.namespaces == here
        and run.process.start
        and run.process != me
        and alive(run.process)
    )


def decide_word(
    run: RunRow, *, boot_id: str, now: datetime | None = None, boot_at: datetime | None = None
) -> RunReport:
    """Return the report of a run whose process is gone and left none: why, and between which instants it ended.

    `boot_id` and `boot_at` are of the present boot.
    """
    who = f"its process (pid {run.process.pid})"
    restarted = bool(boot_id and run.process.boot_id) and run.process.boot_id != boot_id
    if not boot_id or not run.process.boot_id:
        cause = f"{who} was killed or the machine stopped"
    elif restarted:
        cause = f"the machine was restarted while {who} was at work"
    else:
        cause = f"{who} was killed"
    latest = boot_at if restarted and boot_at is not None and boot_at >= run.started_at else now
    return RunReport(
        outcome=Outcome.KILLED,
        signal=signal.SIGKILL,
        line=f"ended without a word: {cause}",
        evidence=() if latest is None else (_describe_bounds(run.started_at, latest),),
    )


def see_as_ended(run: RunRow, now: datetime, *, lock_dir: Path, alive: Alive = is_alive) -> RunReport | None:
    """Return how a run ended, in memory only: None while its process lives, `killed` when it died unseen."""
    if run.report is not None:
        return run.report
    return None if _is_at_work(run, now, alive, lock_dir) else decide_word(run, boot_id=read_boot_id())


def _recall(run: RunRow, record: Owner | None) -> RunReport | None:
    """Return the outcome that a run left in its lock's record when its row could not be written, None for any other."""
    if record is None or record.state != RELEASED:
        return None
    # A full disk can keep the generation out of the row too.
    is_same = run.generation == record.generation if run.generation else run.process == record.process
    if not is_same:
        return None
    try:
        outcome = Outcome(record.ended)
    except ValueError:
        return None
    return RunReport(
        outcome=outcome,
        failure=FailureClass.DISK if outcome is Outcome.FAILED else None,
        signal=signal.SIGTERM if outcome in {Outcome.INTERRUPTED, Outcome.KILLED} else None,
        line=f"its outcome could not be recorded when it ended; the record of its lock says {outcome.value}",
    )


def _is_at_work(run: RunRow, now: datetime, alive: Alive, lock_dir: Path | None) -> bool:
    """Return whether a run's process lives; the pid of another container says nothing, its lock does.

    Before it has the lock, it is given a day.
    """
    if run.namespaces in {"", read_namespaces()}:
        return alive(run.process)
    if run.generation == 0:
        return timedelta(0) <= now - run.started_at < _LONGEST_WAIT
    return lock_dir is not None and read_is_held(lock_dir)


def _describe_bounds(started_at: datetime, latest: datetime) -> Evidence:
    """Return between which instants it ended: nobody saw it, and what is recorded as its end is when it was found."""
    value = f"{started_at.isoformat(timespec='seconds')} and {latest.isoformat(timespec='seconds')}"
    if latest < started_at:
        value = "not known: the clock was set back since it began"
    return Evidence(name="ended_between", value=value)
