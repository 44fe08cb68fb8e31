"""What our lock costs and keeps, beside its peers in one run: starts, cycles, takeover after SIGKILL, probes, one file.

Prints a table and ends with 1 when a bar is missed. `--quick` measures less. Peers that are not installed are left out.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from lamplighter.engine.lock import JobLock
from lamplighter.errors import LockBusy
from lamplighter.host.clock import SystemClock

QUICK = "--quick" in sys.argv
KILLS, CYCLES, STARTS = (5, 200, 5) if QUICK else (25, 2000, 15)
TURNS = 60 if QUICK else 300
LIMIT_SECONDS = 30.0
MOST_KILL_MS, MOST_CYCLE_MS, MOST_IMPORT_MS, TIMES_FASTER = 5.0, 1.0, 25.0, 4.0


class Lock(Protocol):
    """One hold of a lock at a path."""

    def __init__(self, path: Path) -> None:
        """Name it."""

    def take(self, seconds: float) -> bool:
        """Take it, waiting so long for another, as the library itself waits; return whether it was got."""

    def free(self) -> None:
        """Let go."""


class Ours:
    """lamplighter: the folder of the path is the job's lock folder."""

    module = "lamplighter.engine.lock"

    def __init__(self, path: Path) -> None:
        self._lock = JobLock(path.parent, SystemClock())

    def take(self, seconds: float) -> bool:
        """Take it."""
        try:
            self._lock.acquire("bench", wait=timedelta(seconds=seconds))
        except LockBusy:
            return False
        return True

    def free(self) -> None:
        """Let go."""
        self._lock.release()


class FileLockPeer:
    """filelock.FileLock."""

    module = "filelock"

    def __init__(self, path: Path) -> None:
        filelock = importlib.import_module("filelock")

        self._lock, self._late = filelock.FileLock(path), filelock.Timeout

    def take(self, seconds: float) -> bool:
        """Take it."""
        try:
            self._lock.acquire(timeout=seconds)
        except self._late:
            return False
        return True

    def free(self) -> None:
        """Let go."""
        self._lock.release()


class PortalockerPeer:
    """portalocker.Lock."""

    module = "portalocker"

    def __init__(self, path: Path) -> None:
        portalocker = importlib.import_module("portalocker")

        self._lock = portalocker.Lock(path, mode="a", timeout=0)
        self._late = portalocker.LockException

    def take(self, seconds: float) -> bool:
        """Take it."""
        try:
            self._lock.acquire(timeout=seconds, fail_when_locked=False)
        except self._late:
            return False
        return True

    def free(self) -> None:
        """Let go."""
        self._lock.release()


class FastenersPeer:
    """fasteners.InterProcessLock, which takes a POSIX lock."""

    module = "fasteners"

    def __init__(self, path: Path) -> None:
        fasteners = importlib.import_module("fasteners")

        self._lock = fasteners.InterProcessLock(path)

    def take(self, seconds: float) -> bool:
        """Take it."""
        return bool(self._lock.acquire(timeout=seconds))

    def free(self) -> None:
        """Let go."""
        self._lock.release()


class ZcPeer:
    """zc.lockfile.LockFile; it has no wait, so it is asked every 10 ms."""

    module = "zc.lockfile"

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, seconds: float) -> bool:
        """Take it."""
        lockfile = importlib.import_module("zc.lockfile")
        end = time.monotonic() + seconds
        while True:
            try:
                self._lock = lockfile.LockFile(str(self._path))
            except lockfile.LockError:
                if time.monotonic() >= end:
                    return False
                time.sleep(0.01)
            else:
                return True

    def free(self) -> None:
        """Let go."""
        self._lock.close()


