"""Makes one feature: shop, facts, words, gate, slides, ready. Every step leaves its trace in the draft."""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import msgspec

from lamplighter.engine.supervisor import Run
from lamplighter.errors import DiskError, LamplighterError, UpstreamError, render_line
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.facts import build_fact_sheet
from lamplighter.featurepost.feature import (
    CAPTION_FILE,
    MANIFEST_FILE,
    Copy,
    FactSheet,
    Feature,
    Product,
    Slide,
    Struct,
    render_manifest,
)
from lamplighter.featurepost.gate.gate import check_feature_text
from lamplighter.featurepost.generate import NotMade
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.photo import Photo
from lamplighter.featurepost.product import ProductList, ShopProduct, choose_order, find_obstacle
from lamplighter.featurepost.roles import Pick, PickedPhoto, PlannedSlide, compose_slides
from lamplighter.featurepost.shop import RateLimited, Shop, Shops
from lamplighter.featurepost.slides.carousel import Carousel, Made, RenderError, SlideSpec
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import Template
from lamplighter.featurepost.stock import Failure, Fault, PostLint, Reason, Stock, StockItem
from lamplighter.featurepost.writer.caption import render_address, render_caption
from lamplighter.featurepost.writer.writer import Brief, Writer, Written
from lamplighter.host.clock import Clock
from lamplighter.host.files import make_folder, write_atomic

QA_FILE = "qa.json"
_PHOTOS_DIR = "photos"
_WORKING_FILES = ("facts.json", "copy.json")
_PHOTOS_PER_PRODUCT = 3
_MOST_DAMAGED = 4
_RECENT = 60
_SHOWN_LETTERS = 60
_NAMED_LETTERS = 8


class GateRefused(LamplighterError):
    """The quality gate refused it."""

    def __init__(self, findings: tuple[Fault, ...]) -> None:
        """Keep what was found, most important first."""
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        super().__init__("quality gate", f"{findings[0]}{more}")
        self.findings = findings


class QaCheck(Struct, frozen=True, kw_only=True):
    """A check that ran: its name, what it looked at, and all that it found; nothing found means passed."""

    name: str
    looked_at: str
    findings: tuple[Fault, ...]


