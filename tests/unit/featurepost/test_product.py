"""The parser of a shop's product list against every shape the wire is known to have (reference §1.1)."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.featurepost.product import (
    HalfAnswer,
    ProductList,
    ShopAnswerError,
    ShopProduct,
    choose_order,
    find_obstacle,
    parse_products,
)

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def variant(**changes: Json) -> dict[str, Json]:
    """Return a variant as the list shows it."""
    return {
        "id": 45236830208268,
        "title": "Default Title",
        "option1": "Default Title",
        "option2": None,
        "sku": None,
        "featured_image": None,
        "available": True,
        "price": "19.90",
        "compare_at_price": None,
        **changes,
    }


def image(**changes: Json) -> dict[str, Json]:
    """Return an image as the list shows it."""
    return {"id": 7, "position": 1, "src": "https://cdn.shopify.com/s/files/1/a.jpg?v=1", "width": 1200, "height": 900,
            **changes}  # fmt: skip


def product(**changes: Json) -> dict[str, Json]:
    """Return a product as the list shows it."""
    return {
        "id": 15091381174646,
        "title": "Moss Bowl",
        "handle": "moss-bowl",
        "body_html": "<p>Stoneware.</p>",
        "published_at": "2026-02-24T09:39:52+01:00",
        "created_at": "2026-02-01T09:00:00+01:00",
        "updated_at": "2026-03-01T09:00:00+01:00",
        "vendor": "Kiln & Co ",
        "product_type": "",
        "tags": ["NOREVIEW", "-38.00€"],
        "options": [{"name": "Title", "position": 1, "values": ["Default Title"]}],
        "variants": [variant()],
        "images": [image()],
        **changes,
    }


def parse(*products: Json) -> ProductList:
    """Parse a list of these products."""
    return parse_products(json.dumps({"products": list(products)}).encode())


def parse_one(**changes: Json) -> ShopProduct:
    """Parse a list of one product and return it."""
    found = parse(product(**changes))
    assert found.unreadable == ()
    return found.products[0]


def test_a_product_is_read_with_its_texts_tidied() -> None:
    """Stray blanks go, the body stays as it is."""
    read = parse_one(title="  Moss \t Bowl ")
    assert (read.id, read.title, read.vendor) == (15091381174646, "Moss Bowl", "Kiln & Co")
    assert read.body_html == "<p>Stoneware.</p>"
    assert read.variants[0].price == Decimal("19.90")
    assert read.options[0].values == ("Default Title",)


@pytest.mark.parametrize(
    "key",
    ["title", "handle", "body_html", "vendor", "product_type", "tags", "options", "variants", "images", "published_at"],
)
@pytest.mark.parametrize("missing", [True, False])
def test_a_field_that_is_null_or_missing_does_not_stop_the_product(key: str, missing: bool) -> None:
    """Only the id must be there; everything else has an empty form."""
    changed = product(**{key: None})
    if missing:
        del changed[key]
    found = parse(changed)
    assert found.unreadable == ()
    assert found.products[0].id == 15091381174646


@pytest.mark.parametrize("tags", [["a"], "a, b", "", None, 7])
def test_tags_are_dropped_in_whatever_form(tags: Json) -> None:
    """A list here, a text in the other dialect: internal codes either way."""
    assert parse_one(tags=tags).title == "Moss Bowl"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), ("", None), ("0.00", None), ("-1", None), ("soon", None), ("45.00", Decimal("45.00")), (45, 45)],
)
def test_a_former_price_is_none_unless_it_is_positive(value: Json, expected: Decimal | None) -> None:
    """Null, empty and 0.00 are three spellings of none."""
    assert parse_one(variants=[variant(compare_at_price=value)]).variants[0].compare_at == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("2200", "2200"), ("19.90", "19.90"), (2200, "2200"), (19.9, "19.9"), ("0.00", "0.00")]
)
def test_a_price_is_read_as_text_or_number(value: Json, expected: str) -> None:
    """Yen without decimals, and numbers, are legal."""
    assert parse_one(variants=[variant(price=value)]).variants[0].price == Decimal(expected)


@pytest.mark.parametrize("price", ["", "free", "1,299.00", "NaN", "Infinity", "1_000", "１０", "1e5", None, [], True])
def test_a_price_that_is_no_plain_number_makes_the_product_unreadable(price: Json) -> None:
    """What Python's Decimal would take too kindly is refused, with a reason."""
    found = parse(product(variants=[variant(price=price)]), product(id=2))
    assert [read.id for read in found.products] == [2]
    assert len(found.unreadable) == 1
    assert found.unreadable[0].startswith("product 1: ")


