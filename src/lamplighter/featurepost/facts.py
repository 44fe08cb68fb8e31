"""The fact sheet: everything that may be said about one product, numbered, each fact with the place it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.featurepost.feature import Fact, FactSheet, Language
from lamplighter.featurepost.html_text import clean_text, extract_text
from lamplighter.featurepost.money import format_price
from lamplighter.featurepost.product import ShopOption, ShopProduct, ShopVariant
from lamplighter.featurepost.statement import (
    Topic,
    find_attack,
    find_discount,
    is_plain,
    parse_statement,
    remove_contacts,
    split_sentences,
)

BODY_LETTERS = 1_500
TITLE_LETTERS = 120
_MOST_QUOTES = 8
_MOST_OF_A_TOPIC = 3
_MOST_OPTIONS = 6
_MOST_VALUES = 12
_VALUE_LETTERS = 40
_SHORTEST_WORD, _SHORTEST_CJK_WORD = 3, 2  # "S" and "大" stand in too many other words
_NO_KIND = re.compile(
    r"|normal|default|standard|simple|variable|configurable|product|products|physical|item|items|other|others|misc|"
    r"none|n/?a|test|general|new|all|その他|商品|なし"
)
_BRACKETED = re.compile(r"[【\[(（〔《<＜][^】\])）〕》>＞]*[】\])）〕》>＞]")
Kind = Literal["title", "price", "sale", "quote", "option", "vendor", "kind"]
_NOT_A_NAME = re.compile(r"[<>{}`\\]|\]\(|\*\*|__|(?<!\d)(?<!\d\s)[$€£¥￥₩₹](?!\s?\d)")
_EDGES = " |｜-–—,、。·•:：;/&"
_TITLE_PART = re.compile(r"\s+[|–—/:-]\s+|\s*[|｜！!★☆◆●※~〜～]+\s*")


class UnusableProduct(LamplighterError):
    """nothing can be said about this product."""

    failure = FailureClass.INPUT


class SuspiciousText(UnusableProduct):
    """the product's text speaks to a machine, not to a customer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unnumbered:
    """A fact before it has its number."""

    kind: Kind
    text: str
    source: str


def build_fact_sheet(product: ShopProduct, *, language: Language, currency: str) -> FactSheet:
    """Return the facts of a product: title, price, sale, quotes, options, kind, vendor, in this order.

    A price needs a currency; "" means that none is proven. Raises SuspiciousText when any text, also hidden text,
    tries to instruct a machine, and UnusableProduct when the title says nothing or only advertises.
    """
    page = extract_text(product.body_html)
    _refuse_attacks(product, page.visible, page.hidden)
    title = _choose_title(product)
    told = (
        _Unnumbered(kind="title", text=title, source="title"),
        *_find_price(product.variants, currency, language),
        *_find_quotes(page.visible[:BODY_LETTERS], title, _find_sold_out(product)),
        *_find_options(product, language),
        *_find_names(product),
    )
    numbered = tuple(
        Fact(id=f"F{number}", kind=one.kind, text=one.text, source=one.source)
        for number, one in enumerate(told, start=1)
    )
    return FactSheet(product_id=product.id, title=title, facts=numbered)


def _refuse_attacks(product: ShopProduct, visible: str, hidden: str) -> None:
    options = "\n".join(f"{option.name}\n" + "\n".join(option.values) for option in product.options)
    for place, text in (
        ("title", product.title),
        ("vendor", product.vendor),
        ("product_type", product.product_type),
        ("options", options),
        ("body_html", visible),
        ("body_html, hidden", hidden),
    ):
        found = find_attack(clean_text(text))
        if found:
            raise SuspiciousText(f"product {product.id}", f"its {place} speaks to a machine: {found!r}")


def _choose_title(product: ShopProduct) -> str:
    """Return the title without advertising and contacts, cut between words."""
    title = _one_line(product.title)
    if not is_plain(title):
        title = " - ".join(part for part in _plain_parts(title) if part)
    title = _cut_between_words(title.strip(_EDGES), TITLE_LETTERS)
    if not any(letter.isalpha() for letter in title):
        raise UnusableProduct(f"product {product.id}", "there are no words in its title")
    if not is_plain(title):
        raise UnusableProduct(f"product {product.id}", f"its title advertises: {find_discount(title) or title[:60]!r}")
    return title


def _plain_parts(title: str) -> Iterator[str]:
    """Yield the parts of a title that carry no advertising: "【送料無料】ash mug | 20% off" is the ash mug."""
    without_contacts = remove_contacts(title)
    kept = _BRACKETED.sub(lambda found: found[0] if is_plain(found[0][1:-1]) else " ", without_contacts)
    unmarked = _NOT_A_NAME.sub(" ", kept)
    for part in _TITLE_PART.split(unmarked):
        if is_plain(part):
            yield " ".join(part.split())


