"""Verdicts: ok, late, failing, unknown; what is missing, since when, why, what to type."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from lamplighter.engine.expectation import (
    AgeFacts,
    ByTime,
    DayFacts,
    Expires,
    ExpiryFacts,
    Level,
    LevelFacts,
    MaxAge,
    Probe,
    ProbeFacts,
    RunFact,
    Standing,
    Streak,
    StreakFacts,
    Unreadable,
    Verdict,
    evaluate,
    is_past_its_time,
)
from lamplighter.engine.job import Outcome
from lamplighter.notify.severity import Severity
from lamplighter.schedule.cadence import Cadence

BERLIN = ZoneInfo("Europe/Berlin")
POST = ByTime(
    key="post_today",
    about="the day's post",
    missing="no post went out",
    job="post",
    cadence=Cadence(zone=BERLIN, at=(time(19, 30),), once_a_day=True),
)
STOCK = Level(key="stock", about="the stock", missing="the stock is empty")
MADE = MaxAge(key="made_recently", about="new features", missing="no feature was made")
STREAK = Streak(key="streak_generate", about="the runs of generate", job="generate")
PROBE = Probe(key="database", about="the database")


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Return an instant of November 2026 in Berlin."""
    return datetime(2026, 11, day, hour, minute, tzinfo=BERLIN).astimezone(UTC)


EVENING = at(29, 19, 30)


def run(number: int, outcome: Outcome | None, started_at: datetime = EVENING, job: str = "post") -> RunFact:
    """Return a run."""
    return RunFact(number=number, job=job, started_at=started_at, outcome=outcome, line=f"line {number}")


def days(*numbers: int, first: int = 20, runs: tuple[RunFact, ...] = (), missed: str = "") -> DayFacts:
    """Return the facts when posts are out for some days of November."""
    return DayFacts(
        days=frozenset(date(2026, 11, number) for number in numbers),
        first_day=date(2026, 11, first),
        runs=runs,
        missed=missed,
        command="lamplighter post",
    )


ALL_BEFORE = tuple(range(20, 29))


@pytest.mark.parametrize(
    ("now", "standing"),
    [
        (at(29, 19, 29), Standing.OK),
        (at(29, 19, 30), Standing.LATE),
        (at(29, 19, 44), Standing.LATE),
        (at(29, 19, 45), Standing.FAILING),
        (at(30, 8), Standing.FAILING),
    ],
)
def test_a_post_is_late_in_its_grace_and_failing_after_it(now: datetime, standing: Standing) -> None:
    """19:30 to 19:45 is late, then it is missing, over midnight too."""
    assert evaluate(POST, days(*ALL_BEFORE), now).standing is standing


def test_a_missing_post_says_what_since_when_why_and_what_to_type() -> None:
    """All a person needs is in the verdict."""
    held = run(41, Outcome.LOCK_HELD)
    verdict = evaluate(POST, days(*ALL_BEFORE, runs=(held,)), at(29, 19, 50))
    assert (verdict.line, verdict.since, verdict.command) == (
        "no post went out for 2026-11-29",
        at(29, 19, 30),
        "lamplighter post",
    )
    assert verdict.why == "run 41 (post): lock_held: line 41"
    assert [fact.value for fact in verdict.evidence] == [verdict.why]
    assert verdict.occurrence == "2026-11-29-1930"


def test_a_post_that_no_run_began_says_so_or_why() -> None:
    """A run of the day before explains nothing; the machine that was off does."""
    facts = days(*ALL_BEFORE, runs=(run(40, Outcome.PRODUCED, at(28, 19, 30)),))
    assert evaluate(POST, facts, at(29, 20)).why == "no run of post has begun since it was due"
    off = days(*ALL_BEFORE, missed="the machine was switched off")
    assert evaluate(POST, off, at(29, 20)).why == "post was not started: the machine was switched off"


@pytest.mark.parametrize("now", [at(29, 8), at(29, 19, 30), at(29, 23, 59), at(30, 12)])
def test_a_days_post_counts_from_whatever_hour(now: datetime) -> None:
    """Posted by hand at breakfast: today is well, and stays so until tomorrow's time."""
    assert evaluate(POST, days(*ALL_BEFORE, 29), now).standing is Standing.OK


def test_tomorrows_post_ends_what_was_missing_and_yesterdays_does_not() -> None:
    """The 29th was missed: a post of the 30th is well again, a late one for the 28th is not."""
    assert evaluate(POST, days(*ALL_BEFORE, 30), at(30, 9)).standing is Standing.OK
    assert evaluate(POST, days(*ALL_BEFORE), at(30, 9)).standing is Standing.FAILING


