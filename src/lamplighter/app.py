"""The composition root: builds every object from a workspace, and offers each command as one function."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from lamplighter.config.settings import SETTINGS_FILE, Settings, find_basics, read_settings
from lamplighter.config.workspace import (
    DEMO_ACCOUNT,
    SAMPLE,
    NewWorkspace,
    find_workspace,
    make_workspace,
    refuse_odd_place,
)
from lamplighter.engine import ledger as ledger_tables
from lamplighter.engine.job import RunReport
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.engine.lock import is_held
from lamplighter.engine.lock import read_owner as read_owner_record
from lamplighter.engine.reconcile import see_as_ended
from lamplighter.engine.supervisor import Run, Say, Supervisor, log_file
from lamplighter.errors import InputError, LamplighterError, UsageError, render_line
from lamplighter.featurepost import brandstate, generate, index
from lamplighter.featurepost.brandstate import BrandStates
from lamplighter.featurepost.catalog import CATALOG_FILE, Brand, read_catalog
from lamplighter.featurepost.generate import Generator, Plan, StockLevel, read_level
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.slides.template_report import CheckReport, PreviewReport
from lamplighter.featurepost.stock import Place, Stock, StockItem
from lamplighter.host.clock import Clock, SystemClock
from lamplighter.host.database import Database, Migration, open_database, open_database_to_read
from lamplighter.host.files import current_user, make_folder, read_capped, read_owner
from lamplighter.publish import journal, post
from lamplighter.publish.folder import FolderPublisher
from lamplighter.publish.journal import Entry, Journal, State
from lamplighter.publish.post import Poster, PostPlan
from lamplighter.publish.publisher import lint_post
from lamplighter.schedule.cadence import next_slot

if TYPE_CHECKING:
    from lamplighter.featurepost.slides.renderer import Renderer

DATABASE_FILE = "lamplighter.db"
TEMPLATES_DIR = "templates"
_DEMO_RUNS = 5
MIGRATIONS: tuple[Migration, ...] = (
    *ledger_tables.MIGRATIONS,
    *index.MIGRATIONS,
    *brandstate.MIGRATIONS,
    *journal.MIGRATIONS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where a command works and by which clock; `say` takes its progress, a line at a time."""

    folder: Path
    clock: Clock
    say: Say


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a workspace consists of once its settings are read and its database is open."""

    settings: Settings
    ledger: Ledger
    stock: Stock
    index: Index
    states: BrandStates
    journal: Journal

    def read_brands(self) -> tuple[Brand, ...]:
        """Return the catalog; raises ConfigError."""
        return read_catalog(self.settings.workspace_dir / CATALOG_FILE)


def open_workspace(workspace: str | None, say: Say) -> Workspace:
    """Return the workspace a command means: the named folder, or the nearest above the present one."""
    start = _absolute(Path(workspace or "."))
    if workspace and not _is_folder(start):
        cause = "this is not a folder" if os.path.lexists(start) else "there is no such folder"
        raise InputError(str(start), cause, "lamplighter init makes a workspace")
    folder = find_workspace(start).resolve()
    refuse_odd_place(folder)
    return Workspace(folder=folder, clock=SystemClock(), say=say)


def _absolute(folder: Path) -> Path:
    try:
        return folder.absolute()
    except FileNotFoundError:
        raise InputError(str(folder), "the present folder is gone", "change to one that exists") from None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, a folder we may not look into
        return False


def init(folder: Path, shops: tuple[str, ...]) -> NewWorkspace:
    """Make a workspace; the function behind `lamplighter init`."""
    folder = _absolute(folder)
    refuse_odd_place(folder.resolve())
    refuse_other_user(next((parent for parent in (folder, *folder.parents) if _is_folder(parent)), folder))
    with contextlib.suppress(InputError):
        outer = find_workspace(folder.parent)
        raise UsageError(str(folder), f"it lies inside the workspace {outer}", "choose a folder outside of it")
    return make_workspace(folder, shops)


def run_generate(workspace: Workspace, *, force: bool = False, brand: str = "") -> RunReport:
    """Fill the stock; the function behind `lamplighter generate`."""

    def work(parts: Parts, run: Run) -> RunReport:
        with _generator(parts, workspace.clock, brand) as generator:
            return generator.work(run, force=force)

    words = ("--force" if force else "", f"--brand {brand}" if brand else "")
    return _supervise(workspace, generate.JOB, work, *words)


def plan_generate(workspace: Workspace, *, force: bool = False, brand: str = "") -> Plan:
    """Return what `run_generate` would do; writes nothing."""
    with reading(workspace) as parts, _generator(parts, workspace.clock, brand) as generator:
        return generator.plan(force=force)


def run_post(workspace: Workspace, *, feature_id: str = "", force: bool = False) -> RunReport:
    """Publish the oldest ready feature for today's slot; the function behind `lamplighter post`."""
    return _supervise(
        workspace,
        post.JOB,
        lambda parts, run: _poster(parts, workspace.clock).work(run, feature_id=feature_id, force=force),
        "--force" if force else "",
        f"--feature {feature_id}" if feature_id else "",
    )


