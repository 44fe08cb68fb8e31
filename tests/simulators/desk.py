"""A stock with everything around it, in one folder: real folders, a real database, a clock that a test moves.

    desk = Desk.open(tmp_path)
    ready = desk.put("wrenfold")                  # a whole, ready feature, promoted as generate does it
    maker = ScriptedMaker(desk, {"wrenfold": [RefusedByShop, None]})   # fails, then makes one
    desk.clock.advance(timedelta(days=1))
    again = Desk.open(tmp_path)                   # as another process sees it

`desk.said` holds what the run said. Nothing here is patched: a desk is what app.py builds, by hand.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Self

from tests.simulators.clock import START, VirtualClock

from lamplighter.app.opening import MIGRATIONS
from lamplighter.config.workspace import make_workspace
from lamplighter.engine.supervisor import Run
from lamplighter.errors import LamplighterError
from lamplighter.featurepost.brandstate import BrandStates
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import (
    Copy,
    Fact,
    FactSheet,
    Feature,
    Product,
    ProductCopy,
    Role,
    Slide,
    SlideText,
    WriterRecord,
    render_manifest,
)
from lamplighter.featurepost.generate import NotMade
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.shop import RateLimited
from lamplighter.featurepost.stock import Failure, Reason, Stock, StockItem
from lamplighter.host.database import Database, open_database
from lamplighter.publish.journal import Journal

JPEG = b"\xff\xd8\xff\xe0 not a whole picture, and nobody here looks inside \xff\xd9"


def allow() -> None:
    """Let a commit pass, as a lock that is held does."""


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Desk:
    """What a workspace consists of, as far as stock, brands and journal go."""

    folder: Path
    database: Database
    clock: VirtualClock
    index: Index
    stock: Stock
    states: BrandStates
    journal: Journal
    said: list[str] = field(default_factory=list)
    check: Callable[[], None] = allow

    @classmethod
    def in_workspace(cls, folder: Path, clock: VirtualClock | None = None) -> Self:
        """Make a workspace with two brands, or open it."""
        if not folder.exists():
            make_workspace(folder, ("file:wrenfold", "file:kirino"))
            (folder / "state").mkdir(mode=0o700)
        return cls.open(folder, clock, database="state/lamplighter.db")

    @classmethod
    def open(cls, folder: Path, clock: VirtualClock | None = None, *, database: str = "lamplighter.db") -> Self:
        """Open what is in a folder, or begin anew."""
        clock = clock or VirtualClock()
        opened = open_database(folder / database, MIGRATIONS)
        index = Index(opened, "main")
        desk = cls(
            folder=folder,
            database=opened,
            clock=clock,
            index=index,
            stock=Stock(folder / "content" / "sns", index),
            states=BrandStates(opened, "main"),
            journal=Journal(opened, clock, account="main", channel="folder"),
        )
        weakref.finalize(desk, opened.close)
        return desk

    @property
    def sns(self) -> Path:
        """Return where the features are."""
        return self.stock.folder

    def run(self, number: int = 1, generation: int = 1) -> Run:
        """Return a run at work."""
        return Run(number=number, generation=generation, check=self._ask, say=self.said.append)

    def _ask(self) -> None:
        """Ask whatever `check` is by then."""
        self.check()

    def put(
        self, brand: str = "wrenfold", *, hold: Reason | None = None, product_ids: tuple[int, ...] = (1,)
    ) -> StockItem:
        """Make a feature ready, or held."""
        draft = self.stock.new_draft(brand)
        feature = make_feature(draft, brand, made_at=self.clock.now(), product_ids=product_ids)
        fill(draft, feature)
        item = self.stock.promote(draft, allow, hold)
        self.index.remember(feature)
        return item

    def forget(self) -> Desk:
        """Delete the database and open what is left, as after a loss."""
        self.database.close()
        for file in self.folder.glob("lamplighter.db*"):
            file.unlink()
        return Desk.open(self.folder, self.clock)


class ScriptedMaker:
    """Makes features as told: for each brand a list of errors and None (make one); an empty list makes for ever.

    `hooks` are called with the brand's slug before each attempt; `tried` holds the slugs in order.
    """

    def __init__(self, desk: Desk, script: dict[str, list[LamplighterError | None]] | None = None) -> None:
        self._desk = desk
        self._script = script or {}
        self.tried: list[str] = []
        self.by_gate = False

    def make(self, brand: Brand, run: Run) -> Feature:
        """Do what the script says next for this brand."""
        self.tried.append(brand.slug)
        steps = self._script.get(brand.slug, [])
        error = steps.pop(0) if steps else None
        draft = self._desk.stock.new_draft(brand.slug)
        if error is not None:
            failure = Failure(step="slides", message=str(error), at=self._desk.clock.now(), run=run.number)
            self._desk.stock.fail(draft, failure)
            until = error.until if isinstance(error, RateLimited) else None
            raise NotMade(brand.slug, "slides", error, by_gate=self.by_gate, limited_until=until) from error
        feature = make_feature(draft, brand.slug, made_at=self._desk.clock.now())
        fill(draft, feature)
        self._desk.stock.promote(draft, run.check)
        self._desk.index.remember(feature)
        return feature


def make_brand(slug: str, **changes: str) -> Brand:
    """Return a brand of the catalog."""
    shop = changes.get("shop", "file:shop")
    return Brand(slug=slug, name=slug.title(), shop=shop, handle="@" + slug, language="en", permission="own")


def make_feature(
    item: StockItem,
    brand: str = "wrenfold",
    *,
    made_at: datetime = START,
    product_ids: tuple[int, ...] = (1,),
    title: str = "Quiet things",
    caption: str = "A few quiet things.",
    brand_name: str = "Wrenfold",
    alts: tuple[str, ...] = ("A bowl.", "A mug."),
    generation: int = 1,
) -> Feature:
    """Return a small, whole feature for a folder."""
    return Feature(
        id=item.id,
        number=item.number,
        brand=brand,
        brand_name=brand_name,
        language="en",
        title=title,
        products=tuple(Product(id=number, title=f"Product {number}") for number in product_ids),
        facts=tuple(
            FactSheet(
                product_id=number,
                title=f"Product {number}",
                facts=(Fact(id="F1", kind="title", text=f"Product {number}", source="title"),),
            )
            for number in product_ids
        ),
        copy=make_copy(product_ids, title=title, caption=caption),
        caption=caption,
        slides=tuple(
            Slide(
                file=f"slide-{position}.jpg",
                role=Role.COVER if position == 1 else Role.PRODUCT,
                text=SlideText(title=title),
                alt=alt,
            )
            for position, alt in enumerate(alts, start=1)
        ),
        template="default",
        writer=WriterRecord(tool="template"),
        run=1,
        generation=generation,
        made_at=made_at,
    )


def make_copy(
    product_ids: tuple[int, ...], *, title: str = "Quiet things", caption: str = "A few quiet things."
) -> Copy:
    """Return words that name no number, price or claim."""
    return Copy(
        kicker="From the shop",
        title=title,
        subtitle="For a slow morning",
        products=tuple(ProductCopy(product_id=number, name="A bowl", note="Made by hand") for number in product_ids),
        detail_title="Look closer",
        detail_body="The glaze runs a little",
        closing_title="See them all",
        closing_body="In the shop",
        caption=caption,
        hashtags=(),
    )


def fill(item: StockItem, feature: Feature) -> None:
    """Write what a ready feature holds."""
    for slide in feature.slides:
        (item.folder / slide.file).write_bytes(JPEG)
    (item.folder / "caption.txt").write_text(feature.caption + "\n", "utf-8")
    (item.folder / "qa.json").write_text("{}", "utf-8")
    (item.folder / "feature.json").write_bytes(render_manifest(feature))
