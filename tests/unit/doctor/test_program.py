"""Python, our own program, and the PATH of scheduled runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamplighter.doctor.finding import Look, State, examine
from lamplighter.doctor.program import Program, look_at_path, look_at_program, read_program
from lamplighter.engine.settings import JobSettings


def make_job(*command: str, folder: Path = Path("/")) -> JobSettings:
    """Return a job of a person's own."""
    return JobSettings(name="backup", command=command, folder=folder)


def make_program(folder: Path, *, script: str = "", installed: str = "", version: tuple[int, int] = (3, 12)) -> Program:
    """Return an environment in a folder."""
    (folder / "python").touch()
    if script:
        (folder / "lamplighter").write_text(script)
    return Program(interpreter=str(folder / "python"), version=version, installed=installed)


def test_this_very_process_is_right() -> None:
    """Whatever runs the tests can run us."""
    (found,) = look_at_program(read_program(""))
    assert found.state is State.OK


def test_an_old_python_is_wrong(tmp_path: Path) -> None:
    """With the one that is needed."""
    (found,) = look_at_program(make_program(tmp_path, version=(3, 10)))
    assert (found.state, found.remedy) == (State.WRONG, "lamplighter needs 3.11 or newer")


def test_a_moved_environment_is_wrong(tmp_path: Path) -> None:
    """Its program still names where it was; also what the entries start may be gone, or our own interpreter."""
    moved = make_program(tmp_path, script="#!/gone/bin/python3\nimport x\n")
    gone = Program(interpreter="/gone/python", version=(3, 12))
    installed = make_program(tmp_path, installed="/gone/venv/bin/python")
    for program, words in ((moved, "was moved"), (gone, "is gone"), (installed, "the scheduler's entries start")):
        (found,) = look_at_program(program)
        assert (found.state, words in found.words) == (State.WRONG, True), found


@pytest.mark.parametrize("script", ["", "#!/bin/sh\n", "#!/usr/bin/env python3\n", "\x7fELF"])
def test_a_program_that_names_nothing_gone_is_ok(tmp_path: Path, script: str) -> None:
    """A shell, env, no script at all."""
    (found,) = look_at_program(make_program(tmp_path, script=script))
    assert found.state is State.OK


def test_a_program_that_cannot_be_read_could_not_be_checked(tmp_path: Path) -> None:
    """Nobody knows what it starts."""
    program = make_program(tmp_path)
    (tmp_path / "lamplighter").symlink_to(tmp_path / "lamplighter")
    (found,) = examine((Look(about="python", find=lambda: look_at_program(program)),))
    assert found.state is State.UNKNOWN


def test_what_jobs_start_is_on_the_path(tmp_path: Path) -> None:
    """By that of the entries, not that of this terminal."""
    tool = tmp_path / "tool"
    tool.touch(mode=0o755)
    here = str(tmp_path)
    (ok,) = look_at_path(here, (make_job("tool"),), here=here, is_installed=True)
    (hidden,) = look_at_path("/nowhere", (make_job("tool"),), here=here, is_installed=True)
    (gone,) = look_at_path("/nowhere", (make_job("tool"),), here="/nowhere", is_installed=True)
    (none,) = look_at_path("/nowhere", (), here=here, is_installed=False)
    assert [found.state for found in (ok, hidden, gone, none)] == [State.OK, State.WRONG, State.WRONG, State.OK]
    assert hidden.remedy == "lamplighter schedule install"
    assert "there is no program tool" in gone.words


def test_a_command_by_its_path_is_looked_at_where_it_is(tmp_path: Path) -> None:
    """There and executable, or wrong."""
    job = make_job("./b.sh", folder=tmp_path)
    (missing,) = look_at_path("", (job,), here="", is_installed=True)
    (tmp_path / "b.sh").touch(mode=0o644)
    (plain,) = look_at_path("", (job,), here="", is_installed=True)
    (tmp_path / "b.sh").chmod(0o755)
    (ok,) = look_at_path("", (job,), here="", is_installed=True)
    assert [found.state for found in (missing, plain, ok)] == [State.WRONG, State.WRONG, State.OK]
    assert plain.remedy == f"chmod u+x {tmp_path / 'b.sh'}"
