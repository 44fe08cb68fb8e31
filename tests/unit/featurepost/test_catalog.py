"""The catalog: which brands may be written, and the one line for those that may not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamplighter.errors import ConfigError, InputError
from lamplighter.featurepost.catalog import Brand, parse_catalog, read_catalog

Value = str | int | float | bool | None | list[str] | dict[str, str]
GOOD: dict[str, Value] = {
    "slug": "kiln-lane",
    "name": "Kiln & Lane",
    "shop": "https://shop.example",
    "handle": "@kiln.lane",
    "language": "en",
    "permission": "own",
}


def parse(*brands: dict[str, Value]) -> tuple[Brand, ...]:
    """Return the brands of a catalog file."""
    return parse_catalog(json.dumps({"brands": brands}).encode())


def refuse(content: bytes | str | dict[str, Value]) -> str:
    """Return the one line that refuses a catalog, or a brand that is good but for some fields."""
    if isinstance(content, dict):
        content = json.dumps({"brands": [{**GOOD, **content}]})
    with pytest.raises(ConfigError) as caught:
        parse_catalog(content if isinstance(content, bytes) else content.encode())
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("brand-catalog.json: ")
    return line.removeprefix("brand-catalog.json: ")


def test_six_fields_are_enough() -> None:
    """Everything else has a default that works."""
    (brand,) = parse(GOOD)
    assert (brand.template, brand.currency, brand.url, brand.products_per_feature) == ("default", "", "", 3)
    assert brand.hashtags == ()
    assert brand.shop_folder == ""


def test_every_field_is_taken() -> None:
    """What a person writes is what a feature is made with."""
    (brand,) = parse(
        {
            **GOOD,
            "shop": "file:shop/kiln",
            "url": "https://kiln.example",
            "language": "ja",
            "currency": "JPY",
            "template": "editorial",
            "theme": {"ink": "#000000", "accent": "#C24d2c"},
            "permission": "written",
            "hashtags": ["#焼き物", "slow_home"],
            "products_per_feature": 6,
        }
    )
    assert (brand.shop_folder, brand.url, brand.language, brand.currency) == (
        "shop/kiln", "https://kiln.example", "ja", "JPY"
    )  # fmt: skip
    assert (brand.theme.accent, brand.theme.paper, brand.hashtags) == ("#C24d2c", "", ("#焼き物", "slow_home"))


def test_the_order_is_the_files() -> None:
    """It decides between brands that were never featured."""
    slugs = ["b", "a", "c"]
    assert [brand.slug for brand in parse(*({**GOOD, "slug": slug} for slug in slugs))] == slugs


@pytest.mark.parametrize("field", GOOD)
def test_a_missing_field_is_named(field: str) -> None:
    """With the brand it is missing from."""
    entry = {key: value for key, value in GOOD.items() if key != field}
    line = refuse(json.dumps({"brands": [GOOD, entry]}))
    assert line == f"brand 2: Object missing required field `{field}`; correct it and run again"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("handel", "handle"),
        ("Slug", "slug"),
        ("hashtag", "hashtags"),
        ("products_per_features", "products_per_feature"),
    ],
)
def test_an_unknown_field_is_named_with_the_nearest_right_one(wrong: str, right: str) -> None:
    """A typing mistake is never silent."""
    line = refuse({wrong: "x"})
    assert (
        line == f"brand 1: Object contains unknown field `{wrong}`; did you mean `{right}`?; correct it and run again"
    )


def test_an_unknown_field_of_the_theme_and_of_the_file_are_named_too() -> None:
    """Every level is strict."""
    assert "unknown field `onaccent` - at `$.theme`; did you mean `on_accent`?" in refuse(
        {"theme": {"onaccent": "#000000"}}
    )
    assert "unknown field `brand`; did you mean `brands`?" in refuse('{"brand": []}')


@pytest.mark.parametrize(
    "slug",
    [
        "", "-", "a-", "-a", "a--b", "A", "a_b", "a/b", "..", "../x", "a b", "a.b", "é", "🫖", "a\n", "a\x00",
        "a" * 41, "a" * 300, ".removed-x",
    ],
)  # fmt: skip
def test_a_slug_that_is_no_plain_name_is_refused(slug: str) -> None:
    """It becomes part of a folder's name."""
    assert "slug must be 1 to 40 small letters, digits and single hyphens" in refuse({"slug": slug})


