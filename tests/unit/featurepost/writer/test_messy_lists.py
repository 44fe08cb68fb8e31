"""A real list is messy: long titles, sizes in names, foreign kinds, tables; the copy stays clean all the same."""

from __future__ import annotations

import re

import msgspec
import pytest
from tests.simulators.shop import Json, Product, make_product
from tests.unit.featurepost.writer.samples import ENGLISH, JAPANESE, TableLimits, parse_one

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.facts import build_fact_sheet
from lamplighter.featurepost.feature import Copy, FactSheet
from lamplighter.featurepost.gate.gate import check_feature_text
from lamplighter.featurepost.writer.caption import render_caption
from lamplighter.featurepost.writer.template import TemplateWriter
from lamplighter.featurepost.writer.writer import Brief

SIZES: Json = [{"name": "Size", "values": ["S", "M", "L", "XL", "2XL", "3XL"]}]
TABLE = (
    "<p>Dense knit (5.1 oz. 175 g/m²)</p><table><tr><th>Size</th><th>S</th><th>M</th><th>L</th><th>XL</th></tr>"
    "<tr><td>Width</td><td>44 cm</td><td>49 cm</td><td>54 cm</td><td>59 cm</td></tr></table>"
    "<ul><li>Hilda's Orchard Pear & Quince jar 250g x 3</li></ul>"
)
MESSY: tuple[dict[str, Json], ...] = (
    {"title": "Copper Kettle with Long Slim Spout | 36 OZ", "product_type": "normal"},
    {"title": "Copper Kettle with Long Slim Spout | 24 OZ", "product_type": "normal"},
    {"title": "The harvest crate ( Pears and very late plums)", "product_type": ""},
    {"title": "Wollmantel aus gewalkter Schurwolle vom Berg", "product_type": "Oberteil", "body_html": TABLE},
    {"title": "Halterung links K7 PRO / K9 PRO", "product_type": "Ersatzteil", "vendor": "Veg"},
    {"title": "Heavy Smock", "product_type": "Smocks", "options": SIZES, "body_html": TABLE},
    {"title": "Fresh Curly Kale", "product_type": "", "vendor": "", "options": []},
)
MESSY_JAPANESE = (
    "灰のマグ　S",
    "灰のマグ　L",
    "【受注生産】栗のカッティングボード／３００ｍｍ",
    "【受注生産】栗のカッティングボード／４５０ｍｍ",
    "豆皿（ 白",
    "手ぬぐい｜藍｜",
)


def english() -> tuple[FactSheet, ...]:
    """Return the sheets of the messy English list."""
    made: list[Product] = [make_product(n, **{"body_html": "", **one}) for n, one in enumerate(MESSY, start=1)]
    return tuple(build_fact_sheet(parse_one(product), language="en", currency="EUR") for product in made)


def japanese() -> tuple[FactSheet, ...]:
    """Return the sheets of the messy Japanese list."""
    return tuple(
        build_fact_sheet(
            parse_one(make_product(n, title=title, body_html="", product_type="", vendor="")),
            language="ja",
            currency="JPY",
        )
        for n, title in enumerate(MESSY_JAPANESE, start=1)
    )


def write(sheets: tuple[FactSheet, ...], brand: Brand, number: int, recent: tuple[str, ...] = ()) -> tuple[Copy, str]:
    """Return copy and caption of one feature, checked by the gate."""
    brief = Brief(brand=brand, sheets=sheets, limits=TableLimits(), number=number, recent_captions=recent)
    copy = TemplateWriter().write(brief).copy
    caption = render_caption(copy, sheets, brand)
    found = check_feature_text(
        copy=copy, caption=caption, sheets=sheets, brand=brand, limits=brief.limits, recent_captions=recent
    )
    assert [str(finding) for finding in found] == []
    return copy, caption


