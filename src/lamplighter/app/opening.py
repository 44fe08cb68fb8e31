"""The parts of a workspace: settings, database, stock, journal, generator and poster, built here and nowhere else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lamplighter.app.place import Workspace, refuse_other_user
from lamplighter.app.running import DATABASE_FILE, ENGINE_MIGRATIONS, opening_to_write
from lamplighter.config.settings import Settings, read_settings
from lamplighter.engine.holder import read_is_held
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.repair import open_to_look
from lamplighter.errors import InputError, LamplighterError
from lamplighter.featurepost import brandstate, generate, index
from lamplighter.featurepost.brandstate import BrandStates
from lamplighter.featurepost.catalog import CATALOG_FILE, Brand, read_catalog
from lamplighter.featurepost.generate import Generator
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.stock import Place, Stock, StockItem
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.notify import announced, delivery_table, heartbeat_table, outbox
from lamplighter.publish import journal
from lamplighter.publish.folder import FolderPublisher
from lamplighter.publish.journal import Journal, State
from lamplighter.publish.post import Poster
from lamplighter.publish.publisher import lint_post

if TYPE_CHECKING:
    from lamplighter.featurepost.slides.renderer import Renderer

TEMPLATES_DIR = "templates"
MIGRATIONS: tuple[Migration, ...] = (
    *ENGINE_MIGRATIONS,
    *index.MIGRATIONS,
    *brandstate.MIGRATIONS,
    *journal.MIGRATIONS,
    *outbox.MIGRATIONS,
    *delivery_table.MIGRATIONS,
    *heartbeat_table.MIGRATIONS,
    *announced.MIGRATIONS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a workspace consists of once its settings are read and its database is open."""

    settings: Settings
    database: Database
    ledger: Ledger
    stock: Stock
    index: Index
    states: BrandStates
    journal: Journal

    def read_brands(self) -> tuple[Brand, ...]:
        """Return the catalog; raises ConfigError."""
        return read_catalog(self.settings.workspace_dir / CATALOG_FILE)


def refuse_busy(parts: Parts, item: StockItem) -> None:
    """Raise InputError when a feature is just being made or going out."""
    entry = parts.journal.find(item.id)
    if entry is not None and entry.state is State.POSTING:
        raise InputError(f"feature {item.id}", f"it is going out for {entry.slot}", "lamplighter post settles it")
    making = item.place is Place.DRAFT and parts.stock.failure(item) is None
    if making and read_is_held(parts.settings.state_dir / "locks" / generate.JOB):
        raise InputError(f"feature {item.id}", "it is being made right now", "wait until generate has ended")


@contextlib.contextmanager
def reading(workspace: Workspace, *, migrations: tuple[Migration, ...] = MIGRATIONS) -> Iterator[Parts]:
    """Open a workspace to look only: nothing on disk changes, a missing database reads as an empty one."""
    settings = read_settings(workspace.folder)
    file = settings.state_dir / DATABASE_FILE
    with open_to_look(file, migrations, logs_dir=settings.state_dir / "logs") as database:
        parts = assemble(settings, database, workspace.clock)
        with contextlib.suppress(LamplighterError):  # in memory: what a run would take over first is seen as taken over
            parts.stock.take_over()
            build_poster(parts, workspace.clock).remember()
        yield parts


@contextlib.contextmanager
def writing(workspace: Workspace) -> Iterator[Parts]:
    """Open a workspace to change it, as its owner only."""
    refuse_other_user(workspace.folder)
    settings = read_settings(workspace.folder)
    with opening_to_write(workspace, settings.state_dir, MIGRATIONS) as opened:
        parts = assemble(settings, opened.database, workspace.clock)
        if opened.is_repaired:
            parts.stock.take_over()
            build_poster(parts, workspace.clock).remember()
        yield parts


def assemble(settings: Settings, database: Database, clock: Clock) -> Parts:
    """Build the parts of a workspace around an open database."""
    features = Index(database, settings.account)
    return Parts(
        settings=settings,
        database=database,
        ledger=Ledger(database, clock, settings.account),
        stock=Stock(settings.workspace_dir / "content" / "sns", features, lint_post),
        index=features,
        states=BrandStates(database, settings.account),
        journal=Journal(database, clock, account=settings.account, channel=settings.publisher),
    )


def build_renderer(settings: Settings) -> Renderer:
    """Build what draws slides, with the fonts and the limit of the settings."""
    from lamplighter.featurepost.slides.renderer import Renderer  # noqa: PLC0415
    from lamplighter.host.process import SystemRunner  # noqa: PLC0415

    fonts_dir = settings.workspace_dir / "fonts"
    return Renderer(runner=SystemRunner(), fonts_dir=fonts_dir, deadline=settings.slides_limit)


@contextlib.contextmanager
def build_generator(parts: Parts, clock: Clock, brand: str) -> Iterator[Generator]:
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
            renderer=build_renderer(settings),
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


def build_poster(parts: Parts, clock: Clock) -> Poster:
    """Build what posts."""
    return Poster(
        stock=parts.stock,
        journal=parts.journal,
        publisher=build_publisher(parts.settings, clock),
        record_file=parts.settings.state_dir / f"{parts.settings.publisher}_posted.jsonl",
        clock=clock,
        settings=parts.settings.post,
    )


def build_publisher(settings: Settings, clock: Clock) -> FolderPublisher:
    """Build the publisher that the settings name."""
    return FolderPublisher(settings.workspace_dir / "outbox", clock)
