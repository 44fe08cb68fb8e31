"""SQLite behind one thin class."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import pytest
from tests.simulators.child import Child, files_of_at_most, snapshot

from lamplighter.errors import Damaged, DiskError, InputError
from lamplighter.host.database import (
    MARK,
    Database,
    Migration,
    beside,
    examine,
    is_doubtful,
    open_database,
    open_database_to_read,
)

FIRST = Migration(concern="word", number=1, statements=("CREATE TABLE word (text TEXT NOT NULL)",))
SECOND = Migration(concern="word", number=2, statements=("ALTER TABLE word ADD COLUMN rank BIGINT NOT NULL DEFAULT 0",))
BRIEFLY = timedelta(milliseconds=200)

WRITER = """
import sys
from pathlib import Path
from lamplighter.host.database import Migration, open_database
first = Migration(concern="word", number=1, statements=("CREATE TABLE word (text TEXT NOT NULL)",))
database = open_database(Path(sys.argv[1]), (first,))
database.change("INSERT INTO word (text) VALUES ('from the log')")
print("written", flush=True)
input()
"""


class Opens(Protocol):
    """One of the two ways to open a database."""

    def __call__(self, file: Path, migrations: Sequence[Migration]) -> Database:
        """Open it."""


def words(database: Database) -> list[str]:
    """Return what the table holds."""
    return [row["text"] for row in database.rows("SELECT text FROM word ORDER BY rowid")]


def columns(database: Database) -> list[str]:
    """Return the table's columns."""
    return [row["name"] for row in database.rows("PRAGMA table_info(word)")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where the database belongs, in a folder of its own."""
    (tmp_path / "state").mkdir()
    return tmp_path / "state" / "lamplighter.db"


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    """Return an open, migrated database."""
    with open_database(file, (FIRST,)) as opened:
        yield opened


def test_migrations_run_once_and_in_order(file: Path) -> None:
    """The second opening runs only what is new."""
    with open_database(file, (FIRST,)) as database:
        database.change("INSERT INTO word (text) VALUES (?)", ("kept",))
    for _ in range(2):
        with open_database(file, (FIRST, SECOND)) as database:
            assert columns(database) == ["text", "rank"]
            assert words(database) == ["kept"]
            names = [row["name"] for row in database.rows("SELECT name FROM migration ORDER BY name")]
            assert names == ["word-0001", "word-0002"]


def test_a_migration_that_fails_leaves_nothing_of_itself(file: Path) -> None:
    """All statements of a step or none."""
    broken = Migration(concern="word", number=2, statements=("CREATE TABLE half (a TEXT)", "nonsense"))
    with pytest.raises(DiskError):
        open_database(file, (FIRST, broken))
    with open_database(file, (FIRST,)) as database:
        assert database.row("SELECT 1 FROM sqlite_master WHERE name = 'half'") is None


def test_processes_that_migrate_at_once_both_succeed(tmp_path: Path) -> None:
    """A new database opened by several processes at the same moment is migrated once."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.host.database import Migration, open_database
    steps = tuple(Migration(concern="word", number=n, statements=(f"CREATE TABLE t{n} (a TEXT)",)) for n in range(20))
    print("ready", flush=True)
    for file in sys.stdin:
        with open_database(Path(file.strip()), steps) as database:
            count = database.row("SELECT COUNT(*) AS count FROM migration")["count"]
        print(count, flush=True)
    """
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(Child(code)) for _ in range(3)]
        assert [child.hear() for child in children] == ["ready"] * 3
        for number in range(8):
            for child in children:
                child.tell(str(tmp_path / f"{number}.db"))
            assert [child.hear() for child in children] == ["20"] * 3


def test_writing_survives_a_kill(file: Path) -> None:
    """What was changed before a SIGKILL is there afterwards."""
    with Child(WRITER, file) as child:
        child.hear()
        child.kill()
    with open_database(file, (FIRST,)) as database:
        assert words(database) == ["from the log"]


def test_a_transaction_commits_at_its_end(database: Database, file: Path) -> None:
    """Another reader sees all of it afterwards."""
    with database.transaction():
        database.change("INSERT INTO word (text) VALUES ('a')")
        database.change("INSERT INTO word (text) VALUES ('b')")
    with open_database_to_read(file, (FIRST,)) as reader:
        assert words(reader) == ["a", "b"]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit()])
def test_a_transaction_rolls_back_on_any_error(database: Database, error: BaseException) -> None:
    """Nothing of it stays, and the next one works."""

    def work() -> None:
        with database.transaction():
            database.change("INSERT INTO word (text) VALUES ('lost')")
            raise error

    with pytest.raises(type(error)):
        work()
    assert words(database) == []
    with database.transaction():
        database.change("INSERT INTO word (text) VALUES ('kept')")
    assert words(database) == ["kept"]


def test_a_commit_that_fails_rolls_back(file: Path) -> None:
    """A failed commit leaves no open transaction that would swallow what comes next."""
    tables = Migration(
        concern="family",
        number=1,
        statements=(
            "CREATE TABLE parent (id BIGINT PRIMARY KEY)",
            "CREATE TABLE child (parent BIGINT REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
        ),
    )
    with open_database(file, (tables,)) as database:
        with pytest.raises(DiskError, match="FOREIGN KEY"), database.transaction():
            database.change("INSERT INTO child (parent) VALUES (7)")
        with database.transaction():
            database.change("INSERT INTO parent (id) VALUES (1)")
        assert database.rows("SELECT * FROM child") == []


def test_a_transaction_keeps_other_writers_out(database: Database, file: Path) -> None:
    """A second writer is told in one line after its patience, with what to do."""
    with open_database(file, (FIRST,), patience=BRIEFLY) as other:
        with database.transaction(), pytest.raises(DiskError) as caught:
            other.change("INSERT INTO word (text) VALUES ('late')")
        assert str(caught.value) == (
            f"{file}: database is locked; another program keeps it open for writing; run it again later"
        )
        assert other.change("INSERT INTO word (text) VALUES ('in time')") == 1


def test_a_change_tells_how_many_rows_it_changed(database: Database) -> None:
    """Compare-and-set is decided by the count."""
    database.change("INSERT INTO word (text) VALUES ('a'), ('b')")
    assert database.change("UPDATE word SET text = 'c' WHERE text = ?", ("a",)) == 1
    assert database.change("UPDATE word SET text = 'c' WHERE text = ?", ("a",)) == 0


def test_text_of_other_bytes_can_be_recorded(database: Database) -> None:
    """A file name that is not UTF-8 is escaped: a record never fails for a name."""
    database.change("INSERT INTO word (text) VALUES (?)", ("photo-\udcff.jpg",))
    assert words(database) == ["photo-\\udcff.jpg"]


def test_closing_twice_is_fine_and_using_it_afterwards_is_told(database: Database, file: Path) -> None:
    """A closed database is an error of one line."""
    database.close()
    database.close()
    with pytest.raises(DiskError, match=str(file)):
        database.rows("SELECT 1")


def test_reading_where_nothing_is_makes_nothing(file: Path) -> None:
    """A missing database reads as an empty one, and neither file nor folder is made."""
    before = snapshot(file.parent)
    with open_database_to_read(file, (FIRST, SECOND)) as database:
        assert words(database) == []
        assert columns(database) == ["text", "rank"]
    with open_database_to_read(file.parent / "gone" / "lamplighter.db", (FIRST,)) as database:
        assert words(database) == []
    assert snapshot(file.parent) == before


def test_reading_an_empty_file_leaves_it_empty(file: Path) -> None:
    """A writer killed at its first step leaves nought bytes: an empty database."""
    file.write_bytes(b"")
    before = snapshot(file.parent)
    with open_database_to_read(file, (FIRST,)) as database:
        assert words(database) == []
    assert snapshot(file.parent) == before


def test_reading_a_clean_database_changes_nothing_on_disk(file: Path) -> None:
    """Names, bytes and times of the folder stay, also where an older database reads as migrated."""
    with open_database(file, (FIRST,)) as database:
        database.change("INSERT INTO word (text) VALUES ('kept')")
    before = snapshot(file.parent)
    assert set(before) == {".", file.name}
    with open_database_to_read(file, (FIRST, SECOND)) as database:
        assert words(database) == ["kept"]
        assert columns(database) == ["text", "rank"]
    assert snapshot(file.parent) == before


def test_reading_what_a_killed_writer_left_changes_nothing_on_disk(file: Path) -> None:
    """The log of a SIGKILLed writer is read, and neither it nor its index is touched."""
    with Child(WRITER, file) as child:
        child.hear()
        child.kill()
    before = snapshot(file.parent)
    assert set(before) == {".", file.name, f"{file.name}-wal", f"{file.name}-shm"}
    for _ in range(2):
        with open_database_to_read(file, (FIRST, SECOND)) as database:
            assert words(database) == ["from the log"]
    assert snapshot(file.parent) == before


def test_reading_a_log_without_its_index_changes_nothing_on_disk(file: Path) -> None:
    """As a backup brings it back: database and log, and no -shm."""
    with Child(WRITER, file) as child:
        child.hear()
        child.kill()
    file.with_name(f"{file.name}-shm").unlink()
    before = snapshot(file.parent)
    with open_database_to_read(file, (FIRST,)) as database:
        assert words(database) == ["from the log"]
    assert snapshot(file.parent) == before


def test_reading_what_a_killed_writer_of_the_older_kind_left_is_whole(file: Path) -> None:
    """A half transaction is rolled back in the copy by the journal beside it, and on disk nothing changes."""
    code = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("CREATE TABLE migration (name TEXT PRIMARY KEY, number BIGINT NOT NULL)")
    connection.execute("CREATE TABLE word (text TEXT NOT NULL)")
    connection.executemany("INSERT INTO word (text) VALUES (?)", [("whole" + "x" * 2000,)] * 200)
    connection.execute("PRAGMA cache_size = 5")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE word SET text = 'half' || substr(text, 6)")
    print("half", flush=True)
    input()
    """
    with Child(code, file) as child:
        child.hear()
        child.kill()
    before = snapshot(file.parent)
    assert set(before) == {".", file.name, f"{file.name}-journal"}
    assert b"halfx" in file.read_bytes()
    with open_database_to_read(file, ()) as database:
        assert {word[:5] for word in words(database)} == {"whole"}
    assert snapshot(file.parent) == before


def test_what_is_no_file_is_not_read_as_a_database(file: Path) -> None:
    """A FIFO is told, not waited for."""
    os.mkfifo(file)
    with pytest.raises(DiskError, match="no regular file"):
        open_database_to_read(file, (FIRST,))


@pytest.mark.parametrize("left", ["-wal", "-shm"])
def test_reading_beside_an_empty_leftover_changes_nothing_on_disk(file: Path, left: str) -> None:
    """An empty log, or an index with no log, is nothing to read and nothing to tidy."""
    with open_database(file, (FIRST,)) as database:
        database.change("INSERT INTO word (text) VALUES ('kept')")
    file.with_name(file.name + left).write_bytes(b"")
    before = snapshot(file.parent)
    with open_database_to_read(file, (FIRST,)) as database:
        assert words(database) == ["kept"]
    assert snapshot(file.parent) == before


def test_reading_beside_a_living_writer_sees_its_log_and_writes_nothing(file: Path) -> None:
    """What was committed a moment ago is seen although it is still in the log only."""
    with Child(WRITER, file) as child:
        child.hear()
        before = snapshot(file.parent)
        with open_database_to_read(file, (FIRST,)) as database:
            assert words(database) == ["from the log"]
        assert snapshot(file.parent) == before


def test_reading_while_writers_come_and_go_is_always_whole(file: Path) -> None:
    """Pairs are written in one transaction and are never seen halved, whatever is made or removed meanwhile."""
    code = """
    import sys
    from pathlib import Path
    from lamplighter.host.database import Migration, open_database
    first = Migration(concern="word", number=1, statements=("CREATE TABLE word (text TEXT NOT NULL)",))
    while True:
        with open_database(Path(sys.argv[1]), (first,)) as database, database.transaction():
            database.change("INSERT INTO word (text) VALUES ('a'), ('b')")
        print(".", flush=True)
    """
    with Child(code, file) as one, Child(code, file) as two:
        one.hear()
        two.hear()
        for _ in range(200):
            with open_database_to_read(file, (FIRST,)) as database:
                assert words(database)[-2:] == ["a", "b"]


@pytest.mark.usefixtures("database")
def test_changes_to_a_database_opened_to_read_stay_in_memory(file: Path) -> None:
    """It is a copy: what is taken over in it is seen, and the file stays as it is."""
    open_database(file, (FIRST,)).close()
    before = file.read_bytes()
    with open_database_to_read(file, (FIRST,)) as reader:
        reader.change("INSERT INTO word (text) VALUES ('x')")
        assert len(reader.rows("SELECT text FROM word")) == 1
    assert file.read_bytes() == before


def test_a_database_of_a_newer_program_is_refused(file: Path) -> None:
    """An older one does not know what it would break; it says so in one line, reading too."""
    open_database(file, (FIRST, SECOND)).close()
    for open_again in (open_database, open_database_to_read):
        with pytest.raises(DiskError, match="written by a newer lamplighter; update this one"):
            open_again(file, (FIRST,))


def test_a_name_with_odd_letters_can_be_read(tmp_path: Path) -> None:
    """Question marks, hashes, blanks and other scripts in a path are only letters."""
    file = tmp_path / "a ?#%41 ü" / "データ.db"
    file.parent.mkdir()
    open_database(file, (FIRST,)).close()
    with open_database_to_read(file, (FIRST,)) as database:
        assert words(database) == []


@pytest.mark.parametrize("opens", [open_database, open_database_to_read])
def test_a_file_that_is_no_database_is_told_in_one_line(file: Path, opens: Opens) -> None:
    """The line names the file and says what to do."""
    file.write_bytes(b"this is no database " * 100)
    with pytest.raises(DiskError) as caught:
        opens(file, (FIRST,))
    assert str(caught.value) == (f"{file}: file is not a database; the next run sets it aside and makes a new one")


def write_much(database: Database) -> None:
    """Write 300 kB, a row at a time."""
    for _ in range(100):
        database.change("INSERT INTO word (text) VALUES (?)", ("x" * 3_000,))


def damage(file: Path) -> None:
    """Overwrite the inner pages of a database."""
    with open_database(file, (FIRST,)) as database:
        for _ in range(50):
            database.change("INSERT INTO word (text) VALUES (?)", ("x" * 1_000,))
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)


