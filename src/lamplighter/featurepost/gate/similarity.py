"""How alike two captions read: the share of three-letter pieces they have in common."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

TOO_ALIKE = 0.6
_HASHTAG = re.compile(r"[#＃]\w+")


class EarlierCaptions:
    """Earlier captions, taken apart once, so that a new one is measured against all of them in no time.

    Each piece has a bit of its own, so a caption is one number, and what two captions share is one `&`.
    """

    def __init__(self, captions: Iterable[str]) -> None:
        """Take the captions apart."""
        split = [split_pieces(caption) for caption in captions]
        self._bits = {piece: 1 << place for place, piece in enumerate(frozenset().union(*split))}
        self._earlier = [(self._mark(pieces), len(pieces)) for pieces in split]

    def measure_closest(self, caption: str) -> float:
        """Return the highest Jaccard measure of a caption to an earlier one: 0 unlike or none there, 1 the same."""
        pieces = split_pieces(caption)
        marked = self._mark(pieces)
        shared = [((marked & other).bit_count(), count) for other, count in self._earlier]
        return max((same / max(1, len(pieces) + count - same) for same, count in shared), default=0.0)

    def _mark(self, pieces: frozenset[str]) -> int:
        return sum(map(self._bits.__getitem__, pieces & self._bits.keys()))


def split_pieces(caption: str) -> frozenset[str]:
    """Return the letter 3-grams of a caption, hashtags left out, case and width folded."""
    folded = unicodedata.normalize("NFKC", _HASHTAG.sub("", caption)).casefold()
    letters = f" {' '.join(folded.split())} "
    return frozenset(map("".join, zip(letters, letters[1:], letters[2:], strict=False)))
