"""An output that is open and that nobody reads: a stopped pager, a stuck log shipper. Nothing waits for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.acceptance.jobs import PROGRAM, Jobs
from tests.simulators.child import LIMIT_SECONDS

_FLOOD = "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"


@pytest.fixture
def unread() -> Iterator[int]:
    """Return a pipe that is full and has a reader."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    yield writing
    os.close(reading)
    os.close(writing)


def start(call: Sequence[str | bytes], folder: Path, output: int) -> subprocess.Popen[bytes]:
    """Start a command with both its outputs there."""
    return subprocess.Popen(call, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)


def test_a_limit_ends_a_run_whose_output_nobody_reads(tmp_path: Path, unread: int) -> None:
    """However much it writes."""
    jobs = Jobs.make(tmp_path / "workspace")
    call = jobs.call("x", "sh", "-c", _FLOOD, options=("--max-runtime", "1s"))
    assert start(call, jobs.folder, unread).wait(LIMIT_SECONDS) == 124
    assert jobs.told()[0] == "timed_out"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_ends_a_run_whose_output_nobody_reads(tmp_path: Path, unread: int, number: int) -> None:
    """Supervisor and worker."""
    jobs = Jobs.make(tmp_path / "workspace")
    process = start(jobs.call("x", "sh", "-c", f"echo up > up; {_FLOOD}"), jobs.folder, unread)
    jobs.wait_for("up")
    process.send_signal(number)
    assert process.wait(LIMIT_SECONDS) == 128 + number
    assert jobs.told()[0] == "interrupted"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "x", "--", "true"),
        ("run", "x", "--json", "--", "true"),
        ("run", "x", "--", "no-such-command"),
        ("run", "x"),
        ("generate",),
        ("post",),
        ("post", "--json"),
    ],
)
def test_no_line_of_ours_waits_for_a_reader(stocked: Path, unread: int, words: tuple[str, ...]) -> None:
    """Neither progress nor the end of a run, nor an error."""
    process = start((PROGRAM, *words), stocked, unread)
    assert process.wait(LIMIT_SECONDS) in {0, 66}
