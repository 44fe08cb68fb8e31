"""`lamplighter watch`, by the installed program: exit codes, ALERT.txt, the line at the head of every command."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest
from tests.acceptance.program import Ended, run
from tests.simulators.child import Child
from tests.simulators.clock import daytime_zone

_PROGRAM = Path(sys.executable).parent / "lamplighter"
_HOLD = """
import sys
from pathlib import Path
from lamplighter.engine.lock import JobLock
from lamplighter.host.clock import SystemClock
lock = JobLock(Path(sys.argv[1]), SystemClock())
lock.acquire("lamplighter generate")
print("held", flush=True)
sys.stdin.readline()
"""


def watch(workspace: Path) -> Ended:
    """Tick once."""
    return run("watch", "--workspace", workspace)


def alert(workspace: Path) -> str:
    """Return what ALERT.txt says, "" when there is none."""
    file = workspace / "ALERT.txt"
    return file.read_text("utf-8") if file.exists() else ""


def post_at(workspace: Path, text: str) -> None:
    """Set the time of the day's post."""
    file = workspace / "lamplighter.toml"
    lines = [line for line in file.read_text("utf-8").split("\n") if not line.startswith("at = ")]
    file.write_text("\n".join(lines).replace("[post]", f'[post]\nat = "{text}"'), "utf-8")


