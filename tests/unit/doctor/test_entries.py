"""The scheduler's entries, the next wakes, and who has to be logged in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lamplighter.doctor.entries import Fires, judge_entries, judge_login, judge_none
from lamplighter.doctor.finding import Finding, State
from lamplighter.schedule.check import INSTALL, Check, Drift

DUE = datetime(2026, 11, 30, 19, 30, tzinfo=UTC)
LOADED = Check(job="post", label="l.post", drift=None, words="as it was installed", last_exit="exit 0")


def judge(check: Check, fires: Fires | None = None) -> Finding:
    """Return how one entry stands."""
    (found,) = judge_entries((check,), {"l.post": fires} if fires else {}, UTC)
    return found


@pytest.mark.parametrize(
    ("is_timed", "is_sample", "state"),
    [(True, False, State.WRONG), (False, False, State.OK), (True, True, State.OK)],
)
def test_nothing_installed_is_wrong_where_jobs_are_due(is_timed: bool, is_sample: bool, state: State) -> None:
    """Not where none has due times, nor where only the sample brands are shown; the way is told all the same."""
    found = judge_none(is_timed=is_timed, is_sample=is_sample)
    assert found.state is state
    assert (found.remedy == INSTALL) is (state is State.WRONG)


def test_an_entry_that_wakes_us_in_time_is_ok() -> None:
    """With both times, and how its last start ended."""
    found = judge(LOADED, Fires(due_at=(DUE,), woken_at=(DUE + timedelta(minutes=2),)))
    assert found.line == (
        "ok: loaded, enabled, as it was installed; due 2026-11-30 19:30, woken 2026-11-30 19:32; its last start: exit 0"
    )
    often = judge(LOADED, Fires(woken_at=(DUE,)))
    assert (often.state, "due" in often.words) == (State.OK, False)


def test_an_entry_that_wakes_us_too_late_is_wrong() -> None:
    """It is as it was installed, and still not what we need."""
    found = judge(LOADED, Fires(due_at=(DUE,), woken_at=(DUE + timedelta(hours=1),)))
    assert (found.state, found.remedy) == (State.WRONG, INSTALL)


def test_an_entry_whose_wakes_are_not_known_could_not_be_checked() -> None:
    """The system does not say, or nobody asked it."""
    for fires in (Fires(words="launchd does not say"), None):
        assert judge(LOADED, fires).state is State.UNKNOWN


@pytest.mark.parametrize("drift", Drift)
def test_every_drift_is_wrong(drift: Drift) -> None:
    """With what to type."""
    check = Check(job="post", label="l.post", drift=drift, words="so it is", remedy="type this")
    assert judge(check).line == f"wrong: {drift.value}: so it is; type this"


@pytest.mark.parametrize(
    ("launcher", "remarks", "silence", "state", "remedy"),
    [
        ("systemd", (), "", State.OK, ""),
        (
            "systemd",
            ("timers stop when you log out: loginctl enable-linger me lets them run on",),
            "",
            State.WRONG,
            "loginctl enable-linger me",
        ),
        ("cron", ("it makes up for nothing",), "cron runs", State.OK, ""),
        ("cron", (), "no cron daemon runs: service cron start", State.WRONG, "service cron start"),
        ("launchd", ("agents run only while you are logged in",), "", State.OK, ""),
    ],
)
def test_who_has_to_be_logged_in(
    launcher: str, remarks: tuple[str, ...], silence: str, state: State, remedy: str
) -> None:
    """Timers stop at logout, a Mac needs somebody at the screen, cron a daemon."""
    found = judge_login(launcher, remarks, silence)
    assert (found.state, found.remedy) == (state, remedy)
