"""What one asks of the network, what comes back, and what can go wrong; imports no library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

from lamplighter.errors import UpstreamError, render_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request and its limits; `total` covers redirects and body, `max_bytes` counts decoded bytes.

    It is a GET, or a POST of `body` where there is one, which is not sent on by a redirect.
    """

    url: str
    connect: timedelta
    read: timedelta
    total: timedelta
    max_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict)
    max_redirects: int = 3
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back, whatever the status; `url` is where it came from, header names are lower-case and may repeat."""

    status: int
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)

    def header(self, name: str) -> str:
        """Return the first value of a header, or ""."""
        return next(iter(self.header_values(name)), "")

    def header_values(self, name: str) -> tuple[str, ...]:
        """Return every value of a header in the order sent (Set-Cookie is never joined)."""
        return tuple(value for key, value in self.headers if key == name.lower())


class Unreachable(UpstreamError):
    """it cannot be reached."""

    def __init__(self, subject: str, cause: str = "", remedy: str = "", *, is_dns: bool = False) -> None:
        """Say also whether it was the name that could not be looked up: all names failing means offline."""
        super().__init__(subject, cause, remedy)
        self.is_dns = is_dns


class Untrusted(Unreachable):
    """its certificate is not good."""

    permanent = True


class TimedOut(UpstreamError):
    """it took too long."""


class TooLarge(UpstreamError):
    """the answer is larger than allowed."""

    permanent = True


class AddressRefused(UpstreamError):
    """lamplighter does not connect there."""

    permanent = True


class TooManyRedirects(UpstreamError):
    """it redirects without end."""

    permanent = True


class BrokenAnswer(UpstreamError):
    """the answer broke off or is no HTTP."""


def subject_of(url: str) -> str:
    """Return host and path of an address for a message: no query, user name or fragment, which may hold secrets."""
    try:
        parts = urlsplit(url)
        host = f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    except ValueError:
        return render_line(url.partition("?")[0].rpartition("@")[2], limit=200) or "no address"
    return render_line(host + parts.path, limit=200) or "no address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What one request of a library came to: a status, or why there is none; never an address.

    `is_unsure`: the service may have got the request; `is_refused`: lamplighter does not connect there.
    """

    status: int = 0
    retry_after: timedelta | None = None
    words: str = field(default="", repr=False)
    trouble: str = ""
    is_unsure: bool = False
    is_refused: bool = False

    @property
    def is_ok(self) -> bool:
        """Return whether the service took it."""
        return 200 <= self.status < 300

    @property
    def is_late(self) -> bool:
        """Return whether the service is at fault for now, so that nothing more is asked of it."""
        return self.status in {0, 429} or self.status >= 500
