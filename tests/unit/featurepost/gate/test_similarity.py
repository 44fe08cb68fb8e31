"""Likeness of captions is a number between 0 and 1 that hashtags, case and width do not move."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamplighter.featurepost.gate.similarity import EarlierCaptions


def measure(caption: str, *earlier: str) -> float:
    """Return how like the closest of earlier captions a caption is."""
    return EarlierCaptions(earlier).measure_closest(caption)


def test_the_same_words_are_alike_whatever_their_case_width_and_hashtags() -> None:
    """Folding makes them one."""
    assert measure("Three Mugs ３ #mugs", "other", "three  mugs 3 #clay #oak") == 1.0


def test_other_words_are_not_alike() -> None:
    """Nothing in common is 0, and so is no caption to compare with."""
    assert measure("abcdef", "uvwxyz") == 0.0
    assert measure("abcdef") == 0.0


@given(one=st.text(max_size=60), other=st.text(max_size=60))
def test_likeness_is_symmetric_and_bounded(one: str, other: str) -> None:
    """It does not matter which caption came first."""
    assert measure(one, other) == measure(other, one)
    assert 0.0 <= measure(one, other) <= 1.0
