"""Everything a feature is made with, by hand: a shop, a writer, and the process that draws.

    shop = ListedShop(make_product(1), make_product(2, images=2))
    bench = Bench(desk, shop)
    feature = bench.make()                    # a FeatureMaker over the fakes, the real stock beneath
    shop.photos["2-1"] = BadPhoto("2-1")      # an address that brings an error instead of a picture
    bench.writer.change = lambda copy: ...    # words as another tool would write them
    bench.runner.answer = lambda request: Refused(...)

The drawing process is faked at its order (slides/order.py), so the real Renderer judges what comes back.
"""

from __future__ import annotations

import colorsys
import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

from PIL import Image
from tests.simulators.desk import JPEG, Desk, make_brand, make_copy

from lamplighter.errors import LamplighterError
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Copy, Feature, WriterRecord
from lamplighter.featurepost.making import FeatureMaker, Workshop
from lamplighter.featurepost.photo import Photo, check_photo
from lamplighter.featurepost.product import ProductList, ShopImage, ShopProduct, ShopVariant
from lamplighter.featurepost.slides.carousel import Made, Picture
from lamplighter.featurepost.slides.order import CarouselOrder, Refused, parse_order, render_answer
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import Template, find_template
from lamplighter.featurepost.writer.writer import Brief, Written
from lamplighter.host.process import Command, Ending, Finished
from lamplighter.publish.publisher import lint_post

_CAPTIONS = (
    "Light falls on a shelf, and somebody has put the kettle on. That is all it takes.",
    "Quiet things for quiet days.",
    "What the kiln gives back is never quite what went into it, which is why we open it slowly.",
    "A table wants company: bread, a little salt, hands that pass the dish along.",
    "Rain outside. Indoors a lamp, wool socks, the smell of oranges drying by the stove.",
    "Some pieces ask to be touched before they are looked at, thumb along the rim.",
    "From our street to yours, wrapped in old newspaper and tied with kitchen string.",
)


@cache
def make_photo(name: str) -> bytes:
    """Return a picture that no other name has."""
    hue = int(hashlib.sha256(name.encode()).hexdigest()[:6], 16) / 0xFFFFFF
    red, green, blue = (int(255 * part) for part in colorsys.hsv_to_rgb(hue, 0.5, 0.8))
    stream = io.BytesIO()
    Image.new("RGB", (640, 800), (red, green, blue)).save(stream, "JPEG", quality=60)
    return stream.getvalue()


def make_product(
    number: int, *, title: str = "", images: int = 1, available: bool = True, price: str = "39.00"
) -> ShopProduct:
    """Return a product of a shop; its pictures have the addresses "3-1", "3-2" and so on."""
    return ShopProduct(
        id=number,
        title=title
        or f"{('Heron', 'Ember', 'Ripple', 'Field', 'Dawn', 'Oak')[number % 6]} {'Bowl' * (number < 6) or 'Vase'}",
        handle=f"product-{number}",
        body_html="<p>Glazed by hand. Made of stoneware.</p>",
        vendor="Wrenfold",
        product_type="Bowls",
        options=(),
        variants=(ShopVariant(id=number, title="", price=Decimal(price), compare_at=None, available=available),),
        images=tuple(
            ShopImage(src=f"{number}-{position}", position=position, width=640, height=800)
            for position in range(1, images + 1)
        ),
    )


class ListedShop:
    """A shop that has what it was given; `photos` holds what an address brings, a picture by default."""

    def __init__(self, *products: ShopProduct) -> None:
        self.listed = ProductList(products=products)
        self.photos: dict[str, bytes | LamplighterError] = {}
        self.trouble: LamplighterError | None = None
        self.fetched: list[str] = []
        self.lists = 0

    def fetch_products(self) -> ProductList:
        """Return the list, or raise the trouble."""
        self.lists += 1
        if self.trouble is not None:
            raise self.trouble
        return self.listed

    def fetch_photo(self, image: ShopImage) -> Photo:
        """Return a picture, or raise what stands in its place."""
        self.fetched.append(image.src)
        found = self.photos.get(image.src, make_photo(image.src))
        if isinstance(found, LamplighterError):
            raise found
        return check_photo(found)

    def product_url(self, handle: str) -> str:
        """Return an address."""
        return f"https://shop.example/products/{handle}"


class PlainWriter:
    """Writes words that nobody can object to, unless `change` or `trouble` say otherwise; keeps the briefs."""

    def __init__(self) -> None:
        self.change: Callable[[Copy], Copy] = lambda copy: copy
        self.trouble: LamplighterError | None = None
        self.briefs: list[Brief] = []

    def write(self, brief: Brief) -> Written:
        """Return the copy."""
        self.briefs.append(brief)
        if self.trouble is not None:
            raise self.trouble
        caption = _CAPTIONS[brief.number % len(_CAPTIONS)]
        copy = make_copy(tuple(sheet.product_id for sheet in brief.sheets), caption=caption)
        return Written(copy=self.change(copy), record=WriterRecord(tool="plain"))


class SlideProcess:
    """Stands for the process that draws: makes a small file for each slide, or answers as told; keeps the requests."""

    def __init__(self) -> None:
        self.answer: Callable[[CarouselOrder], Made | Refused] = draw
        self.requests: list[CarouselOrder] = []

    def run(self, command: Command) -> Finished:
        """Answer one request."""
        request = parse_order(command.stdin)
        self.requests.append(request)
        answer = render_answer(self.answer(request))
        return Finished(ending=Ending.EXITED, code=0, seconds=0.1, stdout=answer, stderr=b"")


def draw(request: CarouselOrder) -> Made:
    """Write a file for each slide and say so."""
    pictures = []
    for number, _ in enumerate(request.slides, start=1):
        content = JPEG + str(number).encode()
        (Path(request.output_dir) / f"slide-{number}.jpg").write_bytes(content)
        pictures.append(
            Picture(file=f"slide-{number}.jpg", size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        )
    return Made(pictures=tuple(pictures), notes=("drawn by hand",), fit=())


class Bench:
    """A maker over fakes and a real stock."""

    def __init__(self, desk: Desk, shop: ListedShop, *, brand: Brand | None = None, review: bool = False) -> None:
        self.desk = desk
        self.brand = brand or make_brand("wrenfold")
        self.writer = PlainWriter()
        self.runner = SlideProcess()
        workshop = Workshop(
            shop_for=lambda _: shop,
            template_for=self._find_template,
            writer=self.writer,
            renderer=Renderer(runner=self.runner),
            lint=lint_post,
            clock=desk.clock,
            hold_for_review=review,
        )
        self.workshop = workshop

    def open(self) -> FeatureMaker:
        """Return a maker for one run."""
        return FeatureMaker(self.workshop, self.desk.stock, self.desk.index)

    def make(self) -> Feature:
        """Make one feature in a run of its own, or raise NotMade."""
        return self.open().make(self.brand, self.desk.run())

    def lint_with(self, lint: Callable[[str, tuple[Path, ...]], tuple[str, ...]]) -> None:
        """Let another network's rules hold."""
        self.workshop = replace(self.workshop, lint=lint)

    def _find_template(self, brand: Brand) -> Template:
        return find_template(brand.template)