def test_a_corrupt_database_is_told_in_one_line(file: Path) -> None:
    """Damage is found when it is read, and the line says what to do."""
    damage(file)
    for opens in (open_database, open_database_to_read):
        with pytest.raises(DiskError) as caught, opens(file, (FIRST,)) as database:
            words(database)
        assert str(caught.value) == (
            f"{file}: database disk image is malformed; the next run sets it aside and makes a new one"
        )


def test_a_missing_folder_is_told_in_one_line(tmp_path: Path) -> None:
    """Opening to write makes no folder, and says so."""
    file = tmp_path / "gone" / "lamplighter.db"
    with pytest.raises(DiskError) as caught:
        open_database(file, (FIRST,))
    assert str(caught.value) == (f"{file}: No such file or directory; see that its folder is there")


@pytest.mark.parametrize("opens", [open_database, open_database_to_read])
def test_a_folder_in_the_place_of_the_database_is_told(file: Path, opens: Opens) -> None:
    """It is an error of one line, not a crash."""
    file.mkdir()
    with pytest.raises(DiskError) as caught:
        opens(file, (FIRST,))
    assert "\n" not in str(caught.value)


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    """What the operating system says is one line as well."""
    file = tmp_path / ("x" * 300)
    with pytest.raises(DiskError) as caught:
        open_database_to_read(file, (FIRST,))
    assert str(caught.value) == f"{file}: File name too long"


