"""Schedules: what is installed at the system's scheduler, proved to work, compared, repaired and taken away."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from lamplighter.app import probe
from lamplighter.app.cadence import list_cadences
from lamplighter.app.machine import Machine, build_launcher, choose_launcher, compose_path, read_machine
from lamplighter.app.place import Workspace, refuse_other_user
from lamplighter.app.proving import prove
from lamplighter.config.basics import find_basics
from lamplighter.config.settings import Settings, read_settings
from lamplighter.engine.expectation import Probe, ProbeFacts
from lamplighter.engine.log import rotate
from lamplighter.engine.watch import EVERY, Expected
from lamplighter.errors import DiskError, InputError, LamplighterError, UpstreamError
from lamplighter.featurepost import generate
from lamplighter.host.clock import Clock
from lamplighter.host.exclusion import excluding
from lamplighter.host.files import make_folder
from lamplighter.notify.severity import Severity
from lamplighter.publish import post
from lamplighter.schedule.cadence import Cadence, iter_slots
from lamplighter.schedule.check import INSTALL, REPAIRABLE, Check, Drift, judge_all
from lamplighter.schedule.entry import WATCH, Entry, every_minutes, find_minutes, job_of, label_of, project_name
from lamplighter.schedule.launcher import Launcher, NextWakes
from lamplighter.schedule.record import (
    FOLDER,
    Absence,
    Installed,
    forget_installed,
    has_record,
    read_installed,
    write_installed,
)

KEY = "scheduler"
_WATCH_LIMIT = timedelta(minutes=10)
_TOOLS = ("claude", "codex", "node")
_BOOT_BYTES = 1_000_000
_PATIENCE = timedelta(seconds=30)
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallReport:
    """What `install` did: at which scheduler, which entries it changed or took away, what a person must know."""

    launcher: str
    entries: tuple[Entry, ...]
    changed: tuple[str, ...]
    remarks: tuple[str, ...]
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJob:
    """When a job is due next as we count it (none: it always looks), and when the system wakes us for it."""

    job: str
    label: str
    due_at: tuple[datetime, ...]
    wakes: NextWakes


def install(
    workspace: Workspace, *, chosen: str = "", machine: Machine | None = None, say: Callable[[str], None] | None = None
) -> InstallReport:
    """Install every entry and have the scheduler prove that it can start us; behind `lamplighter schedule install`.

    Raises UpstreamError or NeedsHuman when the proof does not come: the entries are in place then.
    """
    refuse_other_user(workspace.folder)
    machine = machine or read_machine()
    settings = read_settings(workspace.folder)
    launcher = build_launcher(chosen, machine) if chosen else choose_launcher(machine)
    before = _read_record(settings)
    basis = _new_basis(settings, launcher.name, machine, workspace.clock.now())
    entries = list_entries(basis, settings, machine, workspace.clock.now())
    _refuse_too_long(launcher, entries)
    with _alone(settings.state_dir):
        changed = launcher.install(entries, basis.project)
        remarks = [*_remove_former(before, basis, machine), *_warn(settings, basis, machine)]
        prints = {entry.label: entry.fingerprint for entry in entries}
        absences = before.absences if before else ()
        write_installed(settings.state_dir, replace(basis, entries=prints, absences=absences))
    entry = _probe_entry(basis, settings, machine)
    proof = prove(launcher, entry, basis.project, clock=workspace.clock, settings=settings, say=say or workspace.say)
    return InstallReport(
        launcher=launcher.name,
        entries=entries,
        changed=changed,
        remarks=(*remarks, *launcher.list_remarks()),
        proof=proof,
    )


def remove(workspace: Workspace, *, machine: Machine | None = None) -> tuple[str, ...]:
    """Take every entry of the workspace away and return their labels; behind `lamplighter schedule remove`."""
    refuse_other_user(workspace.folder)
    state_dir, _ = find_basics(workspace.folder)
    record = read_installed(state_dir)
    machine = machine or read_machine()
    projects = dict.fromkeys((*((record.project,) if record else ()), project_name(workspace.folder)))
    launcher = build_launcher(record.launcher, machine) if record else choose_launcher(machine)
    with _alone(state_dir):
        removed = [label for project in projects for label in launcher.remove(project)]
        forget_installed(state_dir)
    return tuple(removed)


def verify(workspace: Workspace, *, machine: Machine | None = None) -> tuple[Check, ...]:
    """Return how every entry stands; behind `lamplighter schedule verify`.

    Raises InputError where nothing was ever installed, UpstreamError or NeedsHuman where nobody can tell.
    """
    settings = read_settings(workspace.folder)
    record = _find_record(settings)
    return _check(settings, record, machine or read_machine(), workspace.clock.now())


def show(workspace: Workspace, *, machine: Machine | None = None) -> tuple[str, tuple[ShownJob, ...]]:
    """Return scheduler and next times of each entry; behind `lamplighter schedule show`."""
    settings = read_settings(workspace.folder)
    machine = machine or read_machine()
    now = workspace.clock.now()
    record = _read_record(settings)
    launcher = build_launcher(record.launcher, machine) if record else None
    basis = record or _new_basis(settings, "", machine, now)
    cadences = list_cadences(settings)
    shown = []
    for entry in list_entries(basis, settings, machine, now):
        wakes = launcher.list_next(entry, now, _SHOWN) if launcher else NextWakes(words="nothing is installed")
        due = _next_due(cadences.get(entry.job), now)
        shown.append(ShownJob(job=entry.job, label=entry.label, due_at=due, wakes=wakes))
    return launcher.name if launcher else "", tuple(shown)


def describe_installed(workspace: Workspace) -> str:
    """Return in one line whether anything starts the jobs by itself; reads one file and asks nobody."""
    settings = read_settings(workspace.folder)
    record = _read_record(settings)
    if record is None:
        return f"nothing starts the jobs by itself: {INSTALL}"
    return f"started by {record.launcher}, {len(record.entries)} entries, as they are to be at the last look"


def list_expected(settings: Settings, clock: Clock, *, machine: Machine | None = None) -> Iterator[Expected]:
    """Yield the expectation that the entries are there, where they were ever installed: not to is a choice."""
    with contextlib.suppress(LamplighterError):
        if _read_record(settings) is None:
            return
    yield Expected(
        rule=Probe(key=KEY, about="the scheduler's entries", severity=Severity.CRITICAL),
        read=lambda: _look_alone(settings, clock, machine or read_machine()),
    )


def list_entries(basis: Installed, settings: Settings, machine: Machine, now: datetime) -> tuple[Entry, ...]:
    """Return what is to be installed for a workspace: its jobs that have due times, and the watcher."""
    limits = {generate.JOB: settings.generate.limit, post.JOB: settings.post.limit}
    limits |= {job.name: job.limit for job in settings.jobs if job.limit is not None}
    entries = [
        _entry(
            basis,
            settings,
            machine,
            job,
            find_minutes(cadence, machine.zone, now),
            limit=limits.get(job),
        )
        for job, cadence in list_cadences(settings).items()
    ]
    watch = _entry(basis, settings, machine, WATCH, every_minutes(EVERY // timedelta(minutes=1)), limit=_WATCH_LIMIT)
    return (*entries, watch)


def _entry(
    basis: Installed,
    settings: Settings,
    machine: Machine,
    job: str,
    minutes: frozenset[int],
    *,
    limit: timedelta | None,
) -> Entry:
    words = (WATCH,) if job == WATCH else ("run", job, "--scheduled")
    return Entry(
        label=label_of(basis.project, job),
        job=job,
        argv=(basis.interpreter, "-P", "-m", "lamplighter", *words, "--workspace", basis.folder),
        folder=Path(basis.folder),
        path=basis.path,
        minutes=minutes,
        boot_file=_boot_file(basis, settings, machine, job),
        limit=limit,
        is_content=job in {generate.JOB, post.JOB},
    )


def _probe_entry(basis: Installed, settings: Settings, machine: Machine) -> Entry:
    """Return the entry of one start that proves the others: it differs in what it starts alone."""
    return Entry(
        label=label_of(basis.project, probe.JOB),
        job=probe.JOB,
        argv=(basis.interpreter, "-P", "-m", probe.MODULE, os.urandom(8).hex(), basis.folder),
        folder=Path(basis.folder),
        path=basis.path,
        minutes=frozenset(),
        boot_file=_boot_file(basis, settings, machine, probe.JOB),
        limit=timedelta(minutes=1),
        catches_up=False,
    )


def _boot_file(basis: Installed, settings: Settings, machine: Machine, job: str) -> Path:
    if machine.log_dir is not None:
        return machine.log_dir / f"boot-{basis.project}.{job}.log"
    return settings.state_dir / FOLDER / f"boot-{job}.log"


def _new_basis(settings: Settings, launcher: str, machine: Machine, now: datetime) -> Installed:
    folder = settings.workspace_dir.resolve()
    programs = (*_TOOLS, *(job.command[0] for job in settings.jobs if "/" not in job.command[0]))
    return Installed(
        launcher=launcher,
        project=project_name(folder),
        folder=str(folder),
        interpreter=machine.interpreter,
        path=compose_path(machine, programs),
        entries={},
        checked_at=now,
    )


def _read_record(settings: Settings) -> Installed | None:
    return read_installed(settings.state_dir)


def _find_record(settings: Settings) -> Installed:
    record = _read_record(settings)
    if record is None:
        raise InputError("schedule", "nothing was installed for this workspace", INSTALL)
    return record


def _refuse_too_long(launcher: Launcher, entries: Sequence[Entry]) -> None:
    """Raise ConfigError for what cron cannot hold, before anything is changed."""
    if launcher.name == "cron":
        from lamplighter.schedule.cron import render_command  # noqa: PLC0415 - the others hold anything

        for entry in entries:
            render_command(entry)


def _remove_former(before: Installed | None, basis: Installed, machine: Machine) -> Iterator[str]:
    """Take away what was installed at another scheduler or from where the workspace was before."""
    if before is None or (before.launcher, before.project) == (basis.launcher, basis.project):
        return
    try:
        build_launcher(before.launcher, machine).remove(before.project)
    except LamplighterError as error:
        yield f"the former entries at {before.launcher} are still there: {error}"


def _warn(settings: Settings, basis: Installed, machine: Machine) -> Iterator[str]:
    """Yield what will not work by a scheduler though it does in a terminal."""
    for job in settings.jobs:
        named = [value.removeprefix("env:") for value in job.env.values() if value.startswith("env:")]
        if job.is_timed and named:
            yield f"job {job.name}: no scheduler has the variable {named[0]}; name a file: {job.name}.env = file:PATH"
    private = ("Documents", "Desktop", "Downloads", "Library/Mobile Documents")
    if machine.is_mac and any(Path(basis.folder).is_relative_to(machine.home / folder) for folder in private):
        yield f"{basis.folder}: macOS keeps agents out of it until you allow {basis.interpreter} full disk access"


def _check(settings: Settings, record: Installed, machine: Machine, now: datetime) -> tuple[Check, ...]:
    entries = list_entries(record, settings, machine, now)
    found = build_launcher(record.launcher, machine).read(entries, record.project)
    own = label_of(record.project, probe.JOB)  # there while an installation is proved
    facts = tuple(fact for fact in found if fact.label != own)
    outdated = [entry.label for entry in entries if record.entries.get(entry.label) != entry.fingerprint]
    jobs = {fact.label: job_of(fact.label, record.project) for fact in facts}
    return judge_all(entries, facts, jobs, gone=_find_gone(settings.workspace_dir, record), outdated=outdated)


def _find_gone(folder: Path, record: Installed) -> str:
    """Return why no entry can work: what it starts, or where, is no more."""
    if not Path(record.interpreter).exists():
        return f"the interpreter {record.interpreter} is gone"
    if Path(record.folder) != folder.resolve():
        return f"the workspace was moved from {record.folder}"
    return ""


@contextlib.contextmanager
def _alone(state_dir: Path) -> Iterator[None]:
    """Let nobody else change entries meanwhile: a watcher would put back what a person is just taking away."""
    folder = state_dir / FOLDER
    make_folder(folder, mode=0o700)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(excluding(folder, _PATIENCE))
        except DiskError:
            raise UpstreamError("schedule", "another lamplighter is changing the entries", "run it again") from None
        yield


def _look_alone(settings: Settings, clock: Clock, machine: Machine) -> ProbeFacts:
    with _alone(settings.state_dir):
        if not has_record(settings.state_dir):  # taken away meanwhile
            return ProbeFacts()
        return _look(settings, clock, machine)


def _look(settings: Settings, clock: Clock, machine: Machine) -> ProbeFacts:
    """Compare, repair what can be repaired, and say what is wrong or was."""
    record = _find_record(settings)
    _rotate_boot_logs(record, settings, machine)
    now = clock.now()
    wrong = [check for check in _check(settings, record, machine, now) if check.drift]
    if not wrong:
        if now - record.checked_at > EVERY / 2:
            write_installed(settings.state_dir, replace(record, checked_at=now))
        return ProbeFacts()
    drifted = [check for check in wrong if check.drift in REPAIRABLE]
    if drifted:
        record = _note_absence(settings, record, drifted, now)
        _repair(settings, record, machine, now)
        wrong = [check for check in _check(settings, _find_record(settings), machine, now) if check.drift]
    repaired = "" if wrong else _describe(drifted)
    if not wrong:
        return ProbeFacts(repaired=f"scheduler entries were put right: {repaired}")
    return ProbeFacts(
        trouble=f"the scheduler will not start everything: {_describe(wrong)}",
        since=record.checked_at,
        why=wrong[0].words,
        command=wrong[0].remedy,
    )


def _describe(checks: Sequence[Check]) -> str:
    return "; ".join(f"{check.job}: {check.drift.value if check.drift else ''}, {check.words}" for check in checks[:4])


def _note_absence(settings: Settings, record: Installed, drifted: Sequence[Check], now: datetime) -> Installed:
    """Keep in mind from when to when an entry could not start its job: a slot missed then has its reason."""
    kinds = {Drift.MISSING, Drift.DISABLED, Drift.NOT_LOADED, Drift.MOVED}
    found = tuple(
        Absence(job=check.job, drift=check.drift.value, begin_at=record.checked_at, end_at=now)
        for check in drifted
        if check.drift in kinds
    )
    noted = replace(record, absences=(*record.absences, *found))
    write_installed(settings.state_dir, noted)
    return noted


def _repair(settings: Settings, record: Installed, machine: Machine, now: datetime) -> None:
    """Install again what was installed, by the same interpreter as long as that is there; raises what that can."""
    launcher = build_launcher(record.launcher, machine)
    basis = record
    if _find_gone(settings.workspace_dir, record):
        basis = replace(_new_basis(settings, record.launcher, machine, now), absences=record.absences)
    entries = list_entries(basis, settings, machine, now)
    launcher.install(entries, basis.project, gently=True)
    if basis.project != record.project:
        launcher.remove(record.project)
    prints = {entry.label: entry.fingerprint for entry in entries}
    write_installed(settings.state_dir, replace(basis, entries=prints, checked_at=now))


def _rotate_boot_logs(record: Installed, settings: Settings, machine: Machine) -> None:
    for label in record.entries:
        rotate(_boot_file(record, settings, machine, job_of(label, record.project)), _BOOT_BYTES)


def _next_due(cadence: Cadence | None, now: datetime) -> tuple[datetime, ...]:
    if cadence is None:
        return ()
    return tuple(slot.due_at for slot in islice(iter_slots(cadence, now), _SHOWN))
