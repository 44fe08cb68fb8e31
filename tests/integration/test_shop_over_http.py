"""The real client and the real shop against the simulated storefront, over loopback."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from PIL import Image
from tests.simulators.shop import (
    Answer,
    ShopSimulator,
    bomb,
    cut_short,
    drip,
    empty_list,
    flood,
    half_json,
    hang,
    make_product,
    redirect,
    refused,
    reset,
    web_page,
)

from lamplighter.errors import UpstreamError
from lamplighter.featurepost.photo import BadPhoto
from lamplighter.featurepost.product import HalfAnswer, ShopAnswerError
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.featurepost.shop import EmptyShop, RateLimited, ShopFailing, ShopRefused, WebShop
from lamplighter.host.clock import SystemClock
from lamplighter.host.http import AddressRefused, BrokenAnswer, Client, TimedOut, TooLarge, TooManyRedirects

QUICK = ShopSettings(
    tries=1,
    wait=timedelta(),
    photo_wait=timedelta(),
    spacing=timedelta(),
    read=timedelta(seconds=0.2),
    total=timedelta(seconds=5),
    list_bytes=2_000_000,
)


@pytest.fixture
def simulator() -> Iterator[ShopSimulator]:
    """Return a shop of two products with pictures."""
    out = io.BytesIO()
    Image.radial_gradient("L").resize((2000, 2000)).convert("RGB").save(out, "JPEG")
    with ShopSimulator(products=[make_product(1), make_product(2)], pictures=lambda _: out.getvalue()) as shop:
        yield shop


def shop_at(simulator: ShopSimulator, settings: ShopSettings = QUICK, *, listed: bool = True) -> WebShop:
    """Return our shop at the simulator's address, which the client was told of or not."""
    allowed = frozenset({f"127.0.0.1:{simulator.port}"})
    clock = SystemClock()
    client = Client(contact="mailto:me@shop.example", allowed_hosts=allowed if listed else frozenset(), clock=clock)
    return WebShop(simulator.url, client, clock, replace(settings, allowed_hosts=allowed))


def test_products_currency_and_photos_come_from_a_living_shop(simulator: ShopSimulator) -> None:
    """The whole way: gzip, escapes, cookies, a picture as JPEG and whole."""
    shop = shop_at(simulator)
    found = shop.fetch_products()
    assert [product.title for product in found.products] == ["Piece 1", "Piece 2"]
    assert found.currency == "EUR"
    assert found.unreadable == ()
    assert shop.fetch_photo(found.products[0].usable_images[0]).format == "JPEG"
    assert simulator.calls()[0].value("limit") == "250"
    assert simulator.calls()[0].headers["user-agent"].startswith("lamplighter/")


def test_a_shop_that_is_empty_for_a_moment_is_asked_again(simulator: ShopSimulator) -> None:
    """The second answer counts."""
    simulator.script(empty_list(), None)
    assert len(shop_at(simulator, replace(QUICK, tries=3)).fetch_products().products) == 2
    assert len(simulator.calls()) == 2


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (web_page("Opening soon"), ShopAnswerError),
        (Answer(body=b"[]"), ShopAnswerError),
        (empty_list(), EmptyShop),
        (half_json(), HalfAnswer),
        (cut_short(), BrokenAnswer),
        (flood(3), TooLarge),
        (bomb(3), TooLarge),
        (refused(401), ShopRefused),
        (refused(402), ShopRefused),
        (refused(403), ShopRefused),
        (refused(404), ShopRefused),
        (refused(410), ShopRefused),
        (refused(423), ShopRefused),
        (refused(429, retry_after="300"), RateLimited),
        (refused(430), RateLimited),
        (refused(500), ShopFailing),
        (refused(503), ShopFailing),
        (reset(), BrokenAnswer),
        (hang(5), TimedOut),
        (redirect("/products.json?limit=250"), TooManyRedirects),
        (redirect("http://169.254.169.254/latest/meta-data"), AddressRefused),
        (redirect("http://127.0.0.1:1/products.json"), AddressRefused),
    ],
)
def test_each_bad_answer_has_its_class_and_is_one_line(
    simulator: ShopSimulator, answer: Answer, kind: type[UpstreamError]
) -> None:
    """What the network does ends in one of our errors, whose subject says where."""
    simulator.always(answer)
    with pytest.raises(kind) as caught:
        shop_at(simulator).fetch_products()
    line = str(caught.value)
    assert line.startswith(f"127.0.0.1:{simulator.port}/products.json: ")
    assert line.isprintable()


def test_a_dripping_list_is_cut_off_at_the_brands_limit(simulator: ShopSimulator) -> None:
    """Every byte comes in time, the list does not."""
    simulator.always(drip(0.05, b" " * 1000))
    with pytest.raises(TimedOut):
        shop_at(simulator, replace(QUICK, total=timedelta(seconds=0.4))).fetch_products()


def test_a_password_page_is_recognised_behind_its_redirect(simulator: ShopSimulator) -> None:
    """302 to /password, then HTML with 200."""
    simulator.script(redirect("/password"))
    simulator.always(web_page("Opening soon"), at="/password")
    with pytest.raises(ShopRefused, match="password page"):
        shop_at(simulator).fetch_products()


def test_a_shop_on_a_private_address_that_is_not_listed_hears_nothing(simulator: ShopSimulator) -> None:
    """No request leaves for it."""
    with pytest.raises(AddressRefused):
        shop_at(simulator, listed=False).fetch_products()
    assert simulator.requests == []


def test_a_picture_that_is_cut_off_is_a_bad_photo(simulator: ShopSimulator) -> None:
    """As whole as its length says, and still only half."""
    shop = shop_at(simulator)
    image = shop.fetch_products().products[0].images[0]
    whole = shop.fetch_photo(image).content
    simulator.always(Answer(body=whole[: len(whole) // 2]), at="*")
    with pytest.raises(BadPhoto, match="cut off"):
        shop.fetch_photo(image)


def test_a_picture_that_is_a_web_page_is_a_bad_photo(simulator: ShopSimulator) -> None:
    """Whatever its name and type say."""
    shop = shop_at(simulator)
    image = shop.fetch_products().products[0].images[0]
    simulator.always(web_page("gone"), at="*")
    with pytest.raises(BadPhoto):
        shop.fetch_photo(image)
