"""Many may open what is in a folder, or one alone may move it about."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.child import Child

from lamplighter.errors import DiskError
from lamplighter.host.exclusion import excluding, sharing

AT_ONCE = timedelta(0)
LONG = timedelta(seconds=20)
HOLDER = """
import sys
from datetime import timedelta
from pathlib import Path
from lamplighter.host import exclusion
with getattr(exclusion, sys.argv[1])(Path(sys.argv[2]), timedelta(0)):
    print("held", flush=True)
    input()
"""


def test_several_share_a_folder(tmp_path: Path) -> None:
    """Opening is nothing that others wait for."""
    with Child(HOLDER, "sharing", tmp_path) as child:
        child.hear()
        with sharing(tmp_path, AT_ONCE), sharing(tmp_path, AT_ONCE):
            pass


@pytest.mark.parametrize("kind", ["sharing", "excluding"])
def test_one_alone_waits_for_all_others_and_gives_up_in_one_line(tmp_path: Path, kind: str) -> None:
    """Whoever has it, and however."""
    with Child(HOLDER, kind, tmp_path) as child:
        child.hear()
        with pytest.raises(DiskError) as caught, excluding(tmp_path, AT_ONCE):
            pytest.fail("two had it")
    assert str(caught.value) == f"{tmp_path}: another program keeps the database in it; run it again later"


def test_who_has_it_alone_keeps_out_those_who_share(tmp_path: Path) -> None:
    """Nobody opens what is being moved, until it is done or its mover dead."""
    with Child(HOLDER, "excluding", tmp_path) as child:
        child.hear()
        with pytest.raises(DiskError), sharing(tmp_path, AT_ONCE):
            pytest.fail("two had it")
        child.kill()
        with sharing(tmp_path, AT_ONCE):
            pass


def test_waiting_ends_when_the_other_does(tmp_path: Path) -> None:
    """Long before the patience is used up."""
    with Child(HOLDER, "excluding", tmp_path) as child:
        child.hear()
        with pytest.raises(DiskError), excluding(tmp_path, AT_ONCE):
            pytest.fail("two had it")
        started = time.monotonic()
        child.tell()
        with excluding(tmp_path, LONG):
            assert time.monotonic() - started < LONG.total_seconds() / 4


def test_a_folder_that_is_gone_is_nothing_to_hold(tmp_path: Path) -> None:
    """Who opens the file in it says so."""
    with sharing(tmp_path / "gone", AT_ONCE), excluding(tmp_path / "gone", AT_ONCE):
        pass
