"""How long a user waits before anything happens: program starts, beside the bare interpreter, in one run."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15


def measure(command: list[str]) -> float:
    """Return the median wall time of a command in seconds, after one unmeasured start that writes bytecode."""
    seconds = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def main() -> int:
    """Print the table."""
    if "PYTHONDONTWRITEBYTECODE" in os.environ:
        del os.environ["PYTHONDONTWRITEBYTECODE"]
    program = str(Path(sys.executable).parent / "lamplighter")
    folder = Path(tempfile.mkdtemp(prefix="lamplighter-bench-"))
    try:
        started = time.perf_counter()
        subprocess.run([program, "demo", str(folder / "demo")], check=True, capture_output=True)
        demo = time.perf_counter() - started
        subprocess.run([program, "generate", "--workspace", str(folder / "demo")], check=True, capture_output=True)
        workspace = ["--workspace", str(folder / "demo")]
        rows = (
            ("python -c pass", measure([sys.executable, "-c", "pass"])),
            (
                "python -c 'import argparse, json, sqlite3'",
                measure([sys.executable, "-c", "import argparse, json, sqlite3"]),
            ),
            ("lamplighter --help", measure([program, "--help"])),
            ("lamplighter status", measure([program, "status", *workspace])),
            ("lamplighter generate, the stock is full", measure([program, "generate", *workspace])),
            ("lamplighter demo, three features made (once)", demo),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"startup: median of {ROUNDS}, bytecode cache on, load {os.getloadavg()[0]:.1f}")
    for name, seconds in rows:
        print(f"  {name:<46} {seconds * 1000:7.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
