"""What each service takes: how long, how often; and text cut to that, never inside a word unless it must be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

Measure = Callable[[str], int]
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_MENTION = re.compile(r"@(?=(?:everyone|here|channel|all)\b)|<(?=[@!#])", re.IGNORECASE)
_QUIET = "\u2060"  # a word joiner: nothing is seen of it, and the service finds no mention


def count_utf16(text: str) -> int:
    """Return the UTF-16 units of a text: how Telegram and Discord count, and never less than letters."""
    return len(text.encode("utf-16-le", "replace")) // 2


def count_bytes(text: str) -> int:
    """Return the UTF-8 bytes of a text."""
    return len(text.encode("utf-8", "replace"))


def count_escaped(text: str) -> int:
    """Return the UTF-16 units of a text with &, < and > written as Slack wants them."""
    return count_utf16(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a service takes at a time (in the units of `measure`, the title included), and the pause between two."""

    body: int
    title: int = 200
    pause: timedelta = timedelta(seconds=1)
    measure: Measure = count_utf16
    picture_bytes: int = 8_000_000


_SHORT = timedelta(milliseconds=300)
# Below what the services say, for what they add: discord.com/developers (2,000; 5 in 2 s), core.telegram.org/bots
# (4,096; 1 a second a chat), docs.slack.dev (3,000 a block; 1 a second), docs.ntfy.sh (4,096 bytes; 60 at once).
_KNOWN: Mapping[str, Limits] = MappingProxyType(
    {
        "discord": Limits(body=1_900),  # a picture is a request of its own
        "json": Limits(body=30_000, pause=_SHORT),
        "jsons": Limits(body=30_000, pause=_SHORT),
        "tgram": Limits(body=3_900),
        "slack": Limits(body=2_900, measure=count_escaped),
        "ntfy": Limits(body=3_600, measure=count_bytes, pause=_SHORT),
        "ntfys": Limits(body=3_600, measure=count_bytes, pause=_SHORT),
    }
)
_LONGEST = 30_000
_SHORTEST = 40


def choose_limits(scheme: str, *, body: int, title: int) -> Limits:
    """Return the limits of a service by its scheme, or by what Apprise says of it."""
    known = _KNOWN.get(scheme)
    if known is not None:
        return known
    return Limits(body=max(_SHORTEST, min(body or _LONGEST, _LONGEST)), title=title)


def neutralise(text: str) -> str:
    """Return text in which no shop's words can call everybody, or move anything but letters."""
    plain = "".join(letter if letter.isprintable() or letter in "\n\u200d" else " " for letter in text)
    return _MENTION.sub(lambda match: match[0] + _QUIET, plain)


def split(text: str, limit: int, measure: Measure = count_utf16) -> tuple[str, ...]:
    """Return text in parts of at most `limit`, cut between paragraphs, lines or words; nothing but blanks is lost."""
    parts: list[str] = []
    rest = text.strip()
    while measure(rest) > limit:
        end = _find_end(rest, limit, measure)
        at = _find_cut(rest, end)
        parts.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return tuple(part for part in (*parts, rest) if part) or ("",)


def shorten(text: str, limit: int, measure: Measure = count_utf16) -> str:
    """Return text that fits, with "…" where it was cut."""
    if measure(text) <= limit:
        return text
    room = limit - measure("…")
    return text[: _find_end(text, room, measure)].rstrip() + "…" if room > 0 else ""


def _find_end(text: str, limit: int, measure: Measure) -> int:
    """Return how many code points fit, at least one, and never an end inside a letter that several make up."""
    low, high = 1, min(len(text), max(limit, 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(text[:middle]) <= limit else (low, middle - 1)
    end = low
    while end > 1 and end < len(text) and _is_inside(text, end):
        end -= 1
    return end if end > 1 else low


def _is_inside(text: str, at: int) -> bool:
    """Return whether a cut there would part a letter from its accents, or an emoji from what it is joined with."""
    after, before = text[at], text[at - 1]
    is_skin = "\U0001f3fb" <= after <= "\U0001f3ff"
    return unicodedata.combining(after) != 0 or after in _JOINERS or before == "\u200d" or is_skin


def _find_cut(text: str, end: int) -> int:
    """Return where to cut at or before `end`: after a paragraph, a line or a word of the second half, else at `end`."""
    for mark in ("\n\n", "\n", "。", " "):
        at = text.rfind(mark, end // 2, end + 1)
        if at > 0:
            return min(at + len(mark), end) if mark == "。" else at
    return end
