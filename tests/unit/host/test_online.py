"""Whether the network is there."""

from __future__ import annotations

import socket

import pytest

from lamplighter.host.online import Host, is_online


@pytest.fixture
def port() -> int:
    """Return a port of this machine where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_one_host_that_answers_is_enough(port: int) -> None:
    """A dead shop is no dead network."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = Host(name="127.0.0.1", port=int(server.getsockname()[1]))
        assert is_online((Host(name="127.0.0.1", port=port), there))


def test_where_no_host_is_named_a_route_is_enough() -> None:
    """Nothing is sent to find one."""
    assert is_online((), somewhere="127.0.0.1")
    assert not is_online((), somewhere="::1")  # no address of this kind of socket


def test_where_none_answers_there_is_none(port: int) -> None:
    """Refused, and names that nobody can look up or that are none."""
    assert not is_online((Host(name="127.0.0.1", port=port), Host(name="a..b"), Host(name="x" * 300)))
