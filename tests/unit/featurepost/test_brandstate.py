"""What is remembered of a brand: every skip ends by itself, three failures rest it a day, success forgets."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START
from tests.simulators.desk import Desk

from lamplighter.errors import DiskError
from lamplighter.featurepost.brandstate import LONGEST_SKIP, BrandState, BrandStates

DAY = timedelta(days=1)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a new workspace."""
    return Desk.open(tmp_path)


@pytest.fixture
def states(desk: Desk) -> BrandStates:
    """Return its brand states."""
    return desk.states


def test_a_brand_nobody_knows_is_open(states: BrandStates) -> None:
    """A new entry in the catalog needs no set-up."""
    assert states.read("new", now=START) == BrandState()


def test_a_skip_ends_by_itself(states: BrandStates) -> None:
    """At its instant, without anybody's doing."""
    states.skip("x", until=START + DAY, reason="holiday")
    state = states.read("x", now=START + DAY - timedelta(seconds=1))
    assert (state.skip_until, state.skip_reason) == (START + DAY, "holiday")
    assert states.read("x", now=START + DAY) == BrandState()


def test_a_skip_can_be_taken_back_and_given_anew(states: BrandStates) -> None:
    """A person's word counts at once."""
    states.skip("x", until=START + DAY, reason="holiday")
    states.unskip("x")
    assert states.read("x", now=START) == BrandState()
    states.skip("x", until=START + 2 * DAY, reason="again")
    assert states.read("x", now=START).skip_until == START + 2 * DAY
    states.unskip("never known")


def test_three_failures_in_a_row_rest_a_brand_for_a_day(states: BrandStates) -> None:
    """The reason is the last one's, and counting begins anew."""
    for number in (1, 2):
        states.record_failure("x", cause="403", now=START)
        state = states.read("x", now=START)
        assert (state.failures, state.skip_until, state.last_failure) == (number, None, "403")
    states.record_failure("x", cause="still 403", now=START)
    state = states.read("x", now=START)
    assert (state.skip_until, state.failures) == (START + DAY, 0)
    assert state.skip_reason == "failed 3 times in a row: still 403"
    assert states.read("x", now=START + DAY).skip_until is None
    states.record_failure("x", cause="403", now=START + DAY)
    assert states.read("x", now=START + DAY).failures == 1


def test_success_forgets_failures(states: BrandStates) -> None:
    """Only failures in a row count."""
    for _ in range(2):
        states.record_failure("x", cause="403", now=START)
    states.record_success("x")
    assert states.read("x", now=START) == BrandState()
    states.record_failure("x", cause="403", now=START)
    assert states.read("x", now=START).failures == 1
    states.record_success("never known")


def test_a_rest_does_not_shorten_a_persons_skip(states: BrandStates) -> None:
    """A brand that was named although it is skipped may fail."""
    states.skip("x", until=START + 30 * DAY, reason="holiday")
    for _ in range(3):
        states.record_failure("x", cause="403", now=START)
    state = states.read("x", now=START)
    assert (state.skip_until, state.skip_reason) == (START + 30 * DAY, "holiday")


def test_a_rest_outlasts_a_shorter_skip(states: BrandStates) -> None:
    """The later end counts."""
    states.skip("x", until=START + DAY / 2, reason="lunch")
    for _ in range(3):
        states.record_failure("x", cause="403", now=START)
    assert states.read("x", now=START).skip_until == START + DAY


@pytest.mark.parametrize(
    ("asked", "skipped", "until"),
    [(DAY, None, DAY), (DAY, 2 * DAY, 2 * DAY), (2 * DAY, DAY, 2 * DAY), (4_000 * DAY, None, LONGEST_SKIP)],
)
def test_a_limit_rests_a_brand_until_its_end(
    states: BrandStates, asked: timedelta, skipped: timedelta | None, until: timedelta
) -> None:
    """Never for longer than a person could, and a longer skip stays as it is; no failure is counted."""
    if skipped is not None:
        states.skip("x", until=START + skipped, reason="holiday")
    states.rest("x", until=START + asked, reason="429", now=START)
    state = states.read("x", now=START)
    assert (state.skip_until, state.failures) == (START + until, 0)
    assert state.skip_reason == ("holiday" if until == skipped else "429")


def test_a_skip_keeps_the_failures_and_its_end_by_a_person_forgets_them(states: BrandStates) -> None:
    """A person who takes a brand in again has mended it: it begins anew."""
    for _ in range(2):
        states.record_failure("x", cause="403", now=START)
    states.skip("x", until=START + DAY, reason="holiday")
    assert states.read("x", now=START + DAY).failures == 2
    states.unskip("x")
    assert states.read("x", now=START) == BrandState()


def test_brands_and_accounts_are_apart(tmp_path: Path) -> None:
    """One row a brand and account."""
    desk = Desk.open(tmp_path)
    other = BrandStates(desk.database, "other")
    desk.states.skip("x", until=START + DAY, reason="holiday")
    assert desk.states.read("y", now=START) == BrandState()
    assert other.read("x", now=START) == BrandState()


@pytest.mark.parametrize("until", [1e300, "abc"])
def test_a_damaged_row_is_the_databases_trouble(desk: Desk, until: float | str) -> None:
    """Told in one line that names the file."""
    desk.states.skip("x", until=START + DAY, reason="holiday")
    desk.database.change("UPDATE brand SET skip_until = ?", (until,))
    with pytest.raises(DiskError, match="a row is damaged"):
        desk.states.read("x", now=START)
