"""The one boundary of a piece of work: whatever happens inside, what comes out is a report."""

from __future__ import annotations

from collections.abc import Callable

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.host.signals import Interrupted

_LONGEST_CAUSE = 500


def bounded(work: Callable[[], RunReport], *, number: int, log: Callable[[str], None]) -> RunReport:
    """Return the report of `work`, or that of what it raised; the traceback of a bug goes to `log`, line by line."""
    try:
        return work()
    except Interrupted as interrupt:
        return RunReport(
            outcome=Outcome.INTERRUPTED, signal=interrupt.number, line="asked to stop; what was begun is kept"
        )
    except LamplighterError as error:
        return report_error(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the one boundary: whatever happens is an outcome
        import traceback  # noqa: PLC0415 - it loads much, and this is for a bug

        for line in "".join(traceback.format_exception(error)).splitlines():
            log(line)
        what = " ".join("".join(traceback.format_exception_only(error)).split())
        return RunReport(
            outcome=Outcome.CRASHED,
            line=f"a bug in lamplighter: {what[:_LONGEST_CAUSE]}; lamplighter runs log {number} shows it",
        )


def report_error(error: LamplighterError) -> RunReport:
    """Return the outcome an expected error stands for."""
    outcomes = {FailureClass.LOCK_BUSY: Outcome.LOCK_HELD, FailureClass.NEEDS_HUMAN: Outcome.NEEDS_HUMAN}
    outcome = outcomes.get(error.failure, Outcome.FAILED)
    failure = error.failure if outcome is Outcome.FAILED else None
    return RunReport(outcome=outcome, failure=failure, line=str(error))
