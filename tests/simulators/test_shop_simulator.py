"""The simulated shop behaves as the reference says real ones do; whoever tests against it relies on that."""

from __future__ import annotations

import gzip
import io
import json
import time
from collections.abc import Iterator
from decimal import Decimal
from http.client import HTTPConnection, HTTPResponse, IncompleteRead, RemoteDisconnected
from pathlib import Path
from typing import cast

import pytest
from PIL import Image
from tests.simulators.shop import (
    Product,
    ShopSimulator,
    bomb,
    cut_short,
    drip,
    empty_list,
    flood,
    half_json,
    hang,
    localise_pictures,
    make_product,
    read_products,
    redirect,
    refused,
    render_wire,
    reset,
    web_page,
)

AGENT = "lamplighter/1.0 (+https://example.org)"
JPEG_ONLY = "image/jpeg,image/png;q=0.9,image/webp;q=0.8"


def get(shop: ShopSimulator, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
    """Ask once, with a named agent unless another is given."""
    connection = HTTPConnection("127.0.0.1", shop.port, timeout=5)
    sent = {"User-Agent": AGENT, **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        connection.request("GET", path, headers=sent)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def listed(shop: ShopSimulator, path: str = "/products.json") -> list[Product]:
    """Return the products a list answers with."""
    return cast("list[Product]", json.loads(get(shop, path)[1])["products"])


def photo(width: int = 1200, height: int = 1500) -> bytes:
    """Return a real JPEG."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (194, 77, 44)).save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def shop() -> Iterator[ShopSimulator]:
    """Return a shop of three products."""
    with ShopSimulator(products=[make_product(number) for number in range(1, 4)]) as simulator:
        yield simulator


def test_the_list_is_compact_json_with_escapes(shop: ShopSimulator) -> None:
    """<, >, & and / are escaped and nothing is padded, as on the wire."""
    response, body = get(shop, "/products.json?limit=250")
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert body.startswith(b'{"products":[{"id":15091381174641,"title":"Piece 1"')
    assert b"\\u003cp\\u003eMaterial: stoneware.\\u003c\\/p\\u003e" in body
    assert b"\\u0026amp;" in body
    assert b"<" not in body


def test_the_wire_form_means_the_same() -> None:
    """Escapes change the bytes, never the value."""
    value = {"a": "<b>&nbsp;\u00a0\u2028 器/é"}
    assert json.loads(render_wire(value)) == value


def test_limit_and_page_cut_the_list() -> None:
    """The limit is honoured up to 250 and the page after the last is empty."""
    with ShopSimulator(products=[make_product(number) for number in range(260)]) as big:
        assert len(listed(big)) == big.usual_limit
        assert len(listed(big, "/products.json?limit=7")) == 7
        assert len(listed(big, "/products.json?limit=1000")) == 250
        assert len(listed(big, "/products.json?limit=250&page=2")) == 10
        assert listed(big, "/products.json?limit=250&page=3") == []


def test_a_page_beyond_25000_items_is_refused(shop: ShopSimulator) -> None:
    """Page times limit over 25,000 gives 400 with Shopify's words."""
    assert get(shop, "/products.json?limit=250&page=100")[0].status == 200
    response, body = get(shop, "/products.json?limit=250&page=101")
    assert response.status == 400
    assert json.loads(body) == {"errors": "Page * Limit exceeds the 25000 limit."}


def test_one_product_comes_in_another_dialect() -> None:
    """The single product has tags as text, "" for no compare price, and no word on availability."""
    with ShopSimulator(products=[make_product(1, handle="iceflow™-mug", tags=["a", "b"])]) as shop:
        _, body = get(shop, "/products/iceflow%E2%84%A2-mug.json")
        product = json.loads(body)["product"]
        assert product["tags"] == "a, b"
        assert product["variants"][0]["compare_at_price"] == ""
        assert "available" not in product["variants"][0]
        assert get(shop, "/products/other.json")[0].status == 404


def test_meta_tells_currency_and_count(shop: ShopSimulator) -> None:
    """meta.json holds the shop's currency and how many products are published."""
    meta = json.loads(get(shop, "/meta.json")[1])
    assert (meta["currency"], meta["published_products_count"]) == ("EUR", 3)


def test_robots_allows_products_and_disallows_cart(shop: ShopSimulator) -> None:
    """The robots file forbids the cart and says nothing of products."""
    body = get(shop, "/robots.txt")[1].decode()
    assert "Disallow: /cart" in body
    assert "/products" not in body


def test_the_currency_travels_as_a_cookie(shop: ShopSimulator) -> None:
    """The currency of a list is in the cookie of the same answer, unless the shop sends none."""
    assert any(
        "cart_currency=EUR" in value for value in get(shop, "/products.json")[0].headers.get_all("Set-Cookie", [])
    )
    shop.cookie = ""
    assert "cart_currency" not in str(get(shop, "/products.json")[0].headers)


def test_another_market_sees_other_prices(shop: ShopSimulator) -> None:
    """With ?country= the same ids come in another currency, and the cookie says which."""
    shop.markets = {"GB": ("GBP", Decimal("0.8"))}
    response, body = get(shop, "/products.json?country=GB")
    product = json.loads(body)["products"][0]
    assert (product["id"], product["variants"][0]["price"]) == (15091381174641, "24.00")
    assert "cart_currency=GBP" in str(response.headers)


def test_pictures_point_at_the_shop_itself(shop: ShopSimulator) -> None:
    """Addresses of pictures are rewritten with path and query kept; a relative name becomes a path."""
    assert listed(shop)[0]["images"][0]["src"] == f"{shop.url}/s/files/1/0001/0002/files/piece-1.jpg?v=1764000000"  # type: ignore[index,call-overload]
    relative = make_product(1, images=[{"id": 1, "src": "photos/mug.jpg"}])
    assert localise_pictures([relative], "http://x")[0]["images"] == [{"id": 1, "src": "http://x/photos/mug.jpg"}]
    assert relative["images"] == [{"id": 1, "src": "photos/mug.jpg"}]


def test_a_picture_is_webp_to_a_careless_caller() -> None:
    """Without an Accept that names JPEG or PNG the bytes are WebP, whatever the address says."""
    with ShopSimulator(pictures={"/files/mug.jpg": photo()}) as shop:
        asked = get(shop, "/files/mug.jpg", Accept=JPEG_ONLY)
        careless = get(shop, "/files/mug.jpg")
    assert (asked[0].headers["Content-Type"], asked[1]) == ("image/jpeg", photo())
    assert careless[0].headers["Content-Type"] == "image/webp"
    assert careless[1][8:12] == b"WEBP"


@pytest.mark.parametrize(("width", "expected"), [("600", (600, 750)), ("5000", (1200, 1500)), ("junk", (1200, 1500))])
def test_a_picture_is_made_smaller_but_never_larger(width: str, expected: tuple[int, int]) -> None:
    """width= shrinks a picture and never enlarges it."""
    with ShopSimulator(pictures=lambda path: photo() if path.endswith(".jpg") else None) as shop:
        body = get(shop, f"/files/mug.jpg?v=1&width={width}", Accept=JPEG_ONLY)[1]
        assert get(shop, "/files/mug.gif", Accept=JPEG_ONLY)[0].status == 404
    with Image.open(io.BytesIO(body)) as picture:
        assert picture.size == expected


def test_a_picture_that_is_none_is_served_as_it_is() -> None:
    """Broken bytes reach the caller unchanged."""
    with ShopSimulator(pictures={"/files/mug.jpg": b"<html>no</html>"}) as shop:
        assert get(shop, "/files/mug.jpg")[1] == b"<html>no</html>"


@pytest.mark.parametrize("agent", ["python-httpx/0.28", "python-requests/2.32", "curl/8.5.0", ""])
def test_http_libraries_are_banned_by_their_name(shop: ShopSimulator, agent: str) -> None:
    """The agent of a library, or none, gets 403 with Cloudflare's code 1010."""
    response, body = get(shop, "/products.json", User_Agent=agent)
    assert (response.status, body) == (403, b"error code: 1010")
    assert get(shop, "/products.json")[0].status == 200


def test_every_request_is_recorded(shop: ShopSimulator) -> None:
    """Path, query, headers and a rising time of each request are kept."""
    get(shop, "/products.json?limit=250&page=1")
    get(shop, "/meta.json")
    first, second = shop.requests
    assert (first.path, first.value("limit"), first.headers["user-agent"]) == ("/products.json", "250", AGENT)
    assert shop.calls("/meta.json") == [second]
    assert first.at <= second.at


def test_scripted_answers_come_once_and_in_order(shop: ShopSimulator) -> None:
    """A script is used up call by call, None is an ordinary answer, and other paths are not touched."""
    shop.script(refused(429, retry_after="7"), None, web_page(), empty_list())
    throttled = get(shop, "/products.json")[0]
    assert (throttled.status, throttled.headers["Retry-After"]) == (429, "7")
    assert get(shop, "/meta.json")[0].status == 200
    assert len(listed(shop)) == 3
    page = get(shop, "/products.json")[0]
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert listed(shop) == []
    assert len(listed(shop)) == 3


@pytest.mark.parametrize("status", [401, 402, 403, 404, 410, 423, 429, 430, 500, 503])
def test_a_refusal_has_its_status(shop: ShopSimulator, status: int) -> None:
    """Each refusal comes with its own status and an HTML page."""
    shop.script(refused(status), at="*")
    assert get(shop, "/products.json")[0].status == status


def test_a_redirect_can_lead_to_the_password_page_or_round_for_ever(shop: ShopSimulator) -> None:
    """A redirect is scripted once; a standing one to itself is a loop."""
    shop.script(redirect("/password"))
    assert get(shop, "/products.json")[0].headers["Location"] == "/password"
    shop.always(redirect("/products.json", status=301))
    assert [get(shop, "/products.json")[0].status for _ in range(3)] == [301, 301, 301]


def test_broken_bodies_are_broken(shop: ShopSimulator) -> None:
    """Half JSON does not parse, a short body ends early, a reset says nothing."""
    shop.script(half_json(), cut_short(), reset())
    with pytest.raises(json.JSONDecodeError):
        json.loads(get(shop, "/products.json")[1])
    with pytest.raises(IncompleteRead):
        get(shop, "/products.json")
    with pytest.raises(RemoteDisconnected):
        get(shop, "/products.json")


def test_a_flood_says_no_length_and_a_bomb_a_small_one(shop: ShopSimulator) -> None:
    """A caller without a cap would read megabytes from both."""
    shop.script(flood(2), bomb(2))
    response, body = get(shop, "/products.json")
    assert response.headers["Content-Length"] is None
    assert len(body) == 3 * 1_048_576
    _, packed = get(shop, "/products.json", Accept_Encoding="gzip")
    assert len(packed) < 10_000
    assert len(gzip.decompress(packed)) > 2 * 1_048_576


def test_json_is_packed_for_whoever_asks(shop: ShopSimulator) -> None:
    """Accept-Encoding: gzip is answered with gzip."""
    response, body = get(shop, "/products.json", Accept_Encoding="gzip, br")
    assert response.headers["Content-Encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(body))["products"]) == 3


def test_a_hanging_shop_outlasts_a_caller_and_ends_with_the_simulator() -> None:
    """A hang lasts longer than the caller's patience, and leaving the block does not wait for it."""
    started = time.monotonic()
    with ShopSimulator() as shop:
        shop.script(hang(60))
        connection = HTTPConnection("127.0.0.1", shop.port, timeout=0.1)
        connection.request("GET", "/products.json", headers={"User-Agent": AGENT})
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()
    assert time.monotonic() - started < 10


def test_a_dripping_body_arrives_slowly_but_whole(shop: ShopSimulator) -> None:
    """A drip keeps each read short of a time limit while the whole takes long."""
    shop.script(drip(0.01, b'{"products":[]}'))
    started = time.monotonic()
    assert listed(shop) == []
    assert time.monotonic() - started >= 0.1


def test_a_file_of_products_can_be_served(tmp_path: Path) -> None:
    """Products are read from a file in the form of the list."""
    file = tmp_path / "products.json"
    file.write_bytes(render_wire({"products": [make_product(9)]}))
    with ShopSimulator(products=read_products(file)) as shop:
        assert [product["title"] for product in listed(shop)] == ["Piece 9"]
