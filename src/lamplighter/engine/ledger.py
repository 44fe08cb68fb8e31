"""The ledger: one row for every run of every job, from before anything can fail to its one outcome."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.log import Tails, render_tail
from lamplighter.errors import Damaged, FailureClass, InputError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.host.identity import ProcessIdentity, read_namespaces
from lamplighter.value import value

MIGRATIONS = (
    Migration(
        concern="ledger",
        number=1,
        statements=(
            """CREATE TABLE run (
                account TEXT NOT NULL, number BIGINT NOT NULL, job TEXT NOT NULL, command TEXT NOT NULL,
                trigger_name TEXT NOT NULL, started_at DOUBLE PRECISION NOT NULL, ended_at DOUBLE PRECISION,
                generation BIGINT NOT NULL DEFAULT 0, outcome TEXT, exit_code BIGINT, failure TEXT, signal BIGINT,
                line TEXT NOT NULL DEFAULT '', evidence TEXT NOT NULL DEFAULT '[]',
                outputs TEXT NOT NULL DEFAULT '[]', flags TEXT NOT NULL DEFAULT '[]',
                pid BIGINT NOT NULL, process_start TEXT NOT NULL, boot_id TEXT NOT NULL,
                PRIMARY KEY (account, number))""",
            "CREATE INDEX run_by_job ON run (account, job, number)",
            "CREATE INDEX run_open ON run (account, job) WHERE outcome IS NULL",
        ),
    ),
    Migration(
        concern="ledger",
        number=2,
        statements=(
            "ALTER TABLE run ADD COLUMN slot TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE run ADD COLUMN worker_pid BIGINT",
            "ALTER TABLE run ADD COLUMN worker_start TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE run ADD COLUMN phase TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE run ADD COLUMN own_code BIGINT",
            "ALTER TABLE run ADD COLUMN tail_out TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE run ADD COLUMN tail_err TEXT NOT NULL DEFAULT ''",
            # A number names a log for good: none is given again, whatever becomes of the rows.
            "CREATE TABLE run_floor (id TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL)",
            "CREATE TABLE run_upkeep (account TEXT NOT NULL PRIMARY KEY, pruned_at DOUBLE PRECISION NOT NULL)",
        ),
    ),
    Migration(
        concern="ledger",
        number=3,
        statements=("ALTER TABLE run ADD COLUMN namespaces TEXT NOT NULL DEFAULT ''",),
    ),
)
NOTHING = Tails()


@value
class RunRow:
    """One run as recorded; `report` is None while it is at work.

    Only `number` tells which run was first: a clock can be set. `own_code` is the exit code that a command itself gave;
    `namespaces` are those its pid is counted in ("": unknown).
    """

    number: int
    job: str
    command: str
    trigger: str
    started_at: datetime
    ended_at: datetime | None
    generation: int
    process: ProcessIdentity
    report: RunReport | None
    slot: str = ""
    own_code: int | None = None
    namespaces: str = ""
    tails: Tails = NOTHING


class Ledger:
    """The runs of one account."""

    def __init__(self, database: Database, clock: Clock, account: str) -> None:
        """Use an open database; several ledgers may share one."""
        self._database = database
        self._clock = clock
        self._account = account

    @property
    def account(self) -> str:
        """Return whose runs these are."""
        return self._account

    @property
    def now(self) -> datetime:
        """Return the present instant by the ledger's clock."""
        return self._clock.now()

    def begin(self, job: str, *, command: str, trigger: str, process: ProcessIdentity, slot: str = "") -> int:
        """Write the row of a run that begins now and return its number, unique in the database: it names the log."""
        with self._database.transaction():
            row = self._database.row(
                """INSERT INTO run
                (account, number, job, command, trigger_name, started_at, pid, process_start, boot_id, slot, namespaces)
                SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?
                FROM (SELECT number FROM run UNION ALL SELECT number FROM run_floor) AS given
                RETURNING number""",
                (
                    self._account, job, command, trigger, self._now(),
                    process.pid, process.start, process.boot_id, slot, read_namespaces(),
                ),
            )  # fmt: skip
        assert row is not None  # noqa: S101 - RETURNING gives a row or raises
        return int(row["number"])

    def set_generation(self, number: int, generation: int) -> None:
        """Record the lock generation a run works under."""
        self._set(number, "generation = ?", generation)

    def set_slot(self, number: int, slot: str) -> None:
        """Record which due time a run is for."""
        self._set(number, "slot = ?", slot)

    def _set(self, number: int, changes: str, *values: str | int) -> None:
        """Change an open row; one that has an outcome stays as it is."""
        self._database.change(
            f"UPDATE run SET {changes} WHERE account = ? AND number = ? AND outcome IS NULL",  # noqa: S608 - fixed text of ours
            (*values, self._account, number),
        )

    def end(self, number: int, report: RunReport, tails: Tails | None = None, *, own_code: int | None = None) -> bool:
        """Write a run's outcome; return False, changing nothing, when it has one already.

        `tails` are cut to their ends and made printable; secrets are to be gone from them.
        """
        shown = tails or NOTHING
        changed = self._database.change(
            """UPDATE run SET ended_at = ?, outcome = ?, exit_code = ?, failure = ?, signal = ?, line = ?,
            evidence = ?, outputs = ?, flags = ?, tail_out = ?, tail_err = ?, own_code = ?
            WHERE account = ? AND number = ? AND outcome IS NULL""",
            (
                self._now(), report.outcome.value, report.exit_code,
                report.failure.name.lower() if report.failure else None, report.signal, report.line,
                json.dumps([[fact.name, fact.value] for fact in report.evidence]),
                json.dumps(report.outputs), json.dumps(report.flags), render_tail(shown.out), render_tail(shown.err),
                own_code, self._account, number,
            ),
        )  # fmt: skip
        return changed == 1

    def latest(self, *, job: str = "", limit: int = 20) -> tuple[RunRow, ...]:
        """Return the newest runs first, of one job or of all."""
        of_job = "AND job = ?" if job else ""
        rows = self._database.rows(
            f"SELECT * FROM run WHERE account = ? {of_job} ORDER BY number DESC LIMIT ?",  # noqa: S608 - fixed text of ours
            (self._account, *((job,) if job else ()), limit),
        )
        return tuple(_parse_row(dict(row)) for row in rows)

    def open_runs(self, job: str) -> tuple[RunRow, ...]:
        """Return the runs of a job that have no outcome yet."""
        rows = self._database.rows(
            "SELECT * FROM run WHERE account = ? AND job = ? AND outcome IS NULL ORDER BY number", (self._account, job)
        )
        return tuple(_parse_row(dict(row)) for row in rows)

    def find(self, number: int) -> RunRow:
        """Return one run; raises InputError when there is none of that number."""
        row = self._database.row("SELECT * FROM run WHERE account = ? AND number = ?", (self._account, number))
        if row is None:
            raise InputError(f"run {number}", "there is no such run", "lamplighter runs list shows them")
        return _parse_row(dict(row))

    def has_ended(self, job: str, generation: int) -> bool:
        """Return whether the run of a lock generation has its outcome."""
        row = self._database.row(
            "SELECT 1 FROM run WHERE account = ? AND job = ? AND generation = ? AND outcome IS NOT NULL",
            (self._account, job, generation),
        )
        return row is not None

    def highest_generation(self, job: str) -> int:
        """Return the highest lock generation recorded for a job, 0 when there is none."""
        row = self._database.row(
            "SELECT COALESCE(MAX(generation), 0) AS highest FROM run WHERE account = ? AND job = ?",
            (self._account, job),
        )
        return int(row["highest"]) if row else 0

    def jobs(self) -> tuple[str, ...]:
        """Return the names of the jobs that have runs."""
        rows = self._database.rows("SELECT DISTINCT job FROM run WHERE account = ? ORDER BY job", (self._account,))
        return tuple(str(row["job"]) for row in rows)

    def claim_upkeep(self, *, every: timedelta) -> bool:
        """Return whether it is this caller's turn to prune: once in a while, also when the clock was set back."""
        now = self._now()
        changed = self._database.change(
            """INSERT INTO run_upkeep (account, pruned_at) VALUES (?, ?) ON CONFLICT (account) DO UPDATE
            SET pruned_at = excluded.pruned_at
            WHERE run_upkeep.pruned_at <= ? OR run_upkeep.pruned_at > excluded.pruned_at""",
            (self._account, now, now - every.total_seconds()),
        )
        return changed == 1

    def prune(self, job: str, *, keep: int, before: datetime) -> int:
        """Delete the ended runs of a job that began before an instant, and return how many.

        The newest `keep` stay, and of each outcome the last one: when it last succeeded is never forgotten.
        """
        return self._database.change(
            """DELETE FROM run WHERE account = ? AND job = ? AND outcome IS NOT NULL AND started_at < ?
            AND number < (SELECT number FROM run WHERE account = ? AND job = ? ORDER BY number DESC LIMIT 1 OFFSET ?)
            AND number NOT IN (SELECT MAX(number) FROM run WHERE account = ? AND job = ? AND outcome IS NOT NULL
                GROUP BY outcome)""",
            (
                self._account, job, before.timestamp(), self._account, job, max(0, keep - 1), self._account, job,
            ),
        )  # fmt: skip

    def numbers(self, job: str) -> frozenset[int]:
        """Return the numbers of all runs of a job, other accounts' too: their logs are in one folder."""
        return frozenset(
            int(row["number"]) for row in self._database.rows("SELECT number FROM run WHERE job = ?", (job,))
        )

    def _now(self) -> float:
        return self._clock.now().timestamp()


