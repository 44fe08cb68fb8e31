"""Why a slot was missed: what is asked of database, record and system, for the one who decides."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lamplighter.engine.job import Outcome
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.miss import Gap, GapCause, MissFacts, MissReason, decide_miss_reason
from lamplighter.engine.presence import UNSEEN, Moment, Presence
from lamplighter.errors import LamplighterError
from lamplighter.host.boot import read_boot_at
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.host.identity import read_boot_id
from lamplighter.host.slept import read_slept
from lamplighter.schedule.cadence import Slot
from lamplighter.schedule.record import FOLDER, Absence, read_installed

if TYPE_CHECKING:
    from lamplighter.host.awake import Sleep

_RUNS_READ = 50
_SHELL_SAYS = ("not found", "No such file or directory", "Permission denied", "cannot execute")


def read_moment(now: datetime) -> Moment:
    """Return what this machine says of itself."""
    return Moment(boot_id=read_boot_id(), boot_at=read_boot_at(now), slept=read_slept())


class MissReasons:
    """The reasons of one workspace; `state_dir` None leaves out what is known of the scheduler's entries."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ledger: Ledger,
        *,
        state_dir: Path | None = None,
        moment: Callable[[datetime], Moment] = read_moment,
        session_begin: Callable[[], datetime | None] | None = None,
        sleeps: Callable[[], tuple[Sleep, ...]] | None = None,
    ) -> None:
        """Use an open database; a simulation has moments of its own."""
        self._clock = clock
        self._ledger = ledger
        self._state_dir = state_dir
        self._moment = moment
        self._session_begin = session_begin
        self._sleeps = sleeps
        self._presence = Presence(database, clock, ledger.account)

    def note(self) -> None:
        """Note that something of ours is at work now: what was missed before has its reason by that."""
        self._presence.note(self._moment(self._clock.now()))

    def find(self, job: str, slot: Slot) -> MissReason:
        """Return why nobody did a slot of a job."""
        gap = self._find_gap(slot.due_at)
        facts = MissFacts(
            gap=gap,
            entry=self._find_entry(job, slot.due_at),
            was_running=self._was_running(job, slot.due_at),
            failed_start=self._has_failed_to_start(job, slot.due_at),
            session_began_at=self._find_session_begin() if gap is not None else None,
        )
        return decide_miss_reason(
            slot,
            boot_at=self._moment(self._clock.now()).boot_at,
            seen_on=self._presence.was_seen(slot.due_at, within=UNSEEN),
            facts=facts,
        )

    def _find_gap(self, at: datetime) -> Gap | None:
        """Return the gap that an instant fell into; a Mac's own log knows of sleeps among several short ones too."""
        gap = self._presence.find_gap(at)
        if gap is not None and gap.cause is GapCause.IDLE:
            from lamplighter.host.awake import read_sleeps  # noqa: PLC0415 - only for a slot that was missed

            asleep = any(
                one.begin_at <= at and (one.end_at is None or at < one.end_at)
                for one in (self._sleeps or read_sleeps)()
            )
            return replace(gap, cause=GapCause.SLEEP) if asleep else gap
        return gap

    def _find_entry(self, job: str, at: datetime) -> MissReason | None:
        """Return the reason by the state that the entry was in, None where it was as it is to be, or never was."""
        from lamplighter.schedule.check import Drift  # noqa: PLC0415 - as above

        absences: tuple[Absence, ...] = ()
        with contextlib.suppress(LamplighterError):
            record = read_installed(self._state_dir) if self._state_dir is not None else None
            absences = record.absences if record else ()
        found = [one for one in absences if one.job == job and one.begin_at <= at <= one.end_at]
        if not found:
            return None
        return MissReason.DISABLED if found[-1].drift == Drift.DISABLED.value else MissReason.UNIT_ABSENT

    def _was_running(self, job: str, at: datetime) -> bool:
        for run in self._ledger.latest(job=job, limit=_RUNS_READ):
            outcome = run.report.outcome if run.report else None
            if run.started_at < at and (run.ended_at is None or run.ended_at > at) and outcome is not Outcome.NOT_DUE:
                return True
        return False

    def _has_failed_to_start(self, job: str, at: datetime) -> bool:
        """Return whether the scheduler's last word on a job, since the slot was due, is that it could not start it."""
        if self._state_dir is None:
            return False
        from lamplighter.host.files import read_start  # noqa: PLC0415 - as above
        from lamplighter.schedule.systemd import parse_ended  # noqa: PLC0415 - the same

        folder = self._state_dir / FOLDER
        ended, said = (folder / f"boot-{job}.{kind}" for kind in ("ended", "log"))
        with contextlib.suppress(OSError, LamplighterError):
            if ended.stat().st_mtime >= at.timestamp():
                return parse_ended(read_start(ended, length=200).decode("utf-8", "replace"))[1]
        with contextlib.suppress(OSError, IndexError):
            if said.stat().st_mtime >= at.timestamp():
                last = said.read_bytes()[-1_000:].decode("utf-8", "replace").splitlines()[-1]
                return last.startswith(("/bin/sh:", "/usr/bin/env:", "sh:")) and any(one in last for one in _SHELL_SAYS)
        return False

    def _find_session_begin(self) -> datetime | None:
        """Return since when this user is logged in, where nothing is started without that."""
        with contextlib.suppress(LamplighterError, OSError):
            record = read_installed(self._state_dir) if self._state_dir is not None else None
            if record is not None and record.launcher in {"launchd", "systemd"}:
                from lamplighter.host.sitting import read_session_begin  # noqa: PLC0415 - as above

                return (self._session_begin or read_session_begin)()
        return None
