"""`lamplighter doctor`, by the installed program, on real workspaces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest
from tests.acceptance.program import Ended, run, snapshot
from tests.simulators.shop import ShopSimulator, make_product

KIRINO, DROP = "feature-0002-kirino", "lamplighter stock drop"


def examine(workspace: Path, *more: str) -> tuple[Ended, dict[str, str]]:
    """Run it, and return how it ended and the worst state of each line."""
    ended = run("doctor", "--json", "--workspace", workspace, *more)
    states: dict[str, str] = {}
    for found in cast("list[dict[str, str]]", ended.value()["findings"]):
        if states.get(found["about"], "ok") == "ok":
            states[found["about"]] = found["state"]
    return ended, states


def test_a_workspace_of_sample_brands_is_calm_and_untouched(stocked: Path) -> None:
    """Nobody starts its jobs, and nobody waits for a post; only what is outside could not be checked."""
    before = snapshot(stocked)
    ended, states = examine(stocked, "--offline")
    assert ended.code == 3, ended.out
    assert {about for about, state in states.items() if state != "ok"} == {"clock"}
    assert snapshot(stocked) == before


def test_a_shop_over_the_network_is_asked_once_by_our_name(tmp_path: Path) -> None:
    """And says the time: with all else in order the one thing wrong is that nothing starts the jobs."""
    with ShopSimulator(products=[make_product(1), make_product(2)]) as shop:
        workspace = tmp_path / "own"
        run("init", workspace, "--shop", shop.url)
        settings = workspace / "lamplighter.toml"
        listed = f'allowed_hosts = ["127.0.0.1:{shop.port}"]'
        settings.write_text(settings.read_text("utf-8").replace("[network]", f"[network]\n{listed}"), "utf-8")
        ended, states = examine(workspace)
        calls = shop.calls()
    assert (ended.code, len(calls)) == (1, 1)
    assert calls[0].headers["user-agent"].startswith("lamplighter/")
    assert {about for about, state in states.items() if state != "ok"} == {"scheduler", "watch"}
    assert not (workspace / "state").exists()


def test_a_feature_with_a_missing_slide_is_found_by_the_deep_look(stocked: Path) -> None:
    """With what to type, a line each, its state first."""
    (stocked / "content/sns/feature-0002-kirino/slide-2.jpg").unlink()
    ended = run("doctor", "--offline", "--deep", "--workspace", stocked)
    (line,) = (line for line in ended.out.splitlines() if line.startswith("feature"))
    assert (ended.code, ended.err, line) == (
        1,
        "",
        f"feature {KIRINO} wrong: {KIRINO}: slide-2.jpg is missing; put it back from a backup, or {DROP} {KIRINO}",
    )
    assert "scheduler          ok: nothing starts the jobs" in ended.out


def test_a_record_line_of_a_feature_that_is_still_ready_is_found(stocked: Path) -> None:
    """As is a line that says nothing."""
    line = (
        '{"slot":"2026-01-05-1930","feature":"feature-0001-wrenfold","channel":"folder","id":"x","location":"x",'
        '"published_at":"2026-01-05T19:30:00Z"}\nhalf a li'
    )
    (stocked / "state/folder_posted.jsonl").write_text(line)
    ended, states = examine(stocked, "--offline", "--deep")
    assert (ended.code, states["record folder_posted.jsonl"]) == (1, "wrong")
    assert "feature-0001-wrenfold went out for 2026-01-05-1930, and the journal does not know" in ended.out
    assert "line 2 cannot be read" in ended.out


def test_a_damaged_database_is_wrong_and_left_as_it_is(stocked: Path) -> None:
    """The doctor mends nothing; what rests on it could not be checked."""
    file = stocked / "state/lamplighter.db"
    content = bytearray(file.read_bytes())
    content[4_096:40_960] = os.urandom(36_864)
    file.write_bytes(content)
    before = snapshot(stocked)
    ended, states = examine(stocked, "--offline")
    assert (ended.code, states["database"]) == (1, "wrong")
    assert snapshot(stocked) == before


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: another user's folder")
def test_another_users_workspace_is_wrong_and_never_written(stocked: Path) -> None:
    """Root too is another user; what they may write says nothing of the owner."""
    os.chown(stocked, 12_345, -1)
    ended, states = examine(stocked, "--offline")
    assert (ended.code, states["owner"], states["folders"]) == (1, "wrong", "could not check")
    assert "run it as its owner" in ended.out


def test_no_workspace_is_one_line(tmp_path: Path) -> None:
    """As for every command."""
    ended = run("doctor", "--workspace", tmp_path)
    assert (ended.code, ended.err.count("\n")) == (66, 1)
