"""What it costs to run a command by lamplighter, beside a bare interpreter, flock(1) and a shell's pid file."""

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
BAR = 8.0  # `lamplighter run` beside a bare interpreter
# What people write: look whether the pid in the file is alive, else run. It is here for its time, not as a model.
PID_FILE_WRAPPER = """
pid_file=$1; shift
if test -f "$pid_file" && kill -0 "$(cat "$pid_file")" 2>/dev/null; then exit 75; fi
echo $$ > "$pid_file"; trap 'rm -f "$pid_file"' EXIT
"$@"
"""


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
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    lock, pid_file = str(folder / "lock"), str(folder / "job.pid")
    try:
        rows = (
            ("python -c pass", measure([sys.executable, "-c", "pass"])),
            ("true, bare", measure(["true"])),
            ("flock -n f true", measure(["flock", "-n", lock, "true"]) if shutil.which("flock") else float("nan")),
            ("a shell pid-file wrapper, true", measure(["sh", "-c", PID_FILE_WRAPPER, "sh", pid_file, "true"])),
            ("lamplighter run x -- true", measure([program, "run", "x", "--", "true"])),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"startup: median of {ROUNDS}, bytecode cache on, load {os.getloadavg()[0]:.1f}")
    for name, seconds in rows:
        print(f"  {name:<46} {seconds * 1000:7.1f} ms")
    times = dict(rows)
    factor = times["lamplighter run x -- true"] / times["python -c pass"]
    print(f"  lamplighter run is {factor:.1f} times a bare interpreter; the bar is {BAR:.0f}")
    return 0 if factor <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
