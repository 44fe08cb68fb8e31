"""The shop: where a brand's products and photos come from, over the web or from a folder."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

from lamplighter.errors import ConfigError, DiskError, UpstreamError, render_line
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.photo import BadPhoto, Photo, check_photo
from lamplighter.featurepost.product import ProductList, ShopImage, parse_products
from lamplighter.featurepost.settings import ShopSettings
from lamplighter.host.clock import Clock
from lamplighter.host.files import read_capped
from lamplighter.host.http import Http, Request, Response

PRODUCTS_FILE = "products.json"
_CDN = "cdn.shopify.com"
_PAGE = 250  # the largest page Shopify gives; reference §1.2
_HOST = re.compile(r"[a-z0-9.-]+(?::[0-9]{1,5})?|\[[0-9a-f:.]+\](?::[0-9]{1,5})?")
_CURRENCY = re.compile(r"\s*cart_currency=([A-Z]{3})\s*(?:;|$)")
_RATE_LIMIT = 429
_SECURITY_REJECTION = 430  # Shopify's own; shopify-api-js#1030
_OK = 200
_SERVER_ERROR = 500
_FIRST_LIMIT = timedelta(seconds=60)
_DAY = timedelta(days=1)
_Found = TypeVar("_Found")


class ShopRefused(UpstreamError):
    """the shop does not give its product list."""

    permanent = True


class ShopMoved(ShopRefused):
    """the shop answers from another address."""


class ShopFailing(UpstreamError):
    """the shop has trouble of its own."""


class EmptyShop(UpstreamError):
    """the shop lists no product."""


class RateLimited(UpstreamError):
    """the shop asks for a pause."""

    def __init__(self, subject: str, cause: str, *, until: datetime, wait: timedelta | None) -> None:
        """Say until when; `wait` is what the shop itself named, None when it named nothing or will not be moved."""
        super().__init__(subject, cause)
        self.until = until
        self.wait = wait


class Shop(Protocol):
    """A brand's shop."""

    def fetch_products(self) -> ProductList:
        """Return at least one product; raises UpstreamError (EmptyShop when there is none) or InputError."""

    def fetch_photo(self, image: ShopImage) -> Photo:
        """Return a picture that passed check_photo; raises BadPhoto, UpstreamError or InputError."""

    def product_url(self, handle: str) -> str:
        """Return the public address of a product, "" when the shop has none."""


def open_shop(
    brand: Brand, catalog_dir: Path, http_factory: Callable[[], Http], clock: Clock, settings: ShopSettings
) -> Shop:
    """Return the shop of a brand; the HTTP client is made only for a shop on the web."""
    if brand.shop_folder:
        return FolderShop(catalog_dir / brand.shop_folder, settings)
    return WebShop(brand.shop, http_factory(), clock, settings)


class Shops:
    """The shops of one run: each is opened once and gives its list once, however many features are made of it."""

    def __init__(self, shop_for: Callable[[Brand], Shop]) -> None:
        self._shop_for = shop_for
        self._open: dict[str, Shop] = {}

    def find(self, brand: Brand) -> Shop:
        """Return the shop of a brand; brands with the same shop share it."""
        if brand.shop not in self._open:
            self._open[brand.shop] = _ListedOnce(self._shop_for(brand))
        return self._open[brand.shop]


