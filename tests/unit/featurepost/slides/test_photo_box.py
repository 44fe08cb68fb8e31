"""Any photo a shop may send comes to one exact box, or is refused with a reason."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from PIL import Image, ImageCms
from tests.unit.featurepost.slides.studio import jpeg_bytes, paint, png_of_size, write_photo

from lamplighter.errors import InputError
from lamplighter.featurepost.slides.photo_box import MOST_BYTES, PhotoRefused, box_photo, order_by_photo, read_pixels

BOX = (108, 135)


def _near(colour: tuple[int, ...], expected: tuple[int, int, int], *, by: int = 12) -> bool:
    return all(abs(found - wanted) <= by for found, wanted in zip(colour, expected, strict=True))


def _pixel(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    found = image.getpixel((x, y))
    assert isinstance(found, tuple)
    return found


def _corners(image: Image.Image) -> list[tuple[int, ...]]:
    width, height = image.size
    return [_pixel(image, x, y) for x in (2, width - 3) for y in (2, height - 3)]


def _saved(file: Path, image: Image.Image, **options: object) -> Path:
    save = image.save
    save(file, **options)  # type: ignore[arg-type]  # each format has options of its own
    return file


def _as_mode(mode: str) -> Image.Image:
    return paint(400, 500).convert(mode)


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("plain.jpg", paint(400, 500)),
        ("plain.png", paint(400, 500)),
        ("plain.webp", paint(400, 500)),
        ("plain.avif", paint(400, 500)),
        ("plain.tiff", paint(400, 500)),
        ("cmyk.jpg", _as_mode("CMYK")),
        ("palette.png", _as_mode("P")),
        ("palette.gif", _as_mode("P")),
        ("rgba.png", _as_mode("RGBA")),
        ("rgba.webp", _as_mode("RGBA")),
        ("progressive.jpg", paint(400, 500)),
    ],
)
def test_every_kind_of_picture_comes_out_the_same(name: str, image: Image.Image, tmp_path: Path) -> None:
    """Format and mode do not matter: the box is exact, RGB, and the colours are where they were."""
    options = {"progressive": True} if name.startswith("progressive") else {}
    boxed = box_photo(_saved(tmp_path / name, image, **options), BOX)
    assert (boxed.size, boxed.mode) == (BOX, "RGB")
    expected = _corners(paint(*BOX))
    slack = 40 if name.startswith(("palette", "cmyk")) else 16
    assert all(
        _near(found, (wanted[0], wanted[1], wanted[2]), by=slack)
        for found, wanted in zip(_corners(boxed), expected, strict=True)
    )


@pytest.mark.parametrize(("name", "mode"), [("gray.jpg", "L"), ("gray.png", "1"), ("gray-alpha.png", "LA")])
def test_grey_pictures_stay_grey(name: str, mode: str, tmp_path: Path) -> None:
    """A picture without colour gets none."""
    boxed = box_photo(_saved(tmp_path / name, _as_mode(mode)), BOX)
    red, green, blue = _pixel(boxed, 50, 60)
    assert (boxed.mode, red == green == blue) == ("RGB", True)


def test_sixteen_bits_are_scaled_not_clipped(tmp_path: Path) -> None:
    """Half of 65535 is middle grey."""
    boxed = box_photo(_saved(tmp_path / "deep.png", Image.new("I;16", (200, 250), 32768)), BOX)
    assert _near(_pixel(boxed, 50, 60), (128, 128, 128), by=2)


def test_a_float_picture_is_taken(tmp_path: Path) -> None:
    """TIFF has pixels of 32 bits too."""
    boxed = box_photo(_saved(tmp_path / "float.tiff", Image.new("F", (200, 250), 100.0)), BOX)
    assert _near(_pixel(boxed, 50, 60), (100, 100, 100), by=2)


def test_what_is_transparent_becomes_white(tmp_path: Path) -> None:
    """A product cut out of its ground stands on white."""
    image = Image.new("RGBA", (200, 250), (255, 0, 0, 0))
    image.paste((0, 0, 255, 255), (50, 50, 150, 200))
    boxed = box_photo(_saved(tmp_path / "cut.png", image), BOX)
    assert _pixel(boxed, 2, 2) == (255, 255, 255)
    assert _near(_pixel(boxed, 54, 67), (0, 0, 255))


@pytest.mark.parametrize("name", ["moving.gif", "moving.webp"])
def test_only_the_first_frame_of_a_moving_picture_counts(name: str, tmp_path: Path) -> None:
    """The second frame is blue and never seen."""
    frames = [Image.new("RGB", (200, 250), colour) for colour in ((250, 0, 0), (0, 0, 250))]
    boxed = box_photo(_saved(tmp_path / name, frames[0], save_all=True, append_images=frames[1:]), BOX)
    assert _near(_pixel(boxed, 50, 60), (250, 0, 0))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_camera_held_any_way_gives_an_upright_photo(orientation: int, tmp_path: Path) -> None:
    """EXIF orientations 1 to 8, by Pillow's own turning back."""
    back = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    upright = paint(400, 500)
    held = upright.transpose(back[orientation]) if orientation in back else upright
    exif = Image.Exif()
    exif[0x112] = orientation
    boxed = box_photo(_saved(tmp_path / "held.jpg", held, exif=exif, quality=95), BOX)
    assert boxed.size == BOX
    for found, wanted in zip(_corners(boxed), _corners(paint(*BOX)), strict=True):
        assert _near(found, (wanted[0], wanted[1], wanted[2]))


