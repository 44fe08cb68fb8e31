"""Runs one piece of work under its job's lock and sees to it that the run ends in exactly one recorded outcome."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from lamplighter.engine.boundary import bounded
from lamplighter.engine.claim import Claim
from lamplighter.engine.ending import read_own_code
from lamplighter.engine.job import Outcome, RunReport, check_report
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.log import RunLog, Tails, err_file, out_file, read_tail
from lamplighter.engine.owner import Child
from lamplighter.engine.reconcile import reconcile
from lamplighter.engine.retention import prune
from lamplighter.errors import DiskError, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.identity import read_own_identity
from lamplighter.host.signals import Interrupted, Interrupts, holding_interrupts
from lamplighter.value import replace, value

Say = Callable[[str], None]
_MOST_ESCAPED = 60  # a record names 64 processes; the worker itself must stay among them


def _ignore(_: object) -> None:
    """Take no notice."""


@value
class Run:
    """A run at work: its number, the generation of its lock, `check` before every commit, `say` for progress.

    For work in a process of its own: the claim and the mark that process gets, `started` to have it recorded, `flag`
    for what is told beside the outcome, `show` for words that are in a log already. `left` says how much of the run's
    limit remains (None: there is no limit).
    """

    number: int
    generation: int
    check: Callable[[], None]
    say: Say
    claim: Claim | None = None
    nonce: str = ""
    started: Callable[[Child], None] = _ignore
    flag: Callable[[str], None] = _ignore
    show: Say = _ignore
    left: Callable[[], timedelta | None] = lambda: None


Work = Callable[[Run], RunReport]


@value
class Hold:
    """How a run holds its lock: as which command, on which terms, after waiting how long for another run."""

    command: str
    terms: Terms
    wait: timedelta


class Supervisor:
    """Runs work for one workspace; `state_dir` holds locks/<job>/ and logs/<job>/<run>.log."""

    def __init__(self, *, ledger: Ledger, state_dir: Path, clock: Clock, say: Say) -> None:
        """Take what the runs share."""
        self._ledger = ledger
        self._state_dir = state_dir
        self._clock = clock
        self._say = say

    def run(
        self,
        job: str,
        work: Work,
        *,
        command: str,
        terms: Terms | None = None,
        wait: timedelta = timedelta(0),
        flags: tuple[str, ...] = (),
    ) -> RunReport:
        """Do `work` under the job's lock, held on `terms`, and return the outcome that was recorded for it.

        Stop signals reach the work alone: never the writing of its row, lock or outcome. Raises DiskError when not even
        the row can be written: then nothing was done.
        """
        noted = list(flags)
        hold = Hold(command=command, terms=terms or Terms(), wait=wait)
        with holding_interrupts() as interrupts:
            number = self._ledger.begin(job, command=command, trigger=hold.terms.trigger, process=read_own_identity())
            report = bounded(
                lambda: self._run_locked(job, number, lambda run: perform(work, run, interrupts), hold, noted),
                number=number,
                log=lambda line: self._log(job, number, line),
            )
            told = tuple(dict.fromkeys((*noted, *report.flags)))
            return self._end(job, number, check_report(replace(report, flags=told)))

    def _run_locked(self, job: str, number: int, work: Work, hold: Hold, flags: list[str]) -> RunReport:
        """Do the work under the lock; what is found on the way is added to `flags`, however the work ends."""
        lock = JobLock(self._state_dir / "locks" / job, self._clock, hold.terms)
        lock.acquire(hold.command, floor=self._ledger.highest_generation(job), wait=hold.wait)
        with lock:
            self._ledger.set_generation(number, lock.generation)
            self._tell_of_predecessor(job, number, lock, flags)
            began = self._clock.monotonic()
            limit = hold.terms.limit

            children: list[Child] = []

            def start(child: Child) -> None:
                children.append(child)
                lock.describe(children=(children[0], *children[1:][-_MOST_ESCAPED:]))

            run = Run(
                number=number,
                generation=lock.generation,
                check=lock.check,
                say=lambda line: self._tell(job, number, line),
                claim=lock.claim,
                nonce=lock.nonce,
                started=start,
                flag=flags.append,
                show=self._show,
                left=lambda: limit - (self._clock.monotonic() - began) if limit is not None else None,
            )
            return work(run)

    def _tell_of_predecessor(self, job: str, number: int, lock: JobLock, flags: list[str]) -> None:
        """Note what became of the run before: it hung and was ended, or died without a word, or left processes."""
        if lock.taken_over is not None:
            flags.append("took_over")
            self._tell(job, number, f"the run before this one hung and was ended: {lock.taken_over.describe()}")
            reconcile(self._ledger, job, own=number)
        # The ledger knows of a death also where somebody spoiled the lock's record.
        elif reconcile(self._ledger, job, own=number) or lock.predecessor is not None:
            flags.append("predecessor_died")
            self._tell(job, number, "the run before this one was killed")
        if lock.leftovers_ended:
            flags.append(f"leftovers_ended={lock.leftovers_ended}")
            self._tell(job, number, f"{lock.leftovers_ended} processes it left behind were ended")

    def _end(self, job: str, number: int, report: RunReport) -> RunReport:
        """Record the outcome; one that cannot be recorded is a failure, and says what the work had said."""
        self._log(job, number, f"{report.outcome.value}: {report.line}")
        try:
            files = (file(self._state_dir, job, number) for file in (out_file, err_file))
            out, err = (read_tail(file) for file in files)
            if not self._ledger.end(number, report, Tails(out=out, err=err), own_code=read_own_code(report)):
                self._log(job, number, "its row had an outcome already, which stays")
        except DiskError as error:
            line = f"{report.outcome.value}: {report.line}; but this could not be recorded: {error}"
            return replace(report, outcome=Outcome.FAILED, failure=error.failure, line=line)
        with contextlib.suppress(DiskError):
            prune(self._ledger, self._state_dir / "logs")
        return report

    def _tell(self, job: str, number: int, text: str) -> None:
        line = render_line(text)
        self._log(job, number, line)
        self._show(line)

    def _show(self, line: str) -> None:
        with contextlib.suppress(OSError, UnicodeError):  # a reader that went away never stops the work
            self._say(render_line(line))

    def _log(self, job: str, number: int, line: str) -> None:
        RunLog(self._state_dir, job, number, self._clock).write(line)


def perform(work: Work, run: Run, interrupts: Interrupts) -> RunReport:
    """Return the work's report, also when a stop signal comes just after it."""
    reports: list[RunReport] = []
    try:
        with interrupts.raising():
            reports.append(work(run))
    except Interrupted:
        if not reports:
            raise
    return reports[0]
