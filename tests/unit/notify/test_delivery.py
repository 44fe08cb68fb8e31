"""Notices reach somebody: in order, once where it can be told, by the next channel when one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START
from tests.unit.notify.post_office import DEAD, LATER, REFUSED, UNSURE, PostOffice

from lamplighter.notify.channel import Result, Sent
from lamplighter.notify.delivery_table import RowState
from lamplighter.notify.limits import Limits
from lamplighter.notify.outbox import NoticeKind

Open = Callable[..., PostOffice]  # type: ignore[explicit-any]  # each test names what it wants


@pytest.fixture
def open_office(tmp_path: Path) -> Iterator[Open]:
    """Return what opens a post office in one folder, and closes all of them in the end."""
    opened: list[PostOffice] = []

    def open_one(**options: object) -> PostOffice:
        opened.append(PostOffice.open(tmp_path, **options))  # type: ignore[arg-type]  # a test passes what it names
        return opened[-1]

    yield open_one
    for office in opened:
        office.database.close()


def test_notices_are_told_in_order_and_once(open_office: Open) -> None:
    """Oldest first; a second delivery, by another process too, tells nothing again."""
    office = open_office(alert=("discord",))
    for key in ("a", "b", "c"):
        office.put(key)
    report = office.deliver()
    assert (report.sent, report.failed, report.waiting, report.dead) == (3, 0, 0, ())
    open_office(alert=("discord",)).deliver()
    assert office.told("discord") == ["a", "b", "c"]
    assert office.box.waiting() == ()


def test_nothing_to_tell_opens_no_channel(open_office: Open) -> None:
    """A quiet tick loads no library."""
    office = open_office(alert=("discord",))
    office.deliver()
    assert office.opened == []


def test_each_kind_goes_its_way(open_office: Open) -> None:
    """Success goes to each channel of its route, an alert to the first of its own, an escalation to all of them."""
    office = open_office(made=("team", "shop"), posted=("shop",), alert=("phone", "mail"))
    for kind in (NoticeKind.MADE, NoticeKind.POSTED, NoticeKind.REVIEW, NoticeKind.OPENED, NoticeKind.ESCALATED):
        office.put(kind.value, kind)
    office.deliver()
    assert {name: office.told(name) for name in office.names} == {
        "team": ["made", "review"],
        "shop": ["made", "posted", "review"],
        "phone": ["opened", "escalated"],
        "mail": ["escalated"],
    }


@pytest.mark.parametrize("answer", [LATER, Sent(result=Result.LATER, why="429", retry_after=timedelta(minutes=7))])
def test_what_cannot_be_told_now_is_told_later_in_order(open_office: Open, answer: Sent) -> None:
    """A failing service is left alone for a while, then gets everything, the oldest first."""
    office = open_office(alert=("discord",))
    office.channels["discord"].will(answer)
    office.put("a")
    office.put("b")
    assert office.deliver().waiting == 2
    office.deliver()
    assert len(office.channels["discord"].seen) == 1
    office.tick(2)
    assert office.told("discord") == ["a", "b"]


def test_retry_after_is_never_undercut(open_office: Open) -> None:
    """Nothing is asked before the time the service named, in whole hours too."""
    office = open_office(alert=("discord",))
    office.channels["discord"].will(Sent(result=Result.LATER, why="429", retry_after=timedelta(hours=2)))
    office.put("a")
    office.deliver()
    office.tick(23)
    assert len(office.channels["discord"].seen) == 1
    office.tick(2)
    assert office.told("discord") == ["a"]


def test_a_short_retry_after_is_waited_for_once(open_office: Open) -> None:
    """A second's wait is not put off to the next tick; a service that says so again and again is left alone."""
    office = open_office(alert=("discord",))
    office.channels["discord"].standing = Sent(result=Result.LATER, why="429", retry_after=timedelta(seconds=1))
    office.put("a")
    office.deliver()
    assert (len(office.channels["discord"].seen), office.clock.waits) == (2, [timedelta(seconds=1)])
    office.channels["discord"].standing = None
    office.tick()
    assert office.told("discord") == ["a"]


