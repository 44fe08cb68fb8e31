"""Workspaces to kill in, made once a session by the program itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.crash.matrix import run


@pytest.fixture(scope="session")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with three ready features and nothing posted."""
    folder = tmp_path_factory.mktemp("stocked") / "workspace"
    assert run("init", str(folder), "--shop", "sample").code == 0
    catalog = folder / "brand-catalog.json"
    brands = json.loads(catalog.read_text("utf-8"))
    for brand in brands["brands"]:
        brand["products_per_feature"] = 1  # fewer slides to draw, the same steps
    catalog.write_text(json.dumps(brands), "utf-8")
    for _ in range(2):
        assert run("generate", "--workspace", str(folder)).code == 0
    return folder


@pytest.fixture(scope="session")
def one_missing(stocked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with two of three features ready."""
    folder = tmp_path_factory.mktemp("missing") / "workspace"
    shutil.copytree(stocked, folder)
    shutil.rmtree(max((folder / "content/sns").glob("feature-*")))
    return folder
