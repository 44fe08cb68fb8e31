"""The settings of a template: template.toml, read strictly; what is wrong is told with its line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import msgspec

from lamplighter.errors import ConfigError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role, Struct
from lamplighter.featurepost.slides.palette import choose_palette

CONTRACT = 1
SETTINGS_FILE = "template.toml"
# How each key is written that must be there.
_EXAMPLES = MappingProxyType(
    {
        "contract": f"contract = {CONTRACT}",
        "fonts": 'fonts = ["Inter", "Noto Sans JP"]',
        "theme": "a table [theme] with ink, paper, accent and on_accent",
        "roles": "a table [roles.cover], and one for each other role",
    }
)
_SIDES = range(16, 4097)
_REMEDY = "correct it and run again"
_SHOWN_LETTERS = 40
_Table = Mapping[str, object]
_Found = TypeVar("_Found")


class Texts(Struct, frozen=True, kw_only=True):
    """The most letters each text of a role may have; None where the template names no limit."""

    kicker: int | None = None
    title: int | None = None
    subtitle: int | None = None
    name: int | None = None
    price: int | None = None
    note: int | None = None
    body: int | None = None

    def limits(self) -> tuple[tuple[str, int], ...]:
        """Return each text that has a limit, with it."""
        found = ((field, getattr(self, field)) for field in self.__struct_fields__)
        return tuple((field, letters) for field, letters in found if isinstance(letters, int))


class RoleSettings(Struct, frozen=True, kw_only=True):
    """[roles.X]: the box of the photo in pixels, whether there must be one, how long the texts may be."""

    photo: tuple[int, int] | None = None
    require_photo: bool = False
    text: Texts = Texts()


class TemplateSettings(Struct, frozen=True, kw_only=True):
    """The whole of template.toml."""

    contract: int
    fonts: tuple[str, ...]
    theme: Theme
    roles: dict[Role, RoleSettings]
    size: tuple[int, int] = (1080, 1350)


def parse_template_settings(content: bytes, *, subject: str) -> TemplateSettings:
    """Return what template.toml says; raises ConfigError with the line, and the nearest right key for a wrong one."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(subject, f"{SETTINGS_FILE}:{line}: this is not UTF-8", "save the file as UTF-8") from None
    try:
        table: _Table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: a number of 5,000 digits
        raise ConfigError(subject, _explain_syntax(str(error), text), _REMEDY) from None
    return _Reader(subject=subject, text=text, table=table).read()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Turns a parsed file into settings; `text` is what its lines are told by."""

    subject: str
    text: str
    table: _Table

    def read(self) -> TemplateSettings:
        for path, known in self._unknown_keys():
            near = difflib.get_close_matches(path[-1], known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise self.error(path, f"unknown key {path[-1][:_SHOWN_LETTERS]!r}; {hint}")
        for role, found in _subtable(self.table, "roles").items():
            self._convert(found, RoleSettings, ("roles", role))
        settings = self._convert(self.table, TemplateSettings, ())
        self._check(settings)
        return settings

    def error(self, path: tuple[str, ...], cause: str) -> ConfigError:
        """Return the error for a key, with the line it stands on where that can be told."""
        line = find_line(path, self.text)
        return ConfigError(self.subject, f"{SETTINGS_FILE}:{f'{line}:' if line else ''} {cause}", _REMEDY)

    def _unknown_keys(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield each key that is none, with the keys there are in its table."""
        roles = _subtable(self.table, "roles")
        tables: list[tuple[tuple[str, ...], _Table, tuple[str, ...]]] = [
            ((), self.table, TemplateSettings.__struct_fields__),
            (("theme",), _subtable(self.table, "theme"), Theme.__struct_fields__),
            (("roles",), roles, tuple(role.value for role in Role)),
        ]
        for name in roles:
            role = _subtable(roles, name)
            tables.append((("roles", name), role, RoleSettings.__struct_fields__))
            tables.append((("roles", name, "text"), _subtable(role, "text"), Texts.__struct_fields__))
        for path, table, known in tables:
            yield from (((*path, key), known) for key in table if key not in known)

    def _convert(self, value: object, kind: type[_Found], place: tuple[str, ...]) -> _Found:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$")
            inner = tuple(part for part in re.split(r"[.\[\]`]+", path) if part and not re.fullmatch(r"\d+|\.*", part))
            full = (*place, *inner)
            name = f"{'.'.join(full)}: " if full else ""
            absent = re.fullmatch(r"Object missing required field `(\w+)`", message)
            if absent:
                raise self.missing(full, absent[1]) from None
            raise self.error(full, f"{name}{message}") from None

    def missing(self, place: tuple[str, ...], key: str) -> ConfigError:
        """Return the error for a key that must be there, with the way it is written."""
        where = f" in [{'.'.join(place)}]" if place else ""
        return ConfigError(self.subject, f"{SETTINGS_FILE}: {key} is missing", f"write {_EXAMPLES[key]}{where}")

    def _check(self, settings: TemplateSettings) -> None:
        """Raise ConfigError for the first setting that cannot work."""
        for path, problem in self._problems(settings):
            raise self.error(path, problem)
        try:
            choose_palette(Theme(), settings.theme, subject=self.subject)
        except ConfigError as error:
            colour = re.search(r"the theme's (\w+)", error.cause)
            path = ("theme", colour[1]) if colour else ("theme",)
            line = find_line(path, self.text) or find_line(("theme",), self.text)
            place = f"{SETTINGS_FILE}:{f'{line}:' if line else ''}"
            raise ConfigError(self.subject, f"{place} {error.cause}", error.remedy) from None

    def _problems(self, settings: TemplateSettings) -> Iterator[tuple[tuple[str, ...], str]]:
        contract = f"contract is {settings.contract}, this version knows {CONTRACT}"
        for wrong, key, cause in (
            (settings.contract != CONTRACT, "contract", contract),
            (not settings.fonts, "fonts", "fonts is empty"),
            (not settings.roles, "roles", "there is no role"),
            (bool(wide := _find_wrong_side(settings.size)), "size", f"size: {wide}"),
        ):
            if wrong:
                yield (key,), cause
        for role, found in settings.roles.items():
            wrong_side = _find_wrong_side(found.photo or ())
            if wrong_side:
                yield ("roles", role.value, "photo"), f"roles.{role.value}.photo: {wrong_side}"
            for field, letters in found.text.limits():
                if letters < 1:
                    limit = ("roles", role.value, "text", field)
                    yield limit, f"{'.'.join(limit)}: {letters} is not 1 or more letters"


