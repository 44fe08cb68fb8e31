"""Programs run under a deadline, alone in their session, and are ended whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child, files_of_at_most, is_running, until

from lamplighter.errors import DiskError, InputError
from lamplighter.host.process import Command, Ending, Finished, SystemRunner, _end_group
from lamplighter.host.signals import Interrupted, holding_interrupts

PATIENCE = timedelta(seconds=20)


def run(*argv: str, cwd: Path, deadline: timedelta = PATIENCE, stdin: bytes = b"", limit: int = 8_000_000) -> Finished:
    """Run a program with nothing but PATH in its environment."""
    env = {"PATH": os.environ["PATH"]}
    command = Command(argv=argv, cwd=cwd, env=env, deadline=deadline, stdin=stdin, output_limit=limit)
    return SystemRunner().run(command)


def read_pid(file: Path) -> int:
    """Return the pid that a program wrote into a file."""
    until(lambda: file.exists() and file.read_text().endswith("\n"), f"{file.name} is written")
    return int(file.read_text())


def test_output_and_code_come_back_apart(tmp_path: Path) -> None:
    """Standard output, standard error and the exit code are told as they were."""
    finished = run("sh", "-c", "echo out; echo err >&2; exit 7", cwd=tmp_path)
    assert (finished.ending, finished.code) == (Ending.EXITED, 7)
    assert (finished.stdout, finished.stderr) == (b"out\n", b"err\n")
    assert 0 < finished.seconds < PATIENCE.total_seconds()


def test_input_reaches_the_program_whole(tmp_path: Path) -> None:
    """A megabyte goes in and comes out with no deadlock between the two."""
    content = os.urandom(1_000_000)
    assert run("cat", cwd=tmp_path, stdin=content).stdout == content


def test_without_input_the_program_reads_an_end(tmp_path: Path) -> None:
    """A program that asks a question gets the end of input, never a wait for a person."""
    finished = run("sh", "-c", "read answer || exit 5", cwd=tmp_path)
    assert finished.code == 5


def test_the_program_sees_its_folder_and_environment_and_no_more(tmp_path: Path) -> None:
    """Nothing of our own environment leaks into a tool."""
    finished = run("sh", "-c", "pwd; env", cwd=tmp_path)
    lines = finished.stdout.decode().splitlines()
    assert lines[0] == str(tmp_path.resolve())
    assert {line.partition("=")[0] for line in lines[1:]} <= {"PATH", "PWD", "OLDPWD", "SHLVL", "_"}


def test_descriptors_of_ours_do_not_reach_the_program(tmp_path: Path) -> None:
    """Locks and databases stay with us: only the three standard streams are open."""
    code = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2))"
    with (tmp_path / "ours").open("wb") as stream:
        os.set_inheritable(stream.fileno(), True)
        finished = run(sys.executable, "-I", "-S", "-c", code, cwd=tmp_path)
    assert finished.stdout == b"[3]\n"  # 3 is the listing itself


def test_the_program_leads_a_session_of_its_own(tmp_path: Path) -> None:
    """A Ctrl-C at our terminal reaches us, and we decide."""
    code = "import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())"
    assert run(sys.executable, "-I", "-S", "-c", code, cwd=tmp_path).stdout == b"True\n"


def test_a_program_killed_by_a_signal_is_told_apart(tmp_path: Path) -> None:
    """A crash or the OOM killer is not an exit code."""
    finished = run("sh", "-c", "kill -9 $$", cwd=tmp_path)
    assert (finished.ending, finished.code) == (Ending.SIGNALLED, -9)


def test_a_program_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    """The line names the program."""
    with pytest.raises(InputError) as caught:
        run("no-such-tool-anywhere", cwd=tmp_path)
    assert str(caught.value) == "no-such-tool-anywhere: cannot be started: No such file or directory"


def test_a_missing_folder_is_not_blamed_on_the_program(tmp_path: Path) -> None:
    """The line names the folder in which it should run."""
    with pytest.raises(InputError, match=r"^true: cannot be started in .*gone, which is not a folder"):
        run("true", cwd=tmp_path / "gone")


def test_what_cannot_be_executed_is_an_input_error(tmp_path: Path) -> None:
    """A file without the right, one that is no program, a folder and a NUL are told in one line."""
    for name, mode in (("plain", 0o644), ("garbage", 0o755)):
        (tmp_path / name).write_bytes(b"\x00\x01garbage")
        (tmp_path / name).chmod(mode)
    for argv in (("./plain",), ("./garbage",), ("./",), ("echo", "a\0b")):
        with pytest.raises(InputError, match=r"cannot be started: [^\n]+$"):
            run(*argv, cwd=tmp_path)


def test_the_deadline_ends_a_whole_group_that_ignores_term(tmp_path: Path) -> None:
    """Child and grandchild that both ignore TERM are gone when run returns."""
    script = "trap '' TERM; (echo $$; sh -c 'echo $PPID') >/dev/null; sh -c 'echo $$ >pid; exec sleep 60' & wait; wait"
    finished = run("sh", "-c", script, cwd=tmp_path, deadline=timedelta(seconds=0.3))
    assert finished.ending is Ending.DEADLINE
    assert finished.code == -signal.SIGKILL
    assert finished.seconds < 10
    until(lambda: not is_running(read_pid(tmp_path / "pid")), "the grandchild is gone")


def test_a_program_may_clean_up_at_the_deadline(tmp_path: Path) -> None:
    """TERM comes first, and what it says after that is kept."""
    script = "trap 'echo tidied; exit 3' TERM; echo began; sleep 60 & wait"
    finished = run("sh", "-c", script, cwd=tmp_path, deadline=timedelta(seconds=0.3))
    assert (finished.ending, finished.code) == (Ending.DEADLINE, 3)
    assert finished.stdout == b"began\ntidied\n"


def test_a_stopped_program_is_ended_at_the_deadline(tmp_path: Path) -> None:
    """A program in SIGSTOP is woken to hear TERM."""
    script = "trap 'exit 3' TERM; kill -STOP $$; exit 9"
    finished = run("sh", "-c", script, cwd=tmp_path, deadline=timedelta(seconds=0.3))
    assert (finished.ending, finished.code) == (Ending.DEADLINE, 3)


def test_a_background_grandchild_that_keeps_the_output_open_does_not_hang_us(tmp_path: Path) -> None:
    """Output goes to a file, so nobody waits for the last holder of a pipe."""
    finished = run("sh", "-c", "sleep 60 & echo $! >pid; echo done", cwd=tmp_path)
    left = read_pid(tmp_path / "pid")
    try:
        assert (finished.ending, finished.code, finished.stdout) == (Ending.EXITED, 0, b"done\n")
        assert finished.seconds < 10
    finally:
        os.kill(left, signal.SIGKILL)


def test_ten_megabytes_of_output_are_cut_at_the_limit(tmp_path: Path) -> None:
    """A tool that floods us is read up to the limit, on both streams."""
    script = "head -c 10000000 /dev/zero; head -c 10000000 /dev/zero >&2"
    finished = run("sh", "-c", script, cwd=tmp_path, limit=1_000)
    assert (finished.code, len(finished.stdout), len(finished.stderr)) == (0, 1_000, 1_000)


def test_an_interrupt_while_waiting_ends_the_program(tmp_path: Path) -> None:
    """A stop signal for us stops what we started, before it is passed on."""
    file = tmp_path / "pid"

    def interrupt() -> None:
        read_pid(file)
        os.kill(os.getpid(), signal.SIGTERM)

    messenger = threading.Thread(target=interrupt)
    messenger.start()
    with pytest.raises(Interrupted), holding_interrupts() as interrupts, interrupts.raising():
        run("sh", "-c", "echo $$ >pid.new; mv pid.new pid; exec sleep 60", cwd=tmp_path)
    messenger.join()
    assert not is_running(read_pid(file))


def test_no_zombie_is_left_behind(tmp_path: Path) -> None:
    """Exited, signalled or ended at the deadline: every program is reaped."""
    for script, deadline in (("exit 0", PATIENCE), ("kill -9 $$", PATIENCE), ("sleep 60", timedelta(seconds=0.1))):
        run("sh", "-c", f"echo $$ >pid; {script}", cwd=tmp_path, deadline=deadline)
        pid = read_pid(tmp_path / "pid")
        assert not Path(f"/proc/{pid}").exists()


def test_no_room_for_the_input_is_told_in_one_line(tmp_path: Path) -> None:
    """A full folder for temporary files is the disk's fault."""
    with files_of_at_most(10), pytest.raises(DiskError) as caught:
        run("cat", cwd=tmp_path, stdin=b"x" * 1_000)
    assert str(caught.value).startswith("the folder for temporary files: ")
    assert caught.value.remedy


