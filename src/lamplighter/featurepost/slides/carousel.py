"""The carousel: what is to be shown, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Language, Role, SlideText, Struct

_SHOWN_LETTERS = 60


class RenderError(LamplighterError):
    """the slides could not be made."""

    failure: ClassVar[FailureClass] = FailureClass.UPSTREAM


class TemplateBroken(RenderError):
    """the template cannot make the slides."""

    failure: ClassVar[FailureClass] = FailureClass.CONFIG


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideSpec:
    """One slide to make: its part, its photo if there is one, its words."""

    role: Role
    photo_file: Path | None
    text: SlideText


@dataclass(frozen=True, slots=True, kw_only=True)
class Carousel:
    """All slides of one feature and the brand they speak for; `url` is shown as it is and may be empty."""

    slides: tuple[SlideSpec, ...]
    brand_name: str
    handle: str
    url: str
    language: Language
    theme: Theme


class Picture(Struct, frozen=True, kw_only=True):
    """One finished JPEG: its name in the target folder, its size and its hash."""

    file: str
    size_bytes: int
    sha256: str


class Trouble(Struct, frozen=True, kw_only=True):
    """A text that is too long for its place, although set as small as the template allows, or that leaves its page.

    `slide` counts from 1; `field` is a name of SlideText, or "brand"; `size` is the letter size in pixels, `needed` and
    `limit` the pixels the text would need and has; `broken` means that a word had to be cut. With an `edge`, `needed`
    are the pixels by which the text leaves the page there, and nothing else is said of its size.
    """

    slide: int
    field: str
    text: str
    size: float
    needed: float
    limit: float
    broken: bool
    edge: Literal["", "top", "right", "bottom", "left"] = ""

    @property
    def excess(self) -> int:
        """Return the pixels that are missing."""
        return max(1, math.ceil(self.needed - self.limit))

    def __str__(self) -> str:
        """Return one line for a person, or for the writer that is asked for shorter words."""
        shown = self.text if len(self.text) <= _SHOWN_LETTERS else f"{self.text[:_SHOWN_LETTERS]}…"
        place = f"slide {self.slide}: the {self.field} {' '.join(shown.split())!r}"
        if self.edge:
            return f"{place} leaves the page by {self.excess} pixels at the {self.edge}"
        if self.broken:
            return f"{place} has a word too long for its place, or is too long for any slide"
        return f"{place} needs {self.needed:.0f} pixels where there are {self.limit:.0f}"


class Made(Struct, frozen=True, kw_only=True, tag="made"):
    """A finished carousel: its files in order, remarks for a person, texts that did not fit."""

    pictures: tuple[Picture, ...]
    notes: tuple[str, ...]
    fit: tuple[Trouble, ...]
