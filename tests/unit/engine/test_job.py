"""Outcomes, their exit codes, and what a run has to prove."""

from __future__ import annotations

import signal

import pytest

from lamplighter.engine.job import MEANING, Evidence, Outcome, RunReport, check_report
from lamplighter.errors import FailureClass
from lamplighter.value import replace

TABLE = {  # DESIGN §3; `failed` by class, the signalled ones by signal
    Outcome.PRODUCED: 0,
    Outcome.PARTIAL: 0,
    Outcome.NOTHING_NEEDED: 0,
    Outcome.NOT_DUE: 0,
    Outcome.COMPLETED: 0,
    Outcome.PAUSED: 0,
    Outcome.NOTHING_READY: 66,
    Outcome.REJECTED: 76,
    Outcome.LOCK_HELD: 75,
    Outcome.COOLDOWN: 75,
    Outcome.NEEDS_HUMAN: 77,
    Outcome.FAILED: 70,
    Outcome.TIMED_OUT: 124,
    Outcome.INTERRUPTED: 128 + signal.SIGTERM,
    Outcome.KILLED: 128 + signal.SIGKILL,
    Outcome.CRASHED: 1,
}
FAILURES = {
    FailureClass.CONFIG: 65,
    FailureClass.INPUT: 66,
    FailureClass.UPSTREAM: 69,
    FailureClass.INTERNAL: 70,
    FailureClass.LOCK_UNUSABLE: 73,
    FailureClass.DISK: 74,
}
SIGNALS = {Outcome.INTERRUPTED: signal.SIGTERM, Outcome.KILLED: signal.SIGKILL}


def report_of(outcome: Outcome) -> RunReport:
    """Return a full report of an outcome."""
    return RunReport(
        outcome=outcome,
        line="it ended",
        evidence=(Evidence(name="stock", value="3 of 3"),),
        outputs=("feature-0007",),
        flags=("forced",),
        signal=SIGNALS.get(outcome),
    )


def test_every_outcome_is_in_the_table_and_has_a_meaning() -> None:
    """A new outcome needs an exit code and a sentence on purpose."""
    assert set(TABLE) == set(Outcome) == set(MEANING)
    assert all(MEANING.values())


@pytest.mark.parametrize("outcome", Outcome)
def test_the_exit_code_of_an_outcome_is_that_of_the_table(outcome: Outcome) -> None:
    """What a scheduler sees is what DESIGN §3 says."""
    assert report_of(outcome).exit_code == TABLE[outcome]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_exits_with_the_code_of_its_class(failure: FailureClass) -> None:
    """The code says whose part it was."""
    assert replace(report_of(Outcome.FAILED), failure=failure).exit_code == FAILURES[failure]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_interrupted_run_exits_as_a_shell_would_say_it(number: signal.Signals) -> None:
    """128 and the signal's number."""
    assert RunReport(outcome=Outcome.INTERRUPTED, line="", signal=number).exit_code == 128 + number


def test_launchds_code_and_success_are_never_given_by_mistake() -> None:
    """78 is launchd's, and 0 belongs to the six outcomes that need nobody."""
    codes = {outcome: report_of(outcome).exit_code for outcome in Outcome}
    assert 78 not in codes.values()
    assert {outcome.value for outcome, code in codes.items() if code == 0} == {
        "produced", "partial", "nothing_needed", "not_due", "completed", "paused",
    }  # fmt: skip


def test_only_what_was_made_is_success() -> None:
    """A full stock, a pause and a command that exited 0 made nothing."""
    assert {outcome for outcome in Outcome if report_of(outcome).made_output} == {Outcome.PRODUCED, Outcome.PARTIAL}


@pytest.mark.parametrize("outcome", Outcome)
def test_a_report_that_proves_its_outcome_stands(outcome: Outcome) -> None:
    """With evidence and outputs every outcome is taken as it is."""
    assert check_report(report_of(outcome)) == report_of(outcome)


def test_nothing_needed_without_evidence_is_a_failure() -> None:
    """An exit 0 that did nothing must say why nothing was to be done."""
    claim = replace(report_of(Outcome.NOTHING_NEEDED), evidence=())
    checked = check_report(claim)
    assert (checked.outcome, checked.failure, checked.exit_code) == (Outcome.FAILED, FailureClass.INTERNAL, 70)
    assert checked.line == "it ended (said without evidence, so it does not count)"


@pytest.mark.parametrize("outcome", [Outcome.PRODUCED, Outcome.PARTIAL])
def test_something_made_without_an_output_is_a_failure(outcome: Outcome) -> None:
    """Success is the output, not the word."""
    checked = check_report(replace(report_of(outcome), outputs=()))
    assert (checked.outcome, checked.failure, checked.exit_code) == (Outcome.FAILED, FailureClass.INTERNAL, 70)
    assert checked.line == "it ended (but names no output, so it does not count)"


def test_a_refused_claim_keeps_what_else_the_run_said() -> None:
    """Flags, evidence and signal are facts, whatever becomes of the claim."""
    claim = replace(report_of(Outcome.PRODUCED), outputs=(), signal=9)
    checked = check_report(claim)
    assert (checked.flags, checked.evidence, checked.signal) == (claim.flags, claim.evidence, 9)