class _ListedOnce:
    """A shop whose list is kept once it came; an error is not."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._listed: ProductList | None = None

    def fetch_products(self) -> ProductList:
        """Return the list, asked for the first time only."""
        if self._listed is None:
            self._listed = self._shop.fetch_products()
        return self._listed

    def fetch_photo(self, image: ShopImage) -> Photo:
        """Return a picture."""
        return self._shop.fetch_photo(image)

    def product_url(self, handle: str) -> str:
        """Return the public address of a product."""
        return self._shop.product_url(handle)


class FolderShop:
    """A folder with `products.json` in Shopify's form and pictures by relative name."""

    def __init__(self, folder: Path, settings: ShopSettings) -> None:
        self._folder = folder
        self._settings = settings

    def fetch_products(self) -> ProductList:
        """Return the products of the folder; raises InputError, ShopRefused, ShopAnswerError or EmptyShop."""
        file = self._folder / PRODUCTS_FILE
        try:
            content = read_capped(file, limit=self._settings.list_bytes, what="product list")
        except DiskError as error:  # of this shop's folder alone: the other brands still have theirs
            raise ShopRefused(error.subject, error.cause, error.remedy) from error
        return _not_empty(parse_products(content, subject=str(file)), str(file))

    def fetch_photo(self, image: ShopImage) -> Photo:
        """Return a picture inside the folder; a name that leads out of it is refused."""
        subject = _short(image.src)
        try:
            root = self._folder.resolve()
            file = (root / image.src).resolve()
        except (OSError, ValueError, RuntimeError) as error:  # a NUL, a loop of links
            raise BadPhoto(subject, f"this is no file name: {error}") from error
        if not file.is_relative_to(root):
            raise BadPhoto(subject, "it lies outside the shop's folder")
        content = read_capped(file, limit=self._settings.photo_bytes, what="photo")
        return check_photo(content, subject=subject)

    def product_url(self, handle: str) -> str:
        """Return "": a folder has no public address."""
        del handle
        return ""


class WebShop:
    """A Shopify shop on the web: one page of its public product list, and its pictures."""

    def __init__(self, base_url: str, http: Http, clock: Clock, settings: ShopSettings) -> None:
        parts = _parse_shop_address(base_url)
        self._scheme, self._host, self._query = parts.scheme, parts.netloc, parts.query
        self._listed_hosts = frozenset(name.lower() for name in settings.allowed_hosts)
        _check_scheme(self._scheme, self._host, self._listed_hosts)
        self._base = f"{parts.scheme}://{self._host}{parts.path.rstrip('/')}"
        self._subject = f"{self._host}{parts.path.rstrip('/')}/{PRODUCTS_FILE}"
        self._http = http
        self._clock = clock
        self._settings = settings
        self._called_at: timedelta | None = None

    def fetch_products(self) -> ProductList:
        """Return the first page of products, retried within `total`; raises UpstreamError, marked permanent or not."""
        settings = self._settings
        deadline = self._clock.monotonic() + settings.total
        return _retry(
            lambda: self._fetch_list(deadline), self._clock, deadline, tries=settings.tries, wait=settings.wait
        )

    def fetch_photo(self, image: ShopImage) -> Photo:
        """Return a picture from the shop's own host or Shopify's CDN, at most 1440 pixels wide there."""
        settings = self._settings
        url = self._photo_url(image)
        deadline = self._clock.monotonic() + settings.photo_total
        content = _retry(
            lambda: self._fetch_photo_bytes(url, deadline),
            self._clock,
            deadline,
            tries=settings.photo_tries,
            wait=settings.photo_wait,
        )
        return check_photo(content, subject=_short(url))

    def product_url(self, handle: str) -> str:
        """Return the public address of a product; handles may hold any letter and are percent-encoded."""
        return f"{self._base}/products/{quote(handle, safe='')}" if handle else self._base

    def _fetch_list(self, deadline: timedelta) -> ProductList:
        self._keep_spacing(self._base)
        query = f"{self._query}&limit={_PAGE}" if self._query else f"limit={_PAGE}"
        response = self._get(
            f"{self._base}/{PRODUCTS_FILE}?{query}", "application/json", self._settings.list_bytes, deadline
        )
        answered_by = urlsplit(response.url).netloc.lower()
        if urlsplit(response.url).path.rstrip("/").endswith("/password"):
            raise ShopRefused(
                self._subject, "the shop is behind a password page", "open it in Shopify, or skip the brand"
            )
        _check_status(response, self._subject, self._clock.now())
        if not _may_move(self._host, answered_by):
            remedy = f'set "shop" to {self._scheme}://{_short(answered_by)} if that is right'
            raise ShopMoved(self._subject, f"the shop answers from {_short(answered_by)}", remedy)
        products = _not_empty(parse_products(response.body, subject=self._subject), self._subject)
        return dataclasses.replace(products, currency=_choose_currency(response.header_values("set-cookie")))

    def _photo_url(self, image: ShopImage) -> str:
        """Return the address a picture is asked for at; raises BadPhoto for a host that is not the shop's."""
        subject = _short(image.src)
        try:
            parts = urlsplit(f"https:{image.src}" if image.src.startswith("//") else image.src)
        except ValueError as error:
            raise BadPhoto(subject, f"this is no address: {error}") from None
        host = parts.netloc.lower()
        if not _HOST.fullmatch(host) or not self._may_show(parts.scheme, host):
            raise BadPhoto(subject, "it is not on the shop's own host or Shopify's, by https")
        query = parts.query
        if _is_cdn(host, parts.path) and "width=" not in query:
            query = f"{query}&width={self._settings.photo_width}".lstrip("&")
        path = quote(parts.path, safe="/%:@!$&'()*+,;=~-._") or "/"
        return f"{parts.scheme}://{host}{path}" + (f"?{query}" if query else "")

    def _may_show(self, scheme: str, host: str) -> bool:
        """Judge a picture's host; the list of private hosts speaks only for a shop that is on it itself."""
        if {_with_port(self._scheme, self._host), _with_port(scheme, host)} <= self._listed_hosts:
            return True
        return scheme == "https" and (host == _CDN or _is_same_shop(self._host, host))

    def _fetch_photo_bytes(self, url: str, deadline: timedelta) -> bytes:
        self._keep_spacing(url)
        accept = "image/jpeg,image/png;q=0.9,image/webp;q=0.8"  # without it the bytes need not match the extension
        response = self._get(url, accept, self._settings.photo_bytes, deadline)
        parts = urlsplit(response.url)
        if not self._may_show(parts.scheme, parts.netloc.lower()):
            raise BadPhoto(_short(url), f"it leads to another host, {_short(parts.netloc)}")
        if response.status != _OK and response.status < _SERVER_ERROR and response.status not in _LIMITS:
            raise BadPhoto(_short(url), f"the answer is {response.status}")
        _check_status(response, _short(url), self._clock.now())
        return response.body

    def _get(self, url: str, accept: str, max_bytes: int, deadline: timedelta) -> Response:
        settings = self._settings
        left = max(timedelta(milliseconds=1), deadline - self._clock.monotonic())
        return self._http.get(
            Request(
                url=url,
                headers={"accept": accept},
                connect=min(settings.connect, left),
                read=min(settings.read, left),
                total=left,
                max_bytes=max_bytes,
            )
        )

    def _keep_spacing(self, url: str) -> None:
        """Wait until the last call to the shop's own host is `spacing` ago.

        Shopify's CDN is there to be asked, under its own name or the shop's, and a listed host is the person's own.
        """
        parts = urlsplit(url)
        if _is_cdn(parts.netloc, parts.path) or _with_port(parts.scheme, parts.netloc) in self._listed_hosts:
            return
        if self._called_at is not None:
            pause = self._called_at + self._settings.spacing - self._clock.monotonic()
            if pause > timedelta():
                self._clock.wait(pause)
        self._called_at = self._clock.monotonic()


