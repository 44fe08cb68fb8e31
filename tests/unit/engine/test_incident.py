"""Incidents: opened once, told once, resolved with proof, and never by what nobody can tell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine.expectation import Standing, Verdict
from lamplighter.engine.incident import MIGRATIONS, Incidents, Look
from lamplighter.engine.incident_life import Incident, Quiet
from lamplighter.engine.job import Evidence
from lamplighter.engine.ladder import ONCE
from lamplighter.errors import DiskError, InputError
from lamplighter.host.database import Database, open_database
from lamplighter.notify import outbox as outbox_tables
from lamplighter.notify.outbox import Outbox
from lamplighter.notify.severity import Severity

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


def look(
    incidents: Incidents,
    *verdicts: Verdict,
    long_unknown: frozenset[str] = frozenset(),
    noticed: str = "",
    before: datetime | None = None,
    quiet: tuple[str, ...] = (),
) -> tuple[Incident, ...]:
    """Tell the incidents what one tick found."""
    found = Look(verdicts=verdicts, long_unknown=long_unknown, noticed=noticed, before=before, quiet=quiet)
    return incidents.apply(found)


def told(outbox: Outbox) -> list[str]:
    """Return every notice by kind and subject."""
    return [f"{waiting.notice.kind.value}: {waiting.notice.subject}" for waiting in outbox.all()]


def test_a_failing_verdict_opens_one_incident_and_tells_it_once(incidents: Incidents, outbox: Outbox) -> None:
    """Seen again and again, it stays the same one."""
    opened = look(incidents, FAILING)
    (incident,) = opened
    assert (incident.number, incident.key, incident.opened_at, incident.resolved_at) == (1, "post_today", START, None)
    assert (incident.line, incident.since, incident.why) == (FAILING.line, FAILING.since, FAILING.why)
    assert (incident.evidence, incident.command) == (FAILING.evidence, FAILING.command)
    assert incidents.open() == opened
    assert look(incidents, FAILING) == opened
    assert told(outbox) == ["opened: no post went out for 2026-05-04"]


def test_a_notice_says_since_when_why_and_what_to_type(incidents: Incidents, outbox: Outbox) -> None:
    """In the workspace's zone."""
    look(incidents, FAILING)
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
    look(incidents, FAILING)
    clock.advance(timedelta(days=1, hours=2, minutes=40))
    assert look(incidents, OK) == ()
    assert look(incidents, OK) == ()
    (resolved,) = incidents.latest()
    assert (resolved.resolved_at, resolved.resolution) == (clock.now(), OK.line)
    assert told(outbox)[1:] == ["resolved: over after 1 d 3 h: no post went out for 2026-05-04"]


