"""What lies outside: each brand's shop, one request each, and the time as others have it; bounded in all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from lamplighter.doctor.finding import Finding, good, say_count, unknown, wrong
from lamplighter.errors import LamplighterError, UpstreamError
from lamplighter.featurepost.catalog import CATALOG_FILE, Brand
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.featurepost.shop import EmptyShop, RateLimited, Shop, ShopFailing
from lamplighter.host.clock import Clock
from lamplighter.host.clockcheck import read_offset
from lamplighter.host.http import Http
from lamplighter.host.network import BrokenAnswer, TimedOut, Unreachable, Untrusted

OFFLINE = "--offline"
_EACH, _TOGETHER = timedelta(seconds=10), timedelta(seconds=30)
_OFF = timedelta(seconds=60)


class Budget:
    """The time that all looks at the network have together."""

    def __init__(self, clock: Clock) -> None:
        """Begin when first asked."""
        self._clock = clock
        self._end: timedelta | None = None

    def share(self) -> timedelta:
        """Return how long the next request may take; raises UpstreamError when the time is used up."""
        now = self._clock.monotonic()
        self._end = now + _TOGETHER if self._end is None else self._end
        left = self._end - now
        if left < timedelta(seconds=1):
            raise UpstreamError("network", f"the {_TOGETHER.total_seconds():.0f} s for all requests are used up")
        return min(_EACH, left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """How the network is asked: `open_shop` with a brand and its limits, `is_online` whether any way leads out."""

    http: Callable[[], Http]
    open_shop: Callable[[Brand, ShopSettings], Shop]
    is_online: Callable[[], bool]
    clock: Clock
    budget: Budget
    is_offline: bool = False


def look_at_shops(brands: Sequence[Brand], settings: ShopSettings, outside: Outside) -> Iterator[Finding]:
    """Find whether each brand's shop gives its list, asked once."""
    for brand in brands:
        about = f"shop {brand.slug}"
        try:
            yield _look_at_shop(about, brand, settings, outside)
        except LamplighterError as error:
            yield _judge_refusal(about, error, outside)
    if not brands:
        yield wrong("shops", "the catalog has no brand", "write one into brand-catalog.json")


def _look_at_shop(about: str, brand: Brand, settings: ShopSettings, outside: Outside) -> Finding:
    if brand.shop_folder:
        found = outside.open_shop(brand, settings).fetch_products()
        return good(about, f"{say_count(len(found.products), 'product')} in the folder {brand.shop_folder}")
    if outside.is_offline:
        return unknown(about, OFFLINE)
    share = outside.budget.share()
    once = replace(settings, tries=1, total=share, connect=min(settings.connect, share), read=min(settings.read, share))
    found = outside.open_shop(brand, once).fetch_products()
    return good(about, f"it answers, with {say_count(len(found.products), 'product')} on the first page")


def _judge_refusal(about: str, error: LamplighterError, outside: Outside) -> Finding:
    """Return what an answer means; where no way leads out, or our own time was up, nobody can tell."""
    if isinstance(error, Unreachable | TimedOut | BrokenAnswer) and not outside.is_online():
        return unknown(about, "there is no network")
    words = f"{error.subject}: {error.cause}"
    if type(error) is UpstreamError:
        return unknown(about, words)
    return wrong(about, words, error.remedy or _choose_remedy(error))


def _choose_remedy(error: LamplighterError) -> str:
    """Return what a person does about a shop whose error does not say it itself."""
    if isinstance(error, RateLimited | ShopFailing):
        return "nothing need be done: it is asked again at the next generate"
    if isinstance(error, EmptyShop):
        return "put products on sale there, or skip the brand"
    if isinstance(error, Untrusted):
        return "look at the address in a browser, and at this machine's clock"
    return "look at the address in a browser" if isinstance(error, UpstreamError) else f"correct it in {CATALOG_FILE}"


def look_at_clock(brands: Sequence[Brand], outside: Outside) -> Iterator[Finding]:
    """Find whether this machine's clock agrees with that of the first shop on the web that says the time."""
    webs = dict.fromkeys(_origin(brand.shop) for brand in brands if not brand.shop_folder)
    if outside.is_offline:
        yield unknown("clock", OFFLINE)
        return
    if not webs:
        yield unknown("clock", "no brand has a shop on the web, whose time could be compared")
        return
    why = ""
    for address in webs:
        try:
            offset = read_offset(outside.http(), address, outside.clock, limit=outside.budget.share())
        except LamplighterError as error:
            why = why or str(error)
            continue
        yield judge_offset(offset, urlsplit(address).netloc)
        return
    yield unknown("clock", why)


def judge_offset(offset: timedelta, host: str) -> Finding:
    """Return whether a clock that is ahead of another by `offset` is right."""
    seconds = int(abs(offset.total_seconds()))
    if abs(offset) <= _OFF:
        return good("clock", f"it agrees with that of {host} ({seconds} s apart)")
    way = "ahead of" if offset > timedelta() else "behind"
    return wrong("clock", f"it is {seconds} s {way} that of {host}", "have the system set it: timedatectl set-ntp true")


def judge_zone(zone: ZoneInfo, now: datetime) -> Finding:
    """Return that the zone is one, and what time it is there: a person sees at once whether it is theirs."""
    return good("zone", f"{zone.key}, where it is {now.astimezone(zone):%H:%M}")


def _origin(shop: str) -> str:
    parts = urlsplit(shop)
    return f"{parts.scheme}://{parts.netloc}"
