"""The workspace: finds the one a command means, and makes a new one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from lamplighter.config.settings import SETTINGS_FILE
from lamplighter.errors import ConfigError, DiskError, InputError
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


def find_workspace(start: Path) -> Path:
    """Return the nearest folder from `start` upwards that holds lamplighter.toml; raises InputError."""
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file():
            return folder
    raise InputError(str(start), f"no {SETTINGS_FILE} here or above", "lamplighter init makes a workspace")


def make_workspace(folder: Path, shops: tuple[str, ...]) -> NewWorkspace:
    """Make a workspace with a catalog of `shops` (addresses, or "sample"); raises when a file of it is there already.

    Nothing is written before everything is known to be right, and settings come last: without them it is no workspace.
    """
    account = DEMO_ACCOUNT if SAMPLE in shops else "main"
    catalog = _render_catalog(shops)
    files = {
        folder / CATALOG_FILE: catalog,
        **{folder / "prompts" / prompt.name: prompt.read_bytes() for prompt in sorted(_PROMPTS_DIR.glob("*.md"))},
        folder / SETTINGS_FILE: _render_settings(account),
    }
    for file in files:
        if file.exists():
            raise InputError(str(file), "it is there already and is not overwritten", "choose another folder")
    make_folder(folder)
    if SAMPLE in shops:
        _copy_sample(folder)
    for file, content in files.items():
        make_folder(file.parent)
        write_atomic(file, content)
    brands = tuple(brand.slug for brand in parse_catalog(catalog)) if shops else ()
    return NewWorkspace(folder=folder, files=tuple(files), brands=brands)


def _render_settings(account: str) -> bytes:
    text = Path(__file__).with_name(SETTINGS_FILE).read_text("utf-8")
    return Template(text).substitute(zone=read_zone_name(), account=account).encode()


def _render_catalog(shops: tuple[str, ...]) -> bytes:
    """Return a catalog file that begins with what can be known of each shop."""
    brands = []
    for shop in shops:
        if shop == SAMPLE:
            brands.extend(_sample_brands())
        else:
            brands.append(_describe_shop(shop))
    content = json.dumps({"brands": brands}, ensure_ascii=False, indent=2).encode() + b"\n"
    if brands:
        parse_catalog(content)
    return content


def _sample_brands() -> list[dict[str, object]]:
    content = read_capped(_SAMPLE_DIR / CATALOG_FILE, limit=1_000_000)
    brands: list[dict[str, object]] = json.loads(content)["brands"]
    return brands


def _describe_shop(shop: str) -> dict[str, object]:
    """Return a catalog entry for a shop's address, to be corrected by the person."""
    address = shop if "//" in shop or shop.startswith("file:") else f"https://{shop}"
    try:
        host = urlsplit(address).hostname or Path(address.removeprefix("file:")).name
    except ValueError:
        raise ConfigError(f"shop {shop!r}", "this is not an address", "give it like https://shop.example") from None
    stem = re.sub(r"^www\.|\.myshopify\.com$|\.[a-z]+$", "", host.lower())
    slug = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:40].strip("-") or "brand"
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


def _copy_sample(folder: Path) -> None:
    """Copy the sample brands' shops; each file lands whole."""
    for source in _walk(_SAMPLE_DIR / "shop"):
        target = folder / source.relative_to(_SAMPLE_DIR)
        make_folder(target.parent)
        try:
            shutil.copyfile(source, target)
        except OSError as error:
            raise DiskError(str(target), error.strerror or str(error)) from error


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path