@pytest.mark.parametrize("slug", ["a", "1", "a-b-2", "a" * 40])
def test_plain_slugs_are_taken(slug: str) -> None:
    """Up to 40 letters."""
    assert parse({**GOOD, "slug": slug})[0].slug == slug


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "name must have 1 to 60 letters"),
        ({"name": "  "}, "name must have 1 to 60 letters"),
        ({"name": "x" * 61}, "name must have 1 to 60 letters"),
        ({"name": "a\nb"}, "name must have 1 to 60 letters in one line"),
        ({"name": "\x1b[31mred"}, "name must have"),
        ({"name": "\u200b"}, "all of them to be seen"),
        ({"name": "\u202eabc"}, "all of them to be seen"),
        ({"name": "\ufeffabc"}, "all of them to be seen"),
        ({"name": "abc \uffff"}, "all of them to be seen"),
        ({"name": "abc \ue000"}, "all of them to be seen"),
        ({"shop": ""}, "shop must be"),
        ({"shop": "shop.example"}, "shop must be https://… or file:FOLDER"),
        ({"shop": "ftp://shop.example"}, "shop must be"),
        ({"shop": "http://shop.example"}, "plain http:// only for a listed host, with its port"),
        ({"shop": "http://127.0.0.1/a:80"}, "shop must be"),
        ({"shop": "http://127.0.0.1:99999"}, "shop must be"),
        ({"shop": "https://shop.example:https"}, "shop must be"),
        ({"shop": "https://"}, "shop must be"),
        ({"shop": "https://[::1"}, "shop must be"),
        ({"shop": "https://me:pw@shop.example"}, "shop must be"),
        ({"shop": "https://shop.example/a b"}, "shop must be"),
        ({"shop": "file:"}, "shop names no folder after file:"),
        ({"shop": "file:a\x00b"}, "shop holds a letter that cannot be seen"),
        ({"shop": "https://a.example/\n"}, "shop holds a letter that cannot be seen"),
        ({"handle": "kiln"}, "handle must be like @name"),
        ({"handle": "@"}, "handle must be like @name"),
        ({"handle": "@a b"}, "handle must be like @name"),
        ({"handle": "@a\n"}, "handle must be like @name"),
        ({"url": "kiln.example"}, "url must begin with https://"),
        ({"url": f"https://kiln.example/{'x' * 300}"}, "url must have at most 300 letters"),
        ({"url": "http://kiln.example"}, "url must begin with https://"),
        ({"url": "http://127.0.0.1:80"}, "url must begin with https://"),
        ({"url": "javascript:alert(1)"}, "url must begin with https://"),
        ({"currency": "eur"}, "currency must be like EUR"),
        ({"currency": "€"}, "currency must be like EUR"),
        ({"theme": {"ink": "red"}}, "theme ink = 'red' must be like #c24d2c"),
        ({"theme": {"accent": "#fff"}}, "theme accent"),
        ({"hashtags": ["two words"]}, "hashtags hold 'two words'"),
        ({"hashtags": [""]}, "hashtags hold ''"),
        ({"hashtags": ["##a"]}, "hashtags hold"),
        ({"hashtags": [f"a{number}" for number in range(31)]}, "hashtags are more than 30"),
        ({"products_per_feature": 0}, "products_per_feature must be 1 to 6"),
        ({"products_per_feature": 7}, "products_per_feature must be 1 to 6"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_work_is_refused_with_what_would(changes: dict[str, Value], words: str) -> None:
    """The line names the brand and the field."""
    line = refuse(changes)
    assert line.startswith("brand 'kiln-lane': ")
    assert words in line


@pytest.mark.parametrize(
    "shop", ["https://shop.example", "https://shop.example:8443/a", "http://127.0.0.1:8000", "http://[::1]:80"]
)
def test_shops_on_the_web_are_taken_by_https_and_by_plain_http_with_a_port(shop: str) -> None:
    """Whether that host and port is listed, only the settings know."""
    assert parse({**GOOD, "shop": shop})[0].shop == shop


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"language": "de"}, "language must be en or ja"),
        ({"language": None}, "language must be en or ja"),
        ({"permission": "none"}, "permission must be own, written or licensed"),
        ({"permission": True}, "permission must be own, written or licensed"),
        ({"name": 3}, "Expected `str`, got `int` - at `$.name`"),
        ({"name": None}, "Expected `str`, got `null` - at `$.name`"),
        ({"hashtags": "a"}, "Expected `array`, got `str` - at `$.hashtags`"),
        ({"products_per_feature": "3"}, "Expected `int`, got `str`"),
        ({"products_per_feature": 2.5}, "Expected `int`, got `float`"),
        ({"theme": None}, "Expected `object`, got `null` - at `$.theme`"),
    ],
)
def test_a_value_of_another_kind_is_named(changes: dict[str, Value], words: str) -> None:
    """The words are the parser's, with the place; where there is a choice, it is told."""
    assert refuse(changes).startswith(f"brand 1: {words}")


