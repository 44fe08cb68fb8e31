"""One run of a job at a time: what the lock promises inside one process and against odd files."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.child import Child, files_of_at_most, snapshot
from tests.simulators.clock import VirtualClock

from lamplighter.engine.history import HISTORY_FILE
from lamplighter.engine.holder import LOCK_FILE, read_is_held
from lamplighter.engine.lock import JobLock
from lamplighter.engine.owner import OWNER_FILE, read_owner
from lamplighter.engine.record import SPARE_FILE
from lamplighter.errors import Fenced, LockBusy, LockUnusable
from lamplighter.host.identity import read_namespaces, read_own_identity
from lamplighter.value import as_dict

ODD_CONTENTS = {
    "empty": b"",
    "garbage": b"\xff\xfe\x00garbage",
    "old bare pid": b"94799\n",
    "pid of init": b"1\n",
    "negative": b"-94799\n",
    "huge number": b"99999999999999999999\n",
    "long number": b"9" * 5_000,
    "long text": b"x" * 1_000_000,
    "leftovers of a longer pid": b"503\n7\n",
    "not a number": b"NaN",
    "list": b"[1, 2]",
    "deep": b"[" * 50_000,
    "null": b"null",
    "string": b'"held"',
    "infinite pid": b'{"pid": 1e999, "since": "", "command": "", "generation": 1, "state": "held"}',
    "negative generation": b'{"pid": 5, "since": "", "command": "", "generation": -7, "state": "held"}',
    "huge generation": b'{"pid": 5, "since": "", "command": "", "generation": 99999999999999999999, "state": "held"}',
    "wrong kinds": b'{"pid": [], "since": {}, "command": null, "generation": "x", "state": 7}',
    "lone surrogate": b'{"pid": 5, "since": "\\ud800", "command": "\\u001b[31m\\n", "generation": 2, "state": "held"}',
}
odd = pytest.mark.parametrize("content", ODD_CONTENTS.values(), ids=ODD_CONTENTS.keys())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the lock of a job belongs; not made yet."""
    return tmp_path / "locks" / "generate"


@contextlib.contextmanager
def held(folder: Path, *, floor: int = 0, command: str = "lamplighter generate") -> Iterator[JobLock]:
    """Hold a lock in this process."""
    lock = JobLock(folder, VirtualClock())
    lock.acquire(command, floor=floor)
    with lock:
        yield lock


def take_and_let_go(folder: Path, *, floor: int = 0) -> int:
    """Return the generation of one whole cycle."""
    with held(folder, floor=floor) as lock:
        return lock.generation


def read_record(folder: Path) -> dict[str, object]:
    """Return owner.json as it is on disk."""
    record: dict[str, object] = json.loads((folder / OWNER_FILE).read_text())
    return record


def test_a_lock_is_taken_checked_and_let_go(folder: Path) -> None:
    """Before and after, a new holder gets it at once."""
    for _ in range(3):
        with held(folder) as lock:
            lock.check()
            assert lock.predecessor is None
    assert [path.name for path in sorted(folder.iterdir())] == [HISTORY_FILE, LOCK_FILE, OWNER_FILE, SPARE_FILE]


def test_the_record_says_who_does_what_since_when(folder: Path) -> None:
    """Everything a person asks is in owner.json, and afterwards that it was let go."""
    with held(folder, command="lamplighter generate --force") as lock:
        own = read_own_identity()
        assert read_record(folder) == {
            "schema": 2,
            "state": "held",
            "generation": 1,
            "pid": own.pid,
            "start": own.start,
            "boot_id": own.boot_id,
            "namespaces": read_namespaces(),
            "uid": os.getuid(),
            "host": os.uname().nodename,
            "since": "2026-05-04T12:00:00+00:00",
            "since_steady": 0.0,
            "limit": None,
            "grace": 20.0,
            "nonce": lock.nonce,
            "trigger": "person",
            "command": "lamplighter generate --force",
            "phase": "",
            "phase_steady": 0.0,
            "children": [],
            "ended": "",
            "session": os.getsid(0),
        }
    assert read_record(folder)["state"] == "released"


