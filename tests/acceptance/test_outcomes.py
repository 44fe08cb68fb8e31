"""Outcomes and exit codes of `generate` and `post`, each reached by the installed program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.acceptance.program import Ended, run


def last_run(workspace: Path) -> dict[str, object]:
    """Return the newest run as recorded."""
    rows: list[dict[str, object]] = json.loads(run("runs", "list", "--json", "--workspace", workspace).out)
    return rows[0]


def set_setting(workspace: Path, line: str) -> None:
    """Put one line under the settings' first table."""
    file = workspace / "lamplighter.toml"
    file.write_text(file.read_text("utf-8").replace("[generate]", f"[generate]\n{line}"), "utf-8")


def test_a_full_stock_is_nothing_needed_with_evidence(stocked: Path) -> None:
    """Exit 0, and the count and the counted names are in the record."""
    ended = run("generate", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["outcome"]) == (0, "nothing_needed")
    assert last_run(stocked)["evidence"] == {
        "stock": "3 of 3",
        "counted": "feature-0001-wrenfold, feature-0002-kirino, feature-0003-wrenfold",
    }


def test_force_makes_one_more_by_the_same_path(stocked: Path) -> None:
    """`--force` makes one whatever the stock, flagged as forced."""
    ended = run("generate", "--force", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["outcome"], ended.value()["flags"]) == (0, "produced", ["forced"])
    assert len(list((stocked / "content/sns").glob("feature-*"))) == 4


def test_an_empty_stock_is_nothing_ready(tmp_path: Path) -> None:
    """`post` without a ready feature exits 66 and says what to type."""
    run("init", tmp_path / "w", "--shop", "sample")
    ended = run("post", "--workspace", tmp_path / "w")
    assert ended.code == 66
    assert "lamplighter generate" in ended.out
    assert last_run(tmp_path / "w")["outcome"] == "nothing_ready"


def test_a_second_post_on_a_day_is_nothing_needed(stocked: Path) -> None:
    """The slot's post and its id are the evidence."""
    assert run("post", "--workspace", stocked).code == 0
    ended = run("post", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["outcome"]) == (0, "nothing_needed")
    assert "feature-0001-wrenfold" in str(ended.value()["evidence"])


def test_an_extra_post_must_be_confirmed(stocked: Path) -> None:
    """With nobody at a terminal `--force` on a day that has its post is refused."""
    assert run("post", "--workspace", stocked).code == 0
    assert run("post", "--force", "--workspace", stocked).code == 64
    assert len(list((stocked / "outbox").iterdir())) == 1


def test_broken_settings_are_a_recorded_failure(stocked: Path) -> None:
    """Exit 65 with the line's key and the nearest right one, and a row in the database all the same."""
    set_setting(stocked, "targt = 4")
    ended = run("generate", "--workspace", stocked)
    assert ended.code == 65
    assert "did you mean target?" in ended.out
    file = stocked / "lamplighter.toml"
    file.write_text(file.read_text("utf-8").replace("targt = 4\n", ""), "utf-8")
    assert (last_run(stocked)["outcome"], last_run(stocked)["failure"]) == ("failed", "config")


def test_a_broken_catalog_is_a_recorded_failure(stocked: Path) -> None:
    """Exit 65, one line that names file and cause."""
    (stocked / "brand-catalog.json").write_text('{"brands": [')
    ended = run("generate", "--force", "--workspace", stocked)
    assert ended.code == 65
    assert "brand-catalog.json" in ended.out
    assert last_run(stocked)["failure"] == "config"


def test_an_unknown_brand_is_an_input_error(stocked: Path) -> None:
    """Exit 66, and the known ones are named."""
    ended = run("generate", "--brand", "nobody", "--workspace", stocked)
    assert ended.code == 66
    assert "wrenfold, kirino" in ended.out


def test_shops_that_cannot_be_read_fail_as_upstream_and_keep_drafts(stocked: Path) -> None:
    """Exit 69 after every brand was tried once; each draft says at which step and why."""
    (stocked / "shop").unlink()
    for slug in ("wrenfold", "kirino"):
        (stocked / "shop" / slug).mkdir(parents=True)
        (stocked / "shop" / slug / "products.json").write_text("<html>closed</html>")
    ended = run("generate", "--force", "--workspace", stocked)
    assert ended.code == 69
    drafts = sorted((stocked / "content/sns").glob("_draft-*"))
    failures = [json.loads((draft / "failure.json").read_text()) for draft in drafts]
    assert [failure["step"] for failure in failures] == ["products", "products"]


