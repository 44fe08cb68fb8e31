"""The ledger: one row for every run of every job, from before anything can fail to its one outcome."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.errors import FailureClass, InputError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database, Migration
from lamplighter.host.identity import ProcessIdentity

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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run as recorded; `report` is None while it is at work."""

    number: int
    job: str
    command: str
    trigger: str
    started_at: datetime
    ended_at: datetime | None
    generation: int
    process: ProcessIdentity
    report: RunReport | None


class Ledger:
    """The runs of one account."""

    def __init__(self, database: Database, clock: Clock, account: str) -> None:
        """Use an open database; several ledgers may share one."""
        self._database = database
        self._clock = clock
        self._account = account

    def begin(self, job: str, *, command: str, trigger: str, process: ProcessIdentity) -> int:
        """Write the row of a run that begins now and return its number, unique in the database: it names the log."""
        with self._database.transaction():
            row = self._database.row(
                """INSERT INTO run
                (account, number, job, command, trigger_name, started_at, pid, process_start, boot_id)
                SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ?, ?, ? FROM run
                RETURNING number""",
                (
                    self._account, job, command, trigger, self._now(),
                    process.pid, process.start, process.boot_id,
                ),
            )  # fmt: skip
        assert row is not None  # noqa: S101 - RETURNING gives a row or raises
        return int(row["number"])

    def set_generation(self, number: int, generation: int) -> None:
        """Record the lock generation a run works under."""
        self._database.change(
            "UPDATE run SET generation = ? WHERE account = ? AND number = ? AND outcome IS NULL",
            (generation, self._account, number),
        )

    def end(self, number: int, report: RunReport) -> bool:
        """Write a run's outcome; return False, changing nothing, when it has one already."""
        changed = self._database.change(
            """UPDATE run SET ended_at = ?, outcome = ?, exit_code = ?, failure = ?, signal = ?, line = ?,
            evidence = ?, outputs = ?, flags = ? WHERE account = ? AND number = ? AND outcome IS NULL""",
            (
                self._now(), report.outcome.value, report.exit_code,
                report.failure.name.lower() if report.failure else None, report.signal, report.line,
                json.dumps([[fact.name, fact.value] for fact in report.evidence]),
                json.dumps(report.outputs), json.dumps(report.flags), self._account, number,
            ),
        )  # fmt: skip
        return changed == 1

    def latest(self, *, job: str = "", limit: int = 20) -> tuple[RunRow, ...]:
        """Return the newest runs first, of one job or of all."""
        rows = self._database.rows(
            "SELECT * FROM run WHERE account = ? AND (? = '' OR job = ?) ORDER BY number DESC LIMIT ?",
            (self._account, job, job, limit),
        )
        return self._parse(rows)

    def open_runs(self, job: str) -> tuple[RunRow, ...]:
        """Return the runs of a job that have no outcome yet."""
        rows = self._database.rows(
            "SELECT * FROM run WHERE account = ? AND job = ? AND outcome IS NULL ORDER BY number", (self._account, job)
        )
        return self._parse(rows)

    def find(self, number: int) -> RunRow:
        """Return one run; raises InputError when there is none of that number."""
        row = self._database.row("SELECT * FROM run WHERE account = ? AND number = ?", (self._account, number))
        if row is None:
            raise InputError(f"run {number}", "there is no such run", "lamplighter runs list shows them")
        return self._parse([row])[0]

    def highest_generation(self, job: str) -> int:
        """Return the highest lock generation recorded for a job, 0 when there is none."""
        row = self._database.row(
            "SELECT COALESCE(MAX(generation), 0) AS highest FROM run WHERE account = ? AND job = ?",
            (self._account, job),
        )
        return int(row["highest"]) if row else 0

    def _parse(self, rows: list[sqlite3.Row]) -> tuple[RunRow, ...]:
        with self._database.parsing():
            return tuple(_parse_row(dict(row)) for row in rows)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _parse_row(row: dict[str, str | int | float | None]) -> RunRow:
    """Return a row of the table as a RunRow."""
    ended = row["ended_at"]
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
