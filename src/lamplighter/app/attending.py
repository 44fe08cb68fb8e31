"""What work needs of the machine: the network, which is often late after a wake, and that it does not fall asleep."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamplighter.engine.job import RunReport
from lamplighter.engine.lock import Terms
from lamplighter.engine.supervisor import Run, Work
from lamplighter.host.awake import holding_awake
from lamplighter.host.clock import Clock
from lamplighter.host.online import PATIENCE, Host, Look, is_online, wait_until_online
from lamplighter.value import replace

Hosts = Callable[[], Sequence[Host] | None]


def attended(
    work: Work,
    terms: Terms,
    *,
    job: str,
    scheduled: bool,
    clock: Clock,
    hosts: Hosts,
    look: Look = is_online,
    guard: Sequence[str] | None = None,
) -> tuple[Work, Terms]:
    """Return work that keeps the machine awake and, when scheduled, waits for `hosts`; and terms that allow for it.

    `hosts` returns None where no network is needed, and none where any network will do. The wait is no part of the
    time that the work itself may take.
    """

    def work_attended(run: Run) -> RunReport:
        with holding_awake(f"{job} is at work", guard):
            needed = hosts() if scheduled else None
            if needed is not None:
                wait_until_online(needed, clock, run.say, look=look)
            return work(run)

    allowed = terms if terms.limit is None or not scheduled else replace(terms, limit=terms.limit + PATIENCE)
    return work_attended, allowed
