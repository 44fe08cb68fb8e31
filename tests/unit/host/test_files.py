"""Files that are whole or not there."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.child import Child, files_of_at_most, snapshot

from lamplighter.errors import DiskError, InputError
from lamplighter.host.files import (
    TEMPORARY_PREFIX,
    append_line,
    current_user,
    is_plain,
    list_folder,
    make_folder,
    move_folder,
    private_folder,
    read_capped,
    read_owner,
    sync_file,
    sync_folder,
    write_atomic,
)


def refuse_and_tell(error: DiskError, file: Path) -> None:
    """Assert that an error is one line that names the file and says what to do."""
    assert str(error).startswith(f"{file}: ")
    assert "\n" not in str(error)
    assert error.remedy


def test_a_file_is_written_whole_with_the_mode_asked_for(tmp_path: Path) -> None:
    """Content and mode are as given and nothing else is in the folder."""
    file = tmp_path / "token"
    write_atomic(file, b"secret", mode=0o600)
    assert file.read_bytes() == b"secret"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


def test_a_full_disk_leaves_the_old_content_and_no_temporary(tmp_path: Path) -> None:
    """A write that fails half-way is as if it had never begun."""
    file = tmp_path / "feature.json"
    write_atomic(file, b"old")
    with files_of_at_most(1000), pytest.raises(DiskError) as caught:
        write_atomic(file, b"n" * 100_000)
    refuse_and_tell(caught.value, file)
    assert {name: content for name, (content, _) in snapshot(tmp_path).items()} == {".": b"", "feature.json": b"old"}


def test_a_new_file_on_a_full_disk_is_not_there(tmp_path: Path) -> None:
    """Neither half a file nor an empty one."""
    with files_of_at_most(0), pytest.raises(DiskError):
        write_atomic(tmp_path / "feature.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_writer_killed_at_any_moment_leaves_old_or_new_content(tmp_path: Path) -> None:
    """A reader never sees a half of one or a mix of both."""
    file = tmp_path / "state.json"
    contents = [letter * 200_000 for letter in (b"a", b"b")]
    write_atomic(file, contents[0])
    code = """
    import sys
    from pathlib import Path
    from lamplighter.host.files import write_atomic
    print("ready", flush=True)
    while True:
        for letter in (b"a", b"b"):
            write_atomic(Path(sys.argv[1]), letter * 200_000)
    """
    for _ in range(3):
        with Child(code, file) as child:
            child.hear()
            for _ in range(20):
                assert file.read_bytes() in contents
            child.kill()
        assert file.read_bytes() in contents


def test_what_a_killed_writer_with_this_pid_left_is_replaced(tmp_path: Path) -> None:
    """A temporary of the same name is no obstacle, whatever its mode."""
    left = tmp_path / f"{TEMPORARY_PREFIX}token.{os.getpid()}"
    left.write_bytes(b"half")
    left.chmod(0o666)
    write_atomic(tmp_path / "token", b"secret", mode=0o600)
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo"])
def test_what_lies_at_the_temporary_name_is_never_written_through(tmp_path: Path, kind: str) -> None:
    """A link laid there is not followed and a FIFO is not waited for."""
    folder, victim = tmp_path / "folder", tmp_path / "victim"
    folder.mkdir()
    trap = folder / f"{TEMPORARY_PREFIX}a.{os.getpid()}"
    if kind == "fifo":
        os.mkfifo(trap)
    else:
        trap.symlink_to(victim)
    if kind == "link":
        victim.write_bytes(b"mine")
    write_atomic(folder / "a", b"new")
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert victim.exists() == (kind == "link")
    assert kind != "link" or victim.read_bytes() == b"mine"


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    """A folder is never replaced and no temporary stays."""
    (tmp_path / "a").mkdir()
    with pytest.raises(DiskError) as caught:
        write_atomic(tmp_path / "a", b"new")
    refuse_and_tell(caught.value, tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_missing_folder_is_told_with_a_remedy(tmp_path: Path) -> None:
    """The line names the file and says what to see to."""
    file = tmp_path / "gone" / "a"
    with pytest.raises(DiskError) as caught:
        write_atomic(file, b"")
    assert str(caught.value) == f"{file}: No such file or directory; see that its folder is there"


def test_lines_are_appended_in_order(tmp_path: Path) -> None:
    """One call, one line, with the mode asked for."""
    file = tmp_path / "log"
    append_line(file, "one", mode=0o600)
    append_line(file, "zwei — 三")
    assert file.read_text("utf-8") == "one\nzwei — 三\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_torn_last_line_is_closed_first(tmp_path: Path) -> None:
    """What a killed writer left stays one bad line and spoils no other."""
    file = tmp_path / "log"
    file.write_text("whole\nto")
    append_line(file, "next")
    assert file.read_text() == "whole\nto\nnext\n"


def test_a_line_break_in_a_line_is_a_bug(tmp_path: Path) -> None:
    """One entry is one line; nothing is written otherwise."""
    with pytest.raises(ValueError, match="line break"):
        append_line(tmp_path / "log", "a\nb")
    assert not (tmp_path / "log").exists()


def test_a_name_of_other_bytes_can_be_logged(tmp_path: Path) -> None:
    """What UTF-8 cannot say is escaped, never a reason to fail."""
    append_line(tmp_path / "log", os.fsdecode(b"photo-\xff.jpg"))
    assert (tmp_path / "log").read_text("utf-8") == "photo-\\udcff.jpg\n"


def test_a_full_disk_is_told_when_a_line_is_appended() -> None:
    """The device that is always full says what to do."""
    with pytest.raises(DiskError) as caught:
        append_line(Path("/dev/full"), "line")
    assert str(caught.value) == "/dev/full: No space left on device; free some space and run it again"


def test_a_line_that_fits_in_part_only_is_an_error(tmp_path: Path) -> None:
    """A disk that fills up in the middle of a line is noticed, and the next line begins anew."""
    file = tmp_path / "log"
    append_line(file, "first")
    with files_of_at_most(10), pytest.raises(DiskError) as caught:
        append_line(file, "a longer second line")
    refuse_and_tell(caught.value, file)
    append_line(file, "third")
    assert file.read_text() == "first\na lo\nthird\n"


def test_appending_never_follows_a_link(tmp_path: Path) -> None:
    """A link at the log's name is refused and its target left alone."""
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    (tmp_path / "log").symlink_to(victim)
    with pytest.raises(DiskError) as caught:
        append_line(tmp_path / "log", "line")
    refuse_and_tell(caught.value, tmp_path / "log")
    assert victim.read_text() == "mine\n"


