"""`lamplighter runs log` and `runs show`: which words are whose, and where they are."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.jobs import Jobs
from tests.acceptance.program import run


def test_each_log_is_headed_and_the_ending_comes_last(tmp_path: Path) -> None:
    """What the command wrote, by stream, then our own words; a run that left none says so."""
    jobs = Jobs.make(tmp_path / "workspace")
    jobs.shell("x", "echo one; echo two >&2")
    logs = jobs.state_dir / "logs" / "x"
    told = run("runs", "log", "1", "--workspace", jobs.folder).out.splitlines()
    assert told[:4] == [f"— standard output: {logs}/1.out", "one", f"— standard error: {logs}/1.err", "two"]
    assert told[4] == f"— the run: {logs}/1.log"
    assert told[-1].endswith("completed: exit code 0; no output is declared")
    assert f"{logs}/1.log, {logs}/1.out, {logs}/1.err" in run("runs", "show", "1", "--workspace", jobs.folder).out
    for file in logs.iterdir():
        file.unlink()
    assert run("runs", "log", "1", "--workspace", jobs.folder).out == "run 1 left no line\n"
