"""run: any job, or any command, under a lock, with a limit, a log and an outcome. Loads little: schedulers start it."""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path

from lamplighter.app import place, running
from lamplighter.app.place import Workspace
from lamplighter.app.running import Started
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console
from lamplighter.cli.report import tell_report
from lamplighter.config.basics import read_duration
from lamplighter.engine.job import RunReport
from lamplighter.engine.result import RESULT_VARIABLE
from lamplighter.engine.settings import JobSettings
from lamplighter.errors import UsageError

_LONGEST = timedelta(days=30)


def add_commands(add: Add) -> None:
    """Add the command to the parser."""
    parser = add("run", _run)
    parser.add_argument("job", metavar="JOB", help="generate, post, a job of [jobs], or a name for the command")
    parser.add_argument(
        "--scheduled", action="store_true", help="a scheduler started this: do nothing unless it is due"
    )
    parser.add_argument("--wait", type=_duration, default=timedelta(0), metavar="TIME", help="for another run, e.g. 5m")
    parser.add_argument(
        "--output", type=_pattern, metavar="GLOB", help="the command must leave a new file that matches"
    )
    parser.add_argument("--max-runtime", type=_limit, metavar="TIME", help="the command is ended after it, e.g. 30m")
    parser.add_argument("--expected-runtime", type=_limit, metavar="TIME", help="after it the run is flagged")
    parser.usage = "lamplighter run JOB [OPTION]… [-- COMMAND [ARGUMENT]…]"
    parser.epilog = (
        "After -- comes the command, its arguments as given and never through a shell. It may say how it ended, and "
        f"what it made, as JSON in the file that ${RESULT_VARIABLE} names: docs/how-to/own-command.md."
    )


def _duration(text: str) -> timedelta:
    duration = read_duration(text)
    if duration is None or not timedelta(0) <= duration <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no time like 30s, 5m, 2h or 1d")
    return duration


def _pattern(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; leave it out where the command leaves no file")
    return text


def _limit(text: str) -> timedelta:
    duration = _duration(text)
    if not duration:
        raise argparse.ArgumentTypeError("the least is 1s")
    return duration


def _run(arguments: argparse.Namespace, console: Console) -> int:
    started = Started(
        scheduled=arguments.scheduled, wait=arguments.wait, show_output=not arguments.json and not arguments.scheduled
    )
    report = _run_words(arguments, console, started) if arguments.has_words else _run_job(arguments, console, started)
    return tell_report(console, arguments.job, report)


def _run_words(arguments: argparse.Namespace, console: Console, started: Started) -> RunReport:
    """Run the command behind the --, in the present folder."""
    if not arguments.words or not arguments.words[0]:
        raise UsageError("run", "there is no command behind --", "lamplighter run backup -- ./backup.sh")
    settings = JobSettings(
        name=arguments.job,
        command=tuple(arguments.words),
        folder=place.absolute(Path()),
        output=arguments.output or "",
        limit=arguments.max_runtime,
        expected=arguments.expected_runtime,
    )
    workspace = place.open_workspace_or_own(arguments.workspace, console.say)
    return running.run_command(workspace, settings, started)


def _run_job(arguments: argparse.Namespace, console: Console, started: Started) -> RunReport:
    given = [name for name in ("output", "max_runtime", "expected_runtime") if getattr(arguments, name)]
    if given:
        option = f"--{given[0].replace('_', '-')}"
        raise UsageError("run", f"{option} goes with a command behind --", f"or set it in [jobs.{arguments.job}]")
    workspace = place.open_workspace(arguments.workspace, console.say)
    own = _OWN_JOBS.get(arguments.job)
    return own(workspace, started) if own else running.run_configured(workspace, arguments.job, started)


def _generate(workspace: Workspace, started: Started) -> RunReport:
    from lamplighter.app import making  # noqa: PLC0415 - another job needs none of it

    return making.run_generate(workspace, started=started)


def _post(workspace: Workspace, started: Started) -> RunReport:
    from lamplighter.app import making  # noqa: PLC0415 - another job needs none of it

    return making.run_post(workspace, started=started)


_OWN_JOBS = {"generate": _generate, "post": _post}
