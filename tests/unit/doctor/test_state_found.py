"""The watcher's last look, drafts, incidents."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lamplighter.doctor.finding import State
from lamplighter.doctor.state import judge_drafts, judge_incidents, judge_watch
from lamplighter.engine.incident_life import Incident, Quiet

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OPEN = Incident(
    number=3,
    key="post_today",
    opened_at=NOW,
    line="no post went out",
    since=NOW,
    why="",
    command="lamplighter post",
)


@pytest.mark.parametrize(
    ("age", "is_installed", "is_sample", "state"),
    [
        (timedelta(minutes=4), True, False, State.OK),
        (timedelta(minutes=15), True, False, State.OK),
        (timedelta(minutes=16), True, False, State.WRONG),
        (timedelta(hours=-1), True, False, State.WRONG),
        (None, True, False, State.WRONG),
        (None, False, False, State.WRONG),
        (None, False, True, State.OK),
        (timedelta(days=9), False, True, State.OK),
    ],
)
def test_the_watcher_looks_every_five_minutes(
    age: timedelta | None, is_installed: bool, is_sample: bool, state: State
) -> None:
    """Three looks may be missed; of sample brands alone nobody expects anything."""
    at = NOW - age if age is not None else None
    assert judge_watch(at, NOW, is_installed=is_installed, is_sample=is_sample).state is state


def test_drafts_may_pile_up_to_a_number() -> None:
    """Beyond it the making fails again and again."""
    assert [judge_drafts(count, 30).state for count in (0, 30, 31)] == [State.OK, State.OK, State.WRONG]


def test_open_incidents_are_wrong_with_their_own_command() -> None:
    """Three of them by line, the rest by number."""
    found = judge_incidents(tuple(replace(OPEN, number=number) for number in range(1, 6)), NOW)
    assert [one.about for one in found] == ["incident 1", "incident 2", "incident 3", "incidents"]
    assert found[0].line == "wrong: no post went out; lamplighter post"
    assert found[3].line == "wrong: 2 more are open; lamplighter incidents list"


def test_an_incident_that_was_answered_is_known() -> None:
    """Until the answer ends."""
    answered = replace(OPEN, quiet=Quiet.ACKNOWLEDGED, quiet_until=NOW + timedelta(hours=1))
    (found,) = judge_incidents((answered,), NOW)
    assert (found.state, found.words) == (State.OK, "1 open incident, answered by you")
    (later,) = judge_incidents((answered,), NOW + timedelta(hours=2))
    assert later.state is State.WRONG
    (none,) = judge_incidents((), NOW)
    assert none.line == "ok: none is open"
