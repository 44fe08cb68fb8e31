"""What a job last did: its output is what counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lamplighter.doctor.finding import State
from lamplighter.doctor.job import JobFacts, judge_job
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import RunRow
from lamplighter.errors import FailureClass
from lamplighter.host.identity import ProcessIdentity

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DUE = NOW - timedelta(hours=3)
NOBODY = ProcessIdentity(pid=1, start="1", boot_id="b")


def make_run(outcome: Outcome | None, at: datetime = NOW - timedelta(hours=1), *, slot: str = "") -> RunRow:
    """Return a run that began at an instant; None is one at work."""
    failure = FailureClass.UPSTREAM if outcome is Outcome.FAILED else None
    evidence = (Evidence(name="stock", value="3 of 3"),)
    report = RunReport(outcome=outcome, line="so it ended", failure=failure, evidence=evidence) if outcome else None
    return RunRow(
        number=7,
        job="generate",
        command="generate",
        trigger="cron",
        started_at=at,
        ended_at=at if report else None,
        generation=1,
        process=NOBODY,
        report=report,
        slot=slot,
    )


FACTS = JobFacts(
    job="generate",
    entry="entry loaded",
    last_exit="exit 0",
    runs=(make_run(Outcome.PRODUCED),),
    output_at=NOW - timedelta(hours=1),
    due_at=DUE,
    due_key="2026-11-30-0900",
    command="lamplighter generate",
)


def state_of(facts: JobFacts) -> State:
    """Return how a job stands."""
    return judge_job(facts, now=NOW, zone=UTC).state


def test_a_line_has_entry_last_exit_outcome_and_output() -> None:
    """All four, whatever they are."""
    found = judge_job(FACTS, now=NOW, zone=UTC)
    assert (found.about, found.line) == (
        "job generate",
        "ok: entry loaded; system's last exit: exit 0; produced 60 minutes ago (run 7); last output 2026-11-30 11:00",
    )


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome.PRODUCED, State.OK),
        (Outcome.PARTIAL, State.OK),
        (Outcome.NOTHING_NEEDED, State.OK),
        (Outcome.COMPLETED, State.UNKNOWN),
        (Outcome.PAUSED, State.WRONG),
        (Outcome.NOTHING_READY, State.WRONG),
        (Outcome.REJECTED, State.WRONG),
        (Outcome.LOCK_HELD, State.WRONG),
        (Outcome.COOLDOWN, State.WRONG),
        (Outcome.NEEDS_HUMAN, State.WRONG),
        (Outcome.FAILED, State.WRONG),
        (Outcome.TIMED_OUT, State.WRONG),
        (Outcome.CRASHED, State.WRONG),
    ],
)
def test_a_due_time_wants_its_output(outcome: Outcome, state: State) -> None:
    """Only output, or evidence that none was needed, is ok; of a bare exit 0 nobody can tell."""
    assert state_of(replace(FACTS, runs=(make_run(outcome),))) is state


def test_exit_0_and_no_output_is_wrong_never_ok() -> None:
    """The system is content, our own record of a quiet run too, and nothing came of it."""
    quiet = replace(FACTS, runs=(make_run(Outcome.PAUSED),), output_at=NOW - timedelta(days=2))
    found = judge_job(quiet, now=NOW, zone=UTC)
    assert found.words.startswith("exit 0, no output since 2026-11-28 12:00, though it was due at 2026-11-30 09:00")
    unseen = replace(FACTS, runs=(make_run(Outcome.PRODUCED, DUE - timedelta(days=1)),), output_at=None)
    found = judge_job(unseen, now=NOW, zone=UTC)
    assert (found.state, found.words.startswith("exit 0, no output ever")) == (State.WRONG, True)


def test_a_job_that_never_ran_is_wrong_once_it_was_due() -> None:
    """Before that there is nothing to say against it."""
    assert state_of(replace(FACTS, runs=(), due_at=None, output_at=None)) is State.OK
    found = judge_job(replace(FACTS, runs=(), output_at=None), now=NOW, zone=UTC)
    assert (found.state, found.remedy) == (State.WRONG, "lamplighter generate")
    assert "it was due at 2026-11-30 09:00 and never ran" in found.words


def test_a_run_before_its_due_time_counts_for_the_slot_it_took() -> None:
    """A post by hand at noon is the evening's; a served day needs no run at all."""
    early = make_run(Outcome.PRODUCED, DUE - timedelta(hours=2), slot="2026-11-30-0900")
    assert state_of(replace(FACTS, runs=(early,))) is State.OK
    other = make_run(Outcome.PRODUCED, DUE - timedelta(hours=2), slot="2026-11-29-0900")
    assert state_of(replace(FACTS, runs=(other,))) is State.WRONG
    assert state_of(replace(FACTS, runs=(other,), is_served=True)) is State.OK


def test_a_run_at_work_and_a_pause_are_no_faults() -> None:
    """Both are said."""
    working = judge_job(replace(FACTS, runs=(make_run(None), make_run(Outcome.FAILED))), now=NOW, zone=UTC)
    paused = judge_job(replace(FACTS, runs=(), pause="paused until 13:00"), now=NOW, zone=UTC)
    assert (working.state, "at work since" in working.words) == (State.OK, True)
    assert (paused.state, paused.words.startswith("paused until 13:00")) == (State.OK, True)


def test_the_last_run_tells_where_nothing_is_owed() -> None:
    """A failure is wrong; a lock that was held or a limit that passes is not."""
    idle = replace(FACTS, due_at=None)
    states = {
        outcome: state_of(replace(idle, runs=(make_run(outcome),))) for outcome in (Outcome.FAILED, Outcome.LOCK_HELD)
    }
    assert states == {Outcome.FAILED: State.WRONG, Outcome.LOCK_HELD: State.OK}
    failed = judge_job(replace(idle, runs=(make_run(Outcome.FAILED),)), now=NOW, zone=UTC)
    assert failed.remedy == "lamplighter runs show 7"
