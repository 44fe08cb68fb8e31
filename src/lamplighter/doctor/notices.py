"""Who is told: channels and heartbeats, configured, last answered, dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from lamplighter.doctor.finding import Finding, good, say_age, unknown, wrong
from lamplighter.errors import ConfigError
from lamplighter.notify.delivery_table import ChannelState
from lamplighter.notify.heartbeat import VERDICT, WATCH, Beat
from lamplighter.notify.secret import mark_of
from lamplighter.notify.settings import HeartbeatSettings, NotifySettings

_QUIET = {WATCH: timedelta(minutes=15), VERDICT: timedelta(hours=48)}
_EVERY = {WATCH: "at each look", VERDICT: "once a day"}


def judge_channels(
    settings: NotifySettings,
    states: Mapping[str, ChannelState],
    read_address: Callable[[str, str], str],
    now: datetime,
) -> Iterator[Finding]:
    """Yield how each channel stands; `read_address` takes its name and where its address is kept."""
    if not settings.channels:
        yield good("channels", "none: only ALERT.txt and this program tell you; write one into [notify.channels]")
    for channel in settings.channels:
        about = f"channel {channel.name}"
        try:
            mark = mark_of(read_address(channel.name, channel.source))
        except ConfigError as error:
            yield wrong(about, error.cause, error.remedy)
            continue
        state = states.get(channel.name)
        yield _judge_channel(about, channel.name, state if state and state.mark == mark else None, now)


def _judge_channel(about: str, name: str, state: ChannelState | None, now: datetime) -> Finding:
    proof = f"lamplighter notify test {name}"
    if state is None:
        return unknown(about, f"nothing was delivered by this address yet: {proof} tries it")
    if state.dead_since is not None:
        remedy = f"make a new address with the service, then {proof}"
        return wrong(about, f"dead since {_ago(state.dead_since, now)}: {state.why}", remedy)
    last = f"last delivered {_ago(state.sent_at, now)}" if state.sent_at else "nothing delivered yet"
    if state.failures or state.failing_since is not None:
        since = f" since {_ago(state.failing_since, now)}" if state.failing_since else ""
        return wrong(about, f"failing{since}: {state.why}; {last}", proof)
    if state.sent_at is None:
        return unknown(about, f"nothing was delivered by it yet: {proof} tries it")
    return good(about, last)


def judge_heartbeats(
    settings: HeartbeatSettings,
    beats: Mapping[str, Beat],
    read_address: Callable[[str, str], str],
    now: datetime,
) -> Iterator[Finding]:
    """Yield how each outside watcher stands: one that is not configured is ok, with a hint."""
    for name, source in ((WATCH, settings.watch), (VERDICT, settings.verdict)):
        about = f"heartbeat {name}"
        if not source:
            yield good(about, f"not configured: heartbeat.{name} lets an outside watcher notice that all is silent")
            continue
        try:
            read_address(f"heartbeat.{name}", source)
        except ConfigError as error:
            yield wrong(about, error.cause, error.remedy)
            continue
        yield _judge_beat(about, name, beats.get(name, Beat()), now)


def _judge_beat(about: str, name: str, beat: Beat, now: datetime) -> Finding:
    if beat.tried_at is None:
        return unknown(about, f"it was not pinged yet: {_EVERY[name]} of lamplighter watch it is")
    last = f"last pinged {_ago(beat.tried_at, now)}"
    if beat.misses:
        return wrong(
            about, f"{beat.misses} in a row did not arrive: {beat.why}; {last}", "see that its address is right"
        )
    if now - beat.tried_at > _QUIET[name]:
        return wrong(about, last, "see that lamplighter watch is started every five minutes")
    return good(about, f"{last}, and it answered")


def _ago(at: datetime, now: datetime) -> str:
    return say_age(now - at)
