"""A notice on the desktop is shown by the program the system has for it, and by nothing where there is none."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from lamplighter.errors import InputError
from lamplighter.host.desktop import find_notifier
from lamplighter.host.process import Command, Ending, Finished, SystemRunner
from lamplighter.notify.channel import Message, Result, Sent
from lamplighter.notify.desktop_channel import DesktopChannel


class Recorder:
    """A runner that runs nothing."""

    def __init__(self, *, code: int = 0, stderr: bytes = b"", missing: bool = False) -> None:
        self.commands: list[Command] = []
        self._code = code
        self._stderr = stderr
        self._missing = missing

    def run(self, command: Command) -> Finished:
        """Say how it ended."""
        self.commands.append(command)
        if self._missing:
            raise InputError("notify-send", "cannot be started: it is gone")
        return Finished(ending=Ending.EXITED, code=self._code, seconds=0.1, stdout=b"", stderr=self._stderr)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Return a folder with both programs and a session's bus."""
    for name in ("notify-send", "osascript"):
        (tmp_path / name).write_text('#!/bin/sh\nprintf "%s|" "$@" > "$OUT"\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "bus").touch()
    return tmp_path


def environment(desk: Path, **more: str) -> dict[str, str]:
    """Return an environment as a scheduler gives it: no word of the bus."""
    return {"PATH": f"{desk}:/usr/bin:/bin", "XDG_RUNTIME_DIR": str(desk), "OUT": str(desk / "out"), **more}


def test_on_linux_notify_send_gets_the_bus_of_the_session(desk: Path) -> None:
    """Where it lies is known, also when the environment does not say."""
    found = find_notifier(environment(desk), platform="linux")
    assert found is not None
    assert found.show("title", "body", SystemRunner()) == ""
    assert (desk / "out").read_text() == "--app-name=lamplighter|--urgency=critical|--|title|body|"
    assert found.env["DBUS_SESSION_BUS_ADDRESS"] == f"unix:path={desk / 'bus'}"
    given = find_notifier(environment(desk, DBUS_SESSION_BUS_ADDRESS="unix:path=/x"), platform="linux")
    assert given is not None
    assert given.env["DBUS_SESSION_BUS_ADDRESS"] == "unix:path=/x"


def test_on_a_mac_the_words_are_arguments_and_never_script(desk: Path) -> None:
    """A title with a quote in it runs nothing."""
    found = find_notifier(environment(desk), platform="darwin")
    assert found is not None
    runner = Recorder()
    found.show('-e "quit"', 'do shell script "x"', runner)
    argv = runner.commands[0].argv
    assert argv[0] == str(desk / "osascript")
    assert argv[-2:] == ('e "quit"', 'do shell script "x"')
    assert argv[1:7] == (
        "-e", "on run words",
        "-e", "display notification (item 2 of words) with title (item 1 of words)",
        "-e", "end run",
    )  # fmt: skip


def test_without_a_program_or_a_session_there_is_no_desktop(desk: Path) -> None:
    """A server, a container, a cron job of somebody who is not there."""
    (desk / "bus").unlink()
    assert find_notifier(environment(desk), platform="linux") is None
    assert find_notifier({"PATH": os.devnull, "DBUS_SESSION_BUS_ADDRESS": "x"}, platform="linux") is None
    assert find_notifier({"PATH": os.devnull}, platform="darwin") is None


@pytest.mark.parametrize(
    ("runner", "why"),
    [
        (Recorder(code=1, stderr=b"cannot open\ndisplay"), "notify-send did not show it: cannot open display"),
        (Recorder(code=1), "notify-send did not show it"),
        (Recorder(missing=True), "cannot be started: it is gone"),
    ],
)
def test_what_is_not_shown_is_said(desk: Path, runner: Recorder, why: str) -> None:
    """In one line, and the notice goes on to the next."""
    found = find_notifier(environment(desk), platform="linux")
    assert found is not None
    channel = DesktopChannel(notifier=found, runner=runner)
    sent = channel.send(Message(title="a", body="b" * 1_000), timedelta(seconds=1))
    assert sent == Sent(result=Result.REFUSED, why=why)
    assert len(runner.commands[0].argv[-1]) == 300
    assert (channel.mark, channel.limits.pause) == ("desktop", timedelta())
