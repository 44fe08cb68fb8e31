"""The caption as it is posted: the writer's paragraphs, products with their prices, the way to the shop, hashtags."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Copy, FactSheet, Language
from lamplighter.featurepost.writer.names import LONG_LETTERS, name_products

_MOST_UNITS = 2_200  # UTF-16 units: what publish/publisher.py would refuse is not written
_MOST_HASHTAGS = 30
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionFrame:
    """What stands around the writer's paragraphs, whatever they say: product lines, the way to the shop, hashtags."""

    brand: Brand
    lines: tuple[str, ...]
    own_tags: tuple[str, ...]
    tags: tuple[str, ...]
    is_single: bool

    def render(self, words: str) -> str:
        """Return the whole caption around some paragraphs; the same words always get the same frame."""
        paragraphs = [part.strip() for part in words.split("\n\n") if part.strip()]
        tags = list(self.tags)
        choice = zlib.crc32(words.encode())
        mark = "" if self.is_single else _MARKS[choice // 7 % len(_MARKS)]
        products = "\n".join(f"{mark}{line}" for line in self.lines)
        shop_line = _render_shop_line(self.brand, choice, is_single=self.is_single)
        while True:
            *first, last = paragraphs or [""]
            ending = f"{last}\n{shop_line}" if first else shop_line
            caption = "\n\n".join(part for part in (*(first or [last]), products, ending, " ".join(tags)) if part)
            if _count_units(caption) <= _MOST_UNITS or not (tags or len(paragraphs) > 1):
                return caption
            if len(tags) > len(self.own_tags) or len(paragraphs) <= 1:
                tags.pop()
            else:
                paragraphs.pop()


def build_frame(copy: Copy, sheets: tuple[FactSheet, ...], brand: Brand) -> CaptionFrame:
    """Return what stands in a caption beside the words of the copy's own caption."""
    return CaptionFrame(
        brand=brand,
        lines=_list_products(copy, sheets, brand.language),
        own_tags=_hashtags(brand.hashtags),
        tags=_hashtags((*brand.hashtags, *copy.hashtags))[:_MOST_HASHTAGS],
        is_single=len(sheets) == 1,
    )


def render_caption(copy: Copy, sheets: tuple[FactSheet, ...], brand: Brand) -> str:
    """Return the whole caption of at most 2,200 UTF-16 units and 30 hashtags.

    Prices are those of the sheets, letter by letter. What does not fit is left out from the end: first the copy's
    hashtags, then its last paragraphs, then the brand's hashtags; the products stay.
    """
    return build_frame(copy, sheets, brand).render(copy.caption)


def render_address(brand: Brand) -> str:
    """Return the brand's web address, else its shop's, as people write it ("kiln.example/shop"), "" without one."""
    address = brand.url or (brand.shop if brand.shop.startswith(("https://", "http://")) else "")
    parts = urlsplit(address)
    return f"{parts.netloc.removeprefix('www.')}{parts.path.rstrip('/')}"


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def _hashtags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags with their sign, first spelling of each."""
    signed: dict[str, str] = {}
    for tag in tags:
        word = tag.lstrip("#＃")
        if word:
            signed.setdefault(word.casefold(), f"#{word}")
    return tuple(signed.values())


def _list_products(copy: Copy, sheets: tuple[FactSheet, ...], language: Language) -> tuple[str, ...]:
    """Return a line a product: its whole title, unless the copy calls it by words of its own, and its price."""
    told = {entry.product_id: entry.name for entry in copy.products}
    whole = name_products(sheets, LONG_LETTERS)
    names = [
        title if _is_part(told.get(sheet.product_id, ""), f"{title} {sheet.title}") else told[sheet.product_id]
        for sheet, title in zip(sheets, whole, strict=True)
    ]
    prices = [_price(sheet, language) for sheet in sheets]
    if len(sheets) == 1 and not prices[0]:
        return ()
    return tuple(f"{name}{price}" for name, price in zip(names, prices, strict=True))


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


def _render_shop_line(brand: Brand, choice: int, *, is_single: bool) -> str:
    address = render_address(brand)
    if not address:
        lines = _HANDLE_LINES[brand.language]
        return lines[choice % len(lines)].format(handle=brand.handle)
    pairs = _SHOP_LINES[brand.language]
    return pairs[choice % len(pairs)][is_single].format(site=address, handle=brand.handle)
