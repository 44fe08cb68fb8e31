"""pause and resume."""

from __future__ import annotations

import argparse

from lamplighter.app import answering, place
from lamplighter.cli.command import Add, read_lasting
from lamplighter.cli.console import Console
from lamplighter.errors import render_line


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("pause", _pause)
    parser.add_argument("job", nargs="?", default="", metavar="JOB")
    parser.add_argument("--for", dest="lasting", default="1d", metavar="TIME", help="like 3h; default: %(default)s")
    parser.add_argument("--reason", default="", metavar="TEXT")
    parser = add("resume", _resume)
    parser.add_argument("job", nargs="?", default="", metavar="JOB")


def _pause(arguments: argparse.Namespace, console: Console) -> int:
    lasting = read_lasting("pause", arguments.lasting)
    workspace = place.open_workspace(arguments.workspace, console.say)
    pause = answering.pause(workspace, arguments.job, lasting=lasting, reason=render_line(arguments.reason, limit=200))
    console.good(f"{pause.job or 'every job'} is {pause.describe()}; {pause.remedy} ends it")
    console.value({"job": pause.job, "until": pause.ends_at.isoformat(timespec="seconds"), "reason": pause.reason})
    return 0


def _resume(arguments: argparse.Namespace, console: Console) -> int:
    resumed = answering.resume(place.open_workspace(arguments.workspace, console.say), arguments.job)
    done = f"{resumed.ended} ended" if resumed.ended else "nothing was paused"
    console.good(f"{arguments.job or 'every job'}: {done}")
    for pause in resumed.left:
        console.bad(f"{pause.job or 'every job'} is still {pause.describe()}; {pause.remedy} ends it")
    console.value({"job": arguments.job, "ended": resumed.ended, "left": [pause.job for pause in resumed.left]})
    return 0
