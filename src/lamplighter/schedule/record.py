"""What was installed where: a file in the state folder, by which drift is told from what nobody ever asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lamplighter.errors import InputError
from lamplighter.host.files import disk_error, make_folder, read_capped, write_atomic

RECORD_FILE = "installed.json"
FOLDER = "schedule"
_MOST_BYTES = 200_000
_MOST_ABSENCES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A time in which an entry could not start its job: it was gone, or disabled, between two looks."""

    job: str
    drift: str
    begin_at: datetime
    end_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What was installed: at which scheduler, under which project name, for which folder, interpreter and PATH.

    `entries` has the fingerprint of each label; `checked_at` is when all was last as it is to be.
    """

    launcher: str
    project: str
    folder: str
    interpreter: str
    path: str
    entries: Mapping[str, str]
    checked_at: datetime
    absences: tuple[Absence, ...] = field(default=())


def has_record(state_dir: Path) -> bool:
    """Return whether anything was ever installed, as far as can be told without reading."""
    return _file(state_dir).exists()


def read_installed(state_dir: Path) -> Installed | None:
    """Return the record, None where nothing was ever installed; raises InputError for one that makes no sense."""
    file = _file(state_dir)
    if not has_record(state_dir):
        return None
    import json  # noqa: PLC0415 - only where something was installed

    try:
        return _parse(json.loads(read_capped(file, limit=_MOST_BYTES, what="record")))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise InputError(str(file), "it makes no sense", "lamplighter schedule install writes it anew") from None


def write_installed(state_dir: Path, installed: Installed) -> None:
    """Replace the record."""
    make_folder(_file(state_dir).parent, mode=0o700)
    import json  # noqa: PLC0415 - as above

    content = {
        "launcher": installed.launcher,
        "project": installed.project,
        "folder": installed.folder,
        "interpreter": installed.interpreter,
        "path": installed.path,
        "entries": dict(installed.entries),
        "checked_at": installed.checked_at.timestamp(),
        "absences": [
            [absence.job, absence.drift, absence.begin_at.timestamp(), absence.end_at.timestamp()]
            for absence in installed.absences[-_MOST_ABSENCES:]
        ],
    }
    write_atomic(_file(state_dir), json.dumps(content, indent=2, ensure_ascii=False).encode(), mode=0o600)


def forget_installed(state_dir: Path) -> None:
    """Remove the record: from now on nothing is expected to be there."""
    file = _file(state_dir)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(file, error) from error


def _parse(found: Mapping[str, object]) -> Installed:
    entries, absences = found["entries"], found.get("absences", [])
    if not isinstance(entries, Mapping) or not isinstance(absences, list):
        raise TypeError("entries and absences")
    return Installed(
        launcher=str(found["launcher"]),
        project=str(found["project"]),
        folder=str(found["folder"]),
        interpreter=str(found["interpreter"]),
        path=str(found["path"]),
        entries={str(label): str(word) for label, word in entries.items()},
        checked_at=_instant(found["checked_at"]),
        absences=tuple(
            Absence(job=str(job), drift=str(drift), begin_at=_instant(begin), end_at=_instant(end))
            for job, drift, begin, end in absences
        ),
    )


def _instant(seconds: object) -> datetime:
    return datetime.fromtimestamp(float(str(seconds)), tz=UTC)


def _file(state_dir: Path) -> Path:
    return state_dir / FOLDER / RECORD_FILE