@pytest.mark.parametrize(("width", "height"), [(2000, 250), (250, 2000), (40, 30), (108, 135), (1, 1)])
def test_any_shape_fills_the_box(width: int, height: int, tmp_path: Path) -> None:
    """Wide, tall and tiny photos are cropped or enlarged, never letterboxed."""
    boxed = box_photo(write_photo(tmp_path / "odd.jpg", width=width, height=height), BOX)
    assert boxed.size == BOX


def test_a_colour_profile_is_honoured(tmp_path: Path) -> None:
    """A file whose profile calls the first channel blue shows blue where its numbers say red."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    swapped = profile.replace(b"rXYZ", b"????", 1).replace(b"bXYZ", b"rXYZ", 1).replace(b"????", b"bXYZ", 1)
    red = Image.new("RGB", (400, 500), (250, 0, 0))
    boxed = box_photo(_saved(tmp_path / "swapped.png", red, icc_profile=swapped), BOX)
    assert _near(_pixel(boxed, 54, 67), (0, 0, 250))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "CMYK", "L", "P"])
def test_a_broken_colour_profile_is_left_aside(mode: str, tmp_path: Path) -> None:
    """The numbers are then taken as sRGB; the photo is not lost."""
    name = "broken.jpg" if mode == "CMYK" else "broken.png"
    boxed = box_photo(_saved(tmp_path / name, _as_mode(mode), icc_profile=b"not a profile"), BOX)
    assert boxed.size == BOX


def test_transparency_survives_a_colour_profile(tmp_path: Path) -> None:
    """An RGBA picture with a profile keeps its holes until they are filled with white."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    file = _saved(tmp_path / "cut.png", Image.new("RGBA", (200, 250), (255, 0, 0, 0)), icc_profile=profile)
    assert _pixel(box_photo(file, BOX), 50, 60) == (255, 255, 255)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"<html><title>403 Forbidden</title>", "it is not a picture but text: <html><title>403 Forbidden</title>"),
        (b'\n {"error": "gone"}', 'it is not a picture but text: {"error": "gone"}'),
        (b"", "it is empty"),
        (b"\x00\x01\x02\x03" * 30, "it is not a picture"),
        (b"\x00\x00\x00\x18ftypheic" + b"\0" * 40, "HEIC"),
        (jpeg_bytes(paint(400, 500))[:4000], "it is damaged: "),
        (png_of_size(300, 300), "it is damaged: "),
        (png_of_size(9000, 9000), "9000x9000 is more than 50,000,000 pixels"),
        (png_of_size(12000, 12000), "more than 50,000,000 pixels"),
        (png_of_size(30000, 30000), "more than 50,000,000 pixels"),
    ],
)
def test_what_is_no_whole_picture_is_refused_with_the_reason(content: bytes, cause: str, tmp_path: Path) -> None:
    """An error page, a cut download and a pixel bomb each say what they are, before a pixel of them is decoded."""
    file = tmp_path / "photo.jpg"
    file.write_bytes(content)
    with pytest.raises(PhotoRefused) as caught:
        box_photo(file, BOX)
    assert cause in caught.value.cause


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
def test_a_cut_download_is_never_half_a_photo(keep: float, tmp_path: Path) -> None:
    """However late the download broke, it is refused rather than shown with a grey area."""
    content = jpeg_bytes(paint(800, 1000))
    file = tmp_path / "cut.jpg"
    file.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(PhotoRefused, match="damaged"):
        box_photo(file, BOX)


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    """40 MB are the most."""
    file = tmp_path / "fat.jpg"
    with file.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)
    with pytest.raises(InputError, match="larger than 40,000,000 bytes"):
        box_photo(file, BOX)


def test_a_missing_photo_and_a_folder_say_so(tmp_path: Path) -> None:
    """The cause is in the person's words."""
    with pytest.raises(InputError, match="there is no such photo"):
        box_photo(tmp_path / "none.jpg", BOX)
    with pytest.raises(InputError, match="this is a folder"):
        box_photo(tmp_path, BOX)


@pytest.mark.parametrize("kind", ["BMP", "PPM", "ICO", "PCX"])
def test_formats_no_shop_sends_are_refused(kind: str, tmp_path: Path) -> None:
    """Fewer decoders, fewer holes."""
    buffer = io.BytesIO()
    paint(64, 64).save(buffer, kind)
    file = tmp_path / "odd.jpg"
    file.write_bytes(buffer.getvalue())
    with pytest.raises(PhotoRefused, match="it is not a picture"):
        box_photo(file, BOX)


def test_a_device_is_not_read_as_a_photo() -> None:
    """Only regular files are."""
    with pytest.raises(InputError, match="not a regular file"):
        box_photo(Path(os.devnull), BOX)


def test_pixels_are_the_boxed_photo_blue_first(tmp_path: Path) -> None:
    """As PDFium has them, three bytes a pixel, row by row."""
    file = _saved(tmp_path / "red.png", Image.new("RGB", BOX, (200, 100, 50)))
    pixels = read_pixels(file, BOX)
    assert (pixels.size, pixels.content) == (BOX, bytes((50, 100, 200)) * (BOX[0] * BOX[1]))


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ((), ()),
        (((10, 10), (20, 20), (10, 20)), (1, 2, 0)),
        (((10, 20), None, (20, 10), (30, 30)), (3, 0, 2, 1)),
    ],
)
def test_the_largest_photo_comes_first(boxes: tuple[tuple[int, int] | None, ...], order: tuple[int, ...]) -> None:
    """Then the next, equal ones as they stand, slides without a photo last."""
    assert order_by_photo(boxes) == order