def test_two_days_that_are_missing_are_one_verdict_with_a_new_occurrence() -> None:
    """In tomorrow's grace the first day still fails; after it both do, since the first."""
    in_grace = evaluate(POST, days(*ALL_BEFORE), at(30, 19, 40))
    assert (in_grace.standing, in_grace.occurrence) == (Standing.FAILING, "2026-11-29-1930")
    after = evaluate(POST, days(*ALL_BEFORE), at(30, 19, 45))
    assert (after.line, after.since) == ("no post went out for 2026-11-30, nor for the 1 before", at(29, 19, 30))
    assert after.occurrence == "2026-11-30-1930"


def test_days_before_the_schedule_was_seen_are_not_missed() -> None:
    """The first day that counts is the one the schedule was first seen on."""
    assert evaluate(POST, days(first=29), at(29, 12)).standing is Standing.NEW
    assert evaluate(POST, days(28, first=29), at(29, 12)).standing is Standing.OK
    assert evaluate(POST, days(first=29), at(29, 20)).since == at(29, 19, 30)


def test_a_post_of_a_day_to_come_covers_nothing() -> None:
    """What a clock set years ahead has posted is not today's."""
    ahead = DayFacts(days=frozenset({date(2036, 1, 1)}), first_day=date(2026, 11, 29))
    assert evaluate(POST, ahead, at(29, 20)).standing is Standing.FAILING


@pytest.mark.parametrize(
    ("have", "hours", "standing"),
    [(1, 9, Standing.OK), (0, 0, Standing.LATE), (0, 1.9, Standing.LATE), (0, 2, Standing.FAILING)],
)
def test_an_empty_stock_is_failing_after_two_hours(have: int, hours: float, standing: Standing) -> None:
    """Generate may need its time; then somebody is told."""
    since = at(29, 12)
    facts = LevelFacts(have=have, command="lamplighter generate", below_since=since if have == 0 else None)
    verdict = evaluate(STOCK, facts, since + timedelta(hours=hours))
    assert (verdict.standing, verdict.since) == (standing, None if have else since)


def test_an_empty_stock_names_the_newest_run() -> None:
    """Why: how the last generate ended, or that none was."""
    facts = LevelFacts(have=0, below_since=at(29, 12), runs=(run(8, Outcome.COOLDOWN, job="generate"),))
    assert evaluate(STOCK, facts, at(29, 15)).why == "run 8 (generate): cooldown: line 8"
    assert evaluate(STOCK, LevelFacts(have=0), at(29, 15)).why == "no run has been recorded"


@pytest.mark.parametrize(
    ("newest", "wanted", "excuse", "standing"),
    [
        (at(28, 0), at(28, 1), "", Standing.FAILING),
        (at(20, 0), at(29, 0), "", Standing.OK),
        (at(29, 0), at(20, 0), "", Standing.OK),
        (None, at(27, 0), "", Standing.FAILING),
        (None, at(29, 0), "", Standing.NEW),
        (at(20, 0), None, "the stock is full: 3 of 3", Standing.OK),
    ],
)
def test_nothing_made_for_36_hours_counts_only_while_something_is_wanted(
    newest: datetime | None, wanted: datetime | None, excuse: str, standing: Standing
) -> None:
    """From the last one made or from when the stock stopped being full, whichever is later."""
    facts = AgeFacts(newest_at=newest, excuse=excuse, wanted_since=wanted, command="lamplighter generate")
    assert evaluate(MADE, facts, at(29, 14)).standing is standing


def test_nothing_made_says_for_how_long() -> None:
    """Since when, and the limit in hours."""
    facts = AgeFacts(newest_at=at(28, 0), excuse="", wanted_since=at(27, 0))
    verdict = evaluate(MADE, facts, at(29, 12))
    assert (verdict.line, verdict.since) == ("no feature was made for 36 hours", at(28, 0))
    assert evaluate(MADE, facts, at(29, 11, 59)).standing is Standing.OK


GOOD = (Outcome.PRODUCED, Outcome.PARTIAL, Outcome.NOTHING_NEEDED, Outcome.COMPLETED)


@pytest.mark.parametrize("outcome", [one for one in Outcome if one not in {*GOOD, Outcome.NOT_DUE, Outcome.PAUSED}])
def test_three_runs_that_left_nothing_done_are_a_streak(outcome: Outcome) -> None:
    """Held, cooled down, refused, failed, killed … three in a row are told, two are not."""
    three = tuple(run(number, outcome, job="generate") for number in (9, 8, 7))
    assert evaluate(STREAK, StreakFacts(runs=three), at(29, 20)).standing is Standing.FAILING
    assert evaluate(STREAK, StreakFacts(runs=three[:2]), at(29, 20)).standing is Standing.OK


