"""Shops and the clock, by what the network answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import START, VirtualClock
from tests.simulators.desk import make_brand
from tests.simulators.workshop import ListedShop, make_product

from lamplighter.doctor.finding import Look, State, examine
from lamplighter.doctor.network import (
    Budget,
    Outside,
    judge_offset,
    judge_zone,
    look_at_clock,
    look_at_shops,
)
from lamplighter.errors import ConfigError, InputError, LamplighterError, UpstreamError
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.featurepost.shop import EmptyShop, RateLimited, ShopFailing, ShopMoved, ShopRefused
from lamplighter.host.network import (
    AddressRefused,
    BrokenAnswer,
    Request,
    Response,
    TimedOut,
    Unreachable,
    Untrusted,
)

WEB = make_brand("wrenfold", shop="https://shop.example")
FOLDER = make_brand("kirino")


@dataclass
class Net:
    """A network with one shop on it, and a clock."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    shop: ListedShop = field(default_factory=lambda: ListedShop(make_product(1)))
    asked: list[ShopSettings] = field(default_factory=list)
    is_online: bool = True
    answer: Callable[[Request], Response] | LamplighterError = field(default=UpstreamError("shop.example", "no answer"))

    def get(self, request: Request) -> Response:
        """Answer, or raise."""
        if isinstance(self.answer, LamplighterError):
            raise self.answer
        return self.answer(request)

    def outside(self, *, is_offline: bool = False) -> Outside:
        """Return how the doctor asks it."""

        def open_shop(_: object, settings: ShopSettings) -> ListedShop:
            self.asked.append(settings)
            return self.shop

        return Outside(
            http=lambda: self,
            open_shop=open_shop,
            is_online=lambda: self.is_online,
            clock=self.clock,
            budget=Budget(self.clock),
            is_offline=is_offline,
        )


def say_time(*, ahead: timedelta = timedelta(), age: str = "") -> Callable[[Request], Response]:
    """Return what answers with a time; the clock of the test is so much ahead of it."""
    at = START - ahead
    headers = (("date", at.strftime("%a, %d %b %Y %H:%M:%S GMT")), *((("age", age),) if age else ()))
    return lambda request: Response(status=404, url=request.url, headers=headers, body=b"")


def test_a_shop_that_lists_products_is_ok_and_asked_once() -> None:
    """With one try, ten seconds."""
    net = Net()
    (found,) = look_at_shops((WEB,), ShopSettings(), net.outside())
    assert found.line == "ok: it answers, with 1 product on the first page"
    assert (net.shop.lists, net.asked[0].tries, net.asked[0].total) == (1, 1, timedelta(seconds=10))


@pytest.mark.parametrize(
    ("trouble", "state", "words"),
    [
        (ShopRefused("shop.example", "the shop's protection turns us away (403)"), State.WRONG, "turns us away (403)"),
        (ShopMoved("shop.example", "it answers from x", 'set "shop" to x'), State.WRONG, 'set "shop" to x'),
        (ShopFailing("shop.example", "trouble of its own (503)"), State.WRONG, "asked again at the next generate"),
        (RateLimited("shop.example", "asks for a pause", until=START, wait=None), State.WRONG, "asks for a pause"),
        (EmptyShop("shop.example"), State.WRONG, "put products on sale"),
        (Unreachable("shop.example", "no route"), State.WRONG, "look at the address"),
        (Untrusted("shop.example", "expired"), State.WRONG, "this machine's clock"),
        (TimedOut("shop.example", "took too long"), State.WRONG, "took too long"),
        (BrokenAnswer("shop.example"), State.WRONG, "broke off"),
        (AddressRefused("shop.example", "a private address"), State.WRONG, "a private address"),
        (InputError("products.json", "there is no such file"), State.WRONG, "there is no such file"),
        (ConfigError("shop", "plain http"), State.WRONG, "correct it in brand-catalog.json"),
        (UpstreamError("network", "the 30 s are used up"), State.UNKNOWN, "the 30 s are used up"),
    ],
)
def test_each_class_of_answer_has_its_words(trouble: LamplighterError, state: State, words: str) -> None:
    """And what to do."""
    net = Net()
    net.shop.trouble = trouble
    (found,) = look_at_shops((WEB,), ShopSettings(), net.outside())
    assert (found.state, words in found.line) == (state, True), found.line