def test_skipping_every_brand_is_a_cooldown(stocked: Path) -> None:
    """Exit 75, and the line says until when."""
    for slug in ("wrenfold", "kirino"):
        assert run("brands", "skip", slug, "--days", "2", "--workspace", stocked).code == 0
    ended = run("generate", "--force", "--workspace", stocked)
    assert ended.code == 75
    assert last_run(stocked)["outcome"] == "cooldown"


def test_wrong_usage_is_64(stocked: Path) -> None:
    """An unknown command, an unknown flag and a missing argument."""
    assert run("genrate").code == 64
    assert run("generate", "--frce", "--workspace", stocked).code == 64
    assert run("stock", "show", "--workspace", stocked).code == 64


def test_no_workspace_is_an_input_error(tmp_path: Path) -> None:
    """Exit 66, and how to make one."""
    ended = run("status", cwd=tmp_path)
    assert ended.code == 66
    assert "lamplighter init" in ended.err


def start_generate(workspace: Path) -> subprocess.Popen[str]:
    """Start `generate --force` and return when it holds its lock."""
    process = subprocess.Popen(
        [Path(sys.executable).parent / "lamplighter", "generate", "--force", "--workspace", workspace],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list((workspace / "content/sns").glob("_draft-*")):
        time.sleep(0.005)
    return process


def test_a_run_beside_another_says_who_is_at_work(stocked: Path) -> None:
    """Exit 75 with the pid of the one at work, recorded as lock_held, not as success."""
    process = start_generate(stocked)
    os.killpg(process.pid, signal.SIGSTOP)
    try:
        ended = run("generate", "--workspace", stocked)
        status: Ended = run("status", "--workspace", stocked)
    finally:
        os.killpg(process.pid, signal.SIGCONT)
        process.communicate(timeout=60)
    assert (ended.code, last_run(stocked)["outcome"]) == (75, "lock_held")
    assert f"pid {process.pid}" in ended.out
    assert f"pid {process.pid}" in status.out
    assert process.returncode == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_run_that_is_asked_to_stop_says_so(stocked: Path, number: signal.Signals, code: int) -> None:
    """The exit code is 128 + the signal, the run is recorded as interrupted, and no child lives on."""
    process = start_generate(stocked)
    os.kill(process.pid, number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code, out
    assert last_run(stocked)["outcome"] == "interrupted"


def test_a_killed_run_never_holds_the_lock(stocked: Path) -> None:
    """The founding story: after SIGKILL the next run starts at once, and says that its predecessor died."""
    process = start_generate(stocked)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    ended = run("generate", "--force", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["outcome"]) == (0, "produced")
    assert ended.value()["flags"] == ["forced", "predecessor_died"]
    rows = json.loads(run("runs", "list", "--json", "--workspace", stocked).out)
    assert [rows[1]["outcome"], rows[1]["exit_code"]] == ["killed", 137]
    drafts = list((stocked / "content/sns").glob("_draft-*"))
    assert [json.loads((draft / "failure.json").read_text())["step"] for draft in drafts] == ["interrupted"]


@pytest.mark.parametrize("content", ["", "94799", "-1", "0", "not a number", "9" * 400])
def test_an_old_pid_file_never_blocks(stocked: Path, content: str) -> None:
    """Whatever an old script left in the lock's place, a run starts."""
    folder = stocked / "state/locks/generate"
    (folder / "lock").write_text(content)
    (folder / "owner.json").write_text(content)
    assert run("generate", "--workspace", stocked).code == 0


def test_a_lost_database_is_made_again_from_the_folders(stocked: Path) -> None:
    """Without the database the stock still counts, ids go on, and nothing is made twice."""
    shutil.rmtree(stocked / "state")
    assert run("generate", "--json", "--workspace", stocked).value()["outcome"] == "nothing_needed"
    assert run("generate", "--force", "--workspace", stocked).code == 0
    numbers = sorted(path.name[8:12] for path in (stocked / "content/sns").glob("feature-*"))
    assert numbers == ["0001", "0002", "0003", "0004"]
