"""The shop: what is asked, what each answer means, what is tried again, and which pictures are taken."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PIL import Image

from lamplighter.errors import ConfigError, InputError, LamplighterError, UpstreamError
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.photo import BadPhoto, Photo
from lamplighter.featurepost.product import ShopAnswerError, ShopImage
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.featurepost.shop import (
    EmptyShop,
    FolderShop,
    RateLimited,
    Shop,
    ShopFailing,
    ShopMoved,
    ShopRefused,
    Shops,
    WebShop,
    open_shop,
)
from lamplighter.host.http import AddressRefused, Request, Response, TimedOut, Unreachable

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
LIST = json.dumps({"products": [{"id": 1, "title": "Bowl", "handle": "bowl"}]}).encode()
EMPTY = b'{"products":[]}'
LOOPBACK = frozenset({"127.0.0.1:8000", "[::1]:8000"})
SETTINGS = ShopSettings(wait=timedelta(), photo_wait=timedelta())
Step = Response | LamplighterError


class Steady:
    """A clock that moves only when somebody waits, and remembers the waits."""

    def __init__(self) -> None:
        self.steady = timedelta(hours=1)
        self.waits: list[timedelta] = []

    def now(self) -> datetime:
        """Return a fixed instant."""
        return NOW

    def monotonic(self) -> timedelta:
        """Return the steady time."""
        return self.steady

    def wait(self, duration: timedelta) -> None:
        """Move on."""
        self.waits.append(duration)
        self.steady += duration


class ScriptedHttp:
    """Answers requests from a script, the last step for ever, and keeps what was asked."""

    def __init__(self, *steps: Step | Callable[[Request], Response]) -> None:
        self._steps = list(steps)
        self.requests: list[Request] = []

    def get(self, request: Request) -> Response:
        """Return or raise the next step."""
        self.requests.append(request)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, LamplighterError):
            raise step
        if isinstance(step, Response):
            return replace(step, url=step.url or request.url)
        return step(request)


def reply(body: bytes = LIST, status: int = 200, *, url: str = "", **headers: str) -> Response:
    """Return an answer from the address asked, or from another."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Response(status=status, url=url, headers=named, body=body)


def jpeg(size: tuple[int, int] = (800, 800)) -> bytes:
    """Return a whole picture."""
    out = io.BytesIO()
    Image.new("RGB", size, "teal").save(out, "JPEG")
    return out.getvalue()


def web_shop(
    http: ScriptedHttp,
    *,
    base: str = "https://shop.example",
    settings: ShopSettings = SETTINGS,
    clock: Steady | None = None,
) -> WebShop:
    """Return a shop that asks the script."""
    return WebShop(base, http, clock or Steady(), settings)


def photo(src: str) -> ShopImage:
    """Return an image at an address."""
    return ShopImage(src=src, position=1)


def fails(http: ScriptedHttp, **changes: str) -> UpstreamError:
    """Return the error that a shop's list ends in."""
    with pytest.raises(UpstreamError) as caught:
        web_shop(http, **changes).fetch_products()  # type: ignore[arg-type] # only `base` is changed so
    return caught.value


def test_one_page_of_the_list_is_asked_for_politely() -> None:
    """One call, 250 at most, JSON, within the limits of the settings."""
    http = ScriptedHttp(reply())
    found = web_shop(http).fetch_products()
    assert [product.id for product in found.products] == [1]
    asked = http.requests[0]
    assert asked.url == "https://shop.example/products.json?limit=250"
    assert asked.headers == {"accept": "application/json"}
    assert (asked.connect, asked.read, asked.total) == tuple(timedelta(seconds=number) for number in (10, 20, 90))
    assert asked.max_bytes == 8_000_000
    assert len(http.requests) == 1


