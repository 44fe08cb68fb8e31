"""How long words may be on a slide, as its template says; what a network takes of a caption is its publisher's."""

from __future__ import annotations

from typing import Protocol

from lamplighter.featurepost.feature import Role


class Limits(Protocol):
    """How many letters a text field of a slide may have."""

    def limit(self, role: Role, field: str) -> int | None:
        """Return the most letters `field` of `role` may have, or None where there is no limit."""
        ...
