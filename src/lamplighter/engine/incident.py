"""Incidents: what is wrong, from the tick that saw it to the one that saw it gone; one open row for each key.

Each change writes its notice in the same transaction, so that a watcher that is restarted repeats and forgets nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from lamplighter.engine.expectation import Standing, Verdict
from lamplighter.engine.job import Evidence
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox

MIGRATIONS = (
    Migration(
        concern="incident",
        number=1,
        statements=(
            """CREATE TABLE incident (
                account TEXT NOT NULL, number BIGINT NOT NULL, dedup_key TEXT NOT NULL,
                opened_at DOUBLE PRECISION NOT NULL, resolved_at DOUBLE PRECISION, resolution TEXT NOT NULL DEFAULT '',
                line TEXT NOT NULL, since DOUBLE PRECISION NOT NULL, why TEXT NOT NULL, evidence TEXT NOT NULL,
                command TEXT NOT NULL, occurrence TEXT NOT NULL, PRIMARY KEY (account, number))""",
            "CREATE UNIQUE INDEX incident_open ON incident (account, dedup_key) WHERE resolved_at IS NULL",
        ),
    ),
)
_UNKNOWN = ":unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One thing that is or was wrong: since when, why, what the facts were, what a person types."""

    number: int
    key: str
    opened_at: datetime
    resolved_at: datetime | None
    resolution: str
    line: str
    since: datetime
    why: str
    evidence: tuple[Evidence, ...]
    command: str
    occurrence: str

    @property
    def is_unknown(self) -> bool:
        """Return whether it says that nobody can tell, rather than that something is missing."""
        return self.key.endswith(_UNKNOWN)

    def describe(self, zone: ZoneInfo) -> tuple[str, ...]:
        """Return it in lines for a person: what, since when, why, the facts, what to type."""
        return (
            self.line,
            f"since: {self.since.astimezone(zone):%Y-%m-%d %H:%M}",
            *((f"why: {self.why}",) if self.why else ()),
            *(f"{fact.name}: {fact.value}" for fact in self.evidence),
            *((f"type: {self.command}",) if self.command else ()),
        )


