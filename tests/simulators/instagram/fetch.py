"""How Meta's crawler fetches a picture: once, without cookies, following no redirect, on loopback only."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from urllib.parse import SplitResult, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.picture import MOST_BYTES
from tests.simulators.instagram.refusal import FETCH_FAILED, IMAGE_TOO_LARGE, TOO_SLOW, Refused, bad_parameter

CRAWLER = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
_EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif")
_MOST_HOPS = 5


@dataclass(slots=True, kw_only=True)
class Crawler:
    """Fetches over real sockets; `origins` says which loopback server plays which public one.

    {"https://media.example": "http://127.0.0.1:8001"} lets a client publish with the addresses it would really use.
    An origin that is neither mapped nor loopback cannot be fetched, and nothing is asked of it.
    """

    knobs: Knobs
    origins: Mapping[str, str] = field(default_factory=dict)

    def fetch(self, url: str) -> bytes:
        """Return the bytes behind `image_url`; raise Refused with 9004, -2/2207003, 36000 or #100."""
        parts = _take_apart(url)
        if not url.isascii() or any(letter.isspace() for letter in url):
            raise _failed(url, "the address is not plain ASCII")
        if self.knobs.extension_needed and not parts.path.lower().endswith(_EXTENSIONS):
            raise _failed(url, "the address has no image extension")
        deadline = time.monotonic() + self.knobs.fetch_timeout_real_s
        if self.knobs.robots_obeyed and not self._allowed(url, deadline):
            raise _failed(url, "Restricted by robots.txt")
        return self._fetch_picture(url, deadline)

    def _fetch_picture(self, url: str, deadline: float) -> bytes:
        status, headers, content, place = 0, dict[str, str](), b"", url
        for _ in range(_MOST_HOPS):
            status, headers, content = self._get(place, url, deadline)
            if not 300 <= status < 400:
                break
            if self.knobs.redirects_refused:
                raise _failed(url, f"HTTP {status}, a redirect")
            place = urljoin(place, headers.get("location", ""))
        if status != 200:
            raise _failed(url, f"HTTP {status}")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if not kind.startswith("image/"):
            raise _failed(url, f"content type {kind or 'missing'}")
        return content

    def _allowed(self, url: str, deadline: float) -> bool:
        """Ask robots.txt as RFC 9309 says: 4xx and redirects allow all, 5xx and no answer forbid all."""
        robots_url = urljoin(url, "/robots.txt")
        status, _, content = self._get(robots_url, url, deadline)
        if status >= 500:
            return False
        if status != 200:
            return True
        rules = RobotFileParser()
        rules.parse(content.decode("utf-8", "replace").splitlines())
        return rules.can_fetch("facebookexternalhit", url)

    def _get(self, place: str, url: str, deadline: float) -> tuple[int, dict[str, str], bytes]:
        host, port, path = self._locate(place, url)
        connection = HTTPConnection(host, port, timeout=max(0.05, deadline - time.monotonic()))
        try:
            connection.request("GET", path, headers={"User-Agent": CRAWLER, "Accept": "*/*"})
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.headers.items()}
            return response.status, headers, _read(connection, response, deadline)
        except TimeoutError:
            raise Refused(TOO_SLOW) from None
        except (HTTPException, OSError) as error:
            raise _failed(url, type(error).__name__) from None
        finally:
            connection.close()

    def _locate(self, place: str, url: str) -> tuple[str, int, str]:
        parts = urlsplit(place)
        mapped = urlsplit(self.origins.get(f"{parts.scheme}://{parts.netloc}", f"{parts.scheme}://{parts.netloc}"))
        host = mapped.hostname or ""
        if mapped.scheme != "http" or not _on_loopback(host):
            raise _failed(url, "the host is not reachable")
        return host, mapped.port or 80, parts.path + (f"?{parts.query}" if parts.query else "")


def _take_apart(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.netloc) and parts.port != 0
    except ValueError:
        parts, valid = SplitResult("", "", "", "", ""), False
    if not valid:
        raise Refused(bad_parameter("Param image_url must be a valid URI"))
    return parts


def _on_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(connection: HTTPConnection, response: HTTPResponse, deadline: float) -> bytes:
    """Read the body until the deadline, and no more than is allowed."""
    content = bytearray()
    promised = response.length
    if promised is not None and promised > MOST_BYTES:
        raise Refused(IMAGE_TOO_LARGE)
    while promised is None or len(content) < promised:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Refused(TOO_SLOW)
        if connection.sock is not None:
            connection.sock.settimeout(left)
        piece = response.read1(65_536 if promised is None else min(65_536, promised - len(content)))
        if not piece:
            break
        content += piece
        if len(content) > MOST_BYTES:
            raise Refused(IMAGE_TOO_LARGE)
    if promised is not None and len(content) < promised:
        raise IncompleteRead(bytes(content))
    return bytes(content)


def _failed(url: str, why: str) -> Refused:
    return Refused(FETCH_FAILED.fill(url=url, why=why))