@pytest.mark.parametrize("good", GOOD)
def test_a_good_run_ends_a_streak(good: Outcome) -> None:
    """What it did counts, a full stock included."""
    runs = (run(9, good), *(run(number, Outcome.LOCK_HELD) for number in (8, 7, 6)))
    assert evaluate(STREAK, StreakFacts(runs=runs), at(29, 20)).standing is Standing.OK
    held = (*(run(number, Outcome.LOCK_HELD) for number in (9, 8)), run(7, good), run(6, Outcome.LOCK_HELD))
    assert evaluate(STREAK, StreakFacts(runs=held), at(29, 20)).standing is Standing.OK


def test_runs_that_were_not_due_or_are_at_work_say_nothing() -> None:
    """They neither end a streak nor make one."""
    runs = (
        run(12, None),
        run(11, Outcome.NOT_DUE),
        run(10, Outcome.LOCK_HELD),
        run(9, Outcome.NOT_DUE),
        run(8, Outcome.COOLDOWN),
        run(7, Outcome.KILLED),
    )
    verdict = evaluate(STREAK, StreakFacts(runs=runs), at(29, 20))
    assert verdict.line == "3 runs of generate in a row left nothing done: killed, cooldown, lock_held"
    assert verdict.command == "lamplighter lock status generate"
    assert evaluate(STREAK, StreakFacts(runs=runs[:4]), at(29, 20)).standing is Standing.OK


def test_a_streak_that_is_no_lock_shows_the_log() -> None:
    """What to type is where the cause stands."""
    runs = tuple(run(number, Outcome.FAILED) for number in (9, 8, 7))
    assert evaluate(STREAK, StreakFacts(runs=runs), at(29, 20)).command == "lamplighter runs log 9"


def test_a_job_that_never_ran_says_so() -> None:
    """Nothing counted is not the same as the last one having been good."""
    assert evaluate(STREAK, StreakFacts(runs=()), at(29, 20)).line == "the runs of generate: none has been yet"


def test_a_probe_is_what_was_found() -> None:
    """Trouble fails, none is well."""
    trouble = ProbeFacts(trouble="the database was damaged", since=at(29, 1), why="not a database", command="look")
    assert evaluate(PROBE, ProbeFacts(), at(29, 20)).standing is Standing.OK
    assert evaluate(PROBE, trouble, at(29, 20)) == Verdict(
        key="database",
        standing=Standing.FAILING,
        line="the database was damaged",
        since=at(29, 1),
        why="not a database",
        command="look",
    )


@pytest.mark.parametrize("rule", [POST, STOCK, MADE, STREAK, PROBE])
def test_what_cannot_be_read_is_unknown_and_never_ok(rule: ByTime | Level | MaxAge | Streak | Probe) -> None:
    """With the cause for a why; facts of another kind are no facts."""
    verdict = evaluate(rule, Unreadable(cause="the disk is gone"), at(29, 20))
    assert (verdict.standing, verdict.why) == (Standing.UNKNOWN, "the disk is gone")
    wrong = ProbeFacts() if rule is not PROBE else StreakFacts(runs=())
    assert evaluate(rule, wrong, at(29, 20)).standing is Standing.UNKNOWN


EXPIRES = Expires(key="token", about="the token", severity=Severity.WARNING)


@pytest.mark.parametrize(
    ("left", "standing", "severity"),
    [
        (timedelta(days=60), Standing.OK, Severity.WARNING),
        (timedelta(days=10, seconds=1), Standing.OK, Severity.WARNING),
        (timedelta(days=10), Standing.FAILING, Severity.WARNING),
        (timedelta(hours=2), Standing.FAILING, Severity.WARNING),
        (timedelta(), Standing.FAILING, Severity.CRITICAL),
        (timedelta(days=-400), Standing.FAILING, Severity.CRITICAL),
    ],
)
def test_what_ends_is_told_ten_days_before_and_is_critical_when_it_has(
    left: timedelta, standing: Standing, severity: Severity
) -> None:
    """That it has ended is another occurrence, so that it is told anew."""
    now = at(29, 12)
    verdict = evaluate(EXPIRES, ExpiryFacts(expires_at=now + left, command="lamplighter connect"), now)
    assert (verdict.standing, verdict.severity) == (standing, severity)
    assert verdict.occurrence == ("" if standing is Standing.OK else "ended" if left <= timedelta() else "ending")


