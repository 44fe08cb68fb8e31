"""Money in words: an amount as a careful shop writes it in the brand's language, exactly or not at all."""

from __future__ import annotations

import re
from decimal import Decimal
from types import MappingProxyType

from lamplighter.featurepost.feature import Language

_DECIMALS = MappingProxyType(
    dict.fromkeys(("JPY", "KRW", "VND", "CLP", "ISK", "UGX", "XAF", "XOF", "XPF", "PYG", "RWF", "KMF", "GNF", "DJF"), 0)
    | dict.fromkeys(("KWD", "BHD", "OMR", "JOD", "TND", "IQD", "LYD"), 3)
)
_MARKS = MappingProxyType(
    {
        "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CAD": "CA$", "AUD": "A$", "NZD": "NZ$", "SGD": "S$",
        "HKD": "HK$", "TWD": "NT$", "MXN": "MX$", "BRL": "R$", "CNY": "CN¥", "KRW": "₩", "INR": "₹", "VND": "₫",
        "ILS": "₪", "THB": "฿", "PHP": "₱", "UAH": "₴", "TRY": "₺", "NGN": "₦",
    }
)  # fmt: skip
_CODE_FIRST = re.compile(
    "CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|ISK|ZAR|AED|SAR|QAR|EGP|MAD|KWD|BHD|OMR|JOD|TND|MYR|IDR",
)


def format_price(amount: Decimal, currency: str, language: Language) -> str:
    """Return a positive amount with its currency ("$30", "€29.90", "3,980円", "KWD 30.000", "30.00 XYZ").

    Whole amounts with a known sign lose their zeros. Returns "" when the amount is not positive, no currency is given,
    or the currency has no such fractions: a price is told exactly or not at all.
    """
    decimals = _DECIMALS.get(currency, 2)
    if not currency or not amount.is_finite() or amount <= 0 or amount != round(amount, decimals):
        return ""
    number = f"{amount:,.{decimals}f}"
    if currency == "JPY" and language == "ja":
        return f"{number}円"
    if currency in _MARKS:
        return f"{_MARKS[currency]}{number.removesuffix('.00')}"
    return f"{currency} {number}" if _CODE_FIRST.fullmatch(currency) else f"{number} {currency}"
