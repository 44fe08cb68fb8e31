"""A delivery with everything around it: a real database, a virtual clock, and channels that answer as told.

office = PostOffice.open(tmp_path, alert=("discord", "mail"))
office.put("a")                          # a notice in the outbox
office.channels["discord"].will(Sent(result=Result.DEAD, why="404"))
office.deliver()
office.told("mail")                      # the titles a channel took, in order
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

from tests.simulators.clock import VirtualClock

from lamplighter.host.database import Database, open_database
from lamplighter.notify import delivery_table, outbox
from lamplighter.notify.channel import Channel, Message, Result, Sent
from lamplighter.notify.delivery import Delivery, DeliveryReport
from lamplighter.notify.delivery_table import DeliveryTable
from lamplighter.notify.limits import Limits
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox, Severity
from lamplighter.notify.routing import DESKTOP
from lamplighter.notify.settings import ChannelSettings, NotifySettings

TABLES = (*outbox.MIGRATIONS, *delivery_table.MIGRATIONS)
LATER = Sent(result=Result.LATER, why="the service answered 500")
DEAD = Sent(result=Result.DEAD, why="the service answered 404")
UNSURE = Sent(result=Result.UNSURE, why="no answer within 15 s")
REFUSED = Sent(result=Result.REFUSED, why="the service answered 400")


@dataclass(slots=True, kw_only=True)
class FakeChannel:
    """A channel that answers as told and else takes everything; `seen` is what it was asked to take."""

    clock: VirtualClock
    limits: Limits = field(default_factory=lambda: Limits(body=1_900, pause=timedelta()))
    mark: str = "one"
    script: deque[Sent] = field(default_factory=deque)
    standing: Sent | None = None
    seen: list[Message] = field(default_factory=list)
    taken: list[Message] = field(default_factory=list)
    takes: timedelta = timedelta()

    def will(self, *sent: Sent) -> None:
        """Answer the next messages like this."""
        self.script.extend(sent)

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Answer."""
        self.clock.advance(min(self.takes, limit))
        self.seen.append(message)
        answer = self.script.popleft() if self.script else self.standing
        if answer is None or answer.result is Result.SENT:
            self.taken.append(message)
        return answer or Sent(result=Result.SENT)


@dataclass(slots=True, kw_only=True)
class PostOffice:
    """One account's outbox and channels."""

    database: Database
    clock: VirtualClock
    settings: NotifySettings
    channels: dict[str, FakeChannel]
    opened: list[str] = field(default_factory=list)

    @classmethod
    def open(
        cls, folder: Path, clock: VirtualClock | None = None, *, desktop: bool = False, **routes: tuple[str, ...]
    ) -> Self:
        """Open what is in a folder, with channels for all that the routes name."""
        clock = clock or VirtualClock()
        names = tuple(dict.fromkeys(name for route in routes.values() for name in route))
        settings = NotifySettings(
            folder=folder,
            channels=tuple(ChannelSettings(name=name, source=f"env:{name.upper()}") for name in names),
            made=routes.get("made", names[:1]),
            posted=routes.get("posted", names[:1]),
            alert=routes.get("alert", names),
        )
        channels = {name: FakeChannel(clock=clock) for name in (*names, *((DESKTOP,) if desktop else ()))}
        return cls(
            database=open_database(folder / "lamplighter.db", TABLES), clock=clock, settings=settings, channels=channels
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the channels' names, as Channels promises."""
        return tuple(self.channels)

    def mark(self, name: str) -> str:
        """Return a channel's mark, as Channels promises."""
        return self.channels[name].mark

    def open_channel(self, name: str) -> Channel:
        """Return a channel."""
        self.opened.append(name)
        return self.channels[name]

    @property
    def box(self) -> Outbox:
        """Return the outbox."""
        return Outbox(self.database, self.clock, "main")

    @property
    def table(self) -> DeliveryTable:
        """Return what became of notices."""
        return DeliveryTable(self.database, "main")

    def put(
        self,
        key: str,
        kind: NoticeKind = NoticeKind.OPENED,
        *,
        incident: int = 0,
        body: str = "why: who knows",
        pictures: tuple[str, ...] = (),
    ) -> None:
        """Write a notice whose title is its key."""
        notice = Notice(
            dedup_key=key,
            kind=kind,
            subject=key,
            body=body,
            incident=incident,
            severity=Severity.WARNING,
            pictures=pictures,
        )
        self.box.put(notice)

    def delivery(self) -> Delivery:
        """Return what delivers, as another process has it."""
        return Delivery(
            self.database,
            self.clock,
            "main",
            channels=_Opener(office=self),
            settings=self.settings,
            zone=ZoneInfo("UTC"),
            jitter=lambda: 0.5,
        )

    def deliver(self, seconds: float = 30) -> DeliveryReport:
        """Deliver once."""
        return self.delivery().deliver(until=timedelta(seconds=seconds))

    def tick(self, times: int = 1, *, minutes: int = 5) -> None:
        """Deliver every five minutes, or so many."""
        for _ in range(times):
            self.clock.advance(timedelta(minutes=minutes))
            self.deliver()

    def told(self, name: str) -> list[str]:
        """Return the titles that a channel took, in order."""
        return [message.title for message in self.channels[name].taken]

    def states(self, number: int) -> dict[str, str]:
        """Return how far a notice has come on each channel."""
        return {row.channel: row.state.value for row in self.table.rows_of(number)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opener:
    office: PostOffice

    @property
    def names(self) -> tuple[str, ...]:
        return self.office.names

    def mark(self, name: str) -> str:
        return self.office.mark(name)

    def open(self, name: str) -> Channel:
        return self.office.open_channel(name)
