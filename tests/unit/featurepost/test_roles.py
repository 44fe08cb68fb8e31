"""Which photo plays which part, and the words that go with it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.desk import make_copy

from lamplighter.featurepost.feature import Fact, FactSheet, Role
from lamplighter.featurepost.roles import Pick, PickedPhoto, PlannedSlide, compose_slides


def pick(product_id: int, photos: int, *, price: str = "") -> Pick:
    """Return a product with so many photos."""
    facts: tuple[Fact, ...] = (Fact(id="F1", kind="title", text="Bowl", source="title"),)
    if price:
        facts = (*facts, Fact(id="F2", kind="price", text=price, source="variants"))
    return Pick(
        product_id=product_id,
        title=f"Bowl {product_id}",
        url="",
        sheet=FactSheet(product_id=product_id, title="Bowl", facts=facts),
        photos=tuple(
            PickedPhoto(file=Path(f"{product_id}-{number}.jpg"), source=f"https://shop.example/{product_id}-{number}")
            for number in range(1, photos + 1)
        ),
    )


def compose(*picks: Pick) -> tuple[PlannedSlide, ...]:
    """Return the slides of a feature of these products."""
    return compose_slides(picks, make_copy(tuple(one.product_id for one in picks)), brand_name="Wrenfold")


def shown(slides: tuple[PlannedSlide, ...]) -> list[str]:
    """Return role and photo of each slide."""
    return [f"{slide.role.value} {slide.photo.file.stem if slide.photo else '-'}" for slide in slides]


def test_three_products_with_three_photos_each() -> None:
    """Each product shows its best, the cover and the detail further ones of the first, the closing another."""
    assert shown(compose(pick(1, 3), pick(2, 3), pick(3, 3))) == [
        "cover 1-2", "product 1-1", "product 2-1", "product 3-1", "detail 1-3", "closing 3-3"
    ]  # fmt: skip


def test_products_with_one_photo_each_repeat_one_on_the_cover_only() -> None:
    """There is nothing else to show."""
    assert shown(compose(pick(1, 1), pick(2, 1))) == ["cover 1-1", "product 1-1", "product 2-1", "closing -"]


def test_one_product_with_one_photo() -> None:
    """Still a cover, the product and a closing."""
    assert shown(compose(pick(1, 1))) == ["cover 1-1", "product 1-1", "closing -"]


def test_one_product_with_many_photos() -> None:
    """All of them are used."""
    assert shown(compose(pick(1, 3))) == ["cover 1-2", "product 1-1", "detail 1-3", "closing -"]


def test_a_spare_photo_of_another_product_makes_the_cover() -> None:
    """Before one is repeated."""
    assert shown(compose(pick(1, 1), pick(2, 2))) == ["cover 2-2", "product 1-1", "product 2-1", "closing -"]


def test_without_words_for_a_detail_there_is_none() -> None:
    """A picture alone is no slide; it closes instead."""
    copy = msgspec.structs.replace(make_copy((1,)), detail_title="", detail_body="")
    assert shown(compose_slides((pick(1, 3),), copy, brand_name="Wrenfold")) == [
        "cover 1-2", "product 1-1", "closing 1-3"
    ]  # fmt: skip


def test_every_part_has_its_words() -> None:
    """Prices come from the facts, names and notes from the copy."""
    cover, first, second, detail, closing = compose(pick(1, 3, price="$39"), pick(2, 1))
    assert (cover.text.kicker, cover.text.title, cover.text.subtitle) == (
        "From the shop", "Quiet things", "For a slow morning"
    )  # fmt: skip
    assert (first.text.name, first.text.note, first.text.price, second.text.price) == (
        "A bowl",
        "Made by hand",
        "$39",
        "",
    )
    assert (detail.text.title, detail.text.body, detail.product_id) == ("Look closer", "The glaze runs a little", 1)
    assert (closing.text.title, closing.text.body, closing.product_id) == ("See them all", "In the shop", None)
    assert [first.product_id, second.product_id] == [1, 2]


def test_every_slide_is_described_for_those_who_cannot_see_it() -> None:
    """Also where the copy says little."""
    copy = msgspec.structs.replace(make_copy((1,)), closing_title="", detail_body="")
    for slide in compose_slides((pick(1, 3),), copy, brand_name="Wrenfold"):
        assert slide.alt.strip() == slide.alt
        assert any(letter.isalnum() for letter in slide.alt)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_no_picture_is_used_twice_but_on_a_cover_that_has_no_other(photos: list[int]) -> None:
    """At most ten slides, one a product, in their order."""
    picks = tuple(pick(number, count) for number, count in enumerate(photos, start=1))
    slides = compose(*picks)
    used = [slide.photo.source for slide in slides[1:] if slide.photo]
    cover = slides[0].photo
    assert cover is not None
    assert len(used) == len(set(used))
    assert (cover.source in used) == (sum(photos) == len(photos))
    assert [slide.product_id for slide in slides if slide.role is Role.PRODUCT] == [one.product_id for one in picks]
    assert (slides[0].role, slides[-1].role) == (Role.COVER, Role.CLOSING)
    assert len(slides) <= 10
    for slide, one in zip(slides[1:], picks, strict=False):
        assert slide.photo == one.photos[0]


def test_a_price_that_is_not_proven_is_not_shown() -> None:
    """The sheet decides."""
    assert pick(1, 1).price == ""
    assert pick(1, 1, price="from $5").price == "from $5"


def test_copy_that_forgot_a_product_is_a_bug_that_is_seen() -> None:
    """The gate refuses such copy before; nothing is drawn with the wrong words."""
    with pytest.raises(KeyError):
        compose_slides((pick(1, 1),), make_copy((2,)), brand_name="Wrenfold")
