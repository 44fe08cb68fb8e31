"""People are told by the installed program: what is made, posted and wrong, by channels that are proved by hand."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.jobs import PROGRAM
from tests.acceptance.program import Ended, run
from tests.simulators.child import LIMIT_SECONDS, until
from tests.simulators.inbox import Inbox, Reply

from lamplighter.app.opening import MIGRATIONS
from lamplighter.config.basics import find_basics
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import Database, open_database
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Return the services."""
    with Inbox() as opened:
        yield opened


def configure(folder: Path, inbox: Inbox, **channels: str) -> Path:
    """Write channels into a workspace's settings, their addresses into private files, and return the folder."""
    folder.mkdir(exist_ok=True)
    file = folder / "lamplighter.toml"
    text = file.read_text("utf-8").replace("[network]\n", "").replace("[notify]\n", "") if file.exists() else ""
    lines = ["", "[network]", f'allowed_hosts = ["{inbox.host}"]', "[notify.channels]"]
    for name, address in channels.items():
        lines.append(
            f'{name} = "{address}"' if address.startswith(("env:", "file:")) else f'{name} = "file:{name}.url"'
        )
        (folder / f"{name}.url").write_text(address)
        (folder / f"{name}.url").chmod(0o600)
    file.write_text(text + "\n".join(lines) + "\n", "utf-8")
    return folder


@contextlib.contextmanager
def outbox_of(folder: Path) -> Iterator[tuple[Outbox, Database]]:
    """Lend a workspace's outbox."""
    (folder / "state").mkdir(mode=0o700, exist_ok=True)
    with open_database(folder / "state" / "lamplighter.db", MIGRATIONS) as database:
        yield Outbox(database, SystemClock(), find_basics(folder)[1]), database


def put(folder: Path, key: str, kind: NoticeKind = NoticeKind.OPENED) -> None:
    """Write a notice, as a tick does."""
    with outbox_of(folder) as (box, _):
        box.put(Notice(dedup_key=key, kind=kind, subject=key, body="why: who knows"))


def watch(folder: Path) -> Ended:
    """Look once."""
    return run("watch", "--workspace", folder)


def test_each_channel_is_tried_and_says_ok(inbox: Inbox, tmp_path: Path) -> None:
    """One line each, and the message is there, in the language of the settings."""
    folder = configure(tmp_path / "w", inbox, team=inbox.json, phone=inbox.ntfy)
    ended = run("notify", "test", "--workspace", folder)
    assert (ended.code, ended.out, ended.err) == (0, "team: ok\nphone: ok\n", "")
    assert inbox.got("json") == ("lamplighter: a test notice\nIf you read this, notices from w arrive here.",)
    assert len(inbox.got("ntfy")) == 1


def test_what_is_wrong_with_a_channel_is_one_line_without_its_address(inbox: Inbox, tmp_path: Path) -> None:
    """What it is and what to do; 69 when the service's part is missing, 65 when ours is."""
    inbox.always("json", Reply(status=404))
    folder = configure(tmp_path / "w", inbox, team=inbox.json, phone="env:NOBODY_SET_THIS", odd="discord://secret")
    ended = run("notify", "test", "team", "--workspace", folder)
    assert (ended.code, ended.err) == (69, "")
    assert ended.out == (
        "team: wrong: the service answered 404; make a new address with the service and put it in the old one's place\n"
    )
    ended = run("notify", "test", "--workspace", folder)
    assert ended.code == 65
    assert "phone: wrong: the variable NOBODY_SET_THIS is not set" in ended.out
    assert "odd: wrong: its address is none that Apprise knows here" in ended.out
    assert "secret" not in ended.out + ended.err