def test_switching_to_the_log_waits_for_a_reader_and_gives_up(file: Path) -> None:
    """A reader of the older kind costs our patience and one line; when it has gone the opening works."""
    open_database(file, (FIRST,)).close()
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE").fetchall()
        other.execute("BEGIN")
        other.execute("SELECT * FROM word").fetchall()
        with pytest.raises(DiskError, match="database is locked; another program"):
            open_database(file, (FIRST,), patience=BRIEFLY)
        other.execute("COMMIT")
        with open_database(file, (FIRST,), patience=BRIEFLY) as database:
            assert words(database) == []


def test_a_database_that_another_program_locks_is_told_after_our_patience(file: Path) -> None:
    """An exclusive holder costs our patience and one line, for the opening as for the writing."""
    open_database(file, (FIRST,)).close()
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DiskError) as caught, open_database(file, (FIRST,), patience=BRIEFLY) as database:
            database.change("INSERT INTO word (text) VALUES ('x')")
    assert str(caught.value) == (
        f"{file}: database is locked; another program keeps it open for writing; run it again later"
    )


def test_a_full_disk_is_told_in_one_line_and_rolls_back(database: Database, file: Path) -> None:
    """SQLite's own limit of pages stands in for the disk's end."""
    database.row("PRAGMA max_page_count = 8")
    with pytest.raises(DiskError) as caught, database.transaction():
        database.change("INSERT INTO word (text) VALUES (?)", ("x" * 100_000,))
    assert str(caught.value) == f"{file}: database or disk is full; free some space and run it again"
    assert words(database) == []


