"""The slots of jobs: what became of each due time, claimed exactly once.

States: due → claimed (a run is for it, or was) | coalesced (into a newer one) | missed (with the reason) | excused.
A claim whose run died before its work is released and due again.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from lamplighter.engine.job import Outcome
from lamplighter.engine.miss import MISS_WORDS as MISS_WORDS  # noqa: PLC0414 - a slot's words are found here too
from lamplighter.engine.miss import MissReason as MissReason  # noqa: PLC0414 - the same
from lamplighter.engine.miss import decide_miss_reason as decide_miss_reason  # noqa: PLC0414 - the same
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.schedule.cadence import Cadence, Due, NotDue, Settled, Slot, decide_by_hand, decide_slot

# The work of these was not begun, or may be begun again without harm: the slot waits for the next wake.
RELEASING = frozenset({Outcome.KILLED, Outcome.INTERRUPTED, Outcome.LOCK_HELD, Outcome.COOLDOWN, Outcome.NOTHING_READY})
WAKE_LAG = timedelta(minutes=5)
_KEEP = timedelta(days=400)
_KEEP_INTERVALS = timedelta(days=40)


class SlotStatus(enum.Enum):
    """What became of a due time."""

    DUE = "due"
    CLAIMED = "claimed"
    COALESCED = "coalesced"
    MISSED = "missed"
    EXCUSED = "excused"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRow:
    """One slot as recorded; `run` is the one that has or had it, 0 where none did."""

    slot: Slot
    status: SlotStatus
    run: int
    reason: str


ReasonOf = Callable[[Slot], MissReason]
OutcomeOf = Callable[[int], Outcome | None]


class Slots:
    """The slots of one account."""

    def __init__(self, database: Database, clock: Clock, account: str) -> None:
        """Use an open database."""
        self._database = database
        self._clock = clock
        self._account = account

    @property
    def database(self) -> Database:
        """Return the database they are in."""
        return self._database

    def observe(self, job: str, cadence: Cadence) -> datetime:
        """Return since when this schedule of a job stands: since shortly before it was first seen.

        Whoever wakes late by a few minutes still finds the slot of its very first wake. A clock that was set back takes
        the beginning back with it: nothing waits for a year that the clock only seemed to be in.
        """
        words, seen_at = cadence.describe(), (self._clock.now() - WAKE_LAG).timestamp()
        self._database.change(
            """INSERT INTO cadence (account, job, words, since) VALUES (?, ?, ?, ?) ON CONFLICT (account, job)
            DO UPDATE SET words = excluded.words, since = excluded.since
            WHERE cadence.words <> excluded.words OR cadence.since > excluded.since""",
            (self._account, job, words, seen_at),
        )
        row = self._database.row("SELECT since FROM cadence WHERE account = ? AND job = ?", (self._account, job))
        return _instant(row["since"] if row else seen_at)

    def decide(
        self,
        job: str,
        cadence: Cadence,
        *,
        scheduled: bool,
        outcome_of: OutcomeOf,
        served: frozenset[date] = frozenset(),
    ) -> Due | NotDue:
        """Return what a run that begins now would be for; claims nothing.

        `outcome_of` tells how the run of a claim ended (None: it is at work, or nobody knows), and `served` are days
        that need no run any more for a reason of the job's own (the journal has their post).
        """
        settled, _ = self._read(job, cadence, outcome_of, served)
        return self._choose(cadence, settled, scheduled=scheduled)

    def take(
        self,
        job: str,
        cadence: Cadence,
        run: int,
        *,
        scheduled: bool,
        outcome_of: OutcomeOf,
        reason_of: ReasonOf,
        served: frozenset[date] = frozenset(),
    ) -> Due | NotDue:
        """Decide, claim the slot for a run, and give the older ones their word, all at once or not at all.

        Claims of runs that died before their work are released first.
        """
        with self._database.transaction():
            settled, lost = self._read(job, cadence, outcome_of, served)
            decided = self._choose(cadence, settled, scheduled=scheduled)
            self._release_all(job, lost)
            if isinstance(decided, Due):
                self.claim(job, decided.slot, run)
                for slot in decided.coalesced:
                    self._settle(job, slot, SlotStatus.COALESCED, f"into {decided.slot.key}")
            self._note_missed(job, decided.missed, reason_of)
            self._forget(job, cadence)
        return decided

    def tidy(self, job: str, cadence: Cadence, *, outcome_of: OutcomeOf, reason_of: ReasonOf) -> tuple[Slot, ...]:
        """Give every slot that is past doing its word and return them; claim none. That is what a watcher does."""
        with self._database.transaction():
            settled, lost = self._read(job, cadence, outcome_of, frozenset())
            missed = self._choose(cadence, settled, scheduled=True).missed
            self._release_all(job, lost)
            self._note_missed(job, missed, reason_of)
        return missed

    def claim(self, job: str, slot: Slot, run: int) -> SlotRow:
        """Claim a slot for a run unless it has a word already; return its row, whose run then says who has it."""
        self._settle(job, slot, SlotStatus.CLAIMED, "", run=run)
        return self.find(job, slot.key) or SlotRow(slot=slot, status=SlotStatus.DUE, run=0, reason="")

    def excuse(self, job: str, slot: Slot, reason: str) -> None:
        """Write that a slot need not be done, a pause of a person's, unless it has a word already."""
        self._settle(job, slot, SlotStatus.EXCUSED, reason)

    def release(self, job: str, run: int, *, why: str = "its run died") -> int:
        """Make due again what a run had claimed; return how many slots that were."""
        return self._database.change(
            """UPDATE slot SET status = ?, run = 0, reason = ?, decided_at = ?
            WHERE account = ? AND job = ? AND run = ? AND status = ?""",
            (
                SlotStatus.DUE.value, f"released by run {run}: {why}", self._now(),
                self._account, job, run, SlotStatus.CLAIMED.value,
            ),
        )  # fmt: skip

    def find(self, job: str, key: str) -> SlotRow | None:
        """Return what became of a slot, None when it has no word yet."""
        row = self._database.row(
            "SELECT * FROM slot WHERE account = ? AND job = ? AND slot_key = ?", (self._account, job, key)
        )
        return _parse_row(dict(row)) if row else None

    def latest(self, job: str, *, limit: int = 20) -> tuple[SlotRow, ...]:
        """Return the newest slots of a job that have a word, newest first."""
        rows = self._database.rows(
            "SELECT * FROM slot WHERE account = ? AND job = ? ORDER BY due_at DESC LIMIT ?", (self._account, job, limit)
        )
        return tuple(_parse_row(dict(row)) for row in rows)

    def _settle(self, job: str, slot: Slot, status: SlotStatus, reason: str, *, run: int = 0) -> None:
        """Give a slot its word, where it has none yet or was released."""
        self._database.change(
            """INSERT INTO slot (account, job, slot_key, day, due_at, status, run, reason, decided_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, job, slot_key) DO UPDATE SET
            status = excluded.status, run = excluded.run, reason = excluded.reason, decided_at = excluded.decided_at
            WHERE slot.status = 'due'""",
            (
                self._account, job, slot.key, slot.day.isoformat(), slot.due_at.timestamp(), status.value, run, reason,
                self._now(),
            ),
        )  # fmt: skip

    def _read(
        self, job: str, cadence: Cadence, outcome_of: OutcomeOf, served: frozenset[date]
    ) -> tuple[Settled, tuple[SlotRow, ...]]:
        """Return what is settled, and the claims that came to nothing."""
        now, since = self._clock.now(), self.observe(job, cadence)
        rows = self._rows_since(job, min(since, now - cadence.look_back))
        lost = tuple(row for row in rows if _is_lost(row, outcome_of))
        kept = [row for row in rows if row.status is not SlotStatus.DUE and row not in lost]
        days = served | {row.slot.day for row in kept if row.status is SlotStatus.CLAIMED}
        return Settled(since=since, keys=frozenset(row.slot.key for row in kept), days=days), lost

    def _choose(self, cadence: Cadence, settled: Settled, *, scheduled: bool) -> Due | NotDue:
        now = self._clock.now()
        return decide_slot(now, cadence, settled) if scheduled else decide_by_hand(now, cadence, settled)

    def _release_all(self, job: str, lost: tuple[SlotRow, ...]) -> None:
        for row in lost:
            self.release(job, row.run)

    def _note_missed(self, job: str, missed: tuple[Slot, ...], reason_of: ReasonOf) -> None:
        for slot in missed:
            self._settle(job, slot, SlotStatus.MISSED, reason_of(slot).value)

    def _rows_since(self, job: str, since: datetime) -> tuple[SlotRow, ...]:
        rows = self._database.rows(
            "SELECT * FROM slot WHERE account = ? AND job = ? AND due_at >= ?",
            (self._account, job, (since - timedelta(days=2)).timestamp()),
        )
        return tuple(_parse_row(dict(row)) for row in rows)

    def _forget(self, job: str, cadence: Cadence) -> None:
        """Delete what is too old to be asked for."""
        keep = _KEEP_INTERVALS if cadence.every else _KEEP
        self._database.change(
            "DELETE FROM slot WHERE account = ? AND job = ? AND due_at < ?",
            (self._account, job, (self._clock.now() - max(keep, 2 * cadence.look_back)).timestamp()),
        )

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _is_lost(row: SlotRow, outcome_of: OutcomeOf) -> bool:
    """Return whether a claim came to nothing, so that its slot is due again."""
    return row.status is SlotStatus.CLAIMED and outcome_of(row.run) in RELEASING


def _parse_row(row: dict[str, str | int | float | None]) -> SlotRow:
    return SlotRow(
        slot=Slot(key=str(row["slot_key"]), day=date.fromisoformat(str(row["day"])), due_at=_instant(row["due_at"])),
        status=SlotStatus(row["status"]),
        run=int(row["run"] or 0),
        reason=str(row["reason"]),
    )


def _instant(seconds: str | float | None) -> datetime:
    return datetime.fromtimestamp(float(seconds or 0), tz=UTC)
