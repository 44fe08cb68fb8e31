"""Since when a workspace tells of its success: what was made before the first time is no news."""

from __future__ import annotations

from datetime import UTC, datetime

from lamplighter.host.database import Database, Migration

MIGRATIONS = (
    Migration(
        concern="announced",
        number=1,
        statements=("CREATE TABLE announced (account TEXT NOT NULL PRIMARY KEY, since DOUBLE PRECISION NOT NULL)",),
    ),
)


def begin_announcing(database: Database, account: str, now: datetime) -> datetime:
    """Return since when success is told, from now on when it never was."""
    database.change(
        "INSERT INTO announced (account, since) VALUES (?, ?) ON CONFLICT DO NOTHING", (account, now.timestamp())
    )
    row = database.row("SELECT since FROM announced WHERE account = ?", (account,))
    return datetime.fromtimestamp(float(row["since"]), tz=UTC) if row else now
