"""One HTTP exchange on httpx2: one checked connection, one request, one bounded answer; importing it is slow."""

from __future__ import annotations

import contextlib
import ssl
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import httpcore2
import httpx2

from lamplighter.host.address import Resolver, check_addresses, key_of
from lamplighter.host.clock import Clock
from lamplighter.host.network import (
    AddressRefused,
    BrokenAnswer,
    TimedOut,
    TooLarge,
    Unreachable,
    Untrusted,
    subject_of,
)

_PIECE_BYTES = 65_536
_GZIP = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One request of a chain; `deadline` is on the steady clock, `listed_hosts` may be private."""

    url: str
    headers: Mapping[str, str]
    connect: timedelta
    read: timedelta
    deadline: timedelta
    max_bytes: int
    listed_hosts: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one hop answered; `listed` says the connection was allowed by the list."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
    listed: bool


class Exchange:
    """Sends hops; holds only what is dear to make (the certificate store) and never a connection."""

    def __init__(self, clock: Clock, resolver: Resolver, tls: ssl.SSLContext | None) -> None:
        self._clock = clock
        self._resolver = resolver
        self._tls = tls or httpx2.create_ssl_context(trust_env=False)

    def fetch(self, hop: Hop) -> Answer:
        """Send one GET and return its answer; raises the errors of host/network.py and nothing else."""
        _check_web_address(hop.url)
        timer = _Timer(self._clock, hop.deadline)
        gate = _Gate(hop.listed_hosts, self._resolver, timer)
        timeout = httpx2.Timeout(hop.read.total_seconds(), connect=hop.connect.total_seconds())
        with (
            _our_errors(hop, timer),
            _Transport(self._tls, gate) as transport,
            httpx2.Client(transport=transport, trust_env=False, timeout=timeout) as client,
        ):
            request = httpx2.Request("GET", hop.url, headers=hop.headers, extensions={"timeout": timeout.as_dict()})
            response = client.send(request, stream=True, follow_redirects=False)
            try:
                return Answer(
                    status=response.status_code,
                    headers=tuple((name.lower(), value) for name, value in response.headers.multi_items()),
                    body=_read_body(response, hop, timer),
                    listed=gate.listed,
                )
            finally:
                response.close()


def join(url: str, location: str) -> str:
    """Return the absolute address a Location header means; raises BrokenAnswer."""
    try:
        return str(httpx2.URL(url).join(location).copy_with(fragment=None))
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise BrokenAnswer(subject_of(url), f"redirects to what is no address: {location[:80]!r}") from error


def _check_web_address(url: str) -> None:
    """Raise AddressRefused for what cannot be asked for."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise AddressRefused(subject_of(url), f"this is no web address: {error}") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise AddressRefused(subject_of(url), "only http and https addresses with a host are asked for")
    if parsed.userinfo:
        raise AddressRefused(subject_of(url), "a user name or password does not belong into an address")


class _Timer:
    """What is left until the deadline."""

    def __init__(self, clock: Clock, deadline: timedelta) -> None:
        self._clock = clock
        self._deadline = deadline

    @property
    def left(self) -> timedelta:
        return self._deadline - self._clock.monotonic()

    def limit(self, seconds: float | None) -> float:
        """Return the shorter of a limit and what is left; raises TimeoutError when nothing is."""
        left = self.left.total_seconds()
        if left <= 0:
            raise TimeoutError
        return left if seconds is None else min(seconds, left)


