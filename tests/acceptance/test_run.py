"""`lamplighter run`: every way a run can end has its exit code and its row."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.acceptance.jobs import PROGRAM, Jobs, list_pids, new_nap, write_result
from tests.acceptance.program import run
from tests.simulators.child import LIMIT_SECONDS, until

from lamplighter.engine.lock import JobLock
from lamplighter.engine.owner import read_owner
from lamplighter.engine.worker import STOP_GRACE
from lamplighter.host.clock import SystemClock


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    """Return an empty workspace."""
    return Jobs.make(tmp_path / "workspace")


@pytest.mark.parametrize(
    ("result", "exit_code", "outcome", "code"),
    [
        ({"outcome": "produced", "outputs": ["report-7"]}, 0, "produced", 0),
        ({"outcome": "partial", "line": "2 of 3", "outputs": ["a", "b"]}, 0, "partial", 0),
        ({"outcome": "nothing_needed", "evidence": {"stock": "3 of 3"}}, 0, "nothing_needed", 0),
        ({"outcome": "completed"}, 0, "completed", 0),
        ({"outcome": "nothing_ready"}, 0, "nothing_ready", 66),
        ({"outcome": "rejected"}, 1, "rejected", 76),
        ({"outcome": "cooldown", "line": "until 12:00"}, 0, "cooldown", 75),
        ({"outcome": "needs_human", "line": "type: aws sso login"}, 9, "needs_human", 77),
        ({"outcome": "failed"}, 0, "failed", 70),
        ({"outcome": "failed", "failure": "config"}, 3, "failed", 65),
        ({"outcome": "failed", "failure": "input"}, 3, "failed", 66),
        ({"outcome": "failed", "failure": "upstream"}, 3, "failed", 69),
        ({"outcome": "failed", "failure": "internal"}, 3, "failed", 70),
        ({"outcome": "failed", "failure": "lock_unusable"}, 3, "failed", 73),
        ({"outcome": "failed", "failure": "disk"}, 0, "failed", 74),
        (None, 0, "completed", 0),
        (None, 7, "failed", 70),
    ],
)
def test_what_a_command_says_of_itself_is_its_outcome(
    jobs: Jobs, result: dict[str, object] | None, exit_code: int, outcome: str, code: int
) -> None:
    """By its result file, else by its exit code; the result file is read once and taken away."""
    for name in ("report-7", "a", "b"):
        (jobs.folder / name).write_text(name)
    ended = jobs.shell("x", f"{write_result(**result) if result else ':'}; exit {exit_code}")
    assert (ended.code, jobs.told()) == (code, (outcome, code, ()))
    assert ended.out.startswith(f"x: {outcome}: ")
    assert jobs.leftovers() == []


def test_a_command_that_fails_is_told_with_its_own_code_and_last_words(jobs: Jobs) -> None:
    """In the line and in the record."""
    ended = jobs.shell("x", "echo working; echo 'disk quota exceeded' >&2; exit 23")
    assert ended.code == 70
    assert "x: failed: exit code 23: disk quota exceeded\n" in ended.out
    row = jobs.rows()[0]
    assert row.report is not None
    assert [(fact.name, fact.value) for fact in row.report.evidence] == [("exit code", "23")]
    assert (jobs.log(1, "out"), jobs.log(1, "err")) == ("working\n", "disk quota exceeded\n")


def test_what_a_run_prints_as_json_is_what_its_row_says(jobs: Jobs) -> None:
    """One value, and nothing of the command's output beside it."""
    ended = jobs.shell("x", "echo loud; echo new > made.txt", "--json", "--output", "*.txt")
    assert ended.value() == {
        "job": "x",
        "outcome": "produced",
        "exit_code": 0,
        "line": "new: made.txt",
        "failure": None,
        "evidence": {"exit code": "0"},
        "outputs": ["made.txt"],
        "flags": [],
    }


def test_a_run_past_its_limit_is_ended_and_timed_out(jobs: Jobs) -> None:
    """Exit 124, the line says the limit, and the process is gone."""
    nap = new_nap()
    ended = jobs.run("x", "sleep", nap, options=("--max-runtime", "1s"))
    assert (ended.code, jobs.told()) == (124, ("timed_out", 124, ()))
    assert jobs.line() == "ran past its limit of 1 s and was ended"
    assert list_pids(nap) == []


