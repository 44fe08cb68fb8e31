"""How long a run takes, program start included: a whole feature from a loopback shop, a full stock, the first word.

The bare interpreter is measured beside them, and all rows of a round take turns, so that a load meets all alike.
Exit code 1: a bar is missed. 2: a run did not do what it was measured for.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that it also runs as a plain script

from bench.peers.meter import ROOT, bench_environment, median_ms, where_measured
from tests.simulators.shop import ShopSimulator, read_products

ROUNDS = 9
FEATURES = 5
SHOP_DIR = ROOT / "src" / "lamplighter" / "sample" / "shop" / "wrenfold"
PROGRAM = str(Path(sys.executable).parent / "lamplighter")


class BenchFailed(Exception):
    """A run did not do what it was measured for."""


@dataclass(slots=True, kw_only=True)
class Row:
    """A command, what its last line must say, the bar in milliseconds (none: for comparison), the seconds it took."""

    name: str
    command: tuple[str, ...]
    says: str = ""
    bar_ms: float | None = None
    seconds: list[float] = field(default_factory=list)

    def run(self, env: dict[str, str]) -> None:
        """Run the command once; raises BenchFailed when it ends badly or says something else."""
        started = time.perf_counter()
        done = subprocess.run(self.command, env=env, capture_output=True, text=True, check=False)
        self.seconds.append(time.perf_counter() - started)
        if done.returncode or self.says not in done.stdout:
            raise BenchFailed(f"{self.name}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}")

    @property
    def missed(self) -> bool:
        """Say whether the bar is missed."""
        return self.bar_ms is not None and median_ms(self.seconds) > self.bar_ms

    def __str__(self) -> str:
        """Return a line of the table."""
        bar = "" if self.bar_ms is None else f"  bar {self.bar_ms:5.0f}  {'MISSED' if self.missed else 'kept'}"
        return f"  {self.name:<44} {median_ms(self.seconds):7.0f} ms{bar}"


def make_workspace(folder: Path, shop: ShopSimulator, env: dict[str, str]) -> Path:
    """Make a workspace of one brand whose shop is the simulator, as its owner would, and return its settings file."""
    subprocess.run([PROGRAM, "init", folder, "--shop", shop.url], env=env, check=True, capture_output=True)
    catalog_file = folder / "brand-catalog.json"
    catalog = json.loads(catalog_file.read_text("utf-8"))
    catalog["brands"][0].update(name="Wrenfold", handle="@wrenfold.goods", currency="USD")
    catalog_file.write_text(json.dumps(catalog), "utf-8")
    return folder / "lamplighter.toml"


def write_settings(file: Path, shop: ShopSimulator, *, target: int) -> None:
    """Ask for `target` ready features, one a run, from a shop that is the person's own."""
    settings = f'zone = "Etc/UTC"\naccount = "bench"\n[generate]\ntarget = {target}\nmax_per_run = 1\n'
    file.write_text(f'{settings}[network]\nallowed_hosts = ["127.0.0.1:{shop.port}"]\n', "utf-8")


def measure_features(row: Row, settings_file: Path, shop: ShopSimulator, env: dict[str, str]) -> None:
    """Make one feature a run; each must be there afterwards, made from one list and photos of the shop."""
    write_settings(settings_file, shop, target=FEATURES + 1)
    content_dir = settings_file.parent / "content" / "sns"
    for made in range(1, FEATURES + 2):
        row.run(env)
        lists, ready = len(shop.calls()), len(tuple(content_dir.glob("feature-*")))
        if (lists, ready) != (made, made) or len(shop.requests) < 3 * made:
            raise BenchFailed(f"{row.name}: {ready} features from {lists} lists after {made} runs")
    del row.seconds[0]  # it wrote bytecode


def compose_rows(workspace: Path) -> tuple[Row, ...]:
    """Return what is measured; the first is the whole feature."""
    where = ("--workspace", str(workspace))
    standard = "import argparse, json, sqlite3"
    return (
        Row(name="generate, one feature made", command=(PROGRAM, "generate", *where), says="produced", bar_ms=2500),
        Row(name="generate, the stock is full", command=(PROGRAM, "generate", *where), says="full", bar_ms=400),
        Row(name="lamplighter --help", command=(PROGRAM, "--help"), bar_ms=150),
        Row(name="lamplighter status", command=(PROGRAM, "status", *where)),
        Row(name="python -c pass", command=(sys.executable, "-c", "pass")),
        Row(name=f"python -c '{standard}'", command=(sys.executable, "-c", standard)),
    )


def measure(folder: Path, env: dict[str, str]) -> tuple[Row, ...]:
    """Return the rows, measured."""
    pictures = {f"/photos/{file.name}": file.read_bytes() for file in (SHOP_DIR / "photos").iterdir()}
    with ShopSimulator(products=read_products(SHOP_DIR / "products.json"), pictures=pictures, currency="USD") as shop:
        settings_file = make_workspace(folder / "workspace", shop, env)
        feature, *others = compose_rows(settings_file.parent)
        measure_features(feature, settings_file, shop, env)
        for _ in range(ROUNDS + 1):
            for row in others:
                row.run(env)
    for row in others:
        del row.seconds[0]  # it wrote bytecode
    return feature, *others


def main() -> int:
    """Print the table and the bars."""
    with bench_environment() as env, tempfile.TemporaryDirectory(prefix="lamplighter-generate-") as folder:
        try:
            rows = measure(Path(folder), env)
        except BenchFailed as error:
            print(f"generate: {error}", file=sys.stderr)
            return 2
    print(f"generate: medians of {FEATURES} features and {ROUNDS} others, {where_measured()}")
    print("\n".join(map(str, rows)))
    return int(any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
