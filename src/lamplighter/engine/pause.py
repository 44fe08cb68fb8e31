"""Pauses: a person's word that a job, or all of them, need not run for a while; each ends by itself.

What was paused stays on record, so that a time of day that fell into a pause is never missed afterwards.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.value import value

MIGRATIONS = (
    Migration(
        concern="pause",
        number=1,
        statements=(
            """CREATE TABLE pause (
                account TEXT NOT NULL, number BIGINT NOT NULL, job TEXT NOT NULL, begins DOUBLE PRECISION NOT NULL,
                ends DOUBLE PRECISION NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (account, number))""",
            "CREATE INDEX pause_by_end ON pause (account, ends)",
        ),
    ),
)
LONGEST = timedelta(days=30)
_KEEP = timedelta(days=60)


@value
class Pause:
    """A pause of one job, or of all where `job` is ""."""

    job: str
    begins_at: datetime
    ends_at: datetime
    reason: str

    def covers(self, job: str, at: datetime) -> bool:
        """Return whether a job is paused at an instant.

        One that is longer than a pause can be is the work of a clock that was set back, and covers nothing.
        """
        is_meant = self.job in {"", job}
        return is_meant and self.begins_at <= at < self.ends_at and self.ends_at - self.begins_at <= LONGEST

    def describe(self) -> str:
        """Return it in words, without its job."""
        because = f": {self.reason}" if self.reason else ""
        return f"paused until {self.ends_at:%Y-%m-%d %H:%M} UTC{because}"

    @property
    def remedy(self) -> str:
        """Return what a person types to end it."""
        return f"lamplighter resume {self.job}".rstrip()


class Pauses:
    """The pauses of one account."""

    def __init__(self, database: Database, clock: Clock, account: str) -> None:
        """Use an open database."""
        self._database = database
        self._clock = clock
        self._account = account

    def begin(self, job: str, *, lasting: timedelta, reason: str = "") -> Pause:
        """Pause a job, or all with "", from now on; what paused just it before ends now."""
        now = self._clock.now()
        pause = Pause(job=job, begins_at=now, ends_at=now + min(lasting, LONGEST), reason=reason)
        with self._database.transaction():
            self._end(job, now)
            self._database.change(
                """INSERT INTO pause (account, number, job, begins, ends, reason)
                SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ? FROM pause WHERE account = ?""",
                (self._account, job, now.timestamp(), pause.ends_at.timestamp(), reason, self._account),
            )
            self._database.change(
                "DELETE FROM pause WHERE account = ? AND ends < ?", (self._account, (now - _KEEP).timestamp())
            )
        return pause

    def end(self, job: str) -> int:
        """End the pauses of a job, or of every job and of all with "", and return how many there were."""
        with self._database.transaction():
            return self._end(job, self._clock.now(), is_all=not job)

    def now(self) -> tuple[Pause, ...]:
        """Return the pauses that last, the newest first."""
        now = self._clock.now()
        return tuple(pause for pause in self.since(now) if pause.covers(pause.job, now))

    def since(self, at: datetime) -> tuple[Pause, ...]:
        """Return the pauses that ended after an instant, or last, the newest first."""
        rows = self._database.rows(
            "SELECT job, begins, ends, reason FROM pause WHERE account = ? AND ends > ? ORDER BY number DESC",
            (self._account, at.timestamp()),
        )
        with self._database.parsing():
            return tuple(
                Pause(
                    job=str(row["job"]),
                    begins_at=_instant(row["begins"]),
                    ends_at=_instant(row["ends"]),
                    reason=str(row["reason"]),
                )
                for row in rows
            )

    def find(self, job: str) -> Pause | None:
        """Return the pause that a job is under now, None when it is under none."""
        now = self._clock.now()
        return next((pause for pause in self.now() if pause.covers(job, now)), None)

    def _end(self, job: str, now: datetime, *, is_all: bool = False) -> int:
        return self._database.change(
            "UPDATE pause SET ends = ? WHERE account = ? AND ends > ? AND (job = ? OR ? = 1)",
            (now.timestamp(), self._account, now.timestamp(), job, int(is_all)),
        )


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
