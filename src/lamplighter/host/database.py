"""SQLite behind one thin class: plain SQL, transactions, numbered migrations, reading that writes nothing.

What goes wrong is one of these: damage (Damaged), no room, no permission, a busy database. Only the first is ever a
reason to set a database aside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Self

from lamplighter.errors import Damaged, DiskError
from lamplighter.host.exclusion import sharing
from lamplighter.host.files import private_folder
from lamplighter.value import value

Value = str | int | float | None
PATIENCE = timedelta(seconds=10)
MARK = ".suspect"
LOGS = ("-wal", "-journal")
_NOT_A_FILE = "this is no regular file"
_DAMAGED_REMEDY = "the next run sets it aside and makes a new one"
_PROBE_BYTES = 65_536
_PIECE = 1_048_576
_SWITCH_PATIENCE = timedelta(milliseconds=50)
_PAUSE_SECONDS = 0.005
_MOVE_AWAY = "move this file away; posts are found again in the folders"
_MIGRATION_TABLE = "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, number BIGINT NOT NULL)"


@value
class Migration:
    """One step of a concern's tables; steps are numbered, only ever add, and run once."""

    concern: str
    number: int
    statements: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the key under which the step is remembered."""
        return f"{self.concern}-{self.number:04}"


class Database:
    """An open database; every error of it is a DiskError that names the file."""

    def __init__(self, connection: sqlite3.Connection, file: Path, inode: tuple[int, int] | None = None) -> None:
        """Take over `connection`; use one of the two open functions instead. A copy in memory has no inode."""
        self._connection = connection
        self._file = file
        self._inode = inode

    @property
    def name(self) -> str:
        """Return the file's name for a message."""
        return str(self._file)

    def rows(self, statement: str, values: Sequence[Value] = ()) -> list[sqlite3.Row]:
        """Run one statement and return its rows."""
        with self._errors():
            return self._connection.execute(statement, _storable(values)).fetchall()

    def row(self, statement: str, values: Sequence[Value] = ()) -> sqlite3.Row | None:
        """Run one statement and return its first row, or None."""
        with self._errors():
            found: sqlite3.Row | None = self._connection.execute(statement, _storable(values)).fetchone()
            return found

    def change(self, statement: str, values: Sequence[Value] = ()) -> int:
        """Run one statement and return how many rows it changed; never in a file that was moved from its place."""
        self._check_place()
        with self._errors():
            return self._connection.execute(statement, _storable(values)).rowcount

    @contextlib.contextmanager
    def parsing(self) -> Iterator[None]:
        """Raise DiskError when what is made of rows in this block shows that nobody here wrote them."""
        try:
            yield
        except (ValueError, TypeError, LookupError, OverflowError, OSError) as error:
            raise DiskError(self.name, f"a row is damaged: {error}", _MOVE_AWAY) from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; commit at the end, roll back on any error. Not to be nested."""
        try:
            self.change("BEGIN IMMEDIATE")
            yield
            self.change("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    def _check_place(self) -> None:
        """Raise DiskError when another file is in the place of this one: what is written here would be lost."""
        if self._inode is not None and _read_inode(self._file) != self._inode:
            raise DiskError(self.name, "it was set aside or replaced while this run was at work", "run it again")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn SQLite's errors into ours; what could be damage is marked, so that the next opening looks closely."""
        try:
            with _sqlite_errors(self._file, in_memory=self._inode is None):
                yield
        except DiskError as error:
            if self._inode is not None and is_doubtful(error):
                with contextlib.suppress(OSError):
                    beside(self._file, MARK).touch(mode=0o600)
            raise

    def close(self) -> None:
        """Close; a second time does nothing."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(file: Path, migrations: Sequence[Migration], *, patience: timedelta = PATIENCE) -> Database:
    """Open for writing (WAL, synchronous FULL, foreign keys), made and migrated where needed; raises DiskError.

    Every statement waits up to `patience` for another writer.
    """
    with sharing(Path(os.path.realpath(file)).parent, patience):
        return open_alone(file, migrations, patience=patience)


def open_alone(file: Path, migrations: Sequence[Migration], *, patience: timedelta = PATIENCE) -> Database:
    """Do what `open_database` does, for one who has the folder for itself."""
    with _sqlite_errors(file):
        refuse_non_file(file)
        connection = _connect(str(file), patience=patience)
    try:
        database = Database(connection, file, _read_inode(file))
        _use_log(database, patience)
        database.row("PRAGMA synchronous = FULL")
        database.row("PRAGMA foreign_keys = ON")
        _migrate(database, migrations)
    except BaseException:
        connection.close()
        raise
    return database


def _use_log(database: Database, patience: timedelta) -> None:
    """Switch to the write-ahead log; two that switch at once hold each other up, so neither waits long at a time."""
    tries = max(1, round(patience / _SWITCH_PATIENCE))
    database.row(f"PRAGMA busy_timeout = {round(_SWITCH_PATIENCE.total_seconds() * 1000)}")
    for left in reversed(range(tries)):
        try:
            database.row("PRAGMA journal_mode = WAL")
            break
        except DiskError as error:
            if left == 0 or not _is_busy(error.__cause__):
                raise
    database.row(f"PRAGMA busy_timeout = {round(patience.total_seconds() * 1000)}")


def open_database_to_read(file: Path, migrations: Sequence[Migration], *, patience: timedelta = PATIENCE) -> Database:
    """Open a copy in memory, so that nothing that is done with it changes anything on disk, beside the file included.

    A missing database reads as an empty one, an older one as migrated; raises DiskError. Not for a process that also
    has it open for writing: closing a file that was read drops that process's locks on it (sqlite.org/howtocorrupt.html
    2.2).
    """
    database = _open_copy(file, patience)
    try:
        _migrate(database, migrations)
    except BaseException:
        database.close()
        raise
    return database


def _open_copy(file: Path, patience: timedelta) -> Database:
    with _sqlite_errors(file, in_memory=True):
        parts = _read_parts(file, patience)
        memory = _connect(":memory:")
        try:
            _load(parts, memory)
        except BaseException:
            memory.close()
            raise
        return Database(memory, file)


def examine(file: Path, migrations: Sequence[Migration], *, patience: timedelta = PATIENCE) -> str:
    """Return why a database cannot be relied on, "" when nothing speaks against it; changes nothing on disk.

    Every page and index is looked at, and whether the tables are those that `migrations` make. What stands in the way
    of looking is not damage.
    """
    try:
        with _open_copy(file, patience) as database:
            found = database.row("PRAGMA integrity_check(1)")
            if found is None or found[0] != "ok":
                return " ".join(str(found[0]).split()) if found else "it cannot be checked"
            _migrate(database, migrations)
            return _find_missing_table(database, migrations)
    except DiskError as error:
        return error.cause if is_doubtful(error) else ""


def _find_missing_table(database: Database, migrations: Sequence[Migration]) -> str:
    with Database(_connect(":memory:"), Path(database.name)) as fresh:
        _migrate(fresh, migrations)
        missing = sorted(_read_schema(fresh) - _read_schema(database))
    return f"{missing[0][0]} is missing or not ours" if missing else ""


def _read_schema(database: Database) -> set[tuple[str, str]]:
    return {(row["name"], row["sql"] or "") for row in database.rows("SELECT name, sql FROM sqlite_master")}


def _read_parts(file: Path, patience: timedelta) -> dict[str, bytearray]:
    """Return what a database consists of, by the ends of the names: itself, its log, its rollback journal.

    Nobody is locked out, so it is read until two readings are the same: what lies still for that long belongs together.
    The log's index (-shm) is left out: SQLite makes it anew from the log.
    """
    end = time.monotonic() + patience.total_seconds()
    while not _is_still(file, parts := _read_parts_once(file)):
        if time.monotonic() > end:
            raise sqlite3.OperationalError("it changed again and again while it was read")
        time.sleep(_PAUSE_SECONDS)
    return parts


def _is_still(file: Path, parts: dict[str, bytearray]) -> bool:
    """Return whether reading the parts again gives the same; piece by piece, so that nothing is held twice."""
    real = Path(os.path.realpath(file))
    return all(_has_bytes(beside(real, ending), parts.get(ending, bytearray())) for ending in ("", *LOGS))


def _has_bytes(path: Path, content: bytearray) -> bool:
    """Return whether a file has exactly these bytes, a missing one none."""
    refuse_non_file(path)
    place = 0
    with contextlib.suppress(FileNotFoundError), path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            if not content.startswith(piece, place):
                return False
            place += len(piece)
    return place == len(content)


def _read_parts_once(file: Path) -> dict[str, bytearray]:
    real = Path(os.path.realpath(file))  # a link is followed, and its logs lie beside what it leads to
    read = {ending: _read_part(beside(real, ending)) for ending in ("", *LOGS)}
    return {ending: content for ending, content in read.items() if content}


def _read_part(path: Path) -> bytearray:
    """Return the bytes of a file, none where it is missing; what is no file is an error, and a FIFO not waited for."""
    refuse_non_file(path)
    try:
        with path.open("rb") as stream:
            content = bytearray(os.fstat(stream.fileno()).st_size)
            del content[stream.readinto(content) :]
            return content
    except FileNotFoundError:
        return bytearray()


def refuse_non_file(path: Path) -> None:
    """Raise Damaged when a folder, a FIFO or the like is in the place of a file; raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise Damaged(str(path), _NOT_A_FILE, _DAMAGED_REMEDY)


