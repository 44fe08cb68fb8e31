"""The catalog: which brands are featured, as the person wrote them; read strictly, never written."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Literal, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec

from lamplighter.errors import ConfigError
from lamplighter.featurepost.feature import Language, Struct
from lamplighter.host.files import read_capped

CATALOG_FILE = "brand-catalog.json"
_LIMIT_BYTES = 4_000_000
_SHOWN_LETTERS = 60
_MOST_URL_LETTERS = 300
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_HANDLE = re.compile(r"@[A-Za-z0-9._]{1,30}")
_JOINERS = frozenset("\u200c\u200d")
_CURRENCY = re.compile(r"[A-Z]{3}")


class Theme(Struct, frozen=True, kw_only=True):
    """Colours as #rrggbb; an empty one is the template's own."""

    ink: str = ""
    paper: str = ""
    accent: str = ""
    on_accent: str = ""


class Brand(Struct, frozen=True, kw_only=True):
    """One brand and how its features look; `permission` says why its pictures may be used."""

    slug: str
    name: str
    shop: str
    handle: str
    language: Language
    permission: Literal["own", "written", "licensed"]
    url: str = ""
    currency: str = ""
    template: str = "default"
    theme: Theme = Theme()
    hashtags: tuple[str, ...] = ()
    products_per_feature: int = 3

    @property
    def shop_folder(self) -> str:
        """Return the folder of a `file:` shop, relative to the catalog, or ""."""
        return self.shop.removeprefix("file:") if self.shop.startswith("file:") else ""


class _Catalog(Struct, frozen=True, kw_only=True):
    brands: tuple[msgspec.Raw, ...]


def read_catalog(file: Path) -> tuple[Brand, ...]:
    """Return the brands of a catalog file in its order; raises InputError, DiskError or ConfigError, one line each."""
    return parse_catalog(read_capped(file, limit=_LIMIT_BYTES, what="catalog"), name=str(file))


def parse_catalog(content: bytes, *, name: str = CATALOG_FILE) -> tuple[Brand, ...]:
    """Return the brands a catalog describes; raises ConfigError naming the brand, the field and the way out."""
    try:
        content.decode("utf-8")
        entries = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_Catalog).brands
    except msgspec.ValidationError as error:
        raise ConfigError(name, _explain(str(error), ("brands",)), "correct it and run again") from None
    except UnicodeDecodeError as error:
        raise ConfigError(name, f"byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError(name, f"this is not JSON: {error}", "correct it and run again") from None
    _refuse_twice(content, name)
    if not entries:
        raise ConfigError(name, "there is no brand in it", 'add one under "brands"')
    brands: dict[str, Brand] = {}
    for number, entry in enumerate(entries, start=1):
        brand = _parse_brand(entry, f"{name}: brand {number}")
        _check(brand, name)
        if brand.slug in brands:
            raise ConfigError(name, f"the slug {brand.slug!r} is there twice", "give each brand its own")
        brands[brand.slug] = brand
    return tuple(brands.values())


def _refuse_twice(content: bytes, name: str) -> None:
    """Raise ConfigError for a field that is there twice: JSON takes the last one, a person may mean the first."""

    def check(pairs: list[tuple[str, object]]) -> None:
        fields = Counter(field for field, _ in pairs)
        twice = [field[:_SHOWN_LETTERS] for field, times in fields.items() if times > 1]
        if twice:
            slugs = [
                f": brand {value[:_SHOWN_LETTERS]!r}"
                for key, value in pairs
                if key == "slug" and isinstance(value, str)
            ]
            raise ConfigError(f"{name}{''.join(slugs[:1])}", f"`{twice[0]}` is there twice", "keep one of the two")

    with contextlib.suppress(ValueError, RecursionError):  # a number of 5,000 digits: the field's own check says so
        json.loads(content.decode("utf-8-sig"), object_pairs_hook=check)


def _parse_brand(entry: msgspec.Raw, subject: str) -> Brand:
    try:
        return msgspec.json.decode(entry, type=Brand)
    except (msgspec.DecodeError, RecursionError) as error:
        known = (*Brand.__struct_fields__, *Theme.__struct_fields__)
        raise ConfigError(subject, _explain(str(error), known), "correct it and run again") from None


def _check(brand: Brand, name: str) -> None:
    """Raise ConfigError for the first field of a brand that cannot work."""
    for field, problem in (
        ("slug", _problem_of_slug(brand.slug)),
        ("name", "" if _is_name(brand.name) else "must have 1 to 60 letters in one line, all of them to be seen"),
        ("shop", _problem_of_shop(brand.shop)),
        ("handle", "" if _HANDLE.fullmatch(brand.handle) else "must be like @name"),
        ("url", _problem_of_url(brand.url)),
        ("currency", "" if not brand.currency or _CURRENCY.fullmatch(brand.currency) else "must be like EUR"),
        ("hashtags", _problem_of_hashtags(brand.hashtags)),
        ("theme", _problem_of_theme(brand.theme)),
        ("products_per_feature", "" if 1 <= brand.products_per_feature <= 6 else "must be 1 to 6"),
    ):
        if problem:
            raise ConfigError(f"{name}: brand {brand.slug[:60]!r}", f"{field} {problem}", "correct it and run again")


def _problem_of_slug(slug: str) -> str:
    good = _SLUG.fullmatch(slug) and len(slug) <= 40
    return "" if good else "must be 1 to 40 small letters, digits and single hyphens"


def _is_name(name: str) -> bool:
    """Tell whether a name can stand on a slide; the letters that join emoji and Arabic ones may be in it."""
    hidden = any(unicodedata.category(letter) in {"Cf", "Co", "Cn"} and letter not in _JOINERS for letter in name)
    seen = any(unicodedata.category(letter)[0] in "LNSP" for letter in name)
    return seen and len(name.strip()) <= 60 and not hidden and not _has_control_letters(name)


def _has_control_letters(text: str) -> bool:
    return any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in text)


