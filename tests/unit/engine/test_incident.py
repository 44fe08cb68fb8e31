"""Incidents: opened once, told once, resolved with proof, and never by what nobody can tell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.expectation import Standing, Verdict
from lamplighter.engine.incident import MIGRATIONS, Incident, Incidents
from lamplighter.engine.job import Evidence
from lamplighter.errors import DiskError
from lamplighter.host.database import Database, open_database
from lamplighter.notify import outbox as outbox_tables
from lamplighter.notify.outbox import Outbox

FAILING = Verdict(
    key="post_today",
    standing=Standing.FAILING,
    line="no post went out for 2026-05-04",
    since=START - timedelta(minutes=20),
    why="run 41 (post): lock_held: run 40 is at work",
    evidence=(Evidence(name="2026-05-04 11:40 UTC", value="run 41"),),
    command="lamplighter post",
    occurrence="2026-05-04-1140",
)
OK = Verdict(key="post_today", standing=Standing.OK, line="the day's post: there for 2026-05-04")
LATE = replace(FAILING, standing=Standing.LATE, occurrence="")
UNKNOWN = Verdict(key="post_today", standing=Standing.UNKNOWN, line="nobody can tell about the day's post", why="gone")
LONG = frozenset({"post_today"})


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", (*MIGRATIONS, *outbox_tables.MIGRATIONS)) as opened:
        yield opened


@pytest.fixture
def clock() -> VirtualClock:
    """Return the clock."""
    return VirtualClock()


@pytest.fixture
def outbox(database: Database, clock: VirtualClock) -> Outbox:
    """Return the outbox."""
    return Outbox(database, clock, "own")


@pytest.fixture
def incidents(database: Database, clock: VirtualClock, outbox: Outbox) -> Incidents:
    """Return the incidents of an account in Tokyo."""
    return Incidents(database, clock, "own", outbox=outbox, zone=ZoneInfo("Asia/Tokyo"))


def told(outbox: Outbox) -> list[str]:
    """Return every notice by kind and subject."""
    return [f"{waiting.notice.kind.value}: {waiting.notice.subject}" for waiting in outbox.all()]


def test_a_failing_verdict_opens_one_incident_and_tells_it_once(incidents: Incidents, outbox: Outbox) -> None:
    """Seen again and again, it stays the same one."""
    opened = incidents.apply([FAILING])
    assert opened == (
        Incident(
            number=1,
            key="post_today",
            opened_at=START,
            resolved_at=None,
            resolution="",
            line=FAILING.line,
            since=START - timedelta(minutes=20),
            why=FAILING.why,
            evidence=FAILING.evidence,
            command=FAILING.command,
            occurrence=FAILING.occurrence,
        ),
    )
    assert incidents.apply([FAILING]) == opened
    assert told(outbox) == ["opened: no post went out for 2026-05-04"]


def test_a_notice_says_since_when_why_and_what_to_type(incidents: Incidents, outbox: Outbox) -> None:
    """In the workspace's zone."""
    incidents.apply([FAILING])
    assert outbox.waiting()[0].notice.body.split("\n") == [
        "since: 2026-05-04 20:40",
        "why: run 41 (post): lock_held: run 40 is at work",
        "2026-05-04 11:40 UTC: run 41",
        "type: lamplighter post",
    ]


