"""What became of each notice on each channel, and how each channel is: two tables, and nothing is decided here."""

from __future__ import annotations

import contextlib
import enum
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import TypeVar

from lamplighter.host.database import Database, Migration
from lamplighter.notify.outbox import NoticeKind, Waiting, parse_notice

MIGRATIONS = (
    Migration(
        concern="delivery",
        number=1,
        statements=(
            """CREATE TABLE delivery (
                account TEXT NOT NULL, notice BIGINT NOT NULL, channel TEXT NOT NULL, state TEXT NOT NULL,
                attempts BIGINT NOT NULL DEFAULT 0, part BIGINT NOT NULL DEFAULT 0,
                is_repeat BIGINT NOT NULL DEFAULT 0, is_fallback BIGINT NOT NULL DEFAULT 0,
                claimed_at DOUBLE PRECISION, next_at DOUBLE PRECISION, done_at DOUBLE PRECISION,
                why TEXT NOT NULL DEFAULT '', PRIMARY KEY (account, notice, channel))""",
            "CREATE INDEX delivery_open ON delivery (account, channel, notice) WHERE done_at IS NULL",
            """CREATE TABLE channel (
                account TEXT NOT NULL, name TEXT NOT NULL, mark TEXT NOT NULL, failures BIGINT NOT NULL DEFAULT 0,
                failing_since DOUBLE PRECISION, next_at DOUBLE PRECISION, dead_since DOUBLE PRECISION,
                sent_at DOUBLE PRECISION, why TEXT NOT NULL DEFAULT '', PRIMARY KEY (account, name))""",
        ),
    ),
)
_MOST = 1_000
_Row = TypeVar("_Row")
_Parsed = TypeVar("_Parsed")


class RowState(enum.Enum):
    """How far a notice has come on one channel; all but the first two are final."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    UNSURE = "unsure"
    REFUSED = "refused"
    EXPIRED = "expired"
    TOLD_ELSEWHERE = "told elsewhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One notice on one channel; `part` is the first part of it that is not out."""

    notice: int
    channel: str
    state: RowState
    attempts: int
    part: int
    is_repeat: bool
    is_fallback: bool
    next_at: datetime | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A notice that a channel still has to tell."""

    waiting: Waiting
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """A notice as far as it is asked who tells it: its kind, when it was written, what became of it so far."""

    number: int
    kind: NoticeKind
    written_at: datetime
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How a channel is; `mark` is by what its address is known again."""

    name: str
    mark: str
    failures: int
    failing_since: datetime | None
    next_at: datetime | None
    dead_since: datetime | None
    sent_at: datetime | None
    why: str


