"""Nothing of a run outlives it, and whatever a command does to its processes and outputs, the run ends and says how."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.jobs import Jobs, list_pids, new_nap
from tests.simulators.child import LIMIT_SECONDS, until

from lamplighter.engine.owner import Child, read_owner

# A process of its own session whose parents are gone, deaf to TERM, INT and HUP; with an environment or none.
_ESCAPEE = """
import os, signal, sys
nap, env = sys.argv[1], (os.environ if sys.argv[2] == "marked" else {"PATH": os.environ["PATH"]})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.execvpe("sleep", ["sleep", nap], env)
    os._exit(0)
os.wait()
"""


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    """Return an empty workspace."""
    return Jobs.make(tmp_path / "workspace")


def read_children(jobs: Jobs) -> tuple[Child, ...]:
    """Return the sessions that the record of job x names."""
    owner = read_owner(jobs.state_dir / "locks" / "x")
    return owner.children if owner is not None else ()


def kill_supervisor(jobs: Jobs, process: subprocess.Popen[str], *naps: str) -> None:
    """SIGKILL a supervisor once all naps are taken."""
    until(lambda: all(map(list_pids, naps)), "the worker and its children are up")
    until((jobs.state_dir / "locks" / "x" / "owner.json").exists, "the record is written")
    os.kill(process.pid, signal.SIGKILL)
    process.wait(LIMIT_SECONDS)


def test_the_worker_of_a_killed_supervisor_dies_with_it(jobs: Jobs) -> None:
    """The kernel ends it; nobody has to start another run for that."""
    nap = new_nap()
    with jobs.running("x", "sleep", nap) as process:
        kill_supervisor(jobs, process, nap)
        until(lambda: not list_pids(nap), "the worker is gone")


def test_what_was_left_is_told_by_how_much_there_was_of_it(jobs: Jobs) -> None:
    """Not by what it forks while it is ended: one loop is one process, or two with what it waits for."""
    told = jobs.shell("x", "(trap '' TERM; while :; do sleep 0.02; done) & sleep 0.1").out
    assert "ended 1 process it left behind" in told or "ended 2 processes it left behind" in told


@pytest.mark.parametrize("environment", ["marked", "scrubbed"])
def test_what_the_worker_left_is_ended_before_the_next_run_starts_work(jobs: Jobs, environment: str) -> None:
    """Its children and those in sessions of their own: the next command already sees none of them."""
    one, two = new_nap(), new_nap()
    script = f"sleep {one} & '{sys.executable}' -c '{_ESCAPEE}' {two} {environment}; wait"
    with jobs.running("x", "sh", "-c", script) as process:
        until(lambda: len(read_children(jobs)) == 2, "the record names the worker and what left its session")
        kill_supervisor(jobs, process, one, two)
        probe = f"ps -eo args > seen; grep -c -e '^sleep {one}' -e '^sleep {two}' seen; true"
        ended = jobs.run("x", "sh", "-c", probe, options=("--json",))
    flags = ended.value()["flags"]
    assert isinstance(flags, list)
    assert (flags[0], ended.code) == ("predecessor_died", 0)
    assert "leftovers_ended=" in str(flags[1])
    assert jobs.log(2, "out") == "0\n"
    assert list_pids(one) + list_pids(two) == []


def test_children_that_outlive_the_command_are_ended_and_counted(jobs: Jobs) -> None:
    """The command has ended, and so has its work: what stays in the background is not waited for."""
    nap = new_nap()
    ended = jobs.run("x", "sh", "-c", f"sleep {nap} & sleep {nap} & exit 0", options=("--json",))
    assert (ended.code, ended.value()["flags"]) == (0, ["leftovers_ended=2"])
    assert list_pids(nap) == []


@pytest.mark.parametrize("environment", ["marked", "scrubbed"])
def test_a_grandchild_in_its_own_session_is_ended_too(jobs: Jobs, environment: str) -> None:
    """Forked twice, deaf to TERM, without our mark in its environment: it is found all the same."""
    nap = new_nap()
    words = (sys.executable, "-c", _ESCAPEE, nap, environment)
    ended = jobs.run("x", *words, options=("--json",))
    assert (ended.code, ended.value()["flags"]) == (0, ["leftovers_ended=1"])
    assert list_pids(nap) == []


def test_a_waiting_shell_and_its_child_are_ended_at_the_limit(jobs: Jobs) -> None:
    """`sh -c 'sleep 99 & wait'`: the whole group, not the shell alone."""
    nap = new_nap()
    ended = jobs.run("x", "sh", "-c", f"sleep {nap} & wait", options=("--max-runtime", "1s"))
    assert (ended.code, list_pids(nap)) == (124, [])


def test_a_stopped_worker_is_ended_at_the_limit(jobs: Jobs) -> None:
    """It is woken to hear TERM, and killed when it does not heed it."""
    nap = new_nap()
    script = f"sleep {nap} & kill -STOP $$; wait"
    ended = jobs.run("x", "sh", "-c", script, options=("--max-runtime", "1s"))
    assert (ended.code, list_pids(nap)) == (124, [])


def test_a_worker_that_ignores_term_is_killed_after_its_grace(jobs: Jobs) -> None:
    """Ten seconds, no more."""
    nap, began = new_nap(), time.monotonic()
    script = f"trap '' TERM; while :; do sleep {nap}; done"
    ended = jobs.run("x", "sh", "-c", script, options=("--max-runtime", "1s"))
    assert (ended.code, list_pids(nap)) == (124, [])
    assert 10 < time.monotonic() - began < 25


def test_a_worker_that_forks_while_it_is_killed_leaves_nothing(jobs: Jobs) -> None:
    """Each generation is found and killed, until there is none."""
    (jobs.folder / "born").mkdir()
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for number in range(2000):
    open(f"born/{number}", "w").close()
    if os.fork():
        os._exit(0)
    time.sleep(0.003)
"""
    ended = jobs.run("x", sys.executable, "-c", code, options=("--json",))
    assert ended.code == 0
    assert "leftovers_ended=" in str(ended.value()["flags"])
    generations = len(list((jobs.folder / "born").iterdir()))
    time.sleep(0.05)  # ten generations
    assert len(list((jobs.folder / "born").iterdir())) == generations < 2000


