"""Every text of a slide is checked against the fonts before anything is drawn."""

from __future__ import annotations

import pytest

from lamplighter.featurepost.feature import SlideText
from lamplighter.featurepost.slides.carousel import RenderError
from lamplighter.featurepost.slides.glyphs import Coverage
from lamplighter.featurepost.slides.order import BrandLines
from lamplighter.featurepost.slides.wording import Wording

LATIN = Coverage(code_points=frozenset(range(0x20, 0x2100)))


def test_a_missing_letter_names_the_slide_and_the_letter() -> None:
    """One line a person can act on."""
    with pytest.raises(RenderError) as caught:
        Wording(coverage=LATIN).words(4, SlideText(note="tea 简 and 简글"))
    assert str(caught.value) == "slide 4: no font has 简 (U+7B80) 글 (U+AE00); put a font that has them into fonts/"


def test_a_missing_letter_in_the_brand_names_the_brand() -> None:
    """The brand's own lines are on every slide."""
    with pytest.raises(RenderError, match=r"brand: no font has 简 \(U\+7B80\)"):
        Wording(coverage=LATIN).brand(BrandLines(name="简", handle="@x", url=""))


def test_an_absent_text_is_a_field_without_lines() -> None:
    """A template can ask whether there is something to show."""
    words = Wording(coverage=LATIN).words(1, SlideText(title="Tea", price=" \u200b "))
    assert (words.title.text, words.price.lines, words.price.words) == ("Tea", (), ())


def test_a_text_no_slide_can_show_is_reported_as_trouble() -> None:
    """It is cut, and the cut is never silent."""
    wording = Wording(coverage=LATIN)
    wording.words(2, SlideText(body="word " * 4000))
    (trouble,) = wording.cut
    assert (trouble.slide, trouble.field, trouble.needed, trouble.limit, trouble.broken) == (
        2,
        "body",
        20000,
        600,
        True,
    )