def test_damage_and_a_full_disk_are_two_kinds_of_error(file: Path) -> None:
    """Only damage is ever a reason to set a database aside."""
    with open_database(file, (FIRST,)) as database:
        database.row("PRAGMA max_page_count = 8")
        with pytest.raises(DiskError) as full:
            database.change("INSERT INTO word (text) VALUES (?)", ("x" * 100_000,))
    damage(file)
    with pytest.raises(Damaged) as damaged, open_database_to_read(file, (FIRST,)) as copy:
        words(copy)
    assert [is_doubtful(error.value) for error in (full, damaged)] == [False, True]


def test_damage_that_a_run_meets_is_marked_for_the_next_opening(file: Path) -> None:
    """Looking leaves no mark, working does; a busy or a full database is no reason for one."""
    damage(file)
    with pytest.raises(Damaged), open_database_to_read(file, (FIRST,)) as copy:
        words(copy)
    assert not beside(file, MARK).exists()
    with pytest.raises(Damaged), open_database(file, (FIRST,)) as database:
        words(database)
    assert beside(file, MARK).exists()


def test_a_full_database_is_not_marked(database: Database, file: Path) -> None:
    """What has no room is whole."""
    database.row("PRAGMA max_page_count = 8")
    with pytest.raises(DiskError):
        database.change("INSERT INTO word (text) VALUES (?)", ("x" * 100_000,))
    assert not beside(file, MARK).exists()


