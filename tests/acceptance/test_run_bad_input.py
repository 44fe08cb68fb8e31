"""`lamplighter run` on bad ground: odd names and commands, vanishing folders, other users, full disks, odd streams."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.jobs import PROGRAM, Jobs
from tests.simulators.child import LIMIT_SECONDS, until
from tests.simulators.small_disk import can_mount


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    """Return an empty workspace."""
    return Jobs.make(tmp_path / "workspace")


def in_namespace(jobs: Jobs, prepare: str, *call: str) -> subprocess.CompletedProcess[str]:
    """Run a command after `prepare`, a shell line that may mount, in a namespace of its own."""
    if not can_mount():
        if os.environ.get("LAMPLIGHTER_REQUIRE") == "all":
            pytest.fail("no disk can be mounted in a namespace")
        pytest.skip("no disk can be mounted in a namespace")
    ways = ["-m"] if os.getuid() == 0 else ["-U", "-r", "-m"]
    return subprocess.run(
        ["unshare", *ways, "sh", "-c", f'{prepare} && exec "$@"', "sh", *call],
        cwd=jobs.folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize(
    "name",
    [
        "", "..", ".", "/", "a/b", "../x", "two words", "Backup", "BACKUP", "x" * 300, "🦊", "日本", "-x", "x-", ".x",
        "a..b", "x\n", "x\x1b[2J", "$HOME", "a:b", "_x",
    ],
)  # fmt: skip
def test_a_name_that_no_job_can_have_is_wrong_usage(jobs: Jobs, name: str) -> None:
    """One line, exit 64, and nothing is made on disk."""
    for words in (("true",), ()):
        ended = jobs.run(name, *words)
        assert (ended.code, ended.err.count("\n"), ended.out) == (64, 1, "")
        assert "\x1b" not in ended.err
    assert not jobs.state_dir.exists()


@pytest.mark.parametrize("name", ["generate", "post", "watch"])
def test_a_name_of_ours_is_not_for_another_command(jobs: Jobs, name: str) -> None:
    """Its runs would look like ours."""
    ended = jobs.run(name, "true")
    assert (ended.code, "it is one of lamplighter's own" in ended.err) == (64, True)
    assert not jobs.state_dir.exists()


def test_a_job_without_a_command_is_told_with_those_there_are(tmp_path: Path) -> None:
    """A job nobody wrote, one without a command, and one without words behind --."""
    jobs = Jobs.make(tmp_path / "workspace", "[jobs.empty]\n[jobs.none]\ncommand = []\n[jobs.blank]\ncommand = ['']\n")
    for name in ("empty", "none", "blank"):
        ended = jobs.run(name)
        assert (ended.code, "command" in ended.out, ended.out.count("\n")) == (65, True, 1)
        assert jobs.told()[:2] == ("failed", 65)
    jobs = Jobs.make(tmp_path / "other", "[jobs.known]\ncommand = ['true']\n")
    ended = jobs.run("unknown")
    assert (ended.code, "known are generate, known, post" in ended.out) == (66, True)
    done = subprocess.run([PROGRAM, "run", "x", "--"], cwd=jobs.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, "there is no command behind --" in done.stderr) == (64, True)


def test_a_command_that_cannot_be_started_is_an_input_error(jobs: Jobs) -> None:
    """Exit 66, one line with the cause and, where there is one, the way out; a row, and nothing left behind."""
    plain = jobs.folder / "plain.sh"
    plain.write_text("echo hi\n")
    for mode, text, word, remedy in (
        (0o755, "echo hi\n", "./plain.sh", "let it begin with a line like #!/bin/sh"),
        (0o644, "#!/bin/sh\n", "./plain.sh", "chmod +x"),
        (0o755, "#!/no/such/program\n", "./plain.sh", "the program that its first line names is missing"),
        (0o755, "", "./gone.sh", "No such file or directory"),
        (0o755, "", "no-such-command-here", "No such file or directory"),
        (0o755, "", str(jobs.folder), "Permission denied"),
        (0o755, "", "plain.sh/x", "Not a directory"),
        (0o755, "", "x" * 5000, "File name too long"),
    ):
        plain.write_text(text)
        plain.chmod(mode)
        ended = jobs.run("x", word)
        assert (ended.code, jobs.told()) == (66, ("failed", 66, ())), ended
        assert (remedy in ended.out, ended.out.count("\n"), ended.err) == (True, 1, ""), ended
    assert jobs.leftovers() == []


def test_too_many_arguments_are_an_input_error(jobs: Jobs) -> None:
    """The kernel says so (E2BIG); it is told in one short line."""
    words = ["x" * 100_000] * 14
    with pytest.raises(OSError, match="Argument list too long"):
        subprocess.run(["true", *words, *words], check=False)
    script = 'i=0; set -- true; while [ $i -lt 20 ]; do set -- "$@" "$1"; i=$((i+1)); done; true'
    assert jobs.shell("x", script).code == 0


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """That of a job of the settings."""
    jobs = Jobs.make(tmp_path / "workspace", '[jobs.x]\ncommand = ["true"]\nfolder = "gone"\n')
    ended = jobs.run("x")
    assert (ended.code, "which is not a folder" in ended.out) == (66, True)


@pytest.mark.parametrize(
    "option", [("--max-runtime", "0s"), ("--max-runtime", "soon"), ("--wait", "-1s"), ("--wat", "1")]
)
def test_a_wrong_option_is_wrong_usage(jobs: Jobs, option: tuple[str, str]) -> None:
    """Exit 64 before anything is touched."""
    assert jobs.run("x", "true", options=option).code == 64
    assert not jobs.state_dir.exists()


def test_a_workspace_that_vanishes_in_mid_run_is_told_and_not_made_again(jobs: Jobs) -> None:
    """The run cannot be recorded; one line says so and what the command did, and nothing is left in its place."""
    with jobs.running("x", "sh", "-c", "echo up > up; while test -e up; do sleep 0.02; done; sleep 0.2") as process:
        jobs.wait_for("up")
        shutil.rmtree(jobs.folder)
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 74
    assert "Traceback" not in out
    assert "completed: exit code 0; no output is declared; " in out
    assert "; but this could not be recorded" in out
    assert not jobs.folder.exists()


def test_a_run_whose_workspace_is_moved_is_taken_for_what_it_was(jobs: Jobs, tmp_path: Path) -> None:
    """It did its work and could not record it where it was: its outcome is found with its lock, and no death is made.

    So its slot stays done, and the job is not done again.
    """
    wait = tmp_path / "wait"
    wait.touch()
    moved = Jobs(folder=tmp_path / "moved")
    with jobs.running("x", "sh", "-c", f"echo up > up; while test -e {wait}; do sleep 0.02; done") as process:
        jobs.wait_for("up")
        jobs.folder.rename(moved.folder)
        wait.unlink()
        process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 74
    assert moved.run("x", "true").code == 0
    second, first = (row.report for row in moved.rows())
    assert first is not None
    assert second is not None
    assert (first.outcome.value, second.flags) == ("completed", ())


def test_a_state_folder_that_vanishes_in_mid_run_is_told(jobs: Jobs) -> None:
    """Neither the lock nor the log makes it again; the next run begins anew."""
    with jobs.running("x", "sh", "-c", "echo up > up; while test -e up; do sleep 0.02; done; sleep 0.2") as process:
        jobs.wait_for("up")
        shutil.rmtree(jobs.state_dir)
        (jobs.folder / "up").unlink()
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, "could not be recorded" in out) == (74, True), out
    assert not jobs.state_dir.exists()
    assert jobs.run("x", "true").code == 0


def test_a_present_folder_that_is_gone_is_told(jobs: Jobs) -> None:
    """Exit 66, one line."""
    script = f"mkdir gone; cd gone; rmdir ../gone; exec '{PROGRAM}' run x -- true"
    env = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_START"}  # it has no place
    done = subprocess.run(["sh", "-c", script], cwd=jobs.folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (66, 1, False)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's folder")
def test_another_users_workspace_or_state_is_refused(jobs: Jobs) -> None:
    """Root included: what it writes there its owner could not."""
    os.chown(jobs.folder, 12345, 12345)
    assert jobs.run("x", "true").code == 64
    os.chown(jobs.folder, 0, 0)
    jobs.state_dir.mkdir()
    os.chown(jobs.state_dir, 12345, 12345)
    ended = jobs.run("x", "true")
    assert (ended.code, "it belongs to user 12345" in ended.err) == (64, True)
    assert list(jobs.state_dir.iterdir()) == []


@pytest.mark.parametrize("state", ["file", "dangling link", *(["no permission"] if os.getuid() else [])])
def test_a_state_folder_that_cannot_be_one_is_told(jobs: Jobs, state: str) -> None:
    """One line, exit 74; the command did not begin."""
    if state == "file":
        jobs.state_dir.write_text("")
    elif state == "dangling link":
        jobs.state_dir.symlink_to("/proc/no/such")
    else:
        jobs.state_dir.mkdir(mode=0o500)
    ended = jobs.run("x", "touch", "ran")
    assert (ended.code, ended.err.count("\n"), (jobs.folder / "ran").exists()) == (74, 1, False), ended


def test_a_read_only_disk_is_told(jobs: Jobs) -> None:
    """One line, exit 74; the command did not begin, for nobody could say how it ended."""
    assert jobs.run("x", "true").code == 0
    done = in_namespace(
        jobs, f"mount --bind '{jobs.state_dir}' '{jobs.state_dir}' && mount -o remount,ro,bind '{jobs.state_dir}'",
        *map(str, jobs.call("x", "touch", "ran")),
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (74, 1), done
    assert "read-only" in done.stderr.lower()
    assert not (jobs.folder / "ran").exists()


def test_a_full_disk_before_the_run_is_told(jobs: Jobs) -> None:
    """Without a row nothing is done: one line, exit 74."""
    jobs.state_dir.mkdir(mode=0o700)
    fill = f"(cat /dev/zero > '{jobs.state_dir}/fill' 2>/dev/null; true)"
    prepare = f"mount -t tmpfs -o size=64k,mode=700 none '{jobs.state_dir}' && {fill}"
    done = in_namespace(jobs, prepare, *map(str, jobs.call("x", "touch", "ran")))
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (74, 1, False), done
    assert "space" in done.stderr
    assert not (jobs.folder / "ran").exists()


def test_a_disk_that_fills_up_in_mid_run_keeps_the_outcome(jobs: Jobs) -> None:
    """The command goes on; what it made is told, and what could not be recorded too; the next run works."""
    jobs.state_dir.mkdir(mode=0o700)
    fill = f"cat /dev/zero > '{jobs.state_dir}/fill' 2>/dev/null; echo made > made.txt; exit 0"
    script = f"""
    mount -t tmpfs -o size=1m,mode=700 none '{jobs.state_dir}' || exit 99
    '{PROGRAM}' run x --output made.txt -- sh -c "{fill}"; echo "code $?"
    rm '{jobs.state_dir}/fill'
    '{PROGRAM}' run x -- true; echo "code $?"
    '{PROGRAM}' runs list
    ls -A '{jobs.state_dir}/logs/x'
    """
    done = in_namespace(jobs, "true", "sh", "-c", script)
    assert "Traceback" not in done.stdout + done.stderr
    first, second = (line for line in done.stdout.splitlines() if line.startswith("code "))
    assert (first, second) in {("code 0", "code 0"), ("code 74", "code 0")}, done
    assert "produced: new: made.txt" in done.stdout
    assert "still at work" not in done.stdout
    assert ".tmp" not in done.stdout


def test_two_workspaces_may_share_a_state_folder(tmp_path: Path) -> None:
    """One lock and one count of runs for both: a job of one name runs once at a time."""
    state = f'state_dir = "{tmp_path}/state"\n'
    one, two = Jobs.make(tmp_path / "one", state), Jobs.make(tmp_path / "two", state)
    with one.running("x", "sh", "-c", "echo up > up; sleep 60"):
        one.wait_for("up")
        assert two.run("x", "true").code == 75
        assert two.run("y", "true").code == 0
    assert "predecessor_died" in str(two.run("x", "true", options=("--json",)).value()["flags"])


def test_a_state_folder_is_the_same_by_any_way_to_it(jobs: Jobs, tmp_path: Path) -> None:
    """By a link, from a folder below, by --workspace."""
    (tmp_path / "link").symlink_to(jobs.folder)
    (jobs.folder / "below").mkdir()
    with jobs.running("x", "sh", "-c", "echo up > up; sleep 60"):
        jobs.wait_for("up")
        for cwd, more in (
            (tmp_path / "link", ()),
            (jobs.folder / "below", ()),
            (Path("/"), ("--workspace", jobs.folder)),
        ):
            done = subprocess.run([PROGRAM, "run", "x", *more, "--", "true"], cwd=cwd, capture_output=True, check=False)
            assert done.returncode == 75


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null >/dev/full 2>/dev/full"])
@pytest.mark.parametrize("json", ["", "--json"])
def test_odd_streams_are_no_trouble(jobs: Jobs, closed: str, json: str) -> None:
    """What the run did counts, not whether it could be told."""
    script = f"'{PROGRAM}' run x {json} -- sh -c 'cat; echo hi; echo err >&2; echo new > made.txt' {closed}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=jobs.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done
    assert (jobs.told()[0], jobs.log(1, "out"), jobs.log(1, "err")) == ("completed", "hi\n", "err\n")


def test_a_reader_that_goes_away_stops_nothing(jobs: Jobs) -> None:
    """`lamplighter run … | head -1`."""
    script = f"'{PROGRAM}' run x -- sh -c 'yes | head -c 3000000; echo done > done.txt' | head -1"
    done = subprocess.run(["bash", "-c", script], cwd=jobs.folder, capture_output=True, text=True, check=False)
    until((jobs.folder / "done.txt").exists, "the command ends")
    until(lambda: jobs.rows()[0].report is not None, "the run ends")
    assert (jobs.told()[0], "Traceback" in done.stderr) == ("completed", False)


def test_the_command_never_waits_for_a_person(jobs: Jobs) -> None:
    """Its input is empty, whatever ours is: a job that asks must fail, not hang."""
    done = subprocess.run(
        [PROGRAM, "run", "x", "--", "sh", "-c", "read answer || echo nobody"],
        cwd=jobs.folder,
        input="yes\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, jobs.log(1, "out")) == (0, "nobody\n")


def test_outside_any_workspace_a_run_has_a_place_of_its_own(tmp_path: Path) -> None:
    """Made on first use under XDG_STATE_HOME, or the home folder; without either it is one line."""
    call = [PROGRAM, "run", "x", "--", "true"]
    for env in ({"XDG_STATE_HOME": str(tmp_path / "xdg")}, {"XDG_STATE_HOME": "", "HOME": str(tmp_path / "home")}):
        (tmp_path / "home").mkdir(exist_ok=True)
        done = subprocess.run(call, cwd=tmp_path, env={**os.environ, **env}, capture_output=True, check=False)
        assert done.returncode == 0
    assert (tmp_path / "xdg/lamplighter/own/state/logs/x/1.log").exists()
    assert (tmp_path / "home/.local/state/lamplighter/own/state/logs/x/1.log").exists()
    env = {**os.environ, "XDG_STATE_HOME": str(Path(sys.executable) / "file")}
    broken = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (broken.returncode, broken.stderr.count("\n")) == (74, 1)


def test_broken_settings_do_not_stop_a_command_of_ones_own(jobs: Jobs) -> None:
    """It needs none of them; a job of the settings is refused with the line that is wrong."""
    (jobs.folder / "lamplighter.toml").write_text("[jobs.y\n")
    assert jobs.run("x", "true").code == 0
    ended = jobs.run("y")
    assert (ended.code, ended.out.count("\n"), jobs.told()[:2]) == (65, 1, ("failed", 65))
