"""Command jobs: their arguments, environment and folder, the output they declare, what they may say of themselves."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.acceptance.jobs import Jobs, write_result

_SHOW = "import json, os, sys; print(json.dumps([os.fsencode(word).hex() for word in sys.argv[1:]]))"


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    """Return an empty workspace."""
    return Jobs.make(tmp_path / "workspace")


@pytest.mark.parametrize(
    "word",
    [
        b"", b" ", b"two words", b"'\"`", b"$HOME", b"*", b"a\nb", b";echo", b"--", b"--json", b"-h", b"\xff\xfe",
        "きりの 🫖".encode(), b"\\", b"x" * 100_000,
    ],
)  # fmt: skip
def test_arguments_reach_the_command_as_given(jobs: Jobs, word: bytes) -> None:
    """Never through a shell, whatever is in them; a second -- is the command's own."""
    assert jobs.run("x", sys.executable, "-c", _SHOW, word, "--", word).code == 0
    assert json.loads(jobs.log(1, "out")) == [word.hex(), b"--".hex(), word.hex()]


def test_a_command_job_of_the_settings_runs_as_it_is_written(tmp_path: Path) -> None:
    """Its command, its folder below the workspace, its environment on top of ours; wherever it is started."""
    jobs = Jobs.make(
        tmp_path / "workspace",
        """
        [jobs.x]
        command = ["./report.sh", "two words", "$HOME"]
        folder = "sub"
        output = "out-*.txt"
        max_runtime = "1m"
        expected_runtime = "30s"
        env = { PLAIN = "as it is", TAKEN = "env:MINE", SECRET = "file:secret.txt" }
        """,
    )
    (jobs.folder / "sub").mkdir()
    (jobs.folder / "secret.txt").write_text("hunter2-from-file\n")
    script = jobs.folder / "sub" / "report.sh"
    script.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" "$PLAIN" "$TAKEN" "$SECRET" "$INHERITED" > out-1.txt\n')
    script.chmod(0o755)
    ended = jobs.run("x", MINE="taken", INHERITED="from us")
    assert (ended.code, jobs.told()[0]) == (0, "produced")
    assert (jobs.folder / "sub" / "out-1.txt").read_text().splitlines() == [
        str(jobs.folder / "sub"), "two words", "$HOME", "as it is", "taken", "hunter2-from-file", "from us",
    ]  # fmt: skip


def test_secrets_are_kept_out_of_everything_that_is_written(tmp_path: Path) -> None:
    """Streams, log, row, owner record and terminal: neither in clear nor in base64."""
    env = 'env = { ONE = "env:MINE", TWO = "file:secret.txt" }'
    words = json.dumps(["sh", "-c", 'echo "out $ONE"; printf %s "$TWO" | base64; echo "bad token $ONE" >&2; exit 1'])
    jobs = Jobs.make(tmp_path / "workspace", f"[jobs.x]\ncommand = {words}\n{env}\n")
    (jobs.folder / "secret.txt").write_text("correct-horse-battery")
    ended = jobs.run("x", MINE="s3cr3t-value")
    assert ended.code == 70
    assert "bad token ***" in ended.out
    written = [path for path in jobs.state_dir.rglob("*") if path.is_file()]
    for secret in (b"s3cr3t-value", b"correct-horse-battery", b"Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"):
        assert [path.name for path in written if secret in path.read_bytes()] == []
        assert secret.decode() not in ended.out + ended.err


def test_secrets_of_a_killed_run_are_taken_out_by_the_next(tmp_path: Path) -> None:
    """Nobody could do it after the kill; the run that follows does, before its own work."""
    words = json.dumps(["sh", "-c", 'echo "out $ONE"; test -f again || { echo up > again; exec sleep 99; }'])
    jobs = Jobs.make(tmp_path / "workspace", f'[jobs.x]\ncommand = {words}\nenv = {{ ONE = "file:secret.txt" }}\n')
    (jobs.folder / "secret.txt").write_text("correct-horse-battery")
    with jobs.running("x") as process:
        jobs.wait_for("again")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
    assert "correct-horse" in jobs.log(1, "out")
    assert jobs.run("x").code == 0
    assert (jobs.log(1, "out"), jobs.log(2, "out")) == ("out ***\n", "out ***\n")
    assert not [*jobs.state_dir.rglob("*.raw")]


@pytest.mark.parametrize(
    ("env", "code", "words"),
    [
        ('A = "env:NOWHERE"', 65, "jobs.x.env.A: there is no variable NOWHERE; set it"),
        ('A = "file:gone"', 66, "there is no such secret"),
        ('A = "file:."', 66, "this is a folder, not a secret"),
        ('"A B" = "x"', 65, "'A B' is no name of a variable"),
        ("A = 7", 65, "env"),
    ],
)
def test_a_job_without_what_it_was_promised_does_not_begin(tmp_path: Path, env: str, code: int, words: str) -> None:
    """One line that names it, a row, and the command never ran."""
    jobs = Jobs.make(tmp_path / "workspace", f'[jobs.x]\ncommand = ["touch", "ran"]\nenv = {{ {env} }}\n')
    ended = jobs.run("x")
    assert (ended.code, jobs.told()[:2]) == (code, ("failed", code))
    assert words in ended.out
    assert (len(ended.out.splitlines()), (jobs.folder / "ran").exists()) == (1, False)


