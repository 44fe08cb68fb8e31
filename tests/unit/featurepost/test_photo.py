"""The check of pictures: good ones of every kind, and every way to be none, without decoding a pixel."""

from __future__ import annotations

import contextlib
import io
import struct
import warnings
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lamplighter.featurepost.photo import BadPhoto, Photo, check_photo


def picture(
    kind: str = "JPEG", size: tuple[int, int] = (800, 600), *, mode: str = "RGB", orientation: int = 0
) -> bytes:
    """Return a picture with some content in it, so that its bytes are many."""
    canvas = Image.radial_gradient("L").resize(size).convert(mode)
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    out = io.BytesIO()
    canvas.save(out, kind, exif=exif)
    return out.getvalue()


def animation(kind: str) -> bytes:
    """Return two frames."""
    frames = [Image.new("RGB", (640, 640), colour) for colour in ("red", "blue")]
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:])
    return out.getvalue()


def png_claiming(width: int, height: int) -> bytes:
    """Return a small PNG whose header claims a size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(bytes(10_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF", "GIF", "TIFF"])
def test_a_whole_picture_of_a_known_kind_is_taken_as_it_is(kind: str) -> None:
    """The format is found in the bytes, which stay what they are."""
    assert check_photo(picture(kind)) == Photo(content=picture(kind), format=kind)


@pytest.mark.parametrize("mode", ["L", "CMYK", "RGB"])
def test_a_jpeg_in_any_colour_space_is_fine(mode: str) -> None:
    """Print pictures come in CMYK."""
    assert check_photo(picture(mode=mode)).format == "JPEG"


def test_a_picture_with_transparency_is_fine() -> None:
    """What to do with it is the renderer's business."""
    assert check_photo(picture("PNG", mode="RGBA")).format == "PNG"


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_a_picture_lying_on_its_side_is_fine(kind: str) -> None:
    """The short side is the short side, however a camera was held."""
    assert check_photo(picture(kind, orientation=6)).format == kind


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "MPO"])
def test_several_frames_in_one_file_are_fine(kind: str) -> None:
    """It may still serve as a still picture, by its first frame; MPO is a JPEG with a second view behind it."""
    assert check_photo(animation(kind)).format == kind


@pytest.mark.parametrize("progressive", [True, False])
@pytest.mark.parametrize("behind", [b"", b"\x00" * 40, b"a camera's own notes"])
def test_a_jpeg_may_have_something_behind_its_end(progressive: bool, behind: bytes) -> None:
    """Cameras write there."""
    assert check_photo(jpeg(progressive=progressive) + behind).format == "JPEG"


def jpeg(*, progressive: bool = False, exif: bytes = b"") -> bytes:
    """Return a JPEG with a noisy picture in it."""
    out = io.BytesIO()
    Image.effect_noise((700, 700), 90).save(out, "JPEG", progressive=progressive, exif=exif)
    return out.getvalue()


@pytest.mark.parametrize("progressive", [True, False])
def test_a_preview_in_the_header_is_not_taken_for_the_end(progressive: bool) -> None:
    """It is a whole JPEG of its own, and the picture around it may still be cut off."""
    preview = b"Exif\x00\x00" + picture(size=(80, 60))
    whole = jpeg(progressive=progressive, exif=preview)
    assert check_photo(whole).format == "JPEG"
    for part in (0.2, 0.5, 0.9):
        with pytest.raises(BadPhoto, match="cut off"):
            check_photo(whole[: int(len(whole) * part)])


@pytest.mark.parametrize("padding", [b"", b"\xff", b"\xff\xff\xff"])
def test_markers_of_a_jpeg_may_be_padded(padding: bytes) -> None:
    """The format allows it."""
    content = jpeg()
    assert check_photo(content[:2] + padding + content[2:]).format == "JPEG"


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "AVIF", "GIF", "TIFF"])
def test_no_pixel_is_decoded(kind: str) -> None:
    """Damage amid the pixels is found by the slide worker, where it can end no run."""
    content = bytearray(picture(kind))
    middle = len(content) // 2
    content[middle : middle + 8] = bytes(8)
    assert check_photo(bytes(content)).format == kind


