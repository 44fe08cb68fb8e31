"""The template writer's copy: factual, within the limits, and never the same twice in a row."""

from __future__ import annotations

import re

import msgspec
import pytest
from tests.unit.featurepost.writer.samples import SLIDE_LIMITS, TableLimits, make_brief

from lamplighter.featurepost.feature import Copy, Fact, FactSheet, Language, Role
from lamplighter.featurepost.writer.caption import render_caption
from lamplighter.featurepost.writer.template import TemplateWriter
from lamplighter.featurepost.writer.writer import Brief, Writer

LANGUAGES: tuple[Language, ...] = ("en", "ja")


def write(brief: Brief) -> Copy:
    """Return the copy of a brief."""
    return TemplateWriter().write(brief).copy


def run_features(language: Language, length: int, count: int) -> tuple[list[Copy], list[str]]:
    """Return copies and captions of a run of features over the same six products."""
    copies: list[Copy] = []
    captions: list[str] = []
    for number in range(1, length + 1):
        brief = make_brief(language, number=number, count=count, recent=tuple(captions))
        copies.append(write(brief))
        captions.append(render_caption(copies[-1], brief.sheets, brief.brand))
    return copies, captions


def test_it_is_a_writer_and_says_its_name() -> None:
    """The record names the tool."""
    writer: Writer = TemplateWriter()
    assert writer.write(make_brief()).record.tool == "template"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_twenty_features_have_twenty_titles_and_captions(language: Language, count: int) -> None:
    """No two features of a run over the same six products share a title or a caption."""
    copies, captions = run_features(language, 20, count)
    assert len({copy.title for copy in copies}) == 20
    assert len(set(captions)) == 20


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_and_captions_differ_without_knowing_the_recent_ones(language: Language) -> None:
    """The number alone makes the difference, also for the very same products."""
    briefs = [msgspec_number(make_brief(language, count=6), number) for number in range(1, 21)]
    copies = [write(brief) for brief in briefs]
    assert len({copy.title for copy in copies}) == 20
    assert len({copy.caption for copy in copies}) == 20


def msgspec_number(brief: Brief, number: int) -> Brief:
    """Return the brief with another number."""
    return Brief(brand=brief.brand, sheets=brief.sheets, limits=brief.limits, number=number)


def test_the_same_brief_gives_the_same_copy() -> None:
    """Nothing is left to chance."""
    assert write(make_brief("ja", number=7)) == write(make_brief("ja", number=7))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_product_has_a_name_and_a_note_from_its_own_facts(language: Language) -> None:
    """Products come in the order of the sheets; a note holds a quoted value or the vendor."""
    brief = make_brief(language, count=6)
    for sheet, product in zip(brief.sheets, write(brief).products, strict=True):
        assert product.product_id == sheet.product_id
        assert sheet.title.startswith(product.name.rstrip("…"))
        values = [re.sub(r"^[^:：]+[:：] ?", "", fact.text).rstrip(".。") for fact in sheet.facts[1:]]
        assert any(value.lower() in product.note.lower() for value in values)


@pytest.mark.parametrize("language", LANGUAGES)
def test_prices_are_on_no_slide(language: Language) -> None:
    """Only the rendered caption tells prices, exactly those of the sheets."""
    for number in range(1, 13):
        brief = make_brief(language, number=number)
        copy = write(brief)
        prices = [fact.text for sheet in brief.sheets for fact in sheet.facts if fact.kind == "price"]
        told = msgspec.json.encode(copy).decode()
        assert not any(price in told for price in prices)
        assert all(price in render_caption(copy, brief.sheets, brief.brand) for price in prices)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("most", [4, 12, 30])
def test_small_limits_are_kept(language: Language, most: int) -> None:
    """Every field fits a template that is narrower than ours."""
    limits = TableLimits(table=dict.fromkeys(TableLimits().table, most))
    base = make_brief(language)
    copy = write(Brief(brand=base.brand, sheets=base.sheets, limits=limits, number=3))
    fields = (
        copy.kicker,
        copy.title,
        copy.subtitle,
        copy.detail_title,
        copy.detail_body,
        copy.closing_title,
        copy.closing_body,
        *(text for product in copy.products for text in (product.name, product.note)),
    )
    assert max(len(text) for text in fields) <= most


