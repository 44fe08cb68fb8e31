"""What is remembered of a brand: a skip that always ends by itself, and how often it failed in a row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lamplighter.host.database import Database, Migration

MIGRATIONS = (
    Migration(
        concern="brand",
        number=1,
        statements=(
            """CREATE TABLE brand (
                account TEXT NOT NULL, slug TEXT NOT NULL, skip_until DOUBLE PRECISION NOT NULL DEFAULT 0,
                skip_reason TEXT NOT NULL DEFAULT '', failures BIGINT NOT NULL DEFAULT 0,
                last_failure TEXT NOT NULL DEFAULT '', PRIMARY KEY (account, slug))""",
        ),
    ),
)
LONGEST_SKIP = timedelta(days=90)
_FAILURES_TO_REST = 3
_REST = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandState:
    """A brand's skip (None when it is not skipped now), its reason, and its failures in a row."""

    skip_until: datetime | None = None
    skip_reason: str = ""
    failures: int = 0
    last_failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedBrand:
    """A brand that is left out now: until when, and why."""

    slug: str
    until: datetime
    reason: str


class BrandStates:
    """The brand states of one account."""

    def __init__(self, database: Database, account: str) -> None:
        """Use an open database."""
        self._database = database
        self._account = account

    def read(self, slug: str, *, now: datetime) -> BrandState:
        """Return a brand's state as of `now`: a skip that has run out is none."""
        row = self._database.row("SELECT * FROM brand WHERE account = ? AND slug = ?", (self._account, slug))
        if row is None:
            return BrandState()
        with self._database.parsing():
            until = datetime.fromtimestamp(float(row["skip_until"]), tz=UTC)
            return BrandState(
                skip_until=until if until > now else None,
                skip_reason=str(row["skip_reason"]) if until > now else "",
                failures=int(row["failures"]),
                last_failure=str(row["last_failure"]),
            )

    def skip(self, slug: str, *, until: datetime, reason: str) -> None:
        """Leave a brand out until an instant."""
        self._write(slug, until.timestamp(), reason)

    def rest(self, slug: str, *, until: datetime, reason: str, now: datetime) -> None:
        """Leave a brand out until a limit ends, 90 days at most; a skip that lasts longer stays as it is."""
        until = min(until, now + LONGEST_SKIP)
        known = self.read(slug, now=now).skip_until
        if known is None or known < until:
            self.skip(slug, until=until, reason=reason)

    def unskip(self, slug: str) -> None:
        """Take a brand in again at once, and forget its failures in a row."""
        self._write(slug, 0.0, "")
        self.record_success(slug)

    def record_success(self, slug: str) -> None:
        """Forget a brand's failures."""
        self._database.change(
            "UPDATE brand SET failures = 0, last_failure = '' WHERE account = ? AND slug = ?", (self._account, slug)
        )

    def record_failure(self, slug: str, *, cause: str, now: datetime) -> None:
        """Count a failure; the third in a row rests the brand for a day, and the count begins anew."""
        failures = self.read(slug, now=now).failures + 1
        if failures >= _FAILURES_TO_REST:
            self.rest(slug, until=now + _REST, reason=f"failed {failures} times in a row: {cause}", now=now)
            failures = 0
        self._database.change(
            """INSERT INTO brand (account, slug, failures, last_failure) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, slug) DO UPDATE SET failures = excluded.failures,
            last_failure = excluded.last_failure""",
            (self._account, slug, failures, cause),
        )

    def _write(self, slug: str, until: float, reason: str) -> None:
        self._database.change(
            """INSERT INTO brand (account, slug, skip_until, skip_reason) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, slug) DO UPDATE SET skip_until = excluded.skip_until,
            skip_reason = excluded.skip_reason""",
            (self._account, slug, until, reason),
        )