def _retry(action: Callable[[], _Found], clock: Clock, deadline: timedelta, *, tries: int, wait: timedelta) -> _Found:
    """Return what a repeatable read brings; tried again after passing errors while the wait fits the deadline."""
    import logging  # noqa: PLC0415 - as below

    import stamina  # noqa: PLC0415 - takes 50 ms to import

    logging.getLogger("stamina").addHandler(logging.NullHandler())  # it tells of retries on stderr otherwise

    def choose_wait(error: Exception) -> timedelta | bool:
        if not isinstance(error, UpstreamError) or error.permanent:
            return False
        pause = wait
        if isinstance(error, RateLimited):
            if error.wait is None:
                return False
            pause = max(wait, error.wait)
        return pause if clock.monotonic() + pause < deadline else False

    total = max(timedelta(milliseconds=1), deadline - clock.monotonic())
    for attempt in stamina.retry_context(
        on=choose_wait, attempts=tries, timeout=total, wait_initial=wait, wait_max=wait, wait_exp_base=1, wait_jitter=0
    ):
        with attempt:
            return action()
    raise AssertionError("stamina either returns or raises")


_LIMITS = {_RATE_LIMIT, _SECURITY_REJECTION}
_REFUSALS = {
    401: ("the shop is locked with a password", "open it in Shopify, or skip the brand"),
    402: ("the shop is frozen: its bill is not paid", "skip the brand"),
    403: ("the shop's protection turns us away", "if it is yours, make a crawler signature in Shopify (Web Bot Auth)"),
    404: ("there is no product list at this address", "see whether this is a Shopify shop"),
    410: ("the product list is gone", "see whether this is still a Shopify shop"),
    423: ("the shop is locked", "skip the brand"),
}


