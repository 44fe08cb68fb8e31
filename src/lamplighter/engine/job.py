"""The vocabulary of any job: outcomes, their exit codes, and what one run has to say for itself (pure)."""

from __future__ import annotations

import enum

from lamplighter.errors import FailureClass
from lamplighter.value import replace, value


class Outcome(enum.Enum):
    """How a run ended; every run ends in exactly one of these (DESIGN §3)."""

    PRODUCED = "produced"
    PARTIAL = "partial"
    NOTHING_NEEDED = "nothing_needed"
    NOT_DUE = "not_due"
    COMPLETED = "completed"
    PAUSED = "paused"
    NOTHING_READY = "nothing_ready"
    REJECTED = "rejected"
    LOCK_HELD = "lock_held"
    COOLDOWN = "cooldown"
    NEEDS_HUMAN = "needs_human"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    KILLED = "killed"
    CRASHED = "crashed"


MEANING = {
    Outcome.PRODUCED: "the output exists, proof in the run record",
    Outcome.PARTIAL: "at least one was made, but fewer than wanted",
    Outcome.NOTHING_NEEDED: "nothing had to be done, and the evidence says why",
    Outcome.NOT_DUE: "a scheduler woke us and no slot is open",
    Outcome.COMPLETED: "a command exited 0 and declares no output",
    Outcome.PAUSED: "a person's pause, which always expires",
    Outcome.NOTHING_READY: "there was nothing ready to publish",
    Outcome.REJECTED: "made, but all that was made was refused",
    Outcome.LOCK_HELD: "another run is at work",
    Outcome.COOLDOWN: "a limit of a service lasts until a known time",
    Outcome.NEEDS_HUMAN: "only a person can go on, and the line says what to type",
    Outcome.FAILED: "it failed, and the class says whose part it was",
    Outcome.TIMED_OUT: "it ran past its limit and was ended",
    Outcome.INTERRUPTED: "it was asked to stop",
    Outcome.KILLED: "it was killed and could not say a word; its supervisor, the next run or watch wrote this",
    Outcome.CRASHED: "a bug of ours; the traceback is in the log",
}

_EXIT_CODES = {
    Outcome.NOTHING_READY: 66,
    Outcome.REJECTED: 76,
    Outcome.LOCK_HELD: 75,
    Outcome.COOLDOWN: 75,
    Outcome.NEEDS_HUMAN: 77,
    Outcome.TIMED_OUT: 124,
    Outcome.CRASHED: 1,
}
_SIGNALLED = frozenset({Outcome.INTERRUPTED, Outcome.KILLED})
_SUCCESSFUL = frozenset({Outcome.PRODUCED, Outcome.PARTIAL})


@value
class Evidence:
    """One counted thing that supports an outcome, e.g. "stock" = "3 of 3"."""

    name: str
    value: str


@value
class RunReport:
    """What a run says of itself: outcome, one line for people, evidence, the outputs' names, flags."""

    outcome: Outcome
    line: str
    evidence: tuple[Evidence, ...] = ()
    outputs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    failure: FailureClass | None = None
    signal: int | None = None

    @property
    def exit_code(self) -> int:
        """Return the process exit code this outcome stands for."""
        if self.outcome is Outcome.FAILED:
            return (self.failure or FailureClass.INTERNAL).value
        if self.outcome in _SIGNALLED:
            return 128 + (self.signal or 0)
        return _EXIT_CODES.get(self.outcome, 0)

    @property
    def made_output(self) -> bool:
        """Return whether the run left output behind; nothing else is success."""
        return self.outcome in _SUCCESSFUL


def check_report(report: RunReport) -> RunReport:
    """Return the report, or `failed` in its place when it claims what it has no evidence or output for (DESIGN §3)."""
    doubt = ""
    if report.outcome is Outcome.NOTHING_NEEDED and not report.evidence:
        doubt = "said without evidence, so it does not count"
    if report.made_output and not report.outputs:
        doubt = "but names no output, so it does not count"
    if not doubt:
        return report
    line = f"{report.line} ({doubt})"
    return replace(report, outcome=Outcome.FAILED, failure=FailureClass.INTERNAL, line=line)