@pytest.mark.parametrize("size", [(599, 800), (800, 599), (68, 240)])
def test_a_short_side_under_600_is_refused_with_the_size(size: tuple[int, int]) -> None:
    """The smallest pictures in shops are 68 pixels wide."""
    with pytest.raises(BadPhoto, match=f"too small: {size[0]}×{size[1]}"):
        check_photo(picture(size=size))


def test_exactly_600_is_large_enough() -> None:
    """The minimum itself passes."""
    assert check_photo(picture(size=(600, 600))).format == "JPEG"


@pytest.mark.parametrize("content", [b"<!doctype html><html></html>", b"\n <html>", b'{"errors":"no"}', b"<svg></svg>"])
def test_a_web_page_named_like_a_picture_is_refused(content: bytes) -> None:
    """The name says nothing, the bytes do."""
    with pytest.raises(BadPhoto, match=r"^cat\.jpg: it is text or a web page, not a picture$"):
        check_photo(content, subject="cat.jpg")


def test_nothing_is_refused_as_empty() -> None:
    """Zero bytes, or blanks."""
    with pytest.raises(BadPhoto, match="it is empty"):
        check_photo(b"")


@pytest.mark.parametrize("kind", ["BMP", "PPM", "ICO", "PCX"])
def test_other_kinds_of_pictures_are_refused_by_name_of_the_known_ones(kind: str) -> None:
    """Few readers, few holes."""
    out = io.BytesIO()
    Image.new("RGB", (700, 700)).save(out, kind)
    with pytest.raises(BadPhoto, match="it is none of JPEG, PNG"):
        check_photo(out.getvalue())


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF", "GIF", "TIFF"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_picture_that_is_cut_off_is_refused(kind: str, part: float) -> None:
    """Half a download never reaches a slide."""
    content = picture(kind)
    with pytest.raises(BadPhoto):
        check_photo(content[: int(len(content) * part)])


def test_a_png_with_a_damaged_part_behind_its_pixels_is_refused() -> None:
    """Decoding alone would not look at it."""
    content = picture("PNG")
    end = len(content) - 12
    damaged = struct.pack(">I", 4) + b"tEXt" + b"a\x00bc" + b"\x00\x00\x00\x00"
    with pytest.raises(BadPhoto, match="damaged"):
        check_photo(content[:end] + damaged + content[end:])


def test_a_picture_larger_than_25_megabytes_is_refused_unread() -> None:
    """The cap is on bytes first."""
    with pytest.raises(BadPhoto, match="larger than 25,000,000 bytes"):
        check_photo(b"\xff\xd8\xff" + bytes(25_000_000))


@pytest.mark.parametrize("size", [(8_000, 7_000), (10_000, 10_000), (40_000, 40_000)])
def test_a_picture_of_too_many_pixels_is_refused_by_its_header(size: tuple[int, int]) -> None:
    """Below, above and far above the size at which Pillow itself begins to warn."""
    with pytest.raises(BadPhoto, match="more than 50,000,000 pixels"):
        check_photo(png_claiming(*size))


def test_pillows_own_settings_stay_as_they_were() -> None:
    """Nothing is set for the whole program."""
    before = Image.MAX_IMAGE_PIXELS
    with warnings.catch_warnings(record=True) as caught:
        filters = list(warnings.filters)
        check_photo(picture())
        assert list(warnings.filters) == filters
    assert before == Image.MAX_IMAGE_PIXELS
    assert caught == []


@given(
    st.sampled_from(["JPEG", "PNG", "WEBP", "GIF", "TIFF"]),
    st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=4)), min_size=1, max_size=4),
)
def test_damage_anywhere_is_our_error_or_none(kind: str, damages: list[tuple[float, bytes]]) -> None:
    """Pillow's many exceptions on broken files never come through."""
    content = bytearray(_SMALL[kind])
    for where, what in damages:
        start = int(where * len(content))
        content[start : start + len(what)] = what
    with contextlib.suppress(BadPhoto):
        check_photo(bytes(content), min_short_side=1)


_SMALL = {kind: picture(kind, (64, 48)) for kind in ("JPEG", "PNG", "WEBP", "GIF", "TIFF")}
