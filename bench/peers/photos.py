"""The photos of the bench: five of the sample brand's, as large and as grainy as a camera's, the same every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from bench.peers.errand import SLIDES_DIR
from PIL import Image

SIZE = (2000, 2500)
_PHOTOS_DIR = SLIDES_DIR.parents[1] / "sample" / "shop" / "kirino" / "photos"
_NAMES = ("dobin-1", "yunomi-1", "marubon-1", "meshiwan-1", "andon-1")
_GRAIN = 3.0


def write_photos(folder: Path) -> tuple[str, ...]:
    """Write five JPEG photos of 2000x2500 pixels and return their paths."""
    return tuple(_write_photo(number, name, folder) for number, name in enumerate(_NAMES))


def _write_photo(seed: int, name: str, folder: Path) -> str:
    with Image.open(_PHOTOS_DIR / f"{name}.jpg") as sample:
        large = sample.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    grain = np.random.default_rng(seed).normal(0, _GRAIN, (SIZE[1], SIZE[0], 1))
    pixels = np.clip(np.asarray(large) + grain, 0, 255).astype(np.uint8)
    file = folder / f"{name}.jpg"
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return str(file)
