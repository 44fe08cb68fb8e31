"""An output that perhaps nobody reads: no write waits longer than asked, and what is taken is whole and in order."""

from __future__ import annotations

import os
import pty
import socket
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lamplighter.host.outlet import AT_ONCE, Outlet

Ends = tuple[int, int]
NOTE = "{} lost\n"
SOON = timedelta(milliseconds=100)


def sockets() -> Ends:
    """Return two ends of a socket, which cannot be opened a second time."""
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


@pytest.fixture(params=[os.pipe, pty.openpty, sockets])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    """Return two ends of a pipe, a terminal, a socket: one to read, one to write."""
    make: Callable[[], Ends] = request.param
    reading, writing = make()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def read_all(descriptor: int) -> bytes:
    """Return what is there to be read."""
    os.set_blocking(descriptor, False)
    found = b""
    try:
        while more := os.read(descriptor, 65_536):
            found += more
    except BlockingIOError:
        pass
    return found.replace(b"\r\n", b"\n")


def test_nobody_who_does_not_read_is_waited_for(ends: Ends) -> None:
    """Of 1 MB a part is taken, at once; the rest is offered again, and what was dropped is said in its place."""
    reading, writing = ends
    outlet = Outlet(writing, note=NOTE)
    lines = [f"{number:09}\n".encode() for number in range(100_000)]
    began = time.monotonic()
    outlet.add(lines[0])
    while outlet.flush(AT_ONCE):
        outlet.add(lines[0])
    for line in lines:
        outlet.add(line)
    assert not outlet.flush(AT_ONCE)
    assert not outlet.flush(SOON)
    assert time.monotonic() - began < 5
    assert os.get_blocking(writing)
    outlet.add(b"kept\n", is_kept=True)
    found = read_all(reading)
    while not outlet.flush(AT_ONCE):
        found += read_all(reading)
    told = (found + read_all(reading)).splitlines(keepends=True)
    assert told[-1] == b"kept\n"
    assert told[-2].endswith(b" lost\n")
    assert told[-3] in lines
    first = told.index(lines[1]) - 1
    assert set(told[:first]) == {lines[0]}
    assert told[first:-2] == lines[: len(told) - 2 - first]
    outlet.close()


def test_a_file_takes_all_at_once(tmp_path: Path) -> None:
    """In order, behind what others wrote to it."""
    with (tmp_path / "file").open("wb", buffering=0) as file:
        file.write(b"before\n")
        outlet = Outlet(file.fileno(), note=NOTE)
        outlet.add(b"x" * 900_000 + b"\n", is_kept=True)
        assert outlet.flush(AT_ONCE)
        file.write(b"after\n")
    assert (tmp_path / "file").read_bytes() == b"before\n" + b"x" * 900_000 + b"\nafter\n"


def test_a_reader_that_has_gone_is_told() -> None:
    """As by any other write."""
    reading, writing = os.pipe()
    os.close(reading)
    outlet = Outlet(writing, note=NOTE)
    outlet.add(b"word\n")
    with pytest.raises(BrokenPipeError):
        outlet.flush(None)
    outlet.close()
    os.close(writing)