class Incidents:
    """The incidents of one account."""

    def __init__(self, database: Database, clock: Clock, account: str, *, outbox: Outbox, zone: ZoneInfo) -> None:
        """Use an open database and an outbox on the same one; times are told in `zone`."""
        self._database = database
        self._clock = clock
        self._account = account
        self._outbox = outbox
        self._zone = zone

    def open(self) -> tuple[Incident, ...]:
        """Return what is wrong now, the oldest first."""
        rows = self._database.rows(
            "SELECT * FROM incident WHERE account = ? AND resolved_at IS NULL ORDER BY number", (self._account,)
        )
        return tuple(_parse_row(dict(row)) for row in rows)

    def latest(self, *, limit: int = 50) -> tuple[Incident, ...]:
        """Return the newest incidents, resolved ones too, newest first."""
        rows = self._database.rows(
            "SELECT * FROM incident WHERE account = ? ORDER BY number DESC LIMIT ?", (self._account, limit)
        )
        return tuple(_parse_row(dict(row)) for row in rows)

    def apply(
        self, verdicts: Iterable[Verdict], *, long_unknown: frozenset[str] = frozenset(), noticed: str = ""
    ) -> tuple[Incident, ...]:
        """Open, complete and resolve by what was found, and return what is open then. For an open transaction.

        `long_unknown` are the keys that were unknown at the tick before too: one blink opens nothing. `noticed` is said
        of what is opened now when the watcher itself was away.
        """
        known = {incident.key: incident for incident in self.open()}
        seen: set[str] = set()
        for verdict in verdicts:
            seen |= {verdict.key, verdict.key + _UNKNOWN}
            self._judge(verdict, known, is_long=verdict.key in long_unknown, noticed=noticed)
        for key in known.keys() - seen:
            self._resolve(known[key], "it is not expected any more")
        return self.open()

    def _judge(self, verdict: Verdict, known: dict[str, Incident], *, is_long: bool, noticed: str) -> None:
        """Do what one verdict asks for; a late one neither opens nor resolves, an unknown one resolves nothing."""
        standing = verdict.standing
        failing, doubt = known.get(verdict.key), known.get(verdict.key + _UNKNOWN)
        if doubt is not None and standing is not Standing.UNKNOWN:
            self._resolve(doubt, f"it can be told again: {verdict.line}")
        if standing is Standing.OK and failing is not None:
            self._resolve(failing, verdict.line)
        elif standing is Standing.FAILING:
            self._see(verdict.key, verdict, failing, noticed)
        elif standing is Standing.UNKNOWN and (doubt is not None or is_long):
            self._see(verdict.key + _UNKNOWN, verdict, doubt, noticed)

    def _see(self, key: str, verdict: Verdict, before: Incident | None, noticed: str) -> None:
        if before is None:
            self._open(key, verdict, noticed)
            return
        kept = tuple(fact for fact in before.evidence if fact.name == "noticed late")
        told = (verdict.line, verdict.why, (*kept, *verdict.evidence), verdict.command, verdict.occurrence)
        if told != (before.line, before.why, before.evidence, before.command, before.occurrence):
            self._database.change(
                """UPDATE incident SET line = ?, why = ?, evidence = ?, command = ?, occurrence = ?
                WHERE account = ? AND number = ?""",
                (
                    verdict.line, verdict.why, _dump(told[2]), verdict.command, verdict.occurrence, self._account,
                    before.number,
                ),
            )  # fmt: skip
        if verdict.occurrence != before.occurrence:
            self._tell(before.number, NoticeKind.REMINDER, f"{before.number}-again-{verdict.occurrence}")

    def _open(self, key: str, verdict: Verdict, noticed: str) -> None:
        now = self._clock.now()
        evidence = (*((Evidence(name="noticed late", value=noticed),) if noticed else ()), *verdict.evidence)
        row = self._database.row(
            """INSERT INTO incident
            (account, number, dedup_key, opened_at, line, since, why, evidence, command, occurrence)
            SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ? FROM incident WHERE account = ?
            ON CONFLICT DO NOTHING RETURNING number""",
            (
                self._account, key, now.timestamp(), verdict.line, (verdict.since or now).timestamp(), verdict.why,
                _dump(evidence), verdict.command, verdict.occurrence, self._account,
            ),
        )  # fmt: skip
        if row is not None:
            self._tell(int(row["number"]), NoticeKind.OPENED, f"{row['number']}-opened")

    def _resolve(self, incident: Incident, resolution: str) -> None:
        now = self._clock.now()
        lasted = _describe_duration(max(now - incident.since, timedelta()))
        changed = self._database.change(
            """UPDATE incident SET resolved_at = ?, resolution = ?
            WHERE account = ? AND number = ? AND resolved_at IS NULL""",
            (now.timestamp(), resolution, self._account, incident.number),
        )
        if changed:
            notice = Notice(
                dedup_key=f"{incident.number}-resolved",
                kind=NoticeKind.RESOLVED,
                incident=incident.number,
                subject=f"over after {lasted}: {incident.line}",
                body=resolution,
            )
            self._outbox.put(notice)

    def _tell(self, number: int, kind: NoticeKind, key: str) -> None:
        row = self._database.row("SELECT * FROM incident WHERE account = ? AND number = ?", (self._account, number))
        if row is not None:
            subject, *body = _parse_row(dict(row)).describe(self._zone)
            self._outbox.put(Notice(dedup_key=key, kind=kind, incident=number, subject=subject, body="\n".join(body)))


def _describe_duration(duration: timedelta) -> str:
    minutes = int(duration.total_seconds() // 60)
    days, hours = minutes // 1440, minutes // 60 % 24
    parts = ((days, "d"), (hours, "h"), (minutes % 60, "min"))
    return " ".join(f"{value} {unit}" for value, unit in parts if value) or "0 min"


def _dump(evidence: tuple[Evidence, ...]) -> str:
    return json.dumps([[fact.name, fact.value] for fact in evidence], ensure_ascii=False)


def _parse_row(row: dict[str, str | int | float | None]) -> Incident:
    return Incident(
        number=int(row["number"] or 0),
        key=str(row["dedup_key"]),
        opened_at=_instant(row["opened_at"]),
        resolved_at=None if row["resolved_at"] is None else _instant(row["resolved_at"]),
        resolution=str(row["resolution"]),
        line=str(row["line"]),
        since=_instant(row["since"]),
        why=str(row["why"]),
        evidence=tuple(_parse_evidence(str(row["evidence"]))),
        command=str(row["command"]),
        occurrence=str(row["occurrence"]),
    )


def _parse_evidence(text: str) -> Iterator[Evidence]:
    for name, value in json.loads(text):
        yield Evidence(name=name, value=value)


def _instant(seconds: str | float | None) -> datetime:
    return datetime.fromtimestamp(float(seconds or 0), tz=UTC)
