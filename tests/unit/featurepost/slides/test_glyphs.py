"""What the fonts cannot draw is known before a picture is made."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import lamplighter.featurepost.slides
from lamplighter.featurepost.slides.glyphs import Coverage, read_coverage

FONTS_DIR = Path(lamplighter.featurepost.slides.__file__).parent / "fonts"


@pytest.fixture(scope="module")
def bundled() -> Coverage:
    """What the fonts in the package cover together."""
    return read_coverage(sorted(FONTS_DIR.glob("*.ttf")))


@pytest.mark.parametrize(
    "text",
    [
        "Café Ærø ŁÓDŹ",
        "髙﨑𠮷",
        "手びねりのマグ、ゆっくり。",
        "¥3,980 €38 £5",
        "「残り火」ー々",
        "☕🏺👩🏽‍🎨🇯🇵❤️",
        "→ ’ “ ” … –",
    ],
)
def test_letters_of_our_two_languages_are_covered(bundled: Coverage, text: str) -> None:
    """Latin, kana, kanji (the rare forms in names too), signs and emoji can be drawn."""
    assert bundled.missing(text) == ()


@pytest.mark.parametrize(
    ("text", "missing"), [("한글 mug 한", ("글", "한")), ("مرحبا", ("ا", "ب", "ح", "ر", "م")), ("简", ("简",))]
)
def test_letters_of_other_scripts_are_named(bundled: Coverage, text: str, missing: tuple[str, ...]) -> None:
    """Each missing letter is named once, in order of its code point."""
    assert bundled.missing(text) == missing


def test_spaces_joiners_and_skin_tones_need_no_glyph() -> None:
    """What the shaper handles is never missing, even with no font at all."""
    assert Coverage(code_points=frozenset()).missing(" \u00a0\u200d\ufe0f\u3000\U0001f3fd\n") == ()


def test_one_font_alone_covers_less(bundled: Coverage) -> None:
    """Inter has no kanji; together with Noto Sans JP there are."""
    inter = read_coverage([FONTS_DIR / "Inter-VF.ttf"])
    assert inter.missing("a手") == ("手",)
    assert inter.code_points < bundled.code_points


def _font(subtable: bytes, *, platform: int = 3, encoding: int = 1) -> bytes:
    cmap = struct.pack(">HHHHI", 0, 1, platform, encoding, 12) + subtable
    return struct.pack(">IHHHH", 0x10000, 1, 0, 0, 0) + struct.pack(">4sIII", b"cmap", 0, 28, len(cmap)) + cmap


def _segmented() -> bytes:
    """Return a format 4 table: A to C by delta; a, c (not b) by the glyph array; the closing segment."""
    lasts, firsts, deltas = (0x43, 0x63, 0xFFFF), (0x41, 0x61, 0xFFFF), (0, 0, 1)
    offsets = (0, 4, 0)
    body = struct.pack(">HHHH", 6, 0, 0, 0) + struct.pack(">3H", *lasts) + b"\0\0" + struct.pack(">3H", *firsts)
    body += struct.pack(">3H", *deltas) + struct.pack(">3H", *offsets) + struct.pack(">3H", 7, 0, 256)
    return struct.pack(">HHH", 4, 6 + len(body), 0) + body


def _grouped(layout: int) -> bytes:
    groups = struct.pack(">III", 0x41, 0x42, 5) + struct.pack(">III", 0x1F600, 0x1F601, 0)
    return struct.pack(">HHIII", layout, 0, 16 + len(groups), 0, 2) + groups


@pytest.mark.parametrize(
    ("font", "covered"),
    [
        (_font(_segmented()), "ABCac"),
        (_font(_grouped(12), encoding=10), "AB😀😁"),
        (_font(_grouped(13), platform=0, encoding=6), "AB"),
        (_font(_grouped(12), platform=1, encoding=0), ""),
        (struct.pack(">IHHHH", 0x10000, 0, 0, 0, 0), ""),
    ],
)
def test_each_table_format_is_read(font: bytes, covered: str, tmp_path: Path) -> None:
    """Segments, groups, many-to-one groups; an unknown table or none covers nothing."""
    file = tmp_path / "font.ttf"
    file.write_bytes(font)
    assert read_coverage([file]).code_points == frozenset(map(ord, covered))


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"ttcf", _font(_segmented())[:40], _font(_grouped(12), encoding=10)[:-9]]
)
def test_a_broken_font_is_no_crash(content: bytes, tmp_path: Path) -> None:
    """What can be read of it counts, and the other fonts count whole."""
    broken, whole = tmp_path / "broken.ttf", tmp_path / "whole.ttf"
    broken.write_bytes(content)
    whole.write_bytes(_font(_segmented()))
    assert read_coverage([broken, whole]).code_points == frozenset(map(ord, "ABCac"))


def test_every_font_of_a_collection_is_read(tmp_path: Path) -> None:
    """A .ttc file covers what its fonts cover together."""
    first, second = _font(_segmented()), _font(_grouped(12), encoding=10)
    header = b"ttcf" + struct.pack(">III", 0x10000, 2, 0)[:8] + struct.pack(">II", 20, 20 + len(first))
    moved = [_moved(first, 20), _moved(second, 20 + len(first))]
    file = tmp_path / "fonts.ttc"
    file.write_bytes(header + b"".join(moved))
    assert read_coverage([file]).code_points == frozenset(map(ord, "ABCac😀😁"))


def _moved(font: bytes, by: int) -> bytes:
    """Return the font with its table's offset counted from the start of the collection."""
    return font[:20] + struct.pack(">I", struct.unpack(">I", font[20:24])[0] + by) + font[24:]
