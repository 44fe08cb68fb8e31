"""The order: what the renderer asks of its worker process and what comes back, as JSON."""

from __future__ import annotations

import msgspec

from lamplighter.errors import FailureClass
from lamplighter.featurepost.feature import Language, Role, SlideText, Struct
from lamplighter.featurepost.slides.carousel import Made
from lamplighter.featurepost.slides.font_folder import FontFolder
from lamplighter.featurepost.slides.palette import Palette


class SlideOrder(Struct, frozen=True, kw_only=True):
    """One slide to make; `photo` is a path, `photo_box` the pixels it must have."""

    role: Role
    text: SlideText
    photo: str | None = None
    photo_box: tuple[int, int] | None = None


class BrandLines(Struct, frozen=True, kw_only=True):
    """What every slide may say of its brand."""

    name: str
    handle: str
    url: str


class CarouselOrder(Struct, frozen=True, kw_only=True):
    """A whole carousel; the pictures go to `output_dir`, everything else into `scratch_dir`.

    `parent` is the pid of who ordered it: without that process nobody waits for the pictures. `seconds` is the most the
    work may take.
    """

    parent: int
    seconds: float
    template: str
    template_dir: str
    library_dir: str
    bundled_fonts_dir: str
    own_fonts: FontFolder
    scratch_dir: str
    output_dir: str
    size: tuple[int, int]
    fonts: tuple[str, ...]
    palette: Palette
    brand: BrandLines
    language: Language
    slides: tuple[SlideOrder, ...]


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The worker's answer when the carousel cannot be made: what its error says, and of which class it is."""

    subject: str
    cause: str
    remedy: str
    failure: FailureClass = FailureClass.UPSTREAM


def render_order(order: CarouselOrder) -> bytes:
    """Return the order as JSON."""
    return msgspec.json.encode(order)


def parse_order(content: bytes) -> CarouselOrder:
    """Return the order of a renderer; raises msgspec.DecodeError."""
    return msgspec.json.decode(content, type=CarouselOrder)


def render_answer(answer: Made | Refused) -> bytes:
    """Return the answer as JSON."""
    return msgspec.json.encode(answer)


def parse_answer(content: bytes) -> Made | Refused:
    """Return the answer of a worker; raises msgspec.DecodeError."""
    return msgspec.json.decode(content, type=Made | Refused)