def _check_status(response: Response, subject: str, now: datetime) -> None:
    """Raise the error of a status that is not 200; meanings per reference shopify-and-llm-cli §1.4."""
    status = response.status
    if status == _OK:
        return
    if status in _LIMITS:
        raise _rate_limited(response, subject, now)
    if status >= _SERVER_ERROR:
        raise ShopFailing(subject, f"the shop has trouble of its own ({status})")
    cause, remedy = _REFUSALS.get(status, ("the shop gives no product list", "look at the address in a browser"))
    raise ShopRefused(subject, f"{cause} ({status})", remedy)


def _rate_limited(response: Response, subject: str, now: datetime) -> RateLimited:
    if response.status == _SECURITY_REJECTION:
        return RateLimited(subject, "Shopify rejects us for today (430)", until=now + _DAY, wait=None)
    named = _parse_retry_after(response.header("retry-after"), now)
    until = now + (_FIRST_LIMIT if named is None else named)
    return RateLimited(subject, f"the shop asks for a pause until {until:%H:%M:%S} UTC (429)", until=until, wait=named)


def _parse_retry_after(value: str, now: datetime) -> timedelta | None:
    """Return the pause a Retry-After header names, seconds or date, at most a day; None when it names none."""
    text = value.strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return min(_DAY, timedelta(seconds=int(text)))
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(_DAY, max(timedelta(), date - now)) if date.tzinfo else None


def _parse_shop_address(base_url: str) -> SplitResult:
    """Return the parts of a shop's address, its host as the wire spells it; raises ConfigError."""
    try:
        parts = urlsplit(base_url)
        host = parts.netloc.encode("idna").decode("ascii").lower()
    except ValueError:  # UnicodeError is one
        host, parts = "", urlsplit("")
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise ConfigError(base_url[:80], "this is no shop address", "write it like https://shop.example")
    return parts._replace(netloc=host)


def _check_scheme(scheme: str, host: str, listed_hosts: frozenset[str]) -> None:
    """Raise ConfigError for plain http, unless a person listed this very host and port."""
    place = _with_port(scheme, host)
    if scheme == "http" and place not in listed_hosts:
        remedy = f'write https://, or list "{place}" under network.allowed_hosts if it is your own test shop'
        raise ConfigError(f"shop http://{host}", "plain http is not used for public shops", remedy)


def _choose_currency(cookies: tuple[str, ...]) -> str:
    """Return the one currency an answer's cookies name, "" when they name none or several (reference §0.1)."""
    named = {found[1] for cookie in cookies if (found := _CURRENCY.match(cookie))}
    return named.pop() if len(named) == 1 else ""


def _is_same_shop(asked: str, other: str) -> bool:
    """Say whether two hosts are one shop's: equal but for www., or one below the other."""
    first, second = asked.removeprefix("www."), other.removeprefix("www.")
    return first == second or first.endswith(f".{second}") or second.endswith(f".{first}")


def _may_move(asked: str, other: str) -> bool:
    """Say whether an answer from another host is the shop's: Shopify's own name for it leads to the public one."""
    return asked.endswith(".myshopify.com") or _is_same_shop(asked, other)


def _is_cdn(host: str, path: str) -> bool:
    return host == _CDN or "/cdn/shop/" in path


def _with_port(scheme: str, host: str) -> str:
    """Return "host:port" with the scheme's own port where none is written."""
    has_port = ":" in host.rpartition("]")[2]
    return host if has_port else f"{host}:{443 if scheme == 'https' else 80}"


def _not_empty(found: ProductList, subject: str) -> ProductList:
    if found.products:
        return found
    if found.unreadable:
        raise EmptyShop(subject, f"none of {len(found.unreadable)} products can be read: {found.unreadable[0]}")
    raise EmptyShop(subject)


def _short(text: str) -> str:
    """Return a foreign name or address for a message, without its query."""
    return render_line(text.partition("?")[0], limit=160) or "photo"