class DeliveryTable:
    """The two tables for one account; every method joins the transaction that is open."""

    def __init__(self, database: Database, account: str) -> None:
        """Use an open database."""
        self._database = database
        self._account = account

    def unrouted(self) -> tuple[Undelivered, ...]:
        """Return the notices that no channel was chosen for yet, oldest first."""
        rows = self._database.rows(
            """SELECT number, kind, written_at FROM notice n WHERE account = ? AND delivered_at IS NULL AND NOT EXISTS
            (SELECT 1 FROM delivery d WHERE d.account = n.account AND d.notice = n.number)
            ORDER BY number LIMIT ?""",
            (self._account, _MOST),
        )
        return tuple(_parse_each(rows, lambda row: _parse_undelivered(row, ())))

    def undelivered(self) -> tuple[Undelivered, ...]:
        """Return the notices that have channels and are not settled, with what became of them, oldest first."""
        rows = self._database.rows(
            """SELECT n.number, n.kind, n.written_at, d.* FROM notice n JOIN delivery d
            ON d.account = n.account AND d.notice = n.number
            WHERE n.account = ? AND n.delivered_at IS NULL ORDER BY n.number, d.channel LIMIT ?""",
            (self._account, 4 * _MOST),
        )
        parsed = _parse_each(rows, lambda row: (row, _parse_row(row)))
        groups = [list(group) for _, group in groupby(parsed, key=lambda pair: pair[1].notice)]
        return tuple(_parse_each(groups, lambda group: _parse_undelivered(group[0][0], tuple(row for _, row in group))))

    def stuck_since(self, *, before: datetime) -> tuple[int, datetime | None]:
        """Return how many notices older than some instant no channel was even chosen for, and since when."""
        row = self._database.row(
            """SELECT COUNT(*) AS count, MIN(written_at) AS since FROM notice n
            WHERE account = ? AND delivered_at IS NULL AND written_at < ? AND NOT EXISTS
            (SELECT 1 FROM delivery d WHERE d.account = n.account AND d.notice = n.number)""",
            (self._account, before.timestamp()),
        )
        with self._database.parsing():
            return (int(row["count"]), _instant(row["since"])) if row else (0, None)

    def add(self, number: int, channels: Sequence[str], *, is_fallback: bool) -> None:
        """Let channels tell a notice."""
        for channel in channels:
            self._database.change(
                """INSERT INTO delivery (account, notice, channel, state, is_fallback) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING""",
                (self._account, number, channel, RowState.WAITING.value, int(is_fallback)),
            )

    def pending(self, channel: str = "") -> tuple[Pending, ...]:
        """Return what one channel, or any, still has to tell, oldest first."""
        condition, values = ("AND d.channel = ?", (channel,)) if channel else ("", ())
        rows = self._database.rows(
            f"""SELECT n.*, d.notice, d.channel, d.state, d.attempts, d.part, d.is_repeat, d.is_fallback, d.next_at,
            d.why FROM delivery d JOIN notice n ON n.account = d.account AND n.number = d.notice
            WHERE d.account = ? AND d.done_at IS NULL {condition} ORDER BY d.notice, d.channel LIMIT ?""",  # noqa: S608 - fixed text of ours
            (self._account, *values, _MOST),
        )
        return tuple(_parse_each(rows, lambda row: Pending(waiting=parse_notice(dict(row)), row=_parse_row(row))))

    def rows_of(self, number: int) -> tuple[Row, ...]:
        """Return what became of one notice."""
        return self._rows("notice = ?", (number,))

    def over(self, incidents: Iterable[int]) -> frozenset[int]:
        """Return which of some incidents a notice says are over."""
        asked = sorted(set(incidents))
        marks = ", ".join("?" * len(asked))
        rows = self._database.rows(
            f"SELECT incident FROM notice WHERE account = ? AND kind = ? AND incident IN ({marks})",  # noqa: S608 - marks only
            (self._account, NoticeKind.RESOLVED.value, *asked),
        )
        return frozenset(int(row["incident"]) for row in rows)

    def claim(self, channel: str, numbers: Sequence[int], now: datetime) -> bool:
        """Write that notices are about to be sent; False when somebody else is sending on this channel."""
        with self._database.transaction():
            busy = self._database.row(
                "SELECT 1 FROM delivery WHERE account = ? AND channel = ? AND done_at IS NULL AND state = ? LIMIT 1",
                (self._account, channel, RowState.SENDING.value),
            )
            found = self._rows("done_at IS NULL AND channel = ? AND state = ?", (channel, RowState.WAITING.value))
            waiting = {row.notice for row in found}
            if busy or not waiting.issuperset(numbers):
                return False
            for number in numbers:
                self._database.change(
                    """UPDATE delivery SET state = ?, claimed_at = ?, attempts = attempts + 1
                    WHERE account = ? AND notice = ? AND channel = ?""",
                    (RowState.SENDING.value, now.timestamp(), self._account, number, channel),
                )
        return True

    def abandoned(self, *, before: datetime, after: datetime) -> tuple[Pending, ...]:
        """Return what was claimed before one instant, or after another (a clock was set back), and never ended."""
        found = self._rows(
            "done_at IS NULL AND state = ? AND (claimed_at < ? OR claimed_at > ?)",
            (RowState.SENDING.value, before.timestamp(), after.timestamp()),
        )
        keys = {(row.notice, row.channel) for row in found}
        pending = self.pending() if keys else ()
        return tuple(one for one in pending if (one.row.notice, one.row.channel) in keys)

    def count_pending(self, channel: str = "") -> int:
        """Return how much one channel, or any, still has to tell."""
        condition, values = ("AND channel = ?", (channel,)) if channel else ("", ())
        row = self._database.row(
            f"SELECT COUNT(*) AS count FROM delivery WHERE account = ? AND done_at IS NULL {condition}",  # noqa: S608 - fixed text of ours
            (self._account, *values),
        )
        return int(row["count"]) if row else 0

    def let_go(self, *, written_before: datetime, now: datetime) -> None:
        """Settle the notices that never had a channel for so long: there was none, or nobody can read them."""
        self._database.change(
            """UPDATE notice SET delivered_at = ? WHERE account = ? AND delivered_at IS NULL AND written_at < ?
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.account = notice.account AND d.notice = notice.number)""",
            (now.timestamp(), self._account, written_before.timestamp()),
        )

    def expire(self, *, written_before: datetime, channels: Sequence[str], now: datetime) -> None:
        """Let go of what waits for too long, and of what waits for a channel that is no more."""
        for row in self._database.rows(
            """SELECT d.notice, d.channel, d.why, CASE WHEN n.written_at < ? THEN 1 ELSE 0 END AS is_old FROM delivery d
            JOIN notice n ON n.account = d.account AND n.number = d.notice
            WHERE d.account = ? AND d.done_at IS NULL AND d.state = ?""",
            (written_before.timestamp(), self._account, RowState.WAITING.value),
        ):
            number, channel, why = int(row["notice"]), str(row["channel"]), str(row["why"])
            if channel not in channels:
                self.end(number, channel, RowState.EXPIRED, why="this channel is no more", now=now)
            elif row["is_old"]:
                self.end(number, channel, RowState.EXPIRED, why=why or "it was tried for a week", now=now)

    def put_back(self, row: Row, *, why: str, is_repeat: bool, next_at: datetime | None = None) -> None:
        """Let a notice be tried again."""
        self._database.change(
            """UPDATE delivery SET state = ?, claimed_at = NULL, is_repeat = ?, next_at = ?, why = ?
            WHERE account = ? AND notice = ? AND channel = ?""",
            (
                RowState.WAITING.value, int(is_repeat or row.is_repeat), next_at.timestamp() if next_at else None, why,
                self._account, row.notice, row.channel,
            ),
        )  # fmt: skip

    def end(self, number: int, channel: str, state: RowState, *, why: str, now: datetime) -> None:
        """Write what became of a notice on a channel for good."""
        self._database.change(
            """UPDATE delivery SET state = ?, claimed_at = NULL, why = ?, done_at = ?
            WHERE account = ? AND notice = ? AND channel = ? AND done_at IS NULL""",
            (state.value, why, now.timestamp(), self._account, number, channel),
        )

    def progress(self, number: int, channel: str, part: int) -> None:
        """Write that the parts before `part` are out."""
        self._database.change(
            "UPDATE delivery SET part = ? WHERE account = ? AND notice = ? AND channel = ?",
            (part, self._account, number, channel),
        )

    def states(self) -> dict[str, ChannelState]:
        """Return how each channel is that was ever used."""
        rows = self._database.rows("SELECT * FROM channel WHERE account = ? ORDER BY name", (self._account,))
        return {state.name: state for state in _parse_each(rows, _parse_state)}

    def renew(self, name: str, mark: str) -> ChannelState:
        """Begin anew with a channel: it is new, or its address is another."""
        self._database.change(
            """INSERT INTO channel (account, name, mark) VALUES (?, ?, ?) ON CONFLICT (account, name) DO UPDATE
            SET mark = excluded.mark, failures = 0, failing_since = NULL, next_at = NULL, dead_since = NULL,
            why = ''""",
            (self._account, name, mark),
        )
        return self.states()[name]

    def succeeded(self, name: str, now: datetime) -> None:
        """Write that a channel works."""
        self._database.change(
            """UPDATE channel SET failures = 0, failing_since = NULL, next_at = NULL, dead_since = NULL, why = '',
            sent_at = ? WHERE account = ? AND name = ?""",
            (now.timestamp(), self._account, name),
        )

    def failed(self, name: str, *, why: str, now: datetime, next_at: datetime, is_dead: bool) -> None:
        """Write that a channel does not work, and when it is tried again."""
        self._database.change(
            """UPDATE channel SET failures = failures + 1, failing_since = COALESCE(failing_since, ?), next_at = ?,
            dead_since = CASE WHEN ? = 1 THEN COALESCE(dead_since, ?) ELSE dead_since END, why = ?
            WHERE account = ? AND name = ?""",
            (now.timestamp(), next_at.timestamp(), int(is_dead), now.timestamp(), why, self._account, name),
        )

    def settle(self, now: datetime) -> None:
        """Mark as delivered the notices that no channel has to tell any more."""
        self._database.change(
            """UPDATE notice SET delivered_at = ? WHERE account = ? AND delivered_at IS NULL
            AND EXISTS (SELECT 1 FROM delivery d WHERE d.account = notice.account AND d.notice = notice.number)
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.account = notice.account AND d.notice = notice.number
                AND d.done_at IS NULL)""",
            (now.timestamp(), self._account),
        )

    def _rows(self, condition: str, values: Sequence[str | int | float]) -> tuple[Row, ...]:
        rows = self._database.rows(
            f"SELECT * FROM delivery WHERE account = ? AND {condition} ORDER BY notice, channel",  # noqa: S608 - fixed text of ours
            (self._account, *values),
        )
        return tuple(_parse_each(rows, _parse_row))