def plan_post(workspace: Workspace, *, feature_id: str = "", force: bool = False) -> tuple[PostPlan, tuple[str, ...]]:
    """Return what `run_post` would do and the exact calls it would make; writes nothing."""
    with reading(workspace) as parts:
        plan = _poster(parts, workspace.clock).plan(feature_id=feature_id, force=force)
        calls = _publisher(parts.settings, workspace.clock).describe(plan.post) if plan.post else ()
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
    folder = _absolute(folder)
    new = not os.path.lexists(folder / SETTINGS_FILE)
    if new:
        make(folder, (SAMPLE,))
    elif find_basics(folder)[1] != DEMO_ACCOUNT:
        raise InputError(
            str(folder), "this is a workspace of your own, not a demo", "give the demo a folder of its own"
        )
    refuse_odd_place(folder.resolve())
    workspace = Workspace(folder=folder.resolve(), clock=clock, say=say)
    generated = [fill(workspace)]
    while generated[-1].made_output and len(generated) < _DEMO_RUNS:
        generated.append(fill(workspace))
    return DemoResult(folder=folder, new=new, generated=tuple(generated), posted=publish(workspace))


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What `lamplighter status` shows: stock, today's post and the next slot, last runs, lock holders, skips."""

    level: StockLevel
    drafts: int
    held: int
    posted_today: Entry | None
    next_post_at: datetime | None
    runs: tuple[RunRow, ...]
    holders: tuple[str, ...]
    skipped: tuple[str, ...]


def read_status(workspace: Workspace) -> Status:
    """Return how things stand; writes nothing."""
    now = workspace.clock.now()
    with reading(workspace) as parts:
        settings = parts.settings
        at, zone = settings.post.at, settings.post.zone
        today = parts.journal.of_day(f"{now.astimezone(zone):%Y-%m-%d}")
        coming = next_slot(now, (at,) if at else (), zone)
        skips = [(brand.slug, parts.states.read(brand.slug, now=now)) for brand in parts.read_brands()]
        return Status(
            level=read_level(parts.stock, settings.generate.target, parts.journal.went_out),
            drafts=len(parts.stock.items(Place.DRAFT)),
            held=len(parts.stock.items(Place.HELD)),
            posted_today=today[0] if today else None,
            next_post_at=coming.due_at.astimezone(zone) if coming else None,
            runs=tuple(
                _seen(run, zone) for job in (generate.JOB, post.JOB) for run in parts.ledger.latest(job=job, limit=1)
            ),
            holders=tuple(_describe_holders(settings.state_dir)),
            skipped=tuple(
                f"{slug} until {state.skip_until:%Y-%m-%d %H:%M} UTC: {state.skip_reason}"
                for slug, state in skips
                if state.skip_until is not None
            ),
        )


