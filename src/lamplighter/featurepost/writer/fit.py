"""Words that must fit: cut at a sentence, a phrase or a word, and only at last inside one, never inside a letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]")
_PHRASE_END = re.compile(r"[,;:](?=\s)|\s[–—|-](?=\s)|[、，；：]|\s(?=\()")
_WORD_END = re.compile(r"\s")
_LOOSE_END = re.compile(
    r"(?:\s+(?:and|or|with|of|in|for|the|an?|to|from|by|on|at|is|are|&|-|–|\||/))+$|"
    r"[\s,;:、，；：(（「\-–—|/&+×]+$",
    re.IGNORECASE,
)


def first_fit(candidates: Iterable[str], limit: int | None) -> str:
    """Return the first candidate that is within the limit, or ""."""
    return next((text for text in candidates if text and (limit is None or len(text) <= limit)), "")


def cut_to_fit(text: str, limit: int | None) -> str:
    """Return the text, or as much of it as fits: whole sentences, else whole phrases or words and an ellipsis."""
    if limit is None or len(text) <= limit:
        return text
    start = next((index for index, letter in enumerate(text) if letter.isalnum()), 0)
    cut = _cut(text, limit)
    return cut if start == 0 or any(letter.isalnum() for letter in cut) else cut_to_fit(text[start:], limit)


def _cut(text: str, limit: int) -> str:
    whole = max((found.end() for found in _SENTENCE_END.finditer(text) if found.end() <= limit), default=0)
    if whole >= max(2, limit // 3):
        return text[:whole]
    for ends in (_PHRASE_END, _WORD_END):
        end = max((found.start() for found in ends.finditer(text) if found.start() < limit), default=0)
        if end >= max(2, limit // 2):
            return _ellipsis(text[:end], limit)
    return _ellipsis(_head(text, limit - 1), limit) or _head(text, limit)


def _ellipsis(head: str, limit: int) -> str:
    """Add an ellipsis to a head freed of loose words; without room for it, only the head."""
    tidy = head
    while tidy != (tidy := _LOOSE_END.sub("", tidy)):
        pass
    return f"{tidy}…" if 0 < len(tidy) < limit else tidy[:limit]


def _head(text: str, letters: int) -> str:
    """Return whole graphemes of at most so many letters, without the beginning of a number that goes on."""
    head = ""
    for cluster in split_graphemes(text):
        if len(head) + len(cluster) > letters:
            break
        head += cluster
    goes_on = text[len(head) : len(head) + 1]
    if re.search(r"\d[.,]?$", head) and re.match(r"[\d.,%]", goes_on):
        head = re.sub(r"[\d.,]+$", "", head)
    return head


def split_graphemes(text: str) -> Iterator[str]:
    """Yield what a reader takes for one letter: a base with its marks, joined emoji, a flag's two halves."""
    cluster = ""
    for letter in text:
        if cluster and not _belongs(cluster, letter):
            yield cluster
            cluster = ""
        cluster += letter
    if cluster:
        yield cluster


def _belongs(cluster: str, letter: str) -> bool:
    if unicodedata.category(letter) in {"Mn", "Mc", "Me"} or "\u200d" in {letter, cluster[-1]}:
        return True
    if "\U0001f3fb" <= letter <= "\U0001f3ff":
        return True
    return _is_flag_half(letter) and len(cluster) == 1 and _is_flag_half(cluster)


def _is_flag_half(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
