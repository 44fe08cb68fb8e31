"""SQLite behind one thin class: plain SQL, transactions, numbered migrations, reading that writes nothing."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from lamplighter.errors import DiskError
from lamplighter.host.files import private_folder

Value = str | int | float | None
PATIENCE = timedelta(seconds=10)
_SWITCH_PATIENCE = timedelta(milliseconds=50)
_PAUSE_SECONDS = 0.005
_MOVE_AWAY = "move this file away; posts are found again in the folders"
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

    @property
    def name(self) -> str:
        """Return the file's name for a message."""
        return str(self._file)

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
    """Open a copy in memory, so that nothing that is done with it changes anything on disk, beside the file included.

    A missing database reads as an empty one, an older one as migrated; raises DiskError. Not for a process that also
    has it open for writing: closing a file that was read drops that process's locks on it (sqlite.org/howtocorrupt.html
    2.2).
    """
    with _sqlite_errors(file):
        database = Database(_connect(":memory:"), file)
    try:
        with _sqlite_errors(file):
            _load(_read_parts(file, patience), database._connection)  # noqa: SLF001 - the class's own module
        _migrate(database, migrations)
    except BaseException:
        database.close()
        raise
    return database


def _read_parts(file: Path, patience: timedelta) -> dict[str, bytes]:
    """Return what a database consists of, by the ends of the names: itself, its log, its rollback journal.

    Nobody is locked out, so it is read until two readings are the same: what lies still for that long belongs together.
    The log's index (-shm) is left out: SQLite makes it anew from the log.
    """
    end = time.monotonic() + patience.total_seconds()
    while (parts := _read_parts_once(file)) != _read_parts_once(file):
        if time.monotonic() > end:
            raise sqlite3.OperationalError("it changed again and again while it was read")
        time.sleep(_PAUSE_SECONDS)
    return parts


def _read_parts_once(file: Path) -> dict[str, bytes]:
    read = {ending: _read_part(file.with_name(file.name + ending)) for ending in ("", "-wal", "-journal")}
    return {ending: content for ending, content in read.items() if content}


def _read_part(path: Path) -> bytes:
    """Return the bytes of a file, none where it is missing; what is no file is an error, and a FIFO not waited for."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "this is no regular file")
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _load(parts: dict[str, bytes], memory: sqlite3.Connection) -> None:
    """Put a database into memory; where there is more to it than one file, SQLite itself joins the parts."""
    content = parts.get("")
    if content is None:
        return
    if len(parts) == 1:
        # The mark of the write-ahead log is taken out: memory has none (sqlite.org/c3ref/deserialize.html).
        memory.deserialize(content[:18] + b"\x01\x01" + content[20:] if content[18:20] == b"\x02\x02" else content)
        return
    with private_folder() as folder:
        copy = folder / "copy.db"
        for ending, part in parts.items():
            copy.with_name(copy.name + ending).write_bytes(part)
        with contextlib.closing(_connect(str(copy))) as source:
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
    """Run the steps that have not run, each in one transaction."""
    database.change(_MIGRATION_TABLE)
    done = {row["name"] for row in database.rows("SELECT name FROM migration")}
    if done - {migration.name for migration in migrations}:
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


def _remedy(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    remedies = {
        "SQLITE_FULL": "free some space and run it again",
        "SQLITE_READONLY": "make the state folder writable for this user",
        "SQLITE_CANTOPEN": "make the state folder writable for this user",
        "SQLITE_NOTADB": _MOVE_AWAY,
        "SQLITE_CORRUPT": _MOVE_AWAY,
        "SQLITE_BUSY": "another program keeps it open for writing; run it again later",
    }
    return next((text for key, text in remedies.items() if name.startswith(key)), "")
