"""The one boundary of a piece of work: whatever happens inside, what comes out is a report."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.host.files import disk_error
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
    except OSError as error:  # what the machine did, in a place that no part expects it
        _log_traceback(error, log)
        if error.filename is None:
            return _report_bug(error, number)
        return report_error(disk_error(Path(os.fsdecode(error.filename)), error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the one boundary: whatever happens is an outcome
        _log_traceback(error, log)
        return _report_bug(error, number)


def _log_traceback(error: BaseException, log: Callable[[str], None]) -> None:
    import traceback  # noqa: PLC0415 - it loads much, and this is for a bug

    for line in "".join(traceback.format_exception(error)).splitlines():
        log(line)


def _report_bug(error: BaseException, number: int) -> RunReport:
    import traceback  # noqa: PLC0415 - the same

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
