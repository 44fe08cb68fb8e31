"""One tick of the watcher: reconcile, read the facts, judge, open and resolve incidents, note that it ticked.

Nothing is remembered but in the database, so a watcher that is killed and started again goes on as if it had not been.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from lamplighter.engine.expectation import (
    AgeFacts,
    Facts,
    Level,
    LevelFacts,
    Rule,
    Standing,
    Unreadable,
    Verdict,
    evaluate,
)
from lamplighter.engine.incident import Incident, Incidents
from lamplighter.errors import LamplighterError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration

MIGRATIONS = (
    Migration(
        concern="watch",
        number=1,
        statements=(
            """CREATE TABLE tick (
                account TEXT NOT NULL, number BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, boot_id TEXT NOT NULL,
                took DOUBLE PRECISION NOT NULL, standing TEXT NOT NULL, PRIMARY KEY (account, number))""",
            "CREATE INDEX tick_by_time ON tick (account, at)",
            """CREATE TABLE holding (
                account TEXT NOT NULL, key TEXT NOT NULL, since DOUBLE PRECISION NOT NULL,
                PRIMARY KEY (account, key))""",
        ),
    ),
)
# What the world does to a reader: a disk, a full table, or a value in the database that we never wrote.
TROUBLES = (LamplighterError, OSError, ValueError, LookupError, TypeError, ArithmeticError)
EVERY = timedelta(minutes=5)
AWAY = 3 * EVERY
_KEEP = timedelta(days=40)


class WatchCode(enum.IntEnum):
    """The exit code of a tick, as monitors read it; 1 is left out: there it would mean that the watcher crashed."""

    OK = 0
    FAILING = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One expectation: its rule, and how its facts are read; reading may raise what the world does to it."""

    rule: Rule
    read: Callable[[], Facts]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickReport:
    """What one tick found: every verdict, what is open, and when the watcher was away before (None: it was not)."""

    at: datetime
    verdicts: tuple[Verdict, ...]
    incidents: tuple[Incident, ...]
    away_since: datetime | None = None

    @property
    def code(self) -> WatchCode:
        """Return the exit code: what is missing counts before what nobody can tell."""
        standings = {verdict.standing for verdict in self.verdicts}
        if Standing.FAILING in standings or any(not incident.is_unknown for incident in self.incidents):
            return WatchCode.FAILING
        return WatchCode.UNKNOWN if Standing.UNKNOWN in standings or not self.verdicts else WatchCode.OK

    @property
    def unknown(self) -> tuple[Verdict, ...]:
        """Return what nobody can tell at this tick."""
        return tuple(verdict for verdict in self.verdicts if verdict.standing is Standing.UNKNOWN)


