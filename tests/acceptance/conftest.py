"""Workspaces that the installed program made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.acceptance.program import run


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of the sample brands with a full stock and nothing posted."""
    folder = tmp_path_factory.mktemp("made") / "workspace"
    assert run("init", folder, "--shop", "sample").code == 0
    for _ in range(2):
        assert run("generate", "--workspace", folder).code == 0
    return folder


@pytest.fixture
def stocked(made_once: Path, tmp_path: Path) -> Path:
    """Return a copy of it for one test; its shops are linked, they are only read."""
    folder = tmp_path / "workspace"
    shutil.copytree(made_once, folder, ignore=shutil.ignore_patterns("shop"))
    (folder / "shop").symlink_to(made_once / "shop")
    return folder
