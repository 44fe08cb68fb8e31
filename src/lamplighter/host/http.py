"""The HTTP client: polite, bounded in bytes and time, and never led to a private address."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import urlsplit

from lamplighter import __version__
from lamplighter.errors import ConfigError, InternalError, UpstreamError
from lamplighter.host.address import Resolver, SystemResolver
from lamplighter.host.clock import Clock
from lamplighter.host.network import (
    AddressRefused,
    BrokenAnswer,
    Request,
    Response,
    TimedOut,
    TooLarge,
    TooManyRedirects,
    Unreachable,
    Untrusted,
    subject_of,
)

if TYPE_CHECKING:
    from lamplighter.host.exchange import Answer, Exchange

__all__ = [
    "AddressRefused",
    "BrokenAnswer",
    "Client",
    "Http",
    "Request",
    "Response",
    "TimedOut",
    "TooLarge",
    "TooManyRedirects",
    "Unreachable",
    "Untrusted",
]

_REDIRECTS = {301, 302, 303, 307, 308}
_FOR_ANY_HOST = {"accept", "accept-language"}


class Http(Protocol):
    """Whatever can fetch an address."""

    def get(self, request: Request) -> Response:
        """Return the answer, whatever its status; raises the UpstreamErrors of host/network.py."""


class Client:
    """Fetches over HTTP/1.1, a new connection for each hop, without proxies, cookies or netrc.

    It connects to public addresses, and to what `allowed_hosts` lists as exact "host:port" (a test shop, a machine
    on the own network). The list speaks for the person's own address, not for what a stranger's answer points at:
    it counts for a redirect only while every hop before it was on the list too. So a listed shop may redirect to
    itself or to a listed picture host, and a public shop can lead nowhere private, listed or not.
    """

    def __init__(
        self,
        *,
        contact: str,
        allowed_hosts: frozenset[str],
        clock: Clock,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if not (contact.isascii() and contact.isprintable()):
            raise ConfigError(
                "contact", "it goes into a request header: plain ASCII only", "give a mail or web address"
            )
        self._user_agent = user_agent(contact)
        self._allowed_hosts = frozenset(host.lower() for host in allowed_hosts)
        self._clock = clock
        self._resolver = resolver or SystemResolver()
        self._tls = tls
        self._exchange: Exchange | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Refuse further requests; no connection outlives a request anyway."""
        self._closed = True
        self._exchange = None

    def get(self, request: Request) -> Response:
        """Return the answer after at most `max_redirects` redirects; raises the errors of host/network.py."""
        from lamplighter.host.exchange import Hop  # noqa: PLC0415 - httpx2 takes 90 ms to import

        exchange = self._open()
        deadline = self._clock.monotonic() + request.total
        chain = [request.url]
        headers, listed_hosts = dict(request.headers), self._allowed_hosts
        while True:
            hop = Hop(
                url=chain[-1],
                headers=self._headers(headers),
                connect=request.connect,
                read=request.read,
                deadline=deadline,
                max_bytes=request.max_bytes,
                listed_hosts=listed_hosts,
                body=request.body if len(chain) == 1 else b"",
            )
            try:
                answer = exchange.fetch(hop)
            except UpstreamError as error:
                _blame(error, chain)
                raise
            target = _redirect_target(chain, answer, request.max_redirects)
            if not target:
                return Response(status=answer.status, url=chain[-1], headers=answer.headers, body=answer.body)
            chain.append(target)
            listed_hosts = listed_hosts if answer.listed else frozenset()
            headers = {name: value for name, value in headers.items() if name.lower() in _FOR_ANY_HOST}

    def _open(self) -> Exchange:
        from lamplighter.host.exchange import Exchange  # noqa: PLC0415 - httpx2 takes 90 ms to import

        if self._closed:
            raise InternalError("http", "the client is closed")
        if self._exchange is None:
            self._exchange = Exchange(self._clock, self._resolver, self._tls)
        return self._exchange

    def _headers(self, wanted: Mapping[str, str]) -> dict[str, str]:
        return {
            "accept": "*/*",
            **{name.lower(): value for name, value in wanted.items()},
            "user-agent": self._user_agent,
            "accept-encoding": "gzip",
            "connection": "close",
        }


def user_agent(contact: str) -> str:
    """Return who we say we are, with an address to reach the person where there is one."""
    return f"lamplighter/{__version__}" + (f" (+{contact})" if contact else "")


def _blame(error: UpstreamError, chain: list[str]) -> None:
    """Say of an error behind a redirect who led there: that is the address the person knows."""
    if len(chain) > 1:
        error.cause = f"it redirects to {error.subject}: {error.cause}"
        error.subject, error.remedy = subject_of(chain[0]), ""


def _redirect_target(chain: list[str], answer: Answer, limit: int) -> str:
    """Return where an answer sends us, or "" when it is final; raises when that is not followed."""
    from lamplighter.host.exchange import join  # noqa: PLC0415 - httpx2 takes 90 ms to import

    location = next((value for name, value in answer.headers if name == "location"), "")
    if answer.status not in _REDIRECTS or not location:
        return ""
    subject = subject_of(chain[0])
    target = join(chain[-1], location)
    scheme = urlsplit(target).scheme
    if urlsplit(chain[-1]).scheme == "https" and scheme != "https":
        raise AddressRefused(subject, f"it redirects from https to {scheme}, which anybody could read and change")
    if target in chain:
        raise TooManyRedirects(subject, f"it redirects in a circle, by {subject_of(target)}")
    if len(chain) > limit:
        raise TooManyRedirects(subject, f"it redirects more than {limit} times, last to {subject_of(target)}")
    return target