@pytest.mark.parametrize(
    ("base", "asked"),
    [
        ("https://Shop.Example/", "https://shop.example/products.json?limit=250"),
        ("https://shop.example/collections/new/", "https://shop.example/collections/new/products.json?limit=250"),
        ("https://shop.example/?country=GB", "https://shop.example/products.json?country=GB&limit=250"),
        ("https://bücher.example", "https://xn--bcher-kva.example/products.json?limit=250"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/products.json?limit=250"),
        ("http://[::1]:8000", "http://[::1]:8000/products.json?limit=250"),
    ],
)
def test_the_list_is_asked_for_at_the_shops_address(base: str, asked: str) -> None:
    """A collection, a market, a name with umlauts, a test shop."""
    http = ScriptedHttp(reply())
    web_shop(http, base=base, settings=replace(SETTINGS, allowed_hosts=LOOPBACK)).fetch_products()
    assert http.requests[0].url == asked


@pytest.mark.parametrize(
    "base", ["shop.example", "ftp://shop.example", "https://", "https://a b", "https://me:pw@x.y", "https://[::1"]
)
def test_what_is_no_shop_address_is_a_configuration_error(base: str) -> None:
    """It never gets as far as the network."""
    with pytest.raises(ConfigError, match="no shop address"):
        web_shop(ScriptedHttp(reply()), base=base)


@pytest.mark.parametrize(
    ("base", "place"),
    [
        ("http://shop.example", "shop.example:80"),
        ("http://shop.example:8080/a", "shop.example:8080"),
        ("http://127.0.0.1:8001", "127.0.0.1:8001"),
        ("http://[::1]:80", "[::1]:80"),
    ],
)
def test_plain_http_is_only_for_what_a_person_listed(base: str, place: str) -> None:
    """The line says what to do, and nothing is asked for."""
    http = ScriptedHttp(reply())
    with pytest.raises(ConfigError) as caught:
        web_shop(http, base=base, settings=replace(SETTINGS, allowed_hosts=LOOPBACK))
    assert f'write https://, or list "{place}" under network.allowed_hosts' in str(caught.value)
    assert http.requests == []
    web_shop(http, base=base, settings=replace(SETTINGS, allowed_hosts=frozenset({place.upper()}))).fetch_products()
    assert len(http.requests) == 1


@pytest.mark.parametrize(
    ("cookies", "currency"),
    [
        (("cart_currency=EUR; path=/",), "EUR"),
        (("localization=DE; path=/", "cart_currency=JPY"), "JPY"),
        ((), ""),
        (("cart_currency=; path=/",), ""),
        (("cart_currency=EURO",), ""),
        (("cart_currency=EUR", "cart_currency=GBP"), ""),
        (("x=1; cart_currency=EUR",), ""),
    ],
)
def test_the_currency_is_what_the_answers_own_cookie_says(cookies: tuple[str, ...], currency: str) -> None:
    """Absent, malformed or conflicting evidence is none."""
    answer = replace(reply(), headers=tuple(("set-cookie", cookie) for cookie in cookies))
    assert web_shop(ScriptedHttp(answer)).fetch_products().currency == currency


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (400, "gives no product list"),
        (401, "locked with a password"),
        (402, "frozen"),
        (403, "turns us away"),
        (404, "no product list at this address"),
        (410, "is gone"),
        (423, "is locked"),
        (304, "gives no product list"),
    ],
)
def test_a_refusal_is_permanent_says_its_meaning_and_is_not_tried_again(status: int, cause: str) -> None:
    """Asking again would change nothing, or make it worse."""
    http = ScriptedHttp(reply(b"<html>", status))
    error = fails(http)
    assert isinstance(error, ShopRefused)
    assert error.permanent
    assert cause in error.cause
    assert str(status) in error.cause
    assert error.remedy
    assert error.subject == "shop.example/products.json"
    assert len(http.requests) == 1


def test_a_password_page_is_recognised_by_where_the_shop_leads() -> None:
    """It answers 200 with HTML, so the address must tell."""
    http = ScriptedHttp(reply(b"<html>", url="https://shop.example/password"))
    error = fails(http)
    assert "password page" in error.cause
    assert error.permanent
    assert len(http.requests) == 1


@pytest.mark.parametrize("body", [b"<html><title>Just a moment...</title>", b"[]", b"error code: 1010"])
def test_an_answer_that_is_no_list_is_not_tried_again(body: bytes) -> None:
    """200 with something else is not the shop we know."""
    http = ScriptedHttp(reply(body))
    assert isinstance(fails(http), ShopAnswerError)
    assert len(http.requests) == 1


