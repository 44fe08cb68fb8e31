"""An outside watcher hears that we look, and once a day that all is there; nothing of it holds up a tick."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock
from tests.simulators.inbox import Inbox, Reply

from lamplighter.errors import ConfigError
from lamplighter.host.clock import Clock, SystemClock
from lamplighter.host.database import Database, open_database
from lamplighter.host.http import Client
from lamplighter.notify import heartbeat_table
from lamplighter.notify.heartbeat import VERDICT, WATCH, Beat, Day, Heartbeat, decide_verdict, render_ping

WORDS = ("up", "down")
DUE = START + timedelta(hours=2)
BOTH = (WATCH, VERDICT)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Return a ping server."""
    with Inbox() as opened:
        yield opened


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", heartbeat_table.MIGRATIONS) as opened:
        yield opened


def day(trouble: str = "", *, is_open: bool = False, name: str = "2026-05-04", due_at: datetime = DUE) -> Day:
    """Return a day whose post is due two hours after the start."""
    return Day(name=name, due_at=due_at, trouble=trouble, is_open=is_open)


def beat(
    database: Database, inbox: Inbox, clock: Clock, today: Day, *, url: str = "", names: tuple[str, ...] = BOTH
) -> list[str]:
    """Ping once, and return the paths that were asked for."""
    before = len(inbox.asked)
    client = Client(contact="mailto:test@example.com", allowed_hosts=frozenset({inbox.host}), clock=clock)
    pings = Heartbeat(database, clock, "main", http=client, read_url=lambda name: url or f"{inbox.ping}-{name}")
    pings.beat(names, day=today, text="all is well", words=WORDS)
    return [letter.path.rpartition("uuid-")[2] for letter in inbox.asked[before:]]


@pytest.mark.parametrize(
    ("minutes", "today", "before", "expected"),
    [
        (0, day(), Beat(), None),
        (0, day("no post"), Beat(), None),
        (120, day(), Beat(), True),
        (120, day(), Beat(good_day="2026-05-03"), True),
        (125, day(), Beat(good_day="2026-05-04"), None),
        (120, day(is_open=True), Beat(), None),
        (120, day("no post"), Beat(), False),
        (150, day("no post"), Beat(failed_at=DUE), None),
        (180, day("no post"), Beat(failed_at=DUE), False),
        (125, day("no post"), Beat(failed_at=DUE + timedelta(days=900)), False),
        (190, day(), Beat(good_day="2026-05-04", failed_at=DUE), True),
        (190, day(is_open=True), Beat(failed_at=DUE), None),
    ],
)
def test_the_day_is_called_good_once_and_bad_hourly(
    minutes: int, today: Day, before: Beat, expected: bool | None
) -> None:
    """Nothing before its time; mended, it is good again; a clock set back counts as no time."""
    assert decide_verdict(START + timedelta(minutes=minutes), today, before) is expected


@pytest.mark.parametrize(
    ("url", "good", "bad"),
    [
        ("https://hc-ping.com/uuid", "https://hc-ping.com/uuid", "https://hc-ping.com/uuid/fail"),
        ("https://hc-ping.com/uuid/?create=1", "https://hc-ping.com/uuid/?create=1", "https://hc-ping.com/uuid/fail?create=1"),
        (
            "https://uptime.betterstack.com/api/v1/heartbeat/t",
            "https://uptime.betterstack.com/api/v1/heartbeat/t",
            "https://uptime.betterstack.com/api/v1/heartbeat/t/fail",
        ),
        ("https://nosnch.in/t?m={message}", "https://nosnch.in/t?m=no%20post%20%26%20%E7%9A%BF", ""),
        (
            "https://kuma.example/api/push/t?status={result}&msg={message}",
            "https://kuma.example/api/push/t?status=up&msg=no%20post%20%26%20%E7%9A%BF",
            "https://kuma.example/api/push/t?status=down&msg=no%20post%20%26%20%E7%9A%BF",
        ),
        ("https://cronitor.link/p/k/j?state={result}", "https://cronitor.link/p/k/j?state=up", "https://cronitor.link/p/k/j?state=down"),
        ("https://x.example/{code}", "https://x.example/0", "https://x.example/1"),
    ],
)  # fmt: skip
def test_each_service_is_told_in_its_own_way(url: str, good: str, bad: str) -> None:
    """By its address alone: a template says what it wants, any other is as Healthchecks has it."""
    message = "no post & 皿"
    assert render_ping(url, is_good=True, message=message, words=WORDS) == good
    assert render_ping(url, is_good=False, message=message, words=WORDS) == bad


def test_a_day_as_an_outside_watcher_sees_it(inbox: Inbox, database: Database) -> None:
    """Ticking always, the verdict once; under our name, and never a start."""
    clock = VirtualClock()
    seen = []
    for _ in range(12):
        seen += beat(database, inbox, clock, day())
        clock.advance(timedelta(minutes=15))
    assert (seen.count("watch"), seen.count("verdict"), len(seen)) == (12, 1, 13)
    assert {letter.headers["user-agent"].split("/")[0] for letter in inbox.asked} == {"lamplighter"}


def test_a_bad_day_is_told_with_its_reason_until_it_is_mended(inbox: Inbox, database: Database) -> None:
    """At once, hourly, and good again the moment it is."""
    clock = VirtualClock(DUE)
    seen = []
    for minute in range(0, 130, 5):
        trouble = "" if minute >= 125 else "no post went out for 2026-05-04: the stock was empty"
        seen += beat(database, inbox, clock, day(trouble), names=(VERDICT,))
        clock.advance(timedelta(minutes=5))
    assert seen == ["verdict/fail", "verdict/fail", "verdict/fail", "verdict"]
    assert inbox.taken[0].text == "no post went out for 2026-05-04: the stock was empty"