@pytest.mark.parametrize(
    ("before", "script", "pattern", "outcome"),
    [
        ("", "echo new > a.txt", "*.txt", "produced"),
        ("", "mkdir -p d/e; echo new > d/e/a.txt", "**/*.txt", "produced"),
        ("", "echo new > '[a].txt'", "[[]a].txt", "produced"),
        ("echo old > a.txt", "echo newer > a.txt", "*.txt", "produced"),
        ("echo old > a.txt", "echo new > .t; mv .t a.txt", "a.txt", "produced"),
        ("echo old > a.txt", "ln -s a.txt b.txt", "b.txt", "produced"),
        ("", "echo new > .hidden", ".hid*", "produced"),
        ("echo old > a.txt", ":", "*.txt", "failed"),
        ("echo old > a.txt", "cat a.txt; touch b.md", "*.txt", "failed"),
        ("echo old > a.txt", "rm a.txt", "*.txt", "failed"),
        ("echo old > a.txt", ": > a.txt", "*.txt", "failed"),
        ("", ": > empty.txt", "*.txt", "failed"),
        ("", "mkdir folder.txt", "*.txt", "failed"),
        ("", "mkfifo fifo.txt", "*.txt", "failed"),
        ("", "ln -s nowhere dangling.txt", "*.txt", "failed"),
        ("", "ln -s . loop; echo new > a.md", "**/*.txt", "failed"),
        ("", "echo new > ../outside.txt", "../*.txt", "produced"),
        ("", "echo new > a.txt", "**a.txt", "produced"),
        ("", "echo new > a.txt", ".", "failed"),
        ("", "echo new > a.txt", "x" * 300, "failed"),
        ("", "echo new > a.txt", f"*/{'x' * 300}/*", "failed"),
        ("", "echo new > a.txt", "[", "failed"),
    ],
)
def test_an_exit_0_is_a_success_only_with_the_declared_output(
    jobs: Jobs, before: str, script: str, pattern: str, outcome: str
) -> None:
    """New or changed, a file, and not empty; anything else is `failed`, and the line says which pattern."""
    if before:
        assert jobs.shell("earlier", before).code == 0
    ended = jobs.shell("x", script, "--output", pattern)
    told = jobs.told()
    assert (told[0], ended.code) == (outcome, 0 if outcome == "produced" else 70), ended.out
    report = jobs.rows()[0].report
    assert report is not None
    assert bool(report.outputs) is (outcome == "produced")


def test_an_absolute_pattern_looks_there(jobs: Jobs, tmp_path: Path) -> None:
    """A backup goes to another disk."""
    ended = jobs.shell("x", f"echo new > '{tmp_path}/far.tgz'", "--output", f"{tmp_path}/*.tgz")
    assert (ended.code, jobs.line()) == (0, f"new: {tmp_path}/far.tgz")


def test_a_name_that_is_no_text_is_an_output_too(jobs: Jobs) -> None:
    """It is told in one line, as far as it can be shown."""
    code = r"open(b'bad-\xff-\n.txt', 'w').write('x')"
    ended = jobs.run("x", sys.executable, "-c", code, options=("--output", "bad*"))
    assert (ended.code, ended.out.count("\n"), jobs.told()[0]) == (0, 1, "produced")


