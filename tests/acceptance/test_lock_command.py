"""`lamplighter lock status` and `lock end`: what a person reads, what a program gets, and what happens to whom."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.program import run, snapshot
from tests.simulators.child import Child, is_running, until
from tests.simulators.holder import Holder, Manner, acquire, forge

from lamplighter.engine.holder import LOCK_FILE
from lamplighter.engine.owner import OWNER_FILE


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace of its own, nothing made yet."""
    folder = tmp_path / "my brand"
    assert run("init", folder, "--shop", "sample").code == 0
    return folder


@pytest.fixture
def lock_dir(workspace: Path) -> Path:
    """Return where the lock of `generate` belongs."""
    return workspace / "state" / "locks" / "generate"


@pytest.fixture
def holder(lock_dir: Path) -> Iterator[Holder]:
    """Return a run that holds the lock of `generate`, and obeys when it is asked to end."""
    with Holder(lock_dir, Manner(limit=3600, grace=20, term="obey")) as process:
        process.order("phase copy.md, brand Wrenfold")
        yield process


def test_a_new_workspace_has_free_locks_and_stays_as_it_is(workspace: Path) -> None:
    """Each built-in job is told, and nothing is written by looking."""
    before = snapshot(workspace)
    shown = run("lock", "status", "--workspace", workspace)
    assert (shown.code, shown.out) == (0, "generate: free\npost: free\nwatch: free\n")
    assert run("lock", "end", "generate", "--workspace", workspace).code == 0
    assert snapshot(workspace) == before


def test_status_says_who_holds_it_for_how_long_and_doing_what(workspace: Path, holder: Holder) -> None:
    """In words: pid, since, command, phase, confirmed, age, and what is left."""
    before = snapshot(workspace)
    shown = run("lock", "status", "generate", "--workspace", workspace)
    assert shown.code == 0
    assert shown.out.startswith(f"generate: held by pid {holder.pid} since ")
    assert (
        "(lamplighter generate --scheduled), at: copy.md, brand Wrenfold\n  the system confirms that pid" in shown.out
    )
    assert ", and the next run may end it in 1:00:" in shown.out
    assert "\n  at copy.md, brand Wrenfold for 0:00:" in shown.out
    assert f"acquired 1 pid {holder.pid}: lamplighter generate --scheduled" in shown.out
    assert snapshot(workspace) == before


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: another user's processes")
def test_status_says_whose_a_holder_of_another_user_is() -> None:
    """Root is told who has it and that it is not his to end."""
    with tempfile.TemporaryDirectory(prefix="lamplighter-public-") as name:
        folder = Path(name) / "workspace"
        assert run("init", folder, "--shop", "sample").code == 0
        for path in (Path(name), folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)
        Path(name).chmod(0o755)
        with Holder(folder / "state" / "locks" / "generate", Manner(uid=65534)) as process:
            shown = run("lock", "status", "generate", "--workspace", folder)
            assert shown.code == 0
            assert shown.out.startswith(f"generate: held by pid {process.pid} since ")
            assert "\n  it is user 65534's and cannot be signalled from here\n" in shown.out
            assert run("lock", "end", "generate", "--yes", "--workspace", folder).code == 64
            assert process.order("check") == "held"


def test_status_is_one_json_value_for_a_program(workspace: Path, holder: Holder) -> None:
    """With numbers in seconds, and null where something cannot be known."""
    told = run("lock", "status", "generate", "--json", "--workspace", workspace).value()
    assert (told["job"], told["held"], told["pid"], told["confirmed"]) == ("generate", True, holder.pid, True)
    assert told["keepers"] == [holder.pid]
    age, left = told["age_seconds"], told["left_seconds"]
    assert isinstance(age, float)
    assert isinstance(left, float)
    assert 0 <= age < 60
    assert 3500 < left <= 3620
    record = told["record"]
    assert isinstance(record, dict)
    assert (record["state"], record["generation"], record["phase"]) == ("held", 1, "copy.md, brand Wrenfold")
    assert told["user"] == os.geteuid()
    assert isinstance(told["phase_seconds"], float)
    assert 0 <= told["phase_seconds"] <= age
    assert (record["limit_seconds"], record["grace_seconds"]) == (3600.0, 20.0)


def test_status_tells_how_the_last_run_let_go(workspace: Path, holder: Holder) -> None:
    """A free lock says who had it last, and how that ended."""
    holder.order("release")
    shown = run("lock", "status", "generate", "--workspace", workspace)
    assert f"generate: free; last held by pid {holder.pid} since" in shown.out
    assert shown.out.splitlines()[0].endswith(", ended: produced")


def test_status_of_a_real_run_says_what_it_was_at_and_how_it_ended(workspace: Path) -> None:
    """The product says so itself, not only a holder of the tests."""
    assert run("generate", "--workspace", workspace).code == 0
    record = json.loads((workspace / "state" / "locks" / "generate" / "owner.json").read_text())
    assert (record["state"], record["ended"]) == ("released", "produced")
    assert record["phase"]


