"""The meters: a peer's process and its answers, the memory of a process tree, what a picture really is."""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

ROOT = Path(__file__).parents[2]
MOST_BYTES = 8_000_000
_PATIENCE_SECONDS = 120
_SAMPLE_SECONDS = 0.03
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)
_FRAMES = frozenset({0xC0, 0xC1, 0xC2})  # baseline, extended, progressive; the others are never written


class PeerFailed(Exception):
    """A peer ended, or made something else than was asked."""


@contextlib.contextmanager
def bench_environment() -> Iterator[dict[str, str]]:
    """Lend an environment in which compiled bytecode is kept, outside of the tree."""
    with tempfile.TemporaryDirectory(prefix="lamplighter-bench-") as folder:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        yield {**env, "PYTHONPYCACHEPREFIX": folder}


class Peer:
    """A peer's process from its start on; leaving the block waits for its exit."""

    def __init__(self, module: str, *arguments: str, env: dict[str, str]) -> None:
        self._name = module.rpartition(".")[2]
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stdin = cast("IO[str]", self._process.stdin)
        self._stdout = cast("IO[str]", self._process.stdout)
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        try:
            code = self._process.wait(_PATIENCE_SECONDS)
        finally:
            self._stdout.close()
        if code and error is None:
            raise PeerFailed(f"{self._name} ended with {code}")

    def ask(self, line: str) -> float:
        """Return the seconds from the line to its answer; raises PeerFailed when the peer ended instead."""
        started = time.perf_counter()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(line)
            self._stdin.flush()
        if not self._stdout.readline():
            raise PeerFailed(f"{self._name} ended with {self._process.wait(_PATIENCE_SECONDS)}")
        return time.perf_counter() - started


class PeakMemory(threading.Thread):
    """Samples the proportional memory (PSS) of a process and all its descendants, in bytes, until it is stopped."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._stopping = threading.Event()
        self.peak = 0

    def run(self) -> None:
        """Sample until it is stopped."""
        while not self._stopping.wait(_SAMPLE_SECONDS):
            self.sample()

    def sample(self) -> None:
        """Look once."""
        self.peak = max(self.peak, sum(map(read_pss, find_tree(self._pid))))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join()


def find_tree(pid: int) -> tuple[int, ...]:
    """Return a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it ended meanwhile
                parent = int((entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, new = [pid], [pid]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        found += new
    return tuple(found)


def read_pss(pid: int) -> int:
    """Return the bytes of memory a process has, shared pages by its share; 0 when it has ended."""
    try:
        found = _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def read_processor_time(pid: int) -> float:
    """Return the seconds of processor time a process and its living descendants have had."""
    ticks = 0
    for member in find_tree(pid):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = Path(f"/proc/{member}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class JpegHeader:
    """What a JPEG says of itself."""

    size: tuple[int, int]
    components: int
    baseline: bool


def parse_jpeg_header(content: bytes) -> JpegHeader:
    """Return what the frame header says; raises PeerFailed for what is no JPEG."""
    at = 2
    if content[:at] != b"\xff\xd8":
        raise PeerFailed("the picture is no JPEG")
    while at + 10 <= len(content) and content[at] == 0xFF:
        kind, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if kind in _FRAMES:
            height, width, components = struct.unpack_from(">HHB", content, at + 5)
            return JpegHeader(size=(width, height), components=components, baseline=kind == 0xC0)
        at += 2 + length
    raise PeerFailed("the picture has no frame")


def check_pictures(folder: Path, size: tuple[int, int], count: int) -> int:
    """Return the bytes of all pictures; raises PeerFailed unless each is a baseline RGB JPEG of `size` below 8 MB."""
    total = 0
    for number in range(1, count + 1):
        content = (folder / f"{number}.jpg").read_bytes()
        header = parse_jpeg_header(content)
        if header != JpegHeader(size=size, components=3, baseline=True) or len(content) >= MOST_BYTES:
            raise PeerFailed(f"picture {number} has {len(content):,} bytes and is {header}")
        total += len(content)
    return total


def median_ms(seconds: list[float]) -> float:
    """Return the median in milliseconds."""
    return statistics.median(seconds) * 1000


def where_measured() -> str:
    """Return how large and how busy the machine is."""
    return f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