@pytest.mark.parametrize("size", [4096, 65_536])
def test_a_file_that_may_not_grow_is_told_by_its_cause(file: Path, size: int) -> None:
    """SQLite says "disk I/O error"; we say what the system said."""
    with open_database(file, (FIRST,)) as database:
        with files_of_at_most(size), pytest.raises(DiskError) as caught:
            write_much(database)
        assert not isinstance(caught.value, Damaged)
        before = len(words(database))
        database.change("INSERT INTO word (text) VALUES ('room again')")
        assert len(words(database)) == before + 1


@pytest.mark.parametrize("replaced", [True, False])
def test_nothing_is_written_to_a_database_that_was_moved_from_its_place(
    database: Database, file: Path, replaced: bool
) -> None:
    """What would go into a file that nobody reads any more is refused, in a transaction too."""
    database.change("INSERT INTO word (text) VALUES ('before')")
    for ending in ("", "-wal", "-shm"):
        beside(file, ending).rename(beside(file, f".aside{ending}"))
    if replaced:
        open_database(file, (FIRST,)).close()
    for _ in range(2):
        with pytest.raises(DiskError, match="it was set aside or replaced while this run was at work; run it again"):
            database.change("INSERT INTO word (text) VALUES ('lost')")
        with pytest.raises(DiskError, match="set aside or replaced"), database.transaction():
            pytest.fail("the transaction began")
    database.close()
    if replaced:
        with open_database(file, (FIRST,)) as fresh:
            assert words(fresh) == []
    with open_database_to_read(beside(file, ".aside"), (FIRST,)) as aside:
        assert words(aside) == ["before"]


