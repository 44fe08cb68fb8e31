"""What the end of a worker means: exit code, signal, result file and declared output become one outcome (pure)."""

from __future__ import annotations

import signal
from datetime import timedelta

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.errors import FailureClass
from lamplighter.value import replace, value

_OWN_CODE = "exit code"
_OUR_WORDS = "lamplighter: "
_ASKING = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


@value
class WorkerEnd:
    """How a worker ended: its exit code (negative: the signal; None: stuck in the kernel, and left behind).

    `asked` is the signal that was passed on to it; `ran_out` that it was ended at its limit; `is_oom` that the kernel
    killed for want of memory meanwhile; `last_words` the last line it wrote to standard error.
    """

    code: int | None
    asked: int | None = None
    ran_out: timedelta | None = None
    is_oom: bool = False
    last_words: str = ""


@value
class Declared:
    """What a command said it would leave: the pattern of its output, and which new or changed files match it.

    `found` names the first of them, `total` counts them all; `why_not` is why what matches is no output, if it is none.
    """

    pattern: str
    found: tuple[str, ...]
    total: int
    why_not: str = ""


def decide_end(
    end: WorkerEnd, *, result: RunReport | None, trouble: str, declared: Declared | None, must_report: bool
) -> RunReport:
    """Return the outcome of a run whose worker has ended; `trouble` is why its result file cannot be read."""
    if end.ran_out is not None:
        done = f"; before that: {result.line}" if result is not None and result.made_output else ""
        return RunReport(
            outcome=Outcome.TIMED_OUT,
            line=f"ran past its limit of {_say(end.ran_out)} and was ended{done}",
            outputs=result.outputs if result is not None else (),
        )
    if end.asked is not None and (result is None or result.outcome is Outcome.INTERRUPTED):
        line = result.line if result is not None else "asked to stop, and its worker was ended"
        return RunReport(outcome=Outcome.INTERRUPTED, signal=end.asked, line=line)
    if end.code is None or end.code < 0:
        return result if result is not None and must_report else _decide_signal(end)
    if must_report:
        return result if result is not None else _decide_silence(end, trouble)
    return _decide_command(end, result, trouble, declared)


def read_own_code(report: RunReport) -> int | None:
    """Return the exit code that a command itself gave, None where there was none."""
    found = next((fact.value for fact in report.evidence if fact.name == _OWN_CODE), "")
    return int(found) if found.isdecimal() and len(found) < 10 else None


def _decide_signal(end: WorkerEnd) -> RunReport:
    number = -end.code if end.code is not None else signal.SIGKILL
    name = _name(number)
    if number in _ASKING:
        return RunReport(outcome=Outcome.INTERRUPTED, signal=number, line=f"its worker was ended by {name}")
    why = " for want of memory" if end.is_oom and number == signal.SIGKILL else ""
    stuck = "; it is stuck in the kernel and was left behind" if end.code is None else ""
    return RunReport(outcome=Outcome.KILLED, signal=number, line=f"its worker was killed by {name}{why}{stuck}")


def _decide_silence(end: WorkerEnd, trouble: str) -> RunReport:
    """A worker of ours that does not say how it ended is a bug, unless it says why it could not."""
    failure = next((one for one in FailureClass if one.value == end.code), None)
    said = end.last_words.removeprefix(_OUR_WORDS) if end.last_words.startswith(_OUR_WORDS) else ""
    if failure is FailureClass.DISK:
        said = said or end.last_words or "its worker could not write how it ended"
    elif failure is not None and not trouble:  # another run of the job cleared it away, its lock taken from under it
        said = said or f"its worker failed ({failure.name.lower()}), and what it wrote of how is gone"
    if failure is not None and said:
        return RunReport(outcome=Outcome.FAILED, failure=failure, line=said)
    how = trouble or "without saying how"
    return RunReport(
        outcome=Outcome.CRASHED, line=_with_words(f"its worker ended with exit code {end.code}, {how}", end)
    )


def _decide_command(end: WorkerEnd, result: RunReport | None, trouble: str, declared: Declared | None) -> RunReport:
    code = (Evidence(name=_OWN_CODE, value=str(end.code)),)
    if trouble:
        return _fail(f"exit code {end.code}, but its result file does not count: {trouble}", code)
    if end.code != 0:
        if result is not None and result.exit_code:
            return replace(result, evidence=(*result.evidence, *code))
        return _fail(_with_words(f"exit code {end.code}", end), code)
    if result is not None and (declared is None or not (result.made_output or result.outcome is Outcome.COMPLETED)):
        return result
    if declared is None:
        return RunReport(outcome=Outcome.COMPLETED, line="exit code 0; no output is declared", evidence=code)
    return _decide_output(result, declared, code)


def _decide_output(result: RunReport | None, declared: Declared, code: tuple[Evidence, ...]) -> RunReport:
    """Success is the output, not the exit code."""
    if not declared.found:
        why = f": {declared.why_not}" if declared.why_not else ""
        return _fail(f"exit code 0, but no new output matches {declared.pattern!r}{why}", code)
    if result is not None and result.made_output:
        return replace(result, outputs=result.outputs or declared.found)
    return RunReport(outcome=Outcome.PRODUCED, line=_say_outputs(declared), outputs=declared.found, evidence=code)


def _fail(line: str, evidence: tuple[Evidence, ...]) -> RunReport:
    return RunReport(outcome=Outcome.FAILED, failure=FailureClass.INTERNAL, line=line, evidence=evidence)


def _say_outputs(declared: Declared) -> str:
    more = f" and {declared.total - 1:,} more" if declared.total > 1 else ""
    return f"new: {declared.found[0]}{more}"


def _with_words(line: str, end: WorkerEnd) -> str:
    return f"{line}: {end.last_words}" if end.last_words else line


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _say(duration: timedelta) -> str:
    seconds = duration.total_seconds()
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
