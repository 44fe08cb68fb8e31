"""How long runs and their logs are kept: long enough to explain, never so long that they fill a disk."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.engine.ledger import Ledger
from lamplighter.engine.log import remove_logs
from lamplighter.value import value


@value
class Retention:
    """The newest `runs` of each job stay, and all that began within `age`; looked after once in `every`."""

    runs: int = 1_000
    age: timedelta = timedelta(days=90)
    every: timedelta = timedelta(days=1)

    def oldest(self, now: datetime) -> datetime:
        """Return the instant before which a run is old."""
        return now - self.age


USUAL = Retention()


def prune(ledger: Ledger, logs_dir: Path, retention: Retention = USUAL) -> int:
    """Delete old runs, then the logs of no run; return how many runs, 0 when it was done a short while ago.

    To be called after a run has ended. Raises DiskError. Killed in between, the logs go the next time.
    """
    if not ledger.claim_upkeep(every=retention.every):
        return 0
    before = retention.oldest(ledger.now)
    pruned = 0
    for job in ledger.jobs():
        pruned += ledger.prune(job, keep=retention.runs, before=before)
        remove_logs(logs_dir / job, ledger.numbers(job), before=before)
    return pruned