@pytest.mark.parametrize(("said", "available"), [(True, True), (False, False), (None, False)])
def test_a_variant_is_available_only_when_the_shop_says_so(said: Json, available: bool) -> None:
    """Unknown is not for sale."""
    assert parse_one(variants=[variant(available=said)]).variants[0].available is available


def test_images_stand_in_the_order_of_their_position_and_those_without_an_address_go() -> None:
    """Not in the order of names or of the list; null entries are skipped."""
    images: list[Json] = [
        image(position=3, src="c.jpg"),
        None,
        image(position=1, src="a.jpg"),
        image(src=None),
        image(src=" "),
        image(position=2, src=" b.jpg ", width=None, height=-4),
    ]
    read = parse_one(images=images)
    assert [(found.src, found.width, found.height) for found in read.images] == [
        ("a.jpg", 1200, 900),
        ("b.jpg", 0, 0),
        ("c.jpg", 1200, 900),
    ]


def test_248_images_are_all_kept() -> None:
    """A real product had so many."""
    read = parse_one(images=[image(position=number) for number in range(248, 0, -1)])
    assert [found.position for found in read.images] == list(range(1, 249))


def test_ids_beyond_what_a_float_can_hold_stay_exact() -> None:
    """Ids are integers, never floats."""
    big = 2**53 + 1
    assert parse_one(id=big).id == big


def test_one_bad_product_is_passed_over_with_its_place_and_reason() -> None:
    """The others are not its victims."""
    found = parse(product(id=1), product(id="two"), 7, product(id=3))
    assert [read.id for read in found.products] == [1, 3]
    assert [reason.partition(":")[0] for reason in found.unreadable] == ["product 2", "product 3"]
    assert "id" in found.unreadable[0]


def test_the_first_of_two_products_with_one_id_is_kept() -> None:
    """Titles may repeat, ids may not."""
    found = parse(product(title="First"), product(title="Second"), product(id=9, title="First"))
    assert [read.title for read in found.products] == ["First", "First"]


def test_escapes_and_a_byte_order_mark_are_understood() -> None:
    r"""Shopify writes < as \u003c and / as \/."""
    wire = b'\xef\xbb\xbf{"products":[{"id":1,"title":"A\\u0026B \\/ C","body_html":"\\u003cp\\u003e"}]}'
    read = parse_products(wire).products[0]
    assert (read.title, read.body_html) == ("A&B / C", "<p>")


def test_an_empty_list_is_a_list() -> None:
    """Whether no product is a trouble is for the shop to say."""
    assert parse_products(b'{"products":[]}') == ProductList(products=())


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"{}",
        b"null",
        b"7",
        b'{"products":null}',
        b'{"products":{}}',
        b'{"product":{"id":1}}',
        b'{"errors":"Page * Limit exceeds the 25000 limit."}',
        b'{"products":[NaN]}',
        b'{"products":[]} trailing',
        b'\xff\xfe{"products":[]}',
        b'{"products":[{"id":1,"title":"\xff"}]}',
        b"error code: 1010",
        b'{"products":' + b"[" * 100_000,
    ],
)
def test_what_is_no_product_list_is_an_error_with_a_printable_snippet(content: bytes) -> None:
    """Status is judged before this; here the bytes are."""
    with pytest.raises(ShopAnswerError) as caught:
        parse_products(content, subject="shop.example/products.json")
    line = str(caught.value)
    assert line.startswith("shop.example/products.json: ")
    assert line.isprintable()
    assert len(line) < 400


def test_a_web_page_is_named_by_its_title_and_not_tried_again() -> None:
    """A password page or a challenge says itself what it is."""
    page = b"<!doctype html><html><head><title>Opening\nsoon \x07</title></head></html>"
    with pytest.raises(
        ShopAnswerError, match="a web page came instead of a product list, titled 'Opening soon"
    ) as caught:
        parse_products(page)
    assert caught.value.permanent
    assert str(caught.value).isprintable()


def test_a_web_page_without_a_title_is_shown_by_its_beginning() -> None:
    """There is always something to recognise it by."""
    with pytest.raises(ShopAnswerError, match="beginning with '<html><body>hi"):
        parse_products(b"<html><body>hi</body></html>")


@pytest.mark.parametrize("content", [b'{"products":[{"id":1,"ti', b'{"products":[', b"", b" \n "])
def test_half_an_answer_may_pass_and_says_that_it_breaks_off(content: bytes) -> None:
    """The connection may be better next time."""
    with pytest.raises(HalfAnswer) as caught:
        parse_products(content)
    assert not caught.value.permanent


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"title": "  "}, "no title"),
        ({"variants": []}, "sold out"),
        ({"variants": [variant(available=False)]}, "sold out"),
        ({"variants": [variant(price="0.00")]}, "not for sale"),
        ({"variants": [variant(price="0.00"), variant(price="9.00", available=False)]}, "not for sale"),
        ({"images": []}, "no usable photo"),
        ({"images": [image(width=599), image(height=240)]}, "no usable photo"),
    ],
)
def test_a_product_that_cannot_be_featured_is_passed_over_with_a_reason(changes: dict[str, Json], reason: str) -> None:
    """No title, nothing to buy, no price, no picture."""
    assert find_obstacle(parse_one(**changes)) == reason


