"""Who is told: channels that a person reads, and an outside watcher that alarms when a ping stays away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from lamplighter.errors import UpstreamError
from lamplighter.host.network import Request, Response
from lamplighter.notify.channel import Message, Result, Sent
from lamplighter.notify.limits import Limits

_LIMITS = Limits(body=2_000, pause=timedelta())


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message that reached a person: when it truly was, by which channel, and all of its text."""

    at: datetime
    channel: str
    text: str


@dataclass(slots=True, kw_only=True)
class Ears:
    """Implements notify.delivery.Channels: discord and mail; `true_now` is no clock that may be set."""

    true_now: Callable[[], datetime]
    is_dead: Callable[[str], bool]
    heard: list[Heard] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the channels."""
        return ("discord", "mail")

    def mark(self, name: str) -> str:
        """Return by what a channel is known again."""
        return name

    def open(self, name: str) -> Ear:
        """Return a channel."""
        return Ear(name=name, ears=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ear:
    """Implements notify.channel.Channel."""

    name: str
    ears: Ears

    @property
    def limits(self) -> Limits:
        """Return what it takes at a time."""
        return _LIMITS

    @property
    def mark(self) -> str:
        """Return by what it is known again."""
        return self.name

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Let the person hear, or say that there is nobody."""
        del limit
        if self.ears.is_dead(self.name):
            return Sent(result=Result.DEAD, why="the service answered 404")
        text = f"{message.title}\n{message.body}"
        self.ears.heard.append(Heard(at=self.ears.true_now(), channel=self.name, text=text))
        return Sent(result=Result.SENT)


@dataclass(slots=True, kw_only=True)
class OutsideWatcher:
    """Takes pings as Healthchecks does; implements host.http.Http for the one who pings."""

    true_now: Callable[[], datetime]
    is_reachable: Callable[[], bool]
    good: list[datetime] = field(default_factory=list)
    bad: list[datetime] = field(default_factory=list)

    def get(self, request: Request) -> Response:
        """Take a ping."""
        if not self.is_reachable():
            raise UpstreamError("outside", "no network")
        if "verdict" in request.url:
            (self.bad if request.url.endswith("/fail") else self.good).append(self.true_now())
        return Response(url=request.url, status=200, headers=(), body=b"OK")

    def alarms(self, times: Mapping[date, datetime], *, patience: timedelta) -> dict[date, datetime]:
        """Return when it alarms for each day whose ping was to come at a time: at a /fail, or when none came."""
        found = {}
        for day, at in times.items():
            end = at + patience
            failed = min((ping for ping in self.bad if at <= ping < end), default=None)
            good = min((ping for ping in self.good if at <= ping < end), default=None)
            if failed is not None and (good is None or failed < good):
                found[day] = failed
            elif good is None:
                found[day] = end
        return found