@pytest.mark.parametrize(
    "step",
    [
        reply(status=500),
        reply(status=503),
        TimedOut("shop.example/products.json"),
        Unreachable("shop.example/products.json", is_dns=True),
        reply(b'{"products":[{"id":1,'),
        reply(EMPTY),
    ],
)
def test_trouble_that_may_pass_is_tried_three_times_in_all(step: Step) -> None:
    """Server trouble, time-outs, names, half answers, and the list that is empty for a moment."""
    http = ScriptedHttp(step)
    assert not fails(http).permanent
    assert len(http.requests) == 3


def test_the_third_try_may_still_bring_the_list() -> None:
    """Two failures are forgotten."""
    http = ScriptedHttp(reply(EMPTY), reply(status=502), reply())
    assert len(web_shop(http).fetch_products().products) == 1


def test_a_list_that_stays_empty_is_an_empty_shop() -> None:
    """Not an error of the network, and never a success."""
    error = fails(ScriptedHttp(reply(EMPTY)))
    assert isinstance(error, EmptyShop)
    assert str(error) == "shop.example/products.json: the shop lists no product"


def test_a_list_of_unreadable_products_says_what_is_wrong_with_the_first() -> None:
    """That is more useful than "empty"."""
    error = fails(ScriptedHttp(reply(b'{"products":[{"id":"one"}]}')))
    assert isinstance(error, EmptyShop)
    assert "none of 1 products can be read: product 1" in error.cause


def test_server_trouble_has_its_own_class() -> None:
    """The shop is there but ill."""
    error = fails(ScriptedHttp(reply(status=503)))
    assert isinstance(error, ShopFailing)
    assert "503" in error.cause


def test_what_the_client_refuses_for_good_is_not_tried_again() -> None:
    """A private address stays private."""
    http = ScriptedHttp(AddressRefused("shop.example"))
    assert isinstance(fails(http), AddressRefused)
    assert len(http.requests) == 1


@pytest.mark.parametrize(
    ("header", "pause"),
    [
        ("120", timedelta(seconds=120)),
        ("Mon, 04 May 2026 12:05:00 GMT", timedelta(minutes=5)),
        ("Mon, 04 May 2026 11:00:00 GMT", timedelta()),
        ("99999999", timedelta(days=1)),
        ("", timedelta(seconds=60)),
        ("soon", timedelta(seconds=60)),
        ("-5", timedelta(seconds=60)),
        ("Mon, 99 May 2026 12:05:00 GMT", timedelta(seconds=60)),
    ],
)
def test_a_rate_limit_says_until_when(header: str, pause: timedelta) -> None:
    """Seconds or date, at most a day, a minute when nothing usable is named."""
    error = fails(ScriptedHttp(reply(status=429, retry_after=header)))
    assert isinstance(error, RateLimited)
    assert error.until == NOW + pause
    assert not error.permanent


@pytest.mark.parametrize(("status", "header", "calls"), [(429, "0", 3), (429, "100", 1), (429, "", 1), (430, "0", 1)])
def test_a_rate_limit_is_waited_out_only_when_the_shop_names_a_wait_that_fits(
    status: int, header: str, calls: int
) -> None:
    """A wait beyond the brand's limit, none at all, or a security rejection end the matter for now."""
    http = ScriptedHttp(reply(status=status, retry_after=header))
    fails(http)
    assert len(http.requests) == calls


def test_a_security_rejection_lasts_for_the_day() -> None:
    """430 is Shopify's own word for it."""
    error = fails(ScriptedHttp(reply(status=430)))
    assert isinstance(error, RateLimited)
    assert error.until == NOW + timedelta(days=1)


def test_no_try_is_begun_that_cannot_fit_the_brands_limit() -> None:
    """With 90 seconds a wait of 15 fits, one of 100 does not."""
    http = ScriptedHttp(reply(EMPTY))
    with pytest.raises(EmptyShop):
        web_shop(http, settings=replace(SETTINGS, wait=timedelta(seconds=100))).fetch_products()
    assert len(http.requests) == 1


def test_each_try_gets_only_what_is_left_of_the_brands_limit() -> None:
    """Three slow answers together stay within the total."""
    clock = Steady()

    def slow(request: Request) -> Response:
        clock.steady += timedelta(seconds=40)
        return reply(EMPTY, url=request.url)

    http = ScriptedHttp(slow)
    with pytest.raises(EmptyShop):
        web_shop(http, clock=clock).fetch_products()
    assert [asked.total for asked in http.requests] == [timedelta(seconds=left) for left in (90, 50, 10)]
    assert http.requests[2].read == timedelta(seconds=10)


