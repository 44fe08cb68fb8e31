"""The notices that are not delivered yet: written in the transaction of what they tell of, sent afterwards."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.notify.severity import Severity as Severity  # noqa: PLC0414 - its users find it here

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
    Migration(
        concern="notice",
        number=2,
        statements=(
            "ALTER TABLE notice ADD COLUMN severity TEXT NOT NULL DEFAULT 'warning'",
            "ALTER TABLE notice ADD COLUMN pictures TEXT NOT NULL DEFAULT '[]'",
            "ALTER TABLE notice ADD COLUMN link TEXT NOT NULL DEFAULT ''",
        ),
    ),
)


class NoticeKind(enum.Enum):
    """What a notice tells of."""

    OPENED = "opened"
    REMINDER = "reminder"
    ESCALATED = "escalated"
    RESOLVED = "resolved"
    DIGEST = "digest"
    BUNDLE = "bundle"
    MADE = "made"
    POSTED = "posted"
    REVIEW = "review"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing a person is told, once: `dedup_key` names it for good.

    `incident` is the number of what it is about, 0 for what is no incident. `pictures` are absolute paths of JPEGs,
    attached where a channel can; `link` is said on its own line.
    """

    dedup_key: str
    kind: NoticeKind
    subject: str
    body: str
    incident: int = 0
    severity: Severity = Severity.WARNING
    pictures: tuple[str, ...] = ()
    link: str = ""


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
            """INSERT INTO notice
            (account, number, dedup_key, kind, incident, subject, body, severity, pictures, link, written_at)
            SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM notice WHERE account = ?
            ON CONFLICT DO NOTHING""",
            (
                self._account, notice.dedup_key, notice.kind.value, notice.incident, notice.subject, notice.body,
                notice.severity.value, json.dumps(notice.pictures), notice.link, self._clock.now().timestamp(),
                self._account,
            ),
        )  # fmt: skip

    def has(self, key: str) -> bool:
        """Return whether a notice of this key was ever written."""
        return bool(
            self._database.row("SELECT 1 FROM notice WHERE account = ? AND dedup_key = ?", (self._account, key))
        )

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
        with self._database.parsing():
            return tuple(parse_notice(dict(row)) for row in rows)


def parse_notice(row: dict[str, str | int | float | None]) -> Waiting:
    """Return the notice of a row; raises ValueError, TypeError or LookupError for one that nobody here wrote."""
    notice = Notice(
        dedup_key=str(row["dedup_key"]),
        kind=NoticeKind(row["kind"]),
        incident=int(row["incident"] or 0),
        subject=str(row["subject"]),
        body=str(row["body"]),
        severity=Severity(row["severity"]),
        pictures=tuple(str(picture) for picture in json.loads(str(row["pictures"]))),
        link=str(row["link"]),
    )
    written_at = datetime.fromtimestamp(float(row["written_at"] or 0), tz=UTC)
    return Waiting(number=int(row["number"] or 0), notice=notice, written_at=written_at)
