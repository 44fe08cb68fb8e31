"""What an incident is, and what becomes of it by what is found: opened, seen again, healed, back again (pure)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from lamplighter.engine.expectation import Verdict
from lamplighter.engine.job import Evidence
from lamplighter.notify.severity import Severity

UNKNOWN = ":unknown"
LONGEST_QUIET = timedelta(days=30)
NOTICED_LATE = "noticed late"
_BACK_WITHIN = timedelta(minutes=60)
CYCLES_WITHIN = timedelta(hours=24)
_CYCLES = 3
_GOOD_IN_A_ROW = 2


class Owed(enum.Enum):
    """Which word about an incident a person has not had yet."""

    NOTHING = ""
    OPENED = "opened"
    RESOLVED = "resolved"


class Quiet(enum.Enum):
    """A person's answer: known, or not to be heard of at all; either ends by itself."""

    NO = ""
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a person was told of an incident: how often, first and last when, by which kind of notice, and what then."""

    count: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    kind: str = ""
    occurrence: str = ""
    severity: Severity = Severity.INFO
    lines: tuple[str, ...] = ()
    escalated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One thing that is or was wrong: since when, why, what the facts were, what a person types.

    `missed` counts what was missing while it lasted (slots), `flaps` how often it came back, `good` the good looks in a
    row since it last failed.
    """

    number: int
    key: str
    opened_at: datetime
    resolved_at: datetime | None = None
    resolution: str = ""
    line: str
    since: datetime
    why: str
    evidence: tuple[Evidence, ...] = ()
    command: str = ""
    occurrence: str = ""
    severity: Severity = Severity.WARNING
    parent: str = ""
    owed: Owed = Owed.NOTHING
    told: Told = Told()
    quiet: Quiet = Quiet.NO
    quiet_until: datetime | None = None
    missed: int = 0
    flaps: int = 0
    good: int = 0

    @property
    def is_unknown(self) -> bool:
        """Return whether it says that nobody can tell, rather than that something is missing."""
        return self.key.endswith(UNKNOWN)

    @property
    def is_active(self) -> bool:
        """Return whether something is still to be done about it: it is open, or its end is not told yet."""
        return self.resolved_at is None or self.owed is not Owed.NOTHING

    def quiet_at(self, now: datetime) -> Quiet:
        """Return a person's answer as far as it still holds."""
        return self.quiet if self.quiet_until is not None and now < self.quiet_until else Quiet.NO

    def describe(self, zone: ZoneInfo) -> tuple[str, ...]:
        """Return it in lines for a person: what, since when, why, the facts, what to type."""
        return (
            self.line,
            f"since: {self.since.astimezone(zone):%Y-%m-%d %H:%M}",
            *((f"why: {self.why}",) if self.why else ()),
            *(f"{fact.name}: {fact.value}" for fact in self.evidence),
            *((f"type: {self.command}",) if self.command else ()),
        )


def open_new(key: str, verdict: Verdict, now: datetime, *, noticed: str) -> Incident:
    """Return a new incident, without a number yet; `noticed` is said when the watcher itself was away before."""
    evidence = (*((Evidence(name=NOTICED_LATE, value=noticed),) if noticed else ()), *verdict.evidence)
    return Incident(
        number=0,
        key=key,
        opened_at=now,
        line=verdict.line,
        since=verdict.since or now,
        why=verdict.why,
        evidence=evidence,
        command=verdict.command,
        occurrence=verdict.occurrence,
        severity=verdict.severity,
        parent=verdict.parent,
        owed=Owed.OPENED,
        missed=1,
    )


def see_again(incident: Incident, verdict: Verdict) -> Incident:
    """Return an open incident with the facts of now; since when, and what was noticed late, stay."""
    kept = tuple(fact for fact in incident.evidence if fact.name == NOTICED_LATE)
    return replace(
        incident,
        line=verdict.line,
        why=verdict.why,
        evidence=(*kept, *verdict.evidence),
        command=verdict.command,
        occurrence=verdict.occurrence,
        severity=verdict.severity,
        parent=verdict.parent,
        missed=incident.missed + (verdict.occurrence != incident.occurrence),
        good=0,
    )


def heal(incident: Incident, line: str, now: datetime) -> Incident:
    """Return an open incident after a good look: over, but one that flaps only after two of them in a row."""
    good = incident.good + 1
    if incident.flaps and good < _GOOD_IN_A_ROW:
        return replace(incident, good=good)
    return end(replace(incident, good=good), line, now)


def end(incident: Incident, resolution: str, now: datetime) -> Incident:
    """Return an incident that is over; what nobody was told of needs no word of its end."""
    owed = Owed.NOTHING if incident.owed is Owed.OPENED else Owed.RESOLVED
    return replace(incident, resolved_at=now, resolution=resolution, owed=owed)


def is_back(before: Incident | None, opened_lately: int, now: datetime) -> bool:
    """Return whether what fails now is the incident before: it was over for less than an hour, or comes and goes.

    `opened_lately` are the incidents of the key that were opened in the last 24 hours.
    """
    if before is None or before.resolved_at is None or before.resolved_at > now:
        return False
    over_for = now - before.resolved_at
    comes_and_goes = opened_lately + 1 >= _CYCLES or (before.flaps > 0 and over_for < CYCLES_WITHIN)
    return over_for < _BACK_WITHIN or (comes_and_goes and over_for < CYCLES_WITHIN)


def reopen(incident: Incident, verdict: Verdict) -> Incident:
    """Return an incident that is back and now flaps; whoever was not told of its end needs no word of that."""
    owed = Owed.NOTHING if incident.owed is Owed.RESOLVED else Owed.OPENED
    again = replace(incident, resolved_at=None, resolution="", owed=owed, flaps=incident.flaps + 1)
    return see_again(again, verdict)


def rewind(incident: Incident, now: datetime) -> Incident:
    """Return an incident without instants that are still to come, as they are after a clock was set back."""
    told, until = incident.told, incident.quiet_until
    last_at, first_at = told.last_at, told.first_at
    if last_at is not None and first_at is not None and last_at > now:
        told = replace(told, last_at=now, first_at=min(first_at, now))
    if until is not None and until > now + LONGEST_QUIET:
        until = None
    if told is incident.told and until is incident.quiet_until:
        return incident
    return replace(incident, told=told, quiet_until=until)