def test_a_dead_channel_falls_back_at_once(open_office: Open) -> None:
    """404 needs a person: the next channel tells it in the same delivery, and the dead one is named."""
    office = open_office(alert=("discord", "mail"))
    office.channels["discord"].standing = DEAD
    office.put("a")
    report = office.deliver()
    assert office.told("mail") == ["a"]
    assert [(dead.name, dead.since, dead.why) for dead in report.dead] == [
        ("discord", START, "the service answered 404")
    ]
    assert office.states(1) == {"discord": "told elsewhere", "mail": "sent"}
    office.put("b")
    office.deliver()
    assert (office.told("mail"), len(office.channels["discord"].seen)) == (["a", "b"], 1)


def test_a_dead_channel_is_tried_again_by_and_by(open_office: Open) -> None:
    """Services say 404 by mistake too: after some hours the next notice goes its old way again."""
    office = open_office(alert=("discord", "mail"))
    office.channels["discord"].will(DEAD)
    office.put("a")
    office.deliver()
    office.clock.advance(timedelta(hours=7))
    office.put("b")
    assert office.deliver().dead == ()
    assert office.told("discord") == ["b"]


def test_a_new_address_revives_a_channel(open_office: Open) -> None:
    """Once a person has put in another address it is tried at once."""
    office = open_office(alert=("discord",))
    office.channels["discord"].will(DEAD)
    office.put("a")
    office.deliver()
    office.channels["discord"].mark = "two"
    office.deliver()
    assert office.told("discord") == ["a"]


def test_a_channel_that_keeps_failing_falls_back_after_ten_minutes(open_office: Open) -> None:
    """An alert does not wait for a service to recover; once told by another it is not told twice."""
    office = open_office(alert=("discord", "mail"))
    office.channels["discord"].standing = LATER
    office.put("a")
    office.deliver()
    assert office.told("mail") == []
    office.tick(2)
    assert office.told("mail") == ["a"]
    office.channels["discord"].standing = None
    office.tick(20)
    assert office.told("discord") == []


def test_the_desktop_is_last_and_no_word(open_office: Open) -> None:
    """What was only shown on a screen is still told by a channel as soon as one works."""
    office = open_office(alert=("discord",), desktop=True)
    office.channels["discord"].standing = LATER
    office.put("a")
    office.deliver()
    office.tick(3)
    assert office.told("desktop") == ["a"]
    office.channels["discord"].standing = None
    office.tick(8)
    assert (office.told("discord"), office.told("desktop")) == (["a"], ["a"])
    assert office.box.waiting() == ()


def test_without_channels_alerts_are_shown_on_the_desktop(open_office: Open) -> None:
    """A workspace whose settings name nobody still has a screen; success is not worth one."""
    office = open_office(desktop=True)
    office.put("a")
    office.put("made", NoticeKind.MADE)
    office.deliver()
    assert office.told("desktop") == ["a"]


def test_without_anything_notices_wait_a_week(open_office: Open) -> None:
    """A channel that is set up the next day tells them; nobody is told a week later."""
    office = open_office()
    office.put("a")
    office.deliver()
    assert len(office.box.waiting()) == 1
    office.clock.advance(timedelta(days=9))
    office.deliver()
    assert office.box.waiting() == ()


@pytest.mark.parametrize(
    ("kind", "title"),
    [(NoticeKind.OPENED, "a (may be a repeat)"), (NoticeKind.REVIEW, "a (may be a repeat)"), (NoticeKind.MADE, None)],
)
def test_what_may_have_arrived_is_repeated_only_where_silence_is_worse(
    open_office: Open, kind: NoticeKind, title: str | None
) -> None:
    """A timeout after the words were sent: an alert comes again and says so, success does not."""
    office = open_office(made=("discord",), alert=("discord",))
    office.channels["discord"].will(UNSURE)
    office.put("a", kind)
    office.deliver()
    office.tick(3)
    assert office.told("discord") == ([title] if title else [])
    assert office.states(1) == {"discord": "sent" if title else "unsure"}


def test_a_notice_that_is_refused_stops_no_other(open_office: Open) -> None:
    """What a service will not have is tried three times, then by the next channel, and says nothing of the service."""
    office = open_office(alert=("discord", "mail"))
    office.channels["discord"].will(REFUSED)
    office.put("bad")
    office.put("good")
    office.deliver()
    assert office.told("discord") == ["good"]
    office.channels["discord"].will(REFUSED, REFUSED)
    office.tick(4)
    assert office.told("mail") == ["bad"]
    assert office.states(1) == {"discord": "refused", "mail": "sent"}