class _Gate(httpcore2.NetworkBackend):
    """Connects to the very addresses it has checked, so that a name cannot change its mind in between."""

    def __init__(self, listed_hosts: frozenset[str], resolver: Resolver, timer: _Timer) -> None:
        self._listed_hosts = listed_hosts
        self._resolver = resolver
        self._timer = timer
        self._plain = httpcore2.SyncBackend()
        self.listed = False

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Resolve, check, connect; the connect limit is shared by all addresses of the name."""
        budget = _Budget(self._timer, self._timer.limit(timeout))
        self.listed = key_of(host, port) in self._listed_hosts
        addresses = self._resolver.resolve(host, port, timedelta(seconds=budget.share(1)))
        if not self.listed:
            check_addresses(host, addresses)
        failure: Exception = Unreachable(host, "the name has no address", is_dns=True)
        for tried, address in enumerate(addresses):
            share = budget.share(len(addresses) - tried)
            try:
                stream = self._plain.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._timer)
        raise failure


class _Budget:
    """A connect limit that several addresses share."""

    def __init__(self, timer: _Timer, seconds: float) -> None:
        self._timer = timer
        self._end = timer.left.total_seconds() - seconds

    def share(self, among: int) -> float:
        """Return the seconds one of `among` attempts may take; raises TimeoutError when none are left."""
        left = self._timer.left.total_seconds() - self._end
        if left <= 0:
            raise TimeoutError
        return left / among


class _Stream(httpcore2.NetworkStream):
    """A connection on which no single wait outlasts the deadline: a dripping server is cut off, headers included."""

    def __init__(self, inner: httpcore2.NetworkStream, timer: _Timer) -> None:
        self._inner = inner
        self._timer = timer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._timer.limit(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._timer.limit(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, self._timer.limit(timeout)), self._timer)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


class _Transport(httpx2.BaseTransport):
    """httpx2's own transport, but for the gate: it takes no network backend, httpcore2's pool does."""

    def __init__(self, tls: ssl.SSLContext, gate: _Gate) -> None:
        self._pool = httpcore2.ConnectionPool(ssl_context=tls, network_backend=gate, max_keepalive_connections=0)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                extensions=request.extensions,
            )
        )
        if not isinstance(answer.stream, Iterable):
            raise TypeError("a synchronous pool gives a synchronous stream")
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=_Body(answer.stream), extensions=answer.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    """The raw bytes of an answer as they arrive."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces

    def close(self) -> None:
        close: Callable[[], None] | None = getattr(self._pieces, "close", None)
        if close:
            close()


def _read_body(response: httpx2.Response, hop: Hop, timer: _Timer) -> bytes:
    """Return the decoded body; stops at the cap and at the deadline."""
    announced = response.headers.get("content-length", "")
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    too_large = TooLarge(subject_of(hop.url), f"the answer is larger than {hop.max_bytes:,} bytes")
    if announced.isdecimal() and int(announced[:20]) > hop.max_bytes:
        raise too_large
    body = bytearray()
    for piece in _decode(response.iter_raw(), encoding):
        body += piece
        if len(body) > hop.max_bytes:
            raise too_large
        timer.limit(None)
    return bytes(body)


def _decode(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Undo gzip in bounded pieces; httpx2's own decoder takes a half gzip for a whole one. Raises ValueError."""
    if encoding in {"identity", ""}:
        yield from pieces
        return
    if encoding not in {"gzip", "x-gzip"}:
        raise ValueError(f"it is encoded as {encoding[:20]!r}, which nobody asked for")
    unpacker = zlib.decompressobj(_GZIP)
    for packed in pieces:
        plain = unpacker.decompress(packed, _PIECE_BYTES)
        while plain:
            yield plain
            plain = unpacker.decompress(unpacker.unconsumed_tail, _PIECE_BYTES)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("its gzip breaks off or goes on after its end")


@contextlib.contextmanager
def _our_errors(hop: Hop, timer: _Timer) -> Iterator[None]:
    """Turn whatever the network did into one line of ours."""
    subject = subject_of(hop.url)
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException, httpx2.TimeoutException, TimedOut) as error:
        raise TimedOut(subject, _late(error, hop, timer)) from error
    except (AddressRefused, Unreachable) as error:
        error.subject = subject
        raise
    except (httpcore2.ConnectError, httpx2.ConnectError) as error:
        raise _unreachable(subject, error) from error
    except (httpcore2.NetworkError, httpx2.NetworkError, ssl.SSLError) as error:
        raise BrokenAnswer(subject, f"the connection broke: {_words(error)}") from error
    except (httpcore2.ProtocolError, httpx2.ProtocolError, zlib.error, ValueError) as error:
        raise BrokenAnswer(subject, f"the answer is broken: {_words(error)}") from error


def _late(error: Exception, hop: Hop, timer: _Timer) -> str:
    if timer.left <= timedelta(milliseconds=1):
        return "it was not done in the time allowed"
    if isinstance(error, TimedOut):
        return error.cause
    if isinstance(error, httpcore2.ReadTimeout | httpcore2.WriteTimeout):
        return f"nothing came for {hop.read.total_seconds():g} s"
    return f"no connection within {hop.connect.total_seconds():g} s"


def _unreachable(subject: str, error: Exception) -> Unreachable:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Untrusted(subject, f"its certificate is not good: {cause.verify_message}")
        cause = cause.__cause__ or cause.__context__
    return Unreachable(subject, f"no connection: {_words(error)}")


def _words(error: BaseException) -> str:
    """Return what the innermost operating system error says, else the error's own words, in one short line."""
    cause: BaseException | None = error
    text = str(error)
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            text = cause.strerror
        cause = cause.__cause__ or cause.__context__
    return " ".join((text or type(error).__name__).split())[:160]
