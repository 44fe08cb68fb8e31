"""`lamplighter run x -- CMD` killed at every step of its supervisor: the next run works, and every row has its word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.crash.matrix import (
    SHARDS,
    Matrix,
    choose_points,
    leftovers,
    read_runs,
    run_planted,
    runs_without_outcome,
)

COMMAND = (
    "run", "x", "--workspace", "{workspace}", "--output", "{workspace}/made.txt", "--max-runtime", "1m", "--",
    "sh", "-c", 'sleep 60 & sleep 0.4; echo made > "$1"', "sh", "{workspace}/made.txt",
)  # fmt: skip
pytestmark = [pytest.mark.crash, pytest.mark.timeout(1500)]


@pytest.fixture(scope="session")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace where the job ran before."""
    folder = tmp_path_factory.mktemp("used") / "workspace"
    folder.mkdir()
    (folder / "lamplighter.toml").write_text('zone = "UTC"\n')
    assert run_planted("none", "run", "x", "--workspace", str(folder), "--", "true").code == 0
    return folder


def find_harm(workspace: Path, plant: str) -> list[str]:
    """Run the job again after a kill and return what is wrong then."""
    again = run_planted(plant, "run", "x", "--json", "--workspace", str(workspace), "--", "true")
    if again.code:
        return [f"the next run ended with {again}"]
    rows = read_runs(workspace)
    outcomes = [row.report.outcome.value if row.report else "none" for row in rows]
    harm = []
    if "killed" in outcomes[1:] and "predecessor_died" not in json.loads(again.out)["flags"]:
        harm.append(f"the death was not told: {again.out}")
    if outcomes[0] != "completed" or set(outcomes[1:-1]) - {"killed", "produced"}:
        harm.append(f"outcomes are {outcomes}")
    generations = [row.generation for row in rows if row.generation]
    if generations != sorted(set(generations), reverse=True):
        harm.append(f"generations are {generations}")
    return [*harm, *leftovers(workspace), *runs_without_outcome(workspace)]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_killed_run_is_told_and_keeps_nobody_out(used: Path, tmp_path: Path, shard: int) -> None:
    """Whatever line the supervisor dies at, the next run works at once, and nothing of the dead one is alive."""
    matrix = Matrix(command=COMMAND, source=used, folder=tmp_path, find_harm=find_harm)
    assert matrix.harms(choose_points(matrix.points(), shard)) == {}


def test_the_matrix_catches_a_death_that_nobody_writes_down(used: Path, tmp_path: Path) -> None:
    """With the planted bug some point leaves a row without an outcome, so a matrix without harm means something."""
    plant = "no-reconcile"
    matrix = Matrix(command=COMMAND, source=used, folder=tmp_path, find_harm=find_harm, plant=plant)
    points = matrix.points(inside="engine/ledger.py")
    assert any(matrix.kill_and_look(point) for point in points)
