"""What the doctor finds: a line, a code, and that no look which cannot be had is ever ok."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from lamplighter.doctor.finding import (
    HINDRANCES,
    DoctorCode,
    Finding,
    Look,
    State,
    examine,
    good,
    judge_all,
    say_age,
    unknown,
    wrong,
)
from lamplighter.errors import InputError

OK, BAD, BLIND = good("disk", "room"), wrong("disk", "full", "free some"), unknown("disk", "no such disk")


def test_each_state_has_its_line() -> None:
    """A wrong one says what to do, one that could not be checked says why."""
    assert [finding.line for finding in (OK, BAD, BLIND)] == [
        "ok: room",
        "wrong: full; free some",
        "could not check: no such disk",
    ]


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ((OK, OK), DoctorCode.OK),
        ((OK, BAD, BLIND), DoctorCode.WRONG),
        ((OK, BLIND), DoctorCode.UNKNOWN),
        ((), DoctorCode.UNKNOWN),
    ],
)
def test_the_code_is_of_the_worst(findings: tuple[Finding, ...], code: DoctorCode) -> None:
    """Wrong before unknown before ok; nothing looked at is unknown."""
    assert judge_all(findings) is code


@pytest.mark.parametrize("hindrance", HINDRANCES)
def test_a_look_that_cannot_be_had_is_unknown(hindrance: type[Exception]) -> None:
    """Whatever it meets with, also after it has said something; the next look is had all the same."""

    def fail() -> Iterator[Finding]:
        yield OK
        raise hindrance("the system")

    found = tuple(examine((Look(about="disk", find=fail), Look(about="more", find=lambda: (OK,)))))
    assert [finding.state for finding in found] == [State.OK, State.UNKNOWN, State.OK]
    assert "the system" in found[1].words


def test_a_look_that_says_nothing_is_unknown() -> None:
    """Silence is no success."""
    (found,) = examine((Look(about="disk", find=lambda: ()),))
    assert found == unknown("disk", "the look at it said nothing")


def test_an_error_of_the_system_names_its_file() -> None:
    """As the system says it; an error of ours says itself."""

    def refuse() -> Iterator[Finding]:
        raise PermissionError(13, "Permission denied", "/x")

    def miss() -> Iterator[Finding]:
        raise InputError("catalog", "it is gone", "look for it")

    found = examine((Look(about="a", find=refuse), Look(about="b", find=miss)))
    assert [finding.words for finding in found] == ["/x: Permission denied", "catalog: it is gone; look for it"]


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=119), "119 minutes ago"),
        (timedelta(hours=47), "47 hours ago"),
        (timedelta(days=3, hours=5), "3 days ago"),
    ],
)
def test_an_age_is_said_in_one_unit(age: timedelta, words: str) -> None:
    """The largest of which there are two."""
    assert say_age(age) == words
