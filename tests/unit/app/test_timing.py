"""A run with due times claims its slot, and gives those before it their word and reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.app.running import ENGINE_MIGRATIONS
from lamplighter.app.timing import Timing, at_slot
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.miss import MissReason
from lamplighter.engine.slot import Slots, SlotStatus
from lamplighter.engine.supervisor import Run
from lamplighter.host.database import Database, open_database
from lamplighter.host.identity import read_own_identity
from lamplighter.schedule.cadence import Cadence
from lamplighter.schedule.record import Absence, Installed, write_installed

BEGIN = datetime(2026, 11, 29, 5, 58, tzinfo=UTC)
CADENCE = Cadence(zone=ZoneInfo("UTC"), at=(time(6), time(12), time(18)), catch_up=timedelta(hours=1))


class Bench:
    """One job, run whenever it is asked to."""

    def __init__(self, database: Database, state_dir: Path) -> None:
        """Begin shortly before the first slot."""
        self.clock = VirtualClock(BEGIN)
        self.ledger = Ledger(database, self.clock, "main")
        self.slots = Slots(database, self.clock, "main")
        self.state_dir = state_dir
        self.said: list[str] = []

    def run(self) -> Outcome:
        """Run it as a scheduler does, and return how it ended."""
        number = self.ledger.begin("back", command="c", trigger="cron", process=read_own_identity())
        work = at_slot(
            lambda _: RunReport(outcome=Outcome.COMPLETED, line="done"),
            "back",
            Timing(cadence=CADENCE, state_dir=self.state_dir),
            slots=self.slots,
            ledger=self.ledger,
            clock=self.clock,
            scheduled=True,
        )
        report = work(Run(number=number, generation=1, check=lambda: None, say=self.said.append))
        self.ledger.end(number, report)
        return report.outcome

    def words(self) -> dict[str, tuple[SlotStatus, str]]:
        """Return what became of each slot."""
        return {row.slot.key[-4:]: (row.status, row.reason) for row in self.slots.latest("back")}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Return a bench."""
    with open_database(tmp_path / "lamplighter.db", ENGINE_MIGRATIONS) as database:
        yield Bench(database, tmp_path)


def test_a_missed_slot_has_no_reason_that_nobody_knows(bench: Bench) -> None:
    """Something ran before and after, on one boot and without sleep: it is not said that the machine was off."""
    assert bench.run() is Outcome.COMPLETED
    bench.clock.jump(BEGIN + timedelta(hours=12, minutes=3))
    assert bench.run() is Outcome.COMPLETED
    assert bench.words() == {
        "0600": (SlotStatus.CLAIMED, ""),
        "1200": (SlotStatus.MISSED, MissReason.UNKNOWN.value),
        "1800": (SlotStatus.CLAIMED, ""),
    }
    assert bench.said == ["the slot 2026-11-29-1200 was missed"]


def test_a_missed_slot_has_the_reason_that_the_watcher_noted(bench: Bench) -> None:
    """Its entry was disabled from ten to two."""
    assert bench.run() is Outcome.COMPLETED
    absence = Absence(
        job="back", drift="disabled", begin_at=BEGIN + timedelta(hours=4), end_at=BEGIN + timedelta(hours=8)
    )
    record = Installed(
        launcher="cron",
        project="p-1",
        folder="/w",
        interpreter="/v",
        path="/",
        entries={},
        checked_at=BEGIN,
        absences=(absence,),
    )
    write_installed(bench.state_dir, record)
    bench.clock.jump(BEGIN + timedelta(hours=12, minutes=3))
    assert bench.run() is Outcome.COMPLETED
    assert bench.words()["1200"] == (SlotStatus.MISSED, MissReason.DISABLED.value)