def test_success_on_a_dead_channel_goes_to_an_alert_channel(open_office: Open) -> None:
    """When none of its own channels lives, the news goes where alerts go."""
    office = open_office(made=("team",), alert=("phone",))
    office.channels["team"].standing = DEAD
    office.put("made", NoticeKind.MADE)
    office.deliver()
    assert office.told("phone") == ["made"]
    assert office.states(1) == {"phone": "sent", "team": "told elsewhere"}


def test_a_sender_that_was_killed_leaves_a_claim(open_office: Open) -> None:
    """Nobody else sends meanwhile; after two minutes an alert is told as a possible repeat, success is left."""
    office = open_office(made=("discord",), alert=("discord",))
    office.put("alert")
    office.put("made", NoticeKind.MADE)
    office.put("next")
    delivery = office.delivery()
    delivery._take_up()
    delivery._find_state("discord")
    assert office.table.claim("discord", (1, 2), office.clock.now())
    office.deliver()
    assert office.channels["discord"].seen == []
    office.tick()
    assert office.told("discord") == ["alert (may be a repeat)", "next"]
    assert office.states(2) == {"discord": "unsure"}


def test_a_claim_of_a_time_to_come_counts_as_left(open_office: Open) -> None:
    """A clock that was set back does not hold a notice up for ever."""
    office = open_office(alert=("discord",))
    office.put("a")
    office.delivery()._take_up()
    office.table.claim("discord", (1,), office.clock.now() + timedelta(days=700))
    office.deliver()
    assert office.told("discord") == ["a (may be a repeat)"]


def test_two_that_send_at_once_do_not_send_twice(open_office: Open) -> None:
    """The claim is one transaction: the second finds the channel taken."""
    office = open_office(alert=("discord",))
    office.put("a")
    office.delivery()._take_up()
    assert office.table.claim("discord", (1,), office.clock.now())
    assert not office.table.claim("discord", (1,), office.clock.now())


def test_a_long_notice_goes_in_parts_and_goes_on_where_it_stopped(open_office: Open) -> None:
    """Parts that are out are not sent again when a later one fails."""
    office = open_office(alert=("discord",))
    office.channels["discord"].limits = Limits(body=200, pause=timedelta())
    office.channels["discord"].will(Sent(result=Result.SENT), LATER)
    office.put("long", body="\n".join(f"line {number} of many" for number in range(30)))
    office.deliver()
    office.tick()
    bodies = [message.body for message in office.channels["discord"].taken]
    assert "\n".join(bodies).split("\n") == [f"line {number} of many" for number in range(30)]
    titles = office.told("discord")
    assert titles == [f"long ({part}/{len(titles)})" for part in range(1, len(titles) + 1)]


def test_the_pause_of_a_service_is_kept(open_office: Open) -> None:
    """One a second, as the service wants it; what is left over when time is up waits for the next delivery."""
    office = open_office(alert=("discord",))
    office.channels["discord"].limits = Limits(body=1_900, pause=timedelta(seconds=1))
    for number in range(8):
        office.put(f"{number}")
    office.deliver(5)
    assert office.clock.waits == [timedelta(seconds=1)] * (len(office.told("discord")) - 1)
    assert len(office.told("discord")) == 5
    office.tick()
    assert office.told("discord") == [f"{number}" for number in range(8)]


def test_delivery_keeps_to_its_time(open_office: Open) -> None:
    """Channels that hang take no longer than what they are given."""
    office = open_office(alert=("discord", "mail", "chat"))
    for channel in office.channels.values():
        channel.takes, channel.standing = timedelta(hours=1), UNSURE
    office.put("a", NoticeKind.ESCALATED)
    before = office.clock.monotonic()
    office.deliver(6)
    assert office.clock.monotonic() - before <= timedelta(seconds=8)


