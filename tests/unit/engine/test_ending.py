"""What the end of a worker means: one outcome for each way, and success only by output."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest

from lamplighter.engine.ending import Declared, WorkerEnd, decide_end, read_own_code
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.errors import FailureClass
from lamplighter.value import replace

MADE = RunReport(outcome=Outcome.PRODUCED, line="made one", outputs=("a",))
STOPPED = RunReport(outcome=Outcome.INTERRUPTED, line="tidied", signal=signal.SIGTERM)
NONE = Declared(pattern="*.txt", found=(), total=0)
TWO = Declared(pattern="*.txt", found=("a.txt", "b.txt"), total=2_000)


def decide(
    end: WorkerEnd,
    result: RunReport | None = None,
    *,
    trouble: str = "",
    declared: Declared | None = None,
    ours: bool = False,
) -> RunReport:
    """Return what an end means."""
    return decide_end(end, result=result, trouble=trouble, declared=declared, must_report=ours)


@pytest.mark.parametrize(
    ("end", "result", "ours", "outcome", "code"),
    [
        (WorkerEnd(code=0), None, False, Outcome.COMPLETED, 0),
        (WorkerEnd(code=0), MADE, True, Outcome.PRODUCED, 0),
        (WorkerEnd(code=70), MADE, True, Outcome.PRODUCED, 0),
        (WorkerEnd(code=-9), MADE, True, Outcome.PRODUCED, 0),
        (WorkerEnd(code=-9), MADE, False, Outcome.KILLED, 137),
        (WorkerEnd(code=-11), None, True, Outcome.KILLED, 139),
        (WorkerEnd(code=-15), None, False, Outcome.INTERRUPTED, 143),
        (WorkerEnd(code=-64), None, False, Outcome.KILLED, 192),
        (WorkerEnd(code=None), None, False, Outcome.KILLED, 137),
        (WorkerEnd(code=0), None, True, Outcome.CRASHED, 1),
        (WorkerEnd(code=1), None, True, Outcome.CRASHED, 1),
        (WorkerEnd(code=74, last_words="lamplighter: x: no room"), None, True, Outcome.FAILED, 74),
        (WorkerEnd(code=0, asked=2), None, False, Outcome.INTERRUPTED, 130),
        (WorkerEnd(code=-9, asked=15), STOPPED, True, Outcome.INTERRUPTED, 143),
        (WorkerEnd(code=0, asked=15), MADE, True, Outcome.PRODUCED, 0),
        (WorkerEnd(code=-9, ran_out=timedelta(hours=2)), None, False, Outcome.TIMED_OUT, 124),
        (WorkerEnd(code=0, ran_out=timedelta(minutes=1)), MADE, True, Outcome.TIMED_OUT, 124),
    ],
)
def test_each_end_is_one_outcome(
    end: WorkerEnd, result: RunReport | None, ours: bool, outcome: Outcome, code: int
) -> None:
    """By signal, code, result and who asked."""
    report = decide(end, result, ours=ours)
    assert (report.outcome, report.exit_code) == (outcome, code)


def test_the_line_says_what_is_known() -> None:
    """The limit in its unit, the signal by its name, what was made before, the last words."""
    assert decide(WorkerEnd(code=-9, ran_out=timedelta(hours=2))).line == "ran past its limit of 2 h and was ended"
    late = decide(WorkerEnd(code=-9, ran_out=timedelta(seconds=90)), MADE, ours=True)
    assert (late.line, late.outputs) == ("ran past its limit of 90 s and was ended; before that: made one", ("a",))
    assert decide(WorkerEnd(code=-9, is_oom=True)).line == "its worker was killed by SIGKILL for want of memory"
    assert decide(WorkerEnd(code=-63)).line == "its worker was killed by signal 63"
    assert "stuck in the kernel" in decide(WorkerEnd(code=None)).line
    assert decide(WorkerEnd(code=2, last_words="no such host")).line == "exit code 2: no such host"
    full = decide(WorkerEnd(code=74, last_words="lamplighter: x: no room"), ours=True)
    assert (full.line, full.failure) == ("x: no room", FailureClass.DISK)


def test_a_declared_output_decides() -> None:
    """Without it an exit 0 is a failure, with it a success that counts all and names the first."""
    assert decide(WorkerEnd(code=0), declared=NONE).line == "exit code 0, but no new output matches '*.txt'"
    report = decide(WorkerEnd(code=0), declared=TWO)
    assert (report.line, report.outputs) == ("new: a.txt and 1,999 more", ("a.txt", "b.txt"))
    assert decide(WorkerEnd(code=1), declared=TWO).outcome is Outcome.FAILED
    assert decide(WorkerEnd(code=0), MADE, declared=NONE).outcome is Outcome.FAILED
    assert decide(WorkerEnd(code=0), MADE, declared=TWO).outputs == ("a",)
    idle = RunReport(outcome=Outcome.NOTHING_NEEDED, line="", evidence=(Evidence(name="a", value="b"),))
    assert decide(WorkerEnd(code=0), idle, declared=NONE) == idle


def test_a_result_that_cannot_be_read_is_never_a_success() -> None:
    """Whatever the exit code."""
    report = decide(WorkerEnd(code=0), trouble="it is empty", declared=TWO)
    assert (report.outcome, report.line) == (
        Outcome.FAILED,
        "exit code 0, but its result file does not count: it is empty",
    )


def test_a_commands_own_code_is_read_from_its_evidence() -> None:
    """None where it gave none, or says something odd."""
    assert read_own_code(decide(WorkerEnd(code=23))) == 23
    assert read_own_code(decide(WorkerEnd(code=-9))) is None
    odd = RunReport(outcome=Outcome.FAILED, line="", evidence=(Evidence(name="exit code", value="9" * 40),))
    assert read_own_code(odd) is None


def test_a_declared_output_decides_whatever_the_command_says() -> None:
    """Neither "completed" nor "produced" stands without it; one that there is makes "completed" produced."""
    for outcome in (Outcome.COMPLETED, Outcome.PRODUCED, Outcome.PARTIAL):
        said = RunReport(outcome=outcome, line="fine", outputs=("a",))
        assert decide(WorkerEnd(code=0), said, declared=NONE).outcome is Outcome.FAILED
        assert decide(WorkerEnd(code=0), said, declared=TWO).made_output


def test_why_a_file_is_no_output_is_said() -> None:
    """Behind the pattern."""
    empty = replace(NONE, why_not="a.txt is empty")
    line = decide(WorkerEnd(code=0), declared=empty).line
    assert line == "exit code 0, but no new output matches '*.txt': a.txt is empty"


@pytest.mark.parametrize("failure", list(FailureClass))
def test_a_worker_of_ours_whose_word_is_gone_has_failed_by_its_exit_code(failure: FailureClass) -> None:
    """Its last words are the line, where they say why; only an exit code that is none of ours is a bug."""
    for words, line in (("lamplighter: x: the lock is gone", "x: the lock is gone"), ("", "")):
        end = WorkerEnd(code=failure.value, last_words=words)
        report = decide_end(end, result=None, trouble="", declared=None, must_report=True)
        assert (report.outcome, report.failure) == (Outcome.FAILED, failure)
        assert report.line.startswith(line)
