"""A tick of the watcher: it never raises for what it cannot read, and remembers nothing but in the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.engine import incident as incident_tables
from lamplighter.engine.expectation import (
    AgeFacts,
    ByTime,
    DayFacts,
    Expires,
    Facts,
    Level,
    LevelFacts,
    MaxAge,
    Probe,
    ProbeFacts,
    Rule,
    Standing,
    Streak,
    Verdict,
)
from lamplighter.engine.incident import Incidents
from lamplighter.engine.watch import (
    MIGRATIONS,
    Expected,
    TickReport,
    WatchCode,
    Watcher,
    add_doubt,
    blind_report,
)
from lamplighter.errors import DiskError, InputError
from lamplighter.host.database import Database, open_database
from lamplighter.notify import outbox as outbox_tables
from lamplighter.notify.outbox import NoticeKind, Outbox
from lamplighter.notify.severity import Severity
from lamplighter.schedule.cadence import Cadence

BERLIN = ZoneInfo("Europe/Berlin")
FIVE = timedelta(minutes=5)
TABLES = (*MIGRATIONS, *incident_tables.MIGRATIONS, *outbox_tables.MIGRATIONS)
STOCK = Level(key="stock", about="the stock", missing="the stock is empty")
MADE = MaxAge(key="made_recently", about="new features", missing="no feature was made")
POST = ByTime(
    key="post_today",
    about="the day's post",
    missing="no post went out",
    job="post",
    cadence=Cadence(zone=BERLIN, at=(time(19, 30),), once_a_day=True),
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", TABLES) as opened:
        yield opened


@pytest.fixture
def clock() -> VirtualClock:
    """Return the clock."""
    return VirtualClock()


def nothing() -> None:
    """Find no dead run."""


def watcher(database: Database, clock: VirtualClock) -> Watcher:
    """Return a watcher that has just been started."""
    outbox = Outbox(database, clock, "own")
    incidents = Incidents(database, clock, "own", outbox=outbox, zone=BERLIN)
    return Watcher(database, clock, "own", incidents=incidents, boot_id="boot")


def stock(have: int) -> Expected:
    """Expect something in stock."""
    return Expected(rule=STOCK, read=lambda: LevelFacts(have=have, command="lamplighter generate"))


def broken() -> Facts:
    """Fail to read."""
    raise DiskError("content/sns", "Permission denied", "give this user the right to it")


def tick(database: Database, clock: VirtualClock, *expected: Expected) -> TickReport:
    """Start a watcher, tick once, and let it go."""
    return watcher(database, clock).tick(expected, reconcile=nothing)


def standing(report: TickReport, key: str = "stock") -> Standing:
    """Return how one expectation stands."""
    return next(verdict.standing for verdict in report.verdicts if verdict.key == key)


def test_since_when_the_stock_is_empty_outlives_the_watcher(database: Database, clock: VirtualClock) -> None:
    """Each tick is a new process: two hours after the first that saw it empty, it fails."""
    seen = []
    for _ in range(26):
        seen.append(standing(tick(database, clock, stock(0))))
        clock.advance(FIVE)
    assert seen == [Standing.LATE] * 24 + [Standing.FAILING] * 2


def test_a_stock_that_was_filled_begins_anew(database: Database, clock: VirtualClock) -> None:
    """An hour empty, filled, an hour empty: not two hours."""
    seen = []
    for have, hours in ((0, 1), (1, 1), (0, 1), (0, 0.9)):
        seen.append(standing(tick(database, clock, stock(have))))
        clock.advance(timedelta(hours=hours))
    assert seen == [Standing.LATE, Standing.OK, Standing.LATE, Standing.LATE]


def test_a_stock_that_is_full_excuses_and_what_is_wanted_counts_from_then(
    database: Database, clock: VirtualClock
) -> None:
    """Full for five days, then one is taken: 36 hours from there, not from the last that was made."""
    excuse = "the stock is full: 3 of 3"

    def read() -> Facts:
        return AgeFacts(newest_at=START, excuse=excuse, command="lamplighter generate")

    made = Expected(rule=MADE, read=read)
    for hours in (0, 60, 120):
        clock.jump(START + timedelta(hours=hours))
        assert standing(tick(database, clock, made), "made_recently") is Standing.OK
    excuse = ""
    taken_at = clock.now()
    for hours, expected in ((1, Standing.OK), (36, Standing.OK), (37, Standing.FAILING)):
        clock.jump(taken_at + timedelta(hours=hours))
        assert standing(tick(database, clock, made), "made_recently") is expected


def test_what_cannot_be_read_is_unknown_and_told_at_the_second_tick(database: Database, clock: VirtualClock) -> None:
    """One blink opens nothing, but is no ok either; the second opens an incident."""
    unreadable = Expected(rule=STOCK, read=broken)
    first = tick(database, clock, unreadable)
    assert (first.code, standing(first), first.incidents) == (WatchCode.UNKNOWN, Standing.UNKNOWN, ())
    clock.advance(FIVE)
    second = tick(database, clock, unreadable)
    assert [incident.key for incident in second.incidents] == ["stock:unknown"]
    assert second.incidents[0].why == "content/sns: Permission denied; give this user the right to it"
    assert second.code is WatchCode.UNKNOWN
    clock.advance(FIVE)
    assert tick(database, clock, stock(1)).incidents == ()


def test_a_blink_keeps_since_when_the_stock_is_empty(database: Database, clock: VirtualClock) -> None:
    """A tick that could not read it neither ends nor restarts the two hours."""
    tick(database, clock, stock(0))
    clock.advance(timedelta(hours=1))
    tick(database, clock, Expected(rule=STOCK, read=broken))
    clock.advance(timedelta(hours=1))
    assert standing(tick(database, clock, stock(0))) is Standing.FAILING


def test_what_one_expectation_cannot_read_leaves_the_others(database: Database, clock: VirtualClock) -> None:
    """Each has its own verdict; what is missing counts before what nobody can tell."""
    failing = Expected(rule=Probe(key="database", about="the database"), read=lambda: ProbeFacts(trouble="damaged"))
    report = tick(database, clock, Expected(rule=STOCK, read=broken), failing)
    assert [(verdict.key, verdict.standing.value) for verdict in report.verdicts] == [
        ("stock", "unknown"),
        ("database", "failing"),
        ("reconcile", "ok"),
        ("watch_ticks", "ok"),
    ]
    assert report.code is WatchCode.FAILING


def test_a_record_of_anothers_hand_is_unknown(database: Database, clock: VirtualClock) -> None:
    """A value that makes no sense is a fact that cannot be read."""

    def read() -> Facts:
        return ProbeFacts(trouble=str(int("seven")))

    report = tick(database, clock, Expected(rule=STOCK, read=read))
    assert standing(report) is Standing.UNKNOWN


def test_a_reconciler_that_fails_is_a_doubt_and_the_rest_is_judged(database: Database, clock: VirtualClock) -> None:
    """And over when it works again."""

    def fail() -> None:
        raise InputError("run 7", "gone")

    reports = []
    for _ in range(2):
        reports.append(watcher(database, clock).tick([stock(1)], reconcile=fail))
        clock.advance(FIVE)
    assert [[incident.key for incident in report.incidents] for report in reports] == [[], ["reconcile:unknown"]]
    assert tick(database, clock, stock(1)).incidents == ()


def test_the_reconciler_comes_before_the_facts(database: Database, clock: VirtualClock) -> None:
    """What it finds is judged in the same tick."""
    order: list[str] = []

    def read() -> Facts:
        order.append("read")
        return LevelFacts(have=1)

    watcher(database, clock).tick([Expected(rule=STOCK, read=read)], reconcile=lambda: order.append("reconcile"))
    assert order == ["reconcile", "read"]


def test_a_gap_of_the_watcher_is_said(database: Database, clock: VirtualClock) -> None:
    """Ten minutes are none; three hours are, with since when."""
    assert tick(database, clock, stock(1)).away_since is None
    clock.advance(timedelta(minutes=10))
    assert tick(database, clock, stock(1)).away_since is None
    before = clock.now()
    clock.advance(timedelta(hours=3))
    failing = Expected(rule=Probe(key="database", about="the database"), read=lambda: ProbeFacts(trouble="damaged"))
    report = tick(database, clock, stock(1), failing)
    assert report.away_since == before
    assert report.incidents[0].evidence[0].value == "watch did not run from 2026-05-04 12:10 to 2026-05-04 15:10 UTC"


def test_a_clock_that_is_set_back_does_not_silence_the_watcher(database: Database, clock: VirtualClock) -> None:
    """What was noted ten years ahead begins anew, and no gap is made of it."""
    clock.jump(START + timedelta(days=3650))
    tick(database, clock, stock(0))
    clock.jump(START)
    assert standing(tick(database, clock, stock(0))) is Standing.LATE
    clock.advance(timedelta(hours=2))
    assert standing(tick(database, clock, stock(0))) is Standing.FAILING


def test_ticks_are_noted_and_old_ones_forgotten(database: Database, clock: VirtualClock) -> None:
    """Forty days of them are kept: they prove that the machine was on."""
    one = watcher(database, clock)
    assert one.last_tick_at() is None
    one.tick([stock(1)], reconcile=nothing)
    assert one.last_tick_at() == START
    assert one.ticked_between(START - FIVE, START + FIVE)
    clock.advance(timedelta(days=41))
    one.tick([stock(1)], reconcile=nothing)
    assert not one.ticked_between(START - FIVE, START + FIVE)


def test_a_tick_that_judged_nothing_is_no_ok() -> None:
    """No verdict at all means that nobody looked."""
    assert TickReport(at=START, verdicts=(), incidents=()).code is WatchCode.UNKNOWN


def test_a_blind_tick_and_an_added_doubt_are_unknown() -> None:
    """Exit 3, and the cause in the verdict."""
    blind = blind_report(START, DiskError("lamplighter.db", "disk I/O error"))
    assert (blind.code, blind.verdicts[0].why) == (WatchCode.UNKNOWN, "lamplighter.db: disk I/O error")
    well = TickReport(
        at=START,
        verdicts=(Verdict(key="stock", standing=Standing.OK, line="the stock: 3, and at least 1 is expected"),),
        incidents=(),
    )
    assert well.code is WatchCode.OK
    doubted = add_doubt(well, "alert", "ALERT.txt", DiskError("ALERT.txt", "no space"))
    assert (doubted.code, [verdict.key for verdict in doubted.unknown]) == (WatchCode.UNKNOWN, ["alert"])


def test_a_database_that_takes_no_word_is_an_error(database: Database, clock: VirtualClock) -> None:
    """The caller says that nobody can tell; nothing is half noted."""
    database.change("DROP TABLE tick")
    with pytest.raises(DiskError):
        tick(database, clock, stock(0))
    assert database.rows("SELECT * FROM holding") == []


def test_what_a_gap_hid_is_told_once_when_the_watcher_is_back(database: Database, clock: VirtualClock) -> None:
    """Asleep over the time of the post: one incident at the first tick, one notice."""
    first_day = datetime(2026, 5, 4, tzinfo=BERLIN)

    def read() -> Facts:
        return DayFacts(days=frozenset(), first_day=first_day.date(), command="lamplighter post")

    expected = Expected(rule=POST, read=read)
    clock.jump(first_day.replace(hour=18).astimezone(UTC))
    assert tick(database, clock, expected).code is WatchCode.OK
    clock.jump(first_day.replace(hour=22).astimezone(UTC))
    codes = []
    for _ in range(3):
        codes.append(tick(database, clock, expected).code)
        clock.advance(FIVE)
    assert codes == [WatchCode.FAILING] * 3
    notices = Outbox(database, clock, "own").all()
    assert [waiting.notice.kind for waiting in notices] == [NoticeKind.OPENED]


EXPIRES = Expires(key="token", about="the token")
STREAK = Streak(key="streak_post", about="the runs of post", job="post")
DATABASE = Probe(key="database", about="the database")


@pytest.mark.parametrize("rule", [POST, STOCK, MADE, STREAK, EXPIRES, DATABASE], ids=lambda rule: rule.key)
@pytest.mark.parametrize(
    "error",
    [DiskError("x", "gone"), InputError("x", "none"), OSError(5, "Input/output error"), ValueError("x"), KeyError("x"),
     TypeError("x"), OverflowError("x")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_every_cell_of_could_not_check_is_exit_3(
    database: Database, clock: VirtualClock, rule: Rule, error: Exception
) -> None:
    """§4.11 (15): whatever cannot be read, by whatever cause: unknown at once, told at the second tick, never ok."""

    def fail() -> Facts:
        raise error

    reports = []
    for _ in range(2):
        reports.append(tick(database, clock, Expected(rule=rule, read=fail)))
        clock.advance(FIVE)
    assert [report.code for report in reports] == [WatchCode.UNKNOWN] * 2
    assert [incident.key for incident in reports[1].incidents] == [f"{rule.key}:unknown"]


def test_a_doubt_becomes_critical_when_the_time_passes(database: Database, clock: VirtualClock) -> None:
    """A warning at noon; with the evening's grace over and still nobody who can tell, as bad as no post."""
    rule = replace(POST, severity=Severity.CRITICAL)
    clock.jump(datetime(2026, 5, 4, 12, 0, tzinfo=BERLIN).astimezone(UTC))
    seen: list[list[Severity]] = []
    report = blind_report(START, DiskError("x"))
    for hours in (0, 1, 7.5, 7.75, 8):
        clock.jump(datetime(2026, 5, 4, 12, 0, tzinfo=BERLIN).astimezone(UTC) + timedelta(hours=hours))
        report = tick(database, clock, Expected(rule=rule, read=broken))
        seen.append([incident.severity for incident in report.incidents])
    assert seen == [[], [Severity.WARNING], [Severity.WARNING], [Severity.CRITICAL], [Severity.CRITICAL]]
    assert len(report.unmet) == 1
    kinds = [one.notice.kind for one in Outbox(database, clock, "own").all()]
    assert kinds == [NoticeKind.OPENED, NoticeKind.REMINDER]


