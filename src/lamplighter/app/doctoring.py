"""Asks every part of a workspace whether it can work: the function behind `lamplighter doctor`. Writes nothing."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lamplighter.app.answering import ALL_MIGRATIONS, Watched, read_watched
from lamplighter.app.cadence import list_cadences
from lamplighter.app.opening import TEMPLATES_DIR, Parts, assemble, build_renderer
from lamplighter.app.place import Workspace
from lamplighter.app.running import DATABASE_FILE
from lamplighter.config.settings import Settings, read_settings
from lamplighter.doctor import drawing, entries, network, notices, place, program, state
from lamplighter.doctor.finding import Finding, Look, good, wrong
from lamplighter.doctor.finding import examine as examine_all
from lamplighter.doctor.job import judge_job
from lamplighter.doctor.job_facts import Asked, read_job_facts
from lamplighter.engine.log import find_highest_log
from lamplighter.engine.repair import open_to_look
from lamplighter.errors import ConfigError, Damaged, DiskError, InputError, LamplighterError, UsageError
from lamplighter.featurepost import generate
from lamplighter.featurepost.catalog import CATALOG_FILE, Brand, read_catalog
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.featurepost.shop import Shop, open_shop
from lamplighter.featurepost.stock import Place
from lamplighter.host.database import examine as examine_database
from lamplighter.host.http import Client, Http
from lamplighter.host.online import is_online
from lamplighter.host.space import read_space
from lamplighter.notify.delivery_table import DeliveryTable
from lamplighter.notify.heartbeat import VERDICT, WATCH, Heartbeat
from lamplighter.notify.secret import read_secret
from lamplighter.publish import post
from lamplighter.schedule.cadence import Slot
from lamplighter.schedule.check import INSTALL, Check
from lamplighter.schedule.record import Installed, read_installed

if TYPE_CHECKING:
    from lamplighter.app.machine import Machine

_MOST_DRAFTS = 30
_SAMPLE_DIR = Path(__file__).parents[1] / "sample"
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a person asked for: nothing of the network, and all that is stored compared with each other."""

    is_offline: bool = False
    is_deep: bool = False


def examine(workspace: Workspace, wishes: Wishes, *, machine: Machine | None = None) -> Iterator[Finding]:
    """Yield a line for everything that has to work, as it is found; whatever cannot be looked at is said so."""
    with ExitStack() as stack:
        yield from examine_all(Doctor(workspace, wishes, stack, machine).list_looks())


