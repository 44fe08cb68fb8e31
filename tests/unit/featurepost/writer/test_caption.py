"""The caption is put together by code: prices letter by letter, the brand's addresses, within Instagram's limits."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.featurepost.writer.samples import ENGLISH, make_sheets

from lamplighter.featurepost.feature import Copy, Fact, FactSheet, ProductCopy
from lamplighter.featurepost.writer.caption import render_address, render_caption
from lamplighter.publish.publisher import lint_post

SHEETS = make_sheets("en")[:2]


def make_copy(caption: str, hashtags: tuple[str, ...] = ("#mugs",)) -> Copy:
    """Return copy of two products with this caption."""
    products = tuple(ProductCopy(product_id=sheet.product_id, name=sheet.title, note="") for sheet in SHEETS)
    return Copy(
        kicker="", title="Two", subtitle="", products=products, detail_title="", detail_body="", closing_title="",
        closing_body="", caption=caption, hashtags=hashtags,
    )  # fmt: skip


def test_products_stand_before_the_last_paragraph_with_their_prices() -> None:
    """First paragraph, product list, last paragraph with the way to the shop, hashtags of brand and copy."""
    paragraphs = render_caption(make_copy("A beginning.\n\nAn end?"), SHEETS, ENGLISH).split("\n\n")
    assert paragraphs[0] == "A beginning."
    assert re.sub("[•·] ", "", paragraphs[1]) == "Ash Mug – €38\nMoss Plate – €24"
    assert paragraphs[2].startswith("An end?\n")
    assert "kiln.example" in paragraphs[2] or "@kiln.co" in paragraphs[2]
    assert paragraphs[3] == "#kilnandco #ceramics #mugs"


def test_a_sale_shows_both_prices_and_no_price_shows_none() -> None:
    """A sale fact is told as it is; a sheet without a price gives a name alone."""
    facts = (
        Fact(id="F1", kind="price", text="$58", source="variants.price"),
        Fact(id="F2", kind="sale", text="was $72, now $58", source="variants.compare_at"),
    )
    sheets = (msgspec.structs.replace(SHEETS[0], facts=facts), msgspec.structs.replace(SHEETS[1], facts=()))
    lines = render_caption(make_copy("Hello."), sheets, ENGLISH).splitlines()
    assert any(line.endswith("Ash Mug – was $72, now $58") for line in lines)
    assert any(line.endswith("Moss Plate") for line in lines)


def test_hashtags_are_signed_once_and_at_most_thirty() -> None:
    """A tag of the brand is not repeated by the copy in another case."""
    brand = msgspec.structs.replace(ENGLISH, hashtags=("clay", "#Oak"))
    caption = render_caption(
        make_copy("Hello.", ("#CLAY", "oak", *(f"#t{number}" for number in range(60)))), SHEETS, brand
    )
    tags = re.findall(r"#\w+", caption)
    assert tags[:2] == ["#clay", "#Oak"]
    assert len(tags) == len({tag.casefold() for tag in tags}) == 30


def test_without_a_web_address_the_handle_leads_to_the_brand() -> None:
    """A brand with a shop in a folder and no url is found by its handle."""
    brand = msgspec.structs.replace(ENGLISH, url="", shop="file:shop")
    assert render_address(brand) == ""
    assert "@kiln.co" in render_caption(make_copy("Hello."), SHEETS, brand)


def test_the_site_is_written_without_scheme_and_www() -> None:
    """https://www.kiln.example/ reads kiln.example; without url the shop's own address is told."""
    assert render_address(ENGLISH) == "kiln.example"
    assert render_address(msgspec.structs.replace(ENGLISH, url="", shop="https://x.example/en")) == "x.example/en"


@given(
    words=st.lists(st.sampled_from(["word ", "\n\n", "器", "😀", "é"]), max_size=3_000).map("".join),
    tags=st.lists(st.text(alphabet="abc器", min_size=1, max_size=60), max_size=60),
)
def test_a_caption_is_never_longer_than_instagram_takes(words: str, tags: list[str]) -> None:
    """What the publisher would refuse is never written, for any copy of short paragraphs, and the products stay."""
    text = "\n\n".join(part[:900] for part in words.split("\n\n"))
    caption = render_caption(make_copy(text, tuple(f"#{tag}" for tag in tags)), SHEETS, ENGLISH)
    assert lint_post(caption, (Path(__file__),)) == ()
    assert "Ash Mug – €38" in caption


def test_what_is_too_long_is_left_out_from_the_end() -> None:
    """First the copy's hashtags go, then its last paragraphs, then the brand's hashtags."""
    tags = tuple(f"#tag{number}" + "x" * 40 for number in range(20))
    some = render_caption(make_copy("\n\n".join(["a" * 700, "b" * 700]), tags), SHEETS, ENGLISH)
    none = render_caption(make_copy("\n\n".join(["a" * 900, "b" * 900, "c" * 900]), tags), SHEETS, ENGLISH)
    hopeless = render_caption(make_copy("a" * 2_190, tags), SHEETS, ENGLISH)
    assert "b" * 700 in some
    assert 0 < some.count("#tag") < 20
    assert "b" * 900 in none
    assert "ccc" not in none
    assert "#kilnandco #ceramics" in none
    assert "#" not in hopeless


def test_one_product_without_a_price_has_no_list() -> None:
    """A list of one name says nothing new."""
    sheet = FactSheet(product_id=1, title="Jug", facts=())
    copy = msgspec.structs.replace(
        make_copy("Hello."), products=(ProductCopy(product_id=1, name="Jug", note=""),), hashtags=()
    )
    assert "Jug" not in render_caption(copy, (sheet,), ENGLISH)
