"""The reasons of missed slots, as they are read from database, record and what the system left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.app.missing import MissReasons, read_moment
from lamplighter.app.running import ENGINE_MIGRATIONS
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.miss import MissReason
from lamplighter.engine.presence import Moment
from lamplighter.host.awake import Sleep
from lamplighter.host.database import open_database
from lamplighter.host.identity import read_own_identity
from lamplighter.schedule.cadence import Slot
from lamplighter.schedule.record import Absence, Installed, write_installed

BEGIN = datetime(2026, 11, 29, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Desk:
    """A ledger, a clock and the reasons of one workspace."""

    def __init__(self, ledger: Ledger, clock: VirtualClock, state_dir: Path, reasons: MissReasons) -> None:
        """Take them together."""
        self.ledger, self.clock, self.state_dir, self.reasons = ledger, clock, state_dir, reasons
        self.slept = timedelta()
        self.session_at: datetime | None = None
        self.sleeps: tuple[Sleep, ...] = ()

    def slot(self, after: timedelta) -> Slot:
        """Return a slot of so long after the beginning."""
        due_at = BEGIN + after
        return Slot(key=f"{due_at:%Y-%m-%d-%H%M}", day=date(2026, 11, 29), due_at=due_at)

    def install(self, launcher: str, *absences: Absence) -> None:
        """Have something installed."""
        record = Installed(
            launcher=launcher,
            project="p-1",
            folder="/w",
            interpreter="/v",
            path="/",
            entries={},
            checked_at=BEGIN,
            absences=absences,
        )
        write_installed(self.state_dir, record)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a desk."""
    clock = VirtualClock(BEGIN)
    with open_database(tmp_path / "lamplighter.db", ENGINE_MIGRATIONS) as database:
        ledger = Ledger(database, clock, "main")
        found: list[Desk] = []
        reasons = MissReasons(
            database,
            clock,
            ledger,
            state_dir=tmp_path,
            moment=lambda _: Moment(boot_id="one", boot_at=BEGIN - HOUR, slept=found[0].slept),
            session_begin=lambda: found[0].session_at,
            sleeps=lambda: found[0].sleeps,
        )
        found.append(Desk(ledger, clock, tmp_path, reasons))
        yield found[0]


def test_a_slot_that_was_slept_through(desk: Desk) -> None:
    """Noted by the run or tick before and the one after."""
    desk.reasons.note()
    desk.slept = 3 * HOUR
    desk.clock.advance(3 * HOUR)
    desk.reasons.note()
    assert desk.reasons.find("post", desk.slot(HOUR)) is MissReason.ASLEEP


def test_a_macs_log_knows_of_sleeps_that_the_clocks_do_not_show(desk: Desk) -> None:
    """Several short ones in an idle afternoon: the slot fell into one of them, another did not."""
    desk.reasons.note()
    desk.clock.advance(6 * HOUR)
    desk.reasons.note()
    desk.sleeps = (
        Sleep(begin_at=BEGIN + HOUR, end_at=BEGIN + 2 * HOUR),
        Sleep(begin_at=BEGIN + 5 * HOUR, end_at=None),
    )
    reasons = [desk.reasons.find("post", desk.slot(hours * HOUR)) for hours in (1, 2, 3, 5.5)]
    assert reasons == [MissReason.ASLEEP, MissReason.UNKNOWN, MissReason.UNKNOWN, MissReason.ASLEEP]


def test_a_slot_of_an_entry_that_was_gone_or_disabled(desk: Desk) -> None:
    """As the watcher noted it; another job's entry is no reason, nor another time."""
    gone, off = (
        Absence(job="post", drift=drift, begin_at=BEGIN + begin, end_at=BEGIN + begin + HOUR)
        for drift, begin in (("missing", HOUR), ("disabled", 3 * HOUR))
    )
    desk.install("cron", gone, off)
    desk.clock.advance(6 * HOUR)
    assert desk.reasons.find("post", desk.slot(1.5 * HOUR)) is MissReason.UNIT_ABSENT
    assert desk.reasons.find("post", desk.slot(3.5 * HOUR)) is MissReason.DISABLED
    assert desk.reasons.find("post", desk.slot(5 * HOUR)) is MissReason.UNKNOWN
    assert desk.reasons.find("generate", desk.slot(1.5 * HOUR)) is MissReason.UNKNOWN


def test_a_slot_during_the_run_before(desk: Desk) -> None:
    """Still at work then; a wake that found nothing due is no run."""
    for outcome, reason in ((Outcome.NOT_DUE, MissReason.UNKNOWN), (Outcome.PRODUCED, MissReason.OVERLAPPED)):
        number = desk.ledger.begin("back", command="c", trigger="cron", process=read_own_identity())
        due = desk.slot(desk.clock.now() - BEGIN + HOUR)
        desk.clock.advance(2 * HOUR)
        desk.ledger.end(number, RunReport(outcome=outcome, line="x"))
        assert desk.reasons.find("back", due) is reason


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("boot-post.ended", "exit-code exited 203", MissReason.SPAWN_FAILED),
        ("boot-post.ended", "success exited 0", MissReason.UNKNOWN),
        ("boot-post.log", "/usr/bin/env: '/v/bin/python': No such file or directory", MissReason.SPAWN_FAILED),
        ("boot-post.log", "/bin/sh: 1: cd: Permission denied", MissReason.SPAWN_FAILED),
        ("boot-post.log", "post: produced: it went out", MissReason.UNKNOWN),
        ("boot-post.log", "", MissReason.UNKNOWN),
        ("boot-other.ended", "exit-code exited 203", MissReason.UNKNOWN),
    ],
)
def test_a_slot_that_the_scheduler_could_not_start(desk: Desk, name: str, content: str, reason: MissReason) -> None:
    """By what systemd left, and by what cron's shell said."""
    file = desk.state_dir / "schedule" / name
    file.parent.mkdir()
    file.write_text(content)
    os.utime(file, (BEGIN.timestamp() + 7200, BEGIN.timestamp() + 7200))
    desk.clock.advance(3 * HOUR)
    assert desk.reasons.find("post", desk.slot(HOUR)) is reason
    assert desk.reasons.find("post", desk.slot(2.5 * HOUR)) is MissReason.UNKNOWN


@pytest.mark.parametrize(("launcher", "reason"), [("systemd", MissReason.LOGGED_OUT), ("cron", MissReason.UNKNOWN)])
def test_a_slot_while_nobody_was_logged_in(desk: Desk, launcher: str, reason: MissReason) -> None:
    """That is a reason where nothing is started without a session."""
    desk.install(launcher)
    desk.reasons.note()
    desk.session_at = BEGIN + 2 * HOUR
    desk.clock.advance(3 * HOUR)
    desk.reasons.note()
    assert desk.reasons.find("post", desk.slot(HOUR)) is reason


def test_a_record_that_makes_no_sense_gives_no_reason(desk: Desk) -> None:
    """Whoever asks why a slot was missed is not the one to be told of it."""
    desk.install("cron")
    (desk.state_dir / "schedule" / "installed.json").write_text("{")
    desk.clock.advance(3 * HOUR)
    assert desk.reasons.find("post", desk.slot(HOUR)) is MissReason.UNKNOWN


def test_this_machine_says_when_it_was_started() -> None:
    """Which boot, when, and how long it slept."""
    now = datetime.now(tz=UTC)
    moment = read_moment(now)
    assert moment.boot_id
    assert moment.boot_at < now
    assert moment.slept >= timedelta()
