"""schedule install, remove, show and verify."""

from __future__ import annotations

import argparse
from datetime import datetime

from lamplighter.app import scheduling
from lamplighter.app.place import open_workspace
from lamplighter.app.scheduling import InstallReport, ShownJob
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console
from lamplighter.errors import InputError, LamplighterError, UsageError
from lamplighter.schedule.check import INSTALL, Check, CheckCode

_LAUNCHERS = ("launchd", "systemd", "cron")


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("install", _install, "have this machine's scheduler start the jobs, and prove that it can")
    parser.add_argument("--with", dest="launcher", choices=_LAUNCHERS, default="", metavar="SCHEDULER", help=_WITH)
    add("remove", _remove, "take every entry of this workspace away again")
    add("show", _show, "the next times of each job, as we count them and as the system does")
    add("verify", _verify, "whether every entry is there as it was installed; exit 1: one is not, 3: nobody can tell")


_WITH = "launchd, systemd or cron; default: launchd on a Mac, systemd where it answers, else cron"


def _install(arguments: argparse.Namespace, console: Console) -> int:
    workspace = open_workspace(arguments.workspace, console.say)
    with console.working("the scheduler is tried"):
        report = scheduling.install(workspace, chosen=arguments.launcher)
    tell_install(report, console)
    return 0


def tell_install(report: InstallReport, console: Console) -> None:
    """Print what was installed, what a person must know, and the proof."""
    for entry in report.entries:
        done = "installed" if entry.label in report.changed else "as it was"
        console.line(f"{entry.job}: {done} ({entry.label})")
    for remark in report.remarks:
        console.line(f"note: {remark}")
    console.good(report.proof)
    console.value(
        {
            "scheduler": report.launcher,
            "entries": [{"job": entry.job, "label": entry.label} for entry in report.entries],
            "changed": list(report.changed),
            "remarks": list(report.remarks),
            "proof": report.proof,
        }
    )


def _remove(arguments: argparse.Namespace, console: Console) -> int:
    tell_removed(scheduling.remove(open_workspace(arguments.workspace, console.say)), console)
    return 0


def tell_removed(removed: tuple[str, ...], console: Console) -> None:
    """Print what was taken away."""
    for label in removed:
        console.line(f"removed {label}")
    console.good("nothing of this workspace is started by the system any more")
    console.value({"removed": list(removed)})


def _show(arguments: argparse.Namespace, console: Console) -> int:
    launcher, shown = scheduling.show(open_workspace(arguments.workspace, console.say))
    console.line(f"scheduler: {launcher or f'none; {INSTALL}'}")
    for job in shown:
        console.line(f"{job.job}:")
        console.line(f"  due:    {_render(job.due_at) or 'whenever it is started'}")
        console.line(f"  woken:  {_render_wakes(job)}")
    console.value(
        {
            "scheduler": launcher or None,
            "jobs": [
                {
                    "job": job.job,
                    "label": job.label,
                    "due_at": [at.isoformat(timespec="seconds") for at in job.due_at],
                    "woken_at": [at.isoformat(timespec="seconds") for at in job.wakes.at],
                    "words": job.wakes.words,
                }
                for job in shown
            ],
        }
    )
    return 0


def _verify(arguments: argparse.Namespace, console: Console) -> int:
    workspace = open_workspace(arguments.workspace, console.say)
    try:
        checks = scheduling.verify(workspace)
    except UsageError:
        raise
    except InputError as error:
        console.bad(f"wrong: {error}")
        console.value({"code": CheckCode.WRONG.value, "checks": [], "why": str(error)})
        return CheckCode.WRONG
    except LamplighterError as error:
        console.bad(f"could not check: {error}")
        console.value({"code": CheckCode.UNKNOWN.value, "checks": [], "why": str(error)})
        return CheckCode.UNKNOWN
    return tell_checks(checks, console)


def tell_checks(checks: tuple[Check, ...], console: Console) -> CheckCode:
    """Print how each entry stands and return the exit code."""
    code = max((check.code for check in checks), default=CheckCode.OK)
    for check in checks:
        tell = console.bad if check.drift else console.good
        tell(_render_check(check))
    console.value({"code": code.value, "checks": [_describe(check) for check in checks], "why": ""})
    return code


def _render_check(check: Check) -> str:
    last = f"; last ended: {check.last_exit}" if check.last_exit else ""
    if check.drift is None:
        return f"ok     {check.job}: {check.words}{last}"
    return f"wrong  {check.job or check.label}: {check.drift.value}: {check.words}; {check.remedy}"


def _describe(check: Check) -> dict[str, str | None]:
    return {
        "job": check.job,
        "label": check.label,
        "drift": check.drift.value if check.drift else None,
        "words": check.words,
        "remedy": check.remedy,
        "last_exit": check.last_exit,
    }


def _render(instants: tuple[datetime, ...]) -> str:
    return ", ".join(f"{at.astimezone():%Y-%m-%d %H:%M}" for at in instants)


def _render_wakes(job: ShownJob) -> str:
    words = f"({job.wakes.words})" if job.wakes.words else ""
    return " ".join(filter(None, (_render(job.wakes.at), words)))
