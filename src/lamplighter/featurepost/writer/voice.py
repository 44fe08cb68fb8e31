"""A voice: one language's way of saying plain facts pleasantly; every text it gives is one of several candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lamplighter.featurepost.writer.content import Content, ProductContent

MOST_TOLD = 3
"""How many products the middle of a caption talks about."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who speaks: the brand's name, its web address as people write it, its @handle."""

    name: str
    address: str
    handle: str


class Voice(Protocol):
    """Gives candidates, best first.

    A `turn` is a number that chooses among wordings, round and round: the same turn, the same one; the next, the next.
    """

    def kickers(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return short words above the title."""
        ...

    def titles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return titles in one wording, longer ones first; 24 turns in a row give 24 different wordings."""
        ...

    def subtitles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines below the title."""
        ...

    def fragments(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return short complete sentences about one product, none when only its name is known."""
        ...

    def last_resort(self, product: ProductContent, sender: Sender, turn: int) -> Sequence[str]:
        """Return sentences that are true of a product about which there is nothing to tell."""
        ...

    def hashtag(self, product: ProductContent) -> str:
        """Return the product's kind when it is one clean word of this language, else ""."""
        ...

    def detail_titles(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return headings for the details of one product."""
        ...

    def closing_titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return last headings."""
        ...

    def closing_bodies(self, content: Content, sender: Sender) -> Sequence[str]:
        """Return lines that name once more what was shown."""
        ...

    def openings(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return first paragraphs of a caption."""
        ...

    def body(self, content: Content, turn: int) -> str:
        """Return the middle of a caption, "" when there is nothing to say."""
        ...

    def farewell(self, content: Content, turn: int) -> str:
        """Return the last sentence of a caption, or ""."""
        ...


def rotated(items: Sequence[Item], turn: int) -> tuple[Item, ...]:
    """Return the items beginning at another one for each turn."""
    start = turn % len(items) if items else 0
    return (*items[start:], *items[:start])
