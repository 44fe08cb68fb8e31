"""A name is tidy, ends where a name may end, and is never the name of another product of the same feature."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.featurepost.bracket import is_balanced
from lamplighter.featurepost.feature import Fact, FactSheet
from lamplighter.featurepost.writer.names import name_products, shorten_name, tell_apart, tidy_title


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Walnut  crate ( pears and  plums )", "Walnut crate (pears and plums)"),
        ("Enamel Flask| 18 OZ", "Enamel Flask | 18 OZ"),
        ("Enamel Flask | 18 OZ", "Enamel Flask | 18 OZ"),
        ("Linen throw (moss", "Linen throw moss"),
        ("Linen throw) moss [", "Linen throw moss"),
        ("Desk lamp () brass |", "Desk lamp brass"),
        ("Tin with Carry+ Grip+", "Tin with Carry+ Grip+"),
        ("Plan A", "Plan A"),
        ("灰のマグ（ 大 ）", "灰のマグ（大）"),
        ("(", "("),
    ],
)
def test_a_title_is_tidied_and_nothing_of_it_is_lost(title: str, expected: str) -> None:
    """Blanks are single and outside brackets, brackets are whole, a size after a stroke stays."""
    assert tidy_title(title) == expected


@pytest.mark.parametrize(
    ("name", "letters", "expected"),
    [
        ("The harvest crate (Pears and late plums)", 30, "The harvest crate"),
        ("Stoneware Teapot with Bamboo Handle and Lid", 30, "Stoneware Teapot"),
        ("Wollmantel aus gewalkter Schurwolle", 20, "Wollmantel"),
        ("Ersatzkette mit Gliedern für Modell 7", 30, "Ersatzkette mit Gliedern"),
        ("Brass Hook - 2.0 mm incl. screws and wall plugs", 30, "Brass Hook - 2.0 mm"),
        ("Cast Iron Skillet | 26 CM", 20, "Cast Iron Skillet"),
        ("Adventurous Alpine Meadow Picnic Hamper", 30, "Adventurous Alpine Meadow…"),
        ("栗のカッティングボード【受注生産】", 14, "栗のカッティングボード"),
        ("鉄釉の土瓶／９００ｍｌ", 8, "鉄釉の土瓶"),
        ("Pressed Quince, Pear and Medlar Cordial", 30, "Pressed Quince, Pear…"),
        ("Mug", 30, "Mug"),
    ],
)
def test_a_cut_leaves_nothing_dangling(name: str, letters: int, expected: str) -> None:
    """No open bracket, linking word of any language or stroke stands at the end."""
    assert shorten_name(name, letters) == expected


@pytest.mark.parametrize(
    ("titles", "letters", "expected"),
    [
        (
            ["Copper Kettle with Long Slim Spout | 36 OZ", "Copper Kettle with Long Slim Spout | 24 OZ"],
            30,
            ("Copper Kettle | 36 OZ", "Copper Kettle | 24 OZ"),
        ),
        (
            ["Heavy Flannel Shirt for Long Winters (Slate)", "Heavy Flannel Shirt for Long Winters (Rust)"],
            30,
            ("Heavy Flannel Shirt (Slate)", "Heavy Flannel Shirt (Rust)"),
        ),
        (
            ["Quince Cordial", "Quince, Pear and Medlar Cordial"],
            32,
            ("Quince Cordial", "Quince, Pear and Medlar Cordial"),
        ),
        (["灰のマグ S", "灰のマグ L"], 30, ("灰のマグ S", "灰のマグ L")),
        (["灰のマグ／Ｓ", "灰のマグ／Ｌ"], 30, ("灰のマグ／Ｓ", "灰のマグ／Ｌ")),
        (["【大】灰のマグ", "【小】灰のマグ"], 30, ("【大】灰のマグ", "【小】灰のマグ")),
        (["【受注生産】灰のマグ", "豆皿"], 30, ("灰のマグ", "豆皿")),
        (["Ash Mug", "Ash Mug"], 30, ("Ash Mug", "Ash Mug")),
    ],
)
def test_what_tells_two_products_apart_stays(titles: list[str], letters: int, expected: tuple[str, ...]) -> None:
    """The shared part or the middle goes, the difference does not."""
    assert tell_apart(titles, letters, compact=True) == expected


def test_products_of_one_title_are_told_apart_by_their_choices() -> None:
    """A choice that only one of them offers stands in brackets; without one the titles stay as they are."""
    sheets = [
        FactSheet(
            product_id=number,
            title="Canvas Smock",
            facts=(Fact(id="F1", kind="option", text=f"Colour: {colours}", source="options"),),
        )
        for number, colours in enumerate(("Moss, Rust", "Ink"))
    ]
    assert name_products(sheets, 80) == ("Canvas Smock (Moss, Rust)", "Canvas Smock (Ink)")
    same = msgspec.structs.replace(sheets[0], product_id=9)
    assert name_products([sheets[0], same], 80) == ("Canvas Smock", "Canvas Smock")


_WORDS = st.sampled_from(
    ["Oak", "Tray", "with", "aus", "|", "(", ")", "-", "and", "36 OZ", "24 OZ", "2.0", "™", "灰のマグ", "／", "Ｓ",
     "、", "【限定】", "Handle", "of", "Leather", "Strap", "&", "für"]
)  # fmt: skip


@given(
    titles=st.lists(
        st.lists(_WORDS, min_size=1, max_size=12).map(" ".join).filter(lambda text: any(map(str.isalpha, text))),
        min_size=1,
        max_size=6,
    ),
    letters=st.integers(min_value=8, max_value=60),
    compact=st.booleans(),
)
def test_a_name_always_fits_and_is_never_empty(titles: list[str], letters: int, *, compact: bool) -> None:
    """Whatever the titles are, each has a name within the limit."""
    names = tell_apart(titles, letters, compact=compact)
    assert len(names) == len(titles)
    assert all(0 < len(name) <= letters for name in names)
    assert all(is_balanced(name) for name in names if letters >= 20)


@given(
    start=st.lists(st.sampled_from(["Walnut", "Wide", "Rack", "for", "the", "Wall", "aus", "Holz"]), min_size=1),
    ends=st.lists(st.sampled_from(["36 OZ", "24 OZ", "Left", "Right", "(Moss)", "(Rust)", "S", "L"]), unique=True),
    mark=st.sampled_from([" ", " | ", " - ", ", "]),
)
def test_titles_that_differ_have_names_that_differ(start: list[str], ends: list[str], mark: str) -> None:
    """One long beginning and other ends never become one name, and no name ends in the air."""
    names = tell_apart([f"{' '.join(start)}{mark}{end}" for end in ends], 40)
    assert len(set(names)) == len(ends)
    assert not any(re.search(r"(?:\s(?:for|the|aus|with)|[|(,-])…?$", name) for name in names)