def incidents(workspace: Path) -> list[tuple[int, str]]:
    """Return number and key of what is open, as a tick tells it in JSON."""
    found = json.loads(run("watch", "--json", "--workspace", workspace).out)["incidents"]
    return [(incident["number"], incident["key"]) for incident in cast("list[dict[str, str]]", found)]  # type: ignore[misc]


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start the program and leave it to itself."""
    return subprocess.Popen(
        [_PROGRAM, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TZ": daytime_zone()},
    )


def test_a_workspace_where_all_is_well_exits_0(stocked: Path) -> None:
    """A verdict a line, and no file."""
    ended = watch(stocked)
    assert (ended.code, ended.err, alert(stocked)) == (0, "", "")
    assert all(line.startswith(("ok ", "new ")) for line in ended.out.splitlines())


def test_a_missing_post_exits_2_until_it_is_out(stocked: Path) -> None:
    """With what is missing, since when, why and what to type; the command it names ends it."""
    post_at(stocked, "00:01")
    ended = watch(stocked)
    assert ended.code == 2
    assert "failing  no post went out for " in ended.out
    assert alert(stocked).startswith("ALERT: no post went out for ")
    assert "  type: lamplighter post\n" in alert(stocked)
    assert run("post", "--workspace", stocked).code == 0
    assert (watch(stocked).code, alert(stocked)) == (0, "")


def test_broken_settings_exit_3(stocked: Path) -> None:
    """Nobody can tell anything: said in ALERT.txt, and not taken for well."""
    file = stocked / "lamplighter.toml"
    right = file.read_text("utf-8")
    file.write_text("[generate\n", "utf-8")
    ended = watch(stocked)
    assert (ended.code, "unknown  nobody can tell about the whole workspace" in ended.out) == (3, True)
    assert "this is not TOML" in alert(stocked)
    file.write_text(right, "utf-8")
    assert (watch(stocked).code, alert(stocked)) == (0, "")


def test_three_runs_that_found_the_lock_held_are_told(stocked: Path) -> None:
    """The story: each exits 75, and the next tick calls somebody."""
    with Child(_HOLD, stocked / "state/locks/generate") as holder:
        assert holder.hear() == "held"
        assert [run("generate", "--workspace", stocked).code for _ in range(3)] == [75] * 3
        assert watch(stocked).code == 2
        assert "type: lamplighter lock status generate" in alert(stocked)
        assert [key for _, key in incidents(stocked)] == ["streak_generate"]
    assert run("generate", "--workspace", stocked).code == 0
    assert (watch(stocked).code, alert(stocked)) == (0, "")


def test_a_killed_run_has_its_word_after_the_next_tick(stocked: Path) -> None:
    """Nobody has to start generate again to learn that it was killed."""
    generate = start("generate", "--force", "--workspace", stocked)
    owner = stocked / "state/locks/generate/owner.json"
    before = owner.read_bytes()
    end = time.monotonic() + 30
    while owner.read_bytes() == before and time.monotonic() < end:
        time.sleep(0.01)
    generate.send_signal(signal.SIGKILL)
    generate.wait()
    while watch(stocked).code and time.monotonic() < end:
        time.sleep(0.1)
    newest = json.loads(run("runs", "list", "--json", "--workspace", stocked).out)[0]
    assert (newest["job"], newest["outcome"]) == ("generate", "killed")


def test_watchers_at_once_open_one_incident(stocked: Path) -> None:
    """Five started together: each says the same, and there is one."""
    post_at(stocked, "00:01")
    watchers = [start("watch", "--workspace", stocked) for _ in range(5)]
    assert [watcher.wait(timeout=60) for watcher in watchers] == [2] * 5
    assert incidents(stocked) == [(1, "post_today")]


def test_a_watcher_killed_at_any_time_repeats_and_forgets_nothing(stocked: Path) -> None:
    """Killed twelve times: the next one opens or keeps the one incident, and the file is always whole."""
    post_at(stocked, "00:01")
    dice = random.Random(seed := random.randrange(10_000))
    print(f"seed {seed}")
    for _ in range(12):
        watcher = start("watch", "--workspace", stocked)
        time.sleep(dice.uniform(0.05, 0.4))
        watcher.send_signal(signal.SIGKILL)
        watcher.wait()
        assert alert(stocked) == "" or alert(stocked).endswith("when all is well again.\n")
    assert incidents(stocked) == [(1, "post_today")]
    assert run("post", "--workspace", stocked).code == 0
    assert (watch(stocked).code, alert(stocked)) == (0, "")


def test_a_tick_is_told_as_one_json_value(stocked: Path) -> None:
    """Everything a monitor wants, and the exit code in it."""
    value = run("watch", "--json", "--workspace", stocked).value()
    assert (value["standing"], value["exit_code"], value["incidents"], value["away_since"]) == ("ok", 0, [], None)
    verdicts = cast("list[dict[str, str]]", value["verdicts"])
    assert {verdict["standing"] for verdict in verdicts} == {"ok", "new"}


def test_outside_a_workspace_there_is_nothing_to_watch(tmp_path: Path) -> None:
    """Exit 66, as for every command."""
    assert run("watch", cwd=tmp_path).code == 66


@pytest.mark.parametrize("command", [("status",), ("stock", "list"), ("runs", "list"), ("posted",)])
def test_what_is_wrong_stands_at_the_head_of_every_command(stocked: Path, command: tuple[str, ...]) -> None:
    """On standard error, so that what a program reads stays as it is."""
    post_at(stocked, "00:01")
    watch(stocked)
    ended = run(*command, "--json", "--workspace", stocked)
    assert ended.code == 0
    assert ended.err.startswith("lamplighter: ALERT: no post went out for ")
    json.loads(ended.out)


def test_a_watcher_that_stopped_stands_at_the_head_too(stocked: Path) -> None:
    """Its mark is hours old: said by every command, but by no watcher."""
    watch(stocked)
    (stocked / "state/watch-tick").write_text(f"{int(time.time()) - 9 * 3600} 300\n", "ascii")
    assert "watch has not run for 9 hours" in run("status", "--workspace", stocked).err
    assert watch(stocked).err == ""


def test_a_scheduled_run_says_nothing_at_its_head(stocked: Path) -> None:
    """Nobody reads it there, and cron would send it as mail."""
    post_at(stocked, "00:01")
    watch(stocked)
    assert "ALERT" in run("run", "nightly", "--workspace", stocked, "--", "true").err
    assert "ALERT" not in run("run", "nightly", "--scheduled", "--workspace", stocked, "--", "true").err


def test_a_pause_is_obeyed_until_it_is_ended_and_force_goes_past_it(stocked: Path) -> None:
    """The run says `paused` and exits 0, status says it, and nothing was made."""
    assert run("pause", "generate", "--for", "3h", "--workspace", stocked).code == 0
    ended = run("run", "generate", "--json", "--workspace", stocked)
    assert (ended.code, ended.value()["outcome"]) == (0, "paused")
    assert "paused    generate is paused until " in run("status", "--workspace", stocked).out
    assert run("generate", "--force", "--json", "--workspace", stocked).value()["outcome"] == "produced"
    assert run("resume", "generate", "--workspace", stocked).code == 0
    assert run("generate", "--json", "--workspace", stocked).value()["outcome"] == "nothing_needed"


def test_a_command_that_exits_0_without_its_output_is_told(stocked: Path) -> None:
    """It is expected by a minute past midnight; with the output there, it is over."""
    file = stocked / "lamplighter.toml"
    expected = """
[jobs.backup]
command = ["sh", "-c", "test ! -e ready || echo x > made"]
output = "made*"
[expect.backup]
kind = "by_time"
job = "backup"
by = "00:00"
grace = "1m"
"""
    file.write_text(file.read_text("utf-8") + expected, "utf-8")
    run("run", "backup", "--workspace", stocked)
    ended = watch(stocked)
    assert (ended.code, "backup left no output for " in ended.out) == (2, True)
    assert [key for _, key in incidents(stocked)] == ["expect.backup"]
    (stocked / "ready").touch()
    assert run("run", "backup", "--workspace", stocked).code == 0
    assert watch(stocked).code == 0
