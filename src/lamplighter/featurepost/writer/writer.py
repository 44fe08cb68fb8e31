"""The writer: whoever turns fact sheets into copy, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Copy, FactSheet, WriterRecord
from lamplighter.featurepost.gate.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is to be written: whose feature, about what, how long, which number it has, what was said lately."""

    brand: Brand
    sheets: tuple[FactSheet, ...]
    limits: Limits
    number: int
    recent_captions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The copy, and which tool wrote it."""

    copy: Copy
    record: WriterRecord


class Writer(Protocol):
    """Writes the copy of one feature."""

    def write(self, brief: Brief) -> Written:
        """Return copy for every sheet of the brief, in its order; raises LamplighterError when it cannot."""
        ...