class ShellPeer:
    """flock(1), by a shell that holds it for as long as its input is open."""

    module = ""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, seconds: float) -> bool:
        """Take it."""
        self._shell = subprocess.Popen(
            ["/usr/bin/env", "flock", "-w", str(seconds), self._path, "sh", "-c", "echo in; read line"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self._shell.stdout is not None and self._shell.stdout.readline() == b"in\n"

    def free(self) -> None:
        """Let go."""
        self._shell.communicate(b"\n", timeout=LIMIT_SECONDS)


class OldPeer:
    """The old way: a file with a pid in it, believed for two hours; asked every 10 ms."""

    module = ""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, seconds: float) -> bool:
        """Take it."""
        end = time.monotonic() + seconds
        while self._path.exists() and time.time() - self._path.stat().st_mtime < 7200:
            if time.monotonic() >= end:
                return False
            time.sleep(0.01)
        self._path.write_text(str(os.getpid()))
        return True

    def free(self) -> None:
        """Let go."""
        self._path.unlink()


PEERS: dict[str, type[Lock]] = {
    "lamplighter": Ours,
    "filelock": FileLockPeer,
    "portalocker": PortalockerPeer,
    "fasteners": FastenersPeer,
    "zc.lockfile": ZcPeer,
    "flock(1)": ShellPeer,
    "the old way": OldPeer,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was found of one lock; None where there is nothing to measure or it never came."""

    import_ms: float | None
    cycle_ms: float
    kill_ms: float | None
    answers: dict[str, str]


class Other:
    """A forked process that does some work and says lines; it is killed in the end."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        ours, theirs = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(ours)
                os.setsid()
                work(lambda line: void(os.write(theirs, f"{line}\n".encode())))
                signal.pause()
            finally:
                os._exit(1)
        os.close(theirs)
        self._said = os.fdopen(ours)

    def hear(self) -> str:
        """Return the next line it says."""
        return self._said.readline().strip()

    def end(self) -> None:
        """Kill it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self._said.close()


def void(value: object) -> None:
    """Drop a value."""
    del value


@contextlib.contextmanager
def fresh() -> Iterator[Path]:
    """Lend the path of a lock in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="lamplighter-bench-"))
    try:
        yield folder / "lock"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hold(kind: type[Lock], path: Path) -> Other:
    """Return a process that holds the lock."""

    def work(say: Callable[[str], None]) -> None:
        lock = kind(path)
        say("held" if lock.take(LIMIT_SECONDS) else "not held")
        signal.pause()
        lock.free()

    other = Other(work)
    answer = other.hear()
    if answer != "held":
        raise RuntimeError(f"the holder says {answer!r}")
    return other


def ask(kind: type[Lock], path: Path, seconds: float) -> str:
    """Return whether another process gets the lock within so many seconds."""
    other = Other(lambda say: say("got" if kind(path).take(seconds) else "no"))
    try:
        return other.hear() or "error"
    finally:
        other.end()


def measure_import(module: str) -> float | None:
    """Return the milliseconds that importing it takes more than a bare start, with its bytecode compiled."""
    if not module:
        return None
    seconds = []
    for _ in range(STARTS + 1):
        pair = []
        for code in ("pass", f"import {module}"):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            pair.append(time.perf_counter() - started)
        seconds.append(pair[1] - pair[0])
    return statistics.median(seconds[1:]) * 1000