def test_what_is_excused_is_not_even_read(database: Database, clock: VirtualClock) -> None:
    """And what held before begins anew afterwards."""
    tick(database, clock, stock(0))
    clock.advance(timedelta(hours=1))
    excused = Expected(rule=STOCK, read=broken, excuse="paused until then")
    report = tick(database, clock, excused)
    assert (report.code, standing(report)) == (WatchCode.OK, Standing.EXCUSED)
    clock.advance(timedelta(hours=1))
    assert standing(tick(database, clock, stock(0))) is Standing.LATE


def test_a_watcher_that_was_away_while_the_machine_was_on_says_so_once(database: Database, clock: VirtualClock) -> None:
    """Its entry was gone for three hours; asleep for as long, it says nothing of itself."""
    tick(database, clock, stock(1))
    clock.jump(clock.now() + timedelta(hours=3))
    tick(database, clock, stock(1))
    assert Outbox(database, clock, "own").all() == ()
    clock.advance(timedelta(hours=3))
    for _ in range(2):
        tick(database, clock, stock(1))
        clock.advance(FIVE)
    (notice,) = (one.notice for one in Outbox(database, clock, "own").all())
    assert notice.severity is Severity.INFO
    assert "watch did not run from 2026-05-04 15:00 to 2026-05-04 18:00 UTC though the machine was on" in notice.subject


@pytest.mark.parametrize("years", [-30, 30])
def test_a_clock_that_is_set_by_years_is_no_ok_and_no_traceback(
    database: Database, clock: VirtualClock, years: int
) -> None:
    """There and back, with a post missing and a stock empty: the truth is told at the end."""

    def read() -> Facts:
        return DayFacts(days=frozenset(), first_day=START.date(), command="lamplighter post")

    report = blind_report(START, DiskError("x"))
    for now in (START, START + timedelta(days=365 * years), START + timedelta(hours=9)):
        clock.jump(now)
        tick(database, clock, Expected(rule=POST, read=read), stock(0))
        clock.advance(timedelta(hours=3))
        report = tick(database, clock, Expected(rule=POST, read=read), stock(0))
    assert report.code is WatchCode.FAILING
    assert {incident.key for incident in report.incidents} == {"post_today", "stock"}
