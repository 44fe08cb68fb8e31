"""The slides by Pillow alone, every line set by hand: the same design and words, less the emoji, which it cannot draw.

Pillow draws no glyph of a COLR font, which the bundled emoji font is; what it leaves out is in its favour.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import budoux
from bench.peers.errand import (
    ACCENT,
    BRAND,
    HANDLE,
    INK,
    INTER,
    NOTO,
    ON_ACCENT,
    PAPER,
    QUALITY,
    QUIET,
    SHADE,
    SIZE,
    URL,
    Errand,
    Words,
    compose_words,
    serve,
)
from PIL import Image, ImageDraw, ImageFont, ImageOps

WIDTH, HEIGHT = SIZE
_MARGIN, _INNER, _LOW, _GROUND = 80, 920, 188, 1140
_JAPANESE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_EMOJI = re.compile("[\U0001f000-\U0001faff\ufe0f]")
_RUN = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]+|[^\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]+")
_NOT_AT_START = "、。，．」』）！？ー"
_BASELINE = 0.94  # where a line of letters stands below its top, in its size


@functools.cache
def load_font(file: Path, size: int, weight: int) -> ImageFont.FreeTypeFont:
    """Return a font at a size and a weight."""
    font = ImageFont.truetype(file, size)
    font.set_variation_by_axes([min(32, max(14, size)), weight] if file == INTER else [weight])
    return font


@functools.cache
def japanese_parser() -> budoux.Parser:
    """Return the model that finds phrases."""
    return budoux.load_default_japanese_parser()


class Text:
    """A text at one size and weight: its width, its lines."""

    def __init__(self, text: str, size: int, weight: int) -> None:
        self.text = _EMOJI.sub("", text)
        self.size = size
        self.weight = weight

    def _runs(self, line: str) -> Iterator[tuple[str, ImageFont.FreeTypeFont]]:
        for run in _RUN.findall(line):
            yield run, load_font(NOTO if _JAPANESE.match(run) else INTER, self.size, self.weight)

    def width(self, line: str) -> float:
        """Return the width of a line in pixels."""
        return sum(font.getlength(run) for run, font in self._runs(line))

    def lines(self, room: float) -> list[str]:
        """Return the text in lines no wider than `room`, broken between phrases."""
        lines = [""]
        for phrase in split_phrases(self.text):
            if lines[-1] and self.width((lines[-1] + phrase).rstrip()) > room:
                lines.append("")
            lines[-1] += phrase
        return [line.rstrip() for line in lines]

    def draw(self, draw: ImageDraw.ImageDraw, x: float, y: float, line: str, fill: str) -> None:
        """Draw a line from its left edge and the top of its letters."""
        for run, font in self._runs(line):
            draw.text((x, y + _BASELINE * self.size), run, font=font, fill=fill, anchor="ls")
            x += font.getlength(run)


@functools.cache
def split_phrases(text: str) -> tuple[str, ...]:
    """Return the pieces a line may be made of."""
    phrases: list[str] = []
    for word in re.findall(r"\S+\s*", text):
        for part in japanese_parser().parse(word) if _JAPANESE.search(word) else [word]:
            if phrases and part[0] in _NOT_AT_START:
                phrases[-1] += part
            else:
                phrases.append(part)
    return tuple(phrases)


class Block:
    """A text as large as fits its box, its lines evened out."""

    def __init__(self, text: str, height: int, most: int, least: int, *, heading: bool) -> None:
        japanese = bool(_JAPANESE.search(text))
        weight = (700 if japanese else 800) if heading else 400
        self._lead = (1.3 if japanese else 1.07) if heading else (1.62 if japanese else 1.36)
        size = round(most * ((0.84 if heading else 0.92) if japanese else 1))
        while True:
            self._text = Text(text, size, weight)
            self._lines = self._text.lines(_INNER)
            fits = all(self._text.width(line) <= _INNER for line in self._lines)
            if size <= least or (fits and self.height <= height):
                break
            size -= 2
        self._lines = self._balanced()

    @property
    def height(self) -> int:
        """Return the height of all lines."""
        return round(len(self._lines) * self._text.size * self._lead)

    def _balanced(self) -> list[str]:
        """Return the lines in the narrowest box that needs no further line."""
        least, most, count = _INNER * 0.4, float(_INNER), len(self._lines)
        for _ in range(6):
            middle = (least + most) / 2
            if len(self._text.lines(middle)) <= count:
                most = middle
            else:
                least = middle
        return self._text.lines(most)

    def draw(self, draw: ImageDraw.ImageDraw, y: float, fill: str) -> None:
        """Draw the lines from `y` down."""
        for number, line in enumerate(self._lines):
            self._text.draw(draw, _MARGIN, y + number * self._text.size * self._lead, line, fill)


def read_photo(file: str, height: int) -> Image.Image:
    """Return a photo that fills the slide's width and `height`."""
    with Image.open(file) as photo:
        photo.draft("RGB", (WIDTH, height))
        return ImageOps.fit(photo.convert("RGB"), (WIDTH, height), method=Image.Resampling.HAMMING)


