"""The fixtures measure a template by its own limits, in every script, for every role."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.unit.featurepost.slides.studio import SETTINGS, write_template

from lamplighter.featurepost.feature import Role, SlideText
from lamplighter.featurepost.slides.fixture import (
    FIELDS,
    FIXTURES,
    Fixture,
    Length,
    Script,
    all_words,
    compose_fixture,
    cut,
    fill_up,
    find_unlimited,
)
from lamplighter.featurepost.slides.fixture_photo import FixturePhotos, PhotoKind, write_fixture_photos
from lamplighter.featurepost.slides.phrases import direction
from lamplighter.featurepost.slides.template_folder import find_template

PHOTOS = FixturePhotos(folder=Path("/photos"))
TRIALS = [(fixture, script) for fixture in FIXTURES for script in fixture.scripts]


def _name(value: object) -> str:
    return value.name if isinstance(value, Fixture | Script) else ""


def _texts(text: SlideText) -> dict[str, str]:
    return {field: getattr(text, field) for field in SlideText.__struct_fields__ if getattr(text, field)}


def test_every_kind_of_the_contract_is_tried_in_both_languages() -> None:
    """Short, at the limits, beyond, emoji, no photo and odd photos; right-to-left in its two scripts."""
    names = {fixture.name: fixture.scripts for fixture in FIXTURES}
    assert names.pop("right to left") == (Script.ARABIC, Script.HEBREW)
    assert set(names.values()) == {(Script.ENGLISH, Script.JAPANESE)}
    assert {fixture.photo for fixture in FIXTURES} == set(PhotoKind)
    assert {fixture.length for fixture in FIXTURES} == set(Length)


@pytest.mark.parametrize(("fixture", "script"), TRIALS, ids=_name)
@pytest.mark.parametrize("name", ["default", "editorial"])
def test_words_keep_to_the_limits_exactly_where_they_should(name: str, fixture: Fixture, script: Script) -> None:
    """Within them, exactly at them, or beyond them; and every text of a role has words."""
    template = find_template(name)
    carousel, left_out = compose_fixture(fixture, script, template, PHOTOS)
    assert left_out == ((Role.PRODUCT,) if fixture.photo is PhotoKind.NONE else ())
    for slide in carousel.slides:
        texts = _texts(slide.text)
        assert tuple(texts) == tuple(field for field in SlideText.__struct_fields__ if field in FIELDS[slide.role])
        for field, text in texts.items():
            limit = template.limits.limit(slide.role, field)
            assert limit is not None
            assert text == text.strip()
            if fixture.length is Length.FULL or (field == "price" and fixture.length is Length.BEYOND):
                assert len(text) == limit
            elif fixture.length is Length.BEYOND:
                assert limit < len(text) <= 1.7 * limit + 1
            else:
                assert len(text) <= limit
        assert all(text in all_words(carousel) for text in texts.values())


def test_right_to_left_words_are() -> None:
    """Every text but the price begins with a letter that is written from the right."""
    (fixture,) = (fixture for fixture in FIXTURES if fixture.name == "right to left")
    for script in fixture.scripts:
        carousel, _ = compose_fixture(fixture, script, find_template("default"), PHOTOS)
        texts = [text for slide in carousel.slides for field, text in _texts(slide.text).items() if field != "price"]
        assert {direction(text) for text in texts} == {"rtl"}


def test_a_role_the_template_lacks_has_no_slide(tmp_path: Path) -> None:
    """And a text without a limit is told of, as no writer knows how long it may be."""
    write_template(tmp_path)
    template = find_template("plain", tmp_path)
    carousel, _ = compose_fixture(FIXTURES[0], Script.ENGLISH, template, PHOTOS)
    assert [slide.role for slide in carousel.slides] == [Role.COVER]
    assert find_unlimited(template) == ("cover.kicker", "cover.subtitle")
    assert find_unlimited(find_template("default")) == ()


@pytest.mark.parametrize(("fixture", "script"), TRIALS, ids=_name)
def test_a_limit_of_one_letter_is_kept(fixture: Fixture, script: Script, tmp_path: Path) -> None:
    """However small, there is a text, and it is within the limit."""
    write_template(tmp_path, settings=SETTINGS.replace("title = 40", "title = 1, kicker = 2"))
    carousel, _ = compose_fixture(fixture, script, find_template("plain", tmp_path), PHOTOS)
    text = carousel.slides[0].text
    most = 4 if fixture.length is Length.BEYOND else 1
    assert 1 <= len(text.title) <= most
    assert len(text.kicker) <= 2 * most


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Slow mornings, made by hand", 40, "Slow mornings, made by hand"),
        ("Slow mornings, made by hand", 16, "Slow mornings"),
        ("Slow mornings, made by hand", 14, "Slow mornings"),
        ("Slow", 2, "Sl"),
        ("朝のコーヒーを、ゆっくり", 8, "朝のコーヒーを"),
    ],
)
def test_a_text_is_cut_after_a_word(text: str, limit: int, expected: str) -> None:
    """Where there is one, and no comma is left at its end."""
    assert cut(text, limit) == expected


@given(st.sampled_from(["Wonderful bowls, fired", "二十年の、うつわ。", "$1,234,567.00"]), st.integers(1, 700))
def test_a_text_is_filled_up_to_the_letter(text: str, letters: int) -> None:
    """Exactly that many letters, and no space at an end, which cleaning would take away."""
    filled = fill_up(text, letters)
    assert len(filled) == letters
    assert filled == filled.strip()


def test_the_odd_photos_are_as_odd_as_they_say(tmp_path: Path) -> None:
    """8:1, 1:8, tiny, upright only by EXIF, transparent; the usual ones are files of the sample brands."""
    photos = write_fixture_photos(tmp_path)
    sizes: dict[PhotoKind, tuple[int, int]] = {}
    for kind in PhotoKind:
        for role in Role:
            file = photos.find(kind, role)
            if file is not None:
                with Image.open(file) as image:
                    image.load()
                    sizes[kind] = image.size
                    turned, mode = image.getexif().get(0x112, 1), image.mode
                assert turned == (6 if kind is PhotoKind.TURNED else 1)
                assert mode == ("RGBA" if kind is PhotoKind.CUT_OUT else "RGB")
    assert sizes[PhotoKind.WIDE] == (2880, 360)
    assert sizes[PhotoKind.TALL] == (360, 2880)
    assert sizes[PhotoKind.TINY] == (160, 120)
    assert PhotoKind.NONE not in sizes