class Watcher:
    """Watches one account."""

    def __init__(self, database: Database, clock: Clock, account: str, *, incidents: Incidents, boot_id: str) -> None:
        """Use an open database, and incidents on the same one."""
        self._database = database
        self._clock = clock
        self._account = account
        self._incidents = incidents
        self._boot_id = boot_id

    def tick(self, expected: Sequence[Expected], *, reconcile: Callable[[], None]) -> TickReport:
        """Look once, and return what was found; a fact that cannot be read is a verdict, never an error.

        Raises DiskError when the database takes no word of it.
        """
        begun = self._clock.monotonic()
        dead = _reconcile(reconcile)
        facts = [(entry.rule, _read(entry)) for entry in expected]
        with self._database.transaction():
            now = self._clock.now()
            away_since = self._find_gap(now)
            verdicts = (*(evaluate(rule, self._complete(rule, found, now), now) for rule, found in facts), dead)
            noticed = _describe_gap(away_since, now) if away_since else ""
            incidents = self._incidents.apply(verdicts, long_unknown=self._note_unknown(verdicts, now), noticed=noticed)
            report = TickReport(at=now, verdicts=verdicts, incidents=incidents, away_since=away_since)
            self._note_tick(report, self._clock.monotonic() - begun)
        return report

    def last_tick_at(self) -> datetime | None:
        """Return when the watcher last ticked, None when it never did."""
        row = self._database.row("SELECT at FROM tick WHERE account = ? ORDER BY number DESC LIMIT 1", (self._account,))
        return datetime.fromtimestamp(row["at"], tz=UTC) if row else None

    def ticked_between(self, begin: datetime, end: datetime) -> bool:
        """Return whether there was a tick then, so that the machine was on."""
        row = self._database.row(
            "SELECT 1 FROM tick WHERE account = ? AND at BETWEEN ? AND ? LIMIT 1",
            (self._account, begin.timestamp(), end.timestamp()),
        )
        return row is not None

    def _complete(self, rule: Rule, facts: Facts, now: datetime) -> Facts:
        """Add since when a condition holds, which only the ticks before can tell."""
        if isinstance(facts, LevelFacts) and isinstance(rule, Level):
            return replace(facts, below_since=self._hold(rule.key, facts.have < rule.at_least, now))
        if isinstance(facts, AgeFacts):
            return replace(facts, wanted_since=self._hold(rule.key, not facts.excuse, now))
        return facts

    def _hold(self, key: str, holds: bool, now: datetime) -> datetime | None:
        """Note whether a condition holds, and return since which tick it has, None when it does not.

        What was noted in a time to come, by a clock that was set back since, is noted anew.
        """
        if not holds:
            self._database.change("DELETE FROM holding WHERE account = ? AND key = ?", (self._account, key))
            return None
        row = self._database.row(
            """INSERT INTO holding (account, key, since) VALUES (?, ?, ?) ON CONFLICT (account, key)
            DO UPDATE SET since = CASE WHEN holding.since > excluded.since THEN excluded.since ELSE holding.since END
            RETURNING since""",
            (self._account, key, now.timestamp()),
        )
        return datetime.fromtimestamp(row["since"], tz=UTC) if row else now

    def _note_unknown(self, verdicts: Sequence[Verdict], now: datetime) -> frozenset[str]:
        """Note what nobody can tell, and return what nobody could tell at an earlier tick either."""
        since = {
            verdict.key: self._hold(f"{verdict.key}:unknown", verdict.standing is Standing.UNKNOWN, now)
            for verdict in verdicts
        }
        return frozenset(key for key, at in since.items() if at is not None and at < now)

    def _find_gap(self, now: datetime) -> datetime | None:
        before = self.last_tick_at()
        return before if before is not None and now - before > AWAY else None

    def _note_tick(self, report: TickReport, took: timedelta) -> None:
        self._database.change(
            """INSERT INTO tick (account, number, at, boot_id, took, standing)
            SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ? FROM tick WHERE account = ?""",
            (
                self._account, report.at.timestamp(), self._boot_id, took.total_seconds(), report.code.name.lower(),
                self._account,
            ),
        )  # fmt: skip
        self._database.change(
            "DELETE FROM tick WHERE account = ? AND at < ?", (self._account, (report.at - _KEEP).timestamp())
        )


def blind_report(at: datetime, error: Exception) -> TickReport:
    """Return the report of a tick that could not even open what it reads: nobody can tell anything."""
    return TickReport(at=at, verdicts=(_doubt("watch", "the whole workspace", error),), incidents=())


def add_doubt(report: TickReport, key: str, about: str, error: Exception) -> TickReport:
    """Return a report with one more thing that nobody can tell."""
    return replace(report, verdicts=(*report.verdicts, _doubt(key, about, error)))


def _reconcile(reconcile: Callable[[], None]) -> Verdict:
    """Find runs that ended without a word; a failure of it is a doubt like any other."""
    try:
        reconcile()
    except TROUBLES as error:
        return _doubt("reconcile", "runs that died", error)
    return Verdict(key="reconcile", standing=Standing.OK, line="runs that died: each has its word")


def _describe_gap(away_since: datetime, now: datetime) -> str:
    return f"watch did not run from {away_since:%Y-%m-%d %H:%M} to {now:%Y-%m-%d %H:%M} UTC"


def _read(entry: Expected) -> Facts:
    try:
        return entry.read()
    except TROUBLES as error:
        return Unreadable(cause=_say(error))


def _doubt(key: str, about: str, error: Exception) -> Verdict:
    return Verdict(
        key=key,
        standing=Standing.UNKNOWN,
        line=f"nobody can tell about {about}",
        why=_say(error),
        command="lamplighter status",
    )


def _say(error: Exception) -> str:
    return str(error) if isinstance(error, LamplighterError) else f"{type(error).__name__}: {error}"