def make_veil(reach: int) -> Image.Image:
    """Return the darkness under words that begin `reach` above the bottom edge."""
    top = min(HEIGHT - reach, _GROUND - 60)
    stops = ((top - 260, 0.0), (top - 172, 0.14), (top - 78, 0.4), (top, 0.62), ((top + _GROUND) / 2, 0.886))
    points = ((0.0, 0.0), *stops, (float(_GROUND), 1.0), (float(HEIGHT), 1.0))
    column = Image.new("L", (1, HEIGHT))
    for (start, dark), (end, darker) in itertools.pairwise(points):
        for y in range(round(start), round(end)):
            column.putpixel((0, y), round(255 * (dark + (darker - dark) * (y - start) / (end - start))))
    return column.resize(SIZE)


def draw_pill(
    draw: ImageDraw.ImageDraw, text: Text, left: float, top: float, inset: tuple[int, int], *, radius: int
) -> None:
    """Draw words on the accent."""
    right, bottom = left + text.width(text.text) + 2 * inset[0], top + 1.2 * text.size + 2 * inset[1]
    draw.rounded_rectangle((left, top, right, bottom), radius, fill=ACCENT)
    text.draw(draw, left + inset[0], top + inset[1], text.text, ON_ACCENT)


def draw_foot(draw: ImageDraw.ImageDraw, place: tuple[int, int], colours: tuple[str, str], mark: Text | None) -> None:
    """Draw how far the reader is, and a mark on the right."""
    x, y = _MARGIN, HEIGHT - 92
    (index, count), (on, off) = place, colours
    for number in range(count):
        width = 41 if number == index else 12
        draw.rounded_rectangle((x, y, x + width, y + 12), 6, fill=on if number == index else off)
        x += width + 12
    if mark is not None:
        colour = QUIET if on == ACCENT else ON_ACCENT
        mark.draw(draw, WIDTH - _MARGIN - mark.width(mark.text), y + 6 - 0.6 * mark.size, mark.text, colour)
        return
    middle = HEIGHT - 86
    draw.ellipse((924, middle - 38, 1000, middle + 38), fill=ON_ACCENT)
    draw.line((948, middle, 976, middle), fill=SHADE, width=4)
    draw.line((965, middle - 11, 976, middle, 965, middle + 11), fill=SHADE, width=4, joint="curve")


def make_full(words: Words, photo: str, index: int, count: int) -> Image.Image:
    """Return a cover or a closing slide: a photo that fades into the dark, words at its foot."""
    cover = words.role == "cover"
    title = Block(words.title, 420 if cover else 480, 116 if cover else 108, 50, heading=True)
    below = Block(words.subtitle or words.body, 150, 38, 26, heading=False)
    above, under = (70, 0) if cover else (0, 128)
    high = above + title.height + 32 + below.height + under
    image = Image.new("RGB", SIZE, SHADE)
    image.paste(read_photo(photo, _GROUND))
    image.paste(Image.new("RGB", SIZE, SHADE), mask=make_veil(high + _LOW))
    draw = ImageDraw.Draw(image)
    y = HEIGHT - _LOW - high
    if cover:
        kicker = Text(words.kicker, 26, 700)
        draw_pill(draw, kicker, _MARGIN, y, (20, 7), radius=10)
        brand = Text(BRAND, 27, 700)
        brand.draw(draw, _MARGIN + kicker.width(kicker.text) + 62, y + 7, BRAND, ON_ACCENT)
    title.draw(draw, y + above, ON_ACCENT)
    below.draw(draw, y + above + title.height + 32, ON_ACCENT)
    if not cover:
        draw_pill(draw, Text(HANDLE, 40, 700), _MARGIN, y + high - 84, (40, 18), radius=42)
    draw_foot(draw, (index, count), (ON_ACCENT, "#777777"), None if cover else Text(URL, 26, 500))
    return image


def make_plain(words: Words, photo: str, index: int, count: int) -> Image.Image:
    """Return a product or a detail: a photo above, words on a plain ground below."""
    product = words.role == "product"
    photo_height, space = (850, 54) if product else (700, 64)
    image = Image.new("RGB", SIZE, PAPER if product else ACCENT)
    image.paste(read_photo(photo, photo_height))
    draw = ImageDraw.Draw(image)
    if product:
        title = Block(words.name, 150, 74, 34, heading=True)
        below = Block(words.note, 138, 38, 25, heading=False)
        price = Text(words.price, 48, 700)
        draw_pill(draw, price, WIDTH - _MARGIN - price.width(price.text) - 68, 806, (34, 14), radius=42)
    else:
        title = Block(words.title, 180, 84, 40, heading=True)
        below = Block(words.body, 240, 44, 26, heading=False)
    title.draw(draw, photo_height + space, INK if product else ON_ACCENT)
    below.draw(draw, photo_height + space + title.height + 30, QUIET if product else ON_ACCENT)
    colours = (ACCENT, "#e3bfb0") if product else (ON_ACCENT, "#cf8574")
    draw_foot(draw, (index, count), colours, Text(BRAND, 27, 700))
    return image


def make(errand: Errand) -> None:
    """Make the pictures of an errand."""
    slides = compose_words(errand.turn)
    for index, (words, photo) in enumerate(zip(slides, errand.photos, strict=True)):
        compose = make_full if words.role in {"cover", "closing"} else make_plain
        image = compose(words, photo, index, len(slides))
        image.save(Path(errand.output_dir) / f"{index + 1}.jpg", "JPEG", quality=QUALITY, subsampling=0)


if __name__ == "__main__":
    serve(make)
