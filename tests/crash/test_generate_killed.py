"""`generate` killed at every step: what is ready is whole, what is not stays a draft, and the next run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crash.matrix import (
    SHARDS,
    Matrix,
    choose_points,
    leftovers,
    run,
    runs_without_outcome,
)

from lamplighter.featurepost.feature import parse_manifest

COMMAND = ("generate", "--workspace", "{workspace}")
pytestmark = [pytest.mark.crash, pytest.mark.timeout(1500)]


def find_half_features(workspace: Path) -> list[str]:
    """Return ready folders that are not whole, each with what it lacks."""
    half = []
    for folder in (workspace / "content/sns").glob("feature-*"):
        manifest = folder / "feature.json"
        if not manifest.is_file():
            half.append(f"{folder.name}: no manifest")
            continue
        feature = parse_manifest(manifest.read_bytes())
        names = {"feature.json", "caption.txt", "qa.json", *(slide.file for slide in feature.slides)}
        if {path.name for path in folder.iterdir()} != names:
            half.append(f"{folder.name}: holds {sorted(path.name for path in folder.iterdir())}")
    return half


def find_harm(workspace: Path, plant: str) -> list[str]:
    """Look at once after a kill, run `generate` again, and return what is wrong."""
    del plant  # the next run is a sound one
    harm = [f"right after the kill: {half}" for half in find_half_features(workspace)]
    again = run("generate", "--workspace", str(workspace))
    if again.code:
        harm.append(f"the next generate ended with {again}")
    ready = [path.name for path in (workspace / "content/sns").glob("feature-*")]
    drafts = list((workspace / "content/sns").glob("_draft-*"))
    if len(ready) != 3:
        harm.append(f"ready are {ready}")
    numbers = [name.split("-")[1] for name in ready] + [path.name.split("-")[2] for path in drafts]
    if len(set(numbers)) != len(numbers):
        harm.append(f"an id came twice: {numbers}")
    harm += [f"{draft.name} does not say why" for draft in drafts if not (draft / "failure.json").is_file()]
    left = [name for name in leftovers(workspace) if "_draft-" not in name]
    return [*harm, *find_half_features(workspace), *left, *runs_without_outcome(workspace)]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_killed_generate_leaves_no_half_feature(one_missing: Path, tmp_path: Path, shard: int) -> None:
    """Whatever line the process dies at, ready features are whole and the next run fills the stock."""
    matrix = Matrix(command=COMMAND, source=one_missing, folder=tmp_path, find_harm=find_harm)
    assert matrix.harms(choose_points(matrix.points(), shard)) == {}


def test_the_matrix_catches_a_copy_in_place_of_the_rename(one_missing: Path, tmp_path: Path) -> None:
    """With the planted bug some point leaves half a feature, so a matrix without harm means something."""
    plant = "copy-instead-of-rename"
    matrix = Matrix(command=COMMAND, source=one_missing, folder=tmp_path, find_harm=find_harm, plant=plant)
    points = matrix.points(inside="planted.py")
    assert any(matrix.kill_and_look(point) for point in reversed(points))
