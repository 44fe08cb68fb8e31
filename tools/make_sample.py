"""Make every photo of the sample shops, and check that their product lists tell the truth about them.

Run it from the root of the repository: `python -m tools.make_sample [--check]`.
"""

import argparse
import io
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypedDict

from PIL import Image
from tools import sample_kirino, sample_wrenfold
from tools.sample_develop import photograph

SHOP_DIR = Path(__file__).resolve().parent.parent / "src" / "lamplighter" / "sample" / "shop"
FULL = (1440, 1800)
SMALL = (480, 600)
SMALL_PHOTOS = frozenset({"wrenfold/photos/glaze-tile-1.jpg", "kirino/photos/fukin-1.jpg"})
MOST_BYTES = 6_000_000
SCENES = {**sample_wrenfold.SCENES, **sample_kirino.SCENES}


class Picture(TypedDict):
    """What we read of a product's image."""

    src: str
    width: int
    height: int


class Product(TypedDict):
    """What we read of a product."""

    handle: str
    images: list[Picture]


class ProductList(TypedDict):
    """A shop's products.json."""

    products: list[Product]


def write_photo(name: str) -> str:
    """Make one photo and put it into its shop, whole or not at all; returns a line about it."""
    photo = photograph(SCENES[name](), FULL)
    if name in SMALL_PHOTOS:
        photo = photo.resize(SMALL, Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    photo.save(buffer, "JPEG", quality=85, optimize=True)
    photo_file = SHOP_DIR / name
    photo_file.parent.mkdir(parents=True, exist_ok=True)
    draft_file = photo_file.with_suffix(".tmp")
    draft_file.write_bytes(buffer.getvalue())
    os.replace(draft_file, photo_file)
    return f"{name}  {len(buffer.getvalue()) // 1024} kB"


def listed_photos(shop_dir: Path) -> Iterator[tuple[str, Picture]]:
    """Every picture a shop's list refers to, with its product's handle."""
    shop: ProductList = json.loads((shop_dir / "products.json").read_text(encoding="utf-8"))
    for product in shop["products"]:
        for picture in product["images"]:
            yield product["handle"], picture


def find_faults(shop_dir: Path) -> Iterator[str]:
    """What a shop's list says that its photos don't, and photos that nothing refers to."""
    unlisted = {photo_file.relative_to(shop_dir).as_posix() for photo_file in (shop_dir / "photos").glob("*")}
    for handle, picture in listed_photos(shop_dir):
        photo_file = shop_dir / picture["src"]
        unlisted.discard(picture["src"])
        if not photo_file.is_file():
            yield f"{shop_dir.name}: {handle}: {picture['src']} does not exist"
            continue
        with Image.open(photo_file) as photo:
            photo.load()
            if photo.size != (picture["width"], picture["height"]):
                yield f"{shop_dir.name}: {handle}: {picture['src']} is {photo.width}x{photo.height}, not as listed"
    for name in sorted(unlisted):
        yield f"{shop_dir.name}: {name} belongs to no product"


def check() -> list[str]:
    """Every fault of the sample shops."""
    faults = [fault for shop_dir in sorted(SHOP_DIR.iterdir()) for fault in find_faults(shop_dir)]
    total = sum(photo_file.stat().st_size for photo_file in SHOP_DIR.glob("*/photos/*"))
    if total > MOST_BYTES:
        faults.append(f"the photos take {total:,} bytes, more than {MOST_BYTES:,}")
    return faults


def main() -> int:
    """Make the photos unless only a check is asked for; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description="Make and check the photos of the sample shops.")
    parser.add_argument("--check", action="store_true", help="make nothing, only compare lists and photos")
    parser.add_argument("--only", default="", metavar="TEXT", help="make only photos with TEXT in their name")
    asked = parser.parse_args()
    if not asked.check:
        names = sorted(name for name in SCENES if asked.only in name)
        with ProcessPoolExecutor() as pool:
            for line in pool.map(write_photo, names):
                sys.stdout.write(line + "\n")
    faults = check()
    sys.stdout.writelines(fault + "\n" for fault in faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