def test_what_ends_says_when() -> None:
    """In days, or in hours when they are few."""
    now = at(29, 12)
    soon = evaluate(EXPIRES, ExpiryFacts(expires_at=now + timedelta(days=9)), now)
    assert (soon.line, soon.since) == ("the token ends in 9 days, at 2026-12-08 11:00 UTC", now - timedelta(days=1))
    assert evaluate(EXPIRES, ExpiryFacts(expires_at=now), now).line == "the token ended at 2026-11-29 11:00 UTC"
    assert evaluate(EXPIRES, ExpiryFacts(expires_at=None), now).standing is Standing.OK


def test_an_excuse_comes_before_everything() -> None:
    """Whatever the facts, and it says so."""
    verdict = evaluate(POST, Unreadable(cause="gone"), at(29, 20), excuse="paused until tomorrow")
    assert (verdict.standing, verdict.line) == (Standing.EXCUSED, "the day's post: paused until tomorrow")


def test_a_day_whose_time_was_paused_is_not_missed() -> None:
    """The days about it are."""
    facts = replace(days(*range(20, 28)), excused=frozenset({date(2026, 11, 28)}))
    assert evaluate(POST, facts, at(29, 8)).standing is Standing.OK
    assert evaluate(POST, facts, at(29, 20)).line == "no post went out for 2026-11-29"


def test_a_probe_may_be_worse_than_its_rule() -> None:
    """And what it put right is said while it is well."""
    worse = evaluate(PROBE, ProbeFacts(trouble="full", is_worse=True), at(29, 20))
    assert (worse.severity, worse.standing) == (Severity.CRITICAL, Standing.FAILING)
    repaired = evaluate(PROBE, ProbeFacts(repaired="the entry is there again"), at(29, 20))
    assert (repaired.standing, repaired.repaired) == (Standing.OK, "the entry is there again")


def test_a_new_stock_is_given_its_first_day() -> None:
    """Nothing was ever made: new, and failing after a day; later on two hours count."""
    since = at(28, 12)
    facts = LevelFacts(have=0, below_since=since, is_new=True)
    assert evaluate(STOCK, facts, since + timedelta(hours=23)).standing is Standing.NEW
    assert evaluate(STOCK, facts, since + timedelta(hours=24)).standing is Standing.FAILING


def test_a_paused_run_says_nothing() -> None:
    """It neither ends a streak nor makes one."""
    runs = tuple(run(number, Outcome.PAUSED) for number in range(9, 4, -1))
    assert evaluate(STREAK, StreakFacts(runs=runs), at(29, 20)).standing is Standing.NEW


def test_a_verdict_carries_what_its_rule_says() -> None:
    """How much it matters, whose trouble causes it; a doubt is a warning until its time has passed."""
    rule = replace(POST, severity=Severity.CRITICAL, parent="network")
    verdict = evaluate(rule, days(*ALL_BEFORE), at(29, 20))
    assert (verdict.severity, verdict.parent, verdict.is_critical) == (Severity.CRITICAL, "network", True)
    doubtful = evaluate(rule, Unreadable(cause="gone"), at(29, 20))
    assert (doubtful.severity, doubtful.is_critical) == (Severity.WARNING, True)
    assert is_past_its_time(rule, at(29, 19), at(29, 19, 45))
    assert not is_past_its_time(rule, at(29, 19), at(29, 19, 44))
    assert not is_past_its_time(rule, at(29, 19, 46), at(30, 12))
    assert not is_past_its_time(rule, at(30, 12), at(29, 12))
    assert not is_past_its_time(STOCK, at(20, 12), at(29, 12))


def test_what_was_tried_while_a_good_run_was_at_work_is_no_streak() -> None:
    """Three were refused by its lock; it then did its work, and nothing is wrong. What came after its end counts."""
    hour, end = timedelta(hours=1), EVENING + timedelta(hours=3)
    holder = replace(run(1, Outcome.PRODUCED, EVENING, "generate"), ended_at=end)
    tried = [run(number, Outcome.LOCK_HELD, EVENING + hour / 2, "generate") for number in (4, 3, 2)]
    facts = StreakFacts(runs=(*tried, holder))
    assert evaluate(STREAK, facts, end + hour).standing is Standing.OK
    assert evaluate(STREAK, facts, end - hour).standing is Standing.FAILING  # by a clock that was set back since
    later = [replace(one, started_at=end + hour) for one in tried]
    assert evaluate(STREAK, StreakFacts(runs=(*later, holder)), end + 2 * hour).standing is Standing.FAILING