def test_closing_a_moved_database_leaves_the_new_ones_log_alone(database: Database, file: Path) -> None:
    """SQLite deletes its log by name when it closes; it is not to delete that of the file in its place."""
    database.change("INSERT INTO word (text) VALUES ('before')")
    for ending in ("", "-wal", "-shm"):
        beside(file, ending).rename(beside(file, f".aside{ending}"))
    with Child(WRITER, file) as child:
        child.hear()
        database.close()
        assert beside(file, "-wal").stat().st_size > 0
        child.kill()
    with open_database(file, (FIRST,)) as fresh:
        assert words(fresh) == ["from the log"]


def test_a_link_is_followed_with_its_log(file: Path, tmp_path: Path) -> None:
    """The log lies beside what the link leads to, and is read and written there."""
    link = tmp_path / "link.db"
    link.symlink_to(file)
    with Child(WRITER, link) as child:
        child.hear()
        with open_database_to_read(link, (FIRST,)) as database:
            assert words(database) == ["from the log"]
    assert beside(file, "-wal").exists()


def test_examining_finds_nothing_in_a_whole_database(file: Path) -> None:
    """None at all, an empty one, an older one, one at work: nothing speaks against it, and nothing changes on disk."""
    assert examine(file, (FIRST,)) == ""
    file.write_bytes(b"")
    assert examine(file, (FIRST,)) == ""
    with Child(WRITER, file) as child:
        child.hear()
        before = snapshot(file.parent)
        assert examine(file, (FIRST, SECOND)) == ""
        assert snapshot(file.parent) == before


def test_examining_finds_what_only_a_close_look_does(file: Path) -> None:
    """Inner pages, a table that is missing although it was made, columns that are not ours."""
    damage(file)
    assert examine(file, (FIRST,)) != ""
    for statement, cause in (
        ("DROP TABLE word", "word is missing or not ours"),
        ("ALTER TABLE word RENAME COLUMN text TO words", "word is missing or not ours"),
        ("DELETE FROM migration", "table word already exists"),
        ("DROP TABLE migration", "it is another program's"),
    ):
        file.unlink()
        with open_database(file, (FIRST,)) as database:
            database.change(statement)
        assert examine(file, (FIRST,)) == cause


def test_a_newer_database_is_not_damaged(file: Path) -> None:
    """It is refused, and stays where it is."""
    open_database(file, (FIRST, SECOND)).close()
    assert examine(file, (FIRST,)) == ""


def test_text_that_is_none_is_damage(file: Path) -> None:
    """We write UTF-8 only, so other bytes were not written by us."""
    with open_database(file, (FIRST,)) as database:
        database.change("INSERT INTO word (text) VALUES (CAST(X'61FF62' AS TEXT))")
        with pytest.raises(Damaged, match="decode"):
            words(database)
    assert beside(file, MARK).exists()


def test_what_cannot_be_made_of_a_row_is_a_damaged_row(tmp_path: Path) -> None:
    """One line that names the file and the way out; our own errors stay what they are."""
    with open_database(tmp_path / "x.db", ()) as database:
        with pytest.raises(DiskError, match=r"x\.db: a row is damaged: .*; move this file away"), database.parsing():
            int("abc")
        with pytest.raises(InputError), database.parsing():
            raise InputError("run 3")