def test_two_calls_to_a_shop_lie_a_second_apart() -> None:
    """Counted from call to call, and waited for by the clock that was given."""
    clock = Steady()
    with pytest.raises(EmptyShop):
        web_shop(ScriptedHttp(reply(EMPTY)), clock=clock).fetch_products()
    assert clock.waits == [timedelta(seconds=1)] * 2


def test_a_photo_on_the_shops_own_host_is_a_call_to_the_shop() -> None:
    """So it waits its second after the list; Shopify's CDN is there to be asked."""
    clock = Steady()
    http = ScriptedHttp(reply(), reply(jpeg()))
    shop = web_shop(http, clock=clock)
    shop.fetch_products()
    shop.fetch_photo(photo("https://cdn.shopify.com/a.jpg"))
    assert clock.waits == []
    clock.steady += timedelta(milliseconds=300)
    shop.fetch_photo(photo("https://shop.example/a.jpg"))
    shop.fetch_photo(photo("https://www.shop.example/b.jpg"))
    assert clock.waits == [timedelta(milliseconds=700), timedelta(seconds=1)]


def test_the_cdn_under_the_shops_own_name_is_no_call_to_the_shop() -> None:
    """A page of the shop itself loads dozens of pictures from there at once."""
    clock = Steady()
    shop = web_shop(ScriptedHttp(reply(), reply(jpeg())), clock=clock)
    shop.fetch_products()
    shop.fetch_photo(photo("https://shop.example/cdn/shop/files/a.jpg"))
    shop.fetch_photo(photo("//shop.example/cdn/shop/files/b.jpg"))
    assert clock.waits == []


def test_a_persons_own_listed_shop_is_asked_without_pauses() -> None:
    """Politeness is for shops of others; a test shop on the list is at nobody's cost."""
    clock = Steady()
    shop = web_shop(
        ScriptedHttp(reply(), reply(jpeg())),
        base="http://127.0.0.1:8000",
        settings=replace(SETTINGS, allowed_hosts=LOOPBACK),
        clock=clock,
    )
    shop.fetch_products()
    shop.fetch_photo(photo("http://127.0.0.1:8000/a.jpg"))
    shop.fetch_photo(photo("http://127.0.0.1:8000/b.jpg"))
    assert clock.waits == []


@pytest.mark.parametrize("listed", ["127.0.0.1:8000", "shop.example:8443", "www.shop.example:443"])
def test_a_list_of_other_hosts_spares_a_public_shop_no_call(listed: str) -> None:
    """Exactly the listed host and port is exempt: another port or a name like it is somebody else's."""
    clock = Steady()
    settings = replace(SETTINGS, allowed_hosts=frozenset({listed}))
    shop = web_shop(ScriptedHttp(reply(), reply(jpeg())), settings=settings, clock=clock)
    shop.fetch_products()
    shop.fetch_photo(photo("https://shop.example/a.jpg"))
    assert clock.waits == [timedelta(seconds=1)]


@pytest.mark.parametrize(
    ("base", "answered"),
    [
        ("https://shop.example", "https://www.shop.example/products.json"),
        ("https://www.shop.example", "https://shop.example/products.json"),
        ("https://shop.example", "https://store.shop.example/products.json"),
        ("https://kiln.myshopify.com", "https://kiln.example/products.json"),
    ],
)
def test_a_new_host_of_the_same_name_is_followed(base: str, answered: str) -> None:
    """It is the shop's own."""
    assert web_shop(ScriptedHttp(reply(url=answered)), base=base).fetch_products().products


@pytest.mark.parametrize("answered", ["https://other.example/products.json", "https://notshop.example/products.json"])
def test_a_shop_that_answers_from_a_strange_host_has_moved(answered: str) -> None:
    """A person must say that it is still the brand; the message says what to type."""
    http = ScriptedHttp(reply(url=answered))
    error = fails(http)
    assert isinstance(error, ShopMoved)
    assert answered.split("/")[2] in error.cause
    assert 'set "shop" to https://' in error.remedy
    assert len(http.requests) == 1


