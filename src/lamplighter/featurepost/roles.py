"""Which photo plays which part, and the words that go with it (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lamplighter.featurepost.feature import Copy, FactSheet, ProductCopy, Role, SlideText


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedPhoto:
    """A photo that was fetched and found usable: where it lies and where it came from."""

    file: Path
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A product chosen for a feature, with its facts and at least one photo, best first."""

    product_id: int
    title: str
    url: str
    sheet: FactSheet
    photos: tuple[PickedPhoto, ...]

    @property
    def price(self) -> str:
        """Return the price as the fact sheet has it, "" when none is proven."""
        return next((fact.text for fact in self.sheet.facts if fact.kind == "price"), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSlide:
    """One slide before it is drawn."""

    role: Role
    text: SlideText
    alt: str
    photo: PickedPhoto | None
    product_id: int | None = None


def compose_slides(picks: tuple[Pick, ...], copy: Copy, *, brand_name: str) -> tuple[PlannedSlide, ...]:
    """Return cover, a slide a product, a detail of the first where a photo is left for it, and closing.

    No picture is used twice, except that the cover repeats one when there is nothing else.
    """
    words = {entry.product_id: entry for entry in copy.products}
    spare = [photo for pick in picks for photo in pick.photos[1:]]
    cover = spare.pop(0) if spare else picks[0].photos[0]
    products = [_product_slide(pick, words[pick.product_id]) for pick in picks]
    slides = [
        PlannedSlide(
            role=Role.COVER,
            text=SlideText(kicker=copy.kicker, title=copy.title, subtitle=copy.subtitle),
            alt=f"{copy.title}. {brand_name}.",
            photo=cover,
        ),
        *products,
    ]
    lead = picks[0]
    own = [photo for photo in spare if photo in lead.photos]
    if own and copy.detail_title:
        spare.remove(own[0])
        slides.append(
            PlannedSlide(
                role=Role.DETAIL,
                text=SlideText(title=copy.detail_title, body=copy.detail_body),
                alt=f"{lead.title}: {copy.detail_body or copy.detail_title}",
                photo=own[0],
                product_id=lead.product_id,
            )
        )
    slides.append(
        PlannedSlide(
            role=Role.CLOSING,
            text=SlideText(title=copy.closing_title, body=copy.closing_body),
            alt=f"{copy.closing_title} {brand_name}.".strip(),
            photo=spare[-1] if spare else None,
        )
    )
    return tuple(slides)


def _product_slide(pick: Pick, words: ProductCopy) -> PlannedSlide:
    return PlannedSlide(
        role=Role.PRODUCT,
        text=SlideText(name=words.name, price=pick.price, note=words.note),
        alt=". ".join(part for part in (pick.title, words.note) if part),
        photo=pick.photos[0],
        product_id=pick.product_id,
    )