def test_lock_and_record_are_the_users_own(folder: Path) -> None:
    """Nobody else reads who does what."""
    take_and_let_go(folder)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}
    assert modes == {"generate": 0o700, HISTORY_FILE: 0o600, LOCK_FILE: 0o600, OWNER_FILE: 0o600, SPARE_FILE: 0o600}


def test_nothing_is_touched_before_it_is_taken(folder: Path) -> None:
    """Naming a lock makes no folder; letting go of one never taken does nothing."""
    lock = JobLock(folder, VirtualClock())
    lock.release()
    with pytest.raises(Fenced):
        lock.check()
    assert not folder.parent.exists()


def test_a_second_lock_in_this_process_is_busy_and_says_so(folder: Path) -> None:
    """Not reentrant: the line names this very process, and the first lock loses nothing by it."""
    with held(folder) as lock:
        for other in (JobLock(folder, VirtualClock()), lock):
            with pytest.raises(LockBusy) as caught:
                other.acquire("lamplighter generate")
            assert str(caught.value) == (
                f"job generate: this very process is at work: pid {os.getpid()} since 2026-05-04T12:00:00+00:00 "
                "(lamplighter generate)"
            )
        lock.check()
        assert read_is_held(folder)
        assert ask_from_outside(folder) == "True"


def ask_from_outside(folder: Path) -> str:
    """Return what another process sees of the lock."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.holder import read_is_held
    print(read_is_held(Path(sys.argv[1])), flush=True)
    """
    with Child(code, folder) as child:
        return child.hear()


def test_the_generation_rises_with_every_holder(folder: Path) -> None:
    """Strictly, and above what the ledger knows."""
    assert [take_and_let_go(folder) for _ in range(3)] == [1, 2, 3]
    assert take_and_let_go(folder, floor=41) == 42
    assert take_and_let_go(folder, floor=7) == 43


@pytest.mark.parametrize("lost", [OWNER_FILE, LOCK_FILE])
def test_the_generation_rises_when_a_file_was_deleted(folder: Path, lost: str) -> None:
    """Number and record each remember it."""
    assert [take_and_let_go(folder) for _ in range(3)][-1] == 3
    (folder / lost).unlink()
    assert take_and_let_go(folder) == 4


def test_the_ledger_remembers_the_generation_when_all_is_lost(folder: Path) -> None:
    """With the folder gone the floor alone keeps it rising."""
    generation = take_and_let_go(folder, floor=100)
    shutil.rmtree(folder)
    assert take_and_let_go(folder, floor=generation) == generation + 1


@odd
def test_an_odd_lock_file_never_blocks(folder: Path, content: bytes) -> None:
    """Whatever is in it: the lock is taken, holds, and counts on from there."""
    folder.mkdir(parents=True)
    (folder / LOCK_FILE).write_bytes(content)
    first = take_and_let_go(folder)
    with held(folder) as lock:
        lock.check()
        assert lock.generation == first + 1 < 2**63
        assert len((folder / LOCK_FILE).read_bytes()) == 21


@odd
def test_an_odd_record_never_blocks(folder: Path, content: bytes) -> None:
    """The record explains and never decides."""
    folder.mkdir(parents=True)
    (folder / OWNER_FILE).write_bytes(content)
    assert not read_is_held(folder)
    first = take_and_let_go(folder)
    with held(folder) as lock:
        lock.check()
        assert lock.generation == first + 1 < 2**63


@odd
def test_an_odd_record_never_hides_a_holder(folder: Path, content: bytes) -> None:
    """With the record spoiled the kernel still keeps others out, and still names the pid."""
    with held(folder) as lock:
        (folder / OWNER_FILE).write_bytes(content)
        assert ask_from_outside(folder) == "True"
        assert try_from_outside(folder) == f"job generate: another run is at work: pid {os.getpid()}"
        lock.check()


def try_from_outside(folder: Path) -> str:
    """Return what another process that wants the lock is told, "got it" when it gets it."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.errors import LamplighterError
    from lamplighter.host.clock import SystemClock
    try:
        JobLock(Path(sys.argv[1]), SystemClock()).acquire("lamplighter generate")
        print("got it", flush=True)
    except LamplighterError as error:
        print(error, flush=True)
    """
    with Child(code, folder) as child:
        return child.hear()


