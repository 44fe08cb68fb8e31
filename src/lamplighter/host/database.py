"""SQLite behind one thin class: plain SQL, transactions, numbered migrations, reading that writes nothing."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

from lamplighter.errors import DiskError

Value = str | int | float | None
_BUSY_SECONDS = 10.0
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
            return self._connection.execute(statement, tuple(values)).fetchall()

    def row(self, statement: str, values: Sequence[Value] = ()) -> sqlite3.Row | None:
        """Run one statement and return its first row, or None."""
        with _sqlite_errors(self._file):
            found: sqlite3.Row | None = self._connection.execute(statement, tuple(values)).fetchone()
            return found

    def change(self, statement: str, values: Sequence[Value] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        with _sqlite_errors(self._file):
            return self._connection.execute(statement, tuple(values)).rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; commit at the end, roll back on any error. Not to be nested."""
        self.change("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self.change("COMMIT")

    def close(self) -> None:
        """Close; a second time does nothing."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(file: Path, migrations: Sequence[Migration]) -> Database:
    """Open for writing (WAL, synchronous FULL, foreign keys), made and migrated where needed; raises DiskError."""
    with _sqlite_errors(file):
        database = Database(_connect(str(file), uri=False), file)
    try:
        database.row("PRAGMA journal_mode = WAL")
        database.row("PRAGMA synchronous = FULL")
        database.row("PRAGMA foreign_keys = ON")
        _migrate(database, migrations)
    except BaseException:
        database.close()
        raise
    return database


def open_database_to_read(file: Path, migrations: Sequence[Migration]) -> Database:
    """Open a copy in memory, so that reading changes nothing on disk, beside the file included.

    A missing database reads as an empty one, an older one as migrated. With no write-ahead log beside it the file is
    opened as immutable (sqlite.org/uri.html), which makes no -wal and -shm files; otherwise read-only.
    """
    memory = _connect(":memory:", uri=False)
    with _sqlite_errors(file):
        if file.exists() and file.stat().st_size:
            source = _connect(_read_only_address(file), uri=True)
            try:
                source.backup(memory)
            finally:
                source.close()
    database = Database(memory, file)
    _migrate(database, migrations)
    database.row("PRAGMA query_only = ON")
    return database


def _read_only_address(file: Path) -> str:
    log = file.with_name(f"{file.name}-wal")
    still = not (log.exists() and log.stat().st_size)
    return f"file:{quote(str(file))}?mode=ro{'&immutable=1' if still else ''}"


def _connect(address: str, *, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=uri, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


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
