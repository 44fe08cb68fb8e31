"""Incidents: what is wrong, from the tick that saw it to the one that saw it gone; one open row for each key.

Each change writes its notice in the same transaction, so that a watcher that is restarted repeats and forgets nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from lamplighter.engine import incident_life as life
from lamplighter.engine.expectation import Standing, Verdict
from lamplighter.engine.incident_life import UNKNOWN, Incident, Owed, Quiet, Told
from lamplighter.engine.incident_notice import (
    STORM_WITHIN,
    Word,
    compose_bundle,
    compose_digest,
    compose_notice,
    compose_repair,
    decide_storm,
    decide_word,
    is_hushed,
    note_told,
)
from lamplighter.engine.job import Evidence
from lamplighter.engine.ladder import Ladder
from lamplighter.errors import InputError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration, Value
from lamplighter.notify.outbox import NoticeKind, Outbox
from lamplighter.notify.severity import Severity
from lamplighter.schedule.cadence import slot_of_day

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
    Migration(
        concern="incident",
        number=2,
        statements=(
            "ALTER TABLE incident ADD COLUMN severity TEXT NOT NULL DEFAULT 'warning'",
            "ALTER TABLE incident ADD COLUMN parent TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE incident ADD COLUMN owed TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE incident ADD COLUMN is_active BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE incident ADD COLUMN told_count BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE incident ADD COLUMN first_told_at DOUBLE PRECISION",
            "ALTER TABLE incident ADD COLUMN last_told_at DOUBLE PRECISION",
            "ALTER TABLE incident ADD COLUMN told_kind TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE incident ADD COLUMN told_occurrence TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE incident ADD COLUMN told_severity TEXT NOT NULL DEFAULT 'warning'",
            "ALTER TABLE incident ADD COLUMN told_lines TEXT NOT NULL DEFAULT '[]'",
            "ALTER TABLE incident ADD COLUMN escalated_at DOUBLE PRECISION",
            "ALTER TABLE incident ADD COLUMN quiet TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE incident ADD COLUMN quiet_until DOUBLE PRECISION",
            "ALTER TABLE incident ADD COLUMN missed BIGINT NOT NULL DEFAULT 1",
            "ALTER TABLE incident ADD COLUMN flaps BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE incident ADD COLUMN good BIGINT NOT NULL DEFAULT 0",
            # What was open was told when it was opened.
            """UPDATE incident SET is_active = 1, told_count = 1, first_told_at = opened_at, last_told_at = opened_at,
                told_occurrence = occurrence WHERE resolved_at IS NULL""",
            "CREATE INDEX incident_active ON incident (account, number) WHERE is_active = 1",
            "CREATE INDEX incident_by_key ON incident (account, dedup_key, number)",
            "CREATE INDEX incident_by_word ON incident (account, last_told_at)",
        ),
    ),
)
DIGEST_AT = time(9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one tick found, as far as incidents need it.

    `long_unknown` are the keys that were unknown at the tick before too: one blink opens nothing. `noticed` is said of
    what is opened now when the watcher itself was away; it is told at the next tick only. `before` is the tick before
    (None: there was none), and `quiet` are lines for the day's digest.
    """

    verdicts: tuple[Verdict, ...]
    long_unknown: frozenset[str] = frozenset()
    noticed: str = ""
    before: datetime | None = None
    quiet: tuple[str, ...] = ()


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
        return tuple(incident for incident in self._active() if incident.resolved_at is None)

    def latest(self, *, limit: int = 50) -> tuple[Incident, ...]:
        """Return the newest incidents, resolved ones too, newest first."""
        return self._read("1 = 1 ORDER BY number DESC LIMIT ?", limit)

    def answer(self, number: int, quiet: Quiet, *, lasting: timedelta) -> Incident:
        """Take a person's answer to an open incident for a while; raises InputError when none of that number is open.

        An acknowledged one is told of again when something new is missing; a snoozed one not at all, its end apart.
        """
        now = self._clock.now()
        until = now + min(lasting, life.LONGEST_QUIET)
        with self._database.transaction():
            found = next((incident for incident in self.open() if incident.number == number), None)
            if found is None:
                raise InputError(f"incident {number}", "none of that number is open", "lamplighter incidents list")
            answered = replace(found, quiet=quiet, quiet_until=until)
            self._save(answered)
        return answered

    def apply(self, look: Look) -> tuple[Incident, ...]:
        """Open, complete and resolve by what was found, write the words that are due, and return what is open then.

        For an open transaction.
        """
        now = self._clock.now()
        stored = {incident.number: incident for incident in self._active()}
        known = {number: life.rewind(incident, now) for number, incident in stored.items()}
        by_key = {incident.key: incident for incident in known.values() if incident.resolved_at is None}
        judged = dict(by_key)
        for verdict in look.verdicts:
            self._judge(verdict, judged, look, now)
        expected = {key for verdict in look.verdicts for key in (verdict.key, verdict.key + UNKNOWN)}
        for key in judged.keys() - expected:
            judged[key] = life.end(judged[key], "it is not expected any more", now)
        known |= {incident.number: incident for incident in judged.values()}
        told = self._tell(known, look, now)
        for number, incident in (known | told).items():
            if incident != stored.get(number):
                self._save(incident)
        for verdict in look.verdicts:
            if verdict.repaired:
                self._outbox.put(compose_repair(verdict.key, verdict.repaired, now=now, zone=self._zone))
        still = [incident for incident in (known | told).values() if incident.resolved_at is None]
        self._digest(still, look, now)
        return tuple(sorted(still, key=lambda incident: incident.number))

    def _judge(self, verdict: Verdict, judged: dict[str, Incident], look: Look, now: datetime) -> None:
        """Do what one verdict asks for; late and excused neither open nor resolve, unknown resolves nothing."""
        standing, key, doubtful = verdict.standing, verdict.key, verdict.key + UNKNOWN
        failing, doubt = judged.get(key), judged.get(doubtful)
        if doubt is not None and standing is not Standing.UNKNOWN:
            judged[doubtful] = life.heal(doubt, f"it can be told again: {verdict.line}", now)
        if standing in {Standing.OK, Standing.NEW}:
            if failing is not None:
                judged[key] = life.heal(failing, verdict.line, now)
        elif standing is Standing.FAILING:
            judged[key] = self._see(key, verdict, failing, look, now)
        elif standing is Standing.UNKNOWN and (doubt is not None or key in look.long_unknown):
            judged[doubtful] = self._see(doubtful, verdict, doubt, look, now)

    def _see(self, key: str, verdict: Verdict, before: Incident | None, look: Look, now: datetime) -> Incident:
        """Return the incident of what fails: the open one, one that is back, or a new one."""
        if before is not None:
            return life.see_again(before, verdict)
        last = next(iter(self._read("dedup_key = ? ORDER BY number DESC LIMIT 1", key)), None)
        if last is not None and life.is_back(last, self._count_lately(key, now), now):
            return life.reopen(life.rewind(last, now), verdict)
        opened = life.open_new(key, verdict, now, noticed=look.noticed)
        row = self._database.row(
            """INSERT INTO incident (account, number, dedup_key, opened_at, line, since, why, evidence, command,
            occurrence) SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, '', 0, '', '[]', '', '' FROM incident
            WHERE account = ? RETURNING number""",
            (self._account, key, now.timestamp(), self._account),
        )
        return replace(opened, number=int(row["number"]) if row else 0)

    def _count_lately(self, key: str, now: datetime) -> int:
        row = self._database.row(
            "SELECT COUNT(*) AS opened FROM incident WHERE account = ? AND dedup_key = ? AND opened_at BETWEEN ? AND ?",
            (self._account, key, (now - life.CYCLES_WITHIN).timestamp(), now.timestamp()),
        )
        return int(row["opened"]) if row else 0

    def _tell(self, known: Mapping[int, Incident], look: Look, now: datetime) -> dict[int, Incident]:
        """Write the notices that are due, and return the incidents that they tell of, told."""
        ladders = {verdict.key: verdict.ladder for verdict in look.verdicts}
        excused = {verdict.key for verdict in look.verdicts if verdict.standing is Standing.EXCUSED}
        is_open = {
            incident.key: incident
            for incident in known.values()
            if incident.resolved_at is None and incident.key.removesuffix(UNKNOWN) not in excused
        }
        hushed = {incident.number for incident in is_open.values() if is_hushed(incident, is_open)}
        words = []
        for number, incident in sorted(known.items()):
            key = incident.key.removesuffix(UNKNOWN)
            if incident.resolved_at is None and key in excused:
                continue
            ladder = ladders.get(key, Ladder())
            # Just back, the machine may still catch up: what is new is told at the next tick, if it is still so then.
            is_fresh = bool(look.noticed) and incident.opened_at == now
            kind = decide_word(incident, ladder, now=now, zone=self._zone, is_hushed=is_fresh or number in hushed)
            if kind is not None:
                words.append(Word(incident=incident, kind=kind))
        return self._write(words, [known[number] for number in sorted(hushed)], now) if words else {}

    def _write(self, words: Sequence[Word], hushed: Sequence[Incident], now: datetime) -> dict[int, Incident]:
        rows = self._database.rows(
            "SELECT told_kind FROM incident WHERE account = ? AND last_told_at > ? AND last_told_at <= ?",
            (self._account, (now - STORM_WITHIN).timestamp(), now.timestamp()),
        )
        kinds = [str(row["told_kind"]) for row in rows]
        bundle = NoticeKind.BUNDLE
        storm = decide_storm(words, told_lately=len(kinds), bundled_lately=bundle.value in kinds)
        told = {}
        for word in storm.single:
            caused = [other for other in hushed if other.parent == word.incident.key.removesuffix(UNKNOWN)]
            self._outbox.put(compose_notice(word, now=now, zone=self._zone, caused=caused))
            told[word.incident.number] = note_told(word, now, self._zone)
        if storm.bundle:
            self._outbox.put(compose_bundle(storm.bundle, now=now, zone=self._zone))
            told |= {word.incident.number: note_told(word, now, self._zone, kind=bundle) for word in storm.bundle}
        return told

    def _digest(self, still: Iterable[Incident], look: Look, now: datetime) -> None:
        """Write the day's digest at the first tick from its time on, where something is quiet by a person's word."""
        due_at = slot_of_day(now.astimezone(self._zone).date(), DIGEST_AT, self._zone).due_at
        if look.before is None or not look.before < due_at <= now:
            return
        quiet = [incident for incident in still if incident.quiet_at(now) is not Quiet.NO]
        if quiet or look.quiet:
            self._outbox.put(compose_digest(quiet, now=now, zone=self._zone, also=look.quiet))

    def _active(self) -> tuple[Incident, ...]:
        return self._read("is_active = 1 ORDER BY number")

    def _read(self, condition: str, *values: Value) -> tuple[Incident, ...]:
        rows = self._database.rows(
            f"SELECT * FROM incident WHERE account = ? AND {condition}",  # noqa: S608 - fixed text of ours
            (self._account, *values),
        )
        with self._database.parsing():
            return tuple(_parse_row(dict(row)) for row in rows)

    def _save(self, incident: Incident) -> None:
        told = incident.told
        self._database.change(
            """UPDATE incident SET resolved_at = ?, resolution = ?, line = ?, since = ?, why = ?, evidence = ?,
            command = ?, occurrence = ?, severity = ?, parent = ?, owed = ?, is_active = ?, told_count = ?,
            first_told_at = ?, last_told_at = ?, told_kind = ?, told_occurrence = ?, told_severity = ?, told_lines = ?,
            escalated_at = ?, quiet = ?, quiet_until = ?, missed = ?, flaps = ?, good = ?
            WHERE account = ? AND number = ?""",
            (
                _seconds(incident.resolved_at), incident.resolution, incident.line, incident.since.timestamp(),
                incident.why, _dump(incident.evidence), incident.command, incident.occurrence, incident.severity.value,
                incident.parent, incident.owed.value, int(incident.is_active), told.count, _seconds(told.first_at),
                _seconds(told.last_at), told.kind, told.occurrence, told.severity.value,
                json.dumps(told.lines, ensure_ascii=False), _seconds(told.escalated_at), incident.quiet.value,
                _seconds(incident.quiet_until), incident.missed, incident.flaps, incident.good,
                self._account, incident.number,
            ),
        )  # fmt: skip


