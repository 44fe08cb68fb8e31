"""Whether the network is there: after a wake it often is not yet, and a scheduler does not wait for it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from lamplighter.host.clock import Clock

PATIENCE = timedelta(minutes=3)
_BETWEEN = timedelta(seconds=5)
_CONNECT_SECONDS = 4.0
_ANY = "192.0.2.1"  # TEST-NET-1 (RFC 5737): nothing is sent to it, only the route is looked up


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host that is needed, and the port by which it answers."""

    name: str
    port: int = 443


Look = Callable[[Sequence[Host]], bool]


def is_online(hosts: Sequence[Host], *, somewhere: str = _ANY) -> bool:
    """Return whether one of the hosts can be connected to, or, where none is named, a route leads `somewhere`."""
    if not hosts:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            return True
        return False
    for host in hosts[:3]:  # one dead shop is no dead network
        with contextlib.suppress(OSError, UnicodeError):
            socket.create_connection((host.name, host.port), timeout=_CONNECT_SECONDS).close()
            return True
    return False


def wait_until_online(
    hosts: Sequence[Host],
    clock: Clock,
    say: Callable[[str], None],
    *,
    patience: timedelta = PATIENCE,
    look: Look = is_online,
) -> bool:
    """Return whether the network came within `patience`, at once when it is there; says that it waits, and the end."""
    if look(hosts):
        return True
    began = clock.monotonic()
    names = ", ".join(host.name for host in hosts[:3])
    say(f"no network yet{f' ({names})' if names else ''}: waiting up to {patience.total_seconds():g} s")
    while clock.monotonic() - began < patience:
        clock.wait(_BETWEEN)
        if look(hosts):
            say(f"the network is there after {(clock.monotonic() - began).total_seconds():.0f} s")
            return True
    say("there is still no network; the work begins all the same")
    return False
