"""Sheets, brands and limits that tests of the writer and the gate share; products go through the real parser."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.simulators.shop import Product, make_product, render_wire

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.facts import build_fact_sheet
from lamplighter.featurepost.feature import FactSheet, Language, Role
from lamplighter.featurepost.product import ShopProduct, parse_products
from lamplighter.featurepost.writer.writer import Brief

SLIDE_LIMITS = {
    (Role.COVER, "kicker"): 20,
    (Role.COVER, "title"): 44,
    (Role.COVER, "subtitle"): 44,
    (Role.PRODUCT, "name"): 40,
    (Role.PRODUCT, "note"): 90,
    (Role.DETAIL, "title"): 30,
    (Role.DETAIL, "body"): 120,
    (Role.CLOSING, "title"): 36,
    (Role.CLOSING, "body"): 60,
}
ENGLISH = Brand(
    slug="kiln",
    name="Kiln & Co",
    shop="https://kiln.example",
    handle="@kiln.co",
    language="en",
    permission="own",
    url="https://www.kiln.example/",
    currency="EUR",
    hashtags=("#kilnandco", "ceramics"),
)
JAPANESE = Brand(
    slug="kama",
    name="窯のしごと",
    shop="https://kama.example",
    handle="@kama.shigoto",
    language="ja",
    permission="own",
    url="https://kama.example",
    currency="JPY",
    hashtags=("#うつわ",),
)

_ENGLISH_PRODUCTS = (
    ("Ash Mug", "Mug", "38.00", "<p>Material: stoneware, glazed inside.</p><p>Capacity: 300 ml</p>"),
    (
        "Moss Plate",
        "Plates",
        "24.00",
        "<p>A low plate with a raised rim.</p><p>Size: 21 cm across</p><p>Made in: Porto</p>",
    ),
    ("Linen Tea Towels, Set of Two | Ecru", "", "29.90", "<ul><li>100% linen</li><li>45 x 70 cm each</li></ul>"),
    (
        "Oak Tray",
        "Trays",
        "58.00",
        "<p>Material: European oak</p><p>Wipe it with a damp cloth.</p><p>Weight: 1.1 kg</p>",
    ),
    ("The Ember Candle in a Cup of Dark Stoneware", "Candles", "32.00", "<p>Wax 240 g, burns for about 45 hours.</p>"),
    ("Field Jug", "", "44.50", ""),
)
_JAPANESE_PRODUCTS = (
    ("朝の湯のみ", "湯のみ", "3300.00", "<p>口のふちは釉薬が薄く、土の色がのぞきます。</p><p>容量：約230ml</p>"),
    (
        "鉄釉の土瓶",
        "急須・土瓶",
        "13200.00",
        "<p>素材：陶器、竹</p><p>大きさ：幅17cm、高さ13.5cm</p><p>持ち手は竹。</p>",
    ),
    (
        "けやきの丸盆",
        "お盆",
        "6600.00",
        "<p>素材：けやき</p><p>直径：27cm</p><p>お手入れ：やわらかい布で拭いてください</p>",
    ),
    ("注染の手ぬぐい", "", "1650.00", "<p>素材：綿100%</p><p>糸まで染まるので、裏も表も同じ色です。</p>"),
    ("高台の飯碗", "飯碗", "4180.00", "<p>高台を少し高くした飯碗です。</p><p>口径12.4cm、高さ6.2cm</p>"),
    ("豆皿", "", "880.00", ""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimits:
    """Limits from a table."""

    table: dict[tuple[Role, str], int] = field(default_factory=lambda: dict(SLIDE_LIMITS))

    def limit(self, role: Role, field: str) -> int | None:
        """Return the most letters of a field."""
        return self.table.get((role, field))


def parse_one(product: Product) -> ShopProduct:
    """Return a product of the wire as the shop's reader gives it."""
    return parse_products(render_wire({"products": [product]})).products[0]


def make_sheets(language: Language) -> tuple[FactSheet, ...]:
    """Return six fact sheets in a language."""
    rows = _ENGLISH_PRODUCTS if language == "en" else _JAPANESE_PRODUCTS
    currency = "EUR" if language == "en" else "JPY"
    return tuple(
        build_fact_sheet(
            parse_one(make_product(number, title=title, product_type=kind, price=price, body_html=body)),
            language=language,
            currency=currency,
        )
        for number, (title, kind, price, body) in enumerate(rows, start=1)
    )


def make_brief(language: Language = "en", *, number: int = 1, count: int = 3, recent: tuple[str, ...] = ()) -> Brief:
    """Return a brief over the next products in turn, as a run of features would take them."""
    sheets = make_sheets(language)
    start = (number - 1) * count
    picked = tuple(sheets[(start + index) % len(sheets)] for index in range(count))
    brand = ENGLISH if language == "en" else JAPANESE
    return Brief(brand=brand, sheets=picked, limits=TableLimits(), number=number, recent_captions=recent)
