"""The photo: whether bytes are a whole picture of a usable kind and size, judged by content and never by name."""

from __future__ import annotations

import dataclasses
import io
import struct
import warnings
import zlib
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.featurepost.product import MIN_SHORT_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "TIFF")  # and MPO, which Pillow's JPEG reader finds by itself
MAX_BYTES = 25_000_000
MAX_PIXELS = 50_000_000
_ORIENTATION_TAG = 0x0112
_LYING = {5, 6, 7, 8}
_BROKEN = (  # what Pillow's readers let through on broken files, besides the OSError they document
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    EOFError,
    MemoryError,
    RecursionError,
    struct.error,
    zlib.error,
)


class BadPhoto(LamplighterError):
    """this is not a usable picture."""

    failure = FailureClass.UPSTREAM


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoFacts:
    """What a picture is: format by Pillow's name, size in pixels as seen upright; of an animation the first frame."""

    format: str
    width: int
    height: int
    animated: bool = False


def inspect_photo(
    content: bytes, *, subject: str = "photo", min_short_side: int = MIN_SHORT_SIDE, max_bytes: int = MAX_BYTES
) -> PhotoFacts:
    """Return what a picture is after decoding it once; raises BadPhoto with the cause."""
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
            facts = _read_header(Image, content)
            _check_size(facts, subject, min_short_side)
            return _decode(Image, content, facts)
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise BadPhoto(subject, f"it has more than {MAX_PIXELS:,} pixels") from None
        except UnidentifiedImageError:
            raise BadPhoto(subject, f"it is none of {', '.join(FORMATS)}") from None
        except _BROKEN as error:
            raise BadPhoto(subject, f"it is damaged: {' '.join(str(error).split())[:120]}") from error


def _read_header(pillow: ModuleType, content: bytes) -> PhotoFacts:
    """Read the header only, size as stored; asking a PNG for its EXIF here would decode it whole."""
    with _open(pillow, content) as image:
        name = image.format or ""
        animated = name not in {"MPO", "TIFF"} and bool(getattr(image, "is_animated", False))
        return PhotoFacts(format=name, width=image.width, height=image.height, animated=animated)


def _check_size(facts: PhotoFacts, subject: str, min_short_side: int) -> None:
    size = f"{facts.width}×{facts.height}"
    if facts.width * facts.height > MAX_PIXELS:
        raise BadPhoto(subject, f"it has more than {MAX_PIXELS:,} pixels ({size})")
    if min(facts.width, facts.height) < min_short_side:
        raise BadPhoto(subject, f"it is too small: {size}, the short side needs {min_short_side}")


def _decode(pillow: ModuleType, content: bytes, stored: PhotoFacts) -> PhotoFacts:
    """Decode the first frame, a JPEG at an eighth of its size, which finds what is cut off; return it upright."""
    with _open(pillow, content) as image:
        image.verify()
    with _open(pillow, content) as image:
        image.draft("RGB", (max(1, image.width // 8), max(1, image.height // 8)))
        image.load()
        # Pillow's TIFF reader gives the upright size at once, the others that of the stored pixels.
        lying = stored.format != "TIFF" and image.getexif().get(_ORIENTATION_TAG) in _LYING
    return dataclasses.replace(stored, width=stored.height, height=stored.width) if lying else stored


def _open(pillow: ModuleType, content: bytes) -> Image:
    image: Image = pillow.open(io.BytesIO(content), formats=FORMATS)
    return image