@settings(deadline=None)
@given(content=st.binary(max_size=40), limit=st.integers(0, 40))
def test_a_read_returns_all_or_refuses(tmp_path_factory: pytest.TempPathFactory, content: bytes, limit: int) -> None:
    """Up to the limit the file comes whole, beyond it not at all."""
    file = tmp_path_factory.getbasetemp() / "read"
    file.write_bytes(content)
    if len(content) <= limit:
        assert read_capped(file, limit=limit) == content
    else:
        with pytest.raises(InputError, match=f"larger than {limit} bytes"):
            read_capped(file, limit=limit)


def test_a_limit_is_told_in_readable_digits(tmp_path: Path) -> None:
    """The line says what kind of file and how large it may be."""
    (tmp_path / "a").write_bytes(b"x" * 1_001)
    with pytest.raises(InputError) as caught:
        read_capped(tmp_path / "a", limit=1_000, what="photo")
    assert str(caught.value) == f"{tmp_path / 'a'}: this photo is larger than 1,000 bytes"


def test_reading_what_is_not_a_file_is_refused_at_once(tmp_path: Path) -> None:
    """A folder, a FIFO without a writer, a socket and a device are named, never waited for."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "log").write_bytes(b"")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # a socket's path has 108 bytes at most
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        causes = {}
        for name in ("fifo", "folder", "socket", "missing", "log/below", "/dev/zero"):
            with pytest.raises(InputError) as caught:
                read_capped(tmp_path / name, limit=10, what="catalog")
            causes[name] = caught.value.cause
    assert causes == {
        "fifo": "this catalog is not a regular file",
        "folder": "this is a folder, not a catalog",
        "socket": "this catalog is not a regular file",
        "missing": "there is no such catalog",
        "log/below": "there is no such catalog",
        "/dev/zero": "this catalog is not a regular file",
    }


def test_a_name_that_no_file_can_have_is_refused() -> None:
    """A NUL in a name from a shop's answer is a wrong name, not a crash."""
    with pytest.raises(InputError, match="no photo can have such a name") as caught:
        read_capped(Path("a\0b.jpg"), limit=10, what="photo")
    assert "\0" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_told_with_a_remedy(tmp_path: Path) -> None:
    """A link in a circle is the disk's fault, and the line says so."""
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(DiskError) as caught:
        read_capped(tmp_path / "a", limit=10)
    refuse_and_tell(caught.value, tmp_path / "a")