def _problem_of_shop(shop: str) -> str:
    if _has_control_letters(shop):
        return "holds a letter that cannot be seen"
    if shop.startswith("file:"):
        return "" if shop.removeprefix("file:") else "names no folder after file:"
    if _is_web(shop, "https") or (_is_web(shop, "http") and urlsplit(shop).port is not None):
        return ""
    return "must be https://… or file:FOLDER (plain http:// only for a listed host, with its port)"


def _problem_of_url(url: str) -> str:
    if len(url) > _MOST_URL_LETTERS:
        return f"must have at most {_MOST_URL_LETTERS} letters"
    return "" if not url or _is_web(url, "https") else "must begin with https://"


def _is_web(address: str, scheme: str) -> bool:
    """Tell whether an address is a web address; a port that is none is not."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        return False
    plain = not _has_control_letters(address) and " " not in address
    return plain and parts.scheme == scheme and bool(parts.hostname) and parts.username is None


def _problem_of_hashtags(tags: tuple[str, ...]) -> str:
    if len(tags) > 30:
        return "are more than 30"
    bad = [tag for tag in tags if not re.fullmatch(r"#?\w{1,60}", tag)]
    return f"hold {bad[0][:60]!r}: letters, digits and _ only" if bad else ""


def _problem_of_theme(theme: Theme) -> str:
    colours = {"ink": theme.ink, "paper": theme.paper, "accent": theme.accent, "on_accent": theme.on_accent}
    bad = [f"{key} = {value[:20]!r}" for key, value in colours.items() if value and not _COLOUR.fullmatch(value)]
    return f"{bad[0]} must be like #c24d2c" if bad else ""


def _explain(message: str, known: tuple[str, ...]) -> str:
    """Add the nearest right name to msgspec's words about an unknown field, the right values to a wrong one."""
    choice = re.search(r" - at `\$\.(language|permission)`$", message)
    if choice:
        return f"{choice[1]} must be {_join_choices(get_args(get_type_hints(Brand)[choice[1]]))}"
    found = re.search(r"unknown field `(.+?)`", message)
    if not found:
        return message
    if len(found[1]) > _SHOWN_LETTERS:
        return message.replace(found[1], f"{found[1][:_SHOWN_LETTERS]}…")
    near = difflib.get_close_matches(found[1], known, n=1)
    return f"{message}; did you mean `{near[0]}`?" if near else message


def _join_choices(choices: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
