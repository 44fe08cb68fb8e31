"""The worker's side of our own jobs: python -m lamplighter.app.working, started by a supervisor and by nobody else."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from lamplighter.app.opening import MIGRATIONS, assemble, build_generator, build_poster
from lamplighter.app.place import Workspace
from lamplighter.app.running import DATABASE_FILE
from lamplighter.config.basics import find_basics
from lamplighter.config.settings import read_settings
from lamplighter.engine.boundary import bounded
from lamplighter.engine.job import RunReport
from lamplighter.engine.log import RunLog
from lamplighter.engine.result import CLAIM_VARIABLE, RESULT_VARIABLE, render_result
from lamplighter.engine.supervisor import Run, perform
from lamplighter.engine.worker import parse_assignment
from lamplighter.errors import InputError, LamplighterError
from lamplighter.featurepost import generate
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import Database, open_database
from lamplighter.host.files import write_atomic
from lamplighter.host.signals import holding_interrupts

MODULE = "lamplighter.app.working"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one of our own jobs is asked to do."""

    job: str
    workspace_dir: str
    force: bool = False
    brand: str = ""
    feature: str = ""

    @property
    def command(self) -> str:
        """Return the task as a person would type it."""
        words = ("--force" if self.force else "", self.brand and f"--brand {self.brand}")
        return " ".join(filter(None, ("lamplighter", self.job, *words, self.feature and f"--feature {self.feature}")))


def do_task(task: Task, workspace: Workspace, database: Database, run: Run) -> RunReport:
    """Do the work of one of our own jobs; raises LamplighterError."""
    parts = assemble(read_settings(workspace.folder), database, workspace.clock)
    if task.job == generate.JOB:
        with build_generator(parts, workspace.clock, task.brand) as generator:
            return generator.work(run, force=task.force)
    return build_poster(parts, workspace.clock).work(run, feature_id=task.feature, force=task.force)


def render_task(task: Task) -> str:
    """Return a task as the one argument of the worker."""
    return json.dumps(asdict(task))


def parse_task(text: str) -> Task:
    """Return the task of a worker; raises InputError."""
    try:
        return Task(**json.loads(text))
    except (ValueError, TypeError):
        raise InputError(MODULE, "this is started by a supervisor only", "lamplighter generate") from None


def main() -> int:
    """Do a task, write the result file, return the outcome's exit code; what stands in the way of that is one line."""
    try:
        return _work()
    except LamplighterError as error:
        sys.stderr.write(f"lamplighter: {error}\n")
        return error.failure.value


def _work() -> int:
    task = parse_task(sys.argv[1] if len(sys.argv) > 1 else "")
    assignment = parse_assignment(os.environ.pop(CLAIM_VARIABLE, ""))
    clock = SystemClock()
    state_dir, _ = find_basics(Path(task.workspace_dir))
    log = RunLog(state_dir, task.job, assignment.number, clock)
    began = clock.monotonic()
    run = Run(
        number=assignment.number,
        generation=assignment.claim.generation,
        check=assignment.claim.check,
        say=log.write,
        left=lambda: assignment.limit - (clock.monotonic() - began) if assignment.limit is not None else None,
    )

    def work(run: Run) -> RunReport:
        workspace = Workspace(folder=Path(task.workspace_dir), clock=clock, say=log.write)
        with open_database(state_dir / DATABASE_FILE, MIGRATIONS) as database:
            return do_task(task, workspace, database, run)

    with holding_interrupts() as interrupts:
        report = bounded(lambda: perform(work, run, interrupts), number=run.number, log=log.write)
        write_atomic(Path(os.environ.get(RESULT_VARIABLE, "")), render_result(report), mode=0o600)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
