"""Telling people: what succeeded, what is wrong, and an outside watcher that we look at all."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from lamplighter.app.announcing import announce
from lamplighter.app.cadence import list_cadences
from lamplighter.app.opening import MIGRATIONS, assemble
from lamplighter.app.place import Workspace, refuse_other_user
from lamplighter.app.running import opening_to_write
from lamplighter.config.settings import Settings, read_settings
from lamplighter.engine.expectation import Facts, Probe, ProbeFacts, Standing
from lamplighter.engine.watch import TROUBLES, Expected, TickReport
from lamplighter.errors import ConfigError, InputError, LamplighterError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.host.desktop import Notifier, find_notifier
from lamplighter.notify import heartbeat
from lamplighter.notify.channel import BrokenChannel, Channel, Result, Sent
from lamplighter.notify.delivery import Delivery
from lamplighter.notify.delivery_table import ChannelState, DeliveryTable
from lamplighter.notify.heartbeat import Day, Heartbeat
from lamplighter.notify.outbox import Severity
from lamplighter.notify.routing import DESKTOP
from lamplighter.notify.secret import mark_of, read_secret
from lamplighter.notify.settings import NotifySettings
from lamplighter.notify.wording import say
from lamplighter.publish import post
from lamplighter.schedule.cadence import slots_between

AT_TICK = timedelta(seconds=30)
AFTER_RUN = timedelta(seconds=6)
_FAILING_LONG = timedelta(hours=1)
_GRACE = timedelta(minutes=15)
_POST = "post_today"
_BLIND = "watch"  # the one verdict of a tick that could not look at all
_EVENING = time(20, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTest:
    """What became of a test notice on one channel."""

    name: str
    sent: Sent
    is_broken: bool

    @property
    def is_ok(self) -> bool:
        """Return whether it arrived, as far as the service says."""
        return self.sent.result is Result.SENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredChannels:
    """The channels of the settings, and the desktop where there is one."""

    settings: NotifySettings
    clock: Clock
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    notifier: Notifier | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return their names."""
        own = tuple(channel.name for channel in self.settings.channels)
        return (*own, DESKTOP) if self.notifier is not None else own

    def mark(self, name: str) -> str:
        """Return by what a channel's address is known again."""
        if name == DESKTOP:
            return DESKTOP
        try:
            return mark_of(self._read(name))
        except LamplighterError:
            return "broken"

    def open(self, name: str) -> Channel:
        """Return a channel; Apprise is loaded here and nowhere before."""
        if name == DESKTOP and self.notifier is not None:
            from lamplighter.host.process import SystemRunner  # noqa: PLC0415 - only when something is shown
            from lamplighter.notify.desktop_channel import DesktopChannel  # noqa: PLC0415 - the same

            return DesktopChannel(notifier=self.notifier, runner=SystemRunner())
        try:
            address = self._read(name)
        except LamplighterError as error:
            return BrokenChannel(why=f"{error.cause}; {error.remedy}")
        from lamplighter.host.http import user_agent  # noqa: PLC0415 - only when something is sent
        from lamplighter.host.wire import Wire  # noqa: PLC0415 - the same
        from lamplighter.notify.apprise_channel import open_channel  # noqa: PLC0415 - the same

        hosts = self.settings.allowed_hosts
        wire = Wire(user_agent=user_agent(self.settings.contact), allowed_hosts=hosts, clock=self.clock)
        return open_channel(address, wire, allowed_hosts=hosts)

    def _read(self, name: str) -> str:
        channel = self.settings.channel(name)
        if channel is None:
            raise ConfigError(f"channel {name}", "it is not in [notify.channels]", "write it there")
        return read_secret(
            channel.source, about=f"channel {name}", folder=self.settings.folder, environment=self.environment
        )


def build_delivery(settings: Settings, database: Database, clock: Clock) -> Delivery:
    """Build what delivers the notices of a workspace."""
    notifier = find_notifier(os.environ) if settings.notify.desktop else None
    return Delivery(
        database,
        clock,
        settings.account,
        channels=ConfiguredChannels(settings=settings.notify, clock=clock, notifier=notifier),
        settings=settings.notify,
        zone=settings.post.zone,
        jitter=random.random,
    )


def tell_after_tick(workspace: Workspace, report: TickReport) -> None:
    """Ping the outside watcher, tell what succeeded, deliver what waits; what goes wrong changes nothing of the tick.

    A tick that could not look at all pings nobody: the outside watcher's alarm is what is left then.
    """
    with contextlib.suppress(*TROUBLES):
        settings = read_settings(workspace.folder)
        with opening_to_write(workspace, settings.state_dir, MIGRATIONS) as opened:
            database, clock = opened.database, workspace.clock
            with contextlib.suppress(*TROUBLES):
                beat(settings, database, clock, report)
            with contextlib.suppress(*TROUBLES):
                announce(assemble(settings, database, clock), database, clock)
            build_delivery(settings, database, clock).deliver(until=AT_TICK)


def tell_after_run(workspace: Workspace) -> None:
    """Tell what a run made or posted, for a few seconds at most; the outcome is told already and stays what it is."""
    with contextlib.suppress(*TROUBLES):
        settings = read_settings(workspace.folder)
        with opening_to_write(workspace, settings.state_dir, MIGRATIONS) as opened:
            parts = assemble(settings, opened.database, workspace.clock)
            announce(parts, opened.database, workspace.clock)
            build_delivery(settings, opened.database, workspace.clock).deliver(until=AFTER_RUN)


