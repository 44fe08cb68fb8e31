"""What was pinged last: the table alone, which every opening of the database needs."""

from __future__ import annotations

from lamplighter.host.database import Migration

MIGRATIONS = (
    Migration(
        concern="heartbeat",
        number=1,
        statements=(
            """CREATE TABLE heartbeat (
                account TEXT NOT NULL, name TEXT NOT NULL, tried_at DOUBLE PRECISION NOT NULL,
                good_day TEXT NOT NULL DEFAULT '', failed_at DOUBLE PRECISION, misses BIGINT NOT NULL DEFAULT 0,
                why TEXT NOT NULL DEFAULT '', PRIMARY KEY (account, name))""",
        ),
    ),
)
