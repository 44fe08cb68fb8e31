"""The workspace's fonts folder: which files in it may be given to Typst, and a remark for each that may not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lamplighter.errors import ConfigError, LamplighterError, render_line
from lamplighter.featurepost.feature import Struct
from lamplighter.host.files import is_plain, make_folder, read_start, temporary_trouble

_SUFFIXES = frozenset({".ttf", ".otf", ".ttc", ".otc"})
_OTHER_SUFFIXES = frozenset({".woff", ".woff2", ".eot", ".pfb", ".dfont"})
_STARTS = (b"\x00\x01\x00\x00", b"OTTO", b"true", b"ttcf")
_MOST_ENTRIES = 2_000
UNREADABLE = "this is no font that can be read"


class OwnFont(Struct, frozen=True, kw_only=True):
    """A font file: its name for a person, and where it is once every link is followed."""

    name: str
    file: str


class FontFolder(Struct, frozen=True, kw_only=True):
    """The files of a fonts folder that look like fonts, and what is to be said of the others."""

    fonts: tuple[OwnFont, ...] = ()
    remarks: tuple[str, ...] = ()


def read_font_folder(fonts_dir: Path | None) -> FontFolder:
    """Return what is in a fonts folder and the folders in it, nothing when there is none; no linked folder is entered.

    Raises ConfigError when it holds more than fonts can be.
    """
    fonts: list[OwnFont] = []
    remarks: list[str] = []
    if fonts_dir is None or not fonts_dir.is_dir():
        return FontFolder()
    for count, path in enumerate(_walk(fonts_dir, remarks)):
        if count == _MOST_ENTRIES:
            cause = f"there are more than {_MOST_ENTRIES:,} files and folders in it"
            raise ConfigError(fonts_dir.name, cause, "keep only the fonts there that a template names")
        name = f"{fonts_dir.name}/{path.relative_to(fonts_dir)}"
        trouble = _find_trouble(path)
        if trouble:
            remarks.append(f"{render_line(name)}: {trouble}")
        elif path.suffix.lower() in _SUFFIXES:
            fonts.append(OwnFont(name=name, file=os.path.realpath(path)))
    return FontFolder(fonts=tuple(fonts), remarks=tuple(remarks))


def link_fonts(fonts: tuple[OwnFont, ...], target_dir: Path) -> Path | None:
    """Make a folder of links to the fonts, all that Typst sees of them; None for no fonts; raises DiskError."""
    if not fonts:
        return None
    make_folder(target_dir)
    try:
        for number, font in enumerate(fonts):
            (target_dir / f"{number}{Path(font.name).suffix.lower()}").symlink_to(font.file)
    except OSError as error:
        raise temporary_trouble(error.strerror or str(error)) from error
    return target_dir


def _walk(fonts_dir: Path, remarks: list[str]) -> Iterator[Path]:
    """Yield all that is in the folder, in order; a remark tells of a folder that cannot be read."""

    def tell(error: OSError) -> None:
        place = os.path.relpath(str(error.filename), fonts_dir.parent)
        remarks.append(f"{render_line(place)}: {error.strerror}")

    for parent, folders, files in os.walk(fonts_dir, onerror=tell):
        folders.sort()
        yield from (Path(parent, name) for name in sorted((*folders, *files)))


def _find_trouble(path: Path) -> str:
    """Return why an entry is no font Typst can be given, "" when it is one or none at all (a licence, a folder)."""
    if path.is_dir():
        return "a linked folder is not followed; put the folder itself there" if path.is_symlink() else ""
    suffix = path.suffix.lower()
    if suffix in _OTHER_SUFFIXES:
        return f"fonts of this kind are not read; put it there as {' or '.join(sorted(_SUFFIXES))}"
    if suffix not in _SUFFIXES:
        return ""
    if not (is_plain(path) and is_plain(Path(os.path.realpath(path)))):
        return "its name is not plain UTF-8 text; give it another name"
    try:
        start = read_start(path, length=4, what="font")
    except LamplighterError as error:
        return f"{UNREADABLE}: {error.cause}"
    return "" if start in _STARTS else UNREADABLE
