"""A program in a session of its own: started as given, ended whole, and what it cannot be is said with a way out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child, is_running, until

from lamplighter.errors import DiskError, InputError, UpstreamError
from lamplighter.host.identity import list_children
from lamplighter.host.session import Session, start_session, watch_parent


def start(tmp_path: Path, *argv: str, **env: str) -> Session:
    """Start a program whose output lies in two files."""
    return start_session(
        argv, cwd=tmp_path, env={**os.environ, **env}, out_file=tmp_path / "out", err_file=tmp_path / "err"
    )


def test_a_program_leads_a_session_of_its_own_and_its_output_is_appended(tmp_path: Path) -> None:
    """Both streams, to files that only this user may read."""
    (tmp_path / "out").write_text("before\n")
    with start(tmp_path, "sh", "-c", 'echo "$WORD"; echo err >&2; ps -o sid= -p $$ >&2', WORD="hi") as session:
        assert session.wait(timedelta(seconds=20))
        assert session.reap() == 0
    assert (tmp_path / "out").read_text() == "before\nhi\n"
    assert (tmp_path / "err").read_text().split() == ["err", str(session.identity.pid)]
    assert (tmp_path / "err").stat().st_mode & 0o777 == 0o600


def test_ending_wakes_what_is_stopped_and_kills_what_does_not_heed(tmp_path: Path) -> None:
    """TERM and CONT first; after the grace KILL."""
    for script, code in (("kill -STOP $$", -signal.SIGTERM), ("trap '' TERM; echo up; while :; do sleep 1; done", -9)):
        with start(tmp_path, "sh", "-c", script) as session:
            until((tmp_path / "out").exists, "it is up")
            session.wait(timedelta(milliseconds=300))
            session.end(timedelta(milliseconds=300))
            session.end_strays()
            assert session.reap() == code


def test_a_program_that_runs_is_not_reaped_and_one_that_ended_takes_no_signal(tmp_path: Path) -> None:
    """Neither raises."""
    with start(tmp_path, "sleep", "60") as session:
        assert session.reap() is None
        session.send(signal.SIGKILL)
        assert session.wait(timedelta(seconds=20))
        assert session.reap() == -9
        session.send(signal.SIGTERM)
        assert session.wait(timedelta(0))
    session.close()


def test_children_that_were_there_before_are_left_alone(tmp_path: Path) -> None:
    """Only what the program left is ended, and only that is reaped."""
    mine = os.fork()
    if mine == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "60"])  # noqa: S606 - a child that is none of the session's
    try:
        with start(tmp_path, "sh", "-c", "setsid sleep 60 & sleep 60 & exit 0") as session:
            assert session.wait(timedelta(seconds=20))
            assert session.end_strays() == (2, 0)
            session.reap()
        assert is_running(mine)
        assert mine in list_children()
    finally:
        os.kill(mine, signal.SIGKILL)
        assert os.waitpid(mine, 0) == (mine, signal.SIGKILL)


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (None, 0, "No such file or directory"),
        ("echo\n", 0o755, "Exec format error; let it begin with a line like #!/bin/sh"),
        ("#!/bin/sh\n", 0o644, "Permission denied; make it executable: chmod +x"),
        ("#!/gone\n", 0o755, "No such file or directory; the program that its first line names is missing"),
    ],
)
def test_what_cannot_be_started_is_said_with_a_way_out(
    tmp_path: Path, content: str | None, mode: int, words: str
) -> None:
    """One line, and no process stays."""
    if content is not None:
        (tmp_path / "job").write_text(content)
        (tmp_path / "job").chmod(mode)
    before = list_children()
    with pytest.raises(InputError) as caught:
        start(tmp_path, "./job")
    assert str(caught.value) == f"./job: cannot be started: {words}"
    assert list_children() == before


def test_a_folder_that_is_gone_or_a_name_that_is_none_is_said(tmp_path: Path) -> None:
    """The folder is told from the program; a name of any length is cut."""
    with pytest.raises(InputError, match="which is not a folder: No such file"):
        start_session(("true",), cwd=tmp_path / "gone", env={}, out_file=tmp_path / "o", err_file=tmp_path / "e")
    with pytest.raises(InputError, match="embedded null byte"):
        start(tmp_path, "a\0b")
    with pytest.raises(InputError, match="File name too long"):
        start(tmp_path, "x" * 5_000)
    with pytest.raises(InputError, match="Argument list too long"):
        start(tmp_path, "true", *["x" * 100_000] * 40)


def test_output_files_that_cannot_be_written_stop_the_start(tmp_path: Path) -> None:
    """A link in their place leads nowhere of ours."""
    (tmp_path / "out").symlink_to("elsewhere")
    with pytest.raises(DiskError, match="symbolic links"):
        start(tmp_path, "true")
    assert not (tmp_path / "elsewhere").exists()


def test_a_machine_without_room_for_a_process_is_a_passing_trouble(tmp_path: Path) -> None:
    """Exit 69, to be tried again: in a child, whose limit of open files is used up."""
    code = """
import os, resource, sys
from pathlib import Path
from lamplighter.errors import UpstreamError
from lamplighter.host.session import start_session
resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))
taken = []
try:
    while True:
        taken.append(os.dup(0))
except OSError:
    for descriptor in taken[-3:]:
        os.close(descriptor)
try:
    start_session(("true",), cwd=Path("/"), env={}, out_file=Path(sys.argv[1]), err_file=Path(sys.argv[2]))
except UpstreamError as error:
    print(error)
"""
    with start(tmp_path, sys.executable, "-c", code, str(tmp_path / "o"), str(tmp_path / "e")) as session:
        assert session.wait(timedelta(seconds=20))
        session.reap()
    assert UpstreamError.failure.value == 69
    told = (tmp_path / "out").read_text() + (tmp_path / "err").read_text()
    assert told == "true: cannot be started now: Too many open files\n"


WATCHED = """
import subprocess, sys
from lamplighter.host.session import watch_parent
program = subprocess.Popen(["sleep", "1000"], start_new_session=True)
watcher = watch_parent(program.pid)
print(program.pid, watcher.pid, flush=True)
sys.stdin.readline()
"""


def test_a_killed_parent_ends_the_program_by_its_watcher() -> None:
    """The pipe closes with the process, however it dies; it stands in for the kernel's way where there is none."""
    with Child(WATCHED) as child:
        pid, watcher = map(int, child.hear().split())
        assert is_running(pid)
        child.kill()
        until(lambda: not is_running(pid), "the program ends after its parent")
        until(lambda: not is_running(watcher), "the watcher ends after both")


@pytest.mark.parametrize("is_watcher_there", [True, False])
def test_a_closed_session_signals_nobody(is_watcher_there: bool) -> None:
    """Its group's number may be another program's by then, which a living one stands for here; no watcher stays."""
    before = list_children()
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    watcher = watch_parent(process.pid)
    try:
        with Session(process, watcher, frozenset(before)) as session:
            assert session.end_strays() == (0, 0)  # the watcher is none
            assert is_running(watcher.pid)
            if not is_watcher_there:
                os.kill(watcher.pid, signal.SIGKILL)
        session.close()
        assert list_children() == [*before, process.pid]
        assert not session.wait(timedelta(milliseconds=50))
    finally:
        process.kill()
        process.wait()