def test_what_fails_again_much_later_is_a_new_incident(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """With a number, and notices, of its own."""
    for verdict in (FAILING, OK, FAILING):
        look(incidents, verdict)
        clock.advance(timedelta(hours=2))
    assert [incident.number for incident in incidents.open()] == [2]
    assert len(told(outbox)) == 3


def test_a_new_occurrence_is_told_within_the_same_incident(incidents: Incidents, outbox: Outbox) -> None:
    """A second day without a post: one incident, one more notice, once."""
    look(incidents, FAILING)
    second = replace(FAILING, line="no post went out for 2026-05-05", occurrence="2026-05-05-1140")
    (incident,) = [look(incidents, second) for _ in range(3)][-1]
    assert (incident.number, incident.line, incident.since) == (1, second.line, FAILING.since)
    assert told(outbox)[1:] == ["reminder: no post went out for 2026-05-05"]


def test_later_facts_are_added_without_a_notice(incidents: Incidents, outbox: Outbox) -> None:
    """The why of what is open is the newest one."""
    look(incidents, FAILING)
    (incident,) = look(incidents, replace(FAILING, why="run 42 (post): nothing_ready: none"))
    assert incident.why == "run 42 (post): nothing_ready: none"
    assert len(told(outbox)) == 1


def test_a_late_verdict_neither_opens_nor_resolves(incidents: Incidents) -> None:
    """It is inside its grace; what is open is not over by it."""
    assert look(incidents, LATE) == ()
    look(incidents, FAILING)
    assert len(look(incidents, LATE)) == 1


def test_what_nobody_can_tell_resolves_nothing(incidents: Incidents, outbox: Outbox) -> None:
    """The open incident stays; doubt for two ticks is one of its own, and over as soon as it can be told again."""
    look(incidents, FAILING)
    assert [incident.key for incident in look(incidents, UNKNOWN)] == ["post_today"]
    doubtful = look(incidents, UNKNOWN, long_unknown=LONG)
    assert [(incident.key, incident.is_unknown) for incident in doubtful] == [
        ("post_today", False),
        ("post_today:unknown", True),
    ]
    assert [incident.key for incident in look(incidents, FAILING)] == ["post_today"]
    assert look(incidents, OK) == ()
    assert [line.partition(":")[0] for line in told(outbox)] == ["opened", "opened", "resolved", "resolved"]


def test_what_is_not_expected_any_more_is_over(incidents: Incidents) -> None:
    """A post without a time is nothing that could be missing."""
    look(incidents, FAILING)
    assert look(incidents) == ()
    assert incidents.latest()[0].resolution == "it is not expected any more"


def test_a_watcher_that_was_away_says_so(incidents: Incidents, outbox: Outbox) -> None:
    """What it opens then carries the gap, also when more becomes known."""
    away = "watch did not run from 18:02 to 21:10"
    (incident,) = look(incidents, FAILING, noticed=away)
    assert incident.evidence[0] == Evidence(name="noticed late", value=away)
    assert told(outbox) == []
    (again,) = look(incidents, replace(FAILING, why="more is known"))
    assert again.evidence == incident.evidence
    assert told(outbox) == ["opened: no post went out for 2026-05-04"]


def test_what_is_made_good_just_after_a_gap_is_not_told(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """The machine woke, and the post went out a minute later: no call, and no word of its end."""
    assert len(look(incidents, FAILING, noticed="watch did not run")) == 1
    clock.advance(timedelta(minutes=5))
    assert look(incidents, OK) == ()
    assert told(outbox) == []


def test_a_machine_that_wakes_for_moments_only_tells_at_the_second(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """Each tick is one after a gap, and what was seen at the one before is told all the same."""
    for _ in range(3):
        look(incidents, FAILING, noticed="watch did not run")
        clock.advance(timedelta(minutes=50))
    assert len(told(outbox)) >= 1


def test_accounts_have_incidents_of_their_own(database: Database, clock: VirtualClock, incidents: Incidents) -> None:
    """One account's trouble is not resolved by another's health."""
    look(incidents, FAILING)
    other = Incidents(database, clock, "other", outbox=Outbox(database, clock, "other"), zone=ZoneInfo("UTC"))
    assert look(other, OK) == ()
    assert len(incidents.open()) == 1


def test_the_database_itself_allows_one_open_incident_for_a_key(database: Database, incidents: Incidents) -> None:
    """Two watchers at once cannot open two."""
    look(incidents, FAILING)
    with pytest.raises(DiskError) as caught:
        database.change(
            """INSERT INTO incident (account, number, dedup_key, opened_at, line, since, why, evidence, command,
            occurrence) SELECT account, 99, dedup_key, opened_at, line, since, why, evidence, command, occurrence
            FROM incident"""
        )
    assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)


def test_a_clock_that_was_set_back_makes_no_negative_duration(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """Resolved before it began: it lasted nought minutes."""
    look(incidents, FAILING)
    clock.jump(START - timedelta(days=365))
    look(incidents, OK)
    assert told(outbox)[1:] == ["resolved: over after 0 min: no post went out for 2026-05-04"]


TOKYO = ZoneInfo("Asia/Tokyo")
MINUTE = timedelta(minutes=1)
FIVE = timedelta(minutes=5)


def failing(key: str, *, parent: str = "") -> Verdict:
    """Return that something else fails."""
    return replace(FAILING, key=key, line=f"{key} is missing", occurrence="", parent=parent)


def run_for(incidents: Incidents, clock: VirtualClock, duration: timedelta, *verdicts: Verdict) -> None:
    """Tick every five minutes."""
    end = clock.now() + duration
    while clock.now() < end:
        look(incidents, *verdicts, before=clock.now() - FIVE)
        clock.advance(FIVE)


def times(outbox: Outbox) -> list[str]:
    """Return the kind of each notice, and when it was written in Tokyo."""
    return [f"{one.notice.kind.value} {one.written_at.astimezone(TOKYO):%d %H:%M}" for one in outbox.all()]


def test_the_ladder_is_an_hour_four_hours_nine_oclock_and_daily(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """Opened at 21:00 in Tokyo; the one after four hours goes to the second channel too."""
    run_for(incidents, clock, timedelta(days=3), FAILING)
    assert times(outbox) == [
        "opened 04 21:00",
        "reminder 04 22:00",
        "escalated 05 01:00",
        "reminder 05 09:00",
        "reminder 06 09:00",
        "reminder 07 09:00",
    ]


def test_each_reminder_says_what_is_new(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """A run that failed since stands first; where nothing happened, that is said."""
    look(incidents, FAILING)
    clock.advance(timedelta(hours=1))
    look(incidents, replace(FAILING, why="run 42 (post): failed: no network"))
    clock.advance(timedelta(hours=3))
    look(incidents, replace(FAILING, why="run 42 (post): failed: no network"))
    _, hour, four = (one.notice for one in outbox.all())
    assert hour.subject == "still, after 1 h 20 min: no post went out for 2026-05-04"
    assert hour.body.split("\n")[0] == "new since 2026-05-04 21:00: why: run 42 (post): failed: no network"
    assert four.subject == "nobody has answered, and it lasts for 4 h 20 min: no post went out for 2026-05-04"
    assert four.body.split("\n")[0] == "nothing new since 2026-05-04 22:00"
    assert four.body.split("\n")[-1] == "type: lamplighter post"


def test_of_steps_that_were_missed_one_is_told(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """The machine slept for two days: one word, and it is the one for the second channel."""
    look(incidents, FAILING)
    clock.advance(timedelta(days=2))
    for _ in range(3):
        look(incidents, FAILING)
        clock.advance(FIVE)
    assert [line.split()[0] for line in times(outbox)] == ["opened", "escalated"]


def test_a_rule_may_have_a_ladder_of_its_own(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """What is told once is not told again."""
    run_for(incidents, clock, timedelta(days=3), replace(FAILING, ladder=ONCE, severity=Severity.INFO))
    assert len(told(outbox)) == 1


def test_what_becomes_critical_is_told_at_once(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """And only when it rises."""
    for severity in (Severity.WARNING, Severity.CRITICAL, Severity.WARNING, Severity.WARNING):
        look(incidents, replace(FAILING, severity=severity))
        clock.advance(FIVE)
    assert [one.notice.severity for one in outbox.all()] == [Severity.WARNING, Severity.CRITICAL]


def test_an_acknowledged_incident_is_quiet_until_more_is_missing(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """No reminder for a day; the next missing post is told all the same, and the end of the answer is a reminder."""
    look(incidents, FAILING)
    incidents.answer(1, Quiet.ACKNOWLEDGED, lasting=timedelta(hours=20))
    run_for(incidents, clock, timedelta(hours=12), FAILING)
    assert len(told(outbox)) == 1
    look(incidents, replace(FAILING, occurrence="2026-05-05-1140"))
    assert times(outbox)[-1] == "reminder 05 09:00"
    run_for(incidents, clock, timedelta(hours=9), replace(FAILING, occurrence="2026-05-05-1140"))
    assert times(outbox)[-1] == "escalated 05 17:00"


def test_a_snoozed_incident_is_told_of_at_its_end_only(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """Not even a new occurrence is; that it is over is."""
    look(incidents, FAILING)
    answered = incidents.answer(1, Quiet.SNOOZED, lasting=timedelta(days=400))
    assert answered.quiet_until == START + timedelta(days=30)
    clock.advance(timedelta(days=1))
    look(incidents, replace(FAILING, occurrence="2026-05-05-1140"))
    assert len(told(outbox)) == 1
    look(incidents, OK)
    assert times(outbox)[1:] == ["resolved 05 21:00"]


def test_only_what_is_open_can_be_answered(incidents: Incidents) -> None:
    """One line, and what to type."""
    with pytest.raises(InputError) as caught:
        incidents.answer(7, Quiet.SNOOZED, lasting=FIVE)
    assert str(caught.value) == "incident 7: none of that number is open; lamplighter incidents list"


def test_the_digest_lists_what_is_quiet_once_a_day(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """At nine, with until when; a day on which nothing is quiet has none."""
    verdict = replace(FAILING, ladder=ONCE)
    run_for(incidents, clock, timedelta(hours=13), verdict)
    assert len(told(outbox)) == 1
    incidents.answer(1, Quiet.SNOOZED, lasting=timedelta(hours=40))
    run_for(incidents, clock, timedelta(days=3), verdict)
    digests = [one.notice for one in outbox.all() if one.notice.kind.value == "digest"]
    assert [notice.dedup_key for notice in digests] == ["digest-2026-05-06"]
    assert digests[0].body.split("\n")[0] == "no post went out for 2026-05-04: snoozed until 2026-05-07 02:00"


def test_a_pause_stands_in_the_digest(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """Said once, however many ticks there are after nine."""
    clock.jump(datetime.combine(START.date(), time(9), TOKYO).astimezone(UTC))
    for _ in range(3):
        look(incidents, OK, before=clock.now() - FIVE, quiet=("post is paused until then",))
        clock.advance(FIVE)
    assert [one.notice.body.split("\n")[0] for one in outbox.all()] == ["post is paused until then"]


def test_what_comes_back_within_the_hour_is_the_same_incident(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """It flaps: told at once that it is back, then once in six hours, and over after two good looks."""
    stock = failing("stock")
    good = replace(OK, key="stock")
    for verdict in (stock, good, stock):
        look(incidents, verdict)
        clock.advance(FIVE)
    (incident,) = incidents.open()
    assert (incident.number, incident.flaps) == (1, 1)
    assert told(outbox)[-1] == "opened: again: stock is missing"
    assert len(look(incidents, good)) == 1
    assert look(incidents, good) == ()
    for _ in range(40):
        for verdict in (stock, good, good):
            clock.advance(FIVE)
            look(incidents, verdict)
    spoken = [one.written_at for one in outbox.all()[2:]]
    assert len(incidents.latest()) == 1
    assert len(spoken) == 2
    assert spoken[1] - spoken[0] >= timedelta(hours=6)


def test_the_third_time_in_a_day_is_the_same_incident(incidents: Incidents, clock: VirtualClock) -> None:
    """Two apart by hours are two; the third belongs to the second."""
    stock, good = failing("stock"), replace(OK, key="stock")
    numbers = []
    for _ in range(3):
        numbers.append(look(incidents, stock)[0].number)
        clock.advance(timedelta(hours=3))
        look(incidents, good)
        clock.advance(timedelta(hours=3))
    assert numbers == [1, 2, 2]


def test_the_end_of_what_flaps_is_told_when_it_may_be(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """Nobody is left believing that it still fails."""
    stock, good = failing("stock"), replace(OK, key="stock")
    for verdict in (stock, good, stock):
        look(incidents, verdict)
        clock.advance(FIVE)
    run_for(incidents, clock, timedelta(hours=7), good)
    assert [line.split(":")[0] for line in told(outbox)] == ["opened", "resolved", "opened", "resolved"]
    assert outbox.all()[-1].written_at - outbox.all()[-2].written_at >= timedelta(hours=6)


def test_a_storm_is_one_bundle(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """Eight at once are one notice with a line each; five are told singly."""
    look(incidents, *(failing(f"thing-{number}") for number in range(8)))
    (bundle,) = (one.notice for one in outbox.all())
    assert (bundle.kind.value, bundle.subject) == ("bundle", "8 things at once")
    assert bundle.body.split("\n")[0] == "thing-0 is missing; since 2026-05-04 20:40; type: lamplighter post"
    clock.advance(timedelta(minutes=4))
    more = [failing(f"thing-{number}") for number in range(12)]
    look(incidents, *more)
    assert len(told(outbox)) == 1
    clock.advance(timedelta(minutes=7))
    look(incidents, *more)
    assert len(told(outbox)) == 5


def test_what_is_critical_and_new_waits_for_no_storm(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """A minute after a bundle of many, the missing post is told by itself."""
    things = [failing(f"thing-{number}") for number in range(8)]
    look(incidents, *things)
    clock.advance(MINUTE)
    look(incidents, *things, replace(FAILING, severity=Severity.CRITICAL), failing("thing-9"))
    assert told(outbox)[1:] == ["opened: no post went out for 2026-05-04"]


def test_a_child_is_not_told_of_while_its_parent_is_open(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock
) -> None:
    """It is opened, judged and resolved all the same; what is left when the parent is over is told then."""
    network, shop, stock = failing("network"), failing("shop", parent="network"), failing("stock", parent="shop")
    assert len(look(incidents, network, shop, stock)) == 3
    assert told(outbox) == ["opened: network is missing"]
    assert outbox.all()[0].notice.body.split("\n")[-1] == "because of it: shop is missing"
    clock.advance(FIVE)
    assert len(look(incidents, network, shop, replace(OK, key="stock"))) == 2
    clock.advance(FIVE)
    look(incidents, replace(OK, key="network"), shop)
    assert told(outbox)[1:] == ["resolved: over after 30 min: network is missing", "opened: shop is missing"]


def test_parents_in_a_circle_hush_nobody(incidents: Incidents, outbox: Outbox) -> None:
    """A mistake of ours must not be silence."""
    look(incidents, failing("egg", parent="hen"), failing("hen", parent="egg"), failing("self", parent="self"))
    assert len(told(outbox)) == 3


def test_what_is_excused_is_left_as_it_is(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """A pause neither resolves nor reminds."""
    look(incidents, FAILING)
    run_for(incidents, clock, timedelta(days=1), replace(FAILING, standing=Standing.EXCUSED))
    assert (len(incidents.open()), len(told(outbox))) == (1, 1)


def test_a_repair_is_told_once_a_day_and_calmly(incidents: Incidents, outbox: Outbox, clock: VirtualClock) -> None:
    """No incident, and nothing to be done."""
    repaired = replace(OK, repaired="the entry of post was missing and is there again")
    for _ in range(3):
        assert look(incidents, repaired) == ()
        clock.advance(FIVE)
    (notice,) = (one.notice for one in outbox.all())
    assert (notice.severity, notice.subject) == (
        Severity.INFO,
        "put right: the entry of post was missing and is there again",
    )
    clock.advance(timedelta(days=1))
    look(incidents, repaired)
    assert len(told(outbox)) == 2


@pytest.mark.parametrize("years", [-20, 20])
def test_a_clock_that_is_set_by_years_silences_nobody(
    incidents: Incidents, outbox: Outbox, clock: VirtualClock, years: int
) -> None:
    """Set ahead and back again: the ladder begins anew, and a snooze made in the wrong year is none."""
    clock.jump(START + timedelta(days=365 * years))
    look(incidents, FAILING)
    incidents.answer(1, Quiet.SNOOZED, lasting=timedelta(hours=1))
    clock.jump(START)
    run_for(incidents, clock, timedelta(days=1), FAILING)
    kinds = [line.split()[0] for line in times(outbox)]
    assert {"reminder", "escalated"} <= set(kinds)
    assert len(kinds) <= 5


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE incident SET severity = 'splendid'",
        "UPDATE incident SET evidence = 'nonsense'",
        "UPDATE incident SET since = 'noon'",
        "UPDATE incident SET told_lines = '7'",
        "UPDATE incident SET quiet = 'very'",
        "UPDATE incident SET first_told_at = 1e300",
    ],
)
def test_a_row_that_nobody_here_wrote_is_one_line(database: Database, incidents: Incidents, forgery: str) -> None:
    """The tick says that nobody can tell; it never takes it for well."""
    look(incidents, FAILING)
    database.change(forgery)
    with pytest.raises(DiskError) as caught:
        look(incidents, OK)
    assert "a row is damaged" in str(caught.value)
