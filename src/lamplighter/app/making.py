"""The commands that make: init, generate, post and the demo of all three."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lamplighter.app import running
from lamplighter.app.attending import attended
from lamplighter.app.cadence import list_cadences
from lamplighter.app.needing import list_hosts
from lamplighter.app.opening import MIGRATIONS, build_generator, build_poster, build_publisher, reading
from lamplighter.app.place import Say, Workspace, absolute, claim_state, is_folder, refuse_other_user
from lamplighter.app.running import Started
from lamplighter.app.timing import Timing
from lamplighter.app.working import MODULE, Task, do_task, render_task
from lamplighter.config.basics import SETTINGS_FILE, find_basics, find_workspace, refuse_odd_place
from lamplighter.config.settings import Settings, read_settings
from lamplighter.config.workspace import DEMO_ACCOUNT, SAMPLE, NewWorkspace, make_workspace
from lamplighter.engine.job import RunReport
from lamplighter.engine.lock import Terms
from lamplighter.engine.supervisor import Work
from lamplighter.engine.worker import LOCK_GRACE, Worker, WorkerOrder
from lamplighter.errors import InputError, UsageError
from lamplighter.featurepost import generate
from lamplighter.featurepost.generate import Plan
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.notify.announced import begin_announcing
from lamplighter.publish import post
from lamplighter.publish.journal import Journal
from lamplighter.publish.post import PostPlan

_DEMO_RUNS = 5


def init(folder: Path, shops: tuple[str, ...]) -> NewWorkspace:
    """Make a workspace; the function behind `lamplighter init`."""
    folder = absolute(folder)
    refuse_odd_place(Path(os.path.realpath(folder)))
    refuse_other_user(next((parent for parent in (folder, *folder.parents) if is_folder(parent)), folder))
    with contextlib.suppress(InputError):
        outer = find_workspace(folder.parent)
        raise UsageError(str(folder), f"it lies inside the workspace {outer}", "choose a folder outside of it")
    return make_workspace(folder, shops)


def run_generate(
    workspace: Workspace, *, force: bool = False, brand: str = "", started: Started | None = None
) -> RunReport:
    """Fill the stock; the function behind `lamplighter generate`."""
    task = Task(job=generate.JOB, workspace_dir=str(workspace.folder), force=force, brand=brand)
    return _supervise(workspace, task, started)


def plan_generate(workspace: Workspace, *, force: bool = False, brand: str = "") -> Plan:
    """Return what `run_generate` would do; writes nothing."""
    with reading(workspace) as parts, build_generator(parts, workspace.clock, brand) as generator:
        return generator.plan(force=force)


def run_post(
    workspace: Workspace, *, feature_id: str = "", force: bool = False, started: Started | None = None
) -> RunReport:
    """Publish the oldest ready feature for today's slot; the function behind `lamplighter post`."""
    task = Task(job=post.JOB, workspace_dir=str(workspace.folder), force=force, feature=feature_id)
    return _supervise(workspace, task, started)


def plan_post(workspace: Workspace, *, feature_id: str = "", force: bool = False) -> tuple[PostPlan, tuple[str, ...]]:
    """Return what `run_post` would do and the exact calls it would make; writes nothing."""
    with reading(workspace) as parts:
        plan = build_poster(parts, workspace.clock).plan(feature_id=feature_id, force=force)
        calls = build_publisher(parts.settings, workspace.clock).describe(plan.post) if plan.post else ()
        return plan, calls


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """What the demo did: the folder, whether it made it, and the report of each run in order."""

    folder: Path
    new: bool
    generated: tuple[RunReport, ...]
    posted: RunReport


def demo(
    folder: Path,
    clock: Clock,
    say: Say,
    *,
    make: Callable[[Path, tuple[str, ...]], NewWorkspace] = init,
    fill: Callable[[Workspace], RunReport] = run_generate,
    publish: Callable[[Workspace], RunReport] = run_post,
) -> DemoResult:
    """Show the main job with the sample brands: init when there is nothing, generate until full, post."""
    folder = absolute(folder)
    new = not os.path.lexists(folder / SETTINGS_FILE)
    if new:
        make(folder, (SAMPLE,))
    elif find_basics(folder)[1] != DEMO_ACCOUNT:
        raise InputError(
            str(folder), "this is a workspace of your own, not a demo", "give the demo a folder of its own"
        )
    refuse_odd_place(Path(os.path.realpath(folder)))
    workspace = Workspace(folder=folder.resolve(), clock=clock, say=say)
    generated = [fill(workspace)]
    while generated[-1].made_output and len(generated) < _DEMO_RUNS:
        generated.append(fill(workspace))
    return DemoResult(folder=folder, new=new, generated=tuple(generated), posted=publish(workspace))


def _supervise(workspace: Workspace, task: Task, started: Started | None) -> RunReport:
    """Run one of our own jobs, with a row from before the settings are read."""
    started = started or Started()
    if task.force:
        started = Started(scheduled=started.scheduled, wait=started.wait, flags=(*started.flags, running.FORCED))

    def plan(state_dir: Path, database: Database) -> running.Plan:
        claim_state(state_dir, workspace.folder)
        settings = read_settings(workspace.folder)
        begin_announcing(database, settings.account, workspace.clock.now())
        limit = settings.generate.limit if task.job == generate.JOB else settings.post.limit
        timing = _time(task, settings, database, workspace.clock)
        if not workspace.apart:
            work: Work = functools.partial(do_task, task, workspace, database)
            return running.Plan(work=work, terms=Terms(limit=limit), timing=timing)
        order = WorkerOrder(
            argv=(sys.executable, "-P", "-m", MODULE, render_task(task)),
            cwd=workspace.folder,
            env=os.environ,
            limit=limit,
            must_report=True,
        )
        worker = Worker(order, job=task.job, state_dir=state_dir, clock=workspace.clock, show_output=False)
        kept, terms = attended(
            worker,
            Terms(limit=limit, grace=LOCK_GRACE),
            job=task.job,
            scheduled=started.scheduled,
            clock=workspace.clock,
            hosts=functools.partial(list_hosts, task.job, settings),
        )
        return running.Plan(work=kept, terms=terms, timing=timing)

    report = running.supervise(workspace, task.job, plan, command=task.command, started=started, migrations=MIGRATIONS)
    if report.made_output:
        from lamplighter.app.notify import tell_after_run  # noqa: PLC0415 - a run that made nothing has nothing to tell

        tell_after_run(workspace)
    return report


def _time(task: Task, settings: Settings, database: Database, clock: Clock) -> Timing | None:
    """Return when one of our own jobs is due; what a person forces is beside every slot."""
    cadence = list_cadences(settings).get(task.job)
    if cadence is None or task.force:
        return None
    if task.job == generate.JOB:
        return Timing(cadence=cadence, state_dir=settings.state_dir)
    journal = Journal(database, clock, account=settings.account, channel=settings.publisher)
    return Timing(cadence=cadence, served=journal.days_done, is_journalled=True, state_dir=settings.state_dir)