@settings(deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_record_at_all_can_crash_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Any bytes are a record or none."""
    folder = tmp_path_factory.getbasetemp()
    (folder / OWNER_FILE).write_bytes(content)
    read_owner(folder)


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)


@settings(deadline=None)
@given(record=st.fixed_dictionaries(dict.fromkeys(("pid", "since", "command", "generation", "state"), values)))
def test_a_forged_record_is_shown_on_one_printable_line(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, object]
) -> None:
    """Whatever the kinds of its values: nothing that could move a terminal's cursor or break a log's line."""
    folder = tmp_path_factory.getbasetemp()
    (folder / OWNER_FILE).write_text(json.dumps(record))
    owner = read_owner(folder)
    if owner is not None:
        assert owner.describe().isprintable()
        assert 0 <= owner.generation < 2**62
        assert all(len(str(value)) < 5_000 for value in as_dict(owner).values())


@pytest.mark.parametrize("kind", ["fifo", "link", "hard link", "garbage", "of another record"])
def test_an_odd_thing_in_the_place_of_the_spare_file_is_not_written_through(folder: Path, kind: str) -> None:
    """Another file comes in its place, and what it pointed to stays as it is."""
    outside = folder.parent / "outside"
    folder.mkdir(parents=True)
    outside.write_bytes(b"mine")
    place = folder / SPARE_FILE
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(outside)
    elif kind == "hard link":
        place.hardlink_to(outside)
    else:
        place.write_bytes(b"x" * 100_000 if kind == "garbage" else b'{"schema": 2}')
    assert [take_and_let_go(folder) for _ in range(3)] == [1, 2, 3]
    assert outside.read_bytes() == b"mine"
    assert read_record(folder)["state"] == "released"


def test_records_go_on_when_the_disk_is_full(folder: Path) -> None:
    """Once there are record and spare, they are only rewritten: a full disk keeps no lock from being taken."""
    first = take_and_let_go(folder)
    held_record = (folder / OWNER_FILE).stat().st_size
    with files_of_at_most(held_record + 100):
        with held(folder) as lock:
            assert lock.generation == first + 1
            assert read_record(folder)["state"] == "held"
        assert read_record(folder)["state"] == "released"


@pytest.mark.parametrize("name", [LOCK_FILE, OWNER_FILE])
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(folder: Path, name: str) -> None:
    """It is refused or passed over at once."""
    folder.mkdir(parents=True)
    os.mkfifo(folder / name)
    assert not read_is_held(folder)
    if name == LOCK_FILE:
        with pytest.raises(LockUnusable):
            take_and_let_go(folder)
    else:
        assert take_and_let_go(folder) == 1


def test_a_predecessor_that_let_go_is_no_news(folder: Path) -> None:
    """After a clean end there is none to report."""
    take_and_let_go(folder)
    with held(folder) as lock:
        assert lock.predecessor is None


def test_a_release_survives_the_folder_being_gone(folder: Path) -> None:
    """It never fails, called once or twice, and makes no folder again."""
    with held(folder) as lock:
        shutil.rmtree(folder)
    lock.release()
    lock.release()
    assert not folder.exists()


def test_a_release_on_a_full_disk_is_a_clean_end(folder: Path) -> None:
    """Letting go never fails, and the next run is not told of a death that was none."""
    with files_of_at_most(2_000):
        lock = JobLock(folder, VirtualClock())
        lock.acquire("lamplighter generate")
    with files_of_at_most(0):
        lock.release()
    assert sorted(path.name for path in folder.iterdir()) == [HISTORY_FILE, LOCK_FILE, SPARE_FILE]
    with held(folder) as after:
        assert (after.predecessor, after.generation) == (None, 2)


def test_a_disk_that_cannot_be_asked_about_makes_the_lock_unusable(folder: Path) -> None:
    """An error of statfs(2), as on a Mac, is a state folder to mend and no bug."""

    def fail(folder: Path) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(folder))

    with pytest.raises(LockUnusable) as caught:
        JobLock(folder, VirtualClock(), find_trouble=fail).acquire("lamplighter generate")
    assert str(caught.value) == f"{folder}: Input/output error; put the state on a writable local disk (state_dir)"
    assert not folder.exists()


def test_a_full_disk_makes_the_lock_unusable_and_free(folder: Path) -> None:
    """A lock whose record cannot be written is an error of its own and is not kept."""
    with files_of_at_most(0), pytest.raises(LockUnusable) as caught:
        take_and_let_go(folder)
    assert caught.value.remedy
    assert take_and_let_go(folder) == 1


def test_the_second_of_two_releases_does_not_hurt_the_next_holder(folder: Path) -> None:
    """A late release touches neither lock nor record of the run after."""
    with held(folder) as first:
        pass
    with held(folder) as second:
        first.release()
        second.check()
        assert read_record(folder)["state"] == "held"
        assert ask_from_outside(folder) == "True"


def replace_folder(folder: Path) -> None:
    """Move the folder away and make another of that name."""
    folder.rename(folder.with_name("away"))
    folder.mkdir()


def replace_both(folder: Path) -> None:
    """Bring the folder back from a copy."""
    shutil.copytree(folder, folder.with_name("copy"))
    shutil.rmtree(folder)
    folder.with_name("copy").rename(folder)


def replace_file(folder: Path) -> None:
    """Bring the lock file back from a copy."""
    content = (folder / LOCK_FILE).read_bytes()
    (folder / LOCK_FILE).unlink()
    (folder / LOCK_FILE).write_bytes(content)


def remove_file(folder: Path) -> None:
    """Delete the lock file."""
    (folder / LOCK_FILE).unlink()


def move_on(folder: Path) -> None:
    """Write the generation of a later run."""
    (folder / LOCK_FILE).write_text(f"{7:020}\n")


def empty_file(folder: Path) -> None:
    """Truncate the lock file."""
    os.truncate(folder / LOCK_FILE, 0)


def hide_parent(folder: Path) -> None:
    """Put a file in the place of the folder's parent."""
    folder.parent.rename(folder.parent.with_name("away"))
    folder.parent.write_bytes(b"")


@pytest.mark.parametrize(
    "harm", [replace_folder, replace_both, replace_file, remove_file, move_on, empty_file, hide_parent, shutil.rmtree]
)
def test_a_lock_that_was_replaced_fences_its_run(folder: Path, harm: object) -> None:
    """Before a commit the run finds out, every time it asks, and letting go touches nothing that is not its own."""
    assert callable(harm)
    with held(folder) as lock:
        harm(folder)
        before = snapshot(folder) if folder.is_dir() else {}
        for _ in range(2):
            with pytest.raises(Fenced) as caught:
                lock.check()
            assert str(caught.value).startswith(f"{folder}: the lock ")
    assert (snapshot(folder) if folder.is_dir() else {}) == before


@pytest.mark.parametrize("harm", [move_on, empty_file, replace_file])
def test_the_record_of_a_fenced_run_does_not_block_the_next_of_its_process(folder: Path, harm: object) -> None:
    """The record says that this very process holds the lock; the kernel says that it is free, and decides."""
    assert callable(harm)
    with held(folder):
        harm(folder)
    assert read_record(folder)["state"] == "held"
    with held(folder) as lock:
        lock.check()
        assert lock.predecessor is not None


def test_no_descriptor_is_left_open_by_a_refusal(folder: Path) -> None:
    """A hundred busy answers cost nothing."""
    before = len(os.listdir("/proc/self/fd"))
    with held(folder):
        for _ in range(100):
            with pytest.raises(LockBusy):
                take_and_let_go(folder)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_deleted_record_does_not_fence(folder: Path) -> None:
    """The record only explains."""
    with held(folder) as lock:
        (folder / OWNER_FILE).unlink()
        lock.check()
    assert read_record(folder)["state"] == "released"


def test_a_lock_reached_by_a_link_is_the_same_lock(folder: Path) -> None:
    """Two paths, one folder, one holder."""
    folder.mkdir(parents=True)
    link = folder.parent.parent / "link"
    link.symlink_to(folder.parent)
    with held(link / "generate") as lock:
        lock.check()
        assert read_is_held(folder)
        assert try_from_outside(folder).startswith("job generate: another run is at work: pid ")
    with held(folder):
        assert try_from_outside(link / "generate").startswith("job generate: another run is at work: pid ")


def test_a_link_in_the_place_of_the_lock_file_is_unusable(folder: Path) -> None:
    """A lock file elsewhere may be another job's."""
    folder.mkdir(parents=True)
    (folder / LOCK_FILE).symlink_to(folder.parent / "elsewhere")
    with pytest.raises(LockUnusable):
        take_and_let_go(folder)
    assert not read_is_held(folder)
    assert not (folder.parent / "elsewhere").exists()


@pytest.mark.parametrize("name", ["generate", LOCK_FILE, OWNER_FILE])
def test_the_wrong_kind_of_thing_in_its_place_is_unusable(folder: Path, name: str) -> None:
    """A file for the folder or a folder for a file is told in one line with what to do."""
    if name == "generate":
        folder.parent.mkdir()
        folder.write_bytes(b"94799")
    else:
        (folder / name).mkdir(parents=True)
    with pytest.raises(LockUnusable) as caught:
        take_and_let_go(folder)
    where = folder if name == "generate" else folder / name
    assert str(caught.value).startswith(f"{where}: ")
    assert caught.value.remedy


def test_a_folder_that_cannot_be_written_is_unusable_not_busy(folder: Path) -> None:
    """Whoever may not write there is told so; root's powers are dropped for it."""
    code = """
    import ctypes, sys
    from pathlib import Path
    from lamplighter.engine.lock import JobLock
    from lamplighter.errors import LamplighterError
    from lamplighter.host.clock import SystemClock
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)())
    for place in (folder, folder / "below"):
        try:
            JobLock(place, SystemClock()).acquire("c")
            print("got it", flush=True)
        except LamplighterError as error:
            print(type(error).__name__, str(error).replace(str(place), "PLACE"), flush=True)
    """
    assert hasattr(ctypes.CDLL(None), "capset")
    expected = "LockUnusable PLACE: Permission denied; put the state on a writable local disk (state_dir)"
    with Child(code, folder) as child:
        assert [child.hear(), child.hear()] == [expected, expected]


@pytest.mark.parametrize("place", ["", LOCK_FILE])
def test_a_flock_of_another_program_is_busy(folder: Path, place: str) -> None:
    """flock(1) on the folder or on the lock file excludes us, and the old record is not blamed for it."""
    take_and_let_go(folder)
    record = read_record(folder) | {"state": "held", "pid": 94799}
    (folder / OWNER_FILE).write_text(json.dumps(record))
    descriptor = os.open(folder / place, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(LockBusy) as caught:
            take_and_let_go(folder)
    finally:
        os.close(descriptor)
    assert str(caught.value) == (f"job generate: another run is at work: pid {os.getpid()}")
    assert take_and_let_go(folder) == 2


def test_a_record_lock_of_another_program_is_busy_and_named(folder: Path) -> None:
    """Whoever uses lockf() excludes us too, and the kernel says who it is."""
    take_and_let_go(folder)
    code = """
    import fcntl, sys
    stream = open(sys.argv[1], "r+")
    fcntl.lockf(stream, fcntl.LOCK_EX)
    print("locked", flush=True)
    input()
    """
    with Child(code, folder / LOCK_FILE) as child:
        child.hear()
        assert read_is_held(folder)
        with pytest.raises(LockBusy, match=f"another run is at work: pid {child.pid}$"):
            take_and_let_go(folder)


def test_asking_makes_nothing_and_sees_nothing_where_nothing_is(folder: Path) -> None:
    """A job that never ran is not held, and stays without a folder."""
    assert not read_is_held(folder)
    assert read_owner(folder) is None
    assert not folder.parent.exists()


def test_asking_after_a_release_says_free_and_changes_nothing(folder: Path) -> None:
    """The kernel, not the record, is asked."""
    take_and_let_go(folder)
    record = read_record(folder) | {"state": "held", "pid": 94799}
    (folder / OWNER_FILE).write_text(json.dumps(record))
    before = snapshot(folder)
    assert not read_is_held(folder)
    assert snapshot(folder) == before