def test_a_product_that_can_be_bought_and_shown_is_usable_with_its_large_images() -> None:
    """An image of unknown size is given a chance, a small one is not."""
    read = parse_one(
        variants=[variant(available=False), variant(price="5.00")],
        images=[
            image(position=1, src="small.jpg", width=599),
            image(position=2, src="good.jpg", width=600, height=600),
            image(position=3, src="unknown.jpg", width=None),
        ],
    )
    assert find_obstacle(read) == ""
    assert [found.src for found in read.usable_images] == ["good.jpg", "unknown.jpg"]


@pytest.mark.parametrize(
    ("shown", "usable"),
    [
        ({"red": [1], "blue": [2], "all": []}, ["blue", "all"]),
        ({"red": [1], "both": [1, 2]}, ["both"]),
        ({"red": [1], "gone": [1, 3]}, ["red", "gone"]),
        ({"red": [1], "unknown": [9]}, ["unknown"]),
        ({"red": None, "blue": [None]}, ["red", "blue"]),
    ],
)
def test_a_picture_of_what_is_sold_out_gives_way(shown: dict[str, Json], usable: list[str]) -> None:
    """Variants 1 and 3 are sold out; their pictures are used only where there are no others."""
    read = parse_one(
        variants=[variant(id=1, available=False), variant(id=2), variant(id=3, available=False)],
        images=[image(src=src, position=number, variant_ids=ids) for number, (src, ids) in enumerate(shown.items())],
    )
    assert [found.src for found in read.usable_images] == usable


def test_a_small_picture_is_no_other() -> None:
    """A large one of what is sold out is better than none."""
    read = parse_one(
        variants=[variant(id=1, available=False), variant(id=2)],
        images=[image(src="red", variant_ids=[1]), image(src="small", width=300, variant_ids=[2])],
    )
    assert [found.src for found in read.usable_images] == ["red"]


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["19.90", "", "0.00", "x.jpg"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_FIELDS = st.sampled_from([*product(), *variant(), *image(), "name", "values"])
_LOOSE = st.dictionaries(_FIELDS, _JSON | st.lists(st.dictionaries(_FIELDS, _JSON, max_size=6), max_size=3), max_size=8)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_at_all_raise_anything_but_our_error(content: bytes) -> None:
    """Whatever a server sends, it is a list or one line."""
    with contextlib.suppress(ShopAnswerError):
        parse_products(content)


@given(st.lists(_LOOSE.map(lambda loose: {"id": 1, **loose}) | _JSON, max_size=4), st.booleans())
def test_no_json_of_any_shape_raises_anything_but_our_error(products: list[Json], ascii_only: bool) -> None:
    """Each product is read or has a reason, and whatever was read can be judged."""
    content = json.dumps({"products": products}, ensure_ascii=ascii_only).encode("utf-8", errors="surrogatepass")
    with contextlib.suppress(ShopAnswerError):
        found = parse_products(content)
        assert len(found.products) + len(found.unreadable) <= len(products)
        for read in found.products:
            assert find_obstacle(read) or read.usable_images


def order(titles: dict[int, str], used: tuple[int, ...] = ()) -> list[int]:
    """Return the ids of products with these titles in the order of their turns."""
    wire = [product(id=number, title=title) for number, title in titles.items()]
    products = parse_products(json.dumps({"products": wire}).encode()).products
    return [found.id for found in choose_order(products, used)]


def test_products_take_turns() -> None:
    """Never used ones come first in the shop's order, then the least recently used."""
    assert order({1: "Mug", 2: "Bowl", 3: "Plate", 4: "Vase"}, used=(3, 1)) == [2, 4, 3, 1]


def test_sizes_of_one_thing_do_not_crowd_one_feature() -> None:
    """The second size of a bottle waits until every other thing had its turn."""
    titles = {1: "Bottle | 24 OZ", 2: "bottle | 36 OZ", 3: "Bottle - Red", 4: "Mug", 5: "Vase (tall)"}
    assert order(titles) == [1, 4, 5, 2, 3]


@pytest.mark.parametrize("number", [-1, 2**63, 10**300])
def test_an_id_that_shopify_cannot_give_makes_the_product_unreadable(number: int) -> None:
    """It would become a file name and a number in the database."""
    found = parse(product(id=number), product(id=2))
    assert [read.id for read in found.products] == [2]
    assert found.unreadable[0].startswith("product 1: ")
