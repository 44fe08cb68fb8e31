"""One tick of watching a workspace."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from lamplighter.app.cadence import list_cadences
from lamplighter.app.expecting import Expectations
from lamplighter.app.missing import MissReasons
from lamplighter.app.notify import list_expected, tell_after_tick
from lamplighter.app.opening import MIGRATIONS, Parts, assemble
from lamplighter.app.place import Workspace, refuse_other_user
from lamplighter.app.running import opening_to_write
from lamplighter.app.timing import find_outcome
from lamplighter.app.watch_table import WATCH_MIGRATIONS as WATCH_MIGRATIONS  # noqa: PLC0414 - its users find it here
from lamplighter.config.basics import find_basics
from lamplighter.config.settings import read_settings
from lamplighter.engine.alert import render_alert, write_alert, write_mark
from lamplighter.engine.incident import Incidents
from lamplighter.engine.made import Outputs
from lamplighter.engine.presence import Moment
from lamplighter.engine.reconcile import reconcile
from lamplighter.engine.slot import Slots
from lamplighter.engine.watch import EVERY, TROUBLES, Expected, TickReport, Watcher, add_doubt, blind_report
from lamplighter.errors import LamplighterError
from lamplighter.host.boot import read_boot_at
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.host.identity import read_boot_id
from lamplighter.host.sitting import read_session_begin
from lamplighter.host.slept import read_slept
from lamplighter.notify.outbox import Outbox
from lamplighter.schedule.record import has_record

_TIDY = timedelta(hours=1)


def run_watch(workspace: Workspace) -> TickReport:
    """Look once: the function behind `lamplighter watch`.

    Whatever cannot be read is said as unknown, broken settings and a database that does not open included. Raises
    UsageError for another user than the workspace's own.
    """
    refuse_other_user(workspace.folder)
    state_dir, _ = find_basics(workspace.folder)
    zone = ZoneInfo("UTC")
    try:
        settings = read_settings(workspace.folder)
        zone = settings.post.zone
        migrations = (*MIGRATIONS, *WATCH_MIGRATIONS)
        with opening_to_write(workspace, settings.state_dir, migrations) as opened:
            parts = assemble(settings, opened.database, workspace.clock)
            report = Watch(parts, opened.database, workspace.clock).tick()
    except TROUBLES as error:
        report = blind_report(workspace.clock.now(), error)
    try:
        write_alert(workspace.folder, render_alert(report, zone), report.at)
        write_mark(state_dir, report.at, EVERY)
    except LamplighterError as error:
        report = add_doubt(report, "alert", "anything by ALERT.txt: it cannot be written", error)
    tell_after_tick(workspace, report)
    return report


class Watch:
    """Watches one workspace; several ticks may be asked of it."""

    def __init__(
        self,
        parts: Parts,
        database: Database,
        clock: Clock,
        *,
        boot_id: str | None = None,
        boot_at: Callable[[datetime], datetime] = read_boot_at,
        slept: Callable[[], timedelta] = read_slept,
        session_begin: Callable[[], datetime | None] = read_session_begin,
        expectations: type[Expectations] = Expectations,
    ) -> None:
        """Take the parts of a workspace; a simulation has boots, and readers, of its own."""
        settings = parts.settings
        self._parts = parts
        self._database = database
        self._clock = clock
        here = read_boot_id() if boot_id is None else boot_id
        self._reasons = MissReasons(
            database,
            clock,
            parts.ledger,
            state_dir=settings.state_dir,
            moment=lambda now: Moment(boot_id=here, boot_at=boot_at(now), slept=slept()),
            session_begin=session_begin,
        )
        self._expectations = expectations
        self._slots = Slots(database, clock, settings.account)
        self._outputs = Outputs(database, settings.account)
        incidents = Incidents(
            database,
            clock,
            settings.account,
            outbox=Outbox(database, clock, settings.account),
            zone=settings.post.zone,
        )
        self._watcher = Watcher(database, clock, settings.account, incidents=incidents, boot_id=here)
        self._cadences = list_cadences(settings)

    def tick(self) -> TickReport:
        """Look once."""
        expectations = self._expectations(self._parts, self._database, self._clock, reason_of=self._reasons.find)
        expected = (*expectations.list(), *self._list_others())
        return self._watcher.tick(expected, reconcile=self._reconcile, quiet=expectations.quiet())

    def _list_others(self) -> Iterator[Expected]:
        """Yield what other parts expect."""
        yield from list_expected(self._parts.settings, self._database, self._clock)
        if has_record(self._parts.settings.state_dir):
            from lamplighter.app import scheduling  # noqa: PLC0415 - only where entries were ever installed

            yield from scheduling.list_expected(self._parts.settings, self._clock)

    def _reconcile(self) -> None:
        """Write the word of runs that died, and that of slots that nobody can do any more.

        Slots are looked through where a run died, and else at the first tick of each hour: it takes long.
        """
        self._reasons.note()
        locks = self._parts.settings.state_dir / "locks"
        jobs = self._outputs.open_jobs()
        died = sum(reconcile(self._parts.ledger, job, own=0, lock_dir=locks / job) for job in jobs)
        before, now = self._watcher.last_tick_at(), self._clock.now()
        if not died and before is not None and _hour(before) == _hour(now):
            return
        for job, cadence in self._cadences.items():
            self._slots.tidy(
                job,
                cadence,
                outcome_of=lambda number: find_outcome(self._parts.ledger, number),
                reason_of=functools.partial(self._reasons.find, job),
            )


def _hour(at: datetime) -> int:
    return int(at.timestamp() // _TIDY.total_seconds())
