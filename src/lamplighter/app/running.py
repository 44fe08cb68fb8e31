"""Runs of any job: supervised, recorded, in a process of its own. Loads no more than that needs: it starts often."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lamplighter import __version__
from lamplighter.app.pausing import excuse_slot, unless_paused
from lamplighter.app.place import Say, Workspace, is_folder, refuse_other_user
from lamplighter.config.basics import (
    BUILT_IN_JOBS,
    check_job_name,
    find_basics,
    find_job,
    find_zone,
    read_settings_file,
)
from lamplighter.engine import ledger, pause, slot_table
from lamplighter.engine.job import RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.lock import Terms
from lamplighter.engine.pause import Pause, Pauses
from lamplighter.engine.repair import open_or_repair
from lamplighter.engine.settings import JobSettings
from lamplighter.engine.supervisor import Setup, Supervisor, Work
from lamplighter.engine.worker import LOCK_GRACE, Worker, WorkerOrder
from lamplighter.errors import ConfigError, DiskError, LamplighterError, UsageError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.host.files import make_folder, read_capped, write_atomic
from lamplighter.value import replace, value

if TYPE_CHECKING:  # a run that has no due times loads nothing of this
    from lamplighter.app.timing import Timing

DATABASE_FILE = "lamplighter.db"
ENGINE_MIGRATIONS: tuple[Migration, ...] = (*ledger.MIGRATIONS, *slot_table.MIGRATIONS, *pause.MIGRATIONS)
FORCED = "forced"
_CHECKED_FILE = "settings.checked"
_MOST_SECRET_BYTES = 64_000


@value
class Started:
    """How a run was started: by a scheduler or a person, and how long it waits for another run of its job."""

    scheduled: bool = False
    wait: timedelta = timedelta(0)
    show_output: bool = True
    flags: tuple[str, ...] = ()


@value
class Plan:
    """What a run is to do, on which terms it holds its lock, and when it is due (None: whenever it is started)."""

    work: Work
    terms: Terms
    timing: Timing | None = None
    secrets: tuple[str, ...] = ()


@value
class Opened:
    """A database open to write, and whether it is new in the place of a damaged one."""

    database: Database
    is_repaired: bool


@contextlib.contextmanager
def opening_to_write(
    workspace: Workspace, state_dir: Path, migrations: tuple[Migration, ...] = ENGINE_MIGRATIONS
) -> Iterator[Opened]:
    """Open the database of a state folder, made where it is missing; a damaged one is set aside, and that is said.

    Raises DiskError. Not for the worker of a run, beside whose supervisor it opens the same file.
    """
    make_folder(state_dir, mode=0o700)
    database, repair = open_or_repair(
        state_dir / DATABASE_FILE, migrations, logs_dir=state_dir / "logs", clock=workspace.clock
    )
    with database:
        if repair is not None:
            workspace.say(repair.line)
        yield Opened(database=database, is_repaired=repair is not None)


def supervise(
    workspace: Workspace,
    job: str,
    plan: Callable[[Path, Database], Plan],
    *,
    command: str,
    started: Started,
    migrations: tuple[Migration, ...] = ENGINE_MIGRATIONS,
) -> RunReport:
    """Run what `plan` makes of state folder and database; what it raises is a recorded failure too."""
    refuse_other_user(workspace.folder)
    state_dir, account = find_basics(workspace.folder)
    if is_folder(state_dir):
        refuse_other_user(state_dir)
    with opening_to_write(workspace, state_dir, migrations) as opened:
        database = opened.database
        ledger = Ledger(database, workspace.clock, account)
        supervisor = Supervisor(ledger=ledger, state_dir=state_dir, clock=workspace.clock, say=workspace.say)
        return supervisor.run(
            job,
            lambda: _set_up(plan(state_dir, database), job, database, ledger, started, clock=workspace.clock),
            command=command,
            trigger=_name_trigger(os.environ) if started.scheduled else "person",
            wait=started.wait,
            flags=started.flags,
        )


def _set_up(found: Plan, job: str, database: Database, ledger: Ledger, started: Started, *, clock: Clock) -> Setup:
    """Return a plan bound to its slot and to a person's pause; what is forced knows of neither.

    The slot is waited for before the lock is taken, and claimed when it is held.
    """
    work, pauses = found.work, Pauses(database, clock, ledger.account)
    excuse: Callable[[Pause], None] = _ignore
    prepare: Callable[[Say], None] = _ignore
    if found.timing is not None:
        from lamplighter.app.timing import at_slot, wait_for_slot  # noqa: PLC0415 - most runs have no due times
        from lamplighter.engine.slot import Slots  # noqa: PLC0415 - the same

        timing, slots = found.timing, Slots(database, clock, ledger.account)
        work = at_slot(work, job, timing, slots=slots, ledger=ledger, clock=clock, scheduled=started.scheduled)
        if started.scheduled:
            excuse = functools.partial(excuse_slot, job, timing, slots, ledger)

            def prepare(_: Say) -> None:
                wait_for_slot(job, timing, slots=slots, clock=clock)

    if FORCED not in started.flags:
        work = unless_paused(work, job, pauses, excuse=excuse)
    return Setup(work=work, terms=found.terms, prepare=prepare, secrets=found.secrets)


def _ignore(_: object) -> None:
    """Do nothing about it."""


def run_configured(workspace: Workspace, job: str, started: Started) -> RunReport:
    """Run a command job of the settings; the function behind `lamplighter run JOB`."""
    check_job_name(job)

    def plan(state_dir: Path, _: Database) -> Plan:
        _check_settings(workspace.folder, state_dir)
        settings = find_job(workspace.folder, job)
        order = _order(workspace, settings, state_dir, started)
        order = _attend(order, settings, workspace.clock, started) if settings.network else order
        timing = _find_timing(settings, workspace.folder, state_dir) if settings.is_timed else None
        return replace(order, timing=timing)

    return supervise(workspace, job, plan, command=f"lamplighter run {job}", started=started)


def _attend(plan: Plan, settings: JobSettings, clock: Clock, started: Started) -> Plan:
    from lamplighter.app.attending import attended  # noqa: PLC0415 - only for a job that needs the network

    work, terms = attended(
        plan.work, plan.terms, job=settings.name, scheduled=started.scheduled, clock=clock, hosts=lambda: ()
    )
    return replace(plan, work=work, terms=terms)


def _find_timing(settings: JobSettings, workspace_dir: Path, state_dir: Path) -> Timing:
    from lamplighter.app.timing import Timing, job_cadence  # noqa: PLC0415 - only for a job with due times

    return Timing(cadence=job_cadence(settings, find_zone(workspace_dir)), state_dir=state_dir)


def run_command(workspace: Workspace, settings: JobSettings, started: Started) -> RunReport:
    """Run a command given by hand; the function behind `lamplighter run NAME -- CMD …`."""
    if check_job_name(settings.name) in BUILT_IN_JOBS:
        raise UsageError(f"job {settings.name}", "it is one of lamplighter's own", "give the command another name")
    return supervise(
        workspace,
        settings.name,
        lambda state_dir, _: _order(workspace, settings, state_dir, started),
        command=f"lamplighter run {settings.name} -- {shlex.join(settings.command)}",
        started=started,
    )


def _order(workspace: Workspace, job: JobSettings, state_dir: Path, started: Started) -> Plan:
    added, secrets = read_environment(job, workspace.folder, os.environ)
    worker = Worker(
        WorkerOrder(
            argv=job.command,
            cwd=job.folder,
            env={**os.environ, **added},
            limit=job.limit,
            expected=job.expected,
            output=job.output,
            secrets=secrets,
        ),
        job=job.name,
        state_dir=state_dir,
        clock=workspace.clock,
        show_output=started.show_output,
    )
    return Plan(work=worker, terms=Terms(limit=job.limit, grace=LOCK_GRACE), secrets=secrets)


def read_environment(
    job: JobSettings, workspace_dir: Path, environment: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return what a job adds to its environment, and which of the values are secrets.

    Raises ConfigError for a variable or file that is not there: a job must not run without what it was promised.
    """
    added, secrets = {}, []
    for name, given in job.env.items():
        kind, _, source = given.partition(":")
        if kind == "env":
            if source not in environment:
                raise ConfigError(f"jobs.{job.name}.env.{name}", f"there is no variable {source}", "set it")
            added[name] = environment[source]
        elif kind == "file":
            content = read_capped(workspace_dir / source, limit=_MOST_SECRET_BYTES, what="secret")
            added[name] = content.decode("utf-8", "replace").strip()
        else:
            added[name] = given
            continue
        secrets.append(added[name])
    return added, tuple(secret for secret in secrets if secret)


def _check_settings(workspace_dir: Path, state_dir: Path) -> None:
    """Check the settings strictly, which costs a library, unless exactly they have passed before."""
    from hashlib import sha256  # noqa: PLC0415 - only a job of the settings needs it

    seen = sha256(__version__.encode() + read_settings_file(workspace_dir)).hexdigest().encode()
    memo = state_dir / _CHECKED_FILE
    try:
        if read_capped(memo, limit=100) == seen:
            return
    except LamplighterError:
        pass
    from lamplighter.config.settings import read_settings  # noqa: PLC0415 - only when the file has changed

    read_settings(workspace_dir)
    with contextlib.suppress(DiskError):  # then they are checked again the next time
        write_atomic(memo, seen, mode=0o600)


def _name_trigger(environment: Mapping[str, str]) -> str:
    """Return which scheduler started us: systemd and launchd leave their names in the environment (systemd.exec(5))."""
    if environment.get("INVOCATION_ID"):
        return "systemd"
    if environment.get("XPC_SERVICE_NAME", "0") != "0":
        return "launchd"
    return "cron"
