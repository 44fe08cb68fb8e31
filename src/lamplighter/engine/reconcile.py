"""Finds runs that ended without a word and writes the word for them."""

from __future__ import annotations

import signal
from collections.abc import Callable

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.host.identity import ProcessIdentity, is_alive


def reconcile(ledger: Ledger, job: str, *, own: int, alive: Callable[[ProcessIdentity], bool] = is_alive) -> int:
    """Write `killed` into every open row of a dead process, this run's own apart; return how many there were."""
    dead = [run for run in ledger.open_runs(job) if run.number != own and not alive(run.process)]
    return sum(ledger.end(run.number, decide_word(run)) for run in dead)


def decide_word(run: RunRow) -> RunReport:
    """Return the report of a run whose process is gone and left none."""
    return RunReport(
        outcome=Outcome.KILLED,
        signal=signal.SIGKILL,
        line=f"ended without a word: its process (pid {run.process.pid}) was killed or the machine stopped",
    )


def see_as_ended(run: RunRow, *, alive: Callable[[ProcessIdentity], bool] = is_alive) -> RunReport | None:
    """Return how a run ended, in memory only: None while its process lives, `killed` when it died unseen."""
    if run.report is not None:
        return run.report
    return None if alive(run.process) else decide_word(run)
