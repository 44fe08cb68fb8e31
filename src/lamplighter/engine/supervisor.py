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
from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.host.clock import Clock
from lamplighter.host.files import append_line, make_folder
from lamplighter.host.identity import read_own_identity
from lamplighter.host.signals import Interrupted, raising_interrupts

Say = Callable[[str], None]


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

        Raises DiskError when not even the row can be written: then nothing was done.
        """
        number = self._ledger.begin(job, command=command, trigger=trigger, process=read_own_identity())
        try:
            with raising_interrupts():
                report = self._run_locked(job, number, work, command)
        except Interrupted as interrupt:
            report = RunReport(
                outcome=Outcome.INTERRUPTED, signal=interrupt.number, line="asked to stop; what was begun is kept"
            )
        except LamplighterError as error:
            report = report_error(error)
        except Exception as error:  # noqa: BLE001 - the one boundary: whatever happens becomes an outcome
            report = self._report_crash(job, number, error)
        report = check_report(report)
        self._log(job, number, f"{report.outcome.value}: {report.line}")
        self._ledger.end(number, report)
        return report

    def _run_locked(self, job: str, number: int, work: Work, command: str) -> RunReport:
        lock = JobLock(self._state_dir / "locks" / job, self._clock)
        lock.acquire(command, floor=self._ledger.highest_generation(job))
        with lock:
            self._ledger.set_generation(number, lock.generation)
            flags = ("predecessor_died",) if lock.predecessor is not None else ()
            if reconcile(self._ledger, job, own=number) or flags:
                self._tell(job, number, "the run before this one was killed; its half-made work is kept as a draft")
            run = Run(
                number=number,
                generation=lock.generation,
                check=lock.check,
                say=lambda line: self._tell(job, number, line),
            )
            report = work(run)
            return replace(report, flags=(*flags, *report.flags))

    def _report_crash(self, job: str, number: int, error: Exception) -> RunReport:
        trace = "".join(traceback.format_exception(error))
        for line in trace.splitlines():
            self._log(job, number, line)
        return RunReport(
            outcome=Outcome.CRASHED,
            line=f"a bug in lamplighter: {type(error).__name__}: {error}; lamplighter runs log {number} shows it",
            log=trace,
        )

    def _tell(self, job: str, number: int, line: str) -> None:
        self._log(job, number, line)
        self._say(line)

    def _log(self, job: str, number: int, line: str) -> None:
        """Append to the run's log; a log that cannot be written never stops the work."""
        file = log_file(self._state_dir, job, number)
        with contextlib.suppress(LamplighterError):
            make_folder(file.parent, mode=0o700)
            stamp = self._clock.now().isoformat(timespec="seconds")
            append_line(file, f"{stamp} {' '.join(line.split(chr(10)))}", mode=0o600)


def log_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where a run's log is."""
    return state_dir / "logs" / job / f"{number}.log"


def report_error(error: LamplighterError) -> RunReport:
    """Return the outcome an expected error stands for."""
    outcomes = {FailureClass.LOCK_BUSY: Outcome.LOCK_HELD, FailureClass.NEEDS_HUMAN: Outcome.NEEDS_HUMAN}
    outcome = outcomes.get(error.failure, Outcome.FAILED)
    failure = error.failure if outcome is Outcome.FAILED else None
    return RunReport(outcome=outcome, failure=failure, line=str(error))
