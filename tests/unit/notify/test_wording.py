"""What notices say, in both languages."""

from __future__ import annotations

import string

import pytest

from lamplighter.notify import wording
from lamplighter.notify.settings import Language
from lamplighter.notify.wording import Told, compose_made, compose_posted, compose_review, translate_line

TOLD = Told(title="A closer look", brand="Wrenfold", products=("Dawn Mug", "Towels, Set of Three"), have=3, target=3)


def test_a_new_feature_is_told_with_its_stock() -> None:
    """Title and stock in one line, brand and products below."""
    assert compose_made(TOLD, "en") == (
        "🆕 A closer look, stock 3/3",
        "brand: Wrenfold\nproducts: Dawn Mug · Towels, Set of Three",
    )
    assert compose_made(TOLD, "ja") == (
        "🆕 A closer look（在庫 3/3）",
        "ブランド: Wrenfold\n商品: Dawn Mug、Towels, Set of Three",
    )


def test_a_post_is_told_with_the_stock_that_is_left() -> None:
    """And with where it is, when that is no web address."""
    subject, body = compose_posted(TOLD, "en", place="outbox/x/preview.html")
    assert subject == "✅ posted: A closer look"
    assert body.splitlines()[-2:] == ["where: outbox/x/preview.html", "stock left: 3/3"]
    assert "where" not in compose_posted(TOLD, "en", place="")[1]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_review_says_what_to_type(language: Language) -> None:
    """Both answers, whole, with the feature's id."""
    _, body = compose_review(TOLD, language, feature_id="feature-0007-wrenfold")
    assert "lamplighter stock approve feature-0007-wrenfold" in body
    assert "lamplighter stock drop feature-0007-wrenfold" in body


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("since: 2026-05-04 19:30", "発生: 2026-05-04 19:30"),
        ("why: run 7 failed: type: x", "理由: run 7 failed: type: x"),
        ("type: lamplighter post", "コマンド: lamplighter post"),
        ("https://shop.example", "https://shop.example"),
        ("something: else", "something: else"),
        ("", ""),
    ],
)
def test_headings_of_incidents_have_japanese_words(line: str, expected: str) -> None:
    """The heading alone; what follows is as the engine says it."""
    assert translate_line(line, "ja") == expected
    assert translate_line(line, "en") == line


def test_both_languages_have_the_same_places_for_values() -> None:
    """No text loses a value in translation."""
    for english, japanese in wording._WORDS.values():
        names = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, japanese)]
        assert names[0] == names[1]
