"""The caption as it is posted: the writer's paragraphs, products with their prices, the way to the shop, hashtags."""

from __future__ import annotations

import re
import zlib
from types import MappingProxyType
from urllib.parse import urlsplit

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Copy, FactSheet, Language
from lamplighter.featurepost.gate.limits import CAPTION_UNITS, MOST_HASHTAGS, count_units
from lamplighter.featurepost.writer.names import LONG_LETTERS, name_products

_MARKS = ("• ", "· ", "")
_SHOP_LINES: MappingProxyType[Language, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "en": (
            ("You will find them at {site}.", "You will find it at {site}."),
            ("All of it is in the shop: {site}", "It is in the shop: {site}"),
            ("Have a look at {site}.", "Have a look at {site}."),
            ("The shop is open at {site}.", "The shop is open at {site}."),
            ("Read more at {site}.", "Read more at {site}."),
            ("In the shop now, at {site}.", "In the shop now, at {site}."),
            ("{handle} · {site}", "{handle} · {site}"),
        ),
        "ja": (
            ("ショップでご覧いただけます：{site}",) * 2,
            ("くわしくは {site} をご覧ください。",) * 2,
            ("{site} でお待ちしています。",) * 2,
            ("お求めは {site} からどうぞ。",) * 2,
            ("つづきは {site} でどうぞ。",) * 2,
            ("ショップはこちらです。{site}",) * 2,
            ("{handle} · {site}",) * 2,
        ),
    }
)
_HANDLE_LINES: MappingProxyType[Language, tuple[str, ...]] = MappingProxyType(
    {
        "en": ("Find us at {handle}.", "More at {handle}.", "{handle}"),
        "ja": ("{handle} でご覧いただけます。", "くわしくは {handle} へ。", "{handle}"),
    }
)


def render_caption(copy: Copy, sheets: tuple[FactSheet, ...], brand: Brand) -> str:
    """Return the whole caption of at most 2,200 UTF-16 units and 30 hashtags.

    Prices are those of the sheets, letter by letter. What does not fit is left out from the end: first the copy's
    hashtags, then its last paragraphs; the brand's own hashtags and the products stay.
    """
    paragraphs = [part.strip() for part in copy.caption.split("\n\n") if part.strip()]
    own = _hashtags(brand.hashtags)
    tags = _hashtags((*brand.hashtags, *copy.hashtags))[:MOST_HASHTAGS]
    choice = zlib.crc32(copy.caption.encode())
    products = _render_list(copy, sheets, choice, brand.language)
    shop_line = _render_shop_line(brand, len(sheets), choice)
    while True:
        *first, last = paragraphs or [""]
        ending = f"{last}\n{shop_line}" if first else shop_line
        parts = (*(first or [last]), products, ending, " ".join(tags))
        caption = "\n\n".join(part for part in parts if part)
        if count_units(caption) <= CAPTION_UNITS:
            return caption
        if len(tags) > len(own):
            tags.pop()
        elif len(paragraphs) > 1:
            paragraphs.pop()
        elif tags:
            tags.pop()
            own = tags
        else:
            return caption


def read_site(brand: Brand) -> str:
    """Return the shop's web address as people write it ("kiln.example/shop"), "" when there is none."""
    address = brand.url or (brand.shop if brand.shop.startswith(("https://", "http://")) else "")
    parts = urlsplit(address)
    return f"{parts.netloc.removeprefix('www.')}{parts.path.rstrip('/')}"


def _hashtags(tags: tuple[str, ...]) -> list[str]:
    """Return the tags with their sign, first spelling of each."""
    signed: dict[str, str] = {}
    for tag in tags:
        word = tag.lstrip("#＃")
        if word:
            signed.setdefault(word.casefold(), f"#{word}")
    return list(signed.values())


def _render_list(copy: Copy, sheets: tuple[FactSheet, ...], choice: int, language: Language) -> str:
    """Return a line a product: its whole title, unless the copy calls it by words of its own, and its price."""
    told = {entry.product_id: entry.name for entry in copy.products}
    whole = name_products(sheets, LONG_LETTERS)
    names = [
        title if _is_part(told.get(sheet.product_id, ""), f"{title} {sheet.title}") else told[sheet.product_id]
        for sheet, title in zip(sheets, whole, strict=True)
    ]
    prices = [_price(sheet, language) for sheet in sheets]
    if len(sheets) == 1 and not prices[0]:
        return ""
    mark = _MARKS[choice // 7 % len(_MARKS)] if len(sheets) > 1 else ""
    return "\n".join(f"{mark}{name}{price}" for name, price in zip(names, prices, strict=True))


def _is_part(name: str, title: str) -> bool:
    """Tell whether a name is made of the title's own words alone, in whatever cut."""
    said = title.casefold()
    return all(word in said for word in re.findall(r"\w+", name.casefold()))


def _price(sheet: FactSheet, language: Language) -> str:
    """Return what follows a name in the list: its price, or the old and the new one where a sale is a fact."""
    told = {fact.kind: fact.text for fact in sheet.facts if fact.kind in {"price", "sale"}}
    price = told.get("price", "")
    sale = told.get("sale", "")
    shown = sale if sale.endswith(price) else price
    return f"{'　' if language == 'ja' else ' – '}{shown}" if shown else ""


def _render_shop_line(brand: Brand, count: int, choice: int) -> str:
    site = read_site(brand)
    if not site:
        lines = _HANDLE_LINES[brand.language]
        return lines[choice % len(lines)].format(handle=brand.handle)
    pairs = _SHOP_LINES[brand.language]
    return pairs[choice % len(pairs)][count == 1].format(site=site, handle=brand.handle)
