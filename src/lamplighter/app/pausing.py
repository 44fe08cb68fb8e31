"""Pauses as runs meet them. Loads next to nothing: every run asks for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.pause import Pause, Pauses
from lamplighter.engine.supervisor import Run, Work

if TYPE_CHECKING:  # a run that has no due times loads nothing of this
    from lamplighter.app.timing import Timing
    from lamplighter.engine.ledger import Ledger
    from lamplighter.engine.slot import Slots


def unless_paused(work: Work, job: str, pauses: Pauses, *, excuse: Callable[[Pause], None]) -> Work:
    """Return work that is not begun while its job is paused: the run ends as `paused` and says what ends that.

    `excuse` gives the slot that the run was for its word.
    """

    def work_unless_paused(run: Run) -> RunReport:
        pause = pauses.find(job)
        if pause is None:
            return work(run)
        excuse(pause)
        return RunReport(outcome=Outcome.PAUSED, line=f"{pause.describe()}; {pause.remedy} ends it")

    return work_unless_paused


def excuse_slot(job: str, timing: Timing, slots: Slots, ledger: Ledger, pause: Pause) -> None:
    """Write that the slot of a paused run need not be done, where one is open."""
    from lamplighter.app.timing import find_outcome  # noqa: PLC0415 - loaded by then
    from lamplighter.schedule.cadence import Due  # noqa: PLC0415 - the same

    decided = slots.decide(
        job,
        timing.cadence,
        scheduled=True,
        outcome_of=lambda number: timing.judge(find_outcome(ledger, number)),
        served=timing.served(),
    )
    for slot in (decided.slot, *decided.coalesced) if isinstance(decided, Due) else ():
        slots.excuse(job, slot, pause.describe())
