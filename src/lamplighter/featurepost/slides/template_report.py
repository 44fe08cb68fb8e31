"""What trying a template came to; imports nothing that draws, so that it costs nothing to name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What came of a check: the sheet, how many slides are on it, what must be mended, what is only worth knowing."""

    template: str
    sheet_file: Path
    slides: int
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewReport:
    """What came of a preview: the pictures in its folder, the feature whose words they show ("": none), remarks."""

    folder: Path
    files: tuple[Path, ...]
    brand: str
    feature: str
    remarks: tuple[str, ...]
