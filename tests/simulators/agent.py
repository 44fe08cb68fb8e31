"""What Cloudflare does to the default agents of HTTP libraries: 403 with error 1010, whatever was asked.

For every simulator of a service that stands behind it: shops, Discord, heartbeats, Graph, media.
"""

from __future__ import annotations

from collections.abc import Mapping

LIBRARY_AGENTS = (
    "python-requests",
    "python-httpx",
    "python-urllib",
    "python/",  # aiohttp: Python/3.11 aiohttp/3.9
    "aiohttp",
    "curl",
    "wget",
    "go-http-client",
    "okhttp",
    "apprise",
)
BLOCKED_STATUS = 403
BLOCKED_BODY = b"error code: 1010"


def is_library_agent(headers: Mapping[str, str]) -> bool:
    """Return whether a request (header names in lower case) says no more of itself than which library it uses."""
    agent = headers.get("user-agent", "").strip().lower()
    return not agent or agent.startswith(LIBRARY_AGENTS)
