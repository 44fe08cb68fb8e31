"""A price is told exactly as its currency and language want it, or not at all."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lamplighter.featurepost.feature import Language
from lamplighter.featurepost.money import format_price


@pytest.mark.parametrize(
    ("amount", "currency", "language", "expected"),
    [
        ("30.00", "USD", "en", "$30"),
        ("29.90", "EUR", "en", "€29.90"),
        ("1099.00", "GBP", "en", "£1,099"),
        ("3980.00", "JPY", "en", "¥3,980"),
        ("3980", "JPY", "ja", "3,980円"),
        ("29.90", "EUR", "ja", "€29.90"),
        ("30", "KWD", "en", "KWD 30.000"),
        ("30.5", "KWD", "en", "KWD 30.500"),
        ("30", "CAD", "en", "CA$30"),
        ("49.9", "CHF", "en", "CHF 49.90"),
        ("30", "XYZ", "en", "30.00 XYZ"),
        ("12000", "KRW", "en", "₩12,000"),
        ("1234567.89", "USD", "en", "$1,234,567.89"),
    ],
)
def test_a_price_is_written_as_the_shop_would(amount: str, currency: str, language: Language, expected: str) -> None:
    """Sign, decimals and thousands follow the currency; whole amounts lose their zeros."""
    assert format_price(Decimal(amount), currency, language) == expected


@pytest.mark.parametrize(
    ("amount", "currency"),
    [
        ("0.00", "USD"),
        ("-5", "USD"),
        ("30", ""),
        ("22.50", "JPY"),
        ("1.234", "EUR"),
        ("NaN", "EUR"),
        ("Infinity", "EUR"),
    ],
)
def test_what_cannot_be_told_exactly_is_not_told(amount: str, currency: str) -> None:
    """No price for nothing, no currency, or fractions the currency does not have."""
    assert format_price(Decimal(amount), currency, "en") == ""
