"""Real processes for tests: they speak in lines, every wait has a limit, and none outlives its test."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

LIMIT_SECONDS = 30.0


class Child:
    """A Python process that runs `code` with `arguments`; leaving the block kills it."""

    def __init__(self, code: str, *arguments: object) -> None:
        """Start it, in a session of its own."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._unread = b""

    @property
    def pid(self) -> int:
        """Return its pid."""
        return self._process.pid

    def hear(self) -> str:
        """Return the next line it prints; fails the test when it says nothing more."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        end = time.monotonic() + LIMIT_SECONDS
        while b"\n" not in self._unread:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"the child said nothing for {LIMIT_SECONDS} s"
            more = os.read(descriptor, 65_536)
            assert more, f"the child ended (code {self._process.wait()}) after {self._unread!r}"
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def tell(self, line: str = "go") -> None:
        """Send it a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL the process alone and reap it."""
        self._process.kill()
        self._process.wait(LIMIT_SECONDS)

    def wait(self) -> int:
        """Return its exit code (negative: signal) once it has ended by itself."""
        return self._process.wait(LIMIT_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(LIMIT_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def until(condition: Callable[[], bool], what: str) -> None:
    """Return once `condition` holds; fails the test when it does not in time."""
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < end, f"never came true: {what}"
        time.sleep(0.005)


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    return False


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return what a folder holds: names, bytes and times of change, its own time included."""
    held = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*"))} | {".": folder}
    return {
        name: (path.read_bytes() if path.is_file() else b"", path.lstat().st_mtime_ns) for name, path in held.items()
    }


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes in this block: a disk that fills up, for one process (setrlimit(2))."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
