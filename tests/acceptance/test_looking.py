"""Looking changes nothing: dry runs and reports leave every byte, name and time in the workspace as it was."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.acceptance.program import run, snapshot

LOOKS = (
    ("generate", "--dry-run"),
    ("generate", "--dry-run", "--force", "--json"),
    ("post", "--dry-run"),
    ("post", "--dry-run", "--json"),
    ("status",),
    ("status", "--json"),
    ("stock", "list", "--all"),
    ("stock", "show", "feature-0001-wrenfold"),
    ("brands", "list"),
    ("runs", "list"),
    ("posted",),
)


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_a_look_changes_nothing(stocked: Path, command: tuple[str, ...]) -> None:
    """With a database in place, the workspace is the same before and after."""
    before = snapshot(stocked)
    assert run(*command, "--workspace", stocked).code == 0
    assert snapshot(stocked) == before


@pytest.mark.parametrize("command", [("generate", "--dry-run"), ("post", "--dry-run"), ("status",)], ids=" ".join)
def test_a_look_at_a_fresh_workspace_makes_no_state(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Without a database, none is made."""
    workspace = tmp_path / "fresh"
    run("init", workspace, "--shop", "sample")
    before = snapshot(workspace)
    assert run(*command, "--workspace", workspace).code == 0
    assert snapshot(workspace) == before


def test_a_look_beside_a_writer_changes_nothing(stocked: Path) -> None:
    """With a write-ahead log of a living writer beside the database, it is read and left alone."""
    database = stocked / "state/lamplighter.db"
    with contextlib.closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE feature_number SET highest = highest + 1")
        writer.commit()
        before = {name: entry for name, entry in snapshot(stocked).items() if not name.endswith("-shm")}
        assert run("status", "--workspace", stocked).code == 0
        after = {name: entry for name, entry in snapshot(stocked).items() if not name.endswith("-shm")}
    assert after == before


def test_a_dry_run_says_what_a_run_then_does(stocked: Path) -> None:
    """The dry run names the feature that goes out."""
    planned = run("post", "--dry-run", "--json", "--workspace", stocked).value()
    assert run("post", "--json", "--workspace", stocked).value()["outputs"] == [planned["feature"]]


def test_a_dry_run_needs_no_shop(stocked: Path) -> None:
    """What it says comes from stock and catalog alone."""
    (stocked / "shop").unlink()
    shutil.rmtree(stocked / "content/sns/feature-0003-wrenfold")
    planned = run("generate", "--dry-run", "--json", "--workspace", stocked).value()
    assert (planned["stock"], planned["would_make"]) == (2, 1)
