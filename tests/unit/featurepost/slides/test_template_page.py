"""docs/template.md says all that the code knows of a template."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lamplighter.featurepost.slides
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.fixture import FIELDS
from lamplighter.featurepost.slides.palette import Palette
from lamplighter.featurepost.slides.phrases import Field
from lamplighter.featurepost.slides.template_settings import RoleSettings, TemplateSettings, Texts
from lamplighter.featurepost.slides.typesetter import BrandFields, Words

PAGE = (Path(__file__).parents[4] / "docs" / "template.md").read_text("utf-8")
LIBRARY = (Path(lamplighter.featurepost.slides.__file__).parent / "lib" / "lamp.typ").read_text("utf-8")
HELPERS = re.findall(r"^#let ([\w-]+)", LIBRARY, re.MULTILINE)
GIVEN = re.search(r"let c = \((.*?)\)\n", LIBRARY, re.DOTALL)


def _is_named(name: str) -> bool:
    """Say whether the page names it in code: alone, after a dot, or before its arguments."""
    return bool(re.search(rf"`[^`\n]*(?<![\w-]){re.escape(name)}(?![\w-])[^`\n]*`", PAGE))


@pytest.mark.parametrize("name", HELPERS)
def test_every_helper_is_in_the_page(name: str) -> None:
    """Also those that a template should leave alone."""
    assert _is_named(name)


@pytest.mark.parametrize(
    "name",
    sorted(
        {
            *TemplateSettings.__struct_fields__,
            *RoleSettings.__struct_fields__,
            *Texts.__struct_fields__,
            *Theme.__struct_fields__,
            *(f"roles.{role.value}" for role in Role),
        }
        - {"roles"}
    ),
)
def test_every_key_of_template_toml_is_in_the_page(name: str) -> None:
    """A key that is read is one that a person can find."""
    assert _is_named(name)


@pytest.mark.parametrize(
    "name",
    [
        *(f"s.{field}" for field in ("photo", *Words.__struct_fields__)),
        *Field.__struct_fields__,
        *Palette.__struct_fields__,
        *BrandFields.__struct_fields__,
        *(f"{role.value}(s, c)" for role in Role),
    ],
)
def test_all_that_a_slide_is_given_is_in_the_page(name: str) -> None:
    """Texts, the fields of a text, colours and brand lines."""
    assert name in PAGE


def test_all_of_c_is_in_the_page() -> None:
    """As lib/lamp.typ puts it together."""
    assert GIVEN is not None
    names = re.findall(r"(\w+): ", GIVEN[1])
    assert names == ["theme", "brand", "index", "nth", "count", "lang"]
    assert all(f"`c.{name}`" in PAGE for name in names)


def test_every_parameter_of_the_text_helpers_is_in_the_page() -> None:
    """A template is written with the page beside it."""
    for helper in ("fit", "line-of-text", "veil-below", "pill", "dots"):
        found = re.search(rf"#let {helper}\(\s*(.*?),?\s*\) =", LIBRARY, re.DOTALL)
        assert found is not None
        assert all(_is_named(name) for name in re.findall(r"(\w+): ", found[1]) if name not in {"x", "y"})


def test_the_texts_of_each_role_are_in_the_page() -> None:
    """So that a limit is named for what a writer really sends."""
    for fields in FIELDS.values():
        assert ", ".join(f"`{field}`" for field in fields) in PAGE
