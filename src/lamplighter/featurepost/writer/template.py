"""The writer `template`: plain, factual copy from the fact sheets alone, without any model and always the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Copy, Language, ProductCopy, Role, WriterRecord
from lamplighter.featurepost.gate.similarity import find_closest, read_pieces
from lamplighter.featurepost.statement import find_contact
from lamplighter.featurepost.writer.caption import read_site, render_caption
from lamplighter.featurepost.writer.content import Content, ProductContent, read_content
from lamplighter.featurepost.writer.english import English
from lamplighter.featurepost.writer.fit import cut_to_fit, first_fit
from lamplighter.featurepost.writer.japanese import Japanese
from lamplighter.featurepost.writer.names import name_products, shorten_name
from lamplighter.featurepost.writer.voice import Sender, Voice
from lamplighter.featurepost.writer.writer import Brief, Written

TOOL = "template"
_VOICES: MappingProxyType[Language, Voice] = MappingProxyType({"en": English(), "ja": Japanese()})
_ENOUGH_UNLIKE = 0.45
_PASSABLY_UNLIKE = 0.55
_TRIES = 120
_MOST_TRIES = 400
_BODY_LETTERS = 1_200
_MOST_TAGS = 6
_TAG_LETTERS = 30


class TemplateWriter:
    """Writes from fact sheets alone; the same brief gives the same copy."""

    def write(self, brief: Brief) -> Written:
        """Return copy for every sheet of the brief, in its order."""
        return Written(copy=compose_copy(brief), record=WriterRecord(tool=TOOL))


def compose_copy(brief: Brief) -> Copy:
    """Return the copy whose caption is least like the recent ones, out of a few."""
    draft = _Draft(brief)
    earlier = [read_pieces(caption) for caption in brief.recent_captions]
    best, best_alike = draft.compose(0), 2.0
    for attempt in range(_MOST_TRIES):
        copy = draft.compose(attempt)
        alike = find_closest(read_pieces(render_caption(copy, brief.sheets, brief.brand)), earlier)
        if alike <= _ENOUGH_UNLIKE:
            return copy
        if alike < best_alike:
            best, best_alike = copy, alike
        if attempt >= _TRIES and best_alike <= _PASSABLY_UNLIKE:
            break
    return best


class _Draft:
    """The parts of one feature's copy, each in the wording of its turn."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._brand: Brand = brief.brand
        self._voice = _VOICES[brief.brand.language]
        self._content: Content = read_content(brief.sheets, brief.brand.language)
        self._sender = Sender(name=brief.brand.name, site=read_site(brief.brand), handle=brief.brand.handle)
        self._names = name_products(brief.sheets, brief.limits.limit(Role.PRODUCT, "name"))
        self._turn = self._content.seed + brief.number

    def compose(self, attempt: int) -> Copy:
        """Return the copy; another attempt gives other words to the caption only."""
        voice, content, sender, number = self._voice, self._content, self._sender, self._brief.number
        title = self._fit(Role.COVER, "title", voice.titles(content, sender, number))
        kickers = voice.kickers(content, sender, self._turn)
        subtitles = voice.subtitles(content, sender, self._turn)
        notes = self._notes()
        lead = content.products[0]
        detail_titles, detail_body = self._detail(lead, notes[0])
        return Copy(
            kicker=self._fit(Role.COVER, "kicker", _unlike(kickers, title, content, self._brand.name)),
            title=title,
            subtitle=self._fit(Role.COVER, "subtitle", _unlike(subtitles, title, content, self._brand.name)),
            products=tuple(
                ProductCopy(
                    product_id=product.product_id,
                    name=name,
                    note=note,
                )
                for product, name, note in zip(content.products, self._names, notes, strict=True)
            ),
            detail_title=self._fit(Role.DETAIL, "title", detail_titles),
            detail_body=detail_body,
            closing_title=self._fit(Role.CLOSING, "title", voice.closing_titles(content, self._turn)),
            closing_body=self._fit(Role.CLOSING, "body", voice.closing_bodies(content, sender, self._turn)),
            caption=self._caption(attempt),
            hashtags=_choose_hashtags(content, voice),
        )

    def _fit(self, role: Role, field: str, candidates: Sequence[str]) -> str:
        """Return the first candidate that fits, else the last one cut; half an address is none, so none is cut."""
        limit = self._brief.limits.limit(role, field)
        may_be_cut = [text for text in candidates if not find_contact(text)]
        return first_fit(candidates, limit) or (cut_to_fit(may_be_cut[-1], limit) if may_be_cut else "")

    def _notes(self) -> list[str]:
        """Return the notes; where nothing is known of several products, each says so in other words."""
        notes: list[str] = []
        for index, product in enumerate(self._content.products):
            told = self._tell(Role.PRODUCT, "note", self._voice.fragments(product, self._brief.number + index))
            notes.append(told or self._resort(Role.PRODUCT, "note", product, notes))
        return notes

    def _tell(self, role: Role, field: str, fragments: Sequence[str]) -> str:
        """Return as many facts as a field holds."""
        return _gather(fragments, self._brief.limits.limit(role, field), self._brand.language)

    def _resort(self, role: Role, field: str, product: ProductContent, used: Sequence[str]) -> str:
        """Return a true sentence where one fits whole, one that was not used yet where there is one."""
        candidates = self._voice.last_resort(product, self._sender, self._turn)
        other = [text for text in candidates if text not in used]
        return first_fit((*other, *candidates), self._brief.limits.limit(role, field))

    def _detail(self, product: ProductContent, note: str) -> tuple[Sequence[str], str]:
        """Return a heading and the facts the note has not told; when there are none, the name and the way to it."""
        left = [text for text in self._voice.fragments(product, self._brief.number + 1) if text not in note]
        if left:
            return self._voice.detail_titles(product, self._turn), self._tell(Role.DETAIL, "body", left)
        limit = self._brief.limits.limit(Role.DETAIL, "title")
        body = self._resort(Role.DETAIL, "body", product, [note]) or self._fit(Role.DETAIL, "body", [self._brand.name])
        return (self._names[0], shorten_name(product.name, limit), product.short), body

    def _caption(self, attempt: int) -> str:
        """Return two or three short paragraphs."""
        turn = self._brief.number + attempt
        opening = self._voice.openings(self._content, self._sender, 5 * turn + self._content.seed)[0]
        body = self._voice.body(self._content, turn + attempt // 3 + attempt // 13)
        farewell = self._voice.farewell(self._content, turn + attempt // 2 + attempt // 13)
        parts = (opening, cut_to_fit(body, _BODY_LETTERS), farewell)
        return "\n\n".join(part for part in parts if part)


def _unlike(candidates: Sequence[str], title: str, content: Content, brand: str) -> Sequence[str]:
    """Return the candidates that do not repeat the title's beginning or a name it holds."""
    folded = title.casefold()
    names = [brand, *(product.short for product in content.products)]
    named = [name for name in names if name.casefold() in folded]
    other = [
        text
        for text in candidates
        if text.casefold() not in folded
        and not folded.startswith(text.casefold()[:6])
        and not any(name in text for name in named)
    ]
    return other or candidates


def _gather(fragments: Sequence[str], limit: int | None, language: Language) -> str:
    """Return the first facts that fit together, at most three; the first alone may be cut.

    A Japanese letter is twice as wide: a text of several facts stays shorter there than the slide would allow.
    """
    gap = "" if language == "ja" else " "
    most = None if limit is None else (limit * 2 // 3 if language == "ja" else limit)
    told: list[str] = []
    for text in fragments:
        if len(told) < 3 and (most is None or len(gap.join([*told, text])) <= most):
            told.append(text)
    return gap.join(told) or (cut_to_fit(fragments[0], limit) if fragments else "")


def _choose_hashtags(content: Content, voice: Voice) -> tuple[str, ...]:
    """Return kinds that are one clean word, and materials, as hashtags."""
    words = [*(voice.hashtag(product) for product in content.products), *content.materials]
    tags = dict.fromkeys(re.sub(r"[^\w]", "", word).lower() for word in words)
    return tuple(f"#{tag}" for tag in tags if 2 <= len(tag) <= _TAG_LETTERS and not re.search(r"\d", tag))[:_MOST_TAGS]