def _cut_between_words(text: str, letters: int) -> str:
    """Return at most so many letters, ending at a blank where there is one."""
    if len(text) <= letters:
        return text
    head, blank, _ = text[: letters + 1].rpartition(" ")
    return (head if blank and len(head) > letters // 2 else text[:letters]).rstrip(" ,、-–|")


def _find_price(variants: tuple[ShopVariant, ...], currency: str, language: Language) -> Iterator[_Unnumbered]:
    """Yield the price of what can be bought now, and the sale when it holds for exactly what that price is for."""
    buyable = [variant for variant in variants if variant.available and variant.price > 0]
    if not buyable or any(variant.available and variant.price <= 0 for variant in variants):
        return
    lowest = min(variant.price for variant in buyable)
    shown = format_price(lowest, currency, language)
    if not shown:
        return
    same = all(variant.price == lowest for variant in buyable)
    price = shown if same else (f"{shown}から" if language == "ja" else f"from {shown}")
    yield _Unnumbered(kind="price", text=price, source="variants.price")
    before = {variant.compare_at for variant in buyable if variant.price == lowest}
    old = before.pop() if len(before) == 1 else None
    was = format_price(old, currency, language) if old is not None and old > lowest else ""
    if was:
        yield _Unnumbered(
            kind="sale",
            text=f"{was}→{shown}" if language == "ja" else f"was {was}, now {shown}",
            source="variants.compare_at",
        )


def _find_sold_out(product: ShopProduct) -> tuple[re.Pattern[str], ...]:
    """Return what finds the name of a choice that nobody can buy now ("Slate", "灰桜"); short names find nothing."""
    gone = []
    for index, option in enumerate(product.options):
        offered = {value.casefold() for value in _offered(product, option, index)}
        gone += [value for value in map(_one_line, option.values) if value.casefold() not in offered]
    least = {True: _SHORTEST_WORD, False: _SHORTEST_CJK_WORD}
    return tuple(
        re.compile(rf"\b{re.escape(value)}\b" if value.isascii() else re.escape(value), re.IGNORECASE)
        for value in gone
        if len(value) >= least[value.isascii()] and value != "Default Title"
    )


def _find_quotes(text: str, title: str, sold_out: tuple[re.Pattern[str], ...]) -> Iterator[_Unnumbered]:
    """Yield plain statements, each a verbatim piece of the visible text, a few of each topic, none of what is gone."""
    seen: set[str] = {title.casefold()}
    counts: dict[Topic, int] = {}
    for sentence in split_sentences(text):
        statement = parse_statement(sentence)
        if statement is None or sentence.casefold() in seen or counts.get(statement.topic, 0) == _MOST_OF_A_TOPIC:
            continue
        if any(word.search(sentence) for word in sold_out):
            continue
        seen.add(sentence.casefold())
        counts[statement.topic] = counts.get(statement.topic, 0) + 1
        yield _Unnumbered(kind="quote", text=sentence, source="body_html")
        if sum(counts.values()) == _MOST_QUOTES:
            return


def _find_options(product: ShopProduct, language: Language) -> Iterator[_Unnumbered]:
    """Yield what can be chosen among the things that can be bought now."""
    colon, comma = ("：", "、") if language == "ja" else (": ", ", ")
    for index, option in enumerate(product.options[:_MOST_OPTIONS]):
        name = _one_line(option.name)
        values = [value for value in _offered(product, option, index) if is_plain(value)][:_MOST_VALUES]
        if name and values and is_plain(name) and name.lower() != "title" and values != [name]:
            yield _Unnumbered(kind="option", text=f"{name}{colon}{comma.join(values)}", source="options")


def _offered(product: ShopProduct, option: ShopOption, index: int) -> Iterator[str]:
    """Yield the values of an option that some available variant has, as far as the variants' titles tell."""
    split = [(variant.available, [part.strip() for part in variant.title.split(" / ")]) for variant in product.variants]
    readable = all(len(parts) == len(product.options) and parts[index] in option.values for _, parts in split)
    buyable = {parts[index] for available, parts in split if available} if readable and split else None
    for value in dict.fromkeys(option.values):
        text = _one_line(value)
        if 0 < len(text) <= _VALUE_LETTERS and text != "Default Title" and (buyable is None or value in buyable):
            yield text


def _find_names(product: ShopProduct) -> Iterator[_Unnumbered]:
    """Yield what kind of thing it is and who made or sells it, where the shop says so usefully."""
    kind, vendor = _one_line(product.product_type), _one_line(product.vendor)
    if _is_name(kind) and not _NO_KIND.fullmatch(kind.lower()):
        yield _Unnumbered(kind="kind", text=kind, source="product_type")
    if _is_name(vendor):
        yield _Unnumbered(kind="vendor", text=vendor, source="vendor")


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _VALUE_LETTERS and is_plain(text)


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())
