"""The wording: every text of a carousel as fields for the template, checked letter by letter against the fonts."""

from __future__ import annotations

from dataclasses import dataclass, field

from lamplighter.featurepost.feature import SlideText
from lamplighter.featurepost.slides.carousel import RenderError, Trouble
from lamplighter.featurepost.slides.glyphs import Coverage
from lamplighter.featurepost.slides.order import BrandLines
from lamplighter.featurepost.slides.phrases import MOST_LETTERS, Field, Phraser, clean
from lamplighter.featurepost.slides.typesetter import BrandFields, Words

_SHOWN_LETTERS = 8


@dataclass(slots=True, kw_only=True)
class Wording:
    """Turns texts into fields; `cut` gathers the texts that were longer than any slide can show."""

    coverage: Coverage
    phraser: Phraser = field(default_factory=Phraser)
    cut: list[Trouble] = field(default_factory=list)

    def words(self, slide: int, text: SlideText) -> Words:
        """Return the fields of one slide; raises RenderError naming the letters no font has."""
        subject = f"slide {slide}"
        return Words(
            kicker=self._field(subject, slide, "kicker", text.kicker),
            title=self._field(subject, slide, "title", text.title),
            subtitle=self._field(subject, slide, "subtitle", text.subtitle),
            name=self._field(subject, slide, "name", text.name),
            price=self._field(subject, slide, "price", text.price),
            note=self._field(subject, slide, "note", text.note),
            body=self._field(subject, slide, "body", text.body),
        )

    def brand(self, lines: BrandLines) -> BrandFields:
        """Return the brand's own lines; raises RenderError naming the letters no font has."""
        subject = "brand"
        return BrandFields(
            name=self._field(subject, 1, "brand", lines.name),
            handle=self._field(subject, 1, "brand", lines.handle),
            url=self._field(subject, 1, "brand", lines.url),
        )

    def _field(self, subject: str, slide: int, name: str, text: str) -> Field:
        cleaned = clean(text)
        missing = self.coverage.missing(cleaned.text)
        if missing:
            letters = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:_SHOWN_LETTERS])
            raise RenderError(subject, f"no font has {letters}", "put a font that has them into fonts/")
        if cleaned.cut:
            self.cut.append(
                Trouble(
                    slide=slide,
                    field=name,
                    text=cleaned.text,
                    size=0.0,
                    needed=float(len(text)),
                    limit=float(MOST_LETTERS),
                    broken=True,
                )
            )
        return self.phraser.field(name, cleaned.text)