def test_a_background_child_that_keeps_the_output_open_holds_nothing_up(jobs: Jobs) -> None:
    """Output goes to files: nobody waits for the other end of a pipe."""
    nap, began = new_nap(), time.monotonic()
    with jobs.running("x", "sh", "-c", f"echo done; sleep {nap} & exit 0") as process:
        assert process.wait(LIMIT_SECONDS) == 0
    assert time.monotonic() - began < 10
    assert (jobs.log(1, "out"), list_pids(nap)) == ("done\n", [])


def test_a_command_that_closes_its_outputs_runs_to_its_end(jobs: Jobs) -> None:
    """What it wrote before is kept."""
    ended = jobs.shell("x", "echo before; exec >&- 2>&- <&-; sleep 0.3; echo x > made.txt", "--output", "made.txt")
    assert (ended.code, jobs.told()[0], jobs.log(1, "out")) == (0, "produced", "before\n")


def test_a_zombie_of_the_command_is_no_leftover(jobs: Jobs) -> None:
    """It is dead; it is reaped, not counted, not waited for."""
    code = """
import os, time
pid = os.fork()
if pid == 0:
    os._exit(0)
time.sleep(0.3)
print(pid, flush=True)
"""
    ended = jobs.run("x", sys.executable, "-c", code, options=("--json",))
    assert (ended.code, ended.value()["flags"]) == (0, [])
    assert not Path("/proc", jobs.log(1, "out").strip()).exists()


def test_a_flood_of_output_stays_bounded(jobs: Jobs) -> None:
    """At 10 MB a second the log, the supervisor's memory and what it shows stay small, and the last lines are kept."""
    code = """
import os, time
line = b"x" * 999 + b"\\n"
end = time.monotonic() + 4
while time.monotonic() < end:
    os.write(1, line * 100)
    time.sleep(0.01)
os.write(1, b"the last line\\n")
"""
    with jobs.running("x", sys.executable, "-c", code) as process:
        peaks = []
        drained = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        while process.poll() is None:
            with contextlib.suppress(OSError, StopIteration, ValueError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                peaks.append(int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]))
            time.sleep(0.05)
        drained.wait(LIMIT_SECONDS)
    sizes = {path.name: path.stat().st_size for path in (jobs.state_dir / "logs" / "x").iterdir()}
    assert jobs.told()[0] == "completed"
    assert sum(sizes.values()) < 25_000_000, sizes
    assert jobs.log(1, "out").endswith("the last line\n")
    assert max(peaks) < 80_000, f"{max(peaks)} kB"


