"""Channels and heartbeats, in each of their states."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamplighter.doctor.finding import State
from lamplighter.doctor.notices import judge_channels, judge_heartbeats
from lamplighter.errors import ConfigError
from lamplighter.notify.delivery_table import ChannelState
from lamplighter.notify.heartbeat import VERDICT, WATCH, Beat
from lamplighter.notify.secret import mark_of
from lamplighter.notify.settings import ChannelSettings, HeartbeatSettings, NotifySettings

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
AGO = NOW - timedelta(hours=3)
ADDRESS = "ntfy://x"
SETTINGS = NotifySettings(folder=Path("/"), channels=(ChannelSettings(name="phone", source="env:PHONE"),))
SENT = ChannelState(
    name="phone",
    mark=mark_of(ADDRESS),
    failures=0,
    failing_since=None,
    next_at=None,
    dead_since=None,
    sent_at=AGO,
    why="",
)


def read_address(_: str, source: str) -> str:
    """Return what a variable holds; one that is not set raises."""
    if source == "env:GONE":
        raise ConfigError("channel", "the variable GONE is not set", "set it")
    return ADDRESS


@pytest.mark.parametrize(
    ("state", "expected", "words"),
    [
        (SENT, State.OK, "last delivered 3 hours ago"),
        (None, State.UNKNOWN, "lamplighter notify test phone tries it"),
        (replace(SENT, sent_at=None), State.UNKNOWN, "nothing was delivered by it yet"),
        (replace(SENT, mark="another"), State.UNKNOWN, "nothing was delivered by this address yet"),
        (replace(SENT, dead_since=AGO, why="404"), State.WRONG, "dead since 3 hours ago: 404; make a new address"),
        (replace(SENT, failures=2, failing_since=AGO, why="500"), State.WRONG, "failing since 3 hours ago: 500"),
    ],
)
def test_a_channel_is_ok_only_when_something_arrived(state: ChannelState | None, expected: State, words: str) -> None:
    """By the address it has now."""
    (found,) = judge_channels(SETTINGS, {"phone": state} if state else {}, read_address, NOW)
    assert (found.state, words in found.line) == (expected, True), found.line


def test_a_channel_without_its_address_is_wrong() -> None:
    """As the settings' own error says."""
    gone = replace(SETTINGS, channels=(ChannelSettings(name="phone", source="env:GONE"),))
    (found,) = judge_channels(gone, {"phone": SENT}, read_address, NOW)
    assert found.line == "wrong: the variable GONE is not set; set it"


def test_no_channel_is_ok_with_a_hint() -> None:
    """It is a choice, and a person may not know that there is one."""
    (found,) = judge_channels(NotifySettings(folder=Path("/")), {}, read_address, NOW)
    assert (found.state, "[notify.channels]" in found.words) == (State.OK, True)


@pytest.mark.parametrize(
    ("name", "beat", "expected", "words"),
    [
        (WATCH, Beat(tried_at=NOW - timedelta(minutes=4)), State.OK, "last pinged 4 minutes ago, and it answered"),
        (WATCH, Beat(), State.UNKNOWN, "it was not pinged yet"),
        (WATCH, Beat(tried_at=AGO), State.WRONG, "every five minutes"),
        (WATCH, Beat(tried_at=NOW, misses=3, why="it answered 404"), State.WRONG, "3 in a row did not arrive"),
        (VERDICT, Beat(tried_at=AGO), State.OK, "last pinged 3 hours ago"),
        (VERDICT, Beat(tried_at=NOW - timedelta(days=3)), State.WRONG, "last pinged 3 days ago"),
    ],
)
def test_a_heartbeat_is_ok_only_when_it_was_answered(name: str, beat: Beat, expected: State, words: str) -> None:
    """And not too long ago; the other one is not configured, which is ok."""
    settings = HeartbeatSettings(
        folder=Path("/"), watch="env:URL" if name == WATCH else "", verdict="env:URL" if name == VERDICT else ""
    )
    found = {one.about: one for one in judge_heartbeats(settings, {name: beat}, read_address, NOW)}
    mine = found.pop(f"heartbeat {name}")
    assert (mine.state, words in mine.line) == (expected, True), mine.line
    assert [one.state for one in found.values()] == [State.OK]


def test_a_heartbeat_without_its_address_is_wrong() -> None:
    """It would ping nobody."""
    settings = HeartbeatSettings(folder=Path("/"), watch="env:GONE")
    found = next(iter(judge_heartbeats(settings, {}, read_address, NOW)))
    assert found.line == "wrong: the variable GONE is not set; set it"
