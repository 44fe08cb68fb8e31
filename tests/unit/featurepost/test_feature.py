"""The manifest: what a feature says of itself comes back letter by letter, and nothing else is taken for one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.desk import make_feature

from lamplighter.featurepost.feature import Feature, parse_manifest, render_manifest
from lamplighter.featurepost.stock import Place, StockItem

ITEM = StockItem(id="feature-0007-wrenfold", number=7, place=Place.READY, folder=Path("x"))
WHOLE = make_feature(ITEM)


def change(**changes: object) -> bytes:
    """Return a manifest with other values in it."""
    return json.dumps({**json.loads(render_manifest(WHOLE)), **changes}).encode()


def test_a_manifest_comes_back_as_it_was() -> None:
    """Writing and reading are each other's inverse."""
    assert parse_manifest(render_manifest(WHOLE)) == WHOLE


@given(st.text(), st.text(), st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back(title: str, caption: str, alt: str) -> None:
    """Quotes, emoji and line breaks are only letters."""
    feature = make_feature(ITEM, title=title, caption=caption, alts=(alt,))
    assert parse_manifest(render_manifest(feature)) == feature


def test_a_person_can_read_it() -> None:
    """It is indented, ends with a line break and keeps the letters of the language."""
    content = render_manifest(make_feature(ITEM, title="朝の湯のみ"))
    assert content.endswith(b"}\n")
    assert b'\n  "title": "' in content
    assert "朝の湯のみ".encode() in content


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": 2},
        {"unknown": 1},
        {"language": "de"},
        {"number": -1},
        {"number": 2**63},
        {"number": 10**40},
        {"generation": 2**63},
        {"run": -1},
        {"made_at": "2026-05-04T12:00:00"},
        {"made_at": "yesterday"},
        {"made_at": 5},
        {"slides": [{"file": "a"}]},
        {"caption": None},
    ],
)
def test_a_manifest_that_says_anything_else_is_refused(changes: dict[str, object]) -> None:
    """A number must fit the database, an instant must have its zone, a key must be known."""
    with pytest.raises(msgspec.ValidationError):
        parse_manifest(change(**changes))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", render_manifest(WHOLE)[:-20]])
def test_half_a_manifest_is_none(content: bytes) -> None:
    """What was cut off is not read as less."""
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        parse_manifest(content)


def test_every_field_is_written_also_when_it_is_the_default() -> None:
    """A later version with another default reads the same feature."""
    assert json.loads(render_manifest(WHOLE)).keys() == set(Feature.__struct_fields__)
    assert isinstance(parse_manifest(change()).made_at, datetime)


def test_a_manifest_that_a_person_mended_with_a_byte_order_mark_is_read() -> None:
    """Some editors put one first."""
    assert parse_manifest(b"\xef\xbb\xbf" + render_manifest(WHOLE)) == WHOLE
