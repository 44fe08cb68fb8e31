"""The record of what was installed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamplighter.errors import InputError
from lamplighter.schedule.record import (
    FOLDER,
    RECORD_FILE,
    Absence,
    Installed,
    forget_installed,
    read_installed,
    write_installed,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RECORD = Installed(
    launcher="cron",
    project="brand-1",
    folder="/w/brand",
    interpreter="/v/bin/python",
    path="/usr/bin",
    entries={"dev.lamplighter.brand-1.post": "abc"},
    checked_at=NOW,
    absences=(Absence(job="post", drift="missing", begin_at=NOW - timedelta(hours=1), end_at=NOW),),
)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """For the owner's eyes only."""
    write_installed(tmp_path, RECORD)
    assert read_installed(tmp_path) == RECORD
    assert (tmp_path / FOLDER / RECORD_FILE).stat().st_mode & 0o777 == 0o600


def test_where_nothing_was_installed_there_is_no_record(tmp_path: Path) -> None:
    """And forgetting twice is no error."""
    assert read_installed(tmp_path) is None
    write_installed(tmp_path, RECORD)
    forget_installed(tmp_path)
    forget_installed(tmp_path)
    assert read_installed(tmp_path) is None


def test_only_the_newest_absences_are_kept(tmp_path: Path) -> None:
    """A scheduler that goes wrong each day for years fills no disk."""
    write_installed(tmp_path, replace(RECORD, absences=RECORD.absences * 80))
    found = read_installed(tmp_path)
    assert found is not None
    assert len(found.absences) == 50


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"launcher": 1}', '{"entries": [], "launcher": "", "project": ""}', "null", "\x00"]
)
def test_a_record_that_makes_no_sense_is_one_line(tmp_path: Path, content: str) -> None:
    """Never taken for none: then nothing would be expected any more."""
    write_installed(tmp_path, RECORD)
    (tmp_path / FOLDER / RECORD_FILE).write_text(content)
    with pytest.raises(InputError, match="it makes no sense; lamplighter schedule install writes it anew"):
        read_installed(tmp_path)
