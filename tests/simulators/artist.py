"""An artist for template tests: draws flat pictures at once, knows the letters and troubles it is told to know."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from lamplighter.featurepost.slides.carousel import Carousel, Made, Picture, Trouble
from lamplighter.featurepost.slides.template_folder import Template


def fits(carousel: Carousel) -> tuple[Trouble, ...]:
    """Find nothing that does not fit."""
    del carousel
    return ()


@dataclass(slots=True, kw_only=True)
class FlatArtist:
    """Writes one grey picture a slide, and keeps the carousels; `unknown` are letters no font of it has."""

    unknown: str = ""
    judge: Callable[[Carousel], tuple[Trouble, ...]] = fits
    notes: tuple[str, ...] = ()
    carousels: list[Carousel] = field(default_factory=list)

    def render(self, carousel: Carousel, template: Template, target_dir: Path) -> Made:
        """Write and remember."""
        self.carousels.append(carousel)
        troubles = self.judge(carousel)
        buffer = io.BytesIO()
        Image.new("RGB", template.size, "#808080").save(buffer, "JPEG")
        pictures = []
        for number in range(1, len(carousel.slides) + 1):
            (target_dir / f"slide-{number}.jpg").write_bytes(buffer.getvalue())
            pictures.append(Picture(file=f"slide-{number}.jpg", size_bytes=len(buffer.getvalue()), sha256=""))
        return Made(pictures=tuple(pictures), notes=self.notes, fit=troubles)

    def find_missing(self, text: str, template: Template) -> str:
        """Return what is unknown in it."""
        del template
        return "".join(letter for letter in self.unknown if letter in text)