def read_runs(workspace: Workspace, *, job: str, limit: int) -> tuple[RunRow, ...]:
    """Return the newest runs; one whose process is gone is shown as killed before the next run writes it."""
    with reading(workspace) as parts:
        return tuple(_seen(run, parts.settings.post.zone) for run in parts.ledger.latest(job=job, limit=limit))


def find_run(workspace: Workspace, number: int) -> RunRow:
    """Return one run; raises InputError."""
    with reading(workspace) as parts:
        return _seen(parts.ledger.find(number), parts.settings.post.zone)


def read_log(workspace: Workspace, number: int) -> tuple[str, ...]:
    """Return the log of a run, none when it never wrote a line; raises InputError."""
    with reading(workspace) as parts:
        run = parts.ledger.find(number)
        file = log_file(parts.settings.state_dir, run.job, number)
        if not file.exists():
            return ()
        return tuple(read_capped(file, limit=50_000_000, what="log").decode("utf-8", "replace").splitlines())


def list_templates(workspace: Workspace) -> tuple[tuple[str, bool], ...]:
    """Return the name of each template, and whether it is a built-in one."""
    from lamplighter.featurepost.slides import template_folder  # noqa: PLC0415

    own_dir = workspace.folder / TEMPLATES_DIR
    own = {name for name in template_folder.list_templates(own_dir) if (own_dir / name).is_dir()}
    return tuple((name, name not in own) for name in template_folder.list_templates(own_dir))


def list_misnamed_templates(workspace: Workspace) -> tuple[str, ...]:
    """Return a line for each folder in templates/ that cannot be used by its name."""
    from lamplighter.featurepost.slides.template_folder import NAME_RULE, list_misnamed  # noqa: PLC0415

    own_dir = workspace.folder / TEMPLATES_DIR
    return tuple(f"{TEMPLATES_DIR}/{render_line(name)}: {NAME_RULE}" for name in list_misnamed(own_dir))


def new_template(workspace: Workspace, name: str, *, source: str) -> Path:
    """Copy a template into the workspace and return its folder; the function behind `lamplighter template new`."""
    from lamplighter.featurepost.slides.template_folder import copy_template  # noqa: PLC0415

    refuse_other_user(workspace.folder)
    return copy_template(source, name, workspace.folder / TEMPLATES_DIR).folder_dir


def check_template(workspace: Workspace, name: str, *, output: Path | None = None) -> CheckReport:
    """Try a template with every fixture and write one contact sheet; nothing else is touched, no lock is held."""
    from lamplighter.featurepost.slides import template_check  # noqa: PLC0415
    from lamplighter.featurepost.slides.template_folder import find_template  # noqa: PLC0415

    settings = read_settings(workspace.folder)
    template = find_template(name, workspace.folder / TEMPLATES_DIR)
    sheet_file = _choose_output(workspace, output, f"template-check-{name}.jpg")
    return template_check.check_template(template, _renderer(settings), sheet_file)


def preview_template(workspace: Workspace, name: str, *, brand: str = "", output: Path | None = None) -> PreviewReport:
    """Show a template with a brand's newest feature, or with made-up words in its name; the stock is only read."""
    from lamplighter.featurepost.product import ShopImage  # noqa: PLC0415
    from lamplighter.featurepost.shop import open_shop  # noqa: PLC0415
    from lamplighter.featurepost.slides import template_preview  # noqa: PLC0415
    from lamplighter.featurepost.slides.template_folder import find_template  # noqa: PLC0415
    from lamplighter.featurepost.writer.caption import render_address  # noqa: PLC0415
    from lamplighter.host.http import Client  # noqa: PLC0415

    with reading(workspace) as parts, contextlib.ExitStack() as stack:
        settings, clock = parts.settings, workspace.clock
        template = find_template(name, workspace.folder / TEMPLATES_DIR)
        chosen = _choose_brand(parts.read_brands(), brand, template=name)
        client = stack.enter_context(
            Client(contact=settings.contact, allowed_hosts=settings.shop.allowed_hosts, clock=clock)
        )
        shop = open_shop(chosen, settings.workspace_dir, lambda: client, clock, settings.shop)
        seen = (found.feature for found in parts.stock.examine(Place.READY, Place.HELD, Place.POSTED))
        features = [feature for feature in seen if feature is not None and feature.brand == chosen.slug]
        subject = template_preview.Subject(
            brand=chosen,
            url=render_address(chosen),
            feature=features[-1] if features else None,
            fetch_photo=lambda source: shop.fetch_photo(ShopImage(src=source, position=1)),
        )
        target_dir = _choose_output(workspace, output, f"template-preview-{name}-{chosen.slug}")
        return template_preview.preview_template(template, subject, _renderer(settings), target_dir)


