"""Entries as tests need them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from lamplighter.schedule.entry import Entry, every_minutes, label_of

PROJECT = "brand-0a1b2c3d"
FOLDER = Path("/home/me/my brand")
GENERATE = Entry(
    label=label_of(PROJECT, "generate"),
    job="generate",
    argv=("/v/bin/python", "-P", "-m", "lamplighter", "run", "generate", "--scheduled", "--workspace", str(FOLDER)),
    folder=FOLDER,
    path="/v/bin:/usr/bin",
    minutes=frozenset({6 * 60, 12 * 60, 18 * 60}),
    boot_file=FOLDER / "state/schedule/boot-generate.log",
    limit=timedelta(minutes=30),
    is_content=True,
)
WATCH = replace(
    GENERATE,
    label=label_of(PROJECT, "watch"),
    job="watch",
    argv=("/v/bin/python", "-P", "-m", "lamplighter", "watch", "--workspace", str(FOLDER)),
    minutes=every_minutes(5),
    boot_file=FOLDER / "state/schedule/boot-watch.log",
    limit=timedelta(minutes=10),
    is_content=False,
)


def at_home(folder: Path) -> tuple[Entry, Entry]:
    """Return both with what they write in a folder that is there."""
    return replace(GENERATE, boot_file=folder / "boot-generate.log"), replace(
        WATCH, boot_file=folder / "boot-watch.log"
    )