class QaRecord(Struct, frozen=True, kw_only=True):
    """What was checked before a feature became ready, in order, and the remarks of the one who drew it."""

    checks: tuple[QaCheck, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What making needs: where products, templates and words come from, who draws, whose rules the post must meet.

    `photos_limit` is the time in which a brand's photos must have come: after it, what came is enough or all is over.
    """

    shop_for: Callable[[Brand], Shop]
    template_for: Callable[[Brand], Template]
    writer: Writer
    renderer: Renderer
    lint: PostLint
    clock: Clock
    hold_for_review: bool = False
    photos_limit: timedelta = timedelta(minutes=5)


class FeatureMaker:
    """Makes the features of one run for one stock; each brand's shop is opened once and asked for its list once."""

    def __init__(self, workshop: Workshop, stock: Stock, index: Index) -> None:
        """Take the tools and the place."""
        self._workshop = replace(workshop, shop_for=Shops(workshop.shop_for).find)
        self._stock = stock
        self._index = index

    def make(self, brand: Brand, run: Run) -> Feature:
        """Return a feature that is now ready; raises NotMade and keeps the draft with what failed and why."""
        try:
            run.check()
            draft = self._stock.new_draft(brand.slug)
        except LamplighterError as error:
            raise NotMade(brand.slug, "draft", error) from error
        run.say(f"{draft.id}: {brand.name}")
        attempt = _Attempt(self._workshop, brand, draft, run)
        try:
            feature = attempt.make(self._index)
            attempt.step = "ready"
            self._promote(draft, run)
        except LamplighterError as error:
            self._keep(draft, attempt.step, error, run)
            raise NotMade(
                brand.slug,
                attempt.step,
                error,
                by_gate=isinstance(error, GateRefused),
                limited_until=error.until if isinstance(error, RateLimited) else None,
            ) from error
        self._remember(feature, run)
        return feature

    def _promote(self, draft: StockItem, run: Run) -> None:
        """Make the draft ready; a disk that fails only after the rename is said, and the feature counts."""
        try:
            self._stock.promote(draft, run.check, self._review_hold())
        except DiskError as error:
            if not self._stock.is_promoted(draft):
                raise
            run.say(f"{draft.id} is made, but a power cut might undo that: {error}")

    def _remember(self, feature: Feature, run: Run) -> None:
        """Tell the index of a feature that is made already: whether that works or not, it counts."""
        try:
            self._index.remember(feature)
        except DiskError as error:
            run.say(f"{feature.id} is made, but the index could not note it, which the next run does: {error}")

    def _review_hold(self) -> Reason | None:
        if not self._workshop.hold_for_review:
            return None
        return Reason(kind="review", text="waits for a person's approval", at=self._workshop.clock.now())

    def _keep(self, draft: StockItem, step: str, error: LamplighterError, run: Run) -> None:
        failure = Failure(
            step=step,
            message=str(error),
            at=self._workshop.clock.now(),
            run=run.number,
            findings=error.findings if isinstance(error, GateRefused) else (),
        )
        with contextlib.suppress(LamplighterError):  # a full disk must not hide what went wrong first
            self._stock.fail(draft, failure)


class _Attempt:
    """One draft on its way; `step` says how far it got."""

    def __init__(self, workshop: Workshop, brand: Brand, draft: StockItem, run: Run) -> None:
        self._workshop = workshop
        self._brand = brand
        self._draft = draft
        self._run = run
        self._checks: list[QaCheck] = []
        self._damaged: set[str] = set()
        self._planned: tuple[PlannedSlide, ...] = ()
        self._photos_until = timedelta()
        self.step = "template"

    def make(self, index: Index) -> Feature:
        """Return the feature; a photo whose damage only drawing finds is left out, and the rest begins again."""
        while True:
            try:
                return self._make(index)
            except RenderError as error:
                photo = self._find_damaged(error)
                if photo is None or len(self._damaged) == _MOST_DAMAGED:
                    raise
                self._run.say(f"{self._draft.id}: {photo.source} is left out: {error}")
                self._damaged.add(photo.source)
                self._checks.clear()

    def _find_damaged(self, error: RenderError) -> PickedPhoto | None:
        """Return the photo by which the slides failed, None when it was something else."""
        photos = (slide.photo for slide in self._planned if slide.photo is not None)
        return next((photo for photo in photos if error.cause.startswith(f"photo {photo.file.name}: ")), None)

    def _make(self, index: Index) -> Feature:
        template = self._workshop.template_for(self._brand)
        self.step = "products"
        picks = self._pick_products(index.last_used(self._brand.slug), template)
        self._write("facts.json", tuple(pick.sheet for pick in picks))
        self.step = "copy"
        recent = index.latest_captions(_RECENT)
        written = self._workshop.writer.write(self._brief(picks, template, recent))
        self._write("copy.json", written.copy)
        self.step = "gate"
        caption = render_caption(written.copy, tuple(pick.sheet for pick in picks), self._brand)
        self._check_text(written.copy, caption, picks, template, recent)
        self.step = "slides"
        self._planned = planned = compose_slides(picks, written.copy, brand_name=self._brand.name)
        rendered = self._render(planned, template)
        self.step = "gate"
        self._check_slides(rendered, caption)
        feature = self._describe(picks, written, caption, planned, rendered)
        self._finish(feature, rendered.notes)
        return feature

    def _pick_products(self, last_used: tuple[int, ...], template: Template) -> tuple[Pick, ...]:
        """Take the least recently featured usable products, in the shop's order, that have facts and photos."""
        shop = self._workshop.shop_for(self._brand)
        listed = shop.fetch_products()
        products, currency = listed.products, self._choose_currency(listed)
        if listed.unreadable:
            self._run.say(f"{self._draft.id}: {len(listed.unreadable)} products are unreadable: {listed.unreadable[0]}")
        passed: Counter[str] = Counter()
        picks: list[Pick] = []
        for product in self._find_candidates(choose_order(products, last_used), passed):
            if len(picks) == self._brand.products_per_feature:
                break
            try:
                picks.append(self._pick(product, shop, currency, template))
            except (DiskError, RateLimited):  # the draft's own disk, the shop's patience: no other product fares better
                raise
            except LamplighterError as error:
                passed[error.cause] += 1
                title = render_line(product.title, limit=_SHOWN_LETTERS)
                self._run.say(f"{self._draft.id}: {title} is passed over: {error}")
        if not picks:
            reasons = ", ".join(f"{count} {reason}" for reason, count in passed.most_common(4))
            raise UpstreamError(
                f"shop of {self._brand.slug}", f"none of {len(products)} products can be used: {reasons}"
            )
        return tuple(picks)

    def _find_candidates(self, products: tuple[ShopProduct, ...], passed: Counter[str]) -> Iterator[ShopProduct]:
        """Yield the products nothing speaks against, as long as there is time for their photos; count the others."""
        self._photos_until = self._workshop.clock.monotonic() + self._workshop.photos_limit
        for product in products:
            obstacle = find_obstacle(product)
            if self._is_late():
                passed[f"not looked at: photos took over {self._workshop.photos_limit.total_seconds():g} s"] += 1
            elif obstacle:
                passed[obstacle] += 1
            else:
                yield product

    def _is_late(self) -> bool:
        return self._workshop.clock.monotonic() >= self._photos_until

    def _choose_currency(self, listed: ProductList) -> str:
        """Return the brand's currency, "" when the answer was in another: prices depend on who asks (§0.1)."""
        own = self._brand.currency
        if own and listed.currency not in {"", own}:
            self._run.say(f"{self._draft.id}: the shop answered in {listed.currency}, not {own}: no prices are shown")
            return ""
        return own

    def _pick(self, product: ShopProduct, shop: Shop, currency: str, template: Template) -> Pick:
        sheet = build_fact_sheet(product, language=self._brand.language, currency=currency)
        sheet = self._keep_drawable(sheet, template)
        photos: list[PickedPhoto] = []
        trouble = LamplighterError(f"product {product.id}", "no usable photo")
        sound = [image for image in product.usable_images if image.src not in self._damaged]
        for image in sound[: 2 * _PHOTOS_PER_PRODUCT]:
            if len(photos) == _PHOTOS_PER_PRODUCT or self._is_late():
                break
            try:
                photo = shop.fetch_photo(image)
            except RateLimited:
                raise
            except LamplighterError as error:
                trouble = error
                continue
            photos.append(self._save_photo(product.id, len(photos) + 1, photo, image.src))
        if not photos:
            raise UpstreamError(trouble.subject, trouble.cause)
        return Pick(
            product_id=product.id,
            title=render_line(product.title),
            url=shop.product_url(product.handle),
            sheet=sheet,
            photos=tuple(photos),
        )

    def _keep_drawable(self, sheet: FactSheet, template: Template) -> FactSheet:
        """Return the facts whose letters the slides can show, under their numbers; raises for such a title."""
        find_missing = self._workshop.renderer.find_missing
        missing = find_missing(sheet.title, template)
        if missing:
            letters = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:_NAMED_LETTERS])
            raise UpstreamError(f"product {sheet.product_id}", f"no font has {letters}")
        return msgspec.structs.replace(
            sheet, facts=tuple(fact for fact in sheet.facts if not find_missing(fact.text, template))
        )

    def _save_photo(self, product_id: int, position: int, photo: Photo, source: str) -> PickedPhoto:
        folder = self._draft.folder / _PHOTOS_DIR
        make_folder(folder)
        file = folder / f"{product_id}-{position}.{photo.format.lower()}"
        write_atomic(file, photo.content)
        return PickedPhoto(file=file, source=source)

    def _brief(self, picks: tuple[Pick, ...], template: Template, recent: tuple[str, ...]) -> Brief:
        return Brief(
            brand=self._brand,
            sheets=tuple(pick.sheet for pick in picks),
            limits=template.limits,
            number=self._draft.number,
            recent_captions=recent,
        )

    def _check_text(
        self, copy: Copy, caption: str, picks: tuple[Pick, ...], template: Template, recent: tuple[str, ...]
    ) -> None:
        findings = check_feature_text(
            copy=copy,
            caption=caption,
            sheets=tuple(pick.sheet for pick in picks),
            brand=self._brand,
            limits=template.limits,
            recent_captions=recent,
        )
        facts = sum(len(pick.sheet.facts) for pick in picks)
        self._judge(
            "text",
            f"all words and the caption, against {facts} facts and {len(recent)} earlier captions",
            tuple(_to_fault(found.code, found.where, str(found)) for found in findings),
        )

    def _check_slides(self, rendered: Made, caption: str) -> None:
        fit = (_to_fault("fit", f"slide {trouble.slide}", str(trouble)) for trouble in rendered.fit)
        self._judge("slides fit", f"the words on {len(rendered.pictures)} slides as drawn", tuple(fit))
        files = tuple(self._draft.folder / slide.file for slide in rendered.pictures)
        rules = (Fault(code="post-rule", where="post", message=text) for text in self._workshop.lint(caption, files))
        self._judge("post rules", f"the caption and {len(files)} picture files", tuple(rules))

    def _render(self, planned: tuple[PlannedSlide, ...], template: Template) -> Made:
        carousel = Carousel(
            slides=tuple(
                SlideSpec(role=slide.role, photo_file=slide.photo.file if slide.photo else None, text=slide.text)
                for slide in planned
            ),
            brand_name=self._brand.name,
            handle=self._brand.handle,
            url=render_address(self._brand),
            language=self._brand.language,
            theme=self._brand.theme,
        )
        return self._workshop.renderer.render(carousel, template, self._draft.folder)

    def _describe(
        self,
        picks: tuple[Pick, ...],
        written: Written,
        caption: str,
        planned: tuple[PlannedSlide, ...],
        rendered: Made,
    ) -> Feature:
        slides = tuple(
            Slide(
                file=drawn.file,
                role=plan.role,
                text=plan.text,
                alt=plan.alt,
                photo=plan.photo.source if plan.photo else None,
                product_id=plan.product_id,
                sha256=drawn.sha256,
            )
            for plan, drawn in zip(planned, rendered.pictures, strict=True)
        )
        return Feature(
            id=self._draft.id,
            number=self._draft.number,
            brand=self._brand.slug,
            brand_name=self._brand.name,
            language=self._brand.language,
            title=written.copy.title,
            products=tuple(Product(id=pick.product_id, title=pick.title, url=pick.url) for pick in picks),
            facts=tuple(pick.sheet for pick in picks),
            copy=written.copy,
            caption=caption,
            slides=slides,
            template=self._brand.template,
            writer=written.record,
            run=self._run.number,
            generation=self._run.generation,
            made_at=self._workshop.clock.now(),
        )

    def _finish(self, feature: Feature, notes: tuple[str, ...]) -> None:
        """Write what a ready feature holds and take away what only the making needed."""
        folder = self._draft.folder
        write_atomic(folder / CAPTION_FILE, feature.caption.encode() + b"\n")
        self._write(QA_FILE, QaRecord(checks=tuple(self._checks), notes=notes))
        write_atomic(folder / MANIFEST_FILE, render_manifest(feature))
        shutil.rmtree(folder / _PHOTOS_DIR, ignore_errors=True)
        for name in _WORKING_FILES:
            _delete(folder / name)

    def _write(self, name: str, record: Struct | tuple[Struct, ...]) -> None:
        content = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_atomic(self._draft.folder / name, content + b"\n")

    def _judge(self, check: str, looked_at: str, findings: tuple[Fault, ...]) -> None:
        """Record a check that ran, and refuse on what it found."""
        self._checks.append(QaCheck(name=check, looked_at=looked_at, findings=findings))
        if findings:
            raise GateRefused(findings)


def _to_fault(code: str, where: str, line: str) -> Fault:
    """Return a finding as it is kept, from the one line it is told by, which begins with the place."""
    return Fault(code=code, where=where, message=line.removeprefix(f"{where}: "))


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(str(file), error.strerror or str(error)) from error