def beside(file: Path, ending: str) -> Path:
    """Return the path of what SQLite or we keep beside a database."""
    return file.with_name(file.name + ending)


def _read_inode(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _load(parts: dict[str, bytearray], memory: sqlite3.Connection) -> None:
    """Put a database into memory; where there is more to it than one file, SQLite itself joins the parts."""
    content = parts.get("")
    if content is None:
        return
    if len(parts) == 1:
        # The mark of the write-ahead log is taken out: memory has none (sqlite.org/c3ref/deserialize.html).
        if content[18:20] == b"\x02\x02":
            content[18:20] = b"\x01\x01"
        memory.deserialize(content)
        return
    with private_folder() as folder:
        copy = folder / "copy.db"
        for ending, part in parts.items():
            copy.with_name(copy.name + ending).write_bytes(part)
        with contextlib.closing(_connect(str(copy))) as source:
            source.execute("PRAGMA synchronous = OFF")  # a copy for a moment: nothing of it need be durable
            source.backup(memory)


def _connect(address: str, *, patience: timedelta = PATIENCE) -> sqlite3.Connection:
    connection = sqlite3.connect(address, timeout=patience.total_seconds(), isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _storable(values: Sequence[Value]) -> tuple[Value, ...]:
    """Escape what UTF-8 cannot say (a file name of other bytes): a record must never fail for the sake of a name."""
    return tuple(
        value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value
        for value in values
    )


def _migrate(database: Database, migrations: Sequence[Migration]) -> None:
    """Run the steps that have not run, each in one transaction; other concerns than these have steps of their own."""
    names = {name for name, _ in _read_schema(database)}
    if "migration" not in names:
        if names:
            raise Damaged(database.name, "it is another program's", _DAMAGED_REMEDY)
        database.change(_MIGRATION_TABLE)
    done = {str(row["name"]) for row in database.rows("SELECT name FROM migration")}
    concerns = tuple(f"{migration.concern}-" for migration in migrations)
    known = {migration.name for migration in migrations}
    if any(name.startswith(concerns) and name not in known for name in done):
        raise DiskError(database.name, "it was written by a newer lamplighter", "update this one")
    for migration in migrations:
        if migration.name in done:
            continue
        with database.transaction():
            if database.row("SELECT 1 FROM migration WHERE name = ?", (migration.name,)):
                continue
            for statement in migration.statements:
                database.change(statement)
            database.change("INSERT INTO migration (name, number) VALUES (?, ?)", (migration.name, migration.number))


@contextlib.contextmanager
def _sqlite_errors(file: Path, *, in_memory: bool = False) -> Iterator[None]:
    """Turn SQLite's errors into one line that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(file, error, in_memory=in_memory) from error
    except OSError as error:
        raise DiskError(str(file), error.strerror or str(error)) from error


def is_doubtful(error: DiskError) -> bool:
    """Return whether the database could be damaged: SQLite says so, or our own statements make no sense to it."""
    return isinstance(error, Damaged) or _name(error.__cause__) == "SQLITE_ERROR"


def _explain(file: Path, error: sqlite3.Error, *, in_memory: bool) -> DiskError:
    name = _name(error)
    undecodable = not name and "decode to UTF-8" in str(error)  # we never write such text
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or undecodable:
        return Damaged(str(file), str(error), _DAMAGED_REMEDY)
    if name.startswith("SQLITE_IOERR") and in_memory:  # it ends before it says it does
        return Damaged(str(file), str(error), _DAMAGED_REMEDY)
    if name.startswith(_PROBED) and not in_memory:
        trouble = _find_trouble(file.parent)
        if trouble is not None and trouble.errno in _TROUBLES:
            return DiskError(str(file), trouble.strerror or str(trouble), _TROUBLES[trouble.errno])
    return DiskError(str(file), str(error), next((text for key, text in _REMEDIES if name.startswith(key)), ""))


def _find_trouble(folder: Path) -> OSError | None:
    """Return what the system says to writing a nameless file in `folder`; SQLite hides it ("disk I/O error")."""
    import tempfile  # noqa: PLC0415 - it loads much, and this is for a disk that fails

    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
            left = _PROBE_BYTES
            while left:
                left -= probe.write(bytes(left))
    except OSError as error:
        return error
    return None


def _name(error: BaseException | None) -> str:
    """Return SQLite's name of an error, "" for what is none or comes from Python's side of it."""
    return str(getattr(error, "sqlite_errorname", ""))


def _is_busy(error: BaseException | None) -> bool:
    return _name(error).startswith("SQLITE_BUSY")


_PROBED = ("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_FULL")
_NO_ROOM = "free some space and run it again"
_NO_RIGHT = "make the state folder writable for this user"
_TROUBLES: Mapping[int | None, str] = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EROFS: "the disk is read-only: set state_dir to a folder on another",
    errno.EACCES: _NO_RIGHT,
    errno.EPERM: _NO_RIGHT,
    errno.ENOENT: "see that its folder is there",
}
_REMEDIES = (
    ("SQLITE_FULL", _NO_ROOM),
    ("SQLITE_READONLY", _NO_RIGHT),
    ("SQLITE_CANTOPEN", _NO_RIGHT),
    ("SQLITE_IOERR", "the disk may be failing: look after it and its backup"),
    ("SQLITE_BUSY", "another program keeps it open for writing; run it again later"),
)
