"""A small studio for slide tests: photos, carousels, templates, and a runner that lets coverage look in."""

from __future__ import annotations

import dataclasses
import io
import os
import struct
import zlib
from pathlib import Path

from PIL import Image

from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Language, Role, SlideText
from lamplighter.featurepost.slides.carousel import Carousel, SlideSpec
from lamplighter.host.process import Command, Finished, SystemRunner

SETTINGS = """\
contract = 1
size = [320, 400]
fonts = ["Inter", "Noto Sans JP"]
[theme]
ink = "#111111"
paper = "#ffffff"
accent = "#aa2200"
on_accent = "#ffffff"
[roles.cover]
photo = [320, 200]
text = { title = 40 }
"""
SLIDES = """\
#import "/lib/lamp.typ": *
#let cover(s, c) = { place(photo(s, c)); place(bottom, fit(s.title, height: 150*px, hi: 40*px, lo: 12*px)) }
"""


class StudioRunner:
    """Runs commands on this machine, keeps the last one, and hands coverage's own variables on."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def run(self, command: Command) -> Finished:
        """Run and remember."""
        measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
        self.commands.append(command)
        return SystemRunner().run(dataclasses.replace(command, env={**command.env, **measured}))


def paint(width: int, height: int) -> Image.Image:
    """Return a soft gradient, red from left to right, green from top to bottom."""
    red = Image.linear_gradient("L").rotate(90).resize((width, height))
    green = Image.linear_gradient("L").resize((width, height))
    return Image.merge("RGB", (red, green, Image.new("L", (width, height), 90)))


def write_photo(file: Path, *, width: int = 1080, height: int = 1350) -> Path:
    """Write a JPEG a shop could send and return its path."""
    paint(width, height).save(file, "JPEG", quality=85)
    return file


def png_of_size(width: int, height: int) -> bytes:
    """Return a PNG that says it is that large and holds nearly nothing."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0")), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def jpeg_bytes(image: Image.Image) -> bytes:
    """Return the image as a JPEG."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def slide(role: Role, photo_file: Path | None = None, **words: str) -> SlideSpec:
    """Return a slide with those words."""
    return SlideSpec(role=role, photo_file=photo_file, text=SlideText(**words))


def carousel_of(
    *slides: SlideSpec, language: Language = "en", theme: Theme | None = None, name: str = "Kibo"
) -> Carousel:
    """Return a carousel of a made-up brand."""
    return Carousel(
        slides=slides,
        brand_name=name,
        handle="@kibo",
        url="kibo.example",
        language=language,
        theme=theme or Theme(),
    )


def write_template(templates_dir: Path, *, name: str = "plain", slides: str = SLIDES, settings: str = SETTINGS) -> Path:
    """Write a template folder and return it."""
    folder_dir = templates_dir / name
    folder_dir.mkdir(parents=True)
    (folder_dir / "template.toml").write_text(settings, encoding="utf-8")
    (folder_dir / "slides.typ").write_text(slides, encoding="utf-8")
    return folder_dir
