"""notify test."""

from __future__ import annotations

import argparse

from lamplighter.app.notify import ChannelTest, try_channels
from lamplighter.app.place import open_workspace
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console
from lamplighter.errors import FailureClass
from lamplighter.notify.channel import Result


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("test", _test, "send a test notice by each channel, and say which arrive")
    parser.add_argument("channel", nargs="?", default="", metavar="CHANNEL", help="only this one")


def _test(arguments: argparse.Namespace, console: Console) -> int:
    tests: list[ChannelTest] = []
    for test in try_channels(open_workspace(arguments.workspace, console.say), arguments.channel):
        tests.append(test)
        if test.is_ok:
            console.good(f"{test.name}: ok")
        else:
            console.bad(f"{test.name}: wrong: {test.sent.why}{_advise(test)}")
    console.value([{"channel": test.name, "ok": test.is_ok, "why": test.sent.why} for test in tests])
    if any(test.is_broken for test in tests):
        return FailureClass.CONFIG.value
    return 0 if all(test.is_ok for test in tests) else FailureClass.UPSTREAM.value


def _advise(test: ChannelTest) -> str:
    """Return what a person does about it, "" where the reason says it itself."""
    if test.is_broken:
        return "" if "; " in test.sent.why else "; correct what [notify.channels] names"
    if test.sent.result is Result.DEAD:
        return "; make a new address with the service and put it in the old one's place"
    return "; try again later"
