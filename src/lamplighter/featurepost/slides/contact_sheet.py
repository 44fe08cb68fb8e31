"""The contact sheet: many slides on one picture, in labelled rows, with a mark where something does not fit."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

_FONT_FILE = Path(__file__).parent / "fonts" / "Inter-VF.ttf"
_QUALITY = 90
_PAPER, _INK, _QUIET, _LINE, _EMPTY, _RED = "#f4f2ee", "#1c1a18", "#77716a", "#d9d4cc", "#eae6df", "#c0281e"
_MARGIN, _GAP, _GROUP_GAP, _ROW_GAP = 48, 14, 34, 30
_LABEL_WIDTH = 250
_SIZES = {"title": 44, "head": 19, "label": 23, "small": 17}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One slide, or the words that say why there is none; `mark` names what does not fit on it."""

    image: Image.Image | None = None
    note: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of cells under a label."""

    label: str
    about: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its heading, and the heading of the group that begins with it ("" inside a group)."""

    head: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A whole sheet; `cell` is the size of a small slide in pixels."""

    title: str
    about: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cell: tuple[int, int]


def choose_cell(size: tuple[int, int], *, width: int, height: int) -> tuple[int, int]:
    """Return the size of a small slide that fits both measures, in the shape of a slide of `size`."""
    scale = min(width / size[0], height / size[1], 1.0)
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def render_sheet(sheet: Sheet, *, as_png: bool = False) -> bytes:
    """Return the sheet as a JPEG, or as a PNG."""
    image = _Drawing(sheet).draw()
    buffer = io.BytesIO()
    if as_png:
        image.save(buffer, "PNG")
    else:
        image.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


class _Drawing:
    """Lays a sheet out from top to bottom."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._fonts = {name: _load_font(size, bold=name in {"title", "label"}) for name, size in _SIZES.items()}
        self._label_width = _LABEL_WIDTH if any(row.label for row in sheet.rows) else 0
        self._lefts = self._place_columns()
        self._marks = [max((self._mark_lines(cell) for cell in row.cells), key=len, default=[]) for row in sheet.rows]
        self._top = _MARGIN + 64 + 34 + (58 if any(column.head for column in sheet.columns) else 0)

    def draw(self) -> Image.Image:
        width = max(self._lefts[-1] + self._sheet.cell[0], 700) + _MARGIN
        heights = [self._row_height(row, marks) for row, marks in zip(self._sheet.rows, self._marks, strict=True)]
        height = self._top + sum(heights) + _ROW_GAP * len(heights) + _MARGIN - _ROW_GAP
        image = Image.new("RGB", (width, height), _PAPER)
        pen = ImageDraw.Draw(image)
        pen.text((_MARGIN, _MARGIN - 8), self._sheet.title, font=self._fonts["title"], fill=_INK)
        pen.text((_MARGIN, _MARGIN + 52), self._sheet.about, font=self._fonts["head"], fill=_QUIET)
        self._draw_heads(pen)
        top = self._top
        for row, height in zip(self._sheet.rows, heights, strict=True):
            self._draw_row(image, pen, row, top)
            top += height + _ROW_GAP
        return image

    def _place_columns(self) -> list[int]:
        lefts: list[int] = []
        left = _MARGIN + self._label_width
        for number, column in enumerate(self._sheet.columns):
            left += _GROUP_GAP - _GAP if column.group and number else 0
            lefts.append(left)
            left += self._sheet.cell[0] + _GAP
        return lefts

    def _draw_heads(self, pen: ImageDraw.ImageDraw) -> None:
        for left, column in zip(self._lefts, self._sheet.columns, strict=True):
            if column.group:
                pen.text((left, self._top - 66), column.group, font=self._fonts["label"], fill=_INK)
            pen.text((left, self._top - 34), column.head, font=self._fonts["head"], fill=_QUIET)

    def _row_height(self, row: Row, marks: list[str]) -> int:
        label = 30 * len(self._label_lines(row)) + 23 * len(self._about_lines(row))
        return max(self._sheet.cell[1] + (8 + 22 * len(marks) if marks else 0), label if self._label_width else 0)

    def _draw_row(self, image: Image.Image, pen: ImageDraw.ImageDraw, row: Row, top: int) -> None:
        line = top
        for text in self._label_lines(row):
            pen.text((_MARGIN, line), text, font=self._fonts["label"], fill=_INK)
            line += 30
        for text in self._about_lines(row):
            pen.text((_MARGIN, line + 4), text, font=self._fonts["small"], fill=_QUIET)
            line += 23
        for left, cell in zip(self._lefts, row.cells, strict=False):
            self._draw_cell(image, pen, cell, (left, top))

    def _draw_cell(self, image: Image.Image, pen: ImageDraw.ImageDraw, cell: Cell, place: tuple[int, int]) -> None:
        left, top = place
        width, height = self._sheet.cell
        if cell.image is None:
            pen.rectangle((left, top, left + width - 1, top + height - 1), fill=_EMPTY, outline=_LINE)
            for number, text in enumerate(_wrap(cell.note, self._fonts["small"], width - 32)):
                pen.text((left + 16, top + 16 + 23 * number), text, font=self._fonts["small"], fill=_QUIET)
            return
        image.paste(cell.image, (left, top))
        outline = (left - 1, top - 1, left + width, top + height)
        pen.rectangle(outline, outline=_RED if cell.mark else _LINE, width=1)
        if cell.mark:
            pen.rectangle((left - 4, top - 4, left + width + 3, top + height + 3), outline=_RED, width=3)
        for number, text in enumerate(self._mark_lines(cell)):
            pen.text((left, top + height + 8 + 22 * number), text, font=self._fonts["small"], fill=_RED)

    def _label_lines(self, row: Row) -> list[str]:
        return _wrap(row.label, self._fonts["label"], _LABEL_WIDTH - 28)

    def _about_lines(self, row: Row) -> list[str]:
        return _wrap(row.about, self._fonts["small"], _LABEL_WIDTH - 28)

    def _mark_lines(self, cell: Cell) -> list[str]:
        return _wrap(cell.mark, self._fonts["small"], self._sheet.cell[0])


def _load_font(size: int, *, bold: bool) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(str(_FONT_FILE), size, layout_engine=ImageFont.Layout.BASIC)
    font.set_variation_by_axes([32 if size > 30 else 14, 650 if bold else 450])
    return font


def _wrap(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """Return the lines of a text; a word wider than that stays whole."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