def test_a_command_that_runs_out_of_its_own_memory_fails_with_its_words(jobs: Jobs) -> None:
    """A limit of the shell is no kill: the program is told, and its own words are in the line."""
    code = "b = bytearray(10**9)"
    script = 'ulimit -v 300000; "$1" -c "$2" 2>&1 | tail -1 >&2; exit 1'
    ended = jobs.run("x", "sh", "-c", script, "sh", sys.executable, code)
    assert (ended.code, jobs.told()[0]) == (70, "failed")
    assert jobs.line() == "exit code 1: MemoryError"


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """Lend a control group of 60 MB; only a machine whose tests may make one can show a kill for want of memory."""
    tree = Path("/sys/fs/cgroup")
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line.split(":", 2)[2] for line in groups if "memory" in line.split(":")[1].split(",")), None)
    parent = tree / "memory" / own.lstrip("/") if own is not None else tree / groups[-1].split(":", 2)[2].lstrip("/")
    group = parent / f"lamplighter-{uuid.uuid4().hex}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if own is not None else "memory.max")).write_text("60000000")
    except OSError as error:
        if group.exists():
            group.rmdir()
        pytest.skip(f"no control group can be made here: {error}")
    yield group
    until(lambda: not (group / "cgroup.procs").read_text(), "the group is empty")
    group.rmdir()


def test_a_worker_killed_for_want_of_memory_is_told_as_that(jobs: Jobs, small_memory: Path) -> None:
    """The kernel counts such kills in the control group; the line says why it was killed."""
    enter = f'echo $$ > {small_memory}/cgroup.procs; exec "$@"'
    call = [str(word) for word in jobs.call("x", sys.executable, "-c", "b = bytearray(10**9)")]
    done = subprocess.run(
        ["sh", "-c", enter, "sh", *call], cwd=jobs.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 137, done.stdout + done.stderr
    assert jobs.line() == "its worker was killed by SIGKILL for want of memory"


def test_a_stop_during_the_start_leaves_no_worker(jobs: Jobs) -> None:
    """Whenever TERM comes, from before the row to after the end: a row, one outcome, nobody alive."""
    began = time.monotonic()
    jobs.run("x", "true")
    whole = time.monotonic() - began
    for step in range(25):
        nap, delay = new_nap(), round(step * whole * 60)
        with jobs.running("x", "sleep", nap, options=("--max-runtime", "10m")) as process:
            time.sleep(delay / 1000)
            os.kill(process.pid, signal.SIGTERM)
            code = process.wait(LIMIT_SECONDS)
        assert code in {143, -signal.SIGTERM}, f"after {delay} ms"
        assert list_pids(nap) == [], f"after {delay} ms"
    *reports, _ = [row.report for row in jobs.rows()]
    assert {report.outcome.value for report in reports if report} == {"interrupted"}
    assert None not in reports


def test_a_stop_near_the_end_is_told_as_one_or_the_other(jobs: Jobs) -> None:
    """A worker that ends by itself at that very moment: done or interrupted, never a bug, and nobody is alive."""
    for delay in (140, 150, 155, 160, 165, 170, 180, 200):
        script = f"(setsid sleep 71.{delay} &) ; sleep 0.1"
        with jobs.running("x", "sh", "-c", script, options=("--max-runtime", "10m")) as process:
            time.sleep(delay / 1000)
            os.kill(process.pid, signal.SIGTERM)
            assert process.wait(LIMIT_SECONDS) in {0, 143, -signal.SIGTERM}, f"after {delay} ms"
        assert list_pids(f"71.{delay}") == []
    outcomes = {row.report.outcome.value for row in jobs.rows() if row.report}
    assert outcomes <= {"completed", "interrupted"}


def test_a_nested_run_of_the_same_job_is_refused_not_hung(jobs: Jobs) -> None:
    """`lamplighter run x -- lamplighter run x -- true`: the inner one says who holds the lock."""
    ended = jobs.run("x", *map(str, jobs.call("x", "true")))
    assert (ended.code, [row.report and row.report.outcome.value for row in jobs.rows()]) == (
        70,
        ["lock_held", "failed"],
    )
    assert "exit code 75" in ended.out


def test_no_descriptor_of_the_lock_reaches_the_command(jobs: Jobs) -> None:
    """A child that outlives everything could keep a lock by it."""
    jobs.run("x", "sh", "-c", "ls -l /proc/self/fd")
    assert "locks" not in jobs.log(1, "out")
    assert "lamplighter.db" not in jobs.log(1, "out")
