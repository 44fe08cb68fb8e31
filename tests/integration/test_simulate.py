"""Days of a workspace under misfortune: what is missing is known in time, nothing else is said, and bugs are caught."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.household import STEP, ZONE, Household
from tests.simulators.inquest import Findings, hash_story, hold_inquest
from tests.simulators.misfortune import Kind, Misfortune, dream
from tests.simulators.planted_watch import ExitZero

from lamplighter.app.expecting import Expectations

BEGIN = datetime(2026, 10, 20, tzinfo=ZONE)  # the clocks go back on the 25th


def live(
    folder: Path, *misfortunes: Misfortune, days: int, expectations: type[Expectations] = Expectations
) -> tuple[Household, Findings]:
    """Live through some days with given misfortunes."""
    household = Household(folder, seed=3, days=days, begin=BEGIN, expectations=expectations)
    household.misfortunes = list(misfortunes)
    household.live()
    findings = hold_inquest(household)
    household.settled = household.slots_of("generate")
    household.database.close()
    return household, findings


def befall(kind: Kind, day: int, hour: float, hours: float, job: str = "") -> Misfortune:
    """Return a misfortune from some hour of a day on."""
    begin = BEGIN + timedelta(days=day, hours=hour)
    return Misfortune(kind=kind, begin=begin, end=begin + timedelta(hours=hours), job=job)


def test_ten_days_of_a_drawn_life(tmp_path: Path) -> None:
    """Whatever befalls: nothing is missed, nothing is false, and told again it is the same story."""
    household = Household(tmp_path / "one", seed=11, days=10, begin=BEGIN)
    household.live()
    findings = hold_inquest(household)
    assert findings.wrong == ()
    again = Household(tmp_path / "two", seed=11, days=10, begin=BEGIN)
    again.live_until(again.begin + timedelta(days=6))
    told = household.notices[: len(again.notices)]
    assert hash_story(told, household.folder) == hash_story(again.notices, again.folder)
    assert again.notices
    household.database.close()
    again.database.close()


def test_days_on_which_nothing_happens_is_silent(tmp_path: Path) -> None:
    """A post each day and a stock that is filled: not one notice, and a good ping each evening."""
    household, findings = live(tmp_path, days=4)
    assert (findings.missing, findings.wrong, household.notices) == (0, (), ())
    assert len(household.outside.good) == 4


def test_eight_hours_asleep_over_three_slots_are_one_run_and_no_post_after_its_day(tmp_path: Path) -> None:
    """§4.11 (9): awake again, generate runs once for all it slept through, and yesterday's post is never made up."""
    household, findings = live(tmp_path, befall(Kind.SLEEP, 1, 5.5, 13), befall(Kind.SLEEP, 2, 17, 14), days=4)
    assert findings.wrong == ()
    slept = (BEGIN + timedelta(days=2)).date()
    assert slept not in household.account.posted_at
    slots = [(row.slot.day, row.status.value) for row in household.settled]
    woken = BEGIN + timedelta(days=1, hours=18.5)
    assert [word for day, word in slots if day == woken.date()] == ["missed", "missed", "claimed"]


def test_a_lock_held_for_five_days_is_told_and_a_full_stock_is_not(tmp_path: Path) -> None:
    """§4.11 (13): a run that hangs calls somebody after three that found it; days of a full stock call nobody."""
    household, findings = live(tmp_path, befall(Kind.HUNG, 2, 5.9, 120, job="generate"), days=6)
    assert findings.wrong == ()
    called = [one.notice.subject for one in household.notices]
    assert any("runs of generate in a row left nothing done: lock_held" in subject for subject in called)
    first = min(one.written_at for one in household.notices)
    assert first > BEGIN + timedelta(days=2, hours=18)


def test_a_dead_discord_loses_nothing(tmp_path: Path) -> None:
    """The missing post is heard by mail, in time."""
    household, findings = live(
        tmp_path, befall(Kind.DEAD_DISCORD, 1, 12, 40), befall(Kind.EXPIRED_TOKEN, 1, 12, 12), days=3
    )
    assert (findings.wrong, findings.told) == ((), 1)
    heard = [one for one in household.ears.heard if "no post went out" in one.text]
    assert heard[0].channel == "mail"


def test_a_dead_watcher_is_made_good_by_the_heartbeat(tmp_path: Path) -> None:
    """Nobody ticks over the evening on which the post is missing: the outside watcher knows."""
    _, findings = live(tmp_path, befall(Kind.WATCHER_DEAD, 1, 18, 30), befall(Kind.EXPIRED_TOKEN, 1, 18, 5), days=4)
    assert (findings.wrong, findings.by_heartbeat) == ((), 1)


def test_an_expectation_that_takes_exit_0_for_output_is_caught(tmp_path: Path) -> None:
    """The planted bug: the inquest names each post that nobody was told of."""
    _, findings = live(tmp_path, befall(Kind.ENTRY_GONE, 1, 19, 10, job="post"), days=3, expectations=ExitZero)
    assert any("nobody was told within 15 minutes" in line for line in findings.wrong)


def test_an_inquest_finds_what_is_false_and_off_the_ladder(tmp_path: Path) -> None:
    """Of a life whose truth is turned about afterwards, it says so."""
    household = Household(tmp_path, seed=3, days=4, begin=BEGIN)
    household.misfortunes = [befall(Kind.EXPIRED_TOKEN, 1, 12, 20)]
    household.live()
    day = (BEGIN + timedelta(days=1)).date()
    household.account.posted_at[day] = household.begin
    household.account.answered_until.clear()
    household.account.ticks = [(at, at - STEP / 2) for at, _ in household.account.ticks]
    wrong = hold_inquest(household).wrong
    household.database.close()
    assert any("no post went out" in line and "it was out by" in line for line in wrong)


def test_the_same_seed_dreams_the_same() -> None:
    """And of thirty days, each kind of misfortune at least once."""
    assert dream(5, BEGIN, 30) == dream(5, BEGIN, 30) != dream(6, BEGIN, 30)
    assert {one.kind for one in dream(5, BEGIN, 30)} == set(Kind)


@pytest.mark.crash
@pytest.mark.timeout(300)
def test_sixty_days(tmp_path: Path) -> None:
    """The whole of make simulate, as a part of make proof."""
    household = Household(tmp_path, seed=60, days=60, begin=BEGIN - timedelta(days=30))
    household.live()
    findings = hold_inquest(household)
    household.database.close()
    assert findings.wrong == ()
    assert findings.missing > 3
