"""Which word about an incident is due, and how it is said (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from lamplighter.engine.incident_life import UNKNOWN, Incident, Owed, Quiet
from lamplighter.engine.ladder import Ladder, find_step
from lamplighter.notify.outbox import Notice, NoticeKind
from lamplighter.notify.severity import Severity

FLAPPING_PAUSE = timedelta(hours=6)
STORM_WITHIN = timedelta(minutes=10)
_STORM = 5
_SPACING = timedelta(hours=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A notice that is due about an incident."""

    incident: Incident
    kind: NoticeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How the words that are due are told: each by itself, some in one bundle, the rest at a later tick."""

    single: tuple[Word, ...]
    bundle: tuple[Word, ...] = ()


def decide_word(
    incident: Incident, ladder: Ladder, *, now: datetime, zone: ZoneInfo, is_hushed: bool
) -> NoticeKind | None:
    """Return the kind of notice that is due about an incident, None when none is.

    `is_hushed` says that what causes it is told of instead. A new occurrence and a rise in severity are told whatever
    was told just before; what a person snoozed is not told of but its end.
    """
    if incident.resolved_at is not None:
        is_due = incident.owed is Owed.RESOLVED and not _is_muted(incident, now)
        return NoticeKind.RESOLVED if is_due else None
    if is_hushed or incident.quiet_at(now) is Quiet.SNOOZED:
        return None
    if incident.told.first_at is None or _is_news(incident):
        return NoticeKind.OPENED if incident.owed is Owed.OPENED else NoticeKind.REMINDER
    if incident.quiet_at(now) is Quiet.ACKNOWLEDGED or _is_muted(incident, now):
        return None
    return NoticeKind.OPENED if incident.owed is Owed.OPENED else _climb(incident, ladder, now, zone)


def _climb(incident: Incident, ladder: Ladder, now: datetime, zone: ZoneInfo) -> NoticeKind | None:
    """Return the reminder that is due by the ladder; the end of a person's answer is a step of it."""
    told = incident.told
    first_at, last_at = told.first_at, told.last_at
    if first_at is None or last_at is None:
        return None
    step = find_step(ladder, first_at, now, zone)
    if step is not None and step - last_at < min((*ladder.after, _SPACING)):
        step = None  # it was told of just before
    answer_ended = incident.quiet_until is not None and last_at < incident.quiet_until <= now
    if not answer_ended and step is None:
        return None
    escalate = ladder.escalate
    if escalate is not None and told.escalated_at is None and now - first_at >= escalate:
        return NoticeKind.ESCALATED
    return NoticeKind.REMINDER


def _is_news(incident: Incident) -> bool:
    told = incident.told
    is_new = bool(incident.occurrence) and incident.occurrence != told.occurrence
    return is_new or incident.severity.rank > told.severity.rank


def _is_muted(incident: Incident, now: datetime) -> bool:
    """Return whether what flaps was told of lately; that it came back the first time is told at once."""
    last_at = incident.told.last_at
    if not incident.flaps or last_at is None or (incident.flaps == 1 and incident.owed is Owed.OPENED):
        return False
    return now - last_at < FLAPPING_PAUSE


def is_hushed(incident: Incident, open_by_key: Mapping[str, Incident]) -> bool:
    """Return whether what causes an incident, or what causes that, is open: then a person is told of it instead."""
    seen = {incident.key.removesuffix(UNKNOWN)}
    parent = incident.parent
    found = False
    while parent and parent not in seen:
        seen.add(parent)
        above = open_by_key.get(parent) or open_by_key.get(parent + UNKNOWN)
        if above is None:
            return found
        found, parent = True, above.parent
    return found and not parent


def decide_storm(words: Sequence[Word], *, told_lately: int, bundled_lately: bool) -> Storm:
    """Return how words are told: more than five in ten minutes are one bundle, and then none for the rest of them.

    What is critical and new is never kept waiting.
    """
    if told_lately + len(words) <= _STORM:
        return Storm(single=tuple(words))
    if not bundled_lately and len(words) > 1:
        return Storm(single=(), bundle=tuple(words))
    urgent = (word for word in words if word.kind is NoticeKind.OPENED and _is_critical(word))
    return Storm(single=tuple(urgent))


def _is_critical(word: Word) -> bool:
    return word.incident.severity is Severity.CRITICAL


def note_told(word: Word, now: datetime, zone: ZoneInfo, *, kind: NoticeKind | None = None) -> Incident:
    """Return an incident whose word was written; `kind` names the notice that it stands in, its own by default."""
    incident, told = word.incident, word.incident.told
    escalated_at = now if word.kind is NoticeKind.ESCALATED else told.escalated_at
    return replace(
        incident,
        owed=Owed.NOTHING,
        told=replace(
            told,
            count=told.count + 1,
            first_at=told.first_at or now,
            last_at=now,
            kind=(kind or word.kind).value,
            occurrence=incident.occurrence,
            severity=incident.severity,
            lines=incident.describe(zone),
            escalated_at=escalated_at,
        ),
    )


