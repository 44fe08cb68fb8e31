"""Runs one piece of work under its job's lock and sees to it that the run ends in exactly one recorded outcome."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lamplighter.engine.job import Outcome, RunReport, check_report
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.lock import JobLock
from lamplighter.engine.reconcile import reconcile
from lamplighter.errors import DiskError, FailureClass, LamplighterError, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.files import append_line, make_folder
from lamplighter.host.identity import read_own_identity
from lamplighter.host.signals import Interrupted, Interrupts, holding_interrupts

Say = Callable[[str], None]
_LONGEST_CAUSE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run at work: its number, the generation of its lock, `check` before every commit, `say` for progress."""

    number: int
    generation: int
    check: Callable[[], None]
    say: Say


Work = Callable[[Run], RunReport]


class Supervisor:
    """Runs work for one workspace; `state_dir` holds locks/<job>/ and logs/<job>/<run>.log."""

    def __init__(self, *, ledger: Ledger, state_dir: Path, clock: Clock, say: Say) -> None:
        """Take what the runs share."""
        self._ledger = ledger
        self._state_dir = state_dir
        self._clock = clock
        self._say = say

    def run(self, job: str, work: Work, *, command: str, trigger: str = "person") -> RunReport:
        """Do `work` under the job's lock and return the outcome that was recorded for it.

        Stop signals reach the work alone: never the writing of its row, lock or outcome. Raises DiskError when not even
        the row can be written: then nothing was done.
        """
        flags: list[str] = []
        with holding_interrupts() as interrupts:
            number = self._ledger.begin(job, command=command, trigger=trigger, process=read_own_identity())
            try:
                report = self._run_locked(job, number, lambda run: _do(work, run, interrupts), command, flags)
            except Interrupted as interrupt:
                report = RunReport(
                    outcome=Outcome.INTERRUPTED, signal=interrupt.number, line="asked to stop; what was begun is kept"
                )
            except LamplighterError as error:
                report = report_error(error)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the one boundary: whatever happens is an outcome
                report = self._report_crash(job, number, error)
            return self._end(job, number, check_report(replace(report, flags=(*flags, *report.flags))))

    def _run_locked(self, job: str, number: int, work: Work, command: str, flags: list[str]) -> RunReport:
        """Do the work under the lock; what is found on the way is added to `flags`, however the work ends."""
        lock = JobLock(self._state_dir / "locks" / job, self._clock)
        lock.acquire(command, floor=self._ledger.highest_generation(job))
        with lock:
            self._ledger.set_generation(number, lock.generation)
            if lock.predecessor is not None:
                flags.append("predecessor_died")
            if reconcile(self._ledger, job, own=number) or flags:
                self._tell(job, number, "the run before this one was killed")
            run = Run(
                number=number,
                generation=lock.generation,
                check=lock.check,
                say=lambda line: self._tell(job, number, line),
            )
            return work(run)

    def _end(self, job: str, number: int, report: RunReport) -> RunReport:
        """Record the outcome; one that cannot be recorded is a failure, and says what the work had said."""
        self._log(job, number, f"{report.outcome.value}: {report.line}")
        try:
            if not self._ledger.end(number, report):
                self._log(job, number, "its row had an outcome already, which stays")
        except DiskError as error:
            line = f"{report.outcome.value}: {report.line}; but this could not be recorded: {error}"
            return replace(report, outcome=Outcome.FAILED, failure=error.failure, line=line)
        return report

    def _report_crash(self, job: str, number: int, error: BaseException) -> RunReport:
        trace = "".join(traceback.format_exception(error))
        for line in trace.splitlines():
            self._log(job, number, line)
        what = " ".join("".join(traceback.format_exception_only(error)).split())
        return RunReport(
            outcome=Outcome.CRASHED,
            line=f"a bug in lamplighter: {what[:_LONGEST_CAUSE]}; lamplighter runs log {number} shows it",
        )

    def _tell(self, job: str, number: int, text: str) -> None:
        line = render_line(text)
        self._log(job, number, line)
        with contextlib.suppress(OSError, UnicodeError):  # a reader that went away never stops the work
            self._say(line)

    def _log(self, job: str, number: int, line: str) -> None:
        """Append to the run's log; a log that cannot be written never stops the work."""
        file = log_file(self._state_dir, job, number)
        with contextlib.suppress(LamplighterError):
            make_folder(file.parent, mode=0o700)
            stamp = self._clock.now().isoformat(timespec="seconds")
            append_line(file, f"{stamp} {line.replace(chr(10), ' ')}", mode=0o600)


def _do(work: Work, run: Run, interrupts: Interrupts) -> RunReport:
    """Return the work's report, also when a stop signal comes just after it."""
    reports: list[RunReport] = []
    try:
        with interrupts.raising():
            reports.append(work(run))
    except Interrupted:
        if not reports:
            raise
    return reports[0]


def log_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where a run's log is."""
    return state_dir / "logs" / job / f"{number}.log"


def report_error(error: LamplighterError) -> RunReport:
    """Return the outcome an expected error stands for."""
    outcomes = {FailureClass.LOCK_BUSY: Outcome.LOCK_HELD, FailureClass.NEEDS_HUMAN: Outcome.NEEDS_HUMAN}
    outcome = outcomes.get(error.failure, Outcome.FAILED)
    failure = error.failure if outcome is Outcome.FAILED else None
    return RunReport(outcome=outcome, failure=failure, line=str(error))
