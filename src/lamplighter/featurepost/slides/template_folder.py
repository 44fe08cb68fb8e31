"""The template: a folder that says how slides look, read strictly and refused when it could do more than that."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lamplighter.errors import ConfigError, InputError, UsageError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.template_settings import SETTINGS_FILE, parse_template_settings
from lamplighter.host.files import make_folder, move_folder, private_folder, read_capped, write_atomic

SLIDES_FILE = "slides.typ"
_BUILT_IN_DIR = Path(__file__).parent / "templates"
NAME_RULE = "a template's name has small letters, digits, single hyphens and underscores"
_NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_MOST_LETTERS_OF_A_NAME = 40
_MOST_FILES = 200
_MOST_BYTES_OF_A_FILE = 10_000_000
_FORBIDDEN = (
    (re.compile(r'"@[\w-]+/'), "it takes a package from the network", "copy the package's files into the template"),
    (
        re.compile(r"\beval\b"),
        "it calls eval, which would run a shop's words as code",
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


def find_template(name: str, templates_dir: Path | None = None) -> Template:
    """Return the workspace's template of that name, else the built-in one.

    Raises ConfigError, one line, for an unknown name (with the nearest one) and for everything a template may not be.
    """
    for parent_dir in (templates_dir, _BUILT_IN_DIR):
        if parent_dir is not None and _NAME.fullmatch(name) and (parent_dir / name).is_dir():
            return _read_template(name, parent_dir / name)
    if templates_dir is not None and name in list_misnamed(templates_dir):
        raise ConfigError(f"template {name[:60]!r}", NAME_RULE, "rename its folder")
    known = list_templates(templates_dir)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    remedy = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    raise ConfigError(f"template {name[:60]!r}", "there is no template of this name", remedy)


def list_templates(templates_dir: Path | None = None) -> tuple[str, ...]:
    """Return the names of all templates, the workspace's and the built-in ones, in order of the alphabet."""
    parents = [parent for parent in (templates_dir, _BUILT_IN_DIR) if parent is not None and parent.is_dir()]
    return tuple(sorted({name for parent in parents for name in _list_folders(parent) if _NAME.fullmatch(name)}))


def list_misnamed(templates_dir: Path) -> tuple[str, ...]:
    """Return the folders that hold a template whose name can be none; see NAME_RULE."""
    names = _list_folders(templates_dir) if templates_dir.is_dir() else ()
    return tuple(sorted(name for name in names if not _NAME.fullmatch(name)))


def _list_folders(parent: Path) -> Iterator[str]:
    return (folder.name for folder in parent.iterdir() if (folder / SETTINGS_FILE).is_file())


def copy_template(source: str, name: str, templates_dir: Path) -> Template:
    """Copy a template, a built-in or the workspace's own, to `templates_dir`/`name`, all of it or nothing.

    Raises UsageError for a name that cannot be one or is a built-in's, InputError for one that is there already,
    ConfigError for a source that is none, DiskError.
    """
    subject = f"template {name[: _MOST_LETTERS_OF_A_NAME + 20]!r}"
    if not _NAME.fullmatch(name) or len(name) > _MOST_LETTERS_OF_A_NAME:
        rule = f"a name is 1 to {_MOST_LETTERS_OF_A_NAME} small letters, digits, single hyphens and underscores"
        raise UsageError(subject, "this cannot be its name", rule)
    if (_BUILT_IN_DIR / name).is_dir():
        raise UsageError(
            subject, "a copy of this name would take the built-in one's place for every brand", "choose another name"
        )
    target_dir = templates_dir / name
    if os.path.lexists(target_dir):
        raise InputError(str(target_dir), "it is there already and is not overwritten", "choose another name")
    template = find_template(source, templates_dir)
    files = [file for file in sorted(template.folder_dir.rglob("*")) if file.is_file()]
    new = not templates_dir.exists()
    make_folder(templates_dir)
    try:
        with private_folder(templates_dir) as private_dir:
            copy_dir = private_dir / name
            make_folder(copy_dir)
            for file in files:
                copy = copy_dir / file.relative_to(template.folder_dir)
                make_folder(copy.parent)
                write_atomic(copy, read_capped(file, limit=_MOST_BYTES_OF_A_FILE, what="template file"))
            move_folder(copy_dir, target_dir)
    except BaseException:
        if new:
            with contextlib.suppress(OSError):
                templates_dir.rmdir()
        raise
    return find_template(name, templates_dir)


def _read_template(name: str, folder_dir: Path) -> Template:
    subject = f"template {name}"
    _check_files(subject, folder_dir)
    content = read_capped(folder_dir / SETTINGS_FILE, limit=_MOST_BYTES_OF_A_FILE, what="template file")
    settings = parse_template_settings(content, subject=subject)
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
                for field, letters in found.text.limits()
            )
        ),
    )


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
        raise ConfigError(subject, f"there are more than {_MOST_FILES} files in it", "keep only what slides need")
    for needed in (SETTINGS_FILE, SLIDES_FILE):
        if folder_dir / needed not in files:
            raise ConfigError(
                subject, f"there is no {needed} in it", "lamplighter template new makes a template with all it needs"
            )
    for file in files:
        _check_text(subject, file.relative_to(folder_dir), _read_text(subject, file))


def _read_text(subject: str, file: Path) -> str:
    """Return the text of a file, "" when it is none: Typst takes only UTF-8 for source, whatever the file's name."""
    try:
        return read_capped(file, limit=_MOST_BYTES_OF_A_FILE, what="template file").decode("utf-8")
    except UnicodeDecodeError:
        return ""
    except InputError as error:
        raise ConfigError(subject, f"{file.name}: {error.cause}", "put a smaller plain file in its place") from None


def _check_text(subject: str, name: Path, text: str) -> None:
    for pattern, cause, remedy in _FORBIDDEN:
        found = pattern.search(text)
        if found:
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError(subject, f"{name}:{line}: {cause}", remedy)