def test_status_does_not_believe_the_record(workspace: Path, lock_dir: Path, holder: Holder) -> None:
    """A pid that the kernel does not confirm is not told as the holder."""
    forge(lock_dir, pid=os.getpid())
    shown = run("lock", "status", "--workspace", workspace)
    assert f"generate: held by pid {holder.pid}, which the record does not tell of" in shown.out


@pytest.mark.parametrize("content", [b"", b"94799\n", b"\xff\xfe", b"[" * 50_000])
def test_odd_files_never_break_status(workspace: Path, lock_dir: Path, holder: Holder, content: bytes) -> None:
    """Whatever is in the record and the history: one line for each job."""
    (lock_dir / OWNER_FILE).write_bytes(content)
    (lock_dir / "history.jsonl").write_bytes(content)
    shown = run("lock", "status", "--workspace", workspace)
    assert (shown.code, shown.out.splitlines()[0]) == (
        0,
        f"generate: held by pid {holder.pid}, which the record does not tell of",
    )


def test_end_asks_first(workspace: Path, holder: Holder) -> None:
    """With nobody at a terminal the answer is no."""
    told = run("lock", "end", "generate", "--workspace", workspace)
    assert (told.code, told.err) == (
        64,
        "lamplighter: lock end: it was not confirmed; say yes at a terminal, or add --yes\n",
    )
    assert holder.order("check") == "held"


def test_end_ends_the_run_and_frees_the_lock(workspace: Path, lock_dir: Path, holder: Holder) -> None:
    """Due or not; what it started ends too, the next run is told of no death, and a second call finds nothing to do."""
    told = run("lock", "end", "generate", "--yes", "--json", "--workspace", workspace)
    assert (told.code, told.value()) == (0, {"job": "generate", "ended": True})
    assert holder.wait() == 0
    with acquire(lock_dir) as lock:
        assert lock.predecessor is None
        assert lock.generation == 3
    told = run("lock", "end", "generate", "--json", "--workspace", workspace)
    assert (told.code, told.value()) == (0, {"job": "generate", "ended": False})


def test_end_ends_what_a_stubborn_run_started(workspace: Path, lock_dir: Path) -> None:
    """One that ignores TERM is killed after its grace, and its worker with it."""
    with Holder(lock_dir, Manner(limit=3600, grace=0.2, term="ignore")) as holder:
        worker = int(holder.order("start-session"))
        assert run("lock", "end", "generate", "--yes", "--workspace", workspace).code == 0
        assert holder.wait() == -signal.SIGKILL
        until(lambda: not is_running(worker), "the worker has ended")


@pytest.mark.parametrize("changes", [{"start": "1"}, {"boot_id": "another"}, {"pid": 1}, {"nonce": ""}])
def test_end_touches_nobody_it_cannot_verify(
    workspace: Path, lock_dir: Path, holder: Holder, changes: dict[str, object]
) -> None:
    """Exit 75, one line with what to do, and the holder goes on."""
    forge(lock_dir, **changes)
    told = run("lock", "end", "generate", "--yes", "--workspace", workspace)
    assert (told.code, told.err.count("\n")) == (75, 1)
    assert told.err.startswith("lamplighter: job generate: ")
    assert is_running(holder.pid)


def test_end_touches_no_shell_that_took_the_lock_by_itself(workspace: Path, lock_dir: Path) -> None:
    """flock(1) writes no record, so nobody can say what it is."""
    acquire(lock_dir).release()
    with Holder(lock_dir, take=False) as bystander:
        code = "import fcntl, sys; file = open(sys.argv[1]); fcntl.flock(file, 2); print('in', flush=True); input()"
        with Child(code, lock_dir / LOCK_FILE) as shell:
            shell.hear()
            told = run("lock", "end", "generate", "--yes", "--workspace", workspace)
            assert told.code == 75
            assert f"held by pid {shell.pid}, which the record does not tell of" in told.err
            assert is_running(shell.pid)
        assert bystander.order("acquire") == "2"


@pytest.mark.parametrize("job", ["nightly", "../generate", ".", "..", "generate/..", "generate/"])
def test_a_job_that_is_not_known_is_said_so(workspace: Path, job: str) -> None:
    """No path leaves the folder of locks, and a slip of the pen is no free lock."""
    told = run("lock", "end", job, "--yes", "--workspace", workspace)
    assert told.code == 66
    assert "known are generate, post, watch" in told.err


def test_the_lock_is_the_same_wherever_the_command_starts(workspace: Path, holder: Holder, tmp_path: Path) -> None:
    """From the folder, from one below, by --workspace, and by a link to it, a run finds the same holder."""
    link = tmp_path / "link"
    link.symlink_to(workspace)
    (workspace / "inside").mkdir()
    ways = (
        run("generate", cwd=workspace),
        run("generate", cwd=workspace / "inside"),
        run("generate", "--workspace", workspace, cwd=tmp_path),
        run("generate", "--workspace", "link", cwd=tmp_path),
        run("generate", cwd=link / "inside"),
    )
    for told in ways:
        assert told.code == 75
        assert f"lock_held: job generate: another run is at work: pid {holder.pid} since" in told.out
