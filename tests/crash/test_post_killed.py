"""`post` killed at every step: the day's feature goes out once, whole and recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.crash.matrix import (
    SHARDS,
    Matrix,
    choose_points,
    leftovers,
    run_planted,
    runs_without_outcome,
)

from lamplighter.featurepost.feature import parse_manifest

COMMAND = ("post", "--workspace", "{workspace}")
pytestmark = [pytest.mark.crash, pytest.mark.timeout(1500)]


def find_harm(workspace: Path, plant: str) -> list[str]:
    """Run `post` twice after a kill and return what is wrong then."""
    again = run_planted(plant, "post", "--workspace", str(workspace))
    last = run_planted(plant, "post", "--json", "--workspace", str(workspace))
    harm = [f"the next post ended with {again}"] if again.code else []
    if json.loads(last.out)["outcome"] != "nothing_needed":
        harm.append(f"a later post said {last.out}")
    folders = sorted((workspace / "outbox").iterdir())
    features = [parse_manifest((folder / "feature.json").read_bytes()) for folder in folders]
    if len(folders) != 1:
        harm.append(f"the outbox holds {[folder.name for folder in folders]}")
    for folder, feature in zip(folders, features, strict=True):
        names = {"feature.json", "caption.txt", "preview.html", *(slide.file for slide in feature.slides)}
        if {path.name for path in folder.iterdir()} != names:
            harm.append(f"{folder.name} is not whole")
        if not (workspace / "content/sns/posted" / feature.id).is_dir():
            harm.append(f"{feature.id} is not among the posted")
    record = workspace / "state/folder_posted.jsonl"
    lines = record.read_text().splitlines() if record.exists() else []
    if [json.loads(line)["feature"] for line in lines] != [feature.id for feature in features]:
        harm.append(f"the record says {lines}")
    return [*harm, *leftovers(workspace), *runs_without_outcome(workspace)]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_killed_post_goes_out_exactly_once(stocked: Path, tmp_path: Path, shard: int) -> None:
    """Whatever line the process dies at, the next run leaves one whole post, one record line, no leftovers."""
    matrix = Matrix(command=COMMAND, source=stocked, folder=tmp_path, find_harm=find_harm)
    assert matrix.harms(choose_points(matrix.points(), shard)) == {}


def test_the_matrix_catches_a_journal_that_is_written_after_the_call(stocked: Path, tmp_path: Path) -> None:
    """With the planted bug some point does harm, so a matrix without harm means something."""
    plant = "journal-after-call"
    matrix = Matrix(command=COMMAND, source=stocked, folder=tmp_path, find_harm=find_harm, plant=plant)
    points = matrix.points(inside="publish/journal.py")
    assert any(matrix.kill_and_look(point) for point in points)