def has_runs(database: Database) -> bool:
    """Return whether a database knows of any run, or at least of its number."""
    return database.row("SELECT 1 FROM run UNION ALL SELECT 1 FROM run_floor LIMIT 1") is not None


def raise_number_floor(database: Database, number: int) -> None:
    """Let every run that begins from now on have a higher number than `number`; writes only where that is news."""
    known = database.row(
        "SELECT MAX(number) AS highest FROM (SELECT number FROM run UNION ALL SELECT number FROM run_floor) AS given"
    )
    highest = known["highest"] if known is not None else None
    if isinstance(highest, int) and highest >= number:
        return
    database.change(
        """INSERT INTO run_floor (id, number) VALUES ('run', ?) ON CONFLICT (id) DO UPDATE
        SET number = excluded.number WHERE run_floor.number < excluded.number""",
        (number,),
    )


def _parse_row(row: dict[str, str | int | float | None]) -> RunRow:
    """Return a row of the table as a RunRow; raises Damaged when it makes no sense."""
    try:
        return _read_row(row)
    except (ValueError, KeyError, TypeError, OverflowError, OSError) as error:
        raise Damaged(f"run {row['number']}", f"its row in the database makes no sense: {error}") from None


def _read_row(row: dict[str, str | int | float | None]) -> RunRow:
    ended, code = row["ended_at"], row["own_code"]
    return RunRow(
        number=int(row["number"] or 0),
        job=str(row["job"]),
        command=str(row["command"]),
        trigger=str(row["trigger_name"]),
        started_at=_instant(row["started_at"]),
        ended_at=None if ended is None else _instant(ended),
        generation=int(row["generation"] or 0),
        process=ProcessIdentity(pid=int(row["pid"] or 0), start=str(row["process_start"]), boot_id=str(row["boot_id"])),
        report=_parse_report(row),
        slot=str(row["slot"]),
        own_code=None if code is None else int(code),
        namespaces=str(row["namespaces"]),
        tails=Tails(out=str(row["tail_out"]), err=str(row["tail_err"])),
    )


def _parse_report(row: dict[str, str | int | float | None]) -> RunReport | None:
    if row["outcome"] is None:
        return None
    failure, signal = row["failure"], row["signal"]
    return RunReport(
        outcome=Outcome(row["outcome"]),
        line=str(row["line"]),
        evidence=tuple(Evidence(name=name, value=value) for name, value in json.loads(str(row["evidence"]))),
        outputs=tuple(json.loads(str(row["outputs"]))),
        flags=tuple(json.loads(str(row["flags"]))),
        failure=FailureClass[str(failure).upper()] if failure else None,
        signal=None if signal is None else int(signal),
    )


def _instant(seconds: str | float | None) -> datetime:
    return datetime.fromtimestamp(float(seconds or 0), tz=UTC)