def _dump(evidence: tuple[Evidence, ...]) -> str:
    return json.dumps([[fact.name, fact.value] for fact in evidence], ensure_ascii=False)


def _parse_row(row: dict[str, str | int | float | None]) -> Incident:
    return Incident(
        number=int(row["number"] or 0),
        key=str(row["dedup_key"]),
        opened_at=_instant(row["opened_at"]),
        resolved_at=_maybe(row["resolved_at"]),
        resolution=str(row["resolution"]),
        line=str(row["line"]),
        since=_instant(row["since"]),
        why=str(row["why"]),
        evidence=tuple(_parse_evidence(str(row["evidence"]))),
        command=str(row["command"]),
        occurrence=str(row["occurrence"]),
        severity=Severity(row["severity"]),
        parent=str(row["parent"]),
        owed=Owed(row["owed"]),
        told=_parse_told(row),
        quiet=Quiet(row["quiet"]),
        quiet_until=_maybe(row["quiet_until"]),
        missed=int(row["missed"] or 0),
        flaps=int(row["flaps"] or 0),
        good=int(row["good"] or 0),
    )


def _parse_told(row: dict[str, str | int | float | None]) -> Told:
    return Told(
        count=int(row["told_count"] or 0),
        first_at=_maybe(row["first_told_at"]),
        last_at=_maybe(row["last_told_at"]),
        kind=str(row["told_kind"]),
        occurrence=str(row["told_occurrence"]),
        severity=Severity(row["told_severity"]),
        lines=tuple(str(line) for line in json.loads(str(row["told_lines"]))),
        escalated_at=_maybe(row["escalated_at"]),
    )


def _parse_evidence(text: str) -> Iterator[Evidence]:
    for name, value in json.loads(text):
        yield Evidence(name=name, value=value)


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def _maybe(seconds: str | float | None) -> datetime | None:
    return None if seconds is None else _instant(seconds)


def _instant(seconds: str | float | None) -> datetime:
    return datetime.fromtimestamp(float(seconds or 0), tz=UTC)