def measure_cycle(kind: type[Lock]) -> float:
    """Return the milliseconds of taking and letting go with nobody else about."""
    seconds = []
    with fresh() as path:
        for _ in range(CYCLES // 20 if kind is ShellPeer else CYCLES):
            started = time.perf_counter()
            lock = kind(path)
            if not lock.take(0):
                raise RuntimeError("a free lock was refused")
            lock.free()
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1000


def measure_kill(kind: type[Lock]) -> float | None:
    """Return the milliseconds from SIGKILL of the holder to a waiting process having the lock; None: not in 2 s."""
    late = []
    for _ in range(KILLS):
        with fresh() as path:
            holder = hold(kind, path)

            def wait(say: Callable[[str], None], path: Path = path) -> None:
                say("waiting")
                say(str(time.monotonic()) if kind(path).take(2.0) else "never")

            waiter = Other(wait)
            try:
                waiter.hear()
                time.sleep(random.uniform(0.1, 0.2))  # noqa: S311 - never in step with one who asks every 50 ms
                started = time.monotonic()
                os.killpg(holder.pid, signal.SIGKILL)
                answer = waiter.hear()
            finally:
                holder.end()
                waiter.end()
            if answer == "never":
                return None
            late.append(float(answer) - started)
    return statistics.median(late) * 1000


def probe(kind: type[Lock]) -> dict[str, str]:
    """Return how it stands in odd cases: SPLIT means that two were in at once, wedged that nobody gets in."""
    answers = {}
    with fresh() as path:
        holder = hold(kind, path)
        for file in path.parent.iterdir():
            file.unlink()
        answers["file deleted"] = {"got": "SPLIT"}.get(
            answer := ask(kind, path, 0.2), "ok" if answer == "no" else answer
        )
        holder.end()
    with fresh() as path:
        holder = hold(kind, path)
        os.kill(holder.pid, signal.SIGSTOP)
        for file in (path.parent, *path.parent.iterdir()):
            os.utime(file, (0, 0))
        answers["stopped, old"] = {"got": "STEALS"}.get(
            answer := ask(kind, path, 0.2), "ok" if answer == "no" else answer
        )
        holder.end()
    for name, content in (("killed", None), ("emptied", b""), ("garbage", b"\xff\x00 94799\n")):
        with fresh() as path:
            hold(kind, path).end()
            for file in path.parent.iterdir() if content is not None else ():
                file.write_bytes(content or b"")
            answers[name] = {"got": "ok", "no": "wedged"}.get(answer := ask(kind, path, 0.5), answer)
    return answers


def count_together(kinds: list[type[Lock]]) -> tuple[int, int]:
    """Let processes of several kinds contend for one file; return what the counter says and what it should."""
    with fresh() as path:
        counter = path.parent.with_name(f"{path.parent.name}-counter")
        counter.write_text("0")
        ours = Ours(path)  # makes the lock file
        ours.take(0)
        ours.free()

        def work(say: Callable[[str], None], kind: type[Lock]) -> None:
            done = 0
            for _ in range(TURNS // 10 if kind is ShellPeer else TURNS):
                lock = kind(path)
                if lock.take(LIMIT_SECONDS):
                    number = int(counter.read_text())
                    counter.write_text(str(number + 1))
                    done += 1
                    lock.free()
            say(str(done))

        others = [Other(lambda say, kind=kind: work(say, kind)) for kind in kinds]  # type: ignore[misc]
        wanted = sum(int(other.hear() or 0) for other in others)
        for other in others:
            other.end()
        found = int(counter.read_text())
        counter.unlink()
        return found, wanted


def show(table: dict[str, Measured]) -> None:
    """Print one line a lock."""
    print(f"lock: medians of {KILLS} kills, {CYCLES} cycles, {STARTS} starts; load {os.getloadavg()[0]:.1f}")
    names = list(next(iter(table.values())).answers)
    print(f"  {'':<12}{'import':>10}{'cycle':>11}{'SIGKILL→got':>13}  " + "  ".join(f"{name:<12}" for name in names))
    for name, found in table.items():
        cells = [
            f"{found.import_ms:7.1f} ms" if found.import_ms is not None else f"{'-':>10}",
            f"{found.cycle_ms:8.3f} ms",
            f"{found.kill_ms:10.1f} ms" if found.kill_ms is not None else f"{'never':>13}",
        ]
        answers = "  ".join(f"{answer:<12}" for answer in found.answers.values())
        print(f"  {name:<12}{''.join(cells)}  {answers}")


def judge(table: dict[str, Measured], counts: dict[str, tuple[int, int]]) -> list[str]:
    """Return the bars that were missed."""
    ours, filelock = table["lamplighter"], table.get("filelock")
    missed = [f"{name}: {answer}" for name, answer in ours.answers.items() if answer != "ok"]
    missed += [
        f"with {name}: {found} counted of {wanted}" for name, (found, wanted) in counts.items() if found != wanted
    ]
    for what, value, most in (
        ("SIGKILL→got", ours.kill_ms, MOST_KILL_MS),
        ("cycle", ours.cycle_ms, MOST_CYCLE_MS),
        ("import", ours.import_ms, MOST_IMPORT_MS),
    ):
        if value is None or value > most:
            missed.append(f"{what}: {value} ms, at most {most} are allowed")
    if filelock is not None and filelock.kill_ms and ours.kill_ms and filelock.kill_ms < TIMES_FASTER * ours.kill_ms:
        missed.append(f"SIGKILL→got: not {TIMES_FASTER} times faster than filelock")
    return missed


def is_there(kind: type[Lock]) -> bool:
    """Return whether a peer is installed."""
    if kind is ShellPeer:
        return shutil.which("flock") is not None
    module: str = getattr(kind, "module", "")
    try:
        return not module or importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def main() -> int:
    """Measure, print, judge."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    peers = {name: kind for name, kind in PEERS.items() if is_there(kind)}
    table = {
        name: Measured(
            import_ms=measure_import(getattr(kind, "module", "")),
            cycle_ms=measure_cycle(kind),
            kill_ms=measure_kill(kind),
            answers=probe(kind),
        )
        for name, kind in peers.items()
    }
    show(table)
    counts: dict[str, tuple[int, int]] = {}
    for name in ("flock(1)", "filelock", "fasteners"):
        if name in peers:
            counts[name] = count_together([Ours, peers[name], Ours, peers[name]])
            found, wanted = counts[name]
            print(f"  one file together with {name:<11} counted {found} of {wanted}")
    missed = judge(table, counts)
    for line in missed:
        print(f"  MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