def test_a_week_offline_loses_nothing_and_sums_up_what_is_over(open_office: Open) -> None:
    """A hundred old notices come as one word for all that is over, and the last word of what is not, in order."""
    office = open_office(made=("discord",), alert=("discord", "mail"), desktop=True)
    for name in ("discord", "mail"):
        office.channels[name].standing = LATER
    for number in range(1, 46):
        office.put(f"incident {number} opened", NoticeKind.OPENED, incident=number)
        office.tick(4, minutes=25)
        office.put(f"incident {number} over", NoticeKind.RESOLVED, incident=number)
        office.tick(4, minutes=25)
    office.put("the disk is full", NoticeKind.OPENED, incident=99)
    office.put("made", NoticeKind.MADE)
    office.tick(3, minutes=20)
    office.put("the disk is still full", NoticeKind.REMINDER, incident=99)
    office.tick(9, minutes=20)
    for name in ("discord", "mail"):
        office.channels[name].standing = None
    office.tick(8)
    first, *rest = office.channels["discord"].taken
    assert first.title == "92 notices from 2026-05-04 12:00 to 2026-05-10 18:00"
    assert first.body.count("over: ") == 40
    assert first.body.endswith("… and 7 more; lamplighter runs list shows all")
    assert [message.title for message in rest] == ["the disk is still full"]
    assert office.told("mail") == []
    assert (office.box.waiting(), office.table.pending()) == ((), ())


def test_more_than_a_week_is_let_go(open_office: Open) -> None:
    """What nobody took for eight days is written off as such, and the outbox does not grow for ever."""
    office = open_office(alert=("discord",))
    office.channels["discord"].standing = LATER
    office.put("a")
    for _ in range(9 * 24):
        office.clock.advance(timedelta(hours=1))
        office.deliver()
    assert office.states(1) == {"discord": RowState.EXPIRED.value}
    assert office.box.waiting() == ()


def test_a_channel_that_is_no_more_is_forgotten(open_office: Open) -> None:
    """A notice for a channel that left the settings is told by one that is there."""
    office = open_office(alert=("discord",))
    office.channels["discord"].standing = LATER
    office.put("a")
    office.deliver()
    again = open_office(clock=office.clock, alert=("mail",))
    again.deliver()
    assert again.states(1) == {"discord": RowState.EXPIRED.value, "mail": "sent"}


def test_a_test_goes_the_real_way_whatever_is_known(open_office: Open) -> None:
    """A dead channel is tried by hand, and lives again when it takes the test."""
    office = open_office(alert=("discord",))
    office.channels["discord"].will(DEAD)
    office.put("a")
    office.deliver()
    sent = office.delivery().test("discord", title="test", body="hello")
    assert (sent.result, office.told("discord")) == (Result.SENT, ["test"])
    office.deliver()
    assert office.told("discord") == ["test", "a"]


def test_a_clock_set_back_holds_no_channel_up(open_office: Open) -> None:
    """A next try that lies years ahead is no next try."""
    office = open_office(alert=("discord",))
    office.channels["discord"].will(LATER)
    office.put("a")
    office.deliver()
    office.clock.jump(START - timedelta(days=400))
    office.deliver()
    assert office.told("discord") == ["a"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE notice SET kind = 'odd' WHERE number = 1",
        "UPDATE notice SET pictures = '{' WHERE number = 1",
        "UPDATE notice SET written_at = 'soon' WHERE number = 1",
        "UPDATE notice SET severity = 7 WHERE number = 1",
        "INSERT INTO delivery (account, notice, channel, state) VALUES ('main', 1, 'discord', 'odd')",
        "INSERT INTO delivery (account, notice, channel, state, next_at) VALUES ('main', 1, 'discord', 'sent', 1e300)",
        "INSERT INTO delivery (account, notice, channel, state) VALUES ('main', 99, 'discord', 'waiting')",
        "INSERT INTO channel (account, name, mark, next_at) VALUES ('main', 'discord', 'one', 'soon')",
        "INSERT INTO channel (account, name, mark, dead_since) VALUES ('main', 'discord', 'one', 1e300)",
    ],
)
def test_rows_that_nobody_wrote_keep_no_other_from_being_told(open_office: Open, statement: str) -> None:
    """A damaged row is told by nobody; the next one is."""
    office = open_office(alert=("discord",))
    office.put("damaged")
    office.put("good")
    office.database.change(statement)
    office.deliver()
    office.tick()
    assert office.told("discord")[-1] == "good"
    office.clock.advance(timedelta(days=9))
    office.deliver()


def test_what_is_routed_to_nobody_is_settled_at_once(open_office: Open) -> None:
    """Success that nobody wants to hear of does not wait for anybody."""
    office = open_office(alert=("discord",), made=(), posted=())
    office.put("made", NoticeKind.MADE)
    office.deliver()
    assert (office.told("discord"), office.box.waiting()) == ([], ())
