"""Where a workspace is: owner, folders, disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lamplighter.doctor.finding import State
from lamplighter.doctor.place import (
    find_closed,
    judge_space,
    look_at_folders,
    look_at_owner,
    look_at_state_disk,
    refuse_other_eyes,
)
from lamplighter.errors import DiskError, UsageError
from lamplighter.host.space import Space

GB = 1_000_000_000


def test_only_the_owner_is_right(tmp_path: Path) -> None:
    """Root included: what writes refuses every other."""
    (mine,) = look_at_owner(tmp_path)
    (other,) = look_at_owner(tmp_path, user=12_345)
    assert (mine.state, other.state, other.remedy) == (State.OK, State.WRONG, "run it as its owner")


def test_a_folder_that_is_gone_has_no_owner_to_tell(tmp_path: Path) -> None:
    """That could not be checked."""
    with pytest.raises((DiskError, OSError)):
        tuple(look_at_owner(tmp_path / "gone"))


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: another user's folder")
def test_what_another_user_may_write_says_nothing(tmp_path: Path) -> None:
    """Root may write everywhere, and the owner perhaps nowhere."""
    os.chown(tmp_path, 12_345, -1)
    with pytest.raises(UsageError, match="only its owner can tell"):
        refuse_other_eyes(tmp_path)


def test_folders_are_writable_or_can_be_made(tmp_path: Path) -> None:
    """A missing one counts by what is above it."""
    (found,) = look_at_folders((tmp_path, tmp_path / "state" / "locks"))
    assert found.state is State.OK


def test_a_file_in_the_place_of_a_folder_is_wrong(tmp_path: Path) -> None:
    """Itself, or above the folder."""
    (tmp_path / "state").touch()
    found = tuple(look_at_folders((tmp_path / "state", tmp_path / "state" / "locks")))
    assert [finding.state for finding in found] == [State.WRONG, State.WRONG]
    assert "is in the way" in found[0].words
    assert "cannot be made" in found[1].words


def test_a_closed_folder_is_wrong(tmp_path: Path) -> None:
    """And so is one that would have to be made in it."""
    assert find_closed(tmp_path, may=lambda *_: False) == "cannot be written"
    assert "cannot be made" in find_closed(tmp_path / "state", may=lambda *_: False)


def test_a_synced_folder_is_no_place_for_the_state(tmp_path: Path) -> None:
    """Locks do not hold there."""
    (good,) = look_at_state_disk(tmp_path)
    (bad,) = look_at_state_disk(tmp_path / "Dropbox" / "state")
    assert (good.state, bad.state) == (State.OK, State.WRONG)
    assert "Dropbox copies to and fro" in bad.words
    assert "state_dir" in bad.remedy


@pytest.mark.parametrize(
    ("space", "state"),
    [
        (Space(free=20 * GB, total=100 * GB, free_files=10**6, total_files=10**7), State.OK),
        (Space(free=20 * GB, total=100 * GB, free_files=0, total_files=0), State.OK),
        (Space(free=GB // 10, total=100 * GB, free_files=10**6, total_files=10**7), State.WRONG),
        (Space(free=20 * GB, total=100 * GB, free_files=3, total_files=10**7), State.WRONG),
    ],
)
def test_a_disk_needs_room(tmp_path: Path, space: Space, state: State) -> None:
    """For bytes and for files, where there is a limit to them."""
    assert judge_space(tmp_path, space).state is state
