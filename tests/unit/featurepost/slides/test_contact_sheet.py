"""The contact sheet has every slide in its place, labels beside them, and red where something does not fit."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from lamplighter.featurepost.slides.contact_sheet import Cell, Column, Row, Sheet, choose_cell, render_sheet


def _sheet(*rows: Row, columns: int = 2) -> Sheet:
    heads = tuple(Column(head=f"head {number}", group="English" if number == 0 else "") for number in range(columns))
    return Sheet(title="Template plain", about="320 × 400", columns=heads, rows=rows, cell=(80, 100))


def _slide(colour: str) -> Cell:
    return Cell(image=Image.new("RGB", (80, 100), colour))


def _draw(sheet: Sheet) -> Image.Image:
    image = Image.open(io.BytesIO(render_sheet(sheet, as_png=True)))
    image.load()
    return image.convert("RGB")


def _count(image: Image.Image, colour: tuple[int, int, int]) -> int:
    return sum(count for count, found in image.getcolors(maxcolors=2**24) or [] if found == colour)


def test_every_slide_is_on_the_sheet() -> None:
    """Whole, once each, and the empty cell has words instead."""
    image = _draw(
        _sheet(
            Row(label="first", about="a row", cells=(_slide("#ff0000"), _slide("#00ff00"))),
            Row(label="second", about="", cells=(_slide("#0000ff"), Cell(note="never shown without a photo"))),
        )
    )
    assert [_count(image, colour) for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255))] == [8000, 8000, 8000]
    assert _count(image, (0xEA, 0xE6, 0xDF)) > 4000


def test_what_does_not_fit_is_red() -> None:
    """A frame around the slide, and words below it that make the row taller."""
    plain = _draw(_sheet(Row(label="row", about="", cells=(_slide("#00ff00"), _slide("#00ff00")))))
    marked_cell = Cell(image=Image.new("RGB", (80, 100), "#00ff00"), mark="title: +44 px, body: word cut")
    marked = _draw(_sheet(Row(label="row", about="", cells=(_slide("#00ff00"), marked_cell))))
    red = (0xC0, 0x28, 0x1E)
    assert (_count(plain, red), _count(marked, red) > 1000) == (0, True)
    assert marked.height > plain.height


def test_long_labels_make_room_for_themselves() -> None:
    """A row is as tall as its label, whatever the size of a slide."""
    short = _draw(_sheet(Row(label="row", about="", cells=(_slide("#00ff00"),))))
    long = _draw(
        _sheet(Row(label="a label of many words " * 3, about="told at length " * 9, cells=(_slide("#00ff00"),)))
    )
    assert long.height > short.height + 100


def test_a_sheet_without_labels_has_no_column_for_them() -> None:
    """As a preview has none."""
    cells = tuple(_slide("#00ff00") for _ in range(6))
    with_labels = _draw(_sheet(Row(label="row", about="", cells=cells), columns=6))
    without = _draw(_sheet(Row(label="", about="", cells=cells), columns=6))
    assert without.width < with_labels.width


def test_a_sheet_is_a_jpeg_unless_it_is_to_be_a_png() -> None:
    """And the same bytes every time."""
    sheet = _sheet(Row(label="row", about="", cells=(_slide("#00ff00"),)))
    for as_png, kind in ((False, "JPEG"), (True, "PNG")):
        content = render_sheet(sheet, as_png=as_png)
        with Image.open(io.BytesIO(content)) as image:
            assert image.format == kind
        assert content == render_sheet(sheet, as_png=as_png)


@pytest.mark.parametrize(
    ("size", "cell"),
    [((1080, 1350), (270, 338)), ((1080, 4000), (113, 420)), ((4096, 16), (270, 1)), ((100, 100), (100, 100))],
)
def test_a_small_slide_keeps_its_shape(size: tuple[int, int], cell: tuple[int, int]) -> None:
    """Within both measures, and never enlarged."""
    assert choose_cell(size, width=270, height=420) == cell
