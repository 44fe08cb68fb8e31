"""What runs left behind, as the ledger knows it: expectations look at outputs, never at exit codes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from lamplighter.engine.expectation import RunFact
from lamplighter.engine.job import Outcome
from lamplighter.host.database import Database, Migration

MIGRATIONS = (
    Migration(
        concern="made",
        number=1,
        statements=("CREATE INDEX run_by_outcome ON run (account, job, outcome, number)",),
    ),
)
# Output is there, or evidence that none was needed; `completed` is an exit 0 that nobody can say anything of.
MET = (Outcome.PRODUCED, Outcome.PARTIAL, Outcome.NOTHING_NEEDED)
_MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One run that left what it is for: when it ended, and the slot it was for ("": none)."""

    at: datetime
    slot: str


class Outputs:
    """What the runs of one account left behind."""

    def __init__(self, database: Database, account: str, *, counts: tuple[Outcome, ...] = MET) -> None:
        """Use an open database; `counts` are the outcomes that are output."""
        self._database = database
        self._account = account
        self._counts = counts

    def told(self, job: str, *, limit: int = 20) -> tuple[RunFact, ...]:
        """Return the newest runs of a job that say something, newest first: one that was not due is none of them."""
        rows = self._database.rows(
            """SELECT number, job, started_at, ended_at, outcome, line FROM run WHERE account = ? AND job = ?
            AND (outcome IS NULL OR outcome <> ?) ORDER BY number DESC LIMIT ?""",
            (self._account, job, Outcome.NOT_DUE.value, limit),
        )
        with self._database.parsing():
            return tuple(
                RunFact(
                    number=int(row["number"]),
                    job=str(row["job"]),
                    started_at=datetime.fromtimestamp(row["started_at"], tz=UTC),
                    outcome=Outcome(row["outcome"]) if row["outcome"] is not None else None,
                    line=str(row["line"]),
                    ended_at=None if row["ended_at"] is None else datetime.fromtimestamp(row["ended_at"], tz=UTC),
                )
                for row in rows
            )

    def open_jobs(self) -> tuple[str, ...]:
        """Return the jobs that have a run without an outcome."""
        rows = self._database.rows(
            "SELECT DISTINCT job FROM run WHERE account = ? AND outcome IS NULL ORDER BY job", (self._account,)
        )
        return tuple(str(row["job"]) for row in rows)

    def newest_at(self, job: str, *, until: datetime) -> datetime | None:
        """Return when a job last left its output, what a clock set ahead has dated to come apart."""
        past = (made.at for made in self._read(job, limit=20) if made.at <= until)
        return max(past, default=None)

    def days(self, job: str, zone: ZoneInfo, *, at_least: int = 1) -> frozenset[date]:
        """Return the local days with so many outputs of a job; each counts for the day of its slot, or else its own."""
        counts = Counter(_day(made, zone) for made in self._read(job, limit=_MOST))
        return frozenset(day for day, count in counts.items() if count >= at_least)

    def _read(self, job: str, *, limit: int) -> tuple[Made, ...]:
        """Return the newest outputs of a job, of each outcome that counts so many at most."""
        found = []
        for outcome in self._counts:
            found += self._database.rows(
                """SELECT slot, COALESCE(ended_at, started_at) AS at FROM run
                WHERE account = ? AND job = ? AND outcome = ? ORDER BY number DESC LIMIT ?""",
                (self._account, job, outcome.value, limit),
            )
        with self._database.parsing():
            return tuple(Made(at=datetime.fromtimestamp(row["at"], tz=UTC), slot=str(row["slot"])) for row in found)


def _day(made: Made, zone: ZoneInfo) -> date:
    try:
        return date.fromisoformat(made.slot[:10])
    except ValueError:
        return made.at.astimezone(zone).date()