def test_too_many_open_files_is_the_disks_fault_and_may_pass(tmp_path: Path) -> None:
    """What cannot be started now is not a missing program."""
    code = """
    import os, resource, sys
    from datetime import timedelta
    from pathlib import Path
    from lamplighter.errors import LamplighterError
    from lamplighter.host.process import Command, SystemRunner
    command = Command(argv=("true",), cwd=Path(sys.argv[1]), env={"PATH": os.environ["PATH"]},
                      deadline=timedelta(seconds=9))
    SystemRunner().run(command)
    opened = len(os.listdir("/proc/self/fd")) - 1
    told = set()
    for free in range(1, 12):
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened + free, 1024))
        try:
            SystemRunner().run(command)
        except LamplighterError as error:
            told.add((type(error).__name__, error.permanent))
    print(sorted(told), flush=True)
    """
    with Child(code, tmp_path) as child:
        assert child.hear() == "[('DiskError', False), ('UpstreamError', False)]"
        assert child.wait() == 0


def test_a_worker_dies_with_its_parent() -> None:
    """SIGKILL of the parent reaches a child that asked the kernel for it."""
    code = """
    import subprocess, sys
    worker = '''
    import os, time
    from datetime import timedelta
    from lamplighter.host.process import die_with_parent
    die_with_parent(os.getppid(), limit=timedelta(minutes=1))
    print("bound", flush=True)
    time.sleep(60)
    '''
    import textwrap
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(worker)], stdout=subprocess.PIPE)
    child.stdout.readline()
    print(child.pid, flush=True)
    input()
    """
    with Child(code) as parent:
        worker = int(parent.hear())
        assert is_running(worker)
        parent.kill()
        until(lambda: not is_running(worker), "the worker died with its parent")