def test_a_channel_that_is_not_there_is_an_error(inbox: Inbox, tmp_path: Path) -> None:
    """Of one line, like every other."""
    folder = configure(tmp_path / "w", inbox, team=inbox.json)
    ended = run("notify", "test", "mail", "--workspace", folder)
    assert (ended.code, ended.err) == (66, "lamplighter: channel 'mail': there is none of that name; there are team\n")
    (folder / "lamplighter.toml").write_text("")
    ended = run("notify", "test", "--workspace", folder)
    assert (ended.code, ended.out) == (66, "")
    assert "there is no channel yet; write one into [notify.channels]" in ended.err


def test_a_post_is_told_with_its_cover_and_the_watcher_with_a_ping(inbox: Inbox, stocked: Path) -> None:
    """At the end of the run itself; the next tick has nothing to add, and pings."""
    configure(stocked, inbox, phone=inbox.ntfy)
    with (stocked / "lamplighter.toml").open("a") as stream:
        stream.write('[heartbeat]\nwatch = "file:ping.url"\n')
    text = (stocked / "lamplighter.toml").read_text("utf-8").replace("[heartbeat]\n# ", "# ", 1)
    (stocked / "lamplighter.toml").write_text(text, "utf-8")
    (stocked / "ping.url").write_text(inbox.ping)
    (stocked / "ping.url").chmod(0o600)
    ended = run("post", "--workspace", stocked)
    assert ended.code == 0, ended
    told = [letter for letter in inbox.taken if "✅ posted" in letter.text]
    assert len(told) == 1
    assert "stock left: 2/3" in told[0].text
    assert told[0].pictures[0].startswith(b"\xff\xd8\xff")
    count = len(inbox.got("ntfy"))
    assert watch(stocked).code == 0
    assert len(inbox.got("ntfy")) == count
    assert [letter.path for letter in inbox.taken if letter.service == "ping"] == ["/ping/1f3c-secret-check-uuid"]
    assert all(letter.headers["user-agent"].startswith("lamplighter/") for letter in inbox.asked)


def test_a_failing_service_changes_no_outcome_and_falls_back(inbox: Inbox, stocked: Path) -> None:
    """The post is out and exits 0; the alert goes by the next channel when the first is dead, and nothing is lost."""
    inbox.always("ntfy", Reply(status=500))
    configure(stocked, inbox, phone=inbox.ntfy, team=inbox.json)
    ended = run("post", "--workspace", stocked)
    assert ended.code == 0, ended
    put(stocked, "no post went out")
    inbox.always("ntfy", Reply(status=404))
    with outbox_of(stocked) as (_, database):
        database.change("UPDATE channel SET next_at = NULL")  # half a minute passes
    ended = watch(stocked)
    assert any("no post went out" in text for text in inbox.got("json"))
    assert "secret" not in ended.out + ended.err
    ended = watch(stocked)
    assert "notices do not arrive by phone" in ended.out
    assert "type: lamplighter notify test phone" in ended.out
    for log in (stocked / "state").rglob("*.log"):
        assert "secret" not in log.read_text("utf-8", "replace")


def test_a_sender_killed_in_the_middle_repeats_the_alert_and_says_so(inbox: Inbox, tmp_path: Path) -> None:
    """SIGKILL while the service has the words and has not answered: the claim tells, and the repeat is told as one."""
    inbox.will("ntfy", Reply(hang=LIMIT_SECONDS))
    folder = configure(tmp_path / "w", inbox, phone=inbox.ntfy)
    put(folder, "no post went out")
    put(folder, "made", NoticeKind.MADE)
    process = subprocess.Popen(
        [PROGRAM, "watch", "--workspace", folder],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(lambda: bool(inbox.asked), "the words are with the service")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    watch(folder)
    assert len(inbox.asked) == 1
    with outbox_of(folder) as (_, database):
        database.change("UPDATE delivery SET claimed_at = claimed_at - 180 WHERE claimed_at IS NOT NULL")  # time passes
    watch(folder)
    assert [text.splitlines()[0] for text in inbox.got("ntfy")] == ["no post went out (may be a repeat)", "made"]
    watch(folder)
    assert len(inbox.asked) == 3
