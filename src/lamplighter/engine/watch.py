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
    Probe,
    ProbeFacts,
    Rule,
    Standing,
    Unreadable,
    Verdict,
    evaluate,
    is_past_its_time,
)
from lamplighter.engine.incident import Incidents, Look
from lamplighter.engine.incident_life import UNKNOWN, Incident
from lamplighter.errors import LamplighterError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.notify.severity import Severity

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
    Migration(
        concern="watch",
        number=2,
        statements=("ALTER TABLE tick ADD COLUMN steady DOUBLE PRECISION",),
    ),
)
# What the world does to a reader: a disk, a full table, or a value in the database that we never wrote.
TROUBLES = (LamplighterError, OSError, ValueError, LookupError, TypeError, ArithmeticError)
EVERY = timedelta(minutes=5)
AWAY = 3 * EVERY
_KEEP = timedelta(days=40)
_TICKS = Probe(key="watch_ticks", about="the watcher itself", severity=Severity.INFO)
_UNMET = frozenset({Standing.FAILING, Standing.UNKNOWN})


class WatchCode(enum.IntEnum):
    """The exit code of a tick, as monitors read it; 1 is left out: there it would mean that the watcher crashed."""

    OK = 0
    FAILING = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One expectation: its rule, and how its facts are read; reading may raise what the world does to it.

    `excuse` says why nothing is expected for the time being (a pause); then nothing is read.
    """

    rule: Rule
    read: Callable[[], Facts]
    excuse: str = ""


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
        if Standing.FAILING in standings or any(not incident.is_unknown for incident in self.shown):
            return WatchCode.FAILING
        return WatchCode.UNKNOWN if Standing.UNKNOWN in standings or not self.verdicts else WatchCode.OK

    @property
    def unknown(self) -> tuple[Verdict, ...]:
        """Return what nobody can tell at this tick."""
        return tuple(verdict for verdict in self.verdicts if verdict.standing is Standing.UNKNOWN)

    @property
    def shown(self) -> tuple[Incident, ...]:
        """Return what is open and not excused by a pause."""
        excused = {verdict.key for verdict in self.verdicts if verdict.standing is Standing.EXCUSED}
        return tuple(incident for incident in self.incidents if incident.key.removesuffix(UNKNOWN) not in excused)

    @property
    def unmet(self) -> tuple[Verdict, ...]:
        """Return the critical expectations that do not hold now, or of which nobody can tell.

        What is late is inside its grace, and none of them. A tick that judged nothing at all has its one verdict in it.
        """
        return tuple(verdict for verdict in self.verdicts if verdict.is_critical and verdict.standing in _UNMET)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tick:
    """A tick as recorded: when by the wall, when by the steady clock (None: not noted), in which boot."""

    at: datetime
    steady: timedelta | None
    boot_id: str


class Watcher:
    """Watches one account."""

    def __init__(self, database: Database, clock: Clock, account: str, *, incidents: Incidents, boot_id: str) -> None:
        """Use an open database, and incidents on the same one."""
        self._database = database
        self._clock = clock
        self._account = account
        self._incidents = incidents
        self._boot_id = boot_id

    def tick(
        self, expected: Sequence[Expected], *, reconcile: Callable[[], None], quiet: tuple[str, ...] = ()
    ) -> TickReport:
        """Look once, and return what was found; a fact that cannot be read is a verdict, never an error.

        `quiet` are lines for the day's digest. Raises DiskError when the database takes no word of it.
        """
        begun = self._clock.monotonic()
        dead = _reconcile(reconcile)
        facts = [(entry, _read(entry)) for entry in expected]
        with self._database.transaction():
            now = self._clock.now()
            before = _find_last_tick(self._database, self._account)
            holding = _Holding(self._database, self._account, now)
            judged = [_judge(entry, found, holding, now) for entry, found in facts]
            away_since = before.at if before is not None and now - before.at > AWAY else None
            verdicts = (*judged, dead, self._judge_own(before, now, begun))
            look = Look(
                verdicts=verdicts,
                long_unknown=_note_unknown(verdicts, holding),
                noticed=_describe_gap(away_since, now) if away_since else "",
                before=before.at if before else None,
                quiet=quiet,
            )
            incidents = self._incidents.apply(look)
            report = TickReport(at=now, verdicts=verdicts, incidents=incidents, away_since=away_since)
            self._note_tick(report, begun)
        return report

    def last_tick_at(self) -> datetime | None:
        """Return when the watcher last ticked, None when it never did."""
        return last_tick_at(self._database, self._account)

    def ticked_between(self, begin: datetime, end: datetime) -> bool:
        """Return whether there was a tick then, so that the machine was on."""
        row = self._database.row(
            "SELECT 1 FROM tick WHERE account = ? AND at BETWEEN ? AND ? LIMIT 1",
            (self._account, begin.timestamp(), end.timestamp()),
        )
        return row is not None

    def _judge_own(self, before: _Tick | None, now: datetime, steady: timedelta) -> Verdict:
        """Say once that the watcher was away while the machine was on; asleep or switched off, it is no fault of its.

        The steady clock stands still while the machine sleeps.
        """
        gap = ""
        if before is not None and before.steady is not None and before.boot_id == self._boot_id:
            is_away = steady - before.steady > AWAY and now > before.at
            gap = f"{_describe_gap(before.at, now)} though the machine was on" if is_away else ""
        repaired = f"{gap}; what happened meanwhile is looked at now" if gap else ""
        return evaluate(_TICKS, ProbeFacts(repaired=repaired), now)

    def _note_tick(self, report: TickReport, begun: timedelta) -> None:
        took = self._clock.monotonic() - begun
        self._database.change(
            """INSERT INTO tick (account, number, at, boot_id, took, standing, steady)
            SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ? FROM tick WHERE account = ?""",
            (
                self._account, report.at.timestamp(), self._boot_id, took.total_seconds(), report.code.name.lower(),
                begun.total_seconds(), self._account,
            ),
        )  # fmt: skip
        self._database.change(
            "DELETE FROM tick WHERE account = ? AND at < ?", (self._account, (report.at - _KEEP).timestamp())
        )


def last_tick_at(database: Database, account: str) -> datetime | None:
    """Return when the watcher of an account last ticked, None when it never did."""
    before = _find_last_tick(database, account)
    return before.at if before else None


def _find_last_tick(database: Database, account: str) -> _Tick | None:
    row = database.row(
        "SELECT at, steady, boot_id FROM tick WHERE account = ? ORDER BY number DESC LIMIT 1", (account,)
    )
    if row is None:
        return None
    with database.parsing():
        return _Tick(
            at=datetime.fromtimestamp(row["at"], tz=UTC),
            steady=None if row["steady"] is None else timedelta(seconds=row["steady"]),
            boot_id=str(row["boot_id"]),
        )


class _Holding:
    """Since which tick each condition holds, which only the ticks before can tell; for one open transaction.

    What was noted in a time to come, by a clock that was set back since, is noted anew.
    """

    def __init__(self, database: Database, account: str, now: datetime) -> None:
        self._database = database
        self._account = account
        self._now = now
        rows = database.rows("SELECT key, since FROM holding WHERE account = ?", (account,))
        with database.parsing():
            self._since = {str(row["key"]): datetime.fromtimestamp(row["since"], tz=UTC) for row in rows}

    def is_old(self, key: str, holds: bool) -> bool:
        """Note whether a condition holds, and return whether it has since an earlier tick."""
        since = self.note(key, holds)
        return since is not None and since < self._now

    def note(self, key: str, holds: bool) -> datetime | None:
        """Note whether a condition holds, and return since which tick it has, None when it does not."""
        since = self._since.pop(key, None)
        if not holds:
            if since is not None:
                self._database.change("DELETE FROM holding WHERE account = ? AND key = ?", (self._account, key))
            return None
        if since is not None and since <= self._now:
            self._since[key] = since
            return since
        self._since[key] = self._now
        self._database.change(
            """INSERT INTO holding (account, key, since) VALUES (?, ?, ?)
            ON CONFLICT (account, key) DO UPDATE SET since = excluded.since""",
            (self._account, key, self._now.timestamp()),
        )
        return self._now


def _judge(entry: Expected, facts: Facts, holding: _Holding, now: datetime) -> Verdict:
    """Judge one expectation; what nobody can tell is as bad as its absence once its time has passed."""
    rule = entry.rule
    if entry.excuse:
        holding.note(rule.key, False)
        return evaluate(rule, facts, now, excuse=entry.excuse)
    verdict = evaluate(rule, _complete(rule, facts, holding), now)
    since = holding.note(_doubt_key(rule.key), verdict.standing is Standing.UNKNOWN)
    if since is not None and is_past_its_time(rule, since, now):
        return replace(verdict, severity=rule.severity)
    return verdict


def _complete(rule: Rule, facts: Facts, holding: _Holding) -> Facts:
    """Add since when a condition holds."""
    if isinstance(facts, LevelFacts) and isinstance(rule, Level):
        return replace(facts, below_since=holding.note(rule.key, facts.have < rule.at_least))
    if isinstance(facts, AgeFacts):
        return replace(facts, wanted_since=holding.note(rule.key, not facts.excuse))
    return facts


def _note_unknown(verdicts: Sequence[Verdict], holding: _Holding) -> frozenset[str]:
    """Note what nobody can tell, and return what nobody could tell at an earlier tick either."""
    return frozenset(
        verdict.key
        for verdict in verdicts
        if holding.is_old(_doubt_key(verdict.key), verdict.standing is Standing.UNKNOWN)
    )


def _doubt_key(key: str) -> str:
    return f"{key}{UNKNOWN}"


def blind_report(at: datetime, error: Exception) -> TickReport:
    """Return the report of a tick that could not even open what it reads: nobody can tell anything."""
    verdict = replace(_doubt("watch", "the whole workspace", error), is_critical=True)
    return TickReport(at=at, verdicts=(verdict,), incidents=())


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
    if entry.excuse:
        return Unreadable(cause="nobody asked")
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
