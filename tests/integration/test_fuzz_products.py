"""Product lists and brands that nobody would write, through the whole making: an error of ours, or a good feature."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.simulators.desk import Desk
from tests.simulators.mutation import LONG, MEMORY, Json, fuzz, nasty_texts, spoilt
from tests.simulators.workshop import SlideProcess

from lamplighter.errors import ConfigError
from lamplighter.featurepost.catalog import Brand, parse_catalog
from lamplighter.featurepost.feature import Feature
from lamplighter.featurepost.gate.gate import check_feature_text
from lamplighter.featurepost.generate import NotMade
from lamplighter.featurepost.html_text import is_unreadable
from lamplighter.featurepost.making import FeatureMaker, Workshop
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.featurepost.shop import FolderShop
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import find_template
from lamplighter.featurepost.stock import Place
from lamplighter.featurepost.writer.template import TemplateWriter
from lamplighter.host.process import Runner, SystemRunner
from lamplighter.publish.publisher import lint_post

pytestmark = pytest.mark.timeout(7_200 if LONG else 120)
TEXTS = {
    "en": ("Heron Bowl", "<p>Material: stoneware. Glazed by hand. Holds 350 ml.</p>", "Bowls", "Colour", "Blue"),
    "ja": ("土瓶", "<p>素材：陶器。ひとつずつ手作業で作っています。容量は350mlです。</p>", "急須", "色", "白"),
}


def make_picture() -> bytes:
    """Return a good picture."""
    stream = io.BytesIO()
    Image.linear_gradient("L").resize((900, 1100)).convert("RGB").save(stream, "JPEG", quality=70)
    return stream.getvalue()


PICTURE = make_picture()
RENDERER = Renderer(runner=SystemRunner())


def make_list(language: str) -> Json:
    """Return a good list of three products."""
    title, body, kind, option, value = TEXTS[language]
    products: list[Json] = []
    for number in (1, 2, 3):
        variant: Json = {
            "id": 10 + number, "title": value, "option1": value, "price": "30.00", "compare_at_price": None,
            "available": True,
        }  # fmt: skip
        image: Json = {"src": "p.jpg", "width": 900, "height": 1100, "position": 1, "variant_ids": [10 + number]}
        products.append({
            "id": number, "title": f"{title} {'ABC'[number - 1]}", "handle": f"p-{number}", "body_html": body,
            "vendor": "Kiln", "product_type": kind, "options": [{"name": option, "values": [value]}],
            "variants": [variant], "images": [image, {"src": "q.jpg"}],
        })  # fmt: skip
    return {"products": products}


BRAND: Json = {
    "slug": "kiln", "name": "Kiln & Lane", "shop": "file:shop", "handle": "@kiln", "language": "en",
    "permission": "own", "url": "https://kiln.example", "currency": "EUR", "template": "default",
    "theme": {"ink": "#202020", "paper": "#f0f0f0", "accent": "#a03020", "on_accent": "#ffffff"},
    "hashtags": ["#kiln", "clay"], "products_per_feature": 3,
}  # fmt: skip


@st.composite
def brands(draw: st.DrawFn) -> Brand:
    """Return a brand that the catalog takes, as odd as it may be."""
    entry = {
        **BRAND,  # type: ignore[dict-item]
        "name": draw(nasty_texts().map(lambda text: text[:60]) | st.sampled_from(("Kiln & Lane", "きりの道具店"))),
        "language": draw(st.sampled_from(("en", "ja"))),
        "template": draw(st.sampled_from(("default", "editorial"))),
        "currency": draw(st.sampled_from(("EUR", "JPY", "USD", "", "KWD", "XYZ"))),
        "url": draw(st.sampled_from(("", "https://kiln.example", f"https://{'k' * 60}.example/{'x' * 200}"))),
        "hashtags": draw(st.lists(st.from_regex(r"#?\w{1,60}", fullmatch=True), max_size=30)),
        "theme": {"paper": draw(st.sampled_from(("", "#000000", "#ffffff", "#808080")))},
        "products_per_feature": draw(st.integers(1, 6)),
    }
    try:
        return parse_catalog(json.dumps({"brands": [entry]}).encode())[0]
    except ConfigError:
        return parse_catalog(json.dumps({"brands": [{**entry, "name": "Kiln"}]}).encode())[0]


@contextmanager
def opened(folder: Path, products: bytes) -> Iterator[Desk]:
    """Lend a workspace with that product list, in a folder that must hold nothing else afterwards."""
    shop_dir = folder / "w/shop"
    shop_dir.mkdir(parents=True)
    (shop_dir / "products.json").write_bytes(products)
    for name in ("p.jpg", "q.jpg"):
        (shop_dir / name).write_bytes(PICTURE)
    (folder / "secret.jpg").write_bytes(PICTURE)
    outside = [path.name for path in folder.iterdir()]
    yield Desk.open(folder / "w")
    assert [path.name for path in folder.iterdir()] == outside
    assert {path.name for path in shop_dir.iterdir()} == {"p.jpg", "q.jpg", "products.json"}
    assert (folder / "secret.jpg").read_bytes() == PICTURE


def make(desk: Desk, brand: Brand, runner: Runner | None) -> Feature | None:
    """Make one feature, or None with a draft that says why; what is ready obeys the gate and the network."""
    renderer = Renderer(runner=runner) if runner is not None else RENDERER
    renderer._coverages.update(RENDERER._coverages)
    workshop = Workshop(
        shop_for=lambda brand: FolderShop(desk.folder / brand.shop_folder, ShopSettings()),
        template_for=lambda brand: find_template(brand.template),
        writer=TemplateWriter(),
        renderer=renderer,
        lint=lint_post,
        clock=desk.clock,
    )
    try:
        feature = FeatureMaker(workshop, desk.stock, desk.index).make(brand, desk.run())
    except NotMade as error:
        check_draft(desk, str(error))
        return None
    finally:
        RENDERER._coverages.update(renderer._coverages)
    (item,) = desk.stock.ready()
    assert desk.stock.trouble(item) == ""
    assert desk.stock.read(item) == feature
    check_words(feature, brand)
    files = [item.folder / slide.file for slide in feature.slides]
    assert 2 <= len(files) <= 10
    assert lint_post(feature.caption, tuple(files)) == ()
    assert {path.name for path in item.folder.iterdir()} == {
        "feature.json", "caption.txt", "qa.json", *(file.name for file in files)
    }  # fmt: skip
    return feature


def check_draft(desk: Desk, line: str) -> None:
    """Fail unless what was not made is one draft that says why, and one line tells it."""
    assert line.replace("\u200d", "").isprintable()
    (draft,) = desk.stock.items(Place.DRAFT)
    assert desk.stock.failure(draft) is not None
    assert desk.stock.ready() == ()


def check_words(feature: Feature, brand: Brand) -> None:
    """Fail unless the gate finds nothing in what became ready, and nobody's terminal is moved by it."""
    findings = check_feature_text(
        copy=feature.copy,
        caption=feature.caption,
        sheets=feature.facts,
        brand=brand,
        limits=find_template(brand.template).limits,
        recent_captions=(),
    )
    assert findings == ()
    told = [feature.title, feature.caption, *(slide.alt for slide in feature.slides)]
    told += [value for slide in feature.slides for value in (slide.text.title, slide.text.name, slide.text.body)]
    for text in told:
        assert [letter for letter in text if is_unreadable(letter) and letter not in "\u200c\u200d"] == [], repr(text)


