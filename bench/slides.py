"""Five slides from 2000x2500 photos, by the product, by headless Chromium and by Pillow, measured in one run.

    cold     from the start of a process to its exit, one carousel made (the product: as `generate` makes it)
    warm     ms a slide in a running process, every carousel with other words
    work     ms of processor time a slide in it, which other work on the machine hardly changes
    memory   most memory (PSS) of all processes together
    checks   every picture is a baseline RGB JPEG of 1080x1350 below 8 MB

Exit code 1: a bar is missed. 2: there is no Chromium and `--without chromium` was not given, or a peer failed.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that it also runs as a plain script

from bench.peers.chromium import find_chromium
from bench.peers.errand import SIZE, Errand
from bench.peers.meter import (
    PeakMemory,
    Peer,
    PeerFailed,
    bench_environment,
    check_pictures,
    median_ms,
    read_processor_time,
    where_measured,
)
from bench.peers.photos import write_photos

SLIDES = 5
COLD_BAR, WARM_BAR, MEMORY_BAR = 2.5, 1.8, 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A peer: its name in the table, its module, what it is told, and what besides in a running process."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What an engine took: milliseconds, the same a slide, bytes of memory, bytes of the five pictures."""

    cold_ms: float
    warm_ms: float
    work_ms: float
    memory: int
    pictures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How often is measured."""

    cold: int
    warm: int


ENGINES = (
    Engine(name="lamplighter", module="bench.peers.ours", warm=("--warm",)),
    Engine(name="chromium", module="bench.peers.chromium"),
    Engine(name="chromium, page kept", module="bench.peers.chromium", arguments=("--kept",)),
    Engine(name="pillow", module="bench.peers.hand_set"),
)


class Bench:
    """Measures engines by the same errands; their rounds take turns, so that a load on the machine meets all alike."""

    def __init__(self, work_dir: Path, env: dict[str, str], rounds: Rounds) -> None:
        self._work_dir = work_dir
        self._env = env
        self._rounds = rounds
        photos_dir = work_dir / "photos"
        photos_dir.mkdir(exist_ok=True)
        self._photos = write_photos(photos_dir)

    def measure(self, engines: tuple[Engine, ...]) -> dict[str, Measured]:
        """Return what each engine took, by its name."""
        cold = self._measure_cold(engines)
        warm, work = self._measure_warm(engines)
        return {
            engine.name: Measured(
                cold_ms=median_ms(cold[engine.name]),
                warm_ms=median_ms(warm[engine.name]) / SLIDES,
                work_ms=work[engine.name] * 1000 / (SLIDES * self._rounds.warm),
                memory=self._measure_memory(engine),
                pictures=check_pictures(self._output_dir(engine), SIZE, SLIDES),
            )
            for engine in engines
        }

    def _measure_cold(self, engines: tuple[Engine, ...]) -> dict[str, list[float]]:
        seconds: dict[str, list[float]] = {engine.name: [] for engine in engines}
        for turn in range(self._rounds.cold + 1):
            for engine in engines:
                started = time.perf_counter()
                with Peer(engine.module, *engine.arguments, env=self._env) as peer:
                    peer.ask(self._errand(engine, turn))
                seconds[engine.name].append(time.perf_counter() - started)
                check_pictures(self._output_dir(engine), SIZE, SLIDES)
        return {name: found[1:] for name, found in seconds.items()}  # the first start writes bytecode

    def _measure_warm(self, engines: tuple[Engine, ...]) -> tuple[dict[str, list[float]], dict[str, float]]:
        """Return the seconds of each carousel and the processor time of all, by the engine's name."""
        seconds: dict[str, list[float]] = {engine.name: [] for engine in engines}
        work: dict[str, float] = {}
        with contextlib.ExitStack() as stack:
            peers = [
                (engine, stack.enter_context(Peer(engine.module, *engine.arguments, *engine.warm, env=self._env)))
                for engine in engines
            ]
            for engine, peer in peers:  # the first one loads what all later ones find
                peer.ask(self._errand(engine, 0))
                work[engine.name] = -read_processor_time(peer.pid)
            for turn in range(1, self._rounds.warm + 1):
                for engine, peer in peers:
                    seconds[engine.name].append(peer.ask(self._errand(engine, turn)))
                    check_pictures(self._output_dir(engine), SIZE, SLIDES)
            for engine, peer in peers:
                work[engine.name] += read_processor_time(peer.pid)
        return seconds, work

    def _measure_memory(self, engine: Engine) -> int:
        """Return the most of a whole run and of a running process; apart, since looking takes time."""
        most = 0
        for arguments in {(), engine.warm}:
            peer = Peer(engine.module, *engine.arguments, *arguments, env=self._env)
            with peer, PeakMemory(peer.pid) as memory:
                for turn in range(3):
                    peer.ask(self._errand(engine, turn))
            most = max(most, memory.peak)
        return most

    def _output_dir(self, engine: Engine) -> Path:
        folder = self._work_dir / engine.name.replace(", ", "-").replace(" ", "-")
        folder.mkdir(exist_ok=True)
        return folder

    def _errand(self, engine: Engine, turn: int) -> str:
        return Errand(turn=turn, photos=self._photos, output_dir=str(self._output_dir(engine))).line()


