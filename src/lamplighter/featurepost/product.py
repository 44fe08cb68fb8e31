"""The product as a Shopify shop shows it: types, the parser of `products.json`, and which can be featured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

import msgspec

from lamplighter.errors import UpstreamError, render_line

_VARIANT_MARK = re.compile(r"[|/(（【,、]| [-–—] ")
MIN_SHORT_SIDE = 600
_PRICE = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?")
_SNIPPET_LETTERS = 80


class ShopAnswerError(UpstreamError):
    """the answer is not a product list."""

    permanent = True


class HalfAnswer(ShopAnswerError):
    """the product list breaks off in the middle."""

    permanent = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopImage:
    """A picture of a product: its address as the shop gives it; width and height are 0 when not said.

    `variant_ids` are the variants it shows; none means that it shows the product.
    """

    src: str
    position: int
    width: int = 0
    height: int = 0
    variant_ids: tuple[int, ...] = ()

    @property
    def is_large_enough(self) -> bool:
        """Say whether the short side reaches the minimum, or is not known yet."""
        return self.width <= 0 or self.height <= 0 or min(self.width, self.height) >= MIN_SHORT_SIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopOption:
    """A choice a product offers, e.g. Colour: Frost, Lilac; "Title: Default Title" means that there is none."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopVariant:
    """One thing to buy; `compare_at` is None unless it is a positive number, and proves no sale by itself."""

    id: int
    title: str
    price: Decimal
    compare_at: Decimal | None
    available: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopProduct:
    """A product of a shop, texts as the shop wrote them; images in the shop's order; no currency is known here."""

    id: int
    title: str
    handle: str
    body_html: str = field(repr=False)
    vendor: str
    product_type: str
    options: tuple[ShopOption, ...]
    variants: tuple[ShopVariant, ...]
    images: tuple[ShopImage, ...]

    @property
    def usable_images(self) -> tuple[ShopImage, ...]:
        """Return the images whose short side is at least 600 pixels or not known.

        Those that show only what is sold out are left out, unless there are no others.
        """
        large = tuple(image for image in self.images if image.is_large_enough)
        sold_out = {variant.id for variant in self.variants if not variant.available}
        buyable = tuple(image for image in large if not image.variant_ids or set(image.variant_ids) - sold_out)
        return buyable or large


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductList:
    """A shop's list in its own order (newest published first), and why products were passed over as unreadable.

    `currency` is what the shop's cookie said in the same answer, "" when it did not.
    """

    products: tuple[ShopProduct, ...]
    unreadable: tuple[str, ...] = ()
    currency: str = ""


_Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # as Shopify counts; it names files and is kept in a database


class _WireVariant(msgspec.Struct):
    id: _Id
    price: str | int | float
    title: str | None = None
    compare_at_price: str | int | float | None = None
    available: bool | None = None


class _WireImage(msgspec.Struct):
    src: str | None = None
    width: int | None = None
    height: int | None = None
    position: int | None = None
    variant_ids: list[int | None] | None = None


class _WireOption(msgspec.Struct):
    name: str | None = None
    values: list[str | None] | None = None


class _WireProduct(msgspec.Struct):
    id: _Id
    title: str | None = None
    handle: str | None = None
    body_html: str | None = None
    vendor: str | None = None
    product_type: str | None = None
    options: list[_WireOption | None] | None = None
    variants: list[_WireVariant | None] | None = None
    images: list[_WireImage | None] | None = None


class _WireList(msgspec.Struct):
    products: list[msgspec.Raw]


def parse_products(content: bytes, *, subject: str = "products.json") -> ProductList:
    """Return the products of a `products.json` answer, first of each id; raises ShopAnswerError with a snippet."""
    try:
        content.decode("utf-8")
        raw_products = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_WireList).products
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _answer_error(content, error, subject) from None
    products: dict[int, ShopProduct] = {}
    unreadable: list[str] = []
    for number, raw in enumerate(raw_products, start=1):
        try:
            product = _parse_product(raw)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            unreadable.append(f"product {number}: {render_line(str(error), limit=200)}")
        else:
            products.setdefault(product.id, product)
    return ProductList(products=tuple(products.values()), unreadable=tuple(unreadable))


