"""The photos of the fixtures: a sample brand's own, and made of one of them the odd ones a shop may send."""

from __future__ import annotations

import enum
import io
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from PIL import Image, ImageDraw

from lamplighter.featurepost.feature import Role
from lamplighter.host.files import read_capped, write_atomic

_SAMPLE_DIR = Path(__file__).parents[2] / "sample" / "shop"
_MOST_BYTES = 10_000_000
_ORIENTATION, _TURNED_LEFT = 0x112, 6
_QUALITY = 88
_USUAL: MappingProxyType[Role, str] = MappingProxyType(
    {
        Role.COVER: "wrenfold/photos/dawn-mug-2.jpg",
        Role.PRODUCT: "wrenfold/photos/dawn-mug-1.jpg",
        Role.DETAIL: "wrenfold/photos/dawn-mug-3.jpg",
        Role.CLOSING: "wrenfold/photos/field-plates-1.jpg",
    }
)


class PhotoKind(enum.Enum):
    """What is odd about the photo of a fixture."""

    USUAL = "usual"
    NONE = "none"
    WIDE = "wide.jpg"
    TALL = "tall.jpg"
    TINY = "tiny.jpg"
    TURNED = "turned.jpg"
    CUT_OUT = "cut-out.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixturePhotos:
    """Where the odd photos lie."""

    folder: Path

    def find(self, kind: PhotoKind, role: Role) -> Path | None:
        """Return the photo of a slide, or None for the fixture that has none."""
        if kind is PhotoKind.NONE:
            return None
        return _SAMPLE_DIR / _USUAL[role] if kind is PhotoKind.USUAL else self.folder / kind.value


def write_fixture_photos(folder: Path) -> FixturePhotos:
    """Make the odd photos in a folder; raises DiskError."""
    content = read_capped(_SAMPLE_DIR / _USUAL[Role.PRODUCT], limit=_MOST_BYTES, what="sample photo")
    with Image.open(io.BytesIO(content)) as image:
        photo = image.convert("RGB")
    exif = Image.Exif()
    exif[_ORIENTATION] = _TURNED_LEFT
    write_atomic(folder / PhotoKind.WIDE.value, _jpeg(_stretch(photo.resize((288, 360)), (2880, 360))))
    write_atomic(folder / PhotoKind.TALL.value, _jpeg(_stretch(photo.resize((360, 450)), (360, 2880))))
    write_atomic(folder / PhotoKind.TINY.value, _jpeg(photo.resize((160, 120))))
    write_atomic(folder / PhotoKind.TURNED.value, _jpeg(photo.transpose(Image.Transpose.ROTATE_90), exif))
    write_atomic(folder / PhotoKind.CUT_OUT.value, _cut_out(photo))
    return FixturePhotos(folder=folder)


def _jpeg(image: Image.Image, exif: Image.Exif | None = None) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY, exif=exif or Image.Exif())
    return buffer.getvalue()


def _stretch(photo: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return a photo in the middle of a larger one whose ground goes on from its edges."""
    width, height = photo.size
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    wide = Image.new("RGB", size)
    if left:
        wide.paste(photo.crop((0, 0, 1, height)).resize((left, height)), (0, 0))
        wide.paste(photo.crop((width - 1, 0, width, height)).resize((left, height)), (left + width, 0))
    if top:
        wide.paste(photo.crop((0, 0, width, 1)).resize((width, top)), (0, 0))
        wide.paste(photo.crop((0, height - 1, width, height)).resize((width, top)), (0, top + height))
    wide.paste(photo, (left, top))
    return wide


def _cut_out(photo: Image.Image) -> bytes:
    """Return the middle of a photo on nothing, as a PNG."""
    small = photo.resize((photo.width // 2, photo.height // 2))
    mask = Image.new("L", small.size, 0)
    width, height = small.size
    ImageDraw.Draw(mask).ellipse((width * 0.12, height * 0.2, width * 0.88, height * 0.84), fill=255)
    small.putalpha(mask)
    buffer = io.BytesIO()
    small.save(buffer, "PNG")
    return buffer.getvalue()