def run(sheets: tuple[FactSheet, ...], brand: Brand, count: int) -> list[tuple[Copy, str]]:
    """Return a run of twenty features over a list."""
    made: list[tuple[Copy, str]] = []
    for number in range(1, 21):
        picked = tuple(sheets[(number * count + index) % len(sheets)] for index in range(count))
        made.append(write(picked, brand, number, tuple(caption for _, caption in made)))
    return made


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_twenty_features_of_a_messy_list_pass_and_differ(language: str, count: int) -> None:
    """Titles and captions differ, names within a feature too, and no text is empty or hangs in the air."""
    made = run(english(), ENGLISH, count) if language == "en" else run(japanese(), JAPANESE, count)
    assert len({copy.title for copy, _ in made}) == 20
    assert len({caption for _, caption in made}) == 20
    for copy, _ in made:
        names = [product.name for product in copy.products]
        assert len(set(names)) == count
        assert all(product.note for product in copy.products)
        assert not any(re.search(r"[|(（／-]…?$|\s(?:with|aus|and|vom)…?$", name) for name in names)


def test_a_title_names_products_or_the_brand_and_never_things() -> None:
    """Without a kind that is known nobody is asked to look at things or at ersatzteils."""
    for copy, caption in run(english(), ENGLISH, 3):
        assert not re.search(r"\bthings\b|ersatzteil|oberteils", f"{copy.title} {caption}", re.IGNORECASE)


def test_a_caption_tells_whole_titles() -> None:
    """The list has the title with its size, tidied; the slide has what tells two of them apart."""
    copy, caption = write(english()[:3], ENGLISH, 1)
    assert "Copper Kettle with Long Slim Spout | 36 OZ – €30" in caption
    assert "The harvest crate (Pears and very late plums) – €30" in caption
    assert [product.name for product in copy.products] == [
        "Copper Kettle | 36 OZ",
        "Copper Kettle | 24 OZ",
        "The harvest crate",
    ]


def test_a_copy_that_names_a_product_in_its_own_words_is_heard() -> None:
    """Only a cut of the title gives way to the whole title."""
    sheets = english()[:3]
    copy, _ = write(sheets, ENGLISH, 1)
    own = msgspec.structs.replace(copy.products[0], name="Our big pot")
    caption = render_caption(msgspec.structs.replace(copy, products=(own, *copy.products[1:])), sheets, ENGLISH)
    assert "Our big pot – €30" in caption


def test_tables_and_lists_are_no_sentences() -> None:
    """Half brackets, columns and counted names are nowhere; sizes that follow each other are told in short."""
    for copy, caption in run(english(), ENGLISH, 3):
        told = msgspec.json.encode(copy).decode() + caption
        assert not re.search(r"S / M|M / L|44 cm|^[^(]*g/m²\)|x 3|Hilda", told)
    copy, _ = write(english()[5:6], ENGLISH, 1)
    assert "Sizes S to 3XL." in copy.products[0].note


def test_a_product_known_by_name_alone_gets_a_true_note_and_no_promise() -> None:
    """Brand and shop are named, each note in other words, and the caption speaks of no facts."""
    sheets = tuple(msgspec.structs.replace(sheet, facts=sheet.facts[:1]) for sheet in english()[:3])
    for number in range(1, 30):
        copy, caption = write(sheets, ENGLISH, number)
        assert len({product.note for product in copy.products}) == 3
        assert not re.search(r"\bfacts?\b|worth knowing|to know about|help when", f"{copy.title} {caption}")


def test_foreign_sentences_are_not_quoted() -> None:
    """A page in German gives its names and labelled values; its sentences, which nobody weighed, stay there."""
    body = "<p>Der Henkel ist aus 100 % Eiche und liegt gut in der Hand.</p><p>Dichter Stoff (180 g/m²)</p>"
    product = make_product(1, title="Becher", product_type="Becher", body_html=body)
    sheet = build_fact_sheet(parse_one(product), language="en", currency="EUR")
    for number in range(1, 6):
        copy, caption = write((sheet,), ENGLISH, number)
        assert "Henkel" not in caption + copy.products[0].note
        assert "Stoff" not in caption + copy.products[0].note


def test_hashtags_are_the_brands_and_clean_words() -> None:
    """A kind of two words, in another language or with digits is no hashtag."""
    for copy, caption in run(english(), ENGLISH, 3):
        assert caption.split("\n\n")[-1].startswith("#kilnandco #ceramics")
        assert not {"#ersatzteil", "#oberteil", "#normal"} & set(copy.hashtags)
