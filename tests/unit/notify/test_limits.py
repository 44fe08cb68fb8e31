"""Text is cut to what a service takes, between words, and never inside a letter; nobody is called by a shop's words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.notify.limits import choose_limits, count_bytes, count_escaped, count_utf16, neutralise, shorten, split

WORDS = st.text(st.sampled_from("ab<&皿🆕é\u0301👩\u200d🎨\n 。👍🏽"), max_size=400)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 10, ("",)),
        ("short", 10, ("short",)),
        ("one two three", 8, ("one two", "three")),
        ("first\n\nsecond par", 12, ("first", "second par")),
        ("first line\nsecond", 14, ("first line", "second")),
        ("abcdefghij", 4, ("abcd", "efgh", "ij")),
        ("これは皿です。とても丸い。", 8, ("これは皿です。", "とても丸い。")),
        ("ab👩\u200d🎨cd", 6, ("ab", "👩\u200d🎨c", "d")),
        ("aae\u0301", 3, ("aa", "e\u0301")),
    ],
)
def test_text_is_cut_at_paragraph_line_or_word(text: str, limit: int, expected: tuple[str, ...]) -> None:
    """The largest thing that ends in the second half of what fits."""
    assert split(text, limit) == expected


@given(WORDS, st.integers(min_value=8, max_value=60))
def test_parts_fit_and_lose_nothing_but_blanks(text: str, limit: int) -> None:
    """Whatever the text, in every way of counting."""
    for measure in (count_utf16, count_bytes, count_escaped):
        parts = split(text, limit * 3, measure)
        assert all(measure(part) <= limit * 3 for part in parts)
        assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", text)


@given(WORDS, st.integers(min_value=4, max_value=40))
def test_what_is_shortened_fits(text: str, limit: int) -> None:
    """With a mark where it was cut, or whole."""
    short = shorten(text, limit)
    assert count_utf16(short) <= limit
    assert short == text or short.endswith("…")


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("hello @everyone and @here", "@everyone"),
        ("<!channel> <@U123> <#C1>", "<!"),
        ("<@&998877>", "<@"),
        ("@Everyone", "@Everyone"),
    ],
)
def test_nobody_is_called_by_the_words_of_a_shop(text: str, called: str) -> None:
    """What a person reads is the same; the service finds no mention."""
    quiet = neutralise(text)
    assert called not in quiet
    assert quiet.replace("\u2060", "") == text


def test_ordinary_words_stay_as_they_are() -> None:
    """Addresses, emoji and Japanese are no mentions; what moves a terminal is a blank."""
    text = "hello@shop.example 👩\u200d🎨 皿\nallowed @alice"
    assert neutralise(text) == text
    assert neutralise("a\x1b[31mb\u202ec") == "a [31mb c"


@pytest.mark.parametrize(
    ("scheme", "body", "most"),
    [("discord", 2_000, 2_000), ("tgram", 4_096, 4_096), ("slack", 35_000, 3_000), ("ntfy", 7_800, 4_096)],
)
def test_known_services_get_less_than_they_take(scheme: str, body: int, most: int) -> None:
    """Whatever Apprise says of them."""
    assert choose_limits(scheme, body=body, title=250).body < most


def test_other_services_get_what_apprise_says() -> None:
    """A short message by telephone has 160 letters."""
    assert (choose_limits("sms", body=160, title=0).body, choose_limits("sms", body=160, title=0).title) == (160, 0)
    assert choose_limits("mailto", body=0, title=250).body == 30_000
