"""Words are cleaned, and cut where a Japanese reader would."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamplighter.featurepost.slides.phrases import MOST_LETTERS, Phraser, clean, direction

PHRASER = Phraser()
NOT_AT_START = set("、。ーっッゃょ々」）!?")
JAPANESE = st.text(st.sampled_from("朝のコーヒーを、もうすこしゆっくりっ。「残り火」ッャabc 12ml"), max_size=60)


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("朝のコーヒーを、もうすこしゆっくり。", ("朝の", "コーヒーを、", "もう", "すこしゆっくり。")),
        ("スープにも、ごはんにも、くだものにも。", ("スープにも、", "ごはんにも、", "くだものにも。")),
        ("Slow mornings", ("Slow ", "mornings")),
        ("つきしろのマグ", ("つきしろの", "マグ")),
    ],
)
def test_a_line_may_end_only_between_phrases(text: str, phrases: tuple[str, ...]) -> None:
    """Japanese is cut into phrases, other words at spaces."""
    assert PHRASER.phrases(text) == phrases


@given(JAPANESE)
def test_no_phrase_begins_with_a_letter_that_may_not_begin_a_line(text: str) -> None:
    """Kinsoku: ー, っ, a stop or a closing bracket stays with the letter before it."""
    phrases = PHRASER.phrases(text.strip())
    for before, phrase in itertools.pairwise(phrases):
        assert before.endswith(" ") or phrase[0] not in NOT_AT_START


@given(JAPANESE)
def test_no_letter_is_lost(text: str) -> None:
    """The pieces of a field joined are the text, but for the hard space before a unit."""
    cleaned = clean(text).text
    field = PHRASER.field("title", cleaned)
    joined = "\n".join("".join(piece.t for piece in line) for line in field.lines)
    assert joined.replace("\u00a0", " ") == cleaned.replace("\u00a0", " ")


def test_brackets_and_stops_stay_outside_the_unbreakable_piece() -> None:
    """Typst sets them by the rules for line ends only when no box holds them."""
    (line,) = PHRASER.field("name", "「残り火」を。").lines
    assert [(piece.t, piece.keep) for piece in line] in (
        [("「", False), ("残り火」を", True), ("。", False)],
        [("「", False), ("残り火", True), ("」", False), ("を", True), ("。", False)],
    )


def test_a_very_long_phrase_may_be_broken() -> None:
    """More than twelve letters without a break would not fit a narrow column."""
    (line,) = PHRASER.field("name", "ハンドドリップコーヒーメーカー").lines
    assert not any(piece.keep for piece in line if len(piece.t) > 12)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("750 ml", "750\u00a0ml"),
        ("holds 320 ml, 3 kg", "holds 320\u00a0ml, 3\u00a0kg"),
        ("10 % off", "10\u00a0% off"),
        ("3 個", "3\u00a0個"),
        ("45 × 70 cm", "45\u00a0×\u00a070\u00a0cm"),
        ("5 men", "5 men"),
    ],
)
def test_a_number_stays_with_its_unit(text: str, shown: str) -> None:
    """They are joined by a space no line ends at."""
    (line,) = PHRASER.field("note", text).lines
    assert "".join(piece.t for piece in line) == shown


def test_the_longest_words_are_told_to_the_template() -> None:
    """The template measures them to choose a size at which none is cut."""
    field = PHRASER.field("title", "a Donaudampfschifffahrt of tea")
    assert field.words[0] == "Donaudampfschifffahrt"
    assert PHRASER.field("title", "朝のコーヒーを").words[0] == "コーヒーを"


@pytest.mark.parametrize(
    ("text", "japanese"), [("Dawn mug", False), ("月白", True), ("mug カップ", True), ("☕", False)]
)
def test_a_text_says_whether_it_is_japanese(text: str, japanese: bool) -> None:
    """One kana or kanji is enough: it wants more air, whatever the brand's language."""
    assert PHRASER.field("name", text).japanese is japanese


@pytest.mark.parametrize(
    ("dirty", "text"),
    [
        ("a\u202eb\u2066c\u2069", "abc"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("nul\x00bell\x07", "nulbell"),
        ("private\ue000use", "privateuse"),
        ("cafe\u0301", "café"),
        ("  two   spaces\t\tand tab ", "two spaces and tab"),
        ("one\r\ntwo\r\r\n three", "one\ntwo\nthree"),
        ("1\u202f200\u00a0€", "1\u00a0200\u00a0€"),
        ("thin\u2009space", "thin space"),
        ("lone\ud800surrogate", "lonesurrogate"),
        ("👩\u200d🎨❤\ufe0f", "👩\u200d🎨❤\ufe0f"),
        ("#panic() *b* $x$ <b>", "#panic() *b* $x$ <b>"),
    ],
)
def test_what_must_never_reach_a_picture_is_dropped(dirty: str, text: str) -> None:
    """Controls, bidi overrides and private letters go; everything readable stays as it is."""
    assert clean(dirty) == clean(text)
    assert clean(dirty).text == text


def test_twenty_kilobytes_are_cut_and_said_so() -> None:
    """No slide can show them; the end is marked."""
    cleaned = clean("word " * 4000)
    assert (len(cleaned.text) <= MOST_LETTERS, cleaned.text.endswith("…"), cleaned.cut) == (True, True, True)
    assert clean("x" * MOST_LETTERS).cut is False


@settings(max_examples=200)
@given(st.text(max_size=300))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """A clean text is NFC, holds no control but line breaks, and stays as it is."""
    cleaned = clean(text).text
    assert clean(cleaned).text == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(unicodedata.category(letter) in {"Cc", "Cs", "Co"} for letter in cleaned if letter != "\n")


@given(st.text(max_size=80))
def test_any_text_becomes_a_field(text: str) -> None:
    """No text makes the phraser fail."""
    assert PHRASER.field("note", clean(text).text).name == "note"


@pytest.mark.parametrize(
    ("text", "expected"), [("مرحبا abc", "rtl"), ("abc مرحبا", "ltr"), ("123 שלום", "rtl"), ("123", "ltr"), ("", "ltr")]
)
def test_the_first_letter_with_a_direction_decides(text: str, expected: str) -> None:
    """UAX #9, rule P2."""
    assert direction(text) == expected
