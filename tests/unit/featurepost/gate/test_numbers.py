"""The same amount is recognised in every way of writing it, and another one is not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lamplighter.featurepost.gate.numbers import find_number_words, find_numbers


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,234.50", "1234.50", ""),
        ("1.234,50", "1234.50", ""),
        ("1'234.50", "1234.50", ""),
        ("１，２３４．５０", "1234.50", ""),
        ("3,980円", "3980", "¥"),
        ("¥3,980", "3980", "¥"),
        ("￥3,980", "3980", "¥"),
        ("JPY 3,980", "3980", "¥"),
        ("29,90 €", "29.90", "€"),
        ("€29.90", "29.90", "€"),
        ("29.90 EUR", "29.90", "€"),
        ("$30", "30", "$"),
        ("30 dollars", "30", "$"),
        ("CHF 49.90", "49.90", "CHF"),
        ("50%", "50", "%"),
        ("50 ％", "50", "%"),
        ("50 percent", "50", "%"),
        ("BOX 12", "12", ""),
        ("12,345,678", "12345678", ""),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, value: str, unit: str) -> None:
    """Separators of every locale, full-width digits, signs before and after, currency names."""
    (number,) = find_numbers(text)
    assert Decimal(value) in number.values
    assert number.unit == unit


def test_a_number_that_may_mean_two_amounts_means_both() -> None:
    """1.234 is a thousand to some and one and a bit to others."""
    (number,) = find_numbers("1.234")
    assert number.values == {Decimal(1234), Decimal("1.234")}


@pytest.mark.parametrize("text", ["Piece 12　€0.01", "Piece 12 €0.01", "Piece 12 EUR 0.01"])
def test_a_sign_between_two_numbers_belongs_to_the_second(text: str) -> None:
    """A name that ends with a number is not a price because one follows it."""
    assert [number.unit for number in find_numbers(text)] == ["", "€"]


def test_number_words_are_read_with_their_value() -> None:
    """Counting words in both languages; words that multiply count nothing."""
    assert list(find_number_words("Two mugs, half a dozen")) == [("two", 2), ("half", 0), ("dozen", 12)]
    assert list(find_number_words("三点とふたつ、半額、2倍")) == [("三点", 3), ("ふたつ", 2), ("半額", 0), ("2倍", 0)]
    assert list(find_number_words("one by one, 一つ, someone, 二十四本")) == [("二十四本", 0)]
