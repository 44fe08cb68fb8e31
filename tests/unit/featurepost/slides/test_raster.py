"""Pages become JPEG files Instagram takes, and the same ones every time."""

from __future__ import annotations

import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageCms
from tests.unit.featurepost.slides.studio import paint

from lamplighter.featurepost.slides.carousel import RenderError
from lamplighter.featurepost.slides.raster import make_profile, make_stand_in, write_picture, write_pictures


def _pdf(*sizes: tuple[int, int]) -> bytes:
    document = pypdfium2.PdfDocument.new()
    for width, height in sizes:
        document.new_page(width, height)
    buffer = io.BytesIO()
    document.save(buffer)
    document.close()
    return buffer.getvalue()


def test_the_profile_is_srgb_and_does_not_say_when_it_was_made() -> None:
    """The date of a profile would make each picture another one."""
    profile = make_profile()
    assert profile == make_profile()
    assert profile[24:36] == bytes((0x07, 0xEA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0))
    assert "sRGB" in ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(profile)))


def test_each_page_becomes_one_baseline_jpeg(tmp_path: Path) -> None:
    """Exact size, RGB, full chroma, sRGB embedded, no EXIF; size and hash are told."""
    with ThreadPoolExecutor(2) as executor:
        pictures = write_pictures(
            _pdf((320, 400), (320, 400)), tmp_path, size=(320, 400), photos=(None, None), subject="t", executor=executor
        )
    assert [picture.file for picture in pictures] == ["slide-1.jpg", "slide-2.jpg"]
    for picture in pictures:
        content = (tmp_path / picture.file).read_bytes()
        assert (picture.size_bytes, picture.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        with Image.open(io.BytesIO(content)) as image:
            assert (image.format, image.size, image.mode) == ("JPEG", (320, 400), "RGB")
            assert "progressive" not in image.info
            assert "exif" not in image.info
            assert image.info["icc_profile"] == make_profile()
            assert [component[1:3] for component in image.layer] == [(1, 1)] * 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sizes", "cause"),
    [
        (((320, 400),), "it made 1 pages of 2 slides"),
        (((320, 400),) * 3, "it made 3 pages of 2 slides"),
        (((320, 400), (400, 320)), "page 2 is 400x320, not 320x400"),
    ],
)
def test_pages_that_were_not_asked_for_are_refused_before_one_is_drawn(
    sizes: tuple[tuple[int, int], ...], cause: str, tmp_path: Path
) -> None:
    """Count and size of all pages are checked first; nothing is written."""
    with ThreadPoolExecutor(1) as executor, pytest.raises(RenderError, match=cause):
        write_pictures(
            _pdf(*sizes), tmp_path, size=(320, 400), photos=(None, None), subject="template x", executor=executor
        )
    assert list(tmp_path.iterdir()) == []


def test_a_picture_too_large_at_the_best_quality_is_saved_at_a_lower_one(tmp_path: Path) -> None:
    """Noise hardly shrinks; below 8 MB it must come all the same."""
    noise = Image.merge("RGB", [Image.effect_noise((2100, 2100), 200 + k) for k in range(3)])
    picture = write_picture(noise, tmp_path / "slide-1.jpg", make_profile())
    best = io.BytesIO()
    noise.save(best, "JPEG", quality=92, subsampling=0)
    assert picture.size_bytes < 8_000_000 < len(best.getvalue())


def test_a_picture_too_large_at_any_quality_is_refused(tmp_path: Path) -> None:
    """It is said rather than sent."""
    noise = Image.merge("RGB", [Image.effect_noise((3000, 3000), 220 + k) for k in range(3)])
    with pytest.raises(RenderError, match="slide 1: the picture is larger than 8,000,000 bytes"):
        write_picture(noise, tmp_path / "slide-1.jpg", make_profile())


def test_the_bytes_repeat(tmp_path: Path) -> None:
    """The same picture twice is the same file."""
    first = write_picture(paint(200, 250), tmp_path / "slide-1.jpg", make_profile())
    second = write_picture(paint(200, 250), tmp_path / "slide-2.jpg", make_profile())
    assert first.sha256 == second.sha256


def test_a_picture_with_a_spare_byte_a_pixel_is_the_same_file(tmp_path: Path) -> None:
    """PDFium draws four bytes a pixel, and Pillow writes three of them."""
    picture = paint(200, 250)
    first = write_picture(picture, tmp_path / "slide-1.jpg", make_profile())
    second = write_picture(picture.convert("RGBX"), tmp_path / "slide-2.jpg", make_profile())
    assert first.sha256 == second.sha256


def test_stand_ins_have_the_photos_size_and_differ_by_number() -> None:
    """The typesetter needs the size, the raster must tell them apart."""
    first, second = (make_stand_in(number, (320, 200)) for number in (1, 2))
    assert first != second
    with Image.open(io.BytesIO(first)) as image:
        assert (image.format, image.size) == ("JPEG", (320, 200))