@pytest.mark.parametrize(
    ("handle", "url"),
    [
        ("moss-bowl", "https://shop.example/products/moss-bowl"),
        ("the-iceflow™-20-oz", "https://shop.example/products/the-iceflow%E2%84%A2-20-oz"),
        ("a/../b?c#d", "https://shop.example/products/a%2F..%2Fb%3Fc%23d"),
        ("", "https://shop.example"),
    ],
)
def test_a_products_address_holds_its_handle_percent_encoded(handle: str, url: str) -> None:
    """Handles are not ASCII in most shops."""
    assert web_shop(ScriptedHttp(reply())).product_url(handle) == url


# --- photos of a shop on the web ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("src", "asked"),
    [
        ("https://cdn.shopify.com/s/files/1/a.jpg?v=17", "https://cdn.shopify.com/s/files/1/a.jpg?v=17&width=1440"),
        ("https://cdn.shopify.com/s/files/1/a.jpg", "https://cdn.shopify.com/s/files/1/a.jpg?width=1440"),
        ("https://cdn.shopify.com/s/a.jpg?width=900", "https://cdn.shopify.com/s/a.jpg?width=900"),
        ("//shop.example/cdn/shop/files/a.jpg?v=1", "https://shop.example/cdn/shop/files/a.jpg?v=1&width=1440"),
        ("https://www.shop.example/pictures/a.jpg?v=1", "https://www.shop.example/pictures/a.jpg?v=1"),
        ("https://CDN.shopify.com/s/ü b.jpg", "https://cdn.shopify.com/s/%C3%BC%20b.jpg?width=1440"),
        ("https://cdn.shopify.com/s/a%20b.jpg", "https://cdn.shopify.com/s/a%20b.jpg?width=1440"),
    ],
)
def test_a_photo_is_asked_for_in_a_fitting_size_and_known_formats(src: str, asked: str) -> None:
    """Shopify scales by itself; without the Accept header its bytes need not match the name."""
    http = ScriptedHttp(reply(jpeg()))
    assert web_shop(http).fetch_photo(photo(src)) == Photo(content=jpeg(), format="JPEG")
    assert http.requests[0].url == asked
    assert http.requests[0].headers == {"accept": "image/jpeg,image/png;q=0.9,image/webp;q=0.8"}
    assert http.requests[0].max_bytes == 25_000_000


@pytest.mark.parametrize(
    "src",
    [
        "https://evil.example/a.jpg",
        "http://cdn.shopify.com/a.jpg",
        "http://shop.example/a.jpg",
        "https://cdn.shopify.com.evil.example/a.jpg",
        "https://evil-cdn.shopify.com/a.jpg",
        "https://cdn.shopify.com@evil.example/a.jpg",
        "https://cdn.shopify.com\\@evil.example/a.jpg",
        "https://notshop.example/a.jpg",
        "https://169.254.169.254/a.jpg",
        "http://127.0.0.1:8000/a.jpg",
        "https://[::1/a.jpg",
        "file:///etc/passwd",
        "data:image/png;base64,AAAA",
        "a.jpg",
        "/a.jpg",
    ],
)
def test_a_photo_from_anywhere_else_is_not_asked_for(src: str) -> None:
    """Only the shop's own host and Shopify's, by https."""
    http = ScriptedHttp(reply(jpeg()))
    with pytest.raises(BadPhoto):
        web_shop(http).fetch_photo(photo(src))
    assert http.requests == []


def test_a_shop_by_shopifys_own_name_may_not_show_pictures_of_the_whole_world() -> None:
    """That it may lead to its public name does not extend to pictures."""
    http = ScriptedHttp(reply(jpeg()))
    with pytest.raises(BadPhoto):
        web_shop(http, base="https://kiln.myshopify.com").fetch_photo(photo("https://evil.example/a.jpg"))


def test_a_listed_shop_may_show_pictures_of_listed_hosts_over_plain_http() -> None:
    """A test shop on this machine, exact host:port."""
    settings = replace(SETTINGS, allowed_hosts=frozenset({"127.0.0.1:8000", "Pictures.Local:80"}))
    http = ScriptedHttp(reply(jpeg()))
    shop = web_shop(http, base="http://127.0.0.1:8000", settings=settings)
    for src in ("http://127.0.0.1:8000/a.jpg", "http://pictures.local/a.jpg"):
        assert shop.fetch_photo(photo(src)).content == jpeg()
    with pytest.raises(BadPhoto):
        shop.fetch_photo(photo("http://127.0.0.1:8001/a.jpg"))


