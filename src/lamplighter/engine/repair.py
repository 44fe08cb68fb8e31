"""A damaged database is set aside whole, never deleted, and a new one made; run numbers go on above the logs.

<name>.damaged-<UTC stamp>      what was in its place, with -wal, -shm and -journal beside it under that name
<name>.damaged-<UTC stamp>.txt  why, in one line; it stands alone where nothing was left to set aside
<name>.suspect                  a run met with what could be damage: the next opening to write looks at every page
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamplighter.engine.ledger import has_runs, raise_number_floor
from lamplighter.engine.log import find_highest_log
from lamplighter.errors import Damaged, DiskError, LamplighterError, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.database import (
    LOGS,
    MARK,
    PATIENCE,
    Database,
    Migration,
    beside,
    examine,
    is_doubtful,
    open_alone,
    open_database,
    open_database_to_read,
    refuse_non_file,
)
from lamplighter.host.exclusion import excluding
from lamplighter.host.files import read_capped, sync_folder, write_atomic
from lamplighter.value import value

_SET_ASIDE = ".damaged-"
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"(?P<stamp>[0-9]{8}T[0-9]{6}Z)(-[0-9]{1,3})?(?P<why>\.txt)?")
_MOST_A_SECOND = 999
_SMALLEST = 512  # what is smaller than a page SQLite takes for a new database, and writes over it
_LONGEST_LINE = 1_000
_LOOK = timedelta(milliseconds=500)  # what others change for longer than that works for them
_ENDINGS = ("", *LOGS, "-shm")  # the file first: what a killed repair leaves of the rest is found beside no file


@value
class Repair:
    """What was done about a damaged database: why, when, and where it is now (None: nothing was left of it)."""

    file: Path
    cause: str
    at: datetime
    set_aside: Path | None

    @property
    def line(self) -> str:
        """Return the one line that says so."""
        kept = f"it is kept as {self.set_aside.name}, " if self.set_aside else ""
        return render_line(
            f"{self.file}: it was damaged ({self.cause}); {kept}a new one was made, "
            "and what exists and what went out is found again from the files"
        )


def open_or_repair(
    file: Path, migrations: Sequence[Migration], *, logs_dir: Path, clock: Clock, patience: timedelta = PATIENCE
) -> tuple[Database, Repair | None]:
    """Open a database to write; one that is damaged is set aside first and a new one made, and the repair returned.

    Of several processes that find the damage at once, one repairs and the others open what it made. Raises DiskError
    for all that is not damage: a full disk, no permission, a busy database. A process beside one that has the database
    open for the same run is to call `open_database` instead.
    """
    file = Path(os.path.realpath(file))
    if not _find_doubt(file, logs_dir):
        try:
            return _miss_runs(file, open_database(file, migrations, patience=patience), logs_dir, clock)
        except DiskError as error:
            if not is_doubtful(error):
                raise
    with excluding(file.parent, patience):
        cause = _find_cause(file, migrations, logs_dir)
        if not cause:
            try:
                return _open_trusted(file, migrations, logs_dir, patience), None
            except DiskError as error:
                if not is_doubtful(error):
                    raise
                cause = error.cause
        return _repair(file, migrations, cause, logs_dir=logs_dir, now=clock.now(), patience=patience)


def _miss_runs(file: Path, database: Database, logs_dir: Path, clock: Clock) -> tuple[Database, Repair | None]:
    """Return an open database, and a repair when it knows of no run although runs have left logs."""
    with _closing_on_error(database):
        if has_runs(database):
            return database, None
        highest = find_highest_log(logs_dir)
        if not highest or has_runs(database):  # again: another's first run may have begun in between
            return database, None
        raise_number_floor(database, highest)
        return database, _note(file, _choose_target(file, clock.now()), "it was empty", clock.now())


def _open_trusted(file: Path, migrations: Sequence[Migration], logs_dir: Path, patience: timedelta) -> Database:
    """Open what was looked at; where a torn log lost the last runs, their numbers are not given again."""
    database = open_alone(file, migrations, patience=patience)
    with _closing_on_error(database):
        raise_number_floor(database, find_highest_log(logs_dir))
        _remove_mark(file)
    return database


@contextlib.contextmanager
def _closing_on_error(database: Database) -> Iterator[None]:
    try:
        yield
    except BaseException:
        database.close()
        raise


def open_to_look(file: Path, migrations: Sequence[Migration], *, logs_dir: Path) -> Database:
    """Open a copy to read; raises Damaged for an emptied database of a workspace where runs have been."""
    if file.exists() and _is_lost(file, logs_dir):
        raise Damaged(str(file), "it is empty, but runs have been recorded", "the next run makes a new one")
    return open_database_to_read(file, migrations)


def find_repairs(file: Path) -> tuple[Repair, ...]:
    """Return the repairs whose remains a person has not removed yet, oldest first; writes nothing."""
    file = Path(os.path.realpath(file))
    found: dict[str, Repair] = {}
    with contextlib.suppress(OSError):
        for path in sorted(file.parent.glob(f"{_escape(file.name)}{_SET_ASIDE}*")):
            name = path.name.removeprefix(f"{file.name}{_SET_ASIDE}")
            match = _NAME.fullmatch(name)
            if match is None:
                continue
            key = name.removesuffix(".txt")
            aside = beside(file, f"{_SET_ASIDE}{key}")
            found[key] = Repair(
                file=file,
                cause=_read_why(beside(aside, ".txt")),
                at=_parse_stamp(match["stamp"]),
                set_aside=aside if os.path.lexists(aside) else None,
            )
    return tuple(found.values())


def _find_doubt(file: Path, logs_dir: Path) -> bool:
    """Return whether to look closely: a mark, a log that a dead or living writer left, or no database where one was."""
    if any(_has_bytes(beside(file, ending)) for ending in LOGS) or os.path.lexists(beside(file, MARK)):
        return True
    return beside(file, "-shm").is_dir() or _is_lost(file, logs_dir)


def _find_cause(file: Path, migrations: Sequence[Migration], logs_dir: Path) -> str:
    """Return why the database is to be set aside, "" when it is not."""
    try:
        for ending in _ENDINGS:
            refuse_non_file(beside(file, ending))
    except Damaged as error:
        return f"{Path(error.subject).name}: {error.cause}"
    except OSError:
        return ""  # opening it says what is wrong
    if _is_lost(file, logs_dir):
        return "it is empty" if file.exists() else "it is gone"
    return examine(file, migrations, patience=_LOOK)


def _is_lost(file: Path, logs_dir: Path) -> bool:
    """Return whether there is no database, or nothing in it, where there must have been one: runs have left logs."""
    if _has_bytes(file, _SMALLEST) or (os.path.lexists(file) and not file.is_file()):
        return False
    left = any(_has_bytes(beside(file, ending)) for ending in LOGS)
    return left or os.path.lexists(beside(file, MARK)) or find_highest_log(logs_dir) > 0


def _has_bytes(path: Path, least: int = 1) -> bool:
    try:
        return path.stat().st_size >= least
    except OSError:
        return False


def _repair(
    file: Path, migrations: Sequence[Migration], cause: str, *, logs_dir: Path, now: datetime, patience: timedelta
) -> tuple[Database, Repair]:
    target = _choose_target(file, now)
    for ending in _ENDINGS:
        source = beside(file, ending)
        if os.path.lexists(source):
            _move(source, beside(target, ending))
    repair = _note(file, target, cause, now)
    database = open_alone(file, migrations, patience=patience)
    with _closing_on_error(database):
        raise_number_floor(database, find_highest_log(logs_dir))
        _remove_mark(file)
        sync_folder(file.parent)
    return database, repair


def _note(file: Path, target: Path, cause: str, now: datetime) -> Repair:
    """Leave a note of a repair; on a full disk the name of what was set aside says when, and nothing says why."""
    with contextlib.suppress(LamplighterError):
        write_atomic(beside(target, ".txt"), f"{cause}\n".encode(), mode=0o600)
    return Repair(file=file, cause=cause, at=now, set_aside=target if os.path.lexists(target) else None)


def _choose_target(file: Path, now: datetime) -> Path:
    """Return a name that nothing bears, neither itself nor with an ending; the folder is ours alone meanwhile."""
    stamp = f"{now.astimezone(UTC):{_STAMP}}"
    for count in range(1, _MOST_A_SECOND):
        target = beside(file, f"{_SET_ASIDE}{stamp}{'' if count == 1 else f'-{count}'}")
        if not any(os.path.lexists(beside(target, ending)) for ending in (*_ENDINGS, ".txt")):
            return target
    raise DiskError(str(file), "it was damaged again and again", "look after the disk")


def _remove_mark(file: Path) -> None:
    with contextlib.suppress(OSError):  # a disk that is read-only: then it is looked at again the next time
        beside(file, MARK).unlink(missing_ok=True)


def _move(source: Path, target: Path) -> None:
    try:
        os.rename(source, target)
    except OSError as error:
        remedy = "move it away by hand"
        raise DiskError(str(source), f"cannot be set aside: {error.strerror or error}", remedy) from error


def _read_why(file: Path) -> str:
    try:
        return render_line(read_capped(file, limit=_LONGEST_LINE).decode("utf-8", "replace"))
    except LamplighterError:
        return "nobody noted why"


def _parse_stamp(stamp: str) -> datetime:
    try:
        return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(0, tz=UTC)


def _escape(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
