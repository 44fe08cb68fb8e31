"""Where output goes when nobody listens: the work is done and told in the exit code, whatever becomes of the words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.simulators.desk import Desk

from lamplighter.cli.console import Console

PROGRAM = [sys.executable, "-m", "lamplighter"]
FIRST = "feature-0001-wrenfold"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace with one ready feature."""
    desk = Desk.in_workspace(tmp_path / "workspace")
    desk.put()
    return desk


def run_without_reader(*arguments: str, cwd: Path) -> tuple[int, str]:
    """Run a command whose standard output nobody reads; return exit code and standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*PROGRAM, *arguments], cwd=cwd, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("stock", "list"), ("stock", "list", "--json"), ("status",), ("runs", "list")],
)
def test_a_reader_that_has_gone_is_no_trouble(desk: Desk, arguments: tuple[str, ...]) -> None:
    """As in `| head -1`: quiet, exit 0."""
    assert run_without_reader(*arguments, cwd=desk.folder) == (0, "")


def test_an_error_keeps_its_exit_code_without_a_reader(desk: Desk) -> None:
    """It is still said on standard error."""
    code, told = run_without_reader("stock", "show", "x", "--json", cwd=desk.folder)
    assert (code, told.count("\n")) == (66, 1)


def test_a_run_without_a_reader_does_its_work(desk: Desk) -> None:
    """Its progress is lost and nothing else: posted once, recorded, exit 0."""
    assert run_without_reader("post", cwd=desk.folder) == (0, "")
    (entry,) = desk.journal.entries()
    assert (entry.feature_id, entry.state.value) == (FIRST, "recorded")


def test_a_run_that_fails_without_a_reader_keeps_its_exit_code(desk: Desk) -> None:
    """A scheduler reads nothing else."""
    code, told = run_without_reader("generate", cwd=desk.folder)
    assert (code, told) == (66, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_on_a_full_disk_does_not_stop_the_work(desk: Desk) -> None:
    """It is posted and recorded, and the exit code is that of the run; what only tells says that it cannot."""
    for command, code, told in (("post", 0, ""), ("posted", 74, "lamplighter: output: No space left on device\n")):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*PROGRAM, command],
                cwd=desk.folder,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        assert (done.returncode, done.stderr) == (code, told)
    assert desk.journal.entries()[0].state.value == "recorded"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize("command", ["status", "status --json", "post", "--help"])
def test_closed_outputs_are_no_trouble(desk: Desk, closed: str, command: str) -> None:
    """Some schedulers start programs so."""
    line = f'"{sys.executable}" -m lamplighter {command} {closed}'
    done = subprocess.run(["sh", "-c", line], cwd=desk.folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_any_letter_can_be_printed_anywhere(desk: Desk, locale: str) -> None:
    """A terminal that cannot show it gets it escaped."""
    desk.database.close()
    catalog = desk.folder / "brand-catalog.json"
    catalog.write_text(catalog.read_text().replace('"Kirino"', '"きりの 🫖"'), "utf-8")
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [*PROGRAM, "brands", "list"], cwd=desk.folder, env=environment, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "きりの".encode() in done.stdout or b"\\u304d" in done.stdout


def test_a_program_hears_values_and_a_person_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Never both on one output."""
    for as_json in (True, False):
        console = Console(as_json=as_json)
        console.say("at work")
        console.line("a line")
        console.good("good")
        console.bad("bad")
        console.table([("a", "b"), ("long", "c")])
        console.table([])
        console.value({"ä": [1]})
        with console.working("long work"):
            console.line()
        told = capsys.readouterr()
        if as_json:
            assert (told.out, told.err) == ('{\n  "ä": [\n    1\n  ]\n}\n', "at work\n")
        else:
            assert (told.out, told.err) == ("  at work\na line\ngood\nbad\na     b\nlong  c\n\n", "")
