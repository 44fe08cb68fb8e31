"""Numbers in words: read with every locale's separators, so that 1.234,50 and １,234.50 are the same amount."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

_NUMBER = re.compile(r"\d+(?:[.,'’]\d+)*")
_MONEY_BEFORE = re.compile(r"(CA\$|A\$|NZ\$|S\$|HK\$|NT\$|MX\$|R\$|CN¥|[$€£¥₩₹₫₪฿₱₴₺₦]|\b[A-Z]{3})\s?$")
_MONEY_AFTER = re.compile(
    r"\s?([€£$¥₩₹](?!\d)|円|(?:USD|EUR|GBP|JPY|CHF)\b(?!\s?\d)|(?:dollars?|euros?|pounds?|yen)\b)", re.IGNORECASE
)
_PERCENT_AFTER = re.compile(r"\s?(?:%|percent\b|per cent\b|パーセント)", re.IGNORECASE)
_MONEY_NAMES = MappingProxyType(
    {"円": "¥", "JPY": "¥", "YEN": "¥", "EUR": "€", "EURO": "€", "EUROS": "€", "GBP": "£", "POUND": "£", "POUNDS": "£",
     "USD": "$", "DOLLAR": "$", "DOLLARS": "$"}
)  # fmt: skip
_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|double|twice|triple|dozen)\b|"
    r"[二三四五六七八九十]+(?:つ|点|個|品|枚|本|種|色|客|組|セット|選|割)|ふたつ|みっつ|よっつ|いつつ|むっつ|半分|半額|\d*倍",
    re.IGNORECASE,
)
_WORD_VALUES = MappingProxyType(
    {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
     "twelve": 12, "dozen": 12, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
     "ふ": 2, "み": 3, "よ": 4, "い": 5, "む": 6}
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as it stands in a text: its words, what it may mean, and its unit: "", "%" or a currency's sign."""

    text: str
    values: frozenset[Decimal]
    unit: str


def find_numbers(text: str) -> Iterator[Number]:
    """Yield every number written in digits."""
    plain = unicodedata.normalize("NFKC", text)
    for found in _NUMBER.finditer(plain):
        before, after = plain[max(0, found.start() - 5) : found.start()], plain[found.end() : found.end() + 12]
        unit = _parse_unit(before, after)
        yield Number(text=f"{unit if unit not in {'', '%'} else ''}{found[0]}{'%' if unit == '%' else ''}",
                     values=frozenset(_parse_values(found[0])), unit=unit)  # fmt: skip


def find_number_words(text: str) -> Iterator[tuple[str, int]]:
    """Yield words that count or multiply, with what they count (0 where they count nothing)."""
    for found in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        word = found[0].lower()
        one_figure = re.fullmatch(r"[二三四五六七八九十]\D|[ふみよいむ].*", word)
        yield word, _WORD_VALUES.get(word[0] if one_figure else word, 0)


def _parse_unit(before: str, after: str) -> str:
    if _PERCENT_AFTER.match(after):
        return "%"
    money = _MONEY_AFTER.match(after)
    if money:
        return _MONEY_NAMES.get(money[1].upper(), money[1].upper())
    sign = _MONEY_BEFORE.search(before)
    return _MONEY_NAMES.get(sign[1], sign[1]) if sign and _is_currency(sign[1]) else ""


def _is_currency(sign: str) -> bool:
    return not sign.isalpha() or sign in _MONEY_NAMES or sign in {"CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "KWD"}


def _parse_values(digits: str) -> Iterator[Decimal]:
    """Yield every amount the digits may mean in some locale."""
    parts = re.split(r"[.,'’]", digits)
    marks = re.findall(r"[.,'’]", digits)
    if not marks:
        yield Decimal(digits)
        return
    grouped = all(len(part) == 3 for part in parts[1:])
    if grouped and len(set(marks)) == 1:
        yield Decimal("".join(parts))
    if marks[-1] != "'" and len(set(marks[:-1])) <= 1 and marks[-1] not in marks[:-1]:
        yield Decimal(f"{''.join(parts[:-1])}.{parts[-1]}")
    if len(marks) > 1 and not grouped:
        yield from (Decimal(part) for part in parts)
