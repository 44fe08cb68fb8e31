"""SQLite behind one thin class: plain SQL, transactions, numbered migrations, reading that writes nothing."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self
from urllib.parse import quote

from lamplighter.errors import DiskError

Value = str | int | float | None
PATIENCE = timedelta(seconds=10)
_SWITCH_PATIENCE = timedelta(milliseconds=50)
_PAUSE_SECONDS = 0.005
_MIGRATION_TABLE = "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, number BIGINT NOT NULL)"


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        """Take over `connection`; use one of the two open functions instead."""
        self._connection = connection
        self._file = file

    def rows(self, statement: str, values: Sequence[Value] = ()) -> list[sqlite3.Row]:
        """Run one statement and return its rows."""
        with _sqlite_errors(self._file):
            return self._connection.execute(statement, _storable(values)).fetchall()

    def row(self, statement: str, values: Sequence[Value] = ()) -> sqlite3.Row | None:
        """Run one statement and return its first row, or None."""
        with _sqlite_errors(self._file):
            found: sqlite3.Row | None = self._connection.execute(statement, _storable(values)).fetchone()
            return found

    def change(self, statement: str, values: Sequence[Value] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        with _sqlite_errors(self._file):
            return self._connection.execute(statement, _storable(values)).rowcount

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
    with _sqlite_errors(file):
        database = Database(_connect(str(file), patience=patience), file)
    try:
        _use_log(database, patience)
        database.row("PRAGMA synchronous = FULL")
        database.row("PRAGMA foreign_keys = ON")
        _migrate(database, migrations)
    except BaseException:
        database.close()
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
    """Open a copy in memory, so that reading changes nothing on disk, beside the file included.

    A missing database reads as an empty one, an older one as migrated; raises DiskError.
    """
    with _sqlite_errors(file):
        database = Database(_connect(":memory:"), file)
    try:
        with _sqlite_errors(file):
            if file.exists() and file.stat().st_size:
                _copy(file, database._connection, patience)  # noqa: SLF001 - the class's own module
        _migrate(database, migrations)
        database.row("PRAGMA query_only = ON")
    except BaseException:
        database.close()
        raise
    return database


def _copy(file: Path, memory: sqlite3.Connection, patience: timedelta) -> None:
    """Copy a database into memory; what was made, changed or removed beside it meanwhile means to try again."""
    end = time.monotonic() + patience.total_seconds()
    while True:
        before = _read_stamps(file)
        error = _try_copy(file, before, memory, patience)
        locked = before.log is not None and before.index is not None
        same = _read_stamps(file) == before and not _is_index_in_the_making(error)
        if error is None and (locked or same):
            return
        if error is not None and (same or _is_busy(error)):
            raise error
        if time.monotonic() > end:
            raise sqlite3.OperationalError("it changed again and again while it was read")
        time.sleep(_PAUSE_SECONDS)


def _try_copy(file: Path, there: _Stamps, memory: sqlite3.Connection, patience: timedelta) -> Exception | None:
    """Copy without writing beside the file (sqlite.org/uri.html, walformat.html) and return what went wrong.

    With a log and its index: `readonly_shm`, which takes the reader's locks and builds an index of its own where no
    writer lives; plain `mode=ro` would write into the index. A log without an index has no writer, or one that just
    leaves: both are copied away and opened there. With no log: `immutable`, since `mode=ro` would make one. The last
    two take no lock, so they only count when nothing changed.
    """
    address = f"file:{quote(str(file))}?mode=ro"
    try:
        if there.log is not None and there.index is not None:
            _back_up(f"{address}&readonly_shm=1", memory, patience)
        elif there.log is not None and there.log.size:
            _copy_orphan(file, memory)
        else:
            _back_up(f"{address}&immutable=1", memory, patience)
    except (sqlite3.Error, FileNotFoundError) as error:
        return error
    return None


def _back_up(address: str, memory: sqlite3.Connection, patience: timedelta) -> None:
    with contextlib.closing(_connect(address, patience=patience, uri=True)) as source:
        source.execute("BEGIN")
        source.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()  # waits for a lock; backup() would for ever
        source.backup(memory)


def _copy_orphan(file: Path, memory: sqlite3.Connection) -> None:
    with tempfile.TemporaryDirectory(prefix="lamplighter-") as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(file, copy)
        shutil.copyfile(_beside(file, "-wal"), _beside(copy, "-wal"))
        with contextlib.closing(_connect(str(copy))) as source:
            source.backup(memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stamp:
    """What tells whether a file was changed or replaced."""

    inode: int
    size: int
    changed_at_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stamps:
    """A database, its log (-wal) and the log's index (-shm), None where there is none."""

    file: _Stamp | None
    log: _Stamp | None
    index: _Stamp | None


def _read_stamps(file: Path) -> _Stamps:
    return _Stamps(
        file=_read_stamp(file), log=_read_stamp(_beside(file, "-wal")), index=_read_stamp(_beside(file, "-shm"))
    )


def _read_stamp(path: Path) -> _Stamp | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return _Stamp(inode=stat.st_ino, size=stat.st_size, changed_at_ns=stat.st_mtime_ns)


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _connect(address: str, *, patience: timedelta = PATIENCE, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=uri, timeout=patience.total_seconds(), isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _storable(values: Sequence[Value]) -> tuple[Value, ...]:
    """Escape what UTF-8 cannot say (a file name of other bytes): a record must never fail for the sake of a name."""
    return tuple(
        value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value
        for value in values
    )


def _migrate(database: Database, migrations: Sequence[Migration]) -> None:
    """Run the steps that have not run, each in one transaction."""
    database.change(_MIGRATION_TABLE)
    done = {row["name"] for row in database.rows("SELECT name FROM migration")}
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
def _sqlite_errors(file: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise DiskError(str(file), str(error), _remedy(error)) from error
    except OSError as error:
        raise DiskError(str(file), error.strerror or str(error)) from error


def _is_busy(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _is_index_in_the_making(error: BaseException | None) -> bool:
    """Return whether a writer was just making the log's index: of a database opened to read that is all it can mean."""
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_READONLY")


def _remedy(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    remedies = {
        "SQLITE_FULL": "free some space and run it again",
        "SQLITE_READONLY": "make the state folder writable for this user",
        "SQLITE_CANTOPEN": "make the state folder writable for this user",
        "SQLITE_NOTADB": "move this file away; posts are found again in the folders",
        "SQLITE_CORRUPT": "move this file away; posts are found again in the folders",
        "SQLITE_BUSY": "another program keeps it open for writing; run it again later",
    }
    return next((text for key, text in remedies.items() if name.startswith(key)), "")
