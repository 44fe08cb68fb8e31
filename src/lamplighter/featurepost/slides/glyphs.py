"""Glyphs: which letters a set of font files can draw, read from their cmap tables (OpenType 1.9, "cmap")."""

from __future__ import annotations

import contextlib
import mmap
import re
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Spaces, controls, joiners, variation selectors, skin tones, tags: drawn by the shaper, not by a glyph of their own.
_INVISIBLE = re.compile(
    "[\u0000-\u0020\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff\U0001f3fb-\U0001f3ff]"
)
_SEGMENTED, _GROUPED, _MANY_TO_ONE = 4, 12, 13
# (platform, encoding, format) of the subtables we read, the fullest first.
_PREFERRED = (
    (3, 10, _GROUPED),
    (0, 6, _GROUPED),
    (0, 4, _GROUPED),
    (3, 1, _SEGMENTED),
    (0, 3, _SEGMENTED),
    (0, 4, _SEGMENTED),
    (0, 6, _MANY_TO_ONE),
)
_NO_CHARACTER = 0xFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The letters some fonts have a glyph for."""

    code_points: frozenset[int]

    def missing(self, text: str) -> tuple[str, ...]:
        """Return each letter of `text` that no font can draw, once, in order of its code point."""
        return tuple(sorted({letter for letter in _INVISIBLE.sub("", text) if ord(letter) not in self.code_points}))


def read_coverage(files: Iterable[Path]) -> Coverage:
    """Return what the fonts in `files` cover together; a font file without a readable cmap covers nothing."""
    covered: set[int] = set()
    for file in files:
        with (
            contextlib.suppress(struct.error, ValueError, IndexError),
            file.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as font,
        ):
            for offset in _font_offsets(font):
                for first, last in _ranges(font, offset):
                    covered.update(range(first, min(last, sys.maxunicode) + 1))
    return Coverage(code_points=frozenset(covered))


def _font_offsets(font: mmap.mmap) -> tuple[int, ...]:
    """Return where each font of a file begins: one, or several in a collection (.ttc)."""
    if font[:4] != b"ttcf":
        return (0,)
    (count,) = struct.unpack_from(">I", font, 8)
    return struct.unpack_from(f">{count}I", font, 12)


def _ranges(font: mmap.mmap, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last code point of each covered range."""
    table = _find_table(font, offset)
    if table is None:
        return
    subtable = _choose_subtable(font, table)
    if subtable is None:
        return
    start, layout = subtable
    yield from _segments(font, start) if layout == _SEGMENTED else _groups(font, start, layout)


def _find_table(font: mmap.mmap, offset: int) -> int | None:
    (count,) = struct.unpack_from(">H", font, offset + 4)
    for number in range(count):
        tag, _, start, _ = struct.unpack_from(">4sIII", font, offset + 12 + 16 * number)
        if tag == b"cmap":
            return int(start)
    return None


def _choose_subtable(font: mmap.mmap, table: int) -> tuple[int, int] | None:
    """Return the start and format of the fullest subtable we can read."""
    (count,) = struct.unpack_from(">H", font, table + 2)
    found: dict[tuple[int, int, int], int] = {}
    for number in range(count):
        platform, encoding, offset = struct.unpack_from(">HHI", font, table + 4 + 8 * number)
        (layout,) = struct.unpack_from(">H", font, table + offset)
        found.setdefault((platform, encoding, layout), table + offset)
    return next(((found[key], key[2]) for key in _PREFERRED if key in found), None)


def _groups(font: mmap.mmap, start: int, layout: int) -> Iterator[tuple[int, int]]:
    (count,) = struct.unpack_from(">I", font, start + 12)
    for number in range(count):
        first, last, glyph = struct.unpack_from(">III", font, start + 16 + 12 * number)
        if glyph or layout == _GROUPED:
            yield first, last


def _segments(font: mmap.mmap, start: int) -> Iterator[tuple[int, int]]:
    (double_count,) = struct.unpack_from(">H", font, start + 6)
    count = double_count // 2
    lasts = struct.unpack_from(f">{count}H", font, start + 14)
    firsts = struct.unpack_from(f">{count}H", font, start + 16 + 2 * count)
    range_offsets_at = start + 16 + 6 * count
    range_offsets = struct.unpack_from(f">{count}H", font, range_offsets_at)
    for number, (first, last, offset) in enumerate(zip(firsts, lasts, range_offsets, strict=True)):
        if first == _NO_CHARACTER:
            continue
        if offset == 0:
            yield first, last
            continue
        glyphs_at = range_offsets_at + 2 * number + offset
        for code_point in range(first, last + 1):
            if font[glyphs_at + 2 * (code_point - first)] or font[glyphs_at + 2 * (code_point - first) + 1]:
                yield code_point, code_point
