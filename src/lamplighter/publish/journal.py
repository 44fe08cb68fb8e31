"""The journal: what was about to go out, before it goes, so that nothing goes out twice or is forgotten.

A row is keyed by account, channel and slot, so a slot can be filled only once. States, in order:
posting (written before the publisher is called) → published (its receipt is here) → recorded (moved and noted).
"""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from lamplighter.errors import Fenced
from lamplighter.featurepost.feature import has_date_everywhere
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.publish.publisher import Receipt

MIGRATIONS = (
    Migration(
        concern="journal",
        number=1,
        statements=(
            """CREATE TABLE post (
                account TEXT NOT NULL, channel TEXT NOT NULL, slot TEXT NOT NULL, feature TEXT NOT NULL,
                state TEXT NOT NULL, generation BIGINT NOT NULL, run BIGINT NOT NULL,
                claimed_at DOUBLE PRECISION NOT NULL, published_at DOUBLE PRECISION,
                receipt TEXT NOT NULL DEFAULT '', location TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (account, channel, slot))""",
            "CREATE UNIQUE INDEX post_by_feature ON post (account, channel, feature)",
        ),
    ),
)


class State(enum.Enum):
    """How far a post has come."""

    POSTING = "posting"
    PUBLISHED = "published"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the journal; `receipt` is None while the post is not known to be out."""

    slot: str
    feature_id: str
    state: State
    claimed_at: datetime
    receipt: Receipt | None


class Journal:
    """The posts of one account on one channel."""

    def __init__(self, database: Database, clock: Clock, *, account: str, channel: str) -> None:
        """Use an open database."""
        self._database = database
        self._clock = clock
        self._account = account
        self._channel = channel

    def claim(self, slot: str, feature_id: str, *, generation: int, run: int) -> None:
        """Write that a feature is about to go out in a slot; raises Fenced when the slot or feature is taken."""
        changed = self._database.change(
            """INSERT INTO post (account, channel, slot, feature, state, generation, run, claimed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""",
            (
                self._account, self._channel, slot, feature_id, State.POSTING.value, generation, run,
                self._clock.now().timestamp(),
            ),
        )  # fmt: skip
        if changed != 1:
            raise Fenced(f"slot {slot}", f"it or {feature_id} is in the journal already")

    def published(self, slot: str, receipt: Receipt, *, generation: int) -> None:
        """Write a post's receipt; raises Fenced when a later run has the row."""
        self._advance(
            slot,
            "published_at = ?, receipt = ?, location = ?, state = ?, generation = ?",
            (receipt.published_at.timestamp(), receipt.id, receipt.location, State.PUBLISHED.value, generation),
            generation,
        )

    def recorded(self, slot: str, *, generation: int) -> None:
        """Write that a published post is moved and noted."""
        self._advance(slot, "state = ?, generation = ?", (State.RECORDED.value, generation), generation)

    def withdraw(self, slot: str, *, generation: int) -> None:
        """Take a claim back whose post is proven not to be out."""
        self._database.change(
            "DELETE FROM post WHERE account = ? AND channel = ? AND slot = ? AND state = ? AND generation <= ?",
            (self._account, self._channel, slot, State.POSTING.value, generation),
        )

    def entries(self, *, limit: int = 400) -> tuple[Entry, ...]:
        """Return the newest entries, newest first."""
        rows = self._database.rows(
            "SELECT * FROM post WHERE account = ? AND channel = ? ORDER BY claimed_at DESC, slot DESC LIMIT ?",
            (self._account, self._channel, limit),
        )
        return self._parse(rows)

    def unfinished(self) -> tuple[Entry, ...]:
        """Return the entries that are not recorded yet, oldest first."""
        rows = self._database.rows(
            "SELECT * FROM post WHERE account = ? AND channel = ? AND state <> ? ORDER BY claimed_at",
            (self._account, self._channel, State.RECORDED.value),
        )
        return self._parse(rows)

    def of_day(self, day: str) -> tuple[Entry, ...]:
        """Return the entries of a local day (YYYY-MM-DD), first slot first."""
        rows = self._database.rows(
            "SELECT * FROM post WHERE account = ? AND channel = ? AND substr(slot, 1, 10) = ? ORDER BY slot",
            (self._account, self._channel, day),
        )
        return self._parse(rows)

    def find(self, feature_id: str) -> Entry | None:
        """Return the entry of a feature, None when it never was about to go out."""
        row = self._database.row(
            "SELECT * FROM post WHERE account = ? AND channel = ? AND feature = ?",
            (self._account, self._channel, feature_id),
        )
        return self._parse([row])[0] if row else None

    def feature_ids(self) -> frozenset[str]:
        """Return the ids of all features that have an entry."""
        rows = self._database.rows(
            "SELECT feature FROM post WHERE account = ? AND channel = ?", (self._account, self._channel)
        )
        return frozenset(str(row["feature"]) for row in rows)

    def days_done(self) -> frozenset[date]:
        """Return the local days whose post is out, moved and noted: nothing of them is left to do."""
        return frozenset(
            date.fromisoformat(entry.slot[:10]) for entry in self.entries() if entry.state is State.RECORDED
        )

    def is_free(self, slot: str) -> bool:
        """Return whether no feature has a slot."""
        return not any(entry.slot == slot for entry in self.of_day(slot[:10]))

    def went_out(self, feature_id: str) -> bool:
        """Return whether a feature is known to be out."""
        entry = self.find(feature_id)
        return entry is not None and entry.receipt is not None

    def _parse(self, rows: Iterable[sqlite3.Row]) -> tuple[Entry, ...]:
        with self._database.parsing():
            return tuple(_parse_row(dict(row)) for row in rows)

    def _advance(self, slot: str, changes: str, values: tuple[str | int | float, ...], generation: int) -> None:
        changed = self._database.change(
            f"UPDATE post SET {changes} WHERE account = ? AND channel = ? AND slot = ? AND generation <= ?",  # noqa: S608 - fixed text of ours
            (*values, self._account, self._channel, slot, generation),
        )
        if changed != 1:
            raise Fenced(f"slot {slot}", "a later run has taken this post over")


def _parse_row(row: dict[str, str | int | float | None]) -> Entry:
    state = State(row["state"])
    published = row["published_at"]
    receipt = None
    if published is not None:
        receipt = Receipt(id=str(row["receipt"]), location=str(row["location"]), published_at=_instant(published))
    return Entry(
        slot=str(row["slot"]),
        feature_id=str(row["feature"]),
        state=state,
        claimed_at=_instant(row["claimed_at"]),
        receipt=receipt,
    )


def _instant(seconds: str | float | None) -> datetime:
    instant = datetime.fromtimestamp(float(seconds or 0), tz=UTC)
    if not has_date_everywhere(instant):
        raise ValueError(f"{instant} has no date in some places")
    return instant