def test_a_hundred_thousand_files_are_looked_through_in_seconds(jobs: Jobs) -> None:
    """And the record names the first hundred of those that are new."""
    (jobs.folder / "many").mkdir()
    code = "import os\nfor n in range(100_000):\n with open(f'many/{n:06}', 'w') as f: f.write('x')"
    began = time.monotonic()
    ended = jobs.run("x", sys.executable, "-c", code, options=("--output", "many/*", "--json"))
    assert (ended.code, ended.value()["line"]) == (0, "new: many/000000 and 99,999 more")
    report = jobs.rows()[0].report
    assert report is not None
    assert len(report.outputs) == 100
    assert time.monotonic() - began < 40


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("printf '{' > $LAMPLIGHTER_RESULT", "it is not JSON"),
        ("printf '[]' > $LAMPLIGHTER_RESULT", "it is not a JSON object"),
        (": > $LAMPLIGHTER_RESULT", "it is empty"),
        ("printf '\\377\\376' > $LAMPLIGHTER_RESULT", "it is not JSON"),
        ('printf %s \'{"outcome": "great"}\' > $LAMPLIGHTER_RESULT', "'great' is no outcome"),
        (write_result(), "'None' is no outcome"),
        (write_result(outcome="produced", typo=1), "'typo' is no key of it"),
        (write_result(outcome="produced", outputs="a"), "a list of texts was expected"),
        (write_result(outcome="failed", failure="busy"), "'busy' is no class of failure"),
        (write_result(outcome="failed", failure="lock_busy"), "'lock_busy' is no class of failure"),
        (write_result(outcome="produced", flags=["took_over"]), "'flags' is no key of it"),
        *(
            (write_result(outcome=outcome), f"{outcome} is not for a worker to say")
            for outcome in ("lock_held", "killed", "not_due", "paused", "timed_out", "interrupted", "crashed")
        ),
        ("head -c 2000000 /dev/zero > $LAMPLIGHTER_RESULT", "this result file is larger than 1,000,000 bytes"),
        ("mkdir -p $LAMPLIGHTER_RESULT/deep", "this is a folder, not a result file"),
        ("mkfifo $LAMPLIGHTER_RESULT", "this result file is not a regular file"),
        ("ln -s /dev/zero $LAMPLIGHTER_RESULT", "this result file is not a regular file"),
    ],
)
def test_a_result_file_that_does_not_count_is_a_failure_that_says_why(jobs: Jobs, script: str, words: str) -> None:
    """Exit 0 or not; whatever lies in its place is taken away, and nothing waits for it."""
    ended = jobs.shell("x", script)
    assert (ended.code, jobs.told()) == (70, ("failed", 70, ()))
    assert words in jobs.line()
    assert jobs.leftovers() == []
    assert jobs.run("x", "true").code == 0


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (write_result(outcome="produced"), "names no output, so it does not count"),
        (write_result(outcome="nothing_needed"), "without evidence, so it does not count"),
        (f"{write_result(outcome='produced', outputs=['a'])}; exit 3", "exit code 3"),
        (f"{write_result(outcome='nothing_needed', evidence={'a': 1})}; exit 1", "exit code 1"),
    ],
)
def test_a_success_that_is_only_said_is_a_failure(jobs: Jobs, script: str, words: str) -> None:
    """Output or evidence must come with it, and an exit code that says the same."""
    assert jobs.shell("x", script).code == 70
    assert words in jobs.line()


def test_a_result_may_not_stand_in_for_a_declared_output(jobs: Jobs) -> None:
    """What is declared must be there, whatever the command says; what it says of nothing to do still counts."""
    lie = write_result(outcome="produced", outputs=["a.txt"])
    assert jobs.shell("x", lie, "--output", "*.txt").code == 70
    assert jobs.shell("x", f"echo new > b.txt; {lie}", "--output", "*.txt").code == 70
    truth = write_result(outcome="produced", outputs=["c.txt"])
    assert jobs.shell("x", f"echo new > c.txt; {truth}", "--output", "*.txt").code == 0
    idle = write_result(outcome="nothing_needed", evidence={"mails": 0})
    assert jobs.shell("x", idle, "--output", "*.txt").code == 0
    assert jobs.told()[0] == "nothing_needed"


def test_what_a_command_says_is_shown_as_one_printable_line(jobs: Jobs) -> None:
    """No terminal is moved by it, and nothing of any length is kept."""
    ended = jobs.shell("x", write_result(outcome="failed", line="a\x1b[2Jb\nc" + "d" * 5000))
    assert ended.code == 70
    assert "\x1b" not in ended.out
    assert (ended.out.count("\n"), len(ended.out) < 1_100) == (1, True)


def test_a_result_of_an_earlier_life_is_not_read(jobs: Jobs) -> None:
    """What lies in the place of the file before the command begins is not its word, and what others left is removed."""
    folder = jobs.state_dir / "logs" / "x"
    folder.mkdir(parents=True)
    for name in ("1.result", "7.result", ".tmp-7.result.4711"):
        (folder / name).write_text('{"outcome": "produced", "outputs": ["old"]}')
    assert jobs.run("x", "true").code == 0
    assert (jobs.told()[0], jobs.leftovers()) == ("completed", [])


def test_output_is_shown_as_it_comes_and_kept_apart(jobs: Jobs) -> None:
    """Both streams reach the person; the last line needs no end."""
    ended = jobs.shell("x", "echo one; echo two >&2; printf three")
    assert {"  one", "  two", "  three"} <= set(ended.out.splitlines())
    assert (jobs.log(1, "out"), jobs.log(1, "err")) == ("one\nthree", "two\n")


def test_the_last_lines_of_both_streams_are_in_the_record(jobs: Jobs) -> None:
    """So that a row explains itself when its log is gone."""
    jobs.shell("x", "echo out; echo err >&2; exit 4")
    row = jobs.rows()[0]
    assert (row.tails.out, row.tails.err, row.own_code) == ("out", "err", 4)


def test_the_environment_tells_the_command_nothing_of_our_lock(jobs: Jobs) -> None:
    """It gets the result file and the mark, and what we were started with."""
    jobs.run("x", sys.executable, "-c", "import os; print(*sorted(set(os.environ)))", WITNESS="here")
    names = set(jobs.log(1, "out").split())
    assert {"LAMPLIGHTER_RESULT", "LAMPLIGHTER_RUN", "WITNESS"} <= names
    assert "LAMPLIGHTER_CLAIM" not in names
    assert set(os.environ) <= names
