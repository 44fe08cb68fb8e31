"""The notices that are not delivered yet: written in the transaction of what they tell of, sent afterwards."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, datetime

from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration

MIGRATIONS = (
    Migration(
        concern="notice",
        number=1,
        statements=(
            """CREATE TABLE notice (
                account TEXT NOT NULL, number BIGINT NOT NULL, dedup_key TEXT NOT NULL, kind TEXT NOT NULL,
                incident BIGINT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL,
                written_at DOUBLE PRECISION NOT NULL, delivered_at DOUBLE PRECISION,
                PRIMARY KEY (account, number))""",
            "CREATE UNIQUE INDEX notice_once ON notice (account, dedup_key)",
            "CREATE INDEX notice_waiting ON notice (account, number) WHERE delivered_at IS NULL",
        ),
    ),
)


class NoticeKind(enum.Enum):
    """What a notice tells of."""

    OPENED = "opened"
    REMINDER = "reminder"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing a person is told, once: `dedup_key` names it for good; `incident` is the number of what it is about."""

    dedup_key: str
    kind: NoticeKind
    incident: int
    subject: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A notice in the outbox, under its number, and since when it waits."""

    number: int
    notice: Notice
    written_at: datetime


class Outbox:
    """The notices of one account."""

    def __init__(self, database: Database, clock: Clock, account: str) -> None:
        """Use an open database, and its transaction where one is open."""
        self._database = database
        self._clock = clock
        self._account = account

    def put(self, notice: Notice) -> None:
        """Write a notice to be delivered; one of the same key is never written again."""
        self._database.change(
            """INSERT INTO notice (account, number, dedup_key, kind, incident, subject, body, written_at)
            SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ?, ? FROM notice WHERE account = ?
            ON CONFLICT DO NOTHING""",
            (
                self._account, notice.dedup_key, notice.kind.value, notice.incident, notice.subject, notice.body,
                self._clock.now().timestamp(), self._account,
            ),
        )  # fmt: skip

    def waiting(self, *, limit: int = 100) -> tuple[Waiting, ...]:
        """Return the notices that are not delivered, oldest first."""
        return self._read("delivered_at IS NULL", limit)

    def all(self, *, limit: int = 1_000) -> tuple[Waiting, ...]:
        """Return every notice that ever was, oldest first."""
        return self._read("1 = 1", limit)

    def delivered(self, number: int) -> None:
        """Write that a notice has reached somebody."""
        self._database.change(
            "UPDATE notice SET delivered_at = ? WHERE account = ? AND number = ? AND delivered_at IS NULL",
            (self._clock.now().timestamp(), self._account, number),
        )

    def _read(self, condition: str, limit: int) -> tuple[Waiting, ...]:
        rows = self._database.rows(
            f"SELECT * FROM notice WHERE account = ? AND {condition} ORDER BY number LIMIT ?",  # noqa: S608 - fixed text of ours
            (self._account, limit),
        )
        return tuple(_parse_row(dict(row)) for row in rows)


def _parse_row(row: dict[str, str | int | float | None]) -> Waiting:
    notice = Notice(
        dedup_key=str(row["dedup_key"]),
        kind=NoticeKind(row["kind"]),
        incident=int(row["incident"] or 0),
        subject=str(row["subject"]),
        body=str(row["body"]),
    )
    written_at = datetime.fromtimestamp(float(row["written_at"] or 0), tz=UTC)
    return Waiting(number=int(row["number"] or 0), notice=notice, written_at=written_at)
