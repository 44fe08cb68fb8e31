"""Words are cut where a reader would pause, never inside a letter and never inside a number."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.featurepost.writer.fit import cut_to_fit, first_fit, split_graphemes


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Short.", 10, "Short."),
        ("Made of oak. Oiled by hand in Porto.", 20, "Made of oak."),
        ("Made of oak, oiled by hand and packed", 22, "Made of oak…"),
        ("A wooden tray with handles and a rim", 24, "A wooden tray…"),
        ("素材は磁器。直径は八センチです。", 10, "素材は磁器。"),
        ("長い長い長い長い長い長い名前の器", 8, "長い長い長い長…"),
        ("Donaudampfschifffahrtskapitän", 10, "Donaudamp…"),
        ("Anything", 1, "A"),
    ],
)
def test_a_text_is_cut_at_the_best_place_before_the_limit(text: str, limit: int, expected: str) -> None:
    """Whole sentences first, then phrases without a loose "with", then words; inside a word only at last."""
    assert cut_to_fit(text, limit) == expected


def test_no_limit_cuts_nothing() -> None:
    """Without a limit the text stays."""
    assert cut_to_fit("x" * 999, None) == "x" * 999


def test_a_joined_emoji_is_one_letter() -> None:
    """Families, skin tones, flags and accents are not cut apart."""
    family, flag, hand, accent = "👩\u200d👩\u200d👧", "🇯🇵", "👋🏽", "e\u0301"
    assert list(split_graphemes(f"a{family}{flag}🇩🇪{hand}{accent}")) == ["a", family, flag, "🇩🇪", hand, accent]
    assert cut_to_fit(f"ab{family}cdef", 6) == "ab…"


def test_the_first_that_fits_is_taken() -> None:
    """Candidates are tried in their order, empty ones never."""
    assert first_fit(["too long", "", "ok", "no"], 3) == "ok"
    assert first_fit(["too long"], 3) == ""
    assert first_fit(["any length"], None) == "any length"


@given(text=st.text(max_size=120), limit=st.integers(min_value=1, max_value=60))
def test_the_result_always_fits(text: str, limit: int) -> None:
    """No text of any script passes the limit."""
    assert len(cut_to_fit(text, limit)) <= limit


@given(
    text=st.lists(st.sampled_from(["1234", "12.50", " cm ", "oak", ", ", "磁器", "9,980円"]), max_size=20).map("".join),
    limit=st.integers(min_value=2, max_value=40),
)
def test_a_number_is_whole_or_gone(text: str, limit: int) -> None:
    """Every number of the cut text stands whole in the text it was cut from."""
    number = re.compile(r"\d+(?:[.,]\d+)*")
    assert set(number.findall(cut_to_fit(text, limit))) <= set(number.findall(text))
