"""The first checks of the gate: whatever wrote the words, they keep to the facts, the limits and the brand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Copy, FactSheet, Role
from lamplighter.featurepost.gate.limits import Limits
from lamplighter.featurepost.gate.numbers import Number, find_number_words, find_numbers
from lamplighter.featurepost.gate.similarity import TOO_ALIKE, EarlierCaptions
from lamplighter.featurepost.html_text import is_unreadable
from lamplighter.featurepost.statement import find_attack, find_contact, find_discount

_SPAN_LETTERS = 60
_MOST_MENTIONS = 20
_MENTION = re.compile(r"[@＠][A-Za-z0-9_.]+")
_MARKUP = re.compile(r"</?[a-z!][^>]*>?|```|\*\*|\]\(|\{\{|\}\}|&(?:amp|lt|gt|quot|nbsp|#\d+);", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\blorem\b|\bipsum\b|\btodo\b|\btbd\b|\bfixme\b|\bplaceholder\b|\bxxx+\b|\[(?:brand|name|product|price|"
    r"insert)\b[^\]]*\]|"
    r"\binsert \w+ here\b|\bas an ai\b|\blanguage model\b|\bi(?:'m| am) (?:sorry|unable)\b|\bi can(?:'t|not)\b|"
    r"\bapi error\b|\bhit your (?:[\w-]+ )?limit\b|\bhere(?:'s| is) (?:the|your) (?:caption|copy|json)\b|"
    r"\bundefined\b|\bnull\b|\bnan\b|申し訳ありません|プレースホルダ|ここに.{0,6}を入力|ダミー",
    re.IGNORECASE,
)
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong: a stable code, the field, the words, and a sentence for a person."""

    code: str
    where: str
    span: str
    message: str

    def __str__(self) -> str:
        """Render one line."""
        shown = "".join(letter if letter.isprintable() else f"U+{ord(letter):04X}" for letter in self.span)
        return f"{self.where}: {self.message}" + (f": {shown[:_SPAN_LETTERS]!r}" if shown else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """One text to check, and where it stands on a slide."""

    where: str
    text: str
    role: Role | None = None
    field: str = ""


def check_feature_text(
    *,
    copy: Copy,
    caption: str,
    sheets: tuple[FactSheet, ...],
    brand: Brand,
    limits: Limits,
    recent_captions: tuple[str, ...] = (),
) -> tuple[Finding, ...]:
    """Return what is wrong with the words of a feature, cheap and certain checks first; nothing means it may pass."""
    fields = (*_list_fields(copy), _Field(where="caption", text=caption))
    return tuple(
        finding
        for findings in (
            _check_shape(copy, caption, sheets),
            _check_lengths(fields, limits),
            _check_mentions(caption),
            *(_check_letters(one, sheets) for one in fields),
            *(_check_words(one, sheets, brand) for one in fields),
            *(_check_numbers(one, sheets, brand) for one in fields),
            _check_repetition(caption, recent_captions),
        )
        for finding in findings
    )


def _list_fields(copy: Copy) -> Iterator[_Field]:
    yield _Field(where="kicker", text=copy.kicker, role=Role.COVER, field="kicker")
    yield _Field(where="title", text=copy.title, role=Role.COVER, field="title")
    yield _Field(where="subtitle", text=copy.subtitle, role=Role.COVER, field="subtitle")
    for number, product in enumerate(copy.products, start=1):
        yield _Field(where=f"product {number} name", text=product.name, role=Role.PRODUCT, field="name")
        yield _Field(where=f"product {number} note", text=product.note, role=Role.PRODUCT, field="note")
    yield _Field(where="detail title", text=copy.detail_title, role=Role.DETAIL, field="title")
    yield _Field(where="detail body", text=copy.detail_body, role=Role.DETAIL, field="body")
    yield _Field(where="closing title", text=copy.closing_title, role=Role.CLOSING, field="title")
    yield _Field(where="closing body", text=copy.closing_body, role=Role.CLOSING, field="body")
    yield _Field(where="hashtags", text=" ".join(copy.hashtags))


def _check_shape(copy: Copy, caption: str, sheets: tuple[FactSheet, ...]) -> Iterator[Finding]:
    if [entry.product_id for entry in copy.products] != [sheet.product_id for sheet in sheets]:
        told = ", ".join(str(entry.product_id) for entry in copy.products)
        yield Finding(code="products", where="products", span=told, message="these are not the products of the feature")
    must = {"title": copy.title, "caption": caption}
    must |= {f"product {number} name": entry.name for number, entry in enumerate(copy.products, start=1)}
    for where, text in must.items():
        if not any(letter.isalnum() for letter in text):
            yield Finding(code="empty", where=where, span=text, message="it says nothing")


def _check_lengths(fields: tuple[_Field, ...], limits: Limits) -> Iterator[Finding]:
    for one in fields:
        most = limits.limit(one.role, one.field) if one.role else None
        if most is not None and len(one.text) > most:
            message = f"it has {len(one.text)} letters, the slide holds {most}"
            yield Finding(code="length", where=one.where, span=one.text, message=message)


def _check_mentions(caption: str) -> Iterator[Finding]:
    """Yield a finding when even the brand's own handle stands there too often for Instagram."""
    mentions = len(_MENTION.findall(caption))
    if mentions > _MOST_MENTIONS:
        message = f"it has {mentions} mentions, {_MOST_MENTIONS} are allowed"
        yield Finding(code="mentions", where="caption", span="", message=message)


def _check_letters(one: _Field, sheets: tuple[FactSheet, ...]) -> Iterator[Finding]:
    bad = [letter for index, letter in enumerate(one.text) if is_unreadable(letter) and not _joins(one.text, index)]
    if bad or ("\n" in one.text and one.where != "caption"):
        span = "".join(dict.fromkeys(bad)) or "\n"
        yield Finding(code="letters", where=one.where, span=span, message="it holds letters nobody can read")
    told = _facts_text(sheets)
    for code, pattern, message in (
        ("markup", _MARKUP, "it holds markup"),
        ("placeholder", _PLACEHOLDER, "it holds a placeholder or a tool's own words"),
    ):
        for found in pattern.finditer(one.text):
            if found[0].casefold() not in told:
                yield Finding(code=code, where=one.where, span=found[0], message=message)


def _joins(text: str, index: int) -> bool:
    """Tell whether a joiner stands inside an emoji, the one place where it is a letter's part."""
    if text[index] != _JOINER or not 0 < index < len(text) - 1:
        return False
    before = text[index - 1]
    return (before == "\ufe0f" or unicodedata.category(before) in {"So", "Sk"}) and (
        unicodedata.category(text[index + 1]) == "So"
    )


def _check_words(one: _Field, sheets: tuple[FactSheet, ...], brand: Brand) -> Iterator[Finding]:
    text = _without_brand(one.text, brand)
    contact = find_contact(text)
    if contact:
        message = "it names an address, number or account that is not the brand's"
        yield Finding(code="contact", where=one.where, span=contact, message=message)
    discount = find_discount(text)
    if discount and not any(fact.kind == "sale" for sheet in sheets for fact in sheet.facts):
        message = "it promises a lower price and no fact says so"
        yield Finding(code="discount", where=one.where, span=discount, message=message)
    attack = find_attack(text)
    if attack:
        yield Finding(code="instruction", where=one.where, span=attack, message="it speaks to a machine")


def _check_numbers(one: _Field, sheets: tuple[FactSheet, ...], brand: Brand) -> Iterator[Finding]:
    text = _without_brand(one.text, brand)
    facts = [fact.text for sheet in sheets for fact in sheet.facts]
    known = [number for fact in facts for number in find_numbers(fact)]
    for number in find_numbers(text):
        if not _is_known(number, known, len(sheets)):
            yield Finding(code="number", where=one.where, span=number.text, message="no fact has this number")
    told = _facts_text(sheets)
    for word, value in find_number_words(text):
        if value != len(sheets) and word not in told:
            yield Finding(code="number", where=one.where, span=word, message="no fact has this number")


def _is_known(number: Number, known: list[Number], products: int) -> bool:
    if not number.unit and products in number.values:
        return True
    return any(number.values & fact.values and (not number.unit or number.unit == fact.unit) for fact in known)


def _check_repetition(caption: str, recent: tuple[str, ...]) -> Iterator[Finding]:
    alike = EarlierCaptions(recent).measure_closest(caption)
    if alike >= TOO_ALIKE:
        message = f"it is {alike:.0%} like an earlier caption, below {TOO_ALIKE:.0%} is allowed"
        yield Finding(code="repetition", where="caption", span="", message=message)


def _facts_text(sheets: tuple[FactSheet, ...]) -> str:
    told = "\n".join(fact.text for sheet in sheets for fact in sheet.facts)
    return unicodedata.normalize("NFKC", told).casefold()


def _without_brand(text: str, brand: Brand) -> str:
    """Return the text without what the brand's own settings put there: handle, addresses, name, hashtags."""
    tags = {f"#{tag.lstrip('#')}" for tag in brand.hashtags}
    own = {*_list_addresses(brand), brand.handle, brand.name, *tags}
    for words in sorted((words for words in own if words), key=len, reverse=True):
        text = re.sub(rf"(?<![\w@]){re.escape(words)}(?![\w])", " ", text)
    return text


def _list_addresses(brand: Brand) -> Iterator[str]:
    """Yield the ways the brand's own web addresses may be written."""
    for address in (brand.url, brand.shop):
        if address.startswith(("https://", "http://")):
            parts = urlsplit(address)
            yield address
            yield address.rstrip("/")
            yield parts.netloc + parts.path.rstrip("/")
            yield parts.netloc.removeprefix("www.") + parts.path.rstrip("/")
            yield parts.netloc
            yield parts.netloc.removeprefix("www.")