def find_obstacle(product: ShopProduct) -> str:
    """Return why a product cannot be featured, "" when it has a title, can be bought, costs something, can be shown."""
    to_buy = [variant for variant in product.variants if variant.available]
    if not product.title:
        return "no title"
    if not to_buy:
        return "sold out"
    if all(variant.price <= 0 for variant in to_buy):
        return "not for sale"
    return "" if product.usable_images else "no usable photo"


def choose_order(products: Iterable[ShopProduct], used: Iterable[int]) -> tuple[ShopProduct, ...]:
    """Return products in the order they are to be featured: never used ones first, then the least recently used.

    `used` holds the ids of used products, least recently used first. Of never used ones that are sizes or colours of
    one thing ("Bottle | 24 OZ", "Bottle | 36 OZ"), the second comes after the first of every other thing.
    """
    turns = {product_id: turn for turn, product_id in enumerate(used, start=1)}
    seen: Counter[str] = Counter()
    ranks: dict[int, tuple[int, int]] = {}
    products = tuple(products)
    for product in products:
        thing = _VARIANT_MARK.split(product.title.casefold(), maxsplit=1)[0].strip()
        ranks[product.id] = (turns.get(product.id, 0), seen[thing])
        seen[thing] += 1
    return tuple(sorted(products, key=lambda product: ranks[product.id]))


def _parse_product(raw: msgspec.Raw) -> ShopProduct:
    wire = msgspec.json.decode(raw, type=_WireProduct)
    images = sorted(_parse_images(wire.images or []), key=lambda image: image.position)
    return ShopProduct(
        id=wire.id,
        title=_tidy(wire.title),
        handle=(wire.handle or "").strip(),
        body_html=wire.body_html or "",
        vendor=_tidy(wire.vendor),
        product_type=_tidy(wire.product_type),
        options=tuple(
            ShopOption(name=_tidy(option.name), values=tuple(_tidy(value) for value in option.values or [] if value))
            for option in wire.options or []
            if option
        ),
        variants=tuple(_parse_variant(variant) for variant in wire.variants or [] if variant),
        images=tuple(images),
    )


def _parse_variant(wire: _WireVariant) -> ShopVariant:
    """Read one variant; whether it is available is believed only when it is said."""
    price = _parse_price(wire.price)
    if price is None:
        raise ValueError(f"the price of variant {wire.id} is no number: {wire.price!r}")
    compare_at = _parse_price(wire.compare_at_price)
    return ShopVariant(
        id=wire.id,
        title=_tidy(wire.title),
        price=price,
        compare_at=compare_at if compare_at and compare_at > 0 else None,
        available=wire.available is True,
    )


def _parse_images(wires: list[_WireImage | None]) -> list[ShopImage]:
    """Read the pictures that have an address; one without a position stays where it stands."""
    return [
        ShopImage(
            src=wire.src.strip(),
            position=number if wire.position is None else wire.position,
            width=max(0, wire.width or 0),
            height=max(0, wire.height or 0),
            variant_ids=tuple(found for found in wire.variant_ids or [] if found is not None),
        )
        for number, wire in enumerate(wires, start=1)
        if wire and wire.src and wire.src.strip()
    ]


def _parse_price(value: str | float | None) -> Decimal | None:
    """Return an amount, or None for what is no plain number (Decimal itself also takes "1_0", "NaN" and "１")."""
    text = str(value).strip() if value is not None else ""
    return Decimal(text) if _PRICE.fullmatch(text) else None


def _tidy(text: str | None) -> str:
    return " ".join((text or "").split())


def _answer_error(content: bytes, error: Exception, subject: str) -> ShopAnswerError:
    """Say what came instead of a product list, with its first letters."""
    snippet = render_line(content[:2_000].decode("utf-8", errors="replace").lstrip(), limit=_SNIPPET_LETTERS)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        return HalfAnswer(subject, "the answer is empty")
    if start == b"<":
        title = re.search(
            r"<title[^>]*>([^<]{1,200})", content[:20_000].decode("utf-8", errors="replace"), re.IGNORECASE
        )
        what = (
            f"titled {render_line(title[1].strip(), limit=_SNIPPET_LETTERS)!r}"
            if title
            else f"beginning with {snippet!r}"
        )
        return ShopAnswerError(subject, f"a web page came instead of a product list, {what}")
    if "truncated" in str(error):
        return HalfAnswer(subject, f"the product list breaks off after {len(content):,} bytes")
    return ShopAnswerError(
        subject, f"the answer is not a product list ({render_line(str(error), limit=120)}): {snippet!r}"
    )
