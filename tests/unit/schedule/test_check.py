"""What is found of an entry, and what that means."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.schedule.entries import GENERATE, WATCH

from lamplighter.schedule.check import INSTALL, REPAIRABLE, Check, CheckCode, Drift, Fact, judge, judge_all

GOOD = Fact(label=GENERATE.label, exists=True, is_loaded=True, is_enabled=True, argv=GENERATE.argv, last_exit="exit 0")


def test_an_entry_as_it_is_to_be_is_ok() -> None:
    """With the system's last word; a crontab has no enabling and no loading."""
    check = judge(GENERATE, GOOD)
    assert (check.code, check.drift, check.last_exit) == (CheckCode.OK, None, "exit 0")
    assert judge(GENERATE, Fact(label=GENERATE.label, exists=True)).drift is None


@pytest.mark.parametrize(
    ("fact", "drift", "words"),
    [
        (None, Drift.MISSING, "it is not there"),
        (replace(GOOD, exists=False, is_loaded=False), Drift.MISSING, "it is not there"),
        (replace(GOOD, exists=False), Drift.MISSING, "its file is gone, and so it is after the next start"),
        (replace(GOOD, is_enabled=False, is_loaded=False), Drift.DISABLED, "somebody disabled it"),
        (replace(GOOD, is_loaded=False), Drift.NOT_LOADED, "its file is there, but the scheduler did not take it in"),
        (replace(GOOD, edits=("Umask", "Nice")), Drift.EDITED, "it was edited: Umask, Nice"),
        (
            replace(GOOD, edits=("ProgramArguments",), argv=("/old/bin/python",)),
            Drift.MOVED,
            "it starts /old/bin/python, not /v/bin/python",
        ),
        (
            replace(GOOD, last_exit="exit 78", failed_start=True),
            Drift.NOT_STARTED,
            "the system could not start it the last time: exit 78",
        ),
    ],
)
def test_what_is_wrong_is_named(fact: Fact | None, drift: Drift, words: str) -> None:
    """Missing, disabled, not loaded, edited, moved, not started."""
    check = judge(GENERATE, fact)
    assert (check.code, check.drift, check.words) == (CheckCode.WRONG, drift, words)
    assert check.remedy.startswith(INSTALL)


def test_settings_that_changed_are_no_edit_of_somebody() -> None:
    """Said as what it is."""
    check = judge(GENERATE, replace(GOOD, edits=("Timer.OnCalendar",)), is_outdated=True)
    assert (check.drift, check.words) == (
        Drift.OUTDATED,
        "the settings have changed since it was installed: Timer.OnCalendar",
    )


def test_an_interpreter_that_is_gone_counts_before_what_the_entry_says() -> None:
    """The venv was moved: nothing can work, whatever is loaded."""
    check = judge(GENERATE, GOOD, gone="the interpreter /v/bin/python is gone")
    assert (check.drift, check.words) == (Drift.MOVED, "the interpreter /v/bin/python is gone")


def test_an_entry_that_nobody_asked_for_is_retired() -> None:
    """A job that was taken out of the settings; what is only known to be gone is not told."""
    old = Fact(label="dev.lamplighter.x.old", exists=True)
    gone = Fact(label="dev.lamplighter.x.gone", exists=False, is_loaded=False)
    checks = judge_all((GENERATE, WATCH), (GOOD, replace(GOOD, label=WATCH.label), old, gone), {old.label: "old"})
    assert [(check.job, check.drift) for check in checks] == [
        ("generate", None),
        ("watch", None),
        ("old", Drift.RETIRED),
    ]
    assert isinstance(checks[0], Check)


def test_only_what_the_system_cannot_start_is_not_mended_by_installing() -> None:
    """Everything else is put right without a person."""
    assert frozenset(Drift) - REPAIRABLE == {Drift.NOT_STARTED}
