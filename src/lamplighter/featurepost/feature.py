"""The feature: one finished carousel post, as its manifest `feature.json` tells it."""

from __future__ import annotations

import enum
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Annotated, Literal

import msgspec

MANIFEST_FILE = "feature.json"
CAPTION_FILE = "caption.txt"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # what some editors put first when a person mends a manifest

Language = Literal["en", "ja"]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # what a column of the database holds
Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class Role(enum.Enum):
    """The part a slide plays."""

    COVER = "cover"
    PRODUCT = "product"
    DETAIL = "detail"
    CLOSING = "closing"


class Struct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=False):
    """A strict, frozen record at the edge: unknown keys are errors."""


class Fact(Struct, frozen=True, kw_only=True):
    """One numbered statement and the place it comes from, e.g. F3, "material", "stoneware", "body_html"."""

    id: str
    kind: Literal["title", "price", "sale", "quote", "option", "vendor", "kind"]
    text: str
    source: str


class FactSheet(Struct, frozen=True, kw_only=True):
    """Everything that may be said about one product; the writer sees this and nothing else."""

    product_id: int
    title: str
    facts: tuple[Fact, ...]


class ProductCopy(Struct, frozen=True, kw_only=True):
    """What is said about one product: a display name and a short note."""

    product_id: int
    name: str
    note: str


class Copy(Struct, frozen=True, kw_only=True):
    """All words of one feature; prices are never in here, code puts them in from the fact sheet."""

    kicker: str
    title: str
    subtitle: str
    products: tuple[ProductCopy, ...]
    detail_title: str
    detail_body: str
    closing_title: str
    closing_body: str
    caption: str
    hashtags: tuple[str, ...]


class SlideText(Struct, frozen=True, kw_only=True):
    """The text fields of a slide; a field the role does not use is empty."""

    kicker: str = ""
    title: str = ""
    subtitle: str = ""
    name: str = ""
    price: str = ""
    note: str = ""
    body: str = ""


class Slide(Struct, frozen=True, kw_only=True):
    """One slide as it was made: its file (JPEG), role, words, picture source and description for the blind."""

    file: str
    role: Role
    text: SlideText
    alt: str
    photo: str | None = None
    product_id: int | None = None
    sha256: str = ""


class WriterRecord(Struct, frozen=True, kw_only=True):
    """Which tool wrote the words: its name, model and version where it says them, and seconds of wall time."""

    tool: str
    model: str = ""
    version: str = ""
    seconds: float = 0.0


class Product(Struct, frozen=True, kw_only=True):
    """A featured product: Shopify's id, title and public address."""

    id: int
    title: str
    url: str = ""


class Feature(Struct, frozen=True, kw_only=True):
    """A whole feature; `generation` is the lock generation of the run that made it."""

    schema: Literal[1] = 1
    id: str
    number: Count
    brand: str
    brand_name: str
    language: Language
    title: str
    products: tuple[Product, ...]
    facts: tuple[FactSheet, ...]
    copy: Copy
    caption: str
    slides: tuple[Slide, ...]
    template: str
    writer: WriterRecord
    run: Count
    generation: Count
    made_at: Instant


def render_manifest(feature: Feature) -> bytes:
    """Return the manifest as indented JSON, readable by a person."""
    return msgspec.json.format(msgspec.json.encode(feature), indent=2) + b"\n"


def parse_manifest(content: bytes) -> Feature:
    """Return the feature a manifest describes; raises msgspec.ValidationError or DecodeError with the path."""
    feature = msgspec.json.decode(content.removeprefix(_BYTE_ORDER_MARK), type=Feature)
    if not has_date_everywhere(feature.made_at):
        raise msgspec.ValidationError("this instant has no date in some places - at `$.made_at`")
    return feature


def has_date_everywhere(instant: datetime) -> bool:
    """Tell whether an instant can be told in every time zone: not at the first or last day there is."""
    try:
        return MINYEAR < instant.astimezone(UTC).year < MAXYEAR
    except OverflowError:
        return False
