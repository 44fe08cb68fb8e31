"""Which addresses lamplighter connects to: public ones, and what the person listed as exact host:port."""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from lamplighter.host.network import AddressRefused, TimedOut, Unreachable

_IPv4 = ipaddress.IPv4Address
_IPv6 = ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052; how an IPv6-only network reaches IPv4
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # RFC 4291; Python 3.11 calls more than this global
_NEVER = (
    ipaddress.IPv6Network("2002::/16"),  # 6to4, embeds an IPv4 address (RFC 7526: deprecated)
    ipaddress.IPv6Network("2001::/32"),  # Teredo, embeds one too
    ipaddress.IPv6Network("3fff::/20"),  # documentation (RFC 9637), unknown to Python 3.11
)
_RELAY = ipaddress.IPv4Network("192.88.99.0/24")  # 6to4 relays (RFC 7526)


class Resolver(Protocol):
    """Turns a host name into addresses."""

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Return IP addresses, best first; raises Unreachable (is_dns) or TimedOut after `limit`."""


class SystemResolver:
    """The operating system's resolver, which knows no time limit of its own."""

    def __init__(self, look_up: Callable[[str, int], tuple[str, ...]] | None = None) -> None:
        self._look_up = look_up or _look_up

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Return IP addresses, best first; a lookup that outlasts `limit` is left behind in a daemon thread."""
        results: queue.SimpleQueue[tuple[str, ...] | Exception] = queue.SimpleQueue()

        def report() -> None:
            try:
                results.put(self._look_up(host, port))
            except (OSError, ValueError) as error:  # UnicodeError, of a label over 63 letters, is a ValueError
                results.put(error)

        threading.Thread(target=report, daemon=True, name="resolve").start()
        try:
            found = results.get(timeout=max(0.0, limit.total_seconds()))
        except queue.Empty:
            raise TimedOut(host, "the name was not looked up in time") from None
        if isinstance(found, Exception):
            raise Unreachable(host, f"the name cannot be looked up: {_reason(found)}", is_dns=True) from found
        return found


def key_of(host: str, port: int) -> str:
    """Return the "host:port" under which a person lists an address, lower-case, IPv6 in brackets."""
    name = host.lower().strip("[]")
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def check_addresses(host: str, addresses: tuple[str, ...]) -> None:
    """Raise AddressRefused unless every address of a host is public: one private among them refuses all."""
    for address in addresses:
        if not is_public(address):
            raise AddressRefused(
                host,
                f"{address} is not a public address",
                "if it is yours, list its exact host:port under allowed_hosts",
            )


def is_public(address: str) -> bool:
    """Say whether an IP address is one of the open internet, also when it hides an IPv4 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, _IPv4):
        return _is_public_v4(parsed)
    if parsed in _NAT64 or parsed in _MAPPED:
        return _is_public_v4(_IPv4(int(parsed) & 0xFFFFFFFF))
    return _is_public_v6(parsed)


def _is_public_v4(address: _IPv4) -> bool:
    return address.is_global and not address.is_multicast and not address.is_reserved and address not in _RELAY


def _is_public_v6(address: _IPv6) -> bool:
    return address in _GLOBAL_UNICAST and address.is_global and not any(address in network for network in _NEVER)


def _look_up(host: str, port: int) -> tuple[str, ...]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
