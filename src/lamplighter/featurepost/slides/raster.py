"""The raster: the pages of a PDF as JPEG files Instagram takes, the same bytes every time."""

from __future__ import annotations

import hashlib
import io
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2
import pypdfium2.raw
from PIL import Image, ImageCms

from lamplighter.featurepost.slides.carousel import Picture, RenderError, TemplateBroken
from lamplighter.featurepost.slides.photo_box import Pixels, order_by_photo

MOST_BYTES = 8_000_000
_QUALITIES = (92, 84, 76, 68, 60)
_FULL_CHROMA = 0
_DIRECT_MODES = ("RGB", "RGBX")  # what Pillow writes as a three-colour JPEG without a copy
# Bytes 24 to 35 of an ICC profile are the moment it was made (ICC.1:2022 §7.2): fixed, so that pictures repeat.
_PROFILE_DATE = slice(24, 36)
_FIXED_DATE = bytes((0x07, 0xEA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePhoto:
    """The photo of a page: the JPEG that the typesetter placed in its stead, and the pixels, maybe still in the making.

    So no photo waits for the words, and none is coded and decoded again between its own file and the picture.
    """

    box: tuple[int, int]
    stand_in: bytes = field(repr=False)
    pixels: Future[Pixels]


def make_stand_in(number: int, box: tuple[int, int]) -> bytes:
    """Return a blank JPEG of the photo's exact size, another one for each number."""
    buffer = io.BytesIO()
    Image.new("L", box).save(buffer, "JPEG", comment=f"lamplighter photo {number}".encode())
    return buffer.getvalue()


def write_pictures(
    pdf: bytes,
    output_dir: Path,
    *,
    size: tuple[int, int],
    photos: tuple[PagePhoto | None, ...],
    subject: str,
    executor: Executor,
) -> tuple[Picture, ...]:
    """Write slide-1.jpg … and return them in order; raises RenderError when pages are not what was asked.

    `photos` has one entry a page. Every page is measured before the first is drawn. PDFium draws in this thread, which
    alone may call it; `executor` encodes meanwhile. The photo that is ready first is drawn first.
    """
    profile = make_profile()
    document = pypdfium2.PdfDocument(pdf)
    try:
        _check_pages(document, size=size, expected=len(photos), subject=subject)
        futures: dict[int, Future[Picture]] = {}
        for index in order_by_photo(tuple(photo.box if photo else None for photo in photos)):
            page, photo = document[index], photos[index]
            if photo is not None:
                _show_photo(page, photo, pdf, f"{subject}: slide {index + 1}")
            # Four bytes a pixel: Pillow takes them as they are, three would be copied.
            image = page.render(scale=1, rev_byteorder=True, prefer_bgrx=True, draw_annots=False).to_pil()
            page.close()
            futures[index] = executor.submit(write_picture, image, output_dir / f"slide-{index + 1}.jpg", profile)
        return tuple(futures[index].result() for index in range(len(photos)))
    finally:
        document.close()


def write_picture(image: Image.Image, file: Path, profile: bytes) -> Picture:
    """Write one baseline JPEG below 8 MB, sRGB embedded, nothing else said about it."""
    content = b""
    if image.mode not in _DIRECT_MODES:
        image = image.convert("RGB")
    for quality in _QUALITIES:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality, subsampling=_FULL_CHROMA, progressive=False, icc_profile=profile)
        content = buffer.getvalue()
        if len(content) < MOST_BYTES:
            break
    else:
        raise RenderError(file.stem.replace("-", " "), f"the picture is larger than {MOST_BYTES:,} bytes")
    file.write_bytes(content)
    return Picture(file=file.name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def make_profile() -> bytes:
    """Return an sRGB profile that does not say when it was made."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_PROFILE_DATE] = _FIXED_DATE
    return bytes(profile)


def _check_pages(document: pypdfium2.PdfDocument, *, size: tuple[int, int], expected: int, subject: str) -> None:
    if len(document) != expected:
        raise TemplateBroken(subject, f"it made {len(document)} pages of {expected} slides")
    for index in range(expected):
        width, height = document.get_page_size(index)
        if (round(width), round(height)) != size:
            raise TemplateBroken(subject, f"page {index + 1} is {width:.0f}x{height:.0f}, not {size[0]}x{size[1]}")


def _show_photo(page: pypdfium2.PdfPage, photo: PagePhoto, pdf: bytes, subject: str) -> None:
    """Put the photo wherever its stand-in is; raises TemplateBroken for another place, RenderError for a bad photo."""
    pixels = photo.pixels.result()
    bitmap = pypdfium2.PdfBitmap.new_native(
        *pixels.size, pypdfium2.raw.FPDFBitmap_BGR, buffer=pixels.content, stride=3 * pixels.size[0]
    )
    shown = 0
    for picture in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]):
        if bytes(picture.get_data()) == photo.stand_in:
            picture.set_bitmap(bitmap, [page])
            shown += 1
    if not shown and photo.stand_in in pdf:
        raise TemplateBroken(subject, "its photo is a pattern or on another page", "show it by photo(s, c)")