def test_a_run_longer_than_expected_goes_on_with_a_flag(jobs: Jobs) -> None:
    """Nothing of ours ends a command that has no limit."""
    ended = jobs.run("x", "sleep", "2", options=("--expected-runtime", "1s"))
    assert (ended.code, jobs.told()) == (0, ("completed", 0, ("overran",)))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_stop_signal_reaches_the_worker(jobs: Jobs, number: signal.Signals, code: int) -> None:
    """It may tidy up; then the run is interrupted, and its exit code is 128 + the signal."""
    name = number.name.removeprefix("SIG")
    script = f"trap 'echo {name} > heard; exit 0' {name}; echo up > up; while :; do sleep 0.05; done"
    with jobs.running("x", "sh", "-c", script) as process:
        jobs.wait_for("up")
        os.kill(process.pid, number)
        assert process.wait(LIMIT_SECONDS) == code
    assert (jobs.told(), jobs.wait_for("heard")) == (("interrupted", code, ()), name)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_worker_that_is_asked_to_stop_by_another_is_interrupted(jobs: Jobs, number: signal.Signals) -> None:
    """Somebody typed kill: asked, not killed."""
    ended = jobs.shell("x", f"kill -{int(number)} $$")
    code = 128 + number
    assert (ended.code, jobs.told()) == (code, ("interrupted", code, ()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_killed_worker_is_told_by_the_supervisor(jobs: Jobs, number: signal.Signals) -> None:
    """At once, with the signal's name; no next run is needed for it."""
    ended = jobs.shell("x", f"kill -{int(number)} $$")
    code = 128 + number
    assert (ended.code, jobs.told()) == (code, ("killed", code, ()))
    assert jobs.line() == f"its worker was killed by {number.name}"


def test_a_run_beside_another_of_its_job_is_lock_held(jobs: Jobs) -> None:
    """Exit 75, with who, since when and doing what; the command did not begin, and it is recorded."""
    with jobs.running("x", "sh", "-c", "echo up > up; sleep 60") as process:
        jobs.wait_for("up")
        ended = jobs.shell("x", "echo two > two")
        assert jobs.run("other", "true").code == 0
    assert ended.code == 75
    assert f"another run is at work: pid {process.pid} since 20" in ended.out
    assert "(lamplighter run x -- sh -c" in ended.out
    row = next(row for row in jobs.rows() if row.number == 2)
    assert row.report is not None
    assert (row.report.outcome.value, (jobs.folder / "two").exists()) == ("lock_held", False)


def test_a_run_that_waits_gets_its_turn(jobs: Jobs) -> None:
    """`--wait` is how long to wait for another run; it begins the moment the other has ended."""
    with jobs.running("x", "sh", "-c", "echo up > up; while ! test -e go; do sleep 0.02; done"):
        jobs.wait_for("up")
        with jobs.running("x", "sh", "-c", "echo two > two", options=("--wait", "1m")) as second:
            until(lambda: len(jobs.rows()) == 2, "the second run waits")
            assert not (jobs.folder / "two").exists()
            (jobs.folder / "go").touch()
            assert second.wait(LIMIT_SECONDS) == 0
    assert [row.report and row.report.outcome.value for row in jobs.rows()] == ["completed", "completed"]


def test_a_run_that_waits_in_vain_is_lock_held(jobs: Jobs) -> None:
    """After the time it was given."""
    with jobs.running("x", "sh", "-c", "echo up > up; sleep 60"):
        jobs.wait_for("up")
        assert jobs.run("x", "true", options=("--wait", "1s")).code == 75


def test_a_run_after_a_killed_one_says_so(jobs: Jobs) -> None:
    """The founding story, for any command: no wait, a flag, and the word is written for the dead run."""
    nap = new_nap()
    with jobs.running("x", "sleep", nap) as process:
        until(lambda: bool(list_pids(nap)), "the worker is up")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(LIMIT_SECONDS)
        ended = jobs.run("x", "true", options=("--json",))
    assert (ended.code, ended.value()["flags"]) == (0, ["predecessor_died"])
    second, first = jobs.rows()
    assert first.report is not None
    assert (first.report.outcome.value, first.report.exit_code) == ("killed", 137)
    assert second.generation == first.generation + 1
    assert list_pids(nap) == []


def test_the_lock_of_a_killed_run_is_taken_within_50_ms(jobs: Jobs) -> None:
    """The kernel frees it the moment the process is dead; what is left is one look at the processes."""
    nap, clock = new_nap(), SystemClock()
    taken = []
    for _ in range(5):
        with jobs.running("x", "sleep", nap) as process:
            until(lambda: bool(list_pids(nap)), "the worker is up")
            os.kill(process.pid, signal.SIGKILL)
            process.wait(LIMIT_SECONDS)
            until(lambda: not list_pids(nap), "the kernel has ended the worker too")
            lock, began = JobLock(jobs.state_dir / "locks" / "x", clock), clock.monotonic()
            lock.acquire("test")
            taken.append((clock.monotonic() - began).total_seconds())
            assert lock.predecessor is not None
            lock.release()
    assert sorted(taken)[2] < 0.05


def test_a_run_that_hangs_past_its_own_limit_is_taken_over(jobs: Jobs) -> None:
    """A stopped supervisor cannot end its worker; after limit and grace the next run ends both and says so."""
    nap = new_nap()
    with jobs.running("x", "sleep", nap, options=("--max-runtime", "1h")) as process:
        until(lambda: bool(list_pids(nap)), "the worker is up")
        folder = jobs.state_dir / "locks" / "x"
        until(lambda: bool(getattr(read_owner(folder), "children", ())), "the record names the worker")
        os.kill(process.pid, signal.SIGSTOP)
        record = json.loads((folder / "owner.json").read_text())
        late = record | {"limit": 0.1, "grace": 0.2, "since_steady": record["since_steady"] - 10}
        (folder / "owner.json").write_text(json.dumps(late))
        ended = jobs.run("x", "true", options=("--json",))
    assert ended.code == 0
    assert "took_over" in str(ended.value()["flags"])
    assert list_pids(nap) == []
    assert all(row.report is not None for row in jobs.rows())


def test_a_run_that_was_ended_past_its_limit_is_timed_out(jobs: Jobs) -> None:
    """The one that takes over sends TERM; it was not merely asked to stop."""
    with jobs.running("x", "sleep", new_nap(), options=("--max-runtime", "1s")) as process:
        folder = jobs.state_dir / "locks" / "x"
        until(lambda: bool(getattr(read_owner(folder), "children", ())), "the record names the worker")
        os.kill(process.pid, signal.SIGSTOP)
        record = json.loads((folder / "owner.json").read_text())
        late = record | {"limit": 0.1, "grace": 0.2, "since_steady": record["since_steady"] - 10}
        (folder / "owner.json").write_text(json.dumps(late))
        time.sleep(1.5)
        assert jobs.run("x", "true").code == 0
        process.wait(LIMIT_SECONDS)
    taken = jobs.rows()[1].report
    assert taken is not None
    assert (taken.outcome.value, taken.exit_code) == ("timed_out", 124)


def test_a_forced_run_of_ours_is_flagged_once(stocked: Path) -> None:
    """Also when it goes through `run`'s sibling, and when its settings are broken."""
    (stocked / "brand-catalog.json").write_text("{")
    ended = run("generate", "--force", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["flags"]) == (65, ["forced"])


@pytest.mark.parametrize(("body", "how"), [("os._exit(0)", "exit code 0"), ("os._exit(3)", "exit code 3")])
def test_a_worker_of_ours_that_ends_without_a_word_is_crashed(
    stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, how: str
) -> None:
    """Whatever its exit code: success is the output, and nobody said there is one."""
    guard = Path(__file__).parents[1] / "guarded" / "sitecustomize.py"
    (tmp_path / "sitecustomize.py").write_text(
        f"import os, runpy, sys\nrunpy.run_path({str(guard)!r})\n"
        f"if 'lamplighter.app.working' in sys.orig_argv: {body}\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}")
    ended = run("generate", "--force", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["outcome"]) == (1, "crashed")
    assert ended.value()["line"] == f"its worker ended with {how}, without saying how"
    monkeypatch.undo()
    assert run("generate", "--workspace", stocked).code == 0


def test_generate_and_post_are_jobs_of_run_too(stocked: Path) -> None:
    """Schedulers start everything by one command."""
    assert run("run", "generate", "--json", "--workspace", stocked).value()["outcome"] == "nothing_needed"
    assert run("run", "post", "--json", "--workspace", stocked).value()["outcome"] == "produced"


def press_keys(jobs: Jobs, script: str, *, times: int, answer: bytes = b"") -> tuple[int, str]:
    """Run a script at a real terminal, press Ctrl-C there so often once it is up; return exit code and screen.

    Each time but the last an answer is waited for, where one is expected.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "run", "x", "--", "sh", "-c", script],
        cwd=jobs.folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # noqa: PLW1509 - makes it its terminal
    )
    os.close(theirs)
    try:
        jobs.wait_for("up")
        screen = b""
        for left in reversed(range(times)):
            os.write(ours, b"\x03")
            while left and answer not in screen:
                screen += os.read(ours, 65_536)
        code = process.wait(LIMIT_SECONDS)
        while True:
            try:
                more = os.read(ours, 65_536)
            except OSError:  # Linux says EIO when nobody has the terminal any more
                break
            screen += more
    finally:
        process.kill()
        os.close(ours)
    return code, screen.decode()


@pytest.mark.parametrize("times", [1, 2, 5])
def test_ctrl_c_is_clean(jobs: Jobs, times: int) -> None:
    """One line, exit 130, nothing alive, a row; also when it is pressed again and again."""
    nap = new_nap()
    code, screen = press_keys(jobs, f"echo up > up; sleep {nap}", times=times)
    assert code == 130
    assert "interrupted: asked to stop" in screen
    assert "Traceback" not in screen
    assert (jobs.told()[:2], list_pids(nap), jobs.leftovers()) == (("interrupted", 130), [], [])


def test_a_command_that_does_not_heed_ctrl_c_is_ended(jobs: Jobs) -> None:
    """That it has ten seconds is said; a second Ctrl-C ends it at once, and the run is interrupted all the same."""
    nap = new_nap()
    began = time.monotonic()
    code, screen = press_keys(jobs, f"trap '' INT; echo up > up; sleep {nap}; sleep {nap}", times=2, answer=b"stopping")
    assert time.monotonic() - began < STOP_GRACE.total_seconds() / 2
    assert "stopping; the command has up to 10 s" in screen
    assert (code, jobs.told()[:2], list_pids(nap)) == (130, ("interrupted", 130), [])


def test_outside_a_workspace_runs_and_locks_are_looked_at_where_run_records_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`runs` and `lock` find the record of `run NAME -- CMD`; before the first run there is nothing to look at."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    assert run("runs", "list").code == 66
    assert run("run", "backup", "--", "true").code == 0
    assert "backup" in run("runs", "list").out
    assert "backup" in run("lock", "status", "backup").out
    assert run("generate").code == 66


@pytest.mark.parametrize("outputs", [["/no/such"], ["there", "gone"], ["empty"]])
def test_an_output_that_was_never_made_is_no_success(jobs: Jobs, outputs: list[str]) -> None:
    """Whatever the result file says."""
    result = write_result(outcome="produced", outputs=outputs)
    assert jobs.shell("x", f"echo > there; : > empty; {result}").code == 70
    assert "its result file does not count: it names the output" in jobs.line()


def test_logs_that_are_removed_in_mid_run_are_told(jobs: Jobs) -> None:
    """What the command wrote is lost, and the run says so."""
    ended = jobs.shell("x", 'rm -r "$(dirname "$LAMPLIGHTER_RESULT")"; echo lost')
    assert "is lost: somebody removed or replaced that meanwhile" in ended.out
    assert jobs.told() == ("completed", 0, ("output_lost",))


@pytest.mark.parametrize("ending", ["out", "err", "log"])
def test_a_pipe_in_the_place_of_a_log_holds_nobody_up(jobs: Jobs, ending: str) -> None:
    """Where the output goes it is a failure of the disk; without our own words the work is done."""
    assert jobs.shell("x", "true").code == 0
    os.mkfifo(jobs.state_dir / "logs" / "x" / f"2.{ending}")
    ended = jobs.shell("x", "true", "--max-runtime", "5s")
    assert ended.code == (0 if ending == "log" else 74), ended
