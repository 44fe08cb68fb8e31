"""`lamplighter schedule`, by the installed program, as far as it asks no scheduler."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.acceptance.program import run

ZONE = re.compile(r'(?m)^zone = "[^"]*"')


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace without a stock."""
    folder = tmp_path / "brand"
    assert run("init", folder, "--shop", "sample").code == 0
    return folder


@pytest.mark.parametrize(
    ("launcher", "code", "words"),
    [
        ("launchd", 64, "only a Mac has launchd; --with systemd or cron"),
        ("at", 64, "invalid choice: 'at'"),
    ],
)
def test_a_scheduler_that_this_machine_cannot_have_is_one_line(
    workspace: Path, launcher: str, code: int, words: str
) -> None:
    """A Mac's, and what is none."""
    ended = run("schedule", "install", "--with", launcher, "--workspace", workspace)
    assert (ended.code, ended.err.count("\n")) == (code, 1)
    assert words in ended.err


def test_verify_and_remove_of_what_was_never_installed(workspace: Path) -> None:
    """Wrong is 1, with what to type."""
    ended = run("schedule", "verify", "--json", "--workspace", workspace)
    assert (ended.code, json.loads(ended.out)["code"]) == (1, 1)
    assert "nothing was installed for this workspace; lamplighter schedule install" in ended.out


def test_show_tells_when_jobs_are_due_where_nothing_is_installed(workspace: Path) -> None:
    """By our own count, and that nothing wakes us."""
    (workspace / "lamplighter.toml").write_text(
        (workspace / "lamplighter.toml").read_text("utf-8")
        + '\n[jobs.report]\ncommand = ["true"]\ncron = "*/30 8-18 * * 1-5"\n'
    )
    shown = json.loads(run("schedule", "show", "--json", "--workspace", workspace).out)
    assert shown["scheduler"] is None
    assert [job["job"] for job in shown["jobs"]] == ["generate", "post", "report", "watch"]
    assert all(len(job["due_at"]) == 3 for job in shown["jobs"][:3])
    assert "(nothing is installed)" in run("schedule", "show", "--workspace", workspace).out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('cron = "0 0 30 2 *"', "jobs.report.cron = '0 0 30 2 *': its day-of-month is not one, or no day ever has it"),
        ('cron = "* * * * * *"', "it has 6 fields and must have five"),
        ('cron = "soon"', "jobs.report.cron = 'soon': it has 1 fields"),
        ('at = ["03:00"]\ncron = "0 3 * * *"', "jobs.report has both at and cron: one of them says when it is due"),
        ('every = "90s"', "jobs.report.every = '90s' must be whole minutes"),
        ('every = "31d"', "jobs.report.every = '31d' must be 1m to 30d"),
        ("cron = 5", "jobs.cron: Expected `str`"),
        ('network = "yes"', "jobs.network: Expected `bool`"),
    ],
)
def test_an_impossible_schedule_is_one_line(workspace: Path, line: str, words: str) -> None:
    """Feb 30, seconds, garbage, two schedules at once: 65, the same for every command."""
    settings = workspace / "lamplighter.toml"
    settings.write_text(f'{settings.read_text("utf-8")}\n[jobs.report]\ncommand = ["true"]\n{line}\n')
    ended = run("schedule", "show", "--workspace", workspace)
    assert (ended.code, ended.out, ended.err.count("\n")) == (65, "", 1)
    assert words in ended.err


def test_a_zone_that_does_not_exist_is_one_line(workspace: Path) -> None:
    """Not the machine's instead."""
    settings = workspace / "lamplighter.toml"
    lines = settings.read_text("utf-8").splitlines()
    settings.write_text("\n".join('zone = "Europe/Atlantis"' if line.startswith("zone") else line for line in lines))
    ended = run("schedule", "show", "--workspace", workspace)
    assert (ended.code, "is not a zone like Europe/Berlin" in ended.err) == (65, True)


def test_a_job_by_cron_expression_runs_in_its_slot_and_at_no_other_time(workspace: Path) -> None:
    """What was due a minute ago is done, once; the 29th of February is not due."""
    settings = workspace / "lamplighter.toml"
    base = settings.read_text("utf-8").replace(next(ZONE.finditer(settings.read_text("utf-8")))[0], 'zone = "UTC"')
    ago = datetime.now(tz=UTC) - timedelta(minutes=1)
    for expression, outcomes in ((f"{ago:%-M %-H} * * *", ["completed", "not_due"]), ("0 0 29 2 *", ["not_due"])):
        settings.write_text(f'{base}\n[jobs.report]\ncommand = ["true"]\ncron = "{expression}"\n')
        found = [
            json.loads(run("run", "report", "--scheduled", "--json", "--workspace", workspace).out)["outcome"]
            for _ in outcomes
        ]
        assert found == outcomes


def test_a_job_that_needs_the_network_waits_for_nothing_when_a_person_starts_it(workspace: Path) -> None:
    """Whoever looks on sees for themselves what is wrong."""
    settings = workspace / "lamplighter.toml"
    settings.write_text(f'{settings.read_text("utf-8")}\n[jobs.report]\ncommand = ["true"]\nnetwork = true\n')
    ended = run("run", "report", "--workspace", workspace)
    assert (ended.code, "waiting" in ended.out) == (0, False)
