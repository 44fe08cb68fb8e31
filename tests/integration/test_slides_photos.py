"""Photos in slides: they come through as they were boxed, wherever a template shows them as a picture."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.unit.featurepost.slides.studio import StudioRunner, carousel_of, slide, write_photo, write_template

from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.carousel import RenderError
from lamplighter.featurepost.slides.photo_box import box_photo
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import find_template

IMPORT = '#import "/lib/lamp.typ": *\n'


def draw(code: str, tmp_path: Path, *, slides: int = 1) -> tuple[Image.Image, ...]:
    """Return the slides of a template whose cover is `code`, each with a photo of its own brightness."""
    write_template(tmp_path / "templates", slides=f"{IMPORT}#let cover(s, c) = {{ {code} }}")
    photos = [write_photo(tmp_path / f"{number}.jpg", width=320 + 40 * number) for number in range(slides)]
    renderer = Renderer(runner=StudioRunner(), deadline=timedelta(seconds=60))
    carousel = carousel_of(*(slide(Role.COVER, photo) for photo in photos))
    made = renderer.render(carousel, find_template("plain", tmp_path / "templates"), tmp_path / "out")
    contents = [(tmp_path / "out" / picture.file).read_bytes() for picture in made.pictures]
    return tuple(Image.open(io.BytesIO(content)) for content in contents)


def difference(image: Image.Image, other: Image.Image) -> float:
    """Return how far two pictures of one size are apart on the average, 0 to 255."""
    pairs = (np.asarray(side.convert("RGB"), dtype=np.int16) for side in (image, other))
    first, second = pairs
    return float(np.abs(first - second).mean())


def test_a_photo_comes_through_as_it_was_boxed(tmp_path: Path) -> None:
    """Its pixels are coded once, in the finished picture, so what was made of it is seen unchanged."""
    (made,) = draw("place(photo(s, c, width: 320*px, height: 200*px))", tmp_path)
    boxed = box_photo(tmp_path / "0.jpg", (320, 200))
    assert difference(made.crop((0, 0, 320, 200)), boxed) < 1.0


def test_each_slide_shows_its_own_photo(tmp_path: Path) -> None:
    """Photos of one size are told apart, whichever is ready first."""
    made = draw("place(photo(s, c, width: 320*px, height: 200*px))", tmp_path, slides=4)
    for number, picture in enumerate(made):
        boxed = box_photo(tmp_path / f"{number}.jpg", (320, 200))
        assert difference(picture.crop((0, 0, 320, 200)), boxed) < 1.0


@pytest.mark.parametrize(
    "code",
    [
        "photo(s, c, width: 320*px, height: 200*px); photo(s, c, width: 320*px, height: 200*px)",
        "block(clip: true, radius: 40*px, photo(s, c, width: 320*px, height: 400*px))",
        "rotate(20deg, photo(s, c, width: 320*px, height: 400*px))",
        "scale(60%, photo(s, c, width: 320*px, height: 400*px))",
        'image(s.photo, width: 100%, height: 100%, fit: "stretch")',
    ],
    ids=["twice", "rounded", "turned", "shrunk", "stretched"],
)
def test_a_template_may_do_with_its_photo_what_it_likes(code: str, tmp_path: Path) -> None:
    """None of it leaves the blank that stood in for the photo, which is black where the photo never is."""
    (made,) = draw(code, tmp_path)
    pixels = np.asarray(made.convert("RGB"))
    assert pixels[:, :, 2].min() > 60
    assert (np.abs(pixels[:, :, 2].astype(int) - 90) < 12).mean() > 0.25


def test_a_photo_as_a_pattern_is_refused_rather_than_left_blank(tmp_path: Path) -> None:
    """PDFium lets nobody exchange a picture inside a pattern; the line says what to do instead."""
    code = "rect(width: 320*px, height: 400*px, fill: tiling(size: (80*px, 50*px), image(s.photo, width: 80*px)))"
    with pytest.raises(RenderError) as caught:
        draw(code, tmp_path)
    assert (
        str(caught.value)
        == "template plain: slide 1: its photo is a pattern or on another page; show it by photo(s, c)"
    )
