"""How `lamplighter schedule` tells what it did and found."""

from __future__ import annotations

import json

import pytest
from tests.unit.schedule.entries import GENERATE, WATCH

from lamplighter.app.scheduling import InstallReport
from lamplighter.cli.console import Console
from lamplighter.cli.schedule import tell_checks, tell_install, tell_removed
from lamplighter.schedule.check import INSTALL, Check, CheckCode, Drift

REPORT = InstallReport(
    launcher="systemd",
    entries=(GENERATE, WATCH),
    changed=(GENERATE.label,),
    remarks=("timers stop when you log out",),
    proof="systemd started lamplighter at 12:03:07: it works",
)
GOOD = Check(job="post", label="l.post", drift=None, words="as it was installed", last_exit="exit 0")
BAD = Check(job="", label="l.old", drift=Drift.RETIRED, words="nothing is to be started by it", remedy=INSTALL)


def test_an_installation_is_told_with_its_proof(capsys: pytest.CaptureFixture[str]) -> None:
    """What is new, what was there, what a person must know, and that it works."""
    tell_install(REPORT, Console(as_json=False))
    assert capsys.readouterr().out.splitlines() == [
        f"generate: installed ({GENERATE.label})",
        f"watch: as it was ({WATCH.label})",
        "note: timers stop when you log out",
        "systemd started lamplighter at 12:03:07: it works",
    ]
    tell_install(REPORT, Console(as_json=True))
    assert json.loads(capsys.readouterr().out)["changed"] == [GENERATE.label]


def test_checks_are_a_line_each_and_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    """The worst of them; one without a job has its label."""
    assert tell_checks((GOOD, BAD), Console(as_json=False)) is CheckCode.WRONG
    assert capsys.readouterr().out.splitlines() == [
        "ok     post: as it was installed; last ended: exit 0",
        "wrong  l.old: retired: nothing is to be started by it; lamplighter schedule install",
    ]
    assert tell_checks((GOOD,), Console(as_json=True)) is CheckCode.OK
    assert json.loads(capsys.readouterr().out)["checks"][0]["drift"] is None
    assert tell_checks((), Console(as_json=False)) is CheckCode.OK


def test_a_removal_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Each entry, and what that means."""
    tell_removed(("l.post",), Console(as_json=False))
    assert capsys.readouterr().out.splitlines() == [
        "removed l.post",
        "nothing of this workspace is started by the system any more",
    ]