def render_table(found: dict[str, Measured]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"  {'':<20} {'cold ms':>8} {'warm ms a slide':>16} {'work ms':>8} {'peak MB':>8} {'KB of five':>11}"
    for name, row in found.items():
        times = f"{row.cold_ms:8.0f} {row.warm_ms:16.1f} {row.work_ms:8.1f}"
        yield f"  {name:<20} {times} {row.memory / 1e6:8.0f} {row.pictures / 1e3:11.0f}"


def compare(ours: Measured, browser: Measured) -> Iterator[tuple[str, float, float]]:
    """Yield what is compared with Chromium, how many times better we are, and how many times we must be."""
    yield "cold: times faster than Chromium", browser.cold_ms / ours.cold_ms, COLD_BAR
    yield "warm: times faster a slide than Chromium", browser.warm_ms / ours.warm_ms, WARM_BAR
    yield "memory: Chromium's over ours", browser.memory / ours.memory, MEMORY_BAR


def parse_arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Slides by the product and by its peers, in one run.")
    parser.add_argument("--without", action="append", default=[], choices=["chromium", "pillow"], help="leave one out")
    parser.add_argument("--cold", type=int, default=5, help="cold starts of each (5)")
    parser.add_argument("--warm", type=int, default=15, help="carousels of each in a running process (15)")
    parser.add_argument("--keep", type=Path, help="keep the pictures of the last carousel in this folder")
    return parser.parse_args()


def main() -> int:
    """Print the table, the ratios and the bars."""
    arguments = parse_arguments()
    engines = tuple(engine for engine in ENGINES if engine.name.partition(",")[0] not in arguments.without)
    if any(engine.name == "chromium" for engine in engines) and not find_chromium():
        print("slides: there is no Chromium; apt-get install chromium, or say --without chromium", file=sys.stderr)
        return 2
    rounds = Rounds(cold=arguments.cold, warm=arguments.warm)
    with bench_environment() as env, tempfile.TemporaryDirectory(prefix="lamplighter-slides-") as work:
        work_dir = arguments.keep or Path(work)
        work_dir.mkdir(parents=True, exist_ok=True)
        try:
            found = Bench(work_dir, env, rounds).measure(engines)
        except PeerFailed as error:
            print(f"slides: {error}", file=sys.stderr)
            return 2
    print(f"slides: medians of {rounds.cold} cold and {rounds.warm} warm, {where_measured()}")
    print("\n".join(render_table(found)))
    if "chromium" not in found:
        return 0
    bars = tuple(compare(found["lamplighter"], found["chromium"]))
    for name, ratio, bar in bars:
        print(f"  {name:<42} {ratio:5.2f}  bar {bar:.1f}  {'kept' if ratio >= bar else 'MISSED'}")
    less = found["chromium"].work_ms / found["lamplighter"].work_ms
    print(f"  {'work: Chromium over ours':<42} {less:5.2f}  no bar: it tells what a busy machine hides")
    return int(any(ratio < bar for _, ratio, bar in bars))


if __name__ == "__main__":
    sys.exit(main())