def _find_wrong_side(sides: tuple[int, ...]) -> str:
    """Return what is wrong with the first side that no picture can have, "" when all can be."""
    wrong = [side for side in sides if side not in _SIDES]
    return f"{wrong[0]} is not {_SIDES.start} to {_SIDES.stop - 1} pixels" if wrong else ""


def find_line(path: tuple[str, ...], text: str) -> int:
    """Return the line of a TOML file on which a key stands, also inside an inline table; 0 when it cannot be told."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
        if header:
            table = _split_key(header[1])
            if path and table[: len(path)] == path:
                return number
            continue
        entry = re.match(r"\s*([\w\"'.\s-]+?)\s*=", line)
        if not (entry and path):
            continue
        full = (*table, *_split_key(entry[1]))
        inline = len(full) < len(path) and path[: len(full)] == full
        if full == path or (inline and re.search(rf"[{{,\s\"'.]{re.escape(path[-1])}[\"']?\s*[=.]", line)):
            return number
    return 0


def _split_key(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _subtable(table: _Table, key: str) -> _Table:
    """Return a table inside another, an empty one where there is none."""
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _explain_syntax(message: str, text: str) -> str:
    """Return tomllib's words with the line in front."""
    found = re.search(r" \(at line (\d+), column \d+\)$", message)
    at_end = " (at end of document)"
    line = int(found[1]) if found else text.rstrip("\n").count("\n") + 1 if message.endswith(at_end) else 0
    words = message.removesuffix(found[0] if found else at_end)
    return f"{SETTINGS_FILE}:{f'{line}:' if line else ''} this is not TOML: {words}"
