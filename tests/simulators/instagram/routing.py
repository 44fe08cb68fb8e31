"""Which route an address means: host by Host header or by its first path segment, then the version, then the call."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

from tests.simulators.instagram.wire import Request

HOSTS = {
    "graph.instagram.com": "instagram",
    "graph.facebook.com": "facebook",
    "api.instagram.com": "code",
    "www.instagram.com": "sign_in",
    "www.facebook.com": "sign_in",
}
PREFIXES = {"ig": "instagram", "fb": "facebook", "api": "code", "www": "sign_in", **HOSTS}
_VERSION = re.compile(r"v(\d{1,3})\.(\d)")
_GROUPS = {
    "child": ("create",), "carousel": ("create",), "image": ("create",), "container": ("objects", "reads"),
    "media": ("objects", "reads"), "list": ("reads",), "limit": ("reads",), "me": ("reads",), "account": ("reads",),
    "pages": ("reads", "tokens"), "page": ("reads",), "comments": ("reads",), "refresh": ("tokens",),
    "exchange": ("tokens",), "debug_token": ("tokens",), "code": ("tokens",),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a call goes."""

    host: str
    origin: str
    """What the client reaches this host by, without a slash at its end."""
    version: str
    """As asked, "v26.0", or empty."""
    path: str
    """Without host prefix, with the version."""
    parts: tuple[str, ...]
    """The segments after the version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an id in the path may be."""

    containers: Container[str]
    accounts: Container[str]
    pages: Container[str]


def find_place(request: Request) -> Place:
    """Take an address apart; host is "unknown" when neither the header nor the first segment names one."""
    named = request.headers.get("host", "")
    host = HOSTS.get(named.partition(":")[0].lower(), "")
    origin, segments = f"http://{named}", [part for part in request.path.split("/") if part]
    if not host and segments and segments[0] in PREFIXES:
        host = PREFIXES[segments[0]]
        origin = f"{origin}/{segments.pop(0)}"
    version = segments[0] if segments and _VERSION.fullmatch(segments[0]) else ""
    return Place(
        host=host or "unknown",
        origin=origin,
        version=version,
        path="/" + "/".join(segments),
        parts=tuple(segments[1:] if version else segments),
    )


def version_number(version: str) -> int:
    """Return 26 for "v26.0"."""
    found = _VERSION.fullmatch(version)
    return int(found[1]) if found else 0


def find_route(place: Place, method: str, values: Mapping[str, str], known: Known) -> str:
    """Return the name of the route, or "" when there is none for this method on this host."""
    fixed = _FIXED.get((place.host, method, "/".join(place.parts)))
    if fixed or place.host not in {"instagram", "facebook"}:
        return fixed or ""
    if len(place.parts) == 1:
        return _one_segment(place, method, known)
    return _two_segments(place.parts[1], method, values) if len(place.parts) == 2 else ""


def all_routes(route: str) -> tuple[str, ...]:
    """Return a route with the groups it belongs to."""
    return (route or "none", *_GROUPS.get(route, ()), "any")


def fault_line(method: str, path: str, values: Mapping[str, str]) -> str:
    """Return what a regular expression of the fault script is held against."""
    return f"{method} {path} {values.get('image_url', '')}".rstrip()


_FIXED = {
    ("instagram", "GET", "access_token"): "exchange",
    ("instagram", "GET", "refresh_access_token"): "refresh",
    ("instagram", "GET", "me"): "me",
    ("facebook", "GET", "me"): "me",
    ("facebook", "GET", "me/accounts"): "pages",
    ("facebook", "GET", "oauth/access_token"): "exchange",
    ("facebook", "GET", "debug_token"): "debug_token",
    ("code", "POST", "oauth/access_token"): "code",
    ("sign_in", "GET", "oauth/authorize"): "sign_in",
    ("sign_in", "GET", "dialog/oauth"): "sign_in",
}


def _one_segment(place: Place, method: str, known: Known) -> str:
    object_id = place.parts[0]
    if method == "DELETE":
        return "delete"
    if method != "GET":
        return ""
    if object_id in known.containers:
        return "container"
    if object_id in known.accounts:
        return "account"
    if object_id in known.pages and place.host == "facebook":
        return "page"
    return "media"


def _two_segments(edge: str, method: str, values: Mapping[str, str]) -> str:
    if (method, edge) == ("POST", "media"):
        if values.get("media_type", "").upper() == "CAROUSEL":
            return "carousel"
        return "child" if values.get("is_carousel_item", "").lower() in {"true", "1"} else "image"
    edges = {
        ("GET", "media"): "list",
        ("POST", "media_publish"): "publish",
        ("GET", "content_publishing_limit"): "limit",
        ("POST", "comments"): "comment",
        ("GET", "comments"): "comments",
    }
    return edges.get((method, edge), "")
