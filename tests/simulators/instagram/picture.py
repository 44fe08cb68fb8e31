"""What Meta demands of a picture, decided from its bytes alone."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

from PIL import Image, ImageOps, UnidentifiedImageError
from tests.simulators.instagram.refusal import FETCH_FAILED, IMAGE_FORMAT, IMAGE_RATIO, IMAGE_TOO_LARGE, Refused

MOST_BYTES = 8 * 1_048_576
NARROWEST = 320
WIDEST = 1440
LOWEST_RATIO = 0.8
HIGHEST_RATIO = 1.91


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One accepted picture; width and height are as shown, after Meta's scaling to 320 … 1440 pixels of width."""

    url: str
    sha256: str
    width: int
    height: int
    length: int

    @property
    def ratio(self) -> float:
        """Return width by height."""
        return self.width / self.height


def examine_picture(url: str, content: bytes, *, tolerance: float = 0.01, png: bool = False) -> Picture:
    """Return what Instagram makes of these bytes; raise Refused with 36000, 36001, 36003 or 9004.

    Two things are not documented. A file that begins as a JPEG and cannot be decoded is answered with 9004
    ("Only photo or video can be accepted"). A turned photo (EXIF) is measured as people see it.
    """
    if len(content) > MOST_BYTES:
        raise Refused(IMAGE_TOO_LARGE)
    kind = _find_kind(content)
    if kind not in ({"JPEG", "PNG"} if png else {"JPEG"}):
        raise Refused(IMAGE_FORMAT.fill(kind=kind))
    width, height = _measure(url, content)
    ratio = width / height
    if not LOWEST_RATIO - tolerance <= ratio <= HIGHEST_RATIO + tolerance:
        raise Refused(IMAGE_RATIO.fill(ratio=f"{ratio:.2f}"))
    shown = min(max(width, NARROWEST), WIDEST)
    return Picture(
        url=url,
        sha256=hashlib.sha256(content).hexdigest(),
        width=shown,
        height=round(height * shown / width),
        length=len(content),
    )


def _find_kind(content: bytes) -> str:
    if content[:3] == b"\xff\xd8\xff":
        return _jpeg_kind(content)
    known = ((b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"))
    for magic, name in known:
        if content.startswith(magic):
            return name
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "WEBP"
    return {b"ftypavif": "AVIF", b"ftypheic": "HEIC"}.get(content[4:12], "unknown")


def _jpeg_kind(content: bytes) -> str:
    """Tell a JPEG from an MPO, which begins the same and has an MPF segment before its first scan."""
    at = 2
    while at + 4 <= len(content) and content[at] == 0xFF and content[at + 1] != 0xDA:
        size = int.from_bytes(content[at + 2 : at + 4])
        if content[at + 1] == 0xE2 and content[at + 4 : at + 8] == b"MPF\0":
            return "MPO"
        at += 2 + size
    return "JPEG"


def _measure(url: str, content: bytes) -> tuple[int, int]:
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            return ImageOps.exif_transpose(image).size
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise Refused(FETCH_FAILED.fill(url=url, why="the file is no readable image")) from None
