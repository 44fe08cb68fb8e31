"""The template: a folder that says how slides look, read strictly and refused when it could do more than that."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lamplighter.errors import ConfigError, InputError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role, Struct
from lamplighter.featurepost.slides.palette import choose_palette
from lamplighter.host.files import read_capped

CONTRACT = 1
SETTINGS_FILE = "template.toml"
SLIDES_FILE = "slides.typ"
_BUILT_IN_DIR = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_SIDES = range(16, 4097)
_MOST_FILES = 200
_MOST_BYTES_OF_A_FILE = 10_000_000
_FORBIDDEN = (
    (re.compile(r'"@[\w-]+/'), "takes a package from the network", "copy the package's files into the template"),
    (
        re.compile(r"\beval\b"),
        "calls eval, which would run a shop's words as code",
        "show words by fit, line-of-text or plain",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleLayout:
    """What one role of a template asks for: the exact box of its photo in pixels (none: it shows no photo)."""

    role: Role
    photo_box: tuple[int, int] | None
    require_photo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimit:
    """The most letters one text field of one role may have."""

    role: Role
    field: str
    letters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimits:
    """How long the words of each role may be."""

    entries: tuple[TextLimit, ...]

    def limit(self, role: Role, field: str) -> int | None:
        """Return the most letters `field` of `role` may have, or None where the template names no limit."""
        for entry in self.entries:
            if entry.role is role and entry.field == field:
                return entry.letters
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template that passed every check; `size` is in pixels, `theme` is complete."""

    name: str
    folder_dir: Path
    size: tuple[int, int]
    fonts: tuple[str, ...]
    theme: Theme
    roles: tuple[RoleLayout, ...]
    limits: TextLimits

    def layout(self, role: Role) -> RoleLayout | None:
        """Return what `role` asks for, or None when this template has no such slide."""
        return next((layout for layout in self.roles if layout.role is role), None)


class _Texts(Struct, frozen=True, kw_only=True):
    kicker: int | None = None
    title: int | None = None
    subtitle: int | None = None
    name: int | None = None
    price: int | None = None
    note: int | None = None
    body: int | None = None


class _RoleSettings(Struct, frozen=True, kw_only=True):
    photo: tuple[int, int] | None = None
    require_photo: bool = False
    text: _Texts = _Texts()


class _Settings(Struct, frozen=True, kw_only=True):
    contract: int
    fonts: tuple[str, ...]
    theme: Theme
    roles: dict[Role, _RoleSettings]
    size: tuple[int, int] = (1080, 1350)


def find_template(name: str, templates_dir: Path | None = None) -> Template:
    """Return the workspace's template of that name, else the built-in one.

    Raises ConfigError, one line, for an unknown name (with the nearest one) and for everything a template may not be.
    """
    for parent_dir in (templates_dir, _BUILT_IN_DIR):
        if parent_dir is not None and _NAME.fullmatch(name) and (parent_dir / name).is_dir():
            return _read_template(name, parent_dir / name)
    known = list_templates(templates_dir)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    remedy = f"did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"template {name[:60]!r}", "there is no template of this name", remedy)


def list_templates(templates_dir: Path | None = None) -> tuple[str, ...]:
    """Return the names of all templates, the workspace's and the built-in ones, in order of the alphabet."""
    parents = [parent for parent in (templates_dir, _BUILT_IN_DIR) if parent is not None and parent.is_dir()]
    names = {folder.name for parent in parents for folder in parent.iterdir() if (folder / SETTINGS_FILE).is_file()}
    return tuple(sorted(names))


def _read_template(name: str, folder_dir: Path) -> Template:
    subject = f"template {name}"
    _check_files(subject, folder_dir)
    settings = _parse_settings(subject, (folder_dir / SETTINGS_FILE).read_bytes())
    _check_settings(subject, settings)
    choose_palette(Theme(), settings.theme, subject=subject)
    return Template(
        name=name,
        folder_dir=folder_dir,
        size=settings.size,
        fonts=settings.fonts,
        theme=settings.theme,
        roles=tuple(
            RoleLayout(role=role, photo_box=found.photo, require_photo=found.require_photo)
            for role, found in settings.roles.items()
        ),
        limits=TextLimits(
            entries=tuple(
                TextLimit(role=role, field=field, letters=letters)
                for role, found in settings.roles.items()
                for field in _Texts.__struct_fields__
                if (letters := _letters(found.text, field)) is not None
            )
        ),
    )


def _letters(texts: _Texts, field: str) -> int | None:
    found: int | None = getattr(texts, field)
    return found


def _parse_settings(subject: str, content: bytes) -> _Settings:
    try:
        return msgspec.toml.decode(content, type=_Settings)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(subject, f"{SETTINGS_FILE}: {error}", "correct it and run again") from None


def _check_settings(subject: str, settings: _Settings) -> None:
    """Raise ConfigError for the first setting that cannot work."""
    boxes = [found.photo for found in settings.roles.values() if found.photo is not None]
    sides = [side for box in (settings.size, *boxes) for side in box]
    limits = [_letters(found.text, field) for found in settings.roles.values() for field in _Texts.__struct_fields__]
    for problem, cause in (
        (settings.contract != CONTRACT, f"contract is {settings.contract}, this version knows {CONTRACT}"),
        (not settings.fonts, "fonts is empty"),
        (not settings.roles, "there is no role"),
        (any(side not in _SIDES for side in sides), f"a size is not {_SIDES.start} to {_SIDES.stop - 1} pixels"),
        (any(letters is not None and letters < 1 for letters in limits), "a text limit is below 1"),
    ):
        if problem:
            raise ConfigError(subject, f"{SETTINGS_FILE}: {cause}", "correct it and run again")


def _check_files(subject: str, folder_dir: Path) -> None:
    """Raise ConfigError for a missing file, a link out of the folder, or text that could run or fetch something."""
    if folder_dir.is_symlink():
        raise ConfigError(subject, "the folder is a symbolic link", "copy the folder itself")
    entries = sorted(folder_dir.rglob("*"))
    for entry in entries:
        if entry.is_symlink():
            raise ConfigError(subject, f"{entry.relative_to(folder_dir)} is a symbolic link", "copy the file itself")
    files = [entry for entry in entries if not entry.is_dir()]
    if len(files) > _MOST_FILES:
        raise ConfigError(subject, f"there are more than {_MOST_FILES} files in it")
    for needed in (SETTINGS_FILE, SLIDES_FILE):
        if folder_dir / needed not in files:
            raise ConfigError(subject, f"there is no {needed} in it")
    for file in files:
        _check_text(subject, file.relative_to(folder_dir), _read_text(subject, file))


def _read_text(subject: str, file: Path) -> str:
    """Return the text of a file, "" when it is none: Typst takes only UTF-8 for source, whatever the file's name."""
    try:
        return read_capped(file, limit=_MOST_BYTES_OF_A_FILE, what="template file").decode("utf-8")
    except UnicodeDecodeError:
        return ""
    except InputError as error:
        raise ConfigError(subject, f"{file.name}: {error.cause}") from None


def _check_text(subject: str, name: Path, text: str) -> None:
    for pattern, cause, remedy in _FORBIDDEN:
        found = pattern.search(text)
        if found:
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError(subject, f"{name} line {line} {cause}", remedy)