@pytest.mark.parametrize("trouble", [Unreachable("shop.example"), TimedOut("shop.example"), BrokenAnswer("x")])
def test_without_a_network_a_shop_could_not_be_checked(trouble: LamplighterError) -> None:
    """It is not the shop's fault."""
    net = Net(is_online=False)
    net.shop.trouble = trouble
    (found,) = look_at_shops((WEB,), ShopSettings(), net.outside())
    assert found.line == "could not check: there is no network"


def test_offline_asks_nobody_but_folders() -> None:
    """A shop in a folder needs no network; the others are left out, and said so."""
    net = Net()
    found = tuple(look_at_shops((WEB, FOLDER), ShopSettings(), net.outside(is_offline=True)))
    assert [one.line for one in found] == ["could not check: --offline", "ok: 1 product in the folder shop"]
    (clock,) = look_at_clock((WEB,), net.outside(is_offline=True))
    assert (clock.line, net.shop.lists) == ("could not check: --offline", 1)


def test_a_catalog_without_brands_is_wrong() -> None:
    """Nothing could ever be made."""
    (found,) = look_at_shops((), ShopSettings(), Net().outside())
    assert found.state is State.WRONG


def test_all_requests_together_are_bounded() -> None:
    """Ten seconds each, thirty in all; what does not fit could not be checked."""
    net = Net()
    outside = net.outside()
    shares = []
    for _ in range(3):
        shares.append(outside.budget.share())
        net.clock.advance(timedelta(seconds=9.5))
    assert shares == [timedelta(seconds=10)] * 2 + [timedelta(seconds=10)]
    net.clock.advance(timedelta(seconds=1))
    (found,) = look_at_shops((WEB,), ShopSettings(), outside)
    assert (found.state, "used up" in found.words) == (State.UNKNOWN, True)


@pytest.mark.parametrize(
    ("ahead", "state", "words"),
    [
        (0, State.OK, "it agrees with that of shop.example (0 s apart)"),
        (60, State.OK, "(60 s apart)"),
        (61, State.WRONG, "it is 61 s ahead of that of shop.example"),
        (-3_600, State.WRONG, "behind that of shop.example"),
    ],
)
def test_a_clock_may_be_a_minute_off(ahead: int, state: State, words: str) -> None:
    """Whoever answers, with whatever status, says the time."""
    net = Net(answer=say_time(ahead=timedelta(seconds=ahead)))
    (found,) = look_at_clock((WEB,), net.outside())
    assert (found.state, words in found.line) == (state, True), found.line


def test_a_copy_in_a_cache_has_its_age() -> None:
    """It may say the time when it was made, or that of the answer."""
    for ahead in (timedelta(hours=1), timedelta()):
        (found,) = look_at_clock((WEB,), Net(answer=say_time(ahead=ahead, age="3600")).outside())
        assert found.state is State.OK


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Nov 9999 99:99:99 GMT"])
def test_an_answer_without_a_time_says_nothing_of_the_clock(date: str) -> None:
    """That could not be checked."""
    net = Net(answer=lambda request: Response(status=200, url=request.url, headers=(("date", date),), body=b""))
    (found,) = look_at_clock((WEB,), net.outside())
    assert found.line == "could not check: shop.example/robots.txt: it does not say what time it is there"


def test_nobody_who_says_the_time_leaves_the_clock_unchecked() -> None:
    """No shop on the web, or none that answers."""
    (none,) = look_at_clock((FOLDER,), Net().outside())
    (silent,) = look_at_clock((WEB,), Net().outside())
    assert [none.state, silent.state] == [State.UNKNOWN, State.UNKNOWN]


def test_an_offset_has_a_way() -> None:
    """Ahead or behind, and how to set it right."""
    assert judge_offset(timedelta(minutes=5), "x").remedy.startswith("have the system set it")


def test_a_zone_is_said_with_its_time() -> None:
    """So that a person sees whether it is theirs."""
    at = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert judge_zone(ZoneInfo("Asia/Tokyo"), at).words == "Asia/Tokyo, where it is 21:00"


def test_an_error_that_no_shop_has_is_not_ok() -> None:
    """It could not be checked."""
    net = Net()

    def fail(*_: object) -> ListedShop:
        raise ValueError("odd")

    outside = Outside(
        http=lambda: net, open_shop=fail, is_online=lambda: True, clock=net.clock, budget=Budget(net.clock)
    )
    looks = (Look(about="shops", find=lambda: look_at_shops((WEB,), ShopSettings(), outside)),)
    (found,) = examine(looks)
    assert found.state is State.UNKNOWN
