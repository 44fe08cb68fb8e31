"""Why a slot was missed: the surest reason, and none that is guessed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from lamplighter.engine.miss import (
    MISS_WORDS,
    Gap,
    GapCause,
    MissFacts,
    MissReason,
    decide_miss_reason,
)
from lamplighter.schedule.cadence import Slot

DUE = datetime(2026, 11, 29, 19, 30, tzinfo=UTC)
SLOT = Slot(key="2026-11-29-1930", day=date(2026, 11, 29), due_at=DUE)
HOUR = timedelta(hours=1)
BEFORE, AFTER = DUE - HOUR, DUE + HOUR
SLEPT = Gap(begin_at=BEFORE, end_at=AFTER, cause=GapCause.SLEEP, boot_at=BEFORE - HOUR)
OFF = Gap(begin_at=BEFORE, end_at=AFTER + HOUR, cause=GapCause.BOOT, boot_at=AFTER)
BOOTED_EARLY = Gap(begin_at=BEFORE - HOUR, end_at=AFTER, cause=GapCause.BOOT, boot_at=BEFORE)
IDLE = Gap(begin_at=BEFORE, end_at=AFTER, cause=GapCause.IDLE, boot_at=BEFORE - HOUR)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (MissFacts(gap=OFF), MissReason.POWERED_OFF),
        (MissFacts(gap=SLEPT), MissReason.ASLEEP),
        (MissFacts(gap=IDLE), MissReason.UNKNOWN),
        (MissFacts(gap=BOOTED_EARLY), MissReason.UNKNOWN),
        (MissFacts(gap=BOOTED_EARLY, session_began_at=AFTER), MissReason.LOGGED_OUT),
        (MissFacts(gap=IDLE, session_began_at=AFTER), MissReason.LOGGED_OUT),
        (MissFacts(gap=IDLE, session_began_at=BEFORE), MissReason.UNKNOWN),
        (MissFacts(gap=OFF, session_began_at=AFTER + HOUR), MissReason.POWERED_OFF),
        (MissFacts(entry=MissReason.UNIT_ABSENT), MissReason.UNIT_ABSENT),
        (MissFacts(entry=MissReason.DISABLED, gap=SLEPT), MissReason.DISABLED),
        (MissFacts(was_running=True), MissReason.OVERLAPPED),
        (MissFacts(was_running=True, gap=SLEPT), MissReason.ASLEEP),
        (MissFacts(failed_start=True), MissReason.SPAWN_FAILED),
        (MissFacts(failed_start=True, was_running=True), MissReason.OVERLAPPED),
        (MissFacts(), MissReason.UNKNOWN),
    ],
)
def test_the_surest_reason_is_told(facts: MissFacts, reason: MissReason) -> None:
    """The entry's state, off, asleep, overlapped, not started, logged out: in this order."""
    assert decide_miss_reason(SLOT, boot_at=BEFORE, seen_on=True, facts=facts) is reason


@pytest.mark.parametrize(
    ("boot_at", "seen_on", "reason"),
    [
        (AFTER, False, MissReason.POWERED_OFF),
        (AFTER, True, MissReason.UNKNOWN),
        (BEFORE, False, MissReason.UNKNOWN),
        (None, False, MissReason.UNKNOWN),
    ],
)
def test_where_nothing_was_seen_before_the_boot_decides(
    boot_at: datetime | None, seen_on: bool, reason: MissReason
) -> None:
    """A machine that was started later was off, unless it was seen on."""
    assert decide_miss_reason(SLOT, boot_at=boot_at, seen_on=seen_on) is reason


def test_every_reason_has_its_words() -> None:
    """A person is told each."""
    assert set(MISS_WORDS) == set(MissReason)
