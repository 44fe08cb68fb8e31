"""The photo: whether bytes are a whole picture of a usable kind and size, judged by content and never by name.

Only headers and structure are read here, no pixel is decoded: that is the slide worker's part, in its own process.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from lamplighter.errors import FailureClass, LamplighterError, render_line
from lamplighter.featurepost.product import MIN_SHORT_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "TIFF")  # and MPO, which Pillow's JPEG reader finds by itself
MAX_BYTES = 25_000_000
MAX_PIXELS = 50_000_000
_TIFF_PIECES = ((273, 279), (324, 325))  # where strips and tiles begin, and how long they are
_START_OF_SCAN, _END_OF_JPEG = 0xDA, b"\xff\xd9"
BROKEN = (  # what Pillow's readers let through on broken files, besides the OSError they document
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    EOFError,
    MemoryError,
    RuntimeError,
    struct.error,
    zlib.error,
)


class BadPhoto(LamplighterError):
    """this is not a usable picture."""

    failure = FailureClass.UPSTREAM


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A picture as it was fetched: its bytes, and its format by Pillow's name."""

    content: bytes = field(repr=False)
    format: str


def check_photo(
    content: bytes, *, subject: str = "photo", min_short_side: int = MIN_SHORT_SIDE, max_bytes: int = MAX_BYTES
) -> Photo:
    """Return the picture after reading its header and its structure; raises BadPhoto with the cause."""
    if len(content) > max_bytes:
        raise BadPhoto(subject, f"it is larger than {max_bytes:,} bytes")
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"", b"<", b"{"}:
        raise BadPhoto(subject, "it is empty" if not content.strip() else "it is text or a web page, not a picture")
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - Pillow takes 40 ms to import

    # Pillow warns from 89 megapixels on and knows no other way to be told: the filter is set for this block only.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with _open(Image, content) as image:
                _check_size(image.width, image.height, subject, min_short_side)
                if not _is_whole(image, content):
                    raise BadPhoto(subject, "it is cut off or damaged")
                return Photo(content=content, format=image.format or "")
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise BadPhoto(subject, f"it has more than {MAX_PIXELS:,} pixels") from None
        except UnidentifiedImageError:
            raise BadPhoto(subject, f"it is none of {', '.join(FORMATS)}") from None
        except BROKEN as error:
            raise BadPhoto(subject, f"it is damaged: {render_line(str(error), limit=120)}") from error


def _open(pillow: ModuleType, content: bytes) -> Image:
    """Return the picture with its header read; its pixels stay undecoded until somebody loads them."""
    image: Image = pillow.open(io.BytesIO(content), formats=FORMATS)
    return image


def _check_size(width: int, height: int, subject: str, min_short_side: int) -> None:
    size = f"{width}×{height}"
    if width * height > MAX_PIXELS:
        raise BadPhoto(subject, f"it has more than {MAX_PIXELS:,} pixels ({size})")
    if min(width, height) < min_short_side:
        raise BadPhoto(subject, f"it is too small: {size}, the short side needs {min_short_side}")


def _is_whole(image: Image, content: bytes) -> bool:
    """Tell by a format's structure whether a picture has its end; damage amid the pixels only decoding would find."""
    match image.format:
        case "JPEG" | "MPO":
            return _is_whole_jpeg(content)
        case "PNG":
            return _is_whole_png(content)
        case "WEBP":
            return len(content) >= int.from_bytes(content[4:8], "little") + 8
        case "AVIF":
            return _is_whole_avif(content)
        case "GIF":
            return content.rstrip(b"\0\r\n").endswith(b";")
        case _:
            return _is_whole_tiff(image, content)


def _is_whole_jpeg(content: bytes) -> bool:
    """Look for the end behind the first scan: a preview inside the header has an end of its own."""
    at = 2
    while content[at] == 0xFF:
        if content[at + 1] == _START_OF_SCAN:
            return content.find(_END_OF_JPEG, at) >= 0
        padded = content[at + 1] == 0xFF
        at += 1 if padded else 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return False


def _is_whole_png(content: bytes) -> bool:
    """Walk the chunks to the last one; each has its checksum, and a reader stops at a wrong one."""
    at, name, data = 8, b"", memoryview(content)
    while name != b"IEND":
        size, name = struct.unpack_from(">I4s", content, at)
        (checksum,) = struct.unpack_from(">I", content, at + 8 + size)
        if zlib.crc32(data[at + 4 : at + 8 + size]) != checksum:
            return False
        at += 12 + size
    return True


def _is_whole_avif(content: bytes) -> bool:
    """Walk the boxes: each says its length, nought meaning up to the end, one that the length stands behind."""
    at = 0
    while at < len(content):
        (size,) = struct.unpack_from(">I", content, at)
        if size == 0:
            return True
        if size == 1:
            (size,) = struct.unpack_from(">Q", content, at + 8)
        if size < 8:
            return False
        at += size
    return at == len(content)


def _is_whole_tiff(image: Image, content: bytes) -> bool:
    tags: dict[int, tuple[int, ...]] = dict(getattr(image, "tag_v2", {}))
    return all(
        start + length <= len(content)
        for starts, lengths in _TIFF_PIECES
        for start, length in zip(tags.get(starts, ()), tags.get(lengths, ()), strict=True)
    )
