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
from lamplighter.engine.log import RunLog, Tails, err_file, out_file, read_tail, redact
from lamplighter.engine.owner import Child
from lamplighter.engine.reconcile import find_living, reconcile
from lamplighter.engine.retention import prune
from lamplighter.errors import DiskError, Fenced, LockBusy, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.identity import read_own_identity
from lamplighter.host.signals import Interrupted, Interrupts, holding_interrupts
from lamplighter.value import replace, value

Say = Callable[[str], None]
_PHASE_EVERY = timedelta(seconds=1)
_ENDING = timedelta(seconds=2)  # the longest that a run which has let go of its lock may take to write its row
_MOST_ESCAPED = 60  # a record names 64 processes; the worker itself must stay among them


def _ignore(_: object) -> None:
    """Take no notice."""


@value
class Run:
    """A run at work: its number, the generation of its lock, `check` before every commit, `say` for progress.

    For work in a process of its own: the claim and the mark that process gets, `started` to have it recorded, `flag`
    for what is told beside the outcome, `show` for words that are in a log already, `phase` for what the lock's record
    says it is at. `left` says how much of the run's
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
    phase: Say = _ignore
    left: Callable[[], timedelta | None] = lambda: None


Work = Callable[[Run], RunReport]


_USUAL_TERMS = Terms()


@value(hidden=("secrets",))
class Setup:
    """What a run is to do, and on which terms it holds its lock.

    `prepare` is called before the lock is taken, with what takes its words, and may wait: for a due time, a network.
    `secrets` are what the work's output may hold, and no record may.
    """

    work: Work
    terms: Terms = _USUAL_TERMS
    prepare: Callable[[Say], None] = _ignore
    secrets: tuple[str, ...] = ()


class _Attempt:
    """One run on its way: what it was asked for, what is noted of it, and the lock once it goes for one."""

    def __init__(self, job: str, number: int, *, command: str, trigger: str, wait: timedelta) -> None:
        self.job = job
        self.number = number
        self.command = command
        self.trigger = trigger
        self.wait = wait
        self.flags: list[str] = []
        self.secrets: tuple[str, ...] = ()
        self.lock: JobLock | None = None

    def note_loss(self, report: RunReport) -> RunReport:
        """Return the report, with a word of it where the lock was taken from under the run."""
        if self.lock is None or self.lock.generation == 0:
            return report
        try:
            self.lock.check()
        except Fenced as error:
            line = f"{report.line}; its lock was taken from under it: {error.cause}"
            return replace(report, line=line, flags=(*report.flags, "lock_lost"))
        return report

    def release(self, ended: str) -> None:
        """Let the lock go, if there is one, and say in its record how the run ended."""
        if self.lock is not None:
            self.lock.release(ended)
        self.lock = None


class _Phases:
    """Writes what a run is at into its lock's record, at most once a second."""

    def __init__(self, lock: JobLock, clock: Clock) -> None:
        self._lock = lock
        self._clock = clock
        self._next = timedelta(0)

    def note(self, line: str) -> None:
        now = self._clock.monotonic()
        if now >= self._next:
            self._next = now + _PHASE_EVERY
            self._lock.describe(phase=line)


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
        set_up: Callable[[], Setup],
        *,
        command: str,
        trigger: str = "person",
        wait: timedelta = timedelta(0),
        flags: tuple[str, ...] = (),
    ) -> RunReport:
        """Do the work that `set_up` returns under the job's lock; return the outcome that was recorded for it.

        The row is there before `set_up` is called: what that raises is a recorded failure too. Stop signals reach
        setting up, waiting and work alone: never the writing of row, lock or outcome. Raises DiskError when not even
        the row can be written: then nothing was done.
        """
        with holding_interrupts() as interrupts:
            number = self._ledger.begin(job, command=command, trigger=trigger, process=read_own_identity())
            attempt = _Attempt(job, number, command=command, trigger=trigger, wait=wait)
            attempt.flags += flags
            try:
                report = bounded(
                    lambda: self._run(set_up, attempt, interrupts),
                    number=number,
                    log=lambda line: self._log(job, number, line),
                )
                told = tuple(dict.fromkeys((*attempt.flags, *report.flags)))
                report = check_report(replace(report, flags=told))
                report = attempt.note_loss(report)
                attempt.release(report.outcome.value)
            finally:
                attempt.release("")
            return self._end(attempt, report)

    def _run(self, set_up: Callable[[], Setup], attempt: _Attempt, interrupts: Interrupts) -> RunReport:
        """Set up, wait, lock and work."""
        with interrupts.raising():
            setup = set_up()
            attempt.secrets = setup.secrets
            setup.prepare(lambda line: self._tell(attempt.job, attempt.number, line))
            terms = replace(setup.terms, trigger=attempt.trigger)
            attempt.lock = lock = JobLock(self._state_dir / "locks" / attempt.job, self._clock, terms)
            lock.acquire(attempt.command, floor=self._ledger.highest_generation(attempt.job), wait=attempt.wait)
            self._refuse_living(attempt)
        self._ledger.set_generation(attempt.number, lock.generation)
        self._tell_of_predecessor(attempt.job, attempt.number, lock, attempt.flags)
        return perform(setup.work, self._describe(attempt, lock, terms.limit), interrupts)

    def _refuse_living(self, attempt: _Attempt) -> None:
        """Raise LockBusy where a run of this job is alive that had the lock: its folder was taken from under it.

        One that has just let go is given a moment to write its row.
        """
        end = self._clock.monotonic() + _ENDING
        while living := find_living(self._ledger, attempt.job, own=attempt.number):
            if self._clock.monotonic() >= end:
                process = living[0].process
                raise LockBusy(
                    f"job {attempt.job}",
                    f"run {living[0].number} is at work (pid {process.pid}), though its lock was taken from under it",
                    "wait for it, or end that process",
                )
            self._clock.wait(_ENDING / 40)

    def _describe(self, attempt: _Attempt, lock: JobLock, limit: timedelta | None) -> Run:
        began = self._clock.monotonic()
        children: list[Child] = []

        def start(child: Child) -> None:
            children.append(child)
            lock.describe(children=(children[0], *children[1:][-_MOST_ESCAPED:]))

        return Run(
            number=attempt.number,
            generation=lock.generation,
            check=lock.check,
            say=lambda line: self._tell(attempt.job, attempt.number, line),
            claim=lock.claim,
            nonce=lock.nonce,
            started=start,
            flag=attempt.flags.append,
            show=self._show,
            phase=_Phases(lock, self._clock).note,
            left=lambda: limit - (self._clock.monotonic() - began) if limit is not None else None,
        )

    def _tell_of_predecessor(self, job: str, number: int, lock: JobLock, flags: list[str]) -> None:
        """Note what became of the run before: it hung and was ended, or died without a word, or left processes."""
        died = reconcile(self._ledger, job, own=number, lock_dir=None, record=lock.before)
        holder = lock.predecessor
        if lock.taken_over is not None:
            flags.append("took_over")
            self._tell(job, number, f"the run before this one hung and was ended: {lock.taken_over.describe()}")
        # The ledger knows of a death also where the lock's record does not, and of an end that was not written there.
        elif died or (holder is not None and not self._ledger.has_ended(job, holder.generation)):
            flags.append("predecessor_died")
            self._tell(job, number, "the run before this one was killed")
        if lock.leftovers_ended:
            flags.append(f"leftovers_ended={lock.leftovers_ended}")
            self._tell(job, number, f"{lock.leftovers_ended} processes it left behind were ended")

    def _end(self, attempt: _Attempt, report: RunReport) -> RunReport:
        """Record the outcome; one that cannot be recorded is a failure, and says what the work had said."""
        job, number = attempt.job, attempt.number
        self._log(job, number, f"{report.outcome.value}: {report.line}")
        try:
            files = (file(self._state_dir, job, number) for file in (out_file, err_file))
            out, err = (redact(read_tail(file), attempt.secrets) for file in files)
            if not self._ledger.end(number, report, Tails(out=out, err=err), own_code=read_own_code(report)):
                self._log(job, number, "its row is gone or had an outcome already, which stays")
        except DiskError as error:
            said = report.line if report.outcome is Outcome.FAILED else f"{report.outcome.value}: {report.line}"
            line = f"{said}; but this could not be recorded: {error}"
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
