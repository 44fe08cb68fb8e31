"""How long words may be: on a slide as the template says, in a caption as Instagram counts."""

from __future__ import annotations

from typing import Protocol

from lamplighter.featurepost.feature import Role

CAPTION_UNITS = 2_200
MOST_HASHTAGS = 30
MOST_MENTIONS = 20


class Limits(Protocol):
    """How many letters a text field of a slide may have."""

    def limit(self, role: Role, field: str) -> int | None:
        """Return the most letters `field` of `role` may have, or None where there is no limit."""
        ...


def count_units(text: str) -> int:
    """Return the length Instagram counts: UTF-16 units."""
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2
