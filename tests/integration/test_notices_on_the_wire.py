"""A Discord that answers 429, 500, nothing and 404: nothing is lost, others take over, and its address is nowhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.inbox import DISCORD, TELEGRAM, Inbox, Reply

from lamplighter.host.database import Database, open_database
from lamplighter.notify import delivery_table, outbox
from lamplighter.notify.apprise_channel import open_channel
from lamplighter.notify.channel import Channel
from lamplighter.notify.delivery import Delivery, DeliveryReport
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox
from lamplighter.notify.secret import mark_of
from lamplighter.notify.settings import ChannelSettings, NotifySettings

ADDRESSES = {"discord": DISCORD, "telegram": TELEGRAM}
_ACCOUNT = "main"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Return the services."""
    with Inbox() as opened:
        yield opened


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", (*outbox.MIGRATIONS, *delivery_table.MIGRATIONS)) as opened:
        yield opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """Channels of real Apprise addresses, led to the inbox."""

    inbox: Inbox
    clock: VirtualClock
    names: tuple[str, ...] = ("discord", "telegram")

    def mark(self, name: str) -> str:
        """Return a mark, as Channels promises."""
        return mark_of(ADDRESSES[name])

    def open(self, name: str) -> Channel:
        """Return a channel, as Channels promises."""
        return open_channel(ADDRESSES[name], self.inbox.wire(self.clock))


def deliver(database: Database, inbox: Inbox, clock: VirtualClock, *, after: timedelta = timedelta()) -> DeliveryReport:
    """Deliver once, some time later."""
    clock.advance(after)
    settings = NotifySettings(
        folder=Path("/workspace"),
        channels=tuple(ChannelSettings(name=name, source=f"env:{name}") for name in ADDRESSES),
        made=("discord",),
        posted=("discord",),
        alert=("discord", "telegram"),
    )
    delivery = Delivery(
        database, clock, _ACCOUNT,
        channels=Real(inbox=inbox, clock=clock), settings=settings, zone=ZoneInfo("UTC"), jitter=lambda: 0.5,
    )  # fmt: skip
    return delivery.deliver(until=timedelta(seconds=30))


def put(database: Database, clock: VirtualClock, *keys: str, kind: NoticeKind = NoticeKind.OPENED) -> None:
    """Write notices."""
    for key in keys:
        Outbox(database, clock, _ACCOUNT).put(Notice(dedup_key=key, kind=kind, subject=key, body="why: x"))


def titles(inbox: Inbox, service: str) -> list[str]:
    """Return the first lines of what a service took."""
    return [text.splitlines()[0] for text in inbox.got(service)]


def test_a_discord_that_fails_in_every_way_loses_nothing(
    inbox: Inbox, database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each alert is with somebody in the end, in order, by the other channel while this one is dead."""
    caplog.set_level(logging.DEBUG)
    clock = VirtualClock()
    inbox.will("discord", Reply(status=429, headers={"Retry-After": "90"}), Reply(status=500), Reply(drop=True))
    put(database, clock, "a", "b", "c")
    deliver(database, inbox, clock)
    deliver(database, inbox, clock, after=timedelta(seconds=60))
    assert len(inbox.asked) == 1
    deliver(database, inbox, clock, after=timedelta(seconds=40))
    deliver(database, inbox, clock, after=timedelta(minutes=2))
    deliver(database, inbox, clock, after=timedelta(minutes=3))
    assert titles(inbox, "discord") == ["a (may be a repeat)", "b", "c"]
    inbox.always("discord", Reply(status=404))
    put(database, clock, "d", "e")
    report = deliver(database, inbox, clock)
    assert titles(inbox, "telegram") == ["d", "e"]
    assert [dead.name for dead in report.dead] == ["discord"]
    assert (report.waiting, Outbox(database, clock, _ACCOUNT).waiting()) == (0, ())
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"secret" not in written
    assert "secret" not in caplog.text + repr(report)


def test_a_discord_that_fails_for_long_is_taken_over_from(inbox: Inbox, database: Database) -> None:
    """500 for a quarter of an hour: the other channel tells it, once."""
    clock = VirtualClock()
    inbox.always("discord", Reply(status=500))
    put(database, clock, "a")
    for _ in range(5):
        deliver(database, inbox, clock, after=timedelta(minutes=5))
    inbox.always("discord", None)
    for _ in range(12):
        deliver(database, inbox, clock, after=timedelta(minutes=5))
    assert (titles(inbox, "telegram"), titles(inbox, "discord")) == (["a"], [])


def test_a_long_notice_arrives_in_parts_that_each_service_takes(inbox: Inbox, database: Database) -> None:
    """Nothing of it is lost on the way."""
    clock = VirtualClock()
    lines = [f"{number}: <皿> & @everyone _x_" for number in range(300)]
    Outbox(database, clock, _ACCOUNT).put(
        Notice(dedup_key="long", kind=NoticeKind.ESCALATED, subject="long", body="\n".join(lines))
    )
    deliver(database, inbox, clock)
    for service in ("discord", "telegram"):
        texts = [text.replace("\r\n", "\n").partition("\n")[2] for text in inbox.got(service)]
        assert "\n".join(texts).replace("\u2060", "").split("\n") == lines
        assert "@everyone" not in "".join(texts)