@pytest.mark.parametrize(
    ("parent", "seconds", "ending"),
    [("os.getpid()", 60, signal.SIGKILL), ("os.getppid()", 0.1, signal.SIGALRM)],
    ids=["parent gone before", "over its limit"],
)
def test_a_worker_ends_by_itself(parent: str, seconds: float, ending: int) -> None:
    """A parent that had died before it could be asked for, and a parent that never ends it, leave no orphan."""
    code = f"""
    import os
    from datetime import timedelta
    from lamplighter.host.process import die_with_parent
    die_with_parent({parent}, limit=timedelta(seconds={seconds}))
    while True:
        pass
    """
    with Child(code) as worker:
        assert worker.wait() == -ending


def test_a_program_that_takes_no_signal_does_not_hold_us_up() -> None:
    """One outside of its group stands in for one that hangs in the kernel: it is left behind."""
    with subprocess.Popen(["sleep", "60"]) as process:
        _end_group(process, (0.05, 0.05))
        assert process.returncode is None
        process.kill()


def test_waiting_costs_no_more_than_a_moment(tmp_path: Path) -> None:
    """A program that ends at once is noticed at once."""
    began = time.monotonic()
    for _ in range(5):
        run("true", cwd=tmp_path)
    assert time.monotonic() - began < 5
