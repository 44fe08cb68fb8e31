"""The tables that a watcher keeps beside those of the runs."""

from __future__ import annotations

from lamplighter.engine import incident, made, slot_table, watch
from lamplighter.host.database import Migration
from lamplighter.notify import outbox

WATCH_MIGRATIONS: tuple[Migration, ...] = (
    *slot_table.MIGRATIONS,
    *outbox.MIGRATIONS,
    *incident.MIGRATIONS,
    *watch.MIGRATIONS,
    *made.MIGRATIONS,
)
