"""The wire of a library that speaks HTTP by `requests` (Apprise): our name, our rules of reach, our limits, our record.

Such a library takes no client of ours, so while the wire is open the session that `requests` makes for each call is
one of ours (decision 0013). Importing this takes 100 ms, so it is imported where something is sent.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import requests
from apprise.utils.http import (
    ConnectionTracker,
    HTTPPolicy,
    HTTPPolicySession,
    read_bounded_response,
    track_connections,
)
from urllib3.exceptions import MaxRetryError, NewConnectionError

from lamplighter.errors import LamplighterError
from lamplighter.host.address import Resolver, SystemResolver, check_addresses, key_of
from lamplighter.host.clock import Clock
from lamplighter.host.network import AddressRefused, Answered

_MOST_BYTES = 1_000_000
_CONNECT = timedelta(seconds=5)
_READ = timedelta(seconds=15)
_LONGEST_RETRY = timedelta(days=1)
_MIRRORS = "x-ratelimit-"  # by these Apprise would wait by itself; waiting is ours


class HeldBack(requests.exceptions.ConnectionError):
    """Nothing more is sent in a call in which the service failed."""


class Wire:
    """Opens for one call at a time; `requests` is the process's, so nothing else may use it meanwhile."""

    def __init__(
        self,
        *,
        user_agent: str,
        allowed_hosts: frozenset[str],
        clock: Clock,
        resolver: Resolver | None = None,
    ) -> None:
        """Reach public addresses, and what `allowed_hosts` lists as exact "host:port"."""
        self.user_agent = user_agent
        self.clock = clock
        self.policy = _Policy(frozenset(host.lower() for host in allowed_hosts), resolver or SystemResolver())

    def address(self, url: str) -> str:
        """Return where a request really goes; a simulator's wire leads elsewhere than to the service."""
        return url

    @contextlib.contextmanager
    def open(self, limit: timedelta) -> Iterator[list[Answered]]:
        """Lend the record of what is asked and answered in this block; every connection is cut off after `limit`."""
        record: list[Answered] = []
        ordinary = requests.sessions.Session
        requests.sessions.Session = functools.partial(_Session, self, record)  # type: ignore[assignment,misc]  # see above
        try:
            with track_connections(ConnectionTracker(), time.monotonic() + max(0.1, limit.total_seconds())):
                yield record
        finally:
            requests.sessions.Session = ordinary  # type: ignore[misc]  # the same


class _Policy(HTTPPolicy):
    """Looks a name up once, refuses what is not public, and lets connect to what was looked up only."""

    def __init__(self, allowed_hosts: frozenset[str], resolver: Resolver) -> None:
        super().__init__(url_filter=self._may_ask)  # type: ignore[no-untyped-call]  # Apprise's utilities have no types
        self._allowed_hosts = allowed_hosts
        self._resolver = resolver
        self.trouble = ""

    def _may_ask(self, url: str) -> bool:
        """Return whether an address is https, or on a listed host."""
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.scheme == "https" or key_of(parts.hostname or "", port) in self._allowed_hosts:
            return True
        self.trouble = "it is plain http, which is for hosts in network.allowed_hosts only"
        return False

    def resolve(self, host: str, port: int) -> list[tuple[object, ...]]:
        """Return what may be connected to, in the form of getaddrinfo; raises gaierror, with our words noted."""
        try:
            found = self._resolver.resolve(host, port, _CONNECT)
            if key_of(host, port) not in self._allowed_hosts:
                check_addresses(host, found)
        except LamplighterError as error:
            refused = isinstance(error, AddressRefused)
            self.trouble = f"{error.cause}; {error.remedy}" if refused else error.cause
            raise socket.gaierror(socket.EAI_NONAME, error.cause) from error
        flags = socket.AI_NUMERICHOST
        return [entry for one in found for entry in socket.getaddrinfo(one, port, type=socket.SOCK_STREAM, flags=flags)]


class _Session(HTTPPolicySession):
    """One request under our name, never redirected, with a bounded answer that is written down."""

    def __init__(self, wire: Wire, record: list[Answered]) -> None:
        super().__init__(wire.policy)  # type: ignore[no-untyped-call]  # the same
        self._wire = wire
        self._record = record

    def send(self, request: requests.PreparedRequest, **options: object) -> requests.Response:
        """Send it unless the service failed before in this call; raises what requests raises."""
        if any(answered.is_late for answered in self._record):
            raise HeldBack("the service failed before")
        request.url = self._wire.address(str(request.url))
        request.headers["User-Agent"] = self._wire.user_agent
        limits = {"stream": True, "allow_redirects": False, "proxies": {}}
        timeout = (_CONNECT.total_seconds(), _READ.total_seconds())
        self._wire.policy.trouble = ""
        try:
            asked = {**options, **limits, "timeout": timeout}
            response: requests.Response = super().send(request, **asked)  # type: ignore[no-untyped-call]  # the same
        except requests.exceptions.RequestException as error:
            self._record.append(_explain(error, self._wire.policy.trouble))
            raise
        self._note(response)
        return response

    def _note(self, response: requests.Response) -> None:
        """Write an answer down and read it to its end, as far as it is wanted: its status says enough."""
        retry_after = _read_retry_after(response.headers.get("Retry-After", ""), self._wire.clock.now())
        body = b""
        with contextlib.suppress(requests.exceptions.RequestException, OSError):
            body = read_bounded_response(response, _MOST_BYTES) or b""  # type: ignore[no-untyped-call]  # the same
        response._content = body  # noqa: SLF001 - requests has no other way to give it a body that was read
        self._record.append(
            Answered(
                status=response.status_code,
                retry_after=retry_after,
                words=body[:2_000].decode("utf-8", "replace"),
            )
        )
        for name in [name for name in response.headers if name.lower().startswith(_MIRRORS)]:
            del response.headers[name]


def _explain(error: requests.exceptions.RequestException, trouble: str) -> Answered:
    """Say what went wrong in words without an address, and whether the service may have got the request anyway."""
    cause: BaseException | object = error.args[0] if error.args else None
    reason = cause.reason if isinstance(cause, MaxRetryError) else cause
    if isinstance(error, requests.exceptions.InvalidURL):
        return Answered(trouble=trouble or "this is no address", is_refused=True)
    if isinstance(error, requests.exceptions.SSLError):
        return Answered(trouble="its certificate is not good, or it speaks no TLS")
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return Answered(trouble=f"no connection within {_CONNECT.total_seconds():g} s")
    if isinstance(reason, NewConnectionError):
        return Answered(trouble=trouble or "no connection", is_refused="not a public address" in trouble)
    if isinstance(error, requests.exceptions.ReadTimeout):
        return Answered(trouble=f"no answer within {_READ.total_seconds():g} s", is_unsure=True)
    return Answered(trouble="the connection broke before the answer", is_unsure=True)


def _read_retry_after(text: str, now: datetime) -> timedelta | None:
    """Return what a Retry-After header asks for, in seconds or as a date (RFC 9110 §10.2.3), a day at most."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            at = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    if seconds != seconds:  # noqa: PLR0124 - "nan" is a float too
        return None
    return timedelta(seconds=min(max(seconds, 0.0), _LONGEST_RETRY.total_seconds()))
