"""Phrases: words from a shop or a writer, cleaned and cut into the pieces a line may be made of."""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass

import budoux

from lamplighter.featurepost.feature import Struct

MOST_LETTERS = 600
_LONGEST_KEPT = 12
_LONGEST_JOINED = 9
_MEASURED_WORDS = 6
# C0/C1 controls, bidi overrides and isolates, zero-width space, private use, noncharacters, lone surrogates.
# ZWJ (200D) and VS16 (FE0F) stay: emoji need them.
_DROPPED = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\uffff\ue000-\uf8ff\ufdd0-\ufdef\U000f0000-\U0010ffff\ud800-\udfff]"
)
_SPACES = re.compile("[ \t\u2000-\u200a\u205f]+")
_HARD_SPACE = "\u00a0"
_LINE_BREAKS = re.compile(" ?\n[\n ]*")
_TOKEN = re.compile("[^ ]+ *")  # not \s: it would take U+00A0 for a place to break
_TIMES = re.compile(r"(?<=\d) ([×x]) (?=\d)")
_UNIT = re.compile(r"(\d) (ml|mL|cl|l|L|g|kg|mg|mm|cm|m|oz|lb|in|inch|%|€|円|個|本|枚|点)(?!\w)")
_JAPANESE = re.compile("[\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_AFTER_STOP = re.compile("(?<=[、。！？])")
_SHORT = re.compile("[\u3041-\u3096]{1,2}")
_WORD_BREAK = re.compile("[ \\-–—/]|(?<=[\u3005\u3040-\u30ff\u3400-\u9fff])(?=[\u3005\u3040-\u30ff\u3400-\u9fff])")
_NOT_AT_START = frozenset(
    "、。，．・：；？！）」』】〕〉》ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ々ゝゞヽヾ…‥゛゜,.!?:;)]}%"
)
_EDGES = re.compile("([「『（【《〈〔(\\[{“‘]*)(.*?)([」』）】》〉〕)\\]}”’、。，．！？!?,.]*\\s*)", re.DOTALL)


class Piece(Struct, frozen=True, kw_only=True):
    """A run of letters; `keep` means that no line may end inside it."""

    t: str
    keep: bool = False


class Field(Struct, frozen=True, kw_only=True):
    """One text as a template gets it: lines of pieces, direction, the plain text, its longest unbreakable words.

    `japanese` says that it has kana or kanji, which want other sizes and more air between lines.
    """

    name: str
    text: str
    dir: str
    japanese: bool
    lines: tuple[tuple[Piece, ...], ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text without what must never reach a picture; `cut` means that it was longer than any slide can show."""

    text: str
    cut: bool


class Phraser:
    """Cuts texts into phrases; the Japanese model is read when the first Japanese text comes."""

    @functools.cached_property
    def _parser(self) -> budoux.Parser:
        return budoux.load_default_japanese_parser()

    def field(self, name: str, text: str) -> Field:
        """Return a cleaned text as a template gets it."""
        lines = tuple(self._line(line) for line in _join(text).split("\n") if line)
        return Field(
            name=name,
            text=text,
            dir=direction(text),
            japanese=bool(_JAPANESE.search(text)),
            lines=lines,
            words=_longest_words(lines),
        )

    def _line(self, text: str) -> tuple[Piece, ...]:
        return tuple(piece for phrase in self.phrases(text) for piece in _pieces(phrase))

    def phrases(self, text: str) -> tuple[str, ...]:
        """Return one line's phrases in order; none begins with a letter that may not begin a line (kinsoku)."""
        phrases: list[str] = []
        for token in _TOKEN.findall(text):
            for part in self._parts(token):
                if phrases and part[0] in _NOT_AT_START and not phrases[-1].endswith(" "):
                    phrases[-1] += part
                else:
                    phrases.append(part)
        return tuple(_join_short(phrases))

    def _parts(self, token: str) -> list[str]:
        """Return the phrases the model sees; after a comma or a stop there is always a place to break."""
        if not _JAPANESE.search(token):
            return [token]
        return [part for phrase in self._parser.parse(token) for part in _AFTER_STOP.split(phrase) if part]


def clean(text: str) -> Cleaned:
    """Return `text` in NFC with plain spaces and without controls, private letters and more than 600 letters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = _DROPPED.sub("", text[: 8 * MOST_LETTERS].replace("\u202f", _HARD_SPACE))
    text = _LINE_BREAKS.sub("\n", _SPACES.sub(" ", unicodedata.normalize("NFC", text))).strip()
    if len(text) <= MOST_LETTERS:
        return Cleaned(text, cut=False)
    return Cleaned(text[: MOST_LETTERS - 1].rstrip() + "…", cut=True)


def direction(text: str) -> str:
    """Return "rtl" or "ltr" by the first letter that has a direction (UAX #9, rule P2)."""
    for letter in text:
        bidirectional = unicodedata.bidirectional(letter)
        if bidirectional in {"R", "AL"}:
            return "rtl"
        if bidirectional == "L":
            return "ltr"
    return "ltr"


def _join_short(phrases: list[str]) -> list[str]:
    """Join a lone one or two hiragana to what follows: the model cuts くだもの into くだ and もの."""
    joined: list[str] = []
    for phrase in phrases:
        if joined and _SHORT.fullmatch(joined[-1]) and len(joined[-1]) + len(phrase) <= _LONGEST_JOINED:
            joined[-1] += phrase
        else:
            joined.append(phrase)
    return joined


def _pieces(phrase: str) -> tuple[Piece, ...]:
    """Cut a phrase into its unbreakable middle and the brackets and stops around it.

    A box is a line of its own for Typst: a stop inside it would be cut to half its width, one outside is set by the
    rules for line ends.
    """
    if not _JAPANESE.search(phrase) or len(phrase) > _LONGEST_KEPT:
        return (Piece(t=phrase),)
    edges = _EDGES.fullmatch(phrase)
    before, middle, after = edges.groups() if edges else ("", phrase, "")
    pieces = (Piece(t=before), Piece(t=middle, keep=True), Piece(t=after))
    return tuple(piece for piece in pieces if piece.t)


def _longest_words(lines: tuple[tuple[Piece, ...], ...]) -> tuple[str, ...]:
    """Return the few runs that decide how small a text must be so that no word is cut."""
    pieces = [piece for line in lines for piece in line]
    words = {word for piece in pieces for word in ([piece.t] if piece.keep else _WORD_BREAK.split(piece.t)) if word}
    return tuple(sorted(words, key=lambda word: (-_rough_width(word), word))[:_MEASURED_WORDS])


def _rough_width(word: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1 for letter in word)


def _join(text: str) -> str:
    """Keep a number with its unit, and the two sides of a measure with each other."""
    return _TIMES.sub(f"{_HARD_SPACE}\\1{_HARD_SPACE}", _UNIT.sub(f"\\1{_HARD_SPACE}\\2", text))