def test_ticks_by_hand_do_not_ping_more_than_a_service_takes(inbox: Inbox, database: Database) -> None:
    """At most five a minute, both together."""
    clock = VirtualClock(DUE)
    seen = []
    for _ in range(20):
        seen += beat(database, inbox, clock, day("bad"))
        clock.advance(timedelta(seconds=3))
    assert len(seen) <= 5


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(status=429), Reply(drop=True)])
def test_a_ping_is_tried_three_times_and_its_failure_counted(inbox: Inbox, database: Database, reply: Reply) -> None:
    """Then it is given up until the next tick, and nothing of it is raised."""
    clock = VirtualClock()
    inbox.always("ping", reply)
    assert beat(database, inbox, clock, day(), names=(WATCH,)) == ["watch"] * 3
    clock.advance(timedelta(minutes=5))
    beat(database, inbox, clock, day(), names=(WATCH,))
    pings = Heartbeat(
        database, clock, "main", http=Client(contact="", allowed_hosts=frozenset(), clock=clock), read_url=str
    )
    assert pings.read(WATCH).misses == 2
    assert pings.read(WATCH).why != ""
    inbox.always("ping", None)
    clock.advance(timedelta(minutes=5))
    beat(database, inbox, clock, day(), names=(WATCH,))
    assert (pings.read(WATCH).misses, pings.read(WATCH).why) == (0, "")


def test_a_ping_that_is_refused_is_not_tried_again(inbox: Inbox, database: Database) -> None:
    """404 is no accident."""
    inbox.always("ping", Reply(status=404))
    assert beat(database, inbox, VirtualClock(), day(), names=(WATCH,)) == ["watch"]


def test_a_good_day_that_could_not_be_told_is_told_at_the_next_tick(inbox: Inbox, database: Database) -> None:
    """Otherwise the outside watcher would raise an alarm for nothing."""
    clock = VirtualClock(DUE)
    inbox.always("ping", Reply(status=500))
    beat(database, inbox, clock, day(), names=(VERDICT,))
    inbox.always("ping", None)
    clock.advance(timedelta(minutes=5))
    assert beat(database, inbox, clock, day(), names=(VERDICT,)) == ["verdict"]


class _Hanging:
    """A network on which nothing ever answers, on a virtual clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.asked = 0

    def get(self, request: object) -> object:
        """Take all the time that is allowed."""
        from lamplighter.host.http import Request, TimedOut  # noqa: PLC0415 - only here

        assert isinstance(request, Request)
        assert request.connect <= timedelta(seconds=5)
        self.asked += 1
        self._clock.advance(request.total)
        raise TimedOut("ping", "nothing came")


def test_two_heartbeats_that_hang_hold_a_tick_up_for_ten_seconds(database: Database) -> None:
    """Both together, tries included."""
    clock = VirtualClock(DUE)
    http = _Hanging(clock)
    pings = Heartbeat(database, clock, "main", http=http, read_url=lambda name: f"https://hc.example/{name}")  # type: ignore[arg-type]  # it never answers
    pings.beat(BOTH, day=day(), text="", words=WORDS)
    assert clock.now() - DUE <= timedelta(seconds=10)
    assert http.asked >= 2


def test_a_real_server_that_hangs_is_left_in_time(inbox: Inbox, database: Database) -> None:
    """By the real clock and a real socket; the total is cut short so that the test is."""
    inbox.always("ping", Reply(hang=20))
    clock = SystemClock()
    client = Client(contact="", allowed_hosts=frozenset({inbox.host}), clock=clock)
    pings = Heartbeat(database, clock, "main", http=client, read_url=lambda _: inbox.ping)
    before = clock.monotonic()
    why = pings._ping(WATCH, timedelta(seconds=0.5), is_good=True, text="", words=WORDS)
    assert why != ""
    assert clock.monotonic() - before < timedelta(seconds=3)


def test_an_address_that_cannot_be_read_is_a_failure_like_any_other(inbox: Inbox, database: Database) -> None:
    """Counted, with its reason, and not raised."""

    def read_url(name: str) -> str:
        raise ConfigError(f"heartbeat.{name}", "the variable HC is not set", "set it")

    clock = VirtualClock()
    client = Client(contact="", allowed_hosts=frozenset(), clock=clock)
    pings = Heartbeat(database, clock, "main", http=client, read_url=read_url)
    pings.beat((WATCH,), day=day(), text="", words=WORDS)
    assert pings.read(WATCH).why == "heartbeat.watch: the variable HC is not set; set it"
    assert inbox.asked == []


def test_what_a_failure_is_told_with_is_short_and_has_no_password(inbox: Inbox, database: Database) -> None:
    """Ten kilobytes at most, addresses with a password in them without it."""
    clock = VirtualClock(DUE)
    trouble = "get https://me:hunter2@shop.example/x failed " + "皿" * 9_000
    beat(database, inbox, clock, day(trouble), names=(VERDICT,))
    told = inbox.taken[0].text
    assert "hunter2" not in told
    assert len(told.encode()) <= 10_000


def test_a_reason_is_not_sent_on_by_a_redirect(inbox: Inbox, database: Database) -> None:
    """Where a ping is led to, the ping alone is sent."""
    inbox.will("ping", Reply(status=302, headers={"Location": "/ping/elsewhere"}))
    beat(database, inbox, VirtualClock(DUE), day("no post went out"), names=(VERDICT,))
    assert [(letter.path.rpartition("/")[2], letter.text) for letter in inbox.asked] == [
        ("fail", "no post went out"),
        ("elsewhere", ""),
    ]
