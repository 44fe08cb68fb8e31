"""The raster: the pages of a PDF as JPEG files Instagram takes, the same bytes every time."""

from __future__ import annotations

import hashlib
import io
from concurrent.futures import Executor, Future
from pathlib import Path

import pypdfium2
from PIL import Image, ImageCms

from lamplighter.featurepost.slides.carousel import Picture, RenderError

MOST_BYTES = 8_000_000
_QUALITIES = (92, 84, 76, 68, 60)
_FULL_CHROMA = 0
# Bytes 24 to 35 of an ICC profile are the moment it was made (ICC.1:2022 §7.2): fixed, so that pictures repeat.
_PROFILE_DATE = slice(24, 36)
_FIXED_DATE = bytes((0x07, 0xEA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0))


def write_pictures(
    pdf: bytes, output_dir: Path, *, size: tuple[int, int], expected: int, subject: str, executor: Executor
) -> tuple[Picture, ...]:
    """Write slide-1.jpg … and return them in order; raises RenderError when pages are not what was asked.

    Every page is measured before the first is drawn. PDFium draws in this thread, `executor` encodes meanwhile.
    """
    profile = make_profile()
    document = pypdfium2.PdfDocument(pdf)
    try:
        _check_pages(document, size=size, expected=expected, subject=subject)
        futures: list[Future[Picture]] = []
        for index in range(expected):
            image = document[index].render(scale=1, rev_byteorder=True).to_pil()
            futures.append(executor.submit(write_picture, image, output_dir / f"slide-{index + 1}.jpg", profile))
        return tuple(future.result() for future in futures)
    finally:
        document.close()


def write_picture(image: Image.Image, file: Path, profile: bytes) -> Picture:
    """Write one baseline JPEG below 8 MB, sRGB embedded, nothing else said about it."""
    content = b""
    for quality in _QUALITIES:
        buffer = io.BytesIO()
        image.convert("RGB").save(
            buffer, "JPEG", quality=quality, subsampling=_FULL_CHROMA, progressive=False, icc_profile=profile
        )
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
        raise RenderError(subject, f"it made {len(document)} pages of {expected} slides")
    for index in range(expected):
        width, height = document.get_page_size(index)
        if (round(width), round(height)) != size:
            raise RenderError(subject, f"page {index + 1} is {width:.0f}x{height:.0f}, not {size[0]}x{size[1]}")
