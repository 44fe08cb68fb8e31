"""One HTTP exchange on httpcore2: one checked connection, one request, one bounded answer; importing it is slow."""

from __future__ import annotations

import contextlib
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping
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

_BODILESS = frozenset({204, 304})  # whatever their headers say of a body (RFC 9110 §15.3.5, §15.4.5)
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
    body: bytes = field(default=b"", repr=False)


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
        """Send one request and return its answer; raises the errors of host/network.py and nothing else."""
        url = _parse_web_address(hop.url)
        timer = _Timer(self._clock, hop.deadline)
        connector = _Connector(hop.listed_hosts, self._resolver, timer)
        with (
            _our_errors(hop, timer),
            httpcore2.ConnectionPool(ssl_context=self._tls, network_backend=connector) as pool,
            pool.stream(
                "POST" if hop.body else "GET",
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=(("host", url.netloc.decode("ascii")), *_length(hop), *hop.headers.items()),
                content=hop.body or None,
                extensions={"timeout": _timeouts(hop)},
            ) as response,
        ):
            headers = tuple((_text(name).lower(), _text(value)) for name, value in response.headers)
            bodiless = response.status in _BODILESS
            body = b"" if bodiless else _read_body(response.iter_stream(), headers, hop, timer)
            return Answer(status=response.status, headers=headers, body=body, listed=connector.listed)


def join(url: str, location: str) -> str:
    """Return the absolute address a Location header means; raises BrokenAnswer."""
    try:
        return str(httpx2.URL(url).join(location).copy_with(fragment=None))
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise BrokenAnswer(subject_of(url), f"redirects to what is no address: {location[:80]!r}") from error


def _parse_web_address(url: str) -> httpx2.URL:
    """Return an address with its name in ASCII (IDNA); raises AddressRefused for what cannot be asked for."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise AddressRefused(subject_of(url), f"this is no web address: {error}") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise AddressRefused(subject_of(url), "only http and https addresses with a host are asked for")
    if parsed.userinfo:
        raise AddressRefused(subject_of(url), "a user name or password does not belong into an address")
    return parsed


def _length(hop: Hop) -> tuple[tuple[str, str], ...]:
    return (("content-length", str(len(hop.body))),) if hop.body else ()


def _timeouts(hop: Hop) -> dict[str, float]:
    """Return the limits of a hop by httpcore2's names."""
    read, connect = hop.read.total_seconds(), hop.connect.total_seconds()
    return {"connect": connect, "read": read, "write": read, "pool": read}


def _text(header: bytes) -> str:
    """Return a header's name or value as text; what is not UTF-8 is read as Latin-1, where every byte is a letter."""
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        return header.decode("latin-1")


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


class _Connector(httpcore2.NetworkBackend):
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


class _BrokenEncoding(Exception):
    """The body is not what its Content-Encoding says."""


def _read_body(pieces: Iterable[bytes], headers: tuple[tuple[str, str], ...], hop: Hop, timer: _Timer) -> bytes:
    """Return the decoded body; stops at the cap and at the deadline."""
    announced = next((value for name, value in headers if name == "content-length"), "")
    encodings = [value.strip().lower() for name, value in headers if name == "content-encoding"]
    too_large = TooLarge(subject_of(hop.url), f"the answer is larger than {hop.max_bytes:,} bytes")
    if announced.isdecimal() and int(announced[:20]) > hop.max_bytes:
        raise too_large
    body = bytearray()
    for piece in _decode(pieces, ", ".join(encodings)):
        body += piece
        if len(body) > hop.max_bytes:
            raise too_large
        timer.limit(None)
    return bytes(body)


def _decode(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Undo gzip in bounded pieces; a half gzip is not taken for a whole one. Raises _BrokenEncoding."""
    if encoding in {"identity", ""}:
        yield from pieces
        return
    if encoding not in {"gzip", "x-gzip"}:
        raise _BrokenEncoding(f"it is encoded as {encoding[:20]!r}, which nobody asked for")
    unpacker = zlib.decompressobj(_GZIP)
    for packed in pieces:
        plain = _unpack(unpacker, packed)
        while plain:
            yield plain
            plain = _unpack(unpacker, unpacker.unconsumed_tail)
    if not unpacker.eof or unpacker.unused_data:
        raise _BrokenEncoding("its gzip breaks off or goes on after its end")


def _unpack(unpacker: zlib._Decompress, packed: bytes) -> bytes:
    try:
        return unpacker.decompress(packed, _PIECE_BYTES)
    except zlib.error as error:
        raise _BrokenEncoding(f"its gzip is damaged: {error}") from error


@contextlib.contextmanager
def _our_errors(hop: Hop, timer: _Timer) -> Iterator[None]:
    """Turn whatever the network did into one line of ours."""
    subject = subject_of(hop.url)
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException, TimedOut) as error:
        raise TimedOut(subject, _late(error, hop, timer)) from error
    except (AddressRefused, Unreachable) as error:
        error.subject = subject
        raise
    except httpcore2.ConnectError as error:
        raise _unreachable(subject, error) from error
    except (httpcore2.NetworkError, ssl.SSLError) as error:
        raise BrokenAnswer(subject, f"the connection broke: {_words(error)}") from error
    except (httpcore2.ProtocolError, _BrokenEncoding) as error:
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
