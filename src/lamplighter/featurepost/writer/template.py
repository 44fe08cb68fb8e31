"""The writer `template`: plain, factual copy from the fact sheets alone, without any model and always the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from lamplighter.featurepost.feature import Copy, Language, ProductCopy, Role, WriterRecord
from lamplighter.featurepost.gate.similarity import EarlierCaptions
from lamplighter.featurepost.statement import find_contact
from lamplighter.featurepost.writer.caption import build_frame, render_address
from lamplighter.featurepost.writer.content import Content, ProductContent, parse_content
from lamplighter.featurepost.writer.english import English
from lamplighter.featurepost.writer.fit import cut_to_fit, first_fit
from lamplighter.featurepost.writer.japanese import Japanese
from lamplighter.featurepost.writer.names import name_products
from lamplighter.featurepost.writer.voice import Sender, Voice
from lamplighter.featurepost.writer.writer import Brief, Written

TOOL = "template"
_ENOUGH_UNLIKE = 0.45
_TRIES = 200
_BODY_LETTERS = 1_200
_MOST_TAGS = 6
_TAG_LETTERS = 30


class TemplateWriter:
    """Writes from fact sheets alone; the same brief gives the same copy."""

    def write(self, brief: Brief) -> Written:
        """Return copy for every sheet of the brief, in its order."""
        return Written(copy=compose_copy(brief), record=WriterRecord(tool=TOOL))


def compose_copy(brief: Brief) -> Copy:
    """Return the copy with the first caption that is unlike the recent ones, else the least alike of many."""
    composition = _Composition(brief)
    copy = composition.compose_slides()
    frame = build_frame(copy, brief.sheets, brief.brand)
    earlier = EarlierCaptions(brief.recent_captions)
    best, best_alike = "", 2.0
    for words in composition.captions():
        alike = earlier.measure_closest(frame.render(words))
        if alike < best_alike:
            best, best_alike = words, alike
        if best_alike <= _ENOUGH_UNLIKE:
            break
    return msgspec.structs.replace(copy, caption=best)


def _choose_voice(language: Language) -> Voice:
    return Japanese() if language == "ja" else English()


class _Composition:
    """The parts of one feature's copy, each in the wording of its turn: the number that says which one it is."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._voice = _choose_voice(brief.brand.language)
        self._content = parse_content(brief.sheets, brief.brand.language)
        self._sender = Sender(name=brief.brand.name, address=render_address(brief.brand), handle=brief.brand.handle)
        self._turn = self._content.seed + brief.number

    def compose_slides(self) -> Copy:
        """Return the copy with all but its caption."""
        voice, content, sender, number = self._voice, self._content, self._sender, self._brief.number
        title = self._fit(Role.COVER, "title", voice.titles(content, sender, number))
        kickers = voice.kickers(content, sender, self._turn)
        subtitles = voice.subtitles(content, sender, self._turn)
        names = name_products(self._brief.sheets, self._brief.limits.limit(Role.PRODUCT, "name"))
        notes = self._notes()
        detail_title, detail_body = self._detail(content.products[0], notes[0])
        return Copy(
            kicker=self._fit(Role.COVER, "kicker", _unlike(kickers, title, content, sender.name)),
            title=title,
            subtitle=self._fit(Role.COVER, "subtitle", _unlike(subtitles, title, content, sender.name)),
            products=tuple(
                ProductCopy(product_id=product.product_id, name=name, note=note)
                for product, name, note in zip(content.products, names, notes, strict=True)
            ),
            detail_title=detail_title,
            detail_body=detail_body,
            closing_title=self._fit(Role.CLOSING, "title", voice.closing_titles(content, self._turn)),
            closing_body=self._fit(Role.CLOSING, "body", voice.closing_bodies(content, sender)),
            caption="",
            hashtags=_choose_hashtags(content, voice),
        )

    def captions(self) -> Iterator[str]:
        """Yield captions of two or three short paragraphs, each in other words."""
        for attempt in range(_TRIES):
            turn = self._brief.number + attempt
            opening = self._voice.openings(self._content, self._sender, 5 * turn + self._content.seed)[0]
            body = self._voice.body(self._content, turn + attempt // 3 + attempt // 13)
            farewell = self._voice.farewell(self._content, turn + attempt // 2 + attempt // 13)
            parts = (opening, cut_to_fit(body, _BODY_LETTERS), farewell)
            yield "\n\n".join(part for part in parts if part)

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
            notes.append(told or self._resort(product, notes))
        return notes

    def _tell(self, role: Role, field: str, fragments: Sequence[str]) -> str:
        """Return as many facts as a field holds."""
        return _gather(fragments, self._brief.limits.limit(role, field), self._brief.brand.language)

    def _resort(self, product: ProductContent, used: Sequence[str]) -> str:
        """Return a true note where one fits whole, one that was not used yet where there is one."""
        candidates = self._voice.last_resort(product, self._sender, self._turn)
        other = [text for text in candidates if text not in used]
        return first_fit((*other, *candidates), self._brief.limits.limit(Role.PRODUCT, "note"))

    def _detail(self, product: ProductContent, note: str) -> tuple[str, str]:
        """Return a heading and the facts the note has not told, both empty when there are none: no such slide then."""
        left = [text for text in self._voice.fragments(product, self._brief.number + 1) if text not in note]
        body = self._tell(Role.DETAIL, "body", left)
        if not body:
            return "", ""
        return self._fit(Role.DETAIL, "title", self._voice.detail_titles(product, self._turn)), body


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