def test_a_good_verdict_resolves_it_with_its_duration(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """And a good one with nothing open changes nothing."""
    incidents.apply([FAILING])
    clock.advance(timedelta(days=1, hours=2, minutes=40))
    assert incidents.apply([OK]) == ()
    assert incidents.apply([OK]) == ()
    (resolved,) = incidents.latest()
    assert (resolved.resolved_at, resolved.resolution) == (clock.now(), OK.line)
    assert told(outbox)[1:] == ["resolved: over after 1 d 3 h: no post went out for 2026-05-04"]


def test_what_fails_again_is_a_new_incident(incidents: Incidents, outbox: Outbox) -> None:
    """With a number, and notices, of its own."""
    for verdict in (FAILING, OK, FAILING):
        incidents.apply([verdict])
    assert [incident.number for incident in incidents.open()] == [2]
    assert len(told(outbox)) == 3


def test_a_new_occurrence_is_told_within_the_same_incident(incidents: Incidents, outbox: Outbox) -> None:
    """A second day without a post: one incident, one more notice, once."""
    incidents.apply([FAILING])
    second = replace(FAILING, line="no post went out for 2026-05-05", occurrence="2026-05-05-1140")
    (incident,) = [incidents.apply([second]) for _ in range(3)][-1]
    assert (incident.number, incident.line, incident.since) == (1, second.line, FAILING.since)
    assert told(outbox)[1:] == ["reminder: no post went out for 2026-05-05"]


def test_later_facts_are_added_without_a_notice(incidents: Incidents, outbox: Outbox) -> None:
    """The why of what is open is the newest one."""
    incidents.apply([FAILING])
    (incident,) = incidents.apply([replace(FAILING, why="run 42 (post): nothing_ready: none")])
    assert incident.why == "run 42 (post): nothing_ready: none"
    assert len(told(outbox)) == 1


def test_a_late_verdict_neither_opens_nor_resolves(incidents: Incidents) -> None:
    """It is inside its grace; what is open is not over by it."""
    assert incidents.apply([LATE]) == ()
    incidents.apply([FAILING])
    assert len(incidents.apply([LATE])) == 1


def test_what_nobody_can_tell_resolves_nothing(incidents: Incidents, outbox: Outbox) -> None:
    """The open incident stays; doubt for two ticks is one of its own, and over as soon as it can be told again."""
    incidents.apply([FAILING])
    assert [incident.key for incident in incidents.apply([UNKNOWN])] == ["post_today"]
    doubtful = incidents.apply([UNKNOWN], long_unknown=LONG)
    assert [(incident.key, incident.is_unknown) for incident in doubtful] == [
        ("post_today", False),
        ("post_today:unknown", True),
    ]
    assert [incident.key for incident in incidents.apply([FAILING])] == ["post_today"]
    assert incidents.apply([OK]) == ()
    assert [line.partition(":")[0] for line in told(outbox)] == ["opened", "opened", "resolved", "resolved"]


def test_what_is_not_expected_any_more_is_over(incidents: Incidents) -> None:
    """A post without a time is nothing that could be missing."""
    incidents.apply([FAILING])
    assert incidents.apply([]) == ()
    assert incidents.latest()[0].resolution == "it is not expected any more"


def test_a_watcher_that_was_away_says_so(incidents: Incidents) -> None:
    """What it opens then carries the gap, also when more becomes known."""
    away = "watch did not run from 18:02 to 21:10"
    (incident,) = incidents.apply([FAILING], noticed=away)
    assert incident.evidence[0] == Evidence(name="noticed late", value=away)
    (again,) = incidents.apply([replace(FAILING, why="more is known")])
    assert again.evidence == incident.evidence


def test_accounts_have_incidents_of_their_own(database: Database, clock: VirtualClock, incidents: Incidents) -> None:
    """One account's trouble is not resolved by another's health."""
    incidents.apply([FAILING])
    other = Incidents(database, clock, "other", outbox=Outbox(database, clock, "other"), zone=ZoneInfo("UTC"))
    assert other.apply([OK]) == ()
    assert len(incidents.open()) == 1


def test_the_database_itself_allows_one_open_incident_for_a_key(database: Database, incidents: Incidents) -> None:
    """Two watchers at once cannot open two."""
    incidents.apply([FAILING])
    with pytest.raises(DiskError) as caught:
        database.change("INSERT INTO incident SELECT account, 99, dedup_key, opened_at, NULL, '', line, since, why, "
                        "evidence, command, occurrence FROM incident")  # fmt: skip
    assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)


def test_of_two_watchers_the_second_changes_nothing(database: Database, clock: VirtualClock) -> None:
    """Both read before either wrote: one incident, one notice."""
    outbox = Outbox(database, clock, "own")
    first, second = (Incidents(database, clock, "own", outbox=outbox, zone=ZoneInfo("UTC")) for _ in range(2))
    first._open("post_today", FAILING, "")
    second._open("post_today", FAILING, "")
    assert len(first.open()) == 1
    assert len(told(outbox)) == 1


def test_a_clock_that_was_set_back_makes_no_negative_duration(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """Resolved before it began: it lasted nought minutes."""
    incidents.apply([FAILING])
    clock.jump(START - timedelta(days=365))
    incidents.apply([OK])
    assert told(outbox)[1:] == ["resolved: over after 0 min: no post went out for 2026-05-04"]