def _parse_each(rows: Iterable[_Row], parse: Callable[[_Row], _Parsed]) -> Iterator[_Parsed]:
    """Yield what rows mean, those apart that nobody here wrote: they must not keep the others from being told."""
    for row in rows:
        with contextlib.suppress(ValueError, TypeError, LookupError, OverflowError, OSError):
            yield parse(row)


def _parse_undelivered(row: sqlite3.Row, rows: tuple[Row, ...]) -> Undelivered:
    written_at = datetime.fromtimestamp(float(row["written_at"]), tz=UTC)
    return Undelivered(number=int(row["number"]), kind=NoticeKind(row["kind"]), written_at=written_at, rows=rows)


def _parse_row(row: sqlite3.Row) -> Row:
    return Row(
        notice=int(row["notice"]),
        channel=str(row["channel"]),
        state=RowState(row["state"]),
        attempts=int(row["attempts"]),
        part=int(row["part"]),
        is_repeat=bool(row["is_repeat"]),
        is_fallback=bool(row["is_fallback"]),
        next_at=_instant(row["next_at"]),
        why=str(row["why"]),
    )


def _parse_state(row: sqlite3.Row) -> ChannelState:
    return ChannelState(
        name=str(row["name"]),
        mark=str(row["mark"]),
        failures=int(row["failures"]),
        failing_since=_instant(row["failing_since"]),
        next_at=_instant(row["next_at"]),
        dead_since=_instant(row["dead_since"]),
        sent_at=_instant(row["sent_at"]),
        why=str(row["why"]),
    )


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(float(seconds), tz=UTC)
