"""incidents, pause and resume: what is wrong, and a person's answers, each with an end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from tests.simulators.desk import Desk

from lamplighter.cli.main import main
from lamplighter.host.clock import SystemClock


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace of today whose post has been missing since the first minute of the day."""
    desk = Desk.in_workspace(tmp_path / "workspace")
    desk.put("wrenfold")
    file = desk.folder / "lamplighter.toml"
    file.write_text(file.read_text("utf-8").replace("[post]", '[post]\nat = "00:00"'), "utf-8")
    monkeypatch.chdir(desk.folder)
    desk.database.change("INSERT INTO cadence VALUES ('main', 'post', '00:00 UTC', 0)")
    now = SystemClock().now().timestamp()
    desk.database.change("UPDATE cadence SET since = ?", (now - 86_400,))
    main(["watch"])
    return desk.folder


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Return the exit code of a command and what it printed."""
    capsys.readouterr()
    code = main(list(arguments))
    return code, capsys.readouterr().out


def value(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    """Return what a command tells a program."""
    return cast("list[dict[str, str]]", json.loads(said(capsys, *arguments, "--json")[1]))


@pytest.mark.usefixtures("folder")
def test_what_is_wrong_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """With number, severity, why and what to type; a program gets the same."""
    code, out = said(capsys, "incidents", "list")
    assert code == 0
    assert out.startswith("1    critical no post went out for ")
    assert "     type: lamplighter post\n" in out
    (incident,) = value(capsys, "incidents", "list")
    assert (incident["severity"], incident["quiet"]) == ("critical", "")


@pytest.mark.usefixtures("folder")
def test_an_incident_is_acknowledged_and_snoozed(capsys: pytest.CaptureFixture[str]) -> None:
    """Until when is said, in the list and in status."""
    code, out = said(capsys, "incidents", "ack", "1")
    assert (code, "incident 1 is acknowledged until " in out) == (0, True)
    assert said(capsys, "incidents", "snooze", "1", "--for", "2d")[0] == 0
    assert "     snoozed until " in said(capsys, "incidents", "list")[1]
    assert "(snoozed)\n" in said(capsys, "status")[1]


def test_nothing_wrong_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anybody ever watched, too."""
    monkeypatch.chdir(Desk.in_workspace(tmp_path / "workspace").folder)
    assert said(capsys, "incidents", "list") == (0, "nothing is wrong\n")
    assert said(capsys, "incidents", "list", "--all") == (0, "nothing ever was\n")
    assert "watch     nobody has looked yet: lamplighter watch does\n" in said(capsys, "status")[1]


def test_what_is_over_is_listed_with_its_proof(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only with --all."""
    file = folder / "lamplighter.toml"
    file.write_text(file.read_text("utf-8").replace('at = "00:00"', 'at = ""'), "utf-8")
    main(["watch"])
    assert said(capsys, "incidents", "list")[1] == "nothing is wrong\n"
    assert "it is not expected any more\n" in said(capsys, "incidents", "list", "--all")[1]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("incidents", "ack", "99"), 66),
        (("incidents", "ack", "1", "--for", "0s"), 64),
        (("incidents", "ack", "1", "--for", "31d"), 64),
        (("incidents", "snooze", "1", "--for", "ever"), 64),
        (("incidents", "snooze", "1", "--for=-1h"), 64),
        (("pause", "bakup"), 66),
        (("pause", "post", "--for", "999999d"), 64),
        (("pause", "--for", ""), 64),
        (("resume", "bakup"), 66),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int
) -> None:
    """Nothing lasts for ever, and what is not there cannot be answered."""
    capsys.readouterr()
    assert main(list(arguments)) == code
    lines = [line for line in capsys.readouterr().err.splitlines() if "ALERT" not in line]
    assert len(lines) == 1


@pytest.mark.usefixtures("folder")
def test_a_job_is_paused_and_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    """Status says it, watch excuses it, and what still covers a job is said."""
    code, out = said(capsys, "pause", "post", "--for", "3h", "--reason", "holiday\nfor all")
    assert (code, out.startswith("post is paused until "), out.endswith("lamplighter resume post ends it\n")) == (
        0,
        True,
        True,
    )
    assert ": holiday for all;" in out
    assert "paused    post is paused until " in said(capsys, "status")[1]
    assert main(["watch"]) == 0
    assert said(capsys, "pause")[1].startswith("every job is paused until ")
    code, out = said(capsys, "resume", "post")
    assert "post: 1 ended\n" in out
    assert "every job is still paused until " in out
    assert said(capsys, "resume") == (0, "every job: 1 ended\n")
    assert said(capsys, "resume") == (0, "every job: nothing was paused\n")
    assert main(["watch"]) == 2


@pytest.mark.usefixtures("folder")
def test_a_paused_job_does_not_run_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """It says what ends the pause, and exits 0."""
    said(capsys, "pause", "generate")
    code, out = said(capsys, "generate")
    assert code == 0
    assert "paused until " in out
    assert "lamplighter resume generate ends it" in out
