"""What a workspace tells after a tick and after a run: the outside watcher, the channels, and whether these work."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.desk import Desk
from tests.simulators.inbox import Inbox, Reply

from lamplighter.app.notify import (
    ConfiguredChannels,
    beat,
    build_delivery,
    find_day,
    list_expected,
    tell_after_run,
    tell_after_tick,
)
from lamplighter.app.place import Workspace
from lamplighter.config.settings import Settings, read_settings
from lamplighter.engine.expectation import Probe, ProbeFacts, Standing, Verdict
from lamplighter.engine.watch import TickReport, blind_report
from lamplighter.host.desktop import Notifier
from lamplighter.notify.channel import BrokenChannel
from lamplighter.notify.desktop_channel import DesktopChannel
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox, Severity
from lamplighter.notify.settings import ChannelSettings, NotifySettings

EVENING = datetime(2026, 5, 4, 20, 0, tzinfo=UTC)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Return the services."""
    with Inbox() as opened:
        yield opened


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace."""
    return Desk.in_workspace(tmp_path / "w", VirtualClock(EVENING))


def configure(desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, text: str = "") -> Settings:
    """Write channels and heartbeats into the settings, and return them."""
    monkeypatch.setenv("PHONE", inbox.ntfy)
    monkeypatch.setenv("TEAM", inbox.json)
    monkeypatch.setenv("PING", inbox.ping)
    monkeypatch.setenv("PATH", "/nowhere")
    (desk.folder / "lamplighter.toml").write_text(
        f'zone = "UTC"\n[network]\nallowed_hosts = ["{inbox.host}"]\n'
        '[notify]\nchannels = { phone = "env:PHONE", team = "env:TEAM" }\n'
        f'[heartbeat]\nwatch = "env:PING"\nverdict = "env:PING"\n{text}'
    )
    return read_settings(desk.folder)


def workspace_of(desk: Desk) -> Workspace:
    """Return the workspace as a command has it."""
    return Workspace(folder=desk.folder, clock=desk.clock, say=desk.said.append)


def report(*verdicts: Verdict, at: datetime = EVENING) -> TickReport:
    """Return what a tick found."""
    return TickReport(at=at, verdicts=verdicts, incidents=())


def verdict(standing: Standing, *, critical: bool = True) -> Verdict:
    """Return a verdict on the day's post."""
    return Verdict(
        key="post_today", standing=standing, line="no post went out", why="the stock was empty", is_critical=critical
    )


def expected(settings: Settings, desk: Desk) -> list[tuple[Severity, ProbeFacts]]:
    """Return what is expected of the channels, and what was found."""
    found = []
    for entry in list_expected(settings, desk.database, desk.clock):
        facts = entry.read()
        assert isinstance(entry.rule, Probe)
        assert isinstance(facts, ProbeFacts)
        found.append((entry.rule.severity, facts))
    return found


def test_a_workspace_without_channels_expects_nothing_of_them(desk: Desk) -> None:
    """To be told nothing is a person's choice."""
    assert expected(read_settings(desk.folder), desk) == []