class Doctor:
    """Looks at one workspace once; what several looks need is read once, when the first of them needs it."""

    def __init__(self, workspace: Workspace, wishes: Wishes, stack: ExitStack, machine: Machine | None = None) -> None:
        """Take the workspace; `stack` closes what is opened."""
        self._workspace = workspace
        self._wishes = wishes
        self._stack = stack
        self._clock = workspace.clock
        self._machine = machine
        self._budget = network.Budget(workspace.clock)

    def list_looks(self) -> Iterator[Look]:
        """Yield every look, in the order of what rests on what."""
        yield Look(about="settings", find=self._look_at_settings)
        yield Look(about="owner", find=lambda: place.look_at_owner(self._workspace.folder))
        yield Look(about="folders", find=self._look_at_folders)
        yield Look(about="state disk", find=lambda: place.look_at_state_disk(self._settings.state_dir))
        yield Look(about="disk", find=self._look_at_disk)
        yield Look(about="python", find=lambda: program.look_at_program(program.read_program(self._find_program())))
        yield Look(about="path", find=self._look_at_path)
        yield Look(about="database", find=self._look_at_database)
        yield Look(about="scheduler", find=self._look_at_scheduler)
        yield Look(about="login", find=self._look_at_login)
        yield Look(about="jobs", find=self._look_at_jobs)
        yield Look(about="watch", find=self._look_at_watch)
        yield Look(about="incidents", find=self._look_at_incidents)
        yield Look(about="drafts", find=self._look_at_drafts)
        yield Look(about="writer", find=self._look_at_writer)
        yield Look(about="slides", find=self._look_at_slides)
        yield Look(about="publisher", find=self._look_at_publisher)
        yield Look(about="channels", find=self._look_at_channels)
        yield Look(about="heartbeats", find=self._look_at_heartbeats)
        yield Look(about="zone", find=self._look_at_zone)
        yield Look(about="shops", find=self._look_at_shops)
        yield Look(about="clock", find=self._look_at_clock)
        if self._wishes.is_deep:
            yield Look(about="deep", find=self._look_deep)

    @functools.cached_property
    def _settings(self) -> Settings:
        return _needed("the settings", lambda: read_settings(self._workspace.folder))

    @functools.cached_property
    def _brands(self) -> tuple[Brand, ...]:
        return _needed("the catalog", lambda: read_catalog(self._workspace.folder / CATALOG_FILE))

    @functools.cached_property
    def _parts(self) -> Parts:
        """Return the parts around a copy of the database, in memory."""
        return _needed("the database", self._open_parts)

    @functools.cached_property
    def _watched(self) -> Watched:
        return read_watched(self._settings, self._parts.database, self._clock)

    @property
    def _state_dir(self) -> Path:
        """Return the state folder; raises DiskError for one that may not be looked into: what is hidden is not gone."""
        state_dir = self._settings.state_dir
        if os.path.lexists(state_dir) and not os.access(state_dir, os.R_OK | os.X_OK):
            raise DiskError(str(state_dir), "it may not be looked into", "run it as its owner")
        return state_dir

    def _open_parts(self) -> Parts:
        settings = self._settings
        file = self._state_dir / DATABASE_FILE
        database = open_to_look(file, ALL_MIGRATIONS, logs_dir=self._state_dir / "logs")
        return assemble(settings, self._stack.enter_context(database), self._clock)

    @functools.cached_property
    def _record(self) -> Installed | None:
        """Return what was installed; raises InputError for a record that makes no sense."""
        return read_installed(self._state_dir)

    @functools.cached_property
    def _here(self) -> Machine:
        from lamplighter.app.machine import read_machine  # noqa: PLC0415 - only where something was installed

        return self._machine or read_machine()

    @functools.cached_property
    def _checks(self) -> tuple[Check, ...]:
        from lamplighter.app import scheduling  # noqa: PLC0415 - only where something was installed

        return scheduling.verify(self._workspace, machine=self._here)

    @functools.cached_property
    def _is_sample(self) -> bool:
        """Return whether all brands are the sample's own: then nobody waits for a post."""
        sample = {(brand.slug, brand.shop) for brand in read_catalog(_SAMPLE_DIR / CATALOG_FILE)}
        return bool(self._brands) and {(brand.slug, brand.shop) for brand in self._brands} <= sample

    @functools.cached_property
    def _outside(self) -> network.Outside:
        return network.Outside(
            http=lambda: self._client,
            open_shop=self._open_shop,
            is_online=lambda: is_online(()),
            clock=self._clock,
            budget=self._budget,
            is_offline=self._wishes.is_offline,
        )

    @functools.cached_property
    def _client(self) -> Http:
        settings = self._settings
        hosts = settings.shop.allowed_hosts
        return self._stack.enter_context(Client(contact=settings.contact, allowed_hosts=hosts, clock=self._clock))

    def _open_shop(self, brand: Brand, settings: ShopSettings) -> Shop:
        return open_shop(brand, self._settings.workspace_dir, lambda: self._client, self._clock, settings)

    def _look_at_settings(self) -> Iterator[Finding]:
        try:
            read_settings(self._workspace.folder)
        except (ConfigError, InputError) as error:
            yield wrong("settings", f"{error.subject}: {error.cause}", error.remedy or "correct it")
        else:
            yield good("settings", "lamplighter.toml is right")
        try:
            brands = read_catalog(self._workspace.folder / CATALOG_FILE)
        except (ConfigError, InputError) as error:
            yield wrong("catalog", f"{error.subject}: {error.cause}", error.remedy or "correct it")
        else:
            yield good("catalog", f"{len(brands)} in {CATALOG_FILE}: {', '.join(brand.slug for brand in brands)}")

    def _look_at_folders(self) -> Iterator[Finding]:
        place.refuse_other_eyes(self._workspace.folder)
        state_dir, folder = self._settings.state_dir, self._settings.workspace_dir
        return place.look_at_folders(
            (folder, state_dir, state_dir / "locks", state_dir / "logs", folder / "content/sns")
        )

    def _look_at_disk(self) -> Iterator[Finding]:
        state_dir, folder = self._settings.state_dir, self._settings.workspace_dir
        found = [place.judge_space(where, read_space(_nearest(where))) for where in (folder, state_dir)]
        yield next((finding for finding in found if finding.remedy), found[0])

    def _find_program(self) -> str:
        return self._record.interpreter if self._record else ""

    def _look_at_path(self) -> Iterator[Finding]:
        here = os.environ.get("PATH", os.defpath)
        path = self._record.path if self._record else here
        return program.look_at_path(path, self._settings.jobs, here=here, is_installed=self._record is not None)

    def _look_at_database(self) -> Iterator[Finding]:
        state_dir = self._state_dir
        file = state_dir / DATABASE_FILE
        remedy = "the next run sets it aside and makes a new one from the folders and the record"
        if not os.path.lexists(file) and not find_highest_log(state_dir / "logs"):
            yield good("database", "there is none yet: the first run makes it")
            return
        if not os.path.lexists(file):
            yield wrong("database", f"{file} is gone, and runs have been recorded in it", remedy)
            return
        damage = examine_database(file, ALL_MIGRATIONS)
        try:
            open_to_look(file, ALL_MIGRATIONS, logs_dir=state_dir / "logs").close()
        except Damaged as error:
            damage = damage or error.cause
        if damage:
            yield wrong("database", f"{file} is damaged: {damage}", remedy)
        else:
            yield good("database", f"it opens and is whole: {file.stat().st_size:,} bytes")

    def _look_at_scheduler(self) -> Iterator[Finding]:
        try:
            record = self._record
        except InputError as error:
            yield wrong("scheduler", f"{error.subject}: {error.cause}", INSTALL)
            return
        if record is None:
            is_timed = bool(list_cadences(self._settings))
            yield entries.judge_none(is_timed=is_timed, is_sample=self._is_sample)
            return
        try:
            checks = self._checks
        except UsageError as error:  # entries of another kind of machine
            yield wrong("scheduler", f"installed at {record.launcher}: {error.cause}", INSTALL)
            return
        yield from entries.judge_entries(checks, self._read_fires(), self._settings.post.zone)

    def _read_fires(self) -> Mapping[str, entries.Fires]:
        from lamplighter.app import scheduling  # noqa: PLC0415 - only where something was installed

        _, shown = scheduling.show(self._workspace, machine=self._here)
        return {
            job.label: entries.Fires(due_at=job.due_at, woken_at=job.wakes.at, words=job.wakes.words) for job in shown
        }

    def _look_at_login(self) -> Iterator[Finding]:
        record = self._record
        if record is None:
            yield good("login", "nothing is installed that depends on one")
            return
        from lamplighter.app.machine import build_launcher  # noqa: PLC0415 - only where something was installed
        from lamplighter.app.scheduling import list_entries  # noqa: PLC0415 - the same

        launcher = build_launcher(record.launcher, self._here)
        silence = ""
        if record.launcher == "cron":
            silence = launcher.explain_silence(list_entries(record, self._settings, self._here, self._clock.now())[-1])
        yield entries.judge_login(record.launcher, launcher.list_remarks(), silence)

    def _look_at_jobs(self) -> Iterator[Finding]:
        settings = self._settings
        found, missing = self._read_entries()
        for asked in self._list_asked():
            check = found.get(asked.job)
            entry = missing if check is None else f"entry {check.drift.value if check.drift else 'loaded'}"
            if asked.cadence is None:
                entry = "no due times"
            facts = read_job_facts(
                asked,
                self._parts.database,
                self._clock,
                settings.account,
                entry=entry,
                last_exit=check.last_exit if check else "",
            )
            yield judge_job(facts, now=self._clock.now(), zone=settings.post.zone)

    def _read_entries(self) -> tuple[Mapping[str, Check], str]:
        """Return how each job's entry stands, and what to say of a job that has none."""
        try:
            if self._record is None:
                return {}, "no entry"
            return {check.job: check for check in self._checks}, "no entry"
        except (LamplighterError, OSError):
            return {}, "entry not known"

    def _list_asked(self) -> Iterator[Asked]:
        settings, cadences = self._settings, list_cadences(self._settings)
        limits = {generate.JOB: settings.generate.limit, post.JOB: settings.post.limit}
        limits |= {job.name: job.limit for job in settings.jobs if job.limit is not None}
        for name in (generate.JOB, post.JOB, *(job.name for job in settings.jobs)):
            is_ours = name in {generate.JOB, post.JOB}
            yield Asked(
                job=name,
                cadence=cadences.get(name),
                limit=limits.get(name),
                command=f"lamplighter {name}" if is_ours else f"lamplighter run {name}",
                is_served=self._has_post if name == post.JOB else lambda _: False,
                lock_dir=settings.state_dir / "locks" / name,
            )

    def _has_post(self, slot: Slot) -> bool:
        return any(entry.receipt is not None for entry in self._parts.journal.of_day(f"{slot.day:%Y-%m-%d}"))

    def _look_at_watch(self) -> Iterator[Finding]:
        last_at, is_installed = self._watched.last_tick_at, self._record is not None
        yield state.judge_watch(last_at, self._clock.now(), is_installed=is_installed, is_sample=self._is_sample)

    def _look_at_incidents(self) -> Iterator[Finding]:
        yield from state.judge_incidents(self._watched.incidents, self._clock.now())

    def _look_at_drafts(self) -> Iterator[Finding]:
        yield state.judge_drafts(len(self._parts.stock.items(Place.DRAFT)), _MOST_DRAFTS)

    def _look_at_writer(self) -> Iterator[Finding]:
        """Find whether each writer can write; tools that need a login come here."""
        yield good("writer", "template, which needs no tool and no login")

    def _look_at_slides(self) -> Iterator[Finding]:
        brands = self._brands
        try:
            renderer = build_renderer(self._settings)
        except ImportError as error:
            yield wrong("slides", f"what draws them cannot be loaded: {error}", "install lamplighter again")
            return
        yield from drawing.look_at_slides(brands, self._settings.workspace_dir / TEMPLATES_DIR, renderer)

    def _look_at_publisher(self) -> Iterator[Finding]:
        place.refuse_other_eyes(self._workspace.folder)
        outbox_dir = self._settings.workspace_dir / "outbox"
        why = place.find_closed(outbox_dir)
        if why:
            yield wrong("publisher", f"{outbox_dir} {why}", "give it back to its owner, with chmod u+rwx")
        else:
            yield good("publisher", f"{self._settings.publisher}: posts go into {outbox_dir}")

    def _look_at_channels(self) -> Iterator[Finding]:
        settings = self._settings.notify
        states = DeliveryTable(self._parts.database, self._settings.account).states() if settings.channels else {}
        read = functools.partial(_read_address, folder=settings.folder)
        return notices.judge_channels(settings, states, read, self._clock.now())

    def _look_at_heartbeats(self) -> Iterator[Finding]:
        settings = self._settings.heartbeat
        beats = {}
        if settings.watch or settings.verdict:
            account = self._settings.account
            table = Heartbeat(self._parts.database, self._clock, account, http=self._client, read_url=str)
            beats = {name: table.read(name) for name in (WATCH, VERDICT)}
        read = functools.partial(_read_address, folder=settings.folder)
        return notices.judge_heartbeats(settings, beats, read, self._clock.now())

    def _look_at_zone(self) -> Iterator[Finding]:
        yield network.judge_zone(self._settings.post.zone, self._clock.now())

    def _look_at_shops(self) -> Iterator[Finding]:
        return network.look_at_shops(self._brands, self._settings.shop, self._outside)

    def _look_at_clock(self) -> Iterator[Finding]:
        return network.look_at_clock(self._brands, self._outside)

    def _look_deep(self) -> Iterator[Finding]:
        from lamplighter.app.comparing import compare_all  # noqa: PLC0415 - only where a person asks for it

        return compare_all(self._settings, self._clock)


def _needed(what: str, read: Callable[[], _Found]) -> _Found:
    """Return what a look needs; raises DiskError, which names only what that was: its own line says why."""
    try:
        return read()
    except LamplighterError as error:
        raise DiskError(what, "cannot be read: see its own line") from error


def _read_address(name: str, source: str, *, folder: Path) -> str:
    return read_secret(source, about=name, folder=folder, environment=os.environ)


def _nearest(folder: Path) -> Path:
    return next((path for path in (folder, *folder.parents) if path.is_dir()), folder)