def _choose_output(workspace: Workspace, output: Path | None, name: str) -> Path:
    """Return where a person wants a picture, by default in the workspace, where only its owner may write."""
    if output is not None:
        return _absolute(output)
    refuse_other_user(workspace.folder)
    return workspace.folder / name


def _choose_brand(brands: tuple[Brand, ...], slug: str, *, template: str) -> Brand:
    """Return the brand a person names, else the first that has the template, else the first; raises InputError."""
    if not slug:
        return next((entry for entry in brands if entry.template == template), brands[0])
    for entry in brands:
        if entry.slug == slug:
            return entry
    known = ", ".join(entry.slug for entry in brands)
    raise InputError(f"brand {slug!r}", "it is not in the catalog", f"known are {known}")


def refuse_busy(parts: Parts, item: StockItem) -> None:
    """Raise InputError when a feature is just being made or going out."""
    entry = parts.journal.find(item.id)
    if entry is not None and entry.state is State.POSTING:
        raise InputError(f"feature {item.id}", f"it is going out for {entry.slot}", "lamplighter post settles it")
    making = item.place is Place.DRAFT and parts.stock.failure(item) is None
    if making and is_held(parts.settings.state_dir / "locks" / generate.JOB):
        raise InputError(f"feature {item.id}", "it is being made right now", "wait until generate has ended")


def _seen(run: RunRow, zone: ZoneInfo) -> RunRow:
    """Return a run as it is told now: its death if it was not written yet, its times in the workspace's zone."""
    ended_at = run.ended_at.astimezone(zone) if run.ended_at else None
    return replace(run, report=see_as_ended(run), started_at=run.started_at.astimezone(zone), ended_at=ended_at)


def _describe_holders(state_dir: Path) -> Iterator[str]:
    for job in (generate.JOB, post.JOB):
        folder = state_dir / "locks" / job
        if is_held(folder):
            owner = read_owner_record(folder)
            yield f"{job}: {owner.describe() if owner else 'held'}"


@contextlib.contextmanager
def reading(workspace: Workspace) -> Iterator[Parts]:
    """Open a workspace to look only: nothing on disk changes, a missing database reads as an empty one."""
    settings = read_settings(workspace.folder)
    with open_database_to_read(settings.state_dir / DATABASE_FILE, MIGRATIONS) as database:
        parts = _assemble(settings, database, workspace.clock)
        with contextlib.suppress(LamplighterError):  # in memory: what a run would take over first is seen as taken over
            parts.stock.take_over()
            _poster(parts, workspace.clock).remember()
        yield parts


@contextlib.contextmanager
def writing(workspace: Workspace) -> Iterator[Parts]:
    """Open a workspace to change it, as its owner only."""
    refuse_other_user(workspace.folder)
    settings = read_settings(workspace.folder)
    with _open_to_write(settings.state_dir) as database:
        yield _assemble(settings, database, workspace.clock)


def refuse_other_user(folder: Path) -> None:
    """Raise UsageError unless this process acts as the owner of the folder, root included."""
    owner, user = read_owner(folder), current_user()
    if owner != user:
        raise UsageError(str(folder), f"it belongs to user {owner}, and this is user {user}", "run it as its owner")


