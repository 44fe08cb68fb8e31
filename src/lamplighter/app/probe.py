"""A run that proves that a scheduler can start us: python -m lamplighter.app.probe TOKEN WORKSPACE, by it alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lamplighter.app.place import Workspace
from lamplighter.app.running import Plan, Started, supervise
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.lock import Terms
from lamplighter.engine.supervisor import Run
from lamplighter.errors import InputError, LamplighterError
from lamplighter.host.clock import SystemClock

MODULE = "lamplighter.app.probe"
JOB = "schedule-probe"
TOKEN = "token"  # noqa: S105 - the name of a fact


def prove(workspace: Workspace, token: str) -> RunReport:
    """Record that this was started, and with what environment."""

    def work(_: Run) -> RunReport:
        facts = {
            TOKEN: token,
            "path": os.environ.get("PATH", ""),
            "home": os.environ.get("HOME", ""),
            "folder": os.getcwd(),  # noqa: PTH109 - as the system says it
            "interpreter": sys.executable,
        }
        return RunReport(
            outcome=Outcome.COMPLETED,
            line="the scheduler started lamplighter",
            evidence=tuple(Evidence(name=name, value=value) for name, value in facts.items()),
        )

    return supervise(
        workspace,
        JOB,
        lambda _, __: Plan(work=work, terms=Terms()),
        command=f"{MODULE} {token}",
        started=Started(scheduled=True),
    )


def main() -> int:
    """Prove it, say so in one line, and return the outcome's exit code."""
    try:
        if len(sys.argv) != 3:
            raise InputError(MODULE, "this is started by a scheduler only", "lamplighter schedule install")
        workspace = Workspace(folder=Path(sys.argv[2]), clock=SystemClock(), say=lambda _: None)
        report = prove(workspace, sys.argv[1])
    except LamplighterError as error:
        sys.stderr.write(f"lamplighter: {error}\n")
        return error.failure.value
    sys.stdout.write(f"{JOB}: {report.outcome.value}: {report.line}\n")
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