def test_a_dead_channel_is_an_expectation_that_fails(desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning while another takes over, critical when none is left, with what to type."""
    settings = configure(desk, inbox, monkeypatch)
    assert expected(settings, desk) == [(Severity.WARNING, ProbeFacts())]
    box = Outbox(desk.database, desk.clock, "main")
    inbox.always("ntfy", Reply(status=404))
    box.put(Notice(dedup_key="a", kind=NoticeKind.OPENED, subject="a", body="b"))
    build_delivery(settings, desk.database, desk.clock).deliver(until=timedelta(seconds=30))
    severity, facts = expected(settings, desk)[0]
    assert (severity, facts.trouble) == (Severity.WARNING, "notices do not arrive by phone")
    assert (facts.since, facts.why) == (EVENING, "phone: the service answered 404")
    assert facts.command == "lamplighter notify test phone"
    inbox.always("json", Reply(status=410))
    box.put(Notice(dedup_key="b", kind=NoticeKind.OPENED, subject="b", body="b"))
    build_delivery(settings, desk.database, desk.clock).deliver(until=timedelta(seconds=30))
    assert expected(settings, desk)[0][0] is Severity.CRITICAL


def test_a_channel_that_fails_for_an_hour_is_one_too(desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment of 500 is not worth a word."""
    settings = configure(desk, inbox, monkeypatch)
    inbox.always("ntfy", Reply(status=500))
    Outbox(desk.database, desk.clock, "main").put(Notice(dedup_key="a", kind=NoticeKind.MADE, subject="a", body="b"))
    build_delivery(settings, desk.database, desk.clock).deliver(until=timedelta(seconds=30))
    assert expected(settings, desk)[0][1] == ProbeFacts()
    desk.clock.advance(timedelta(hours=2))
    assert expected(settings, desk)[0][1].trouble == "notices do not arrive by phone"


def test_notices_that_nobody_delivers_are_trouble(desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps delivery from running."""
    settings = configure(desk, inbox, monkeypatch)
    Outbox(desk.database, desk.clock, "main").put(Notice(dedup_key="a", kind=NoticeKind.OPENED, subject="a", body="b"))
    assert expected(settings, desk)[0][1] == ProbeFacts()
    desk.clock.advance(timedelta(hours=2))
    assert expected(settings, desk)[0][1].trouble == "notices that nobody delivers: 1"
    build_delivery(settings, desk.database, desk.clock).deliver(until=timedelta(seconds=30))
    assert expected(settings, desk)[0][1] == ProbeFacts()


@pytest.mark.parametrize(
    ("verdicts", "trouble", "is_open"),
    [
        ((), "", False),
        ((verdict(Standing.OK),), "", False),
        ((verdict(Standing.LATE),), "", True),
        ((verdict(Standing.FAILING),), "no post went out: the stock was empty", False),
        ((verdict(Standing.UNKNOWN),), "no post went out: the stock was empty", False),
        ((verdict(Standing.FAILING, critical=False),), "", False),
    ],
)
def test_the_day_is_judged_by_what_is_critical(
    desk: Desk, verdicts: tuple[Verdict, ...], trouble: str, is_open: bool
) -> None:
    """Late may still come; what nobody can tell is no good word either."""
    day = find_day(read_settings(desk.folder), EVENING, report(*verdicts))
    assert (day.name, day.trouble, day.is_open) == ("2026-05-04", trouble, is_open)


@pytest.mark.parametrize(
    ("text", "due"),
    [("", time(19, 45)), ('[post]\nat = "08:10"', time(8, 25)), ('[post]\nat = ""', time(20, 15))],
)
def test_the_day_is_due_a_grace_after_its_post(desk: Desk, text: str, due: time) -> None:
    """Without a time for the post, in the evening."""
    (desk.folder / "lamplighter.toml").write_text(f'zone = "UTC"\n{text}')
    day = find_day(read_settings(desk.folder), EVENING, report())
    assert day.due_at == datetime.combine(EVENING.date(), due, UTC)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_day_is_the_local_one(desk: Desk, zone: str) -> None:
    """Its name and its time, wherever."""
    (desk.folder / "lamplighter.toml").write_text(f'zone = "{zone}"')
    settings = read_settings(desk.folder)
    for hours in range(0, 48, 3):
        now = EVENING + timedelta(hours=hours)
        day = find_day(settings, now, report())
        local = day.due_at.astimezone(settings.post.zone)
        assert (day.name, f"{local:%Y-%m-%d %H:%M}") == (
            f"{now.astimezone(settings.post.zone):%Y-%m-%d}",
            f"{day.name} 19:45",
        )


def test_both_heartbeats_are_pinged_as_the_day_goes(desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watcher's always, the verdict's by what is there."""
    settings = configure(desk, inbox, monkeypatch)
    beat(settings, desk.database, desk.clock, report(verdict(Standing.FAILING)))
    desk.clock.advance(timedelta(minutes=5))
    beat(settings, desk.database, desk.clock, report(verdict(Standing.OK)))
    paths = [letter.path.removeprefix("/ping/1f3c-secret-check-uuid") for letter in inbox.taken]
    assert paths == ["", "/fail", "", ""]


def test_a_tick_that_could_not_look_is_no_sign_of_life(
    desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watcher's ping stays away, and the day is not called good."""
    settings = configure(desk, inbox, monkeypatch)
    beat(settings, desk.database, desk.clock, blind_report(EVENING, OSError("no disk")))
    assert [letter.path.rpartition("/")[2] for letter in inbox.taken] == ["fail"]


def test_nobody_is_pinged_where_nobody_is_named(desk: Desk, inbox: Inbox) -> None:
    """No network at all."""
    beat(read_settings(desk.folder), desk.database, desk.clock, report())
    assert inbox.asked == []


def test_a_tick_tells_what_is_new_and_what_waits(desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeat, success and alerts, in one go; the next tick tells nothing again."""
    configure(desk, inbox, monkeypatch)
    tell_after_tick(workspace_of(desk), report())
    desk.put()
    Outbox(desk.database, desk.clock, "main").put(Notice(dedup_key="a", kind=NoticeKind.OPENED, subject="oh", body="b"))
    for _ in range(2):
        desk.clock.advance(timedelta(minutes=5))
        tell_after_tick(workspace_of(desk), report())
    assert [text.splitlines()[0] for text in inbox.got("ntfy")] == ["oh", "🆕 Quiet things, stock 1/3"]


def test_what_goes_wrong_in_telling_is_nothing_to_a_tick_or_run(
    desk: Desk, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken settings, a full table of nonsense: both have their word elsewhere."""
    configure(desk, inbox, monkeypatch)
    desk.database.change("INSERT INTO channel (account, name, mark, next_at) VALUES ('main', 'phone', 'x', 'soon')")
    tell_after_tick(workspace_of(desk), report())
    tell_after_run(workspace_of(desk))
    (desk.folder / "lamplighter.toml").write_text("[")
    tell_after_tick(workspace_of(desk), report())
    tell_after_run(workspace_of(desk))


def test_channels_are_opened_by_their_names(desk: Desk) -> None:
    """The desktop where there is one; what cannot be read is a channel that says so."""
    settings = NotifySettings(folder=desk.folder, channels=(ChannelSettings(name="team", source="env:TEAM"),))
    notifier = Notifier(argv=("notify-send",), env={})
    with_desktop = ConfiguredChannels(settings=settings, clock=desk.clock, environment={}, notifier=notifier)
    assert with_desktop.names == ("team", "desktop")
    assert isinstance(with_desktop.open("desktop"), DesktopChannel)
    assert with_desktop.mark("desktop") == "desktop"
    channels = ConfiguredChannels(settings=settings, clock=desk.clock, environment={})
    assert (channels.names, channels.mark("team")) == (("team",), "broken")
    for name, words in (("team", "TEAM is not set"), ("gone", "not in [notify.channels]")):
        channel = channels.open(name)
        assert isinstance(channel, BrokenChannel)
        assert words in channel.why
    set_up = ConfiguredChannels(settings=settings, clock=desk.clock, environment={"TEAM": "json://x.example/1"})
    assert set_up.mark("team") == set_up.open("team").mark
