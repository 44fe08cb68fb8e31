"""`post` killed at every step: the day's feature goes out once, whole and recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.crash.matrix import (
    SHARDS,
    choose_steps,
    leftovers,
    list_steps,
    make_workspace,
    run_killed,
    run_planted,
    runs_without_outcome,
)

from lamplighter.featurepost.feature import parse_manifest

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


def kill_and_look(stocked: Path, folder: Path, step: int, plant: str) -> list[str]:
    """Kill `post` at one step in a fresh workspace and return the harm done."""
    workspace = make_workspace(stocked, folder / str(step))
    ended = run_killed(step, plant, "post", "--workspace", str(workspace))
    if not ended.killed:
        return [f"was not killed: {ended}"]
    return find_harm(workspace, plant)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_killed_post_goes_out_exactly_once(stocked: Path, tmp_path: Path, shard: int) -> None:
    """Whatever line the process dies at, the next run leaves one whole post, one record line, no leftovers."""
    steps = list_steps("none", "post", "--workspace", str(make_workspace(stocked, tmp_path / "count")))
    harms = {step: kill_and_look(stocked, tmp_path, step, "none") for step in choose_steps(steps, shard)}
    assert {step: harm for step, harm in harms.items() if harm} == {}


def test_the_matrix_catches_a_journal_that_is_written_after_the_call(stocked: Path, tmp_path: Path) -> None:
    """With the planted bug some step does harm, so a matrix without harm means something."""
    plant = "journal-after-call"
    workspace = make_workspace(stocked, tmp_path / "count")
    steps = list_steps(plant, "post", "--workspace", str(workspace), inside="publish/journal.py")
    assert any(kill_and_look(stocked, tmp_path, step, plant) for step in steps)