def test_folders_are_made_with_their_parents_and_may_be_there(tmp_path: Path) -> None:
    """Making a folder twice is fine; only the last gets the mode."""
    for _ in range(2):
        make_folder(tmp_path / "a" / "b", mode=0o700)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    """The line says that something is in its place."""
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(DiskError) as caught:
        make_folder(tmp_path / "a")
    assert str(caught.value) == f"{tmp_path / 'a'}: File exists; move away what is in its place"


def test_a_folder_moves_whole_to_another_parent(tmp_path: Path) -> None:
    """Content goes along and the old name is free."""
    source, target = tmp_path / "drafts" / "a", tmp_path / "ready" / "a"
    make_folder(source)
    make_folder(target.parent)
    (source / "slide-1.jpg").write_bytes(b"jpeg")
    move_folder(source, target)
    assert (target / "slide-1.jpg").read_bytes() == b"jpeg"
    assert not source.exists()


@pytest.mark.parametrize("kind", ["full folder", "empty folder", "file", "dangling link"])
def test_a_move_never_replaces_what_is_there(tmp_path: Path, kind: str) -> None:
    """Whatever has the target's name stays, and so does the source."""
    source, target = tmp_path / "a", tmp_path / "b"
    source.mkdir()
    (source / "new").write_bytes(b"")
    if kind == "file":
        target.write_bytes(b"old")
    elif kind == "dangling link":
        target.symlink_to("nowhere")
    else:
        target.mkdir()
    if kind == "full folder":
        (target / "old").write_bytes(b"")
    before = snapshot(tmp_path)
    with pytest.raises(DiskError) as caught:
        move_folder(source, target)
    assert str(caught.value) == f"{target}: exists already; move away what is in its place"
    assert snapshot(tmp_path) == before


def test_a_folder_that_appears_just_before_the_rename_is_not_replaced(tmp_path: Path) -> None:
    """rename(2) replaces an empty one: another program makes it at the last moment, after every look."""
    code = """
    import os, sys
    from pathlib import Path
    from lamplighter.errors import DiskError
    from lamplighter.host.files import move_folder
    source, target = Path(sys.argv[1]), Path(sys.argv[2])

    def appear(event, arguments):
        if event in {"os.rename", "ctypes.dlsym"} and not target.exists():
            target.mkdir()

    sys.addaudithook(appear)
    try:
        move_folder(source, target)
    except DiskError as error:
        print(error, flush=True)
    print(source.exists(), target.exists(), flush=True)
    """
    (tmp_path / "a").mkdir()
    with Child(code, tmp_path / "a", tmp_path / "b") as child:
        assert child.hear() == f"{tmp_path / 'b'}: exists already; move away what is in its place"
        assert child.hear() == "True True"