def test_a_public_shop_cannot_point_at_a_host_that_is_listed_for_another() -> None:
    """The list speaks for the person's own shop, not for a stranger's product list."""
    settings = replace(SETTINGS, allowed_hosts=frozenset({"127.0.0.1:8000"}))
    http = ScriptedHttp(reply(jpeg()))
    with pytest.raises(BadPhoto):
        web_shop(http, settings=settings).fetch_photo(photo("http://127.0.0.1:8000/a.jpg"))
    assert http.requests == []


def test_a_photo_that_leads_to_another_host_is_refused() -> None:
    """Also when that is a public one."""
    http = ScriptedHttp(reply(jpeg(), url="https://evil.example/a.jpg"))
    with pytest.raises(BadPhoto, match=r"leads to another host, evil\.example"):
        web_shop(http).fetch_photo(photo("https://cdn.shopify.com/a.jpg?v=1"))


@pytest.mark.parametrize("body", [b"<html>gone</html>", b"", jpeg((500, 500)), jpeg()[:-200]])
def test_a_photo_that_is_no_usable_picture_is_refused_by_its_address(body: bytes) -> None:
    """The bytes decide."""
    with pytest.raises(BadPhoto, match=r"^https://cdn\.shopify\.com/a\.jpg: ") as caught:
        web_shop(ScriptedHttp(reply(body))).fetch_photo(photo("https://cdn.shopify.com/a.jpg?v=1"))
    assert caught.value.permanent


def test_a_photo_that_is_gone_is_a_bad_photo_at_once() -> None:
    """The shop is not to blame, the next picture may be there."""
    http = ScriptedHttp(reply(b"", 404))
    with pytest.raises(BadPhoto, match="404"):
        web_shop(http).fetch_photo(photo("https://cdn.shopify.com/a.jpg"))
    assert len(http.requests) == 1


@pytest.mark.parametrize(("status", "kind"), [(503, ShopFailing), (429, RateLimited)])
def test_a_photo_in_trouble_is_the_shops_trouble(status: int, kind: type[UpstreamError]) -> None:
    """Server trouble is tried twice, a limit is told."""
    http = ScriptedHttp(reply(b"", status))
    with pytest.raises(kind):
        web_shop(http).fetch_photo(photo("https://cdn.shopify.com/a.jpg"))
    assert len(http.requests) == (2 if status == 503 else 1)


# --- a shop in a folder ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a shop's folder with one product and one picture, and a picture outside of it."""
    shop_dir = tmp_path / "shop"
    (shop_dir / "photos").mkdir(parents=True)
    (shop_dir / "products.json").write_bytes(LIST)
    (shop_dir / "photos" / "bowl.jpg").write_bytes(jpeg())
    (tmp_path / "secret.jpg").write_bytes(jpeg())
    return shop_dir


def test_a_folder_is_a_shop_with_the_same_parser_and_pictures_by_relative_name(folder: Path) -> None:
    """It has no public address."""
    shop = FolderShop(folder, SETTINGS)
    assert shop.fetch_products().products[0].title == "Bowl"
    assert shop.fetch_photo(photo("photos/bowl.jpg")) == Photo(content=jpeg(), format="JPEG")
    assert shop.product_url("bowl") == ""


@pytest.mark.parametrize(
    "src", ["../secret.jpg", "photos/../../secret.jpg", "/etc/passwd", "a\x00b", "link.jpg", "out/secret.jpg"]
)
def test_no_picture_name_leads_out_of_the_folder(folder: Path, src: str) -> None:
    """Dots, absolute names, NUL, links to files and links to folders."""
    (folder / "link.jpg").symlink_to(folder.parent / "secret.jpg")
    (folder / "out").symlink_to(folder.parent)
    with pytest.raises(BadPhoto):
        FolderShop(folder, SETTINGS).fetch_photo(photo(src))


