"""Photos nobody would take: every mode, format, size, turn and damage is a good picture in its box, or our error."""

from __future__ import annotations

import io
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms
from tests.simulators.mutation import LONG, MEMORY, damaged, fuzz

from lamplighter.errors import LamplighterError
from lamplighter.featurepost.photo import BadPhoto, check_photo
from lamplighter.featurepost.slides.photo_box import PhotoRefused, box_photo

pytestmark = [
    pytest.mark.timeout(7_200 if LONG else 120),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # Pillow tells so of damaged EXIF and goes on
]
BOX = (108, 135)
KINDS = (
    ("JPEG", ("L", "RGB", "CMYK")),
    ("PNG", ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")),
    ("WEBP", ("RGB", "RGBA")),
    ("AVIF", ("RGB", "RGBA")),
    ("GIF", ("L", "P", "RGB")),
    ("TIFF", ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "I;16", "I", "F")),
)
PROFILES = (None, b"", b"no profile at all", ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())


@st.composite
def photos(draw: st.DrawFn) -> bytes:
    """Return a valid picture file."""
    form, modes = draw(st.sampled_from(KINDS))
    mode = draw(st.sampled_from(modes))
    size = (draw(st.integers(1, 90)), draw(st.integers(1, 90)))
    grain = random.Random(draw(st.integers(0, 9))).randbytes(size[0] * size[1])
    picture = Image.frombytes("L", size, grain)
    if mode == "LAB":
        picture = Image.new("LAB", size)
    elif mode == "I;16":
        picture = Image.new(mode, size, draw(st.integers(0, 65_535)))
    elif mode != "L":
        picture = picture.convert("RGB").convert(mode) if mode == "P" else picture.convert(mode)
    options: dict[str, object] = {}
    exif = Image.Exif()
    if draw(st.booleans()):
        exif[0x112] = draw(st.sampled_from((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65_535)))
        options["exif"] = exif
    profile = draw(st.sampled_from(PROFILES))
    if profile is not None:
        options["icc_profile"] = profile
    if form in {"GIF", "PNG", "WEBP"} and draw(st.booleans()):
        options |= {"save_all": True, "append_images": [picture.rotate(90), picture]}
    if form == "JPEG" and draw(st.booleans()):
        options["progressive"] = True
    stream = io.BytesIO()
    picture.save(stream, form, **options)
    return stream.getvalue()


def box(content: bytes) -> Image.Image | None:
    """Return the picture in its box, None when it is refused by an error of ours."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        file = Path(name) / "photo"
        file.write_bytes(content)
        try:
            return box_photo(file, BOX)
        except PhotoRefused as error:
            check_line(error)
            return None


def check_line(error: LamplighterError) -> None:
    """Fail unless an error is one line for a person."""
    assert str(error).isprintable()
    assert len(str(error)) < 1_000


@given(content=photos())
@fuzz(250)
def test_every_valid_picture_is_taken_and_fills_its_box(content: bytes) -> None:
    """Opaque, in RGB and exactly as large as the box, whatever it was."""
    assert check_photo(content, min_short_side=1).content == content
    picture = box(content)
    assert picture is not None
    assert (picture.mode, picture.size) == ("RGB", BOX)


@given(data=st.data(), content=photos())
@fuzz(500)
def test_every_damaged_picture_is_refused_or_fills_its_box(data: st.DataObject, content: bytes) -> None:
    """By the check and, where that lets it pass, by the drawing: one line, and no traceback."""
    content = data.draw(damaged(content))
    try:
        check_photo(content, min_short_side=1)
    except BadPhoto as error:
        check_line(error)
    picture = box(content)
    assert picture is None or (picture.mode, picture.size) == ("RGB", BOX)
