"""How much a notice or an incident matters; apart from how it is told, which loads a database (pure)."""

from __future__ import annotations

import enum


class Severity(enum.Enum):
    """How much it matters; success and repairs are INFO."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Return a number that is higher for what matters more."""
        return _RANKS.index(self)


_RANKS = (Severity.INFO, Severity.WARNING, Severity.CRITICAL)