@given(data=st.data(), brand=brands())
@fuzz(40)
def test_any_product_list_is_an_error_of_ours_or_a_good_feature(data: st.DataObject, brand: Brand) -> None:
    """Any node of the list may be anything; the drawing process is a fake here."""
    value = data.draw(spoilt(make_list(brand.language)))
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, opened(Path(name), json.dumps(value).encode()) as desk:
        make(desk, brand, SlideProcess())


@given(text=nasty_texts(), body=nasty_texts(), brand=brands())
@fuzz(30)
def test_any_words_of_a_shop_are_an_error_of_ours_or_a_good_feature(text: str, body: str, brand: Brand) -> None:
    """In title, description, kind, maker, options and variants at once."""
    value: dict[str, list[dict[str, Json]]] = json.loads(json.dumps(make_list(brand.language)))
    for product in value["products"][:2]:
        product |= {"title": f"{product['title']} {text}", "body_html": f"<p>{body}</p><ul><li>{text}.</li></ul>"}
        product |= {"vendor": text, "product_type": body, "options": [{"name": text, "values": [body, text]}]}
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, opened(Path(name), json.dumps(value).encode()) as desk:
        make(desk, brand, SlideProcess())


@given(data=st.data(), brand=brands(), text=nasty_texts())
@fuzz(3)
def test_what_is_really_drawn_is_what_the_network_takes(data: st.DataObject, brand: Brand, text: str) -> None:
    """With the real drawing process: 1080 × 1350, baseline JPEG, RGB, below 8 MB."""
    value: dict[str, list[dict[str, Json]]] = json.loads(json.dumps(make_list(brand.language)))
    value["products"][0]["title"] = f"{value['products'][0]['title']} {text}"
    spoilt_value = data.draw(spoilt(value["products"][1]))
    content = json.dumps({"products": [value["products"][0], spoilt_value, value["products"][2]]}).encode()
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, opened(Path(name), content) as desk:
        feature = make(desk, brand, None)
        if feature is not None:
            (item,) = desk.stock.ready()
            for slide in feature.slides:
                check_picture(item.folder / slide.file)
        shutil.rmtree(desk.sns)


def check_picture(file: Path) -> None:
    """Fail unless a slide is a picture by the network's rules."""
    assert file.stat().st_size < 8_000_000
    with Image.open(file) as picture:
        assert (picture.format, picture.size, picture.mode) == ("JPEG", (1080, 1350), "RGB")
        assert "progressive" not in picture.info
        picture.load()
