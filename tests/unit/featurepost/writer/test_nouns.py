"""Only a word that is known to be an English thing is counted."""

from __future__ import annotations

import pytest

from lamplighter.featurepost.writer.nouns import add_article, find_last_noun, find_noun, is_word, make_plural


@pytest.mark.parametrize(
    ("kind", "noun", "plural", "one"),
    [
        ("Mugs", "mug", "mugs", "a mug"),
        ("Kitchen Knives", "kitchen knife", "kitchen knives", "a kitchen knife"),
        ("Accessories", "accessory", "accessories", "an accessory"),
        ("Dishes", "dish", "dishes", "a dish"),
        ("Wine Glass", "wine glass", "wine glasses", "a wine glass"),
        ("Shelves", "shelf", "shelves", "a shelf"),
        ("Jeans", "jeans", "jeans", "jeans"),
        ("E-Scooter", "e-scooter", "e-scooters", "an e-scooter"),
        ("Umbrella", "umbrella", "umbrellas", "an umbrella"),
        ("Vases", "vase", "vases", "a vase"),
    ],
)
def test_a_known_thing_is_counted(kind: str, noun: str, plural: str, one: str) -> None:
    """Singular, plural and article follow plain English."""
    assert (find_noun(kind), make_plural(noun), add_article(noun)) == (noun, plural, one)


@pytest.mark.parametrize("kind", ["Ersatzteil", "Zubehör", "Tasse", "Tableware", "Box 2", "Cups and saucers", "", "皿"])
def test_an_unknown_word_is_not_counted(kind: str) -> None:
    """Foreign words, whole fields and lists have no plural here."""
    assert find_noun(kind) == ""


def test_the_last_word_of_a_name_may_say_what_it_is() -> None:
    """A notebook is a notebook, whatever stands before it."""
    assert find_last_noun("Pocket Notebook") == "notebook"
    assert find_last_noun("Pocket Wunder") == ""


def test_a_hashtag_is_one_clean_word() -> None:
    """Known things and known fields are words; two words, foreign and odd ones are not."""
    assert all(is_word(kind) for kind in ("Candles", "Tableware", "T-Shirt"))
    assert not any(is_word(kind) for kind in ("Fruit Box", "Ersatzteil", "Keeper 40oz"))