def compose_notice(word: Word, *, now: datetime, zone: ZoneInfo, caused: Iterable[Incident] = ()) -> Notice:
    """Return the notice of one word; `caused` are what is wrong because of it, and not told of by itself."""
    incident = word.incident
    body = _describe_end(incident) if word.kind is NoticeKind.RESOLVED else _describe_open(word, zone, caused)
    return Notice(
        dedup_key=f"{incident.number}-{incident.told.count + 1}-{word.kind.value}",
        kind=word.kind,
        incident=incident.number,
        subject=_compose_subject(word, now),
        body="\n".join(body),
        severity=Severity.INFO if word.kind is NoticeKind.RESOLVED else incident.severity,
    )


def compose_bundle(words: Sequence[Word], *, now: datetime, zone: ZoneInfo) -> Notice:
    """Return one notice of many words: a line each, and what to type for it."""
    lines = []
    for word in words:
        subject = _compose_subject(word, now)
        command = word.incident.command if word.kind is not NoticeKind.RESOLVED else ""
        since = f"since {word.incident.since.astimezone(zone):%Y-%m-%d %H:%M}"
        lines.append("; ".join((subject, since, *((f"type: {command}",) if command else ()))))
    is_escalated = any(word.kind is NoticeKind.ESCALATED for word in words)
    worst = max((word.incident.severity for word in words), key=lambda severity: severity.rank)
    numbers = "-".join(f"{word.incident.number}.{word.incident.told.count + 1}" for word in words[:20])
    return Notice(
        dedup_key=f"bundle-{numbers}",
        kind=NoticeKind.ESCALATED if is_escalated else NoticeKind.BUNDLE,
        subject=f"{len(words)} things at once",
        body="\n".join((*lines, "type: lamplighter incidents list")),
        severity=worst,
    )


def compose_digest(incidents: Iterable[Incident], *, now: datetime, zone: ZoneInfo, also: Sequence[str] = ()) -> Notice:
    """Return the day's digest: what is open and answered, until when, and what else is quiet by a person's word."""
    quiet = [(incident, incident.quiet_at(now), incident.quiet_until) for incident in incidents]
    lines = [
        f"{incident.line}: {answer.value} until {until.astimezone(zone):%Y-%m-%d %H:%M}"
        for incident, answer, until in quiet
        if until is not None
    ]
    day = now.astimezone(zone).date()
    return Notice(
        dedup_key=f"digest-{day}",
        kind=NoticeKind.DIGEST,
        subject=f"quiet by your word on {day}: {len(lines) + len(also)}",
        body="\n".join((*lines, *also, "type: lamplighter incidents list")),
        severity=Severity.INFO,
    )


def compose_repair(key: str, repaired: str, *, now: datetime, zone: ZoneInfo) -> Notice:
    """Return the one calm word of what was put right without anybody; the same thing is said once a day at most."""
    return Notice(
        dedup_key=f"repaired-{key}-{now.astimezone(zone).date()}",
        kind=NoticeKind.RESOLVED,
        subject=f"put right: {repaired}",
        body="nothing is to be done about it",
        severity=Severity.INFO,
    )


def describe_duration(duration: timedelta) -> str:
    """Return a duration in days, hours and minutes."""
    minutes = max(0, int(duration.total_seconds() // 60))
    days, hours = minutes // 1440, minutes // 60 % 24
    parts = ((days, "d"), (hours, "h"), (minutes % 60, "min"))
    return " ".join(f"{value} {unit}" for value, unit in parts if value) or "0 min"


def _compose_subject(word: Word, now: datetime) -> str:
    incident, told = word.incident, word.incident.told
    lasted = describe_duration(now - incident.since)
    if word.kind is NoticeKind.RESOLVED:
        return f"over after {lasted}: {incident.line}"
    if word.kind is NoticeKind.ESCALATED:
        return f"nobody has answered, and it lasts for {lasted}: {incident.line}"
    if word.kind is NoticeKind.REMINDER and not _is_news(incident):
        return f"still, after {lasted}: {incident.line}"
    return f"again: {incident.line}" if incident.flaps and told.first_at is not None else incident.line


def _describe_end(incident: Incident) -> list[str]:
    more = [f"missed meanwhile: {incident.missed}"] if incident.missed > 1 else []
    came = [f"it came back {incident.flaps} times"] if incident.flaps else []
    return [incident.resolution, *more, *came]


def _describe_open(word: Word, zone: ZoneInfo, caused: Iterable[Incident]) -> list[str]:
    """Return the lines of a notice: first what is new since the last word, then all of it."""
    incident, told = word.incident, word.incident.told
    lines = list(incident.describe(zone)[1:])
    new: list[str] = []
    if told.last_at is not None:
        fresh = [line for line in incident.describe(zone) if line not in told.lines]
        since = f"{told.last_at.astimezone(zone):%Y-%m-%d %H:%M}"
        new = [f"new since {since}: {line}" for line in fresh] or [f"nothing new since {since}"]
        lines = [line for line in lines if line not in fresh]
    if incident.flaps:
        hours = round(FLAPPING_PAUSE.total_seconds() / 3600)
        new.insert(0, f"it comes and goes ({incident.flaps + 1} times): you hear of it once in {hours} hours")
    because = [f"because of it: {other.line}" for other in caused]
    return [*new, *lines, *because]