def test_a_slug_that_is_there_twice_is_refused() -> None:
    """Two brands would share one history."""
    assert refuse(json.dumps({"brands": [GOOD, {**GOOD, "name": "Other"}]})).startswith(
        "the slug 'kiln-lane' is there twice"
    )


@pytest.mark.parametrize("content", ['{"brands": []}', b'\xef\xbb\xbf{"brands": []}'])
def test_a_catalog_without_brands_says_what_to_do(content: str | bytes) -> None:
    """It is what init writes when it knows no shop."""
    assert refuse(content) == 'there is no brand in it; add one under "brands"'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "this is not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (b"{}", "Object missing required field `brands`"),
        (b'{"brands": {}}', "Expected `array`, got `object`"),
        (b'{"brands": [3]}', "brand 1: Expected `object`, got `int`"),
        (b'{"brands": [', "this is not JSON"),
        (b'{"brands": [],}', "this is not JSON"),
        (b'{"brands": [NaN]}', "this is not JSON"),
        (b'{"brands": [{"slug": NaN}]}', "this is not JSON"),
        (b'{"brands": [{"slug": Infinity}]}', "this is not JSON"),
        (b'{"brands": ["\xff"]}', "byte 13 is not UTF-8"),
        ('{"brands": []}'.encode("utf-16"), "byte 0 is not UTF-8"),
        (b'{"brands": ' + b"[" * 100_000, ""),
        (b'{"brands": [{"name": "\\ud800"}]}', ""),
    ],
)
def test_what_is_no_catalog_is_refused_in_one_line(content: bytes, words: str) -> None:
    """Whatever a person saved there."""
    assert refuse(content).startswith(words)


KEYS = st.sampled_from(["brands", *GOOD, "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=8),
    max_leaves=20,
)


@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps({"brands": [value]}).encode()))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_a_catalog_or_one_line(content: bytes) -> None:
    """Nothing but our own error comes out."""
    told = ""
    try:
        parse_catalog(content)
    except ConfigError as error:
        told = str(error)
    assert "\n" not in told


def test_a_thousand_brands_are_read() -> None:
    """Nothing here grows with the square."""
    assert len(parse(*({**GOOD, "slug": f"b{number}"} for number in range(1000)))) == 1000


def test_a_missing_catalog_a_folder_and_a_huge_one_are_no_input(tmp_path: Path) -> None:
    """What cannot be read as a file names it."""
    file = tmp_path / "brand-catalog.json"
    with pytest.raises(InputError, match="no such catalog"):
        read_catalog(file)
    file.mkdir()
    with pytest.raises(InputError, match="folder"):
        read_catalog(file)
    file.rmdir()
    file.write_bytes(b" " * 4_000_001)
    with pytest.raises(InputError, match="larger than"):
        read_catalog(file)


def test_the_file_is_named_and_never_written(tmp_path: Path) -> None:
    """The person's file stays the person's."""
    file = tmp_path / "brand-catalog.json"
    file.write_text(json.dumps({"brands": [GOOD]}))
    file.chmod(0o444)
    before = file.stat()
    assert read_catalog(file)[0].slug == "kiln-lane"
    assert file.stat() == before
    file.chmod(0o644)
    file.write_text("{")
    with pytest.raises(ConfigError) as caught:
        read_catalog(file)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize("name", ["🫖", "👨\u200d👩\u200d👧 & Co", "كيلن", "می\u200cروم", "1"])
def test_a_name_may_have_any_letter_one_can_see(name: str) -> None:
    """With the joiners that emoji and Persian need."""
    assert parse({**GOOD, "name": name})[0].name == name


def test_a_field_that_is_there_twice_is_refused() -> None:
    """JSON would take the last one in silence."""
    twice = json.dumps(GOOD).replace('"name": "Kiln & Lane"', '"name": "One", "name": "Two"')
    assert refuse(f'{{"brands": [{twice}]}}') == "brand 'kiln-lane': `name` is there twice; keep one of the two"
    assert refuse(f'{{"brands": [], "brands": [{json.dumps(GOOD)}]}}') == "`brands` is there twice; keep one of the two"


def test_a_very_long_unknown_field_is_shown_in_part() -> None:
    """The way out must still be in the line."""
    line = refuse({"k" * 5000: "x"})
    assert len(line) < 200
    assert line.endswith("correct it and run again")
