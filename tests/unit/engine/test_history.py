"""What befell a lock is kept, within bounds, and never gets in anybody's way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.simulators.child import files_of_at_most
from tests.simulators.clock import VirtualClock

from lamplighter.engine.history import HISTORY_FILE, Event, append_event, read_history, shorten_history
from lamplighter.engine.lock import JobLock


def event(number: int, text: str = "lamplighter generate") -> Event:
    """Return the event of one acquisition."""
    return Event(at="2026-05-04T12:00:00+00:00", what="acquired", generation=number, pid=4711, text=text)


def test_what_is_written_is_read_the_newest_last(tmp_path: Path) -> None:
    """As many as are asked for."""
    for number in range(5):
        append_event(tmp_path, event(number))
    assert read_history(tmp_path, limit=2) == (event(3), event(4))


def test_torn_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    """A power cut in the middle of a line hides no other."""
    append_event(tmp_path, event(1))
    with (tmp_path / HISTORY_FILE).open("ab") as stream:
        stream.write(
            b'{"at": "2026\n\xff\n[]\n{"at": 1, "what": 2, "generation": 1e999, "pid": 3, "text": 4}\n' + b"[" * 50_000
        )
        stream.write(b"\n")
    append_event(tmp_path, event(2))
    assert read_history(tmp_path, limit=9) == (event(1), event(2))


def test_a_long_history_loses_its_older_half(tmp_path: Path) -> None:
    """It never grows beyond bounds, and the newest lines stay whole."""
    for number in range(2000):
        append_event(tmp_path, event(number))
        if number % 100 == 0:
            shorten_history(tmp_path)
    shorten_history(tmp_path)
    assert (tmp_path / HISTORY_FILE).stat().st_size < 100_000
    kept = read_history(tmp_path, limit=10_000)
    assert kept == tuple(event(number) for number in range(2000 - len(kept), 2000))
    assert [path.name for path in tmp_path.iterdir()] == [HISTORY_FILE]


def test_refusals_alone_cannot_grow_it_without_bounds(tmp_path: Path) -> None:
    """Whoever is refused holds no lock, so it only stops writing."""
    for number in range(3000):
        append_event(tmp_path, event(number))
    assert (tmp_path / HISTORY_FILE).stat().st_size < 130_000


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "nothing"])
def test_an_odd_thing_in_its_place_stops_nobody(tmp_path: Path, kind: str) -> None:
    """The lock is taken and let go as ever, and nothing outside is written."""
    folder, outside = tmp_path / "generate", tmp_path / "outside"
    folder.mkdir()
    outside.write_bytes(b"mine")
    place = folder / HISTORY_FILE
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(outside)
    lock = JobLock(folder, VirtualClock())
    lock.acquire("lamplighter generate")
    lock.release()
    assert len(read_history(folder, limit=9)) == (1 if kind == "nothing" else 0)
    assert outside.read_bytes() == b"mine"


def test_a_full_disk_leaves_it_as_it_is(tmp_path: Path) -> None:
    """What cannot be written is left out."""
    append_event(tmp_path, event(1))
    with files_of_at_most(20):
        append_event(tmp_path, event(2))
    append_event(tmp_path, event(3))
    assert read_history(tmp_path, limit=9) == (event(1), event(3))
