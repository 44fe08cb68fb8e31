"""When something of ours was seen at work, in spans: between two of them the machine was off, asleep, or idle.

Each tick and each run of a job with due times prolongs the last span, or begins another where the machine slept, was
started anew, or nothing of ours had run for a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lamplighter.engine.miss import Gap, GapCause
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database

UNSEEN = timedelta(minutes=16)  # three ticks, and a little
_SLEPT = timedelta(minutes=2)
_KEEP = timedelta(days=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What the machine says of itself now: which boot, when that was, how long it has slept since."""

    boot_id: str
    boot_at: datetime
    slept: timedelta


class Presence:
    """The spans of one account."""

    def __init__(self, database: Database, clock: Clock, account: str) -> None:
        """Use an open database."""
        self._database = database
        self._clock = clock
        self._account = account

    def note(self, moment: Moment) -> None:
        """Note that something of ours is at work now."""
        now = self._clock.now()
        last = self._database.row(
            "SELECT * FROM presence WHERE account = ? ORDER BY begin_at DESC LIMIT 1", (self._account,)
        )
        cause = None if last is None else _find_cause(dict(last), moment, now)
        if last is not None and cause is None:
            self._database.change(
                "UPDATE presence SET end_at = ?, slept = ? WHERE account = ? AND begin_at = ?",
                (now.timestamp(), moment.slept.total_seconds(), self._account, last["begin_at"]),
            )
            return
        with self._database.transaction():
            # What a clock that was set back since had noted of a time to come is no fact any more.
            self._database.change(
                "DELETE FROM presence WHERE account = ? AND (begin_at >= ? OR end_at < ?)",
                (self._account, now.timestamp(), (now - _KEEP).timestamp()),
            )
            self._database.change(
                """INSERT INTO presence (account, begin_at, end_at, boot_id, boot_at, slept, cause)
                VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (
                    self._account, now.timestamp(), now.timestamp(), moment.boot_id, moment.boot_at.timestamp(),
                    moment.slept.total_seconds(), cause.value if cause else "",
                ),
            )  # fmt: skip

    def find_gap(self, at: datetime) -> Gap | None:
        """Return the gap that an instant fell into, None where something was seen then or nothing was before."""
        row = self._database.row(
            """SELECT begin_at, boot_at, cause,
            (SELECT MAX(end_at) FROM presence AS earlier
                WHERE earlier.account = presence.account AND earlier.begin_at < presence.begin_at) AS before_at
            FROM presence WHERE account = ? AND begin_at > ? ORDER BY begin_at LIMIT 1""",
            (self._account, at.timestamp()),
        )
        if row is None or row["before_at"] is None or row["before_at"] >= at.timestamp():
            return None
        return Gap(
            begin_at=_instant(row["before_at"]),
            end_at=_instant(row["begin_at"]),
            cause=GapCause(row["cause"] or GapCause.IDLE.value),
            boot_at=_instant(row["boot_at"]),
        )

    def was_seen(self, at: datetime, *, within: timedelta) -> bool:
        """Return whether something of ours was at work at an instant, or soon after it."""
        row = self._database.row(
            "SELECT 1 FROM presence WHERE account = ? AND begin_at <= ? AND end_at >= ? LIMIT 1",
            (self._account, (at + within).timestamp(), at.timestamp()),
        )
        return row is not None


def _find_cause(last: dict[str, str | float], moment: Moment, now: datetime) -> GapCause | None:
    """Return why a new span begins, None where the last one goes on."""
    gap = now - _instant(float(last["end_at"]))
    if moment.boot_id != last["boot_id"]:
        return GapCause.BOOT
    slept = moment.slept - timedelta(seconds=float(last["slept"]))
    if slept >= _SLEPT and slept >= gap / 2:
        return GapCause.SLEEP
    return GapCause.IDLE if gap > UNSEEN or gap < -UNSEEN else None


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
