"""The exchange: what the renderer asks of its worker process and what comes back, as JSON."""

from __future__ import annotations

import msgspec

from lamplighter.featurepost.feature import Language, Role, SlideText, Struct


class SlideOrder(Struct, frozen=True, kw_only=True):
    """One slide to make; `photo` is a path, `photo_box` the pixels it must have."""

    role: Role
    text: SlideText
    photo: str | None = None
    photo_box: tuple[int, int] | None = None


class Colours(Struct, frozen=True, kw_only=True):
    """The palette, checked, every colour as #rrggbb."""

    ink: str
    paper: str
    accent: str
    on_accent: str
    accent_text: str
    quiet: str
    dark: str


class BrandLines(Struct, frozen=True, kw_only=True):
    """What every slide may say of its brand."""

    name: str
    handle: str
    url: str


class Request(Struct, frozen=True, kw_only=True):
    """A whole carousel; the pictures go to `output_dir`, everything else into `scratch_dir`."""

    template: str
    template_dir: str
    library_dir: str
    bundled_fonts_dir: str
    own_fonts_dir: str | None
    scratch_dir: str
    output_dir: str
    size: tuple[int, int]
    fonts: tuple[str, ...]
    colours: Colours
    brand: BrandLines
    language: Language
    slides: tuple[SlideOrder, ...]


class Picture(Struct, frozen=True, kw_only=True):
    """One finished JPEG in the output folder."""

    file: str
    size_bytes: int
    sha256: str


class Trouble(Struct, frozen=True, kw_only=True):
    """A text that did not fit its place (see FitTrouble)."""

    slide: int
    field: str
    text: str
    size: float
    needed: float
    limit: float
    broken: bool


class Made(Struct, frozen=True, kw_only=True, tag="made"):
    """The worker's good answer."""

    pictures: tuple[Picture, ...]
    notes: tuple[str, ...]
    fit: tuple[Trouble, ...]


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The worker's answer when the carousel cannot be made: what a RenderError says."""

    subject: str
    cause: str
    remedy: str


def render_request(request: Request) -> bytes:
    """Return the request as JSON."""
    return msgspec.json.encode(request)


def parse_request(content: bytes) -> Request:
    """Return the request of a renderer; raises msgspec.DecodeError."""
    return msgspec.json.decode(content, type=Request)


def render_answer(answer: Made | Refused) -> bytes:
    """Return the answer as JSON."""
    return msgspec.json.encode(answer)


def parse_answer(content: bytes) -> Made | Refused:
    """Return the answer of a worker; raises msgspec.DecodeError."""
    return msgspec.json.decode(content, type=Made | Refused)
