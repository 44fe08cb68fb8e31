"""How alike two captions read: the share of three-letter pieces they have in common."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

TOO_ALIKE = 0.6
_HASHTAG = re.compile(r"[#＃]\w+")


def find_most_alike(caption: str, recent: Iterable[str]) -> float:
    """Return the highest similarity of a caption to earlier ones, 0 when there are none."""
    return find_closest(read_pieces(caption), [read_pieces(earlier) for earlier in recent])


def find_closest(pieces: frozenset[str], earlier: Iterable[frozenset[str]]) -> float:
    """Return the highest Jaccard measure of some pieces to those of earlier captions: 0 unlike, 1 the same."""
    return max((len(pieces & other) / max(1, len(pieces | other)) for other in earlier), default=0.0)


def read_pieces(caption: str) -> frozenset[str]:
    """Return the letter 3-grams of a caption, hashtags left out, case and width folded."""
    folded = unicodedata.normalize("NFKC", _HASHTAG.sub("", caption)).casefold()
    letters = f" {' '.join(folded.split())} "
    return frozenset(letters[start : start + 3] for start in range(len(letters) - 2))
