"""Finds runs that ended without a word and writes the word for them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.engine.holder import read_is_held
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.host.boot import read_boot_at
from lamplighter.host.identity import ProcessIdentity, is_alive, read_boot_id, read_namespaces

_LONGEST_WAIT = timedelta(days=1)

Alive = Callable[[ProcessIdentity], bool]


def reconcile(
    ledger: Ledger,
    job: str,
    *,
    own: int,
    lock_dir: Path | None,
    alive: Alive = is_alive,
    boot_at: Callable[[datetime], datetime] = read_boot_at,
) -> int:
    """Write `killed` into every open row of a dead run, this run's own apart; return how many this call wrote.

    `lock_dir` is the job's lock folder, which is asked about runs of other containers; None where the lock is ours.
    """
    boot_id, now = read_boot_id(), ledger.now
    others = (run for run in ledger.open_runs(job) if run.number != own)
    dead = [run for run in others if not _is_at_work(run, now, alive, lock_dir)]
    return sum(ledger.end(run.number, decide_word(run, boot_id=boot_id, now=now, boot_at=boot_at(now))) for run in dead)


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