def _supervise(workspace: Workspace, job: str, work: Callable[[Parts, Run], RunReport], *words: str) -> RunReport:
    """Run work with a row from before the settings are read, so that broken settings are a recorded failure too."""
    refuse_other_user(workspace.folder)
    state_dir, account = find_basics(workspace.folder)
    with _open_to_write(state_dir) as database:
        supervisor = Supervisor(
            ledger=Ledger(database, workspace.clock, account),
            state_dir=state_dir,
            clock=workspace.clock,
            say=workspace.say,
        )

        def work_with_parts(run: Run) -> RunReport:
            return work(_assemble(read_settings(workspace.folder), database, workspace.clock), run)

        return supervisor.run(job, work_with_parts, command=" ".join(filter(None, ("lamplighter", job, *words))))


def _open_to_write(state_dir: Path) -> Database:
    make_folder(state_dir, mode=0o700)
    return open_database(state_dir / DATABASE_FILE, MIGRATIONS)


def _assemble(settings: Settings, database: Database, clock: Clock) -> Parts:
    features = Index(database, settings.account)
    return Parts(
        settings=settings,
        ledger=Ledger(database, clock, settings.account),
        stock=Stock(settings.workspace_dir / "content" / "sns", features, lint_post),
        index=features,
        states=BrandStates(database, settings.account),
        journal=Journal(database, clock, account=settings.account, channel=settings.publisher),
    )


def _renderer(settings: Settings) -> Renderer:
    from lamplighter.featurepost.slides.renderer import Renderer  # noqa: PLC0415
    from lamplighter.host.process import SystemRunner  # noqa: PLC0415

    fonts_dir = settings.workspace_dir / "fonts"
    return Renderer(runner=SystemRunner(), fonts_dir=fonts_dir, deadline=settings.slides_limit)


@contextlib.contextmanager
def _generator(parts: Parts, clock: Clock, brand: str) -> Iterator[Generator]:
    """Build the generator; what draws and what fetches is loaded here, so that other commands start quickly."""
    from lamplighter.featurepost.making import FeatureMaker, Workshop  # noqa: PLC0415
    from lamplighter.featurepost.shop import open_shop  # noqa: PLC0415
    from lamplighter.featurepost.slides.template_folder import find_template  # noqa: PLC0415
    from lamplighter.featurepost.writer.template import TemplateWriter  # noqa: PLC0415
    from lamplighter.host.http import Client  # noqa: PLC0415

    settings = parts.settings
    brands = parts.read_brands()
    chosen = tuple(entry for entry in brands if brand in {"", entry.slug})
    if not chosen:
        known = ", ".join(entry.slug for entry in brands)
        raise InputError(f"brand {brand!r}", "it is not in the catalog", f"known are {known}")
    with Client(contact=settings.contact, allowed_hosts=settings.shop.allowed_hosts, clock=clock) as client:
        workshop = Workshop(
            shop_for=lambda entry: open_shop(entry, settings.workspace_dir, lambda: client, clock, settings.shop),
            template_for=lambda entry: find_template(entry.template, settings.workspace_dir / TEMPLATES_DIR),
            writer=TemplateWriter(),
            renderer=_renderer(settings),
            lint=lint_post,
            clock=clock,
            hold_for_review=settings.generate.review,
        )
        yield Generator(
            brands=chosen,
            stock=parts.stock,
            index=parts.index,
            states=parts.states,
            maker=FeatureMaker(workshop, parts.stock, parts.index),
            clock=clock,
            settings=settings.generate,
            went_out=parts.journal.went_out,
            named=bool(brand),
        )


def _poster(parts: Parts, clock: Clock) -> Poster:
    return Poster(
        stock=parts.stock,
        journal=parts.journal,
        publisher=_publisher(parts.settings, clock),
        record_file=parts.settings.state_dir / f"{parts.settings.publisher}_posted.jsonl",
        clock=clock,
        settings=parts.settings.post,
    )


def _publisher(settings: Settings, clock: Clock) -> FolderPublisher:
    return FolderPublisher(settings.workspace_dir / "outbox", clock)