def test_a_field_without_a_limit_is_written_whole() -> None:
    """A template that names no limit gets the full name."""
    base = make_brief(count=6)
    limits = TableLimits(table={(Role.PRODUCT, "note"): 90})
    copy = write(Brief(brand=base.brand, sheets=base.sheets, limits=limits, number=1))
    assert copy.products[4].name == "The Ember Candle in a Cup of Dark Stoneware"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sheet_with_a_title_alone_is_enough(language: Language) -> None:
    """Nothing but a name still gives a title, a name and a caption, and claims nothing."""
    base = make_brief(language)
    sheets = (FactSheet(product_id=1, title="Jug", facts=(Fact(id="F1", kind="title", text="Jug", source="title"),)),)
    copy = write(Brief(brand=base.brand, sheets=sheets, limits=base.limits, number=5))
    assert "Jug" in copy.title
    assert (
        copy.products[0].note
        in {
            "en": {"See it in the shop.", "From Kiln & Co.", "In the shop at kiln.example."},
            "ja": {"ショップでご覧ください。", "写真でご覧ください。", "窯のしごとの品です。"},
        }[language]
    )
    assert "Jug" in copy.caption


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_the_note_says_all_there_is_no_detail(language: Language) -> None:
    """No heading and no words: a slide that says whose thing it is would say nothing."""
    base = make_brief(language)
    fact = Fact(id="F1", kind="vendor", text="Stanley", source="vendor")
    for facts in ((), (fact,)):
        sheets = (FactSheet(product_id=1, title="Jug", facts=facts),)
        copy = write(Brief(brand=base.brand, sheets=sheets, limits=base.limits, number=5))
        assert (copy.detail_title, copy.detail_body) == ("", "")
    narrow = TableLimits(table={**SLIDE_LIMITS, (Role.PRODUCT, "note"): 40})
    copy = write(Brief(brand=base.brand, sheets=base.sheets, limits=narrow, number=1))
    assert copy.detail_title
    assert copy.detail_body


def test_of_many_captions_the_first_that_is_unlike_the_recent_ones_is_taken() -> None:
    """The slides' words stay the same whatever was said lately; only the caption gives way."""
    first = write(make_brief())
    brief = make_brief(recent=(render_caption(first, make_brief().sheets, make_brief().brand),))
    second = write(brief)
    assert second.caption != first.caption
    assert msgspec.structs.replace(second, caption=first.caption) == first


def test_japanese_copy_is_polite_and_ends_its_sentences() -> None:
    """The first paragraph ends with です or ます and a full stop; no half-width stop follows a Japanese letter."""
    for number in range(1, 25):
        copy = write(make_brief("ja", number=number))
        opening = copy.caption.split("\n\n")[0]
        assert re.search(r"(?:です|ます|した|ません)。$", opening), opening
        assert not re.search(r"[\u3040-\u9fff][.,](?:\s|$)", copy.caption)


def test_a_caption_has_two_to_four_short_paragraphs_before_its_hashtags() -> None:
    """Opening, facts, products and end, none of them long."""
    for number in range(1, 25):
        brief = make_brief(number=number)
        *paragraphs, tags = render_caption(write(brief), brief.sheets, brief.brand).split("\n\n")
        assert 2 <= len(paragraphs) <= 4
        assert max(len(paragraph) for paragraph in paragraphs) < 500
        assert all(word.startswith("#") for word in tags.split())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Mug", "three mugs"),
        ("Dishes", "three dishes"),
        ("Kitchen Knives", "three kitchen knives"),
        ("Glasses", "three glasses"),
        ("Accessories", "three accessories"),
        ("Box", "three boxes"),
        ("Jeans", "three jeans"),
        ("Tableware", "three pieces in oak"),
    ],
)
def test_things_are_counted_in_plain_english(kind: str, expected: str) -> None:
    """A kind that can be counted is, in the plural; a word for a whole field gives way to the material."""
    facts = (
        Fact(id="F1", kind="quote", text="Material: oak", source="body_html"),
        Fact(id="F2", kind="kind", text=kind, source="product_type"),
    )
    sheets = tuple(
        FactSheet(product_id=number, title=f"Long Name Number {number} X7", facts=facts) for number in (4, 5, 6)
    )
    base = make_brief()
    copy = write(Brief(brand=base.brand, sheets=sheets, limits=base.limits, number=1))
    assert copy.title.replace("oak " if " in " not in expected else "\0", "") == f"A closer look at {expected}"
