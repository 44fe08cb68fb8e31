"""Makes a new workspace."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from lamplighter.config.basics import SETTINGS_FILE
from lamplighter.errors import ConfigError, InputError, LamplighterError
from lamplighter.featurepost.catalog import CATALOG_FILE, parse_catalog
from lamplighter.host.clock import read_zone_name
from lamplighter.host.files import make_folder, read_capped, write_atomic

SAMPLE = "sample"
DEMO_ACCOUNT = "demo"
_PACKAGE_DIR = Path(__file__).parents[1]
_SAMPLE_DIR = _PACKAGE_DIR / "sample"
_PROMPTS_DIR = _PACKAGE_DIR / "featurepost" / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorkspace:
    """What `make_workspace` made: the folder, its files, and the slugs in its catalog."""

    folder: Path
    files: tuple[Path, ...]
    brands: tuple[str, ...]


def make_workspace(folder: Path, shops: tuple[str, ...]) -> NewWorkspace:
    """Make a workspace with a catalog of `shops` (addresses, or "sample"); raises when a file of it is there already.

    Nothing is written before everything is known to be right, and settings come last: without them it is no workspace.
    A file that is there with exactly our content is taken as it is: a killed run may have left it.
    """
    shops = tuple(dict.fromkeys(shops))
    account = DEMO_ACCOUNT if shops == (SAMPLE,) else "main"
    catalog = _render_catalog(shops)
    own = {
        folder / CATALOG_FILE: catalog,
        **{folder / "prompts" / prompt.name: prompt.read_bytes() for prompt in sorted(_PROMPTS_DIR.glob("*.md"))},
        folder / SETTINGS_FILE: _render_settings(account),
    }
    sample = _read_sample(folder) if SAMPLE in shops else {}
    files = {**sample, **own}
    for file, content in files.items():
        _refuse_existing(file, content, folder)
    _write_all({file: content for file, content in files.items() if not os.path.lexists(file)})
    brands = tuple(brand.slug for brand in parse_catalog(catalog)) if shops else ()
    return NewWorkspace(folder=folder, files=tuple(own), brands=brands)


def _refuse_existing(file: Path, content: bytes, folder: Path) -> None:
    """Raise InputError when another file is there already, or something that is no folder stands in its way."""
    if os.path.lexists(file) and (file.name == SETTINGS_FILE or not _is_same(file, content)):
        raise InputError(str(file), "it is there already and is not overwritten", "choose another folder")
    for parent in file.parents:
        if os.path.lexists(parent) and not parent.is_dir():
            raise InputError(str(parent), "it is in the way: this is not a folder", "choose another folder")
        if parent == folder:
            break


def _is_same(file: Path, content: bytes) -> bool:
    with contextlib.suppress(LamplighterError):
        return not file.is_symlink() and read_capped(file, limit=len(content)) == content
    return False


def _write_all(files: Mapping[Path, bytes]) -> None:
    """Write the files; when the disk refuses one of them, take away again what was made."""
    made: list[Path] = []
    try:
        for file, content in files.items():
            made.extend(parent for parent in reversed(file.parents) if not os.path.lexists(parent))
            make_folder(file.parent)
            made.append(file)
            write_atomic(file, content)
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _render_settings(account: str) -> bytes:
    text = Path(__file__).with_name(SETTINGS_FILE).read_text("utf-8")
    return Template(text).substitute(zone=read_zone_name(), account=account).encode()


def _render_catalog(shops: tuple[str, ...]) -> bytes:
    """Return a catalog file that begins with what can be known of each shop."""
    brands: list[dict[str, object]] = []
    for shop in sorted(shops, key=lambda shop: shop != SAMPLE):  # the sample's slugs are fixed
        taken = {str(brand["slug"]) for brand in brands}
        brands.extend(_sample_brands() if shop == SAMPLE else [_describe_shop(shop, taken)])
    content = json.dumps({"brands": brands}, ensure_ascii=False, indent=2).encode() + b"\n"
    if brands:
        parse_catalog(content)
    return content


def _sample_brands() -> list[dict[str, object]]:
    content = read_capped(_SAMPLE_DIR / CATALOG_FILE, limit=1_000_000)
    brands: list[dict[str, object]] = json.loads(content)["brands"]
    return brands


def _describe_shop(shop: str, taken: set[str]) -> dict[str, object]:
    """Return a catalog entry for a shop's address, under a slug of its own, to be corrected by the person."""
    _check_shop(shop)
    address = shop if "//" in shop or shop.startswith("file:") else f"https://{shop}"
    try:
        host = urlsplit(address).hostname or Path(address.removeprefix("file:")).name
    except ValueError:
        raise ConfigError(f"shop {shop!r}", "this is not an address", "give it like https://shop.example") from None
    stem = re.sub(r"^www\.|\.myshopify\.com$|\.[a-z]+$", "", host.lower())
    plain = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:36].strip("-") or "brand"
    slug = next(slug for slug in (plain, *(f"{plain}-{number}" for number in range(2, 999))) if slug not in taken)
    return {
        "slug": slug,
        "name": slug.replace("-", " ").title(),
        "shop": address.rstrip("/"),
        "handle": f"@{slug.replace('-', '_')[:30]}",
        "url": address.rstrip("/") if address.startswith("https://") else "",
        "language": "en",
        "currency": "",
        "permission": "own",
        "template": "default",
        "hashtags": [],
    }


def _read_sample(folder: Path) -> dict[Path, bytes]:
    """Return the files of the sample brands' shops, by where they go."""
    sources = sorted(path for path in (_SAMPLE_DIR / "shop").rglob("*") if path.is_file())
    return {folder / source.relative_to(_SAMPLE_DIR): source.read_bytes() for source in sources}


def _check_shop(shop: str) -> None:
    """Raise InputError for what can be no shop: a word without a dot, another scheme, a folder without a name."""
    found = re.fullmatch(r"(https?://)?([A-Za-z0-9-]+\.)+[A-Za-z0-9-]+(:[0-9]{1,5})?(/\S*)?|https?://\S+|file:.+", shop)
    if not found:
        raise InputError(
            f"shop {shop!r}",
            "this is no address of a shop",
            'give it like https://shop.example, file:FOLDER or "sample"',
        )