def test_only_folders_are_moved(tmp_path: Path) -> None:
    """A missing source and a file are told by the source's name, and nothing changes."""
    (tmp_path / "file").write_bytes(b"")
    for name in ("missing", "file"):
        with pytest.raises(DiskError) as caught:
            move_folder(tmp_path / name, tmp_path / "b")
        refuse_and_tell(caught.value, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_target_without_a_parent_is_told(tmp_path: Path) -> None:
    """The source stays where it is."""
    (tmp_path / "a").mkdir()
    with pytest.raises(DiskError) as caught:
        move_folder(tmp_path / "a", tmp_path / "gone" / "a")
    refuse_and_tell(caught.value, tmp_path / "gone" / "a")
    assert (tmp_path / "a").is_dir()


def test_what_cannot_be_synced_is_told(tmp_path: Path) -> None:
    """A missing file, a missing folder, a file where a folder should be."""
    (tmp_path / "file").write_bytes(b"")
    for sync, name in ((sync_file, "gone"), (sync_folder, "gone"), (sync_folder, "file")):
        with pytest.raises(DiskError) as caught:
            sync(tmp_path / name)
        refuse_and_tell(caught.value, tmp_path / name)


def test_a_file_system_that_cannot_sync_a_folder_is_left_alone() -> None:
    """Such as /proc, which says EINVAL."""
    with pytest.raises(OSError, match="Invalid argument"):
        sync_plainly(Path("/proc"))
    sync_folder(Path("/proc"))


def sync_plainly(folder: Path) -> None:
    """Sync a folder and tell every error."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def test_new_names_are_made_durable_and_old_ones_cost_nothing(tmp_path: Path) -> None:
    """Each folder that got a new name is opened to be synced, once; the second time none is."""
    code = """
    import os, sys
    from pathlib import Path
    from lamplighter.host.files import append_line, make_folder
    opened = []
    def watch(event, arguments):
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_DIRECTORY:
            opened.append(os.path.relpath(arguments[0], sys.argv[1]))
    sys.addaudithook(watch)
    folder = Path(sys.argv[1])
    for _ in range(2):
        make_folder(folder / "a" / "b")
        append_line(folder / "a" / "b" / "log", "line")
        print(" ".join(sorted(opened)), flush=True)
        opened.clear()
    """
    with Child(code, tmp_path) as child:
        assert child.hear() == ". a a/b"
        assert child.hear() == ""


def test_a_private_folder_is_for_this_user_alone_and_goes_again() -> None:
    """Whatever is in it."""
    with private_folder() as folder:
        (folder / "a").write_bytes(b"x")
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


def test_what_killed_processes_left_goes_before_a_private_folder_is_made(tmp_path: Path) -> None:
    """Of dead processes only: the folders of a living one, of another pid namespace and of others stay."""
    with private_folder(tmp_path) as mine:
        name = mine.name
        stem, _, rest = name.rpartition(f"-{os.getpid()}-")
        with Child("pass") as child:
            child.wait()
        dead = tmp_path / f"{stem}-{child.pid}-{rest}"
        others = [tmp_path / f"{TEMPORARY_PREFIX}lamplighter-1-{child.pid}-x", tmp_path / ".tmp-x", mine]
        for folder in (dead, *others):
            folder.mkdir(exist_ok=True)
            (folder / "a").touch()
        with private_folder(tmp_path):
            assert not dead.exists()
        assert all((folder / "a").exists() for folder in others)


@pytest.mark.parametrize("use", [make_folder, list_folder])
def test_what_is_in_the_way_of_a_folder_is_named_itself(use: Callable[[Path], object], tmp_path: Path) -> None:
    """A link to nowhere (a disk that is not there) is no missing folder, and a file is none."""
    (tmp_path / "link").symlink_to("gone")
    (tmp_path / "file").touch()
    with pytest.raises(DiskError) as caught:
        use(tmp_path / "link" / "inner")
    assert str(caught.value) == (
        f"{tmp_path / 'link'}: this link leads nowhere; bring back what it leads to, or move it away"
    )
    with pytest.raises(DiskError) as caught:
        use(tmp_path / "file" / "deep" / "inner")
    assert str(caught.value) == f"{tmp_path / 'file'}: this is not a folder; move it away"


@pytest.mark.parametrize(("name", "plain"), [("きり 道具", True), ("a\nb", False), (os.fsdecode(b"od\xff"), False)])
def test_a_plain_path_is_text_in_one_line(name: str, plain: bool) -> None:
    """Other letters and wide spaces are plain; other bytes and control characters are not."""
    assert is_plain(Path("/shop") / name) is plain


def test_a_file_can_be_synced(tmp_path: Path) -> None:
    """Syncing changes nothing that can be seen."""
    (tmp_path / "a").write_bytes(b"x")
    sync_file(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"x"


def test_the_owner_of_a_new_file_is_the_current_user(tmp_path: Path) -> None:
    """Owner and user are the same uid; a missing path is told."""
    assert read_owner(tmp_path) == current_user() == os.geteuid()
    with pytest.raises(DiskError):
        read_owner(tmp_path / "gone")


def test_a_folder_is_listed_by_name_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    """What cannot be listed is told with the way out."""
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert [entry.name for entry in list_folder(tmp_path)] == ["a", "b", "c"]
    assert list_folder(tmp_path / "gone") == ()
    with pytest.raises(DiskError, match="a: this is not a folder; move it away"):
        list_folder(tmp_path / "a")


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "link"])
def test_what_is_no_file_is_never_appended_to(tmp_path: Path, kind: str) -> None:
    """Nobody waits for the reader of a FIFO, whether there is one or not; the line says what to do."""
    place = tmp_path / "x"
    reading = -1
    if kind == "fifo":
        os.mkfifo(place)
        reading = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("y")
    with pytest.raises(DiskError, match=r"x: .*; (move away what is|remove the link) in its place"):
        append_line(place, "line")
    if kind == "fifo":
        os.close(reading)
        with pytest.raises(DiskError, match="not a regular file"):
            append_line(place, "line")
