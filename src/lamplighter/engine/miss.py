"""Why nobody did a slot, as far as it can be told from what was seen before and after (pure)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from lamplighter.schedule.cadence import Slot


class MissReason(enum.Enum):
    """Why a slot was missed."""

    POWERED_OFF = "powered_off"
    ASLEEP = "asleep"
    LOGGED_OUT = "logged_out"
    UNIT_ABSENT = "unit_absent"
    DISABLED = "disabled"
    OVERLAPPED = "overlapped"
    SPAWN_FAILED = "spawn_failed"
    UNKNOWN = "unknown"


MISS_WORDS: Mapping[MissReason, str] = MappingProxyType(
    {
        MissReason.POWERED_OFF: "the machine was switched off",
        MissReason.ASLEEP: "the machine was asleep",
        MissReason.LOGGED_OUT: "nobody was logged in, and without that nothing is started here",
        MissReason.UNIT_ABSENT: "its entry at the system's scheduler was gone",
        MissReason.DISABLED: "its entry at the system's scheduler was disabled",
        MissReason.OVERLAPPED: "the run before was still at work",
        MissReason.SPAWN_FAILED: "the system's scheduler could not start it",
        MissReason.UNKNOWN: "nothing started it, and nobody can say why",
    }
)


class GapCause(enum.Enum):
    """Why nothing of ours was seen for a while."""

    BOOT = "boot"
    SLEEP = "sleep"
    IDLE = "idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A while in which nothing of ours was seen; `boot_at` is when the machine was started that it ended on."""

    begin_at: datetime
    end_at: datetime
    cause: GapCause
    boot_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MissFacts:
    """What is known of the moment a slot was due.

    The gap it fell into (None: something of ours was seen then, or nothing was before), the reason by the entry's state
    then, whether a run was at work, whether the scheduler's last start failed, since when this user is logged in.
    """

    gap: Gap | None = None
    entry: MissReason | None = None
    was_running: bool = False
    failed_start: bool = False
    session_began_at: datetime | None = None


NOTHING_KNOWN = MissFacts()


def decide_miss_reason(
    slot: Slot, *, boot_at: datetime | None, seen_on: bool, facts: MissFacts = NOTHING_KNOWN
) -> MissReason:
    """Return why nobody did a slot: the surest reason first, and none is guessed.

    `seen_on` says that the machine is known to have been on at that time, though it was restarted later.
    """
    gap = facts.gap
    is_idle = gap is not None and gap.cause is not GapCause.SLEEP and gap.boot_at <= slot.due_at
    logged_in_later = facts.session_began_at is not None and facts.session_began_at > slot.due_at
    found = (
        (facts.entry, facts.entry is not None),
        (MissReason.POWERED_OFF, gap is not None and gap.cause is GapCause.BOOT and gap.boot_at > slot.due_at),
        (MissReason.ASLEEP, gap is not None and gap.cause is GapCause.SLEEP),
        (MissReason.OVERLAPPED, facts.was_running),
        (MissReason.SPAWN_FAILED, facts.failed_start),
        (MissReason.LOGGED_OUT, is_idle and logged_in_later),
        (MissReason.POWERED_OFF, gap is None and boot_at is not None and boot_at > slot.due_at and not seen_on),
    )
    return next((reason for reason, holds in found if holds and reason is not None), MissReason.UNKNOWN)