def try_channels(workspace: Workspace, name: str = "") -> Iterator[ChannelTest]:
    """Send a test notice by one channel or by each, and yield what became of it; raises InputError for none."""
    refuse_other_user(workspace.folder)
    settings = read_settings(workspace.folder)
    known = tuple(channel.name for channel in settings.notify.channels)
    if not known:
        raise InputError("notify", "there is no channel yet", "write one into [notify.channels] of lamplighter.toml")
    if name and name not in known:
        raise InputError(f"channel {name[:40]!r}", "there is none of that name", f"there are {', '.join(known)}")
    language = settings.notify.language
    with opening_to_write(workspace, settings.state_dir, MIGRATIONS) as opened:
        delivery = build_delivery(settings, opened.database, workspace.clock)
        channels = ConfiguredChannels(settings=settings.notify, clock=workspace.clock)
        for channel in (name,) if name else known:
            body = say("test body", language, place=settings.workspace_dir.name)
            sent = delivery.test(channel, title=say("test", language), body=body)
            is_broken = isinstance(channels.open(channel), BrokenChannel)
            yield ChannelTest(name=channel, sent=sent, is_broken=is_broken)


def list_expected(settings: Settings, database: Database, clock: Clock) -> Iterator[Expected]:
    """Yield what is expected of the channels: that alerts can be delivered."""
    if not settings.notify.channels:
        return
    table = DeliveryTable(database, settings.account)
    states = table.states()
    working = [name for name in settings.notify.alert if not _is_bad(states.get(name), clock.now())]
    severity = Severity.WARNING if working else Severity.CRITICAL

    def read() -> Facts:
        now = clock.now()
        names = [channel.name for channel in settings.notify.channels]
        bad = [state for name, state in table.states().items() if name in names and _is_bad(state, now)]
        stuck, since = table.stuck_since(before=now - _FAILING_LONG)
        if not bad and stuck:
            return ProbeFacts(
                trouble=f"notices that nobody delivers: {stuck}",
                since=since,
                why="no tick has brought them on their way, or their rows are damaged",
                command="lamplighter watch",
            )
        if not bad:
            return ProbeFacts()
        return ProbeFacts(
            trouble=f"notices do not arrive by {', '.join(state.name for state in bad)}",
            since=min(state.dead_since or state.failing_since or now for state in bad),
            why="; ".join(f"{state.name}: {state.why}" for state in bad),
            command=f"lamplighter notify test {bad[0].name}",
        )

    yield Expected(rule=Probe(key="alerts_deliverable", about="whether notices arrive", severity=severity), read=read)


def _is_bad(state: ChannelState | None, now: datetime) -> bool:
    if state is None:
        return False
    failing = state.failing_since is not None and now - state.failing_since > _FAILING_LONG
    return failing or state.dead_since is not None


def beat(settings: Settings, database: Database, clock: Clock, report: TickReport) -> None:
    """Ping whom the settings name, by what a tick found; at most ten seconds."""
    sources = {heartbeat.WATCH: settings.heartbeat.watch, heartbeat.VERDICT: settings.heartbeat.verdict}
    is_blind = {verdict.key for verdict in report.verdicts} == {_BLIND}
    names = tuple(name for name, source in sources.items() if source and not (is_blind and name == heartbeat.WATCH))
    if not names:
        return
    from lamplighter.host.http import Client  # noqa: PLC0415 - only where somebody is pinged

    def read_url(name: str) -> str:
        return read_secret(
            sources[name], about=f"heartbeat.{name}", folder=settings.heartbeat.folder, environment=os.environ
        )

    with Client(
        contact=settings.heartbeat.contact, allowed_hosts=settings.heartbeat.allowed_hosts, clock=clock
    ) as http:
        pings = Heartbeat(database, clock, settings.account, http=http, read_url=read_url)
        day = find_day(settings, clock.now(), report)
        pings.beat(names, day=day, text=_describe(report), words=settings.heartbeat.words)


def find_day(settings: Settings, now: datetime, report: TickReport) -> Day:
    """Return the local day as the outside watcher is told of it: due with the day's last post and its grace."""
    zone = settings.post.zone
    today: date = now.astimezone(zone).date()
    begin = datetime.combine(today, time(), zone)
    cadence = list_cadences(settings).get(post.JOB)
    found = slots_between(cadence, begin - _GRACE, now + timedelta(days=1)) if cadence else ()
    slots = [slot for slot in found if slot.day == today]
    due_at = slots[-1].due_at if slots else datetime.combine(today, _EVENING, zone)
    return Day(
        name=today.isoformat(),
        due_at=due_at + _GRACE,
        trouble="\n".join(f"{verdict.line}: {verdict.why}" for verdict in report.unmet),
        is_open=any(verdict.key == _POST and verdict.standing is Standing.LATE for verdict in report.verdicts),
    )


def _describe(report: TickReport) -> str:
    return "\n".join(f"{verdict.standing.value}: {verdict.line}" for verdict in report.verdicts)