def test_links_in_a_circle_are_a_bad_photo(folder: Path) -> None:
    """And no traceback."""
    (folder / "loop.jpg").symlink_to("loop.jpg")
    with pytest.raises(LamplighterError):
        FolderShop(folder, SETTINGS).fetch_photo(photo("loop.jpg"))


def test_a_link_that_stays_in_the_folder_is_followed(folder: Path) -> None:
    """Where it ends counts."""
    (folder / "again.jpg").symlink_to("photos/bowl.jpg")
    assert FolderShop(folder, SETTINGS).fetch_photo(photo("again.jpg")).content == jpeg()


def test_a_missing_picture_is_one_line(folder: Path) -> None:
    """It names the file."""
    with pytest.raises(InputError, match=r"gone\.jpg: there is no such photo"):
        FolderShop(folder, SETTINGS).fetch_photo(photo("photos/gone.jpg"))


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    """It names the file that was looked for."""
    with pytest.raises(InputError, match=r"nowhere/products\.json: there is no such product list"):
        FolderShop(tmp_path / "nowhere", SETTINGS).fetch_products()


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", EMPTY])
def test_a_folders_list_is_checked_like_one_from_the_web(folder: Path, content: bytes) -> None:
    """Same parser, same errors, with the file as subject."""
    (folder / "products.json").write_bytes(content)
    with pytest.raises(UpstreamError, match=r"products\.json: "):
        FolderShop(folder, SETTINGS).fetch_products()


def test_a_small_or_broken_picture_in_a_folder_is_refused(folder: Path) -> None:
    """Same checks as from the web."""
    (folder / "photos" / "bowl.jpg").write_bytes(jpeg((100, 100)))
    with pytest.raises(BadPhoto, match=r"photos/bowl\.jpg: it is too small"):
        FolderShop(folder, SETTINGS).fetch_photo(photo("photos/bowl.jpg"))


# --- which shop --------------------------------------------------------------------------------------------------


def brand(shop: str) -> Brand:
    """Return a brand with a shop."""
    return Brand(slug="kiln", name="Kiln", shop=shop, handle="@kiln", language="en", permission="own")


def test_a_folder_shop_is_opened_beside_the_catalog_without_a_client(folder: Path) -> None:
    """The slow library is not even imported for it."""

    def make() -> ScriptedHttp:
        raise AssertionError("nobody asked for a client")

    shop = open_shop(brand("file:shop"), folder.parent, make, Steady(), SETTINGS)
    assert isinstance(shop, FolderShop)
    assert shop.fetch_products().products


def test_a_web_shop_is_opened_with_the_client(tmp_path: Path) -> None:
    """The client is made once, when it is needed."""
    http = ScriptedHttp(reply())
    shop = open_shop(brand("https://shop.example"), tmp_path, lambda: http, Steady(), SETTINGS)
    assert isinstance(shop, WebShop)
    assert shop.fetch_products().products
    assert len(http.requests) == 1


def test_a_run_opens_each_shop_once_and_asks_for_its_list_once(tmp_path: Path) -> None:
    """However many features are made of it; an error is no list, and another shop is another."""
    http = ScriptedHttp(reply(status=403), reply())
    opened: list[str] = []

    def shop_for(one: Brand) -> Shop:
        opened.append(one.shop)
        return open_shop(one, tmp_path, lambda: http, Steady(), SETTINGS)

    shops = Shops(shop_for)
    first = shops.find(brand("https://shop.example"))
    with pytest.raises(ShopRefused):
        first.fetch_products()
    for _ in range(3):
        shop = shops.find(brand("https://shop.example"))
        assert shop.fetch_products().products[0].title == "Bowl"
        assert shop.product_url("bowl") == "https://shop.example/products/bowl"
    assert len(http.requests) == 2
    shops.find(brand("https://other.example")).fetch_products()
    assert opened == ["https://shop.example", "https://other.example"]


def test_a_list_that_the_disk_does_not_give_is_this_shops_trouble_alone(folder: Path) -> None:
    """An error of the disk would end the run, and no other brand would have its turn."""
    (folder / "products.json").unlink()
    (folder / "products.json").symlink_to("products.json")
    with pytest.raises(ShopRefused, match=r"products\.json: Too many levels .*; remove the link"):
        FolderShop(folder, SETTINGS).fetch_products()
