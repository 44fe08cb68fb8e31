"""The tables of the slots; apart from what decides about them, which most runs need not load."""

from __future__ import annotations

from lamplighter.host.database import Migration

MIGRATIONS = (
    Migration(
        concern="slot",
        number=1,
        statements=(
            """CREATE TABLE slot (
                account TEXT NOT NULL, job TEXT NOT NULL, slot_key TEXT NOT NULL, day TEXT NOT NULL,
                due_at DOUBLE PRECISION NOT NULL, status TEXT NOT NULL, run BIGINT NOT NULL DEFAULT 0,
                reason TEXT NOT NULL DEFAULT '', decided_at DOUBLE PRECISION NOT NULL,
                PRIMARY KEY (account, job, slot_key))""",
            "CREATE INDEX slot_by_time ON slot (account, job, due_at)",
            """CREATE TABLE cadence (
                account TEXT NOT NULL, job TEXT NOT NULL, words TEXT NOT NULL, since DOUBLE PRECISION NOT NULL,
                PRIMARY KEY (account, job))""",
        ),
    ),
    Migration(
        concern="slot",
        number=2,
        statements=(
            """CREATE TABLE presence (
                account TEXT NOT NULL, begin_at DOUBLE PRECISION NOT NULL, end_at DOUBLE PRECISION NOT NULL,
                boot_id TEXT NOT NULL, boot_at DOUBLE PRECISION NOT NULL, slept DOUBLE PRECISION NOT NULL,
                cause TEXT NOT NULL DEFAULT '', PRIMARY KEY (account, begin_at))""",
        ),
    ),
)
