"""The deep look: features, records, journal and index compared, one such look at a time; no run waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

from lamplighter.app.answering import ALL_MIGRATIONS
from lamplighter.app.opening import assemble, build_publisher
from lamplighter.app.running import DATABASE_FILE
from lamplighter.config.settings import Settings
from lamplighter.doctor.comparison import Evidence, compare
from lamplighter.doctor.evidence import read_evidence
from lamplighter.doctor.finding import Finding, good, say_count, unknown
from lamplighter.engine.holder import read_is_held
from lamplighter.engine.lock import JobLock
from lamplighter.engine.repair import open_to_look
from lamplighter.errors import LockBusy
from lamplighter.featurepost import generate
from lamplighter.host.clock import Clock
from lamplighter.publish import post
from lamplighter.publish.journal import Journal

JOB = "doctor"
_AGAIN = timedelta(seconds=1)
_LOOKS = 5


def compare_all(settings: Settings, clock: Clock) -> Iterator[Finding]:
    """Yield every difference, or that there is none; while another such look is at work, who has it."""
    lock = JobLock(settings.state_dir / "locks" / JOB, clock)
    try:
        lock.acquire("doctor --deep")
    except LockBusy as error:
        yield unknown("deep", f"another one is at work: {error.cause}")
        return
    with lock:
        evidence = _read(settings, clock)
        found = tuple(compare(evidence))
        for _ in range(_LOOKS):
            is_moving = _is_at_work(settings)
            if not found:
                break
            if is_moving:
                clock.wait(_AGAIN)
            # What a run has just moved, or is moving, is no difference: it is one only when it stays.
            evidence = _read(settings, clock)
            again = frozenset(compare(evidence))
            found = tuple(finding for finding in found if finding in again)
            if not is_moving:
                break
    yield from found
    if not found:
        yield good("deep", _describe(evidence))


def _is_at_work(settings: Settings) -> bool:
    return any(read_is_held(settings.state_dir / "locks" / job) for job in (generate.JOB, post.JOB))


def _read(settings: Settings, clock: Clock) -> Evidence:
    file = settings.state_dir / DATABASE_FILE
    with closing(open_to_look(file, ALL_MIGRATIONS, logs_dir=settings.state_dir / "logs")) as database:
        parts = assemble(settings, database, clock)
        return read_evidence(
            parts.stock,
            parts.index,
            lambda channel: Journal(database, clock, account=settings.account, channel=channel),
            build_publisher(settings, clock),
            settings.state_dir,
        )


def _describe(evidence: Evidence) -> str:
    rows = sum(len(entries) for entries in evidence.journal.values())
    lines = sum(len(record.posts) for record in evidence.records)
    counted = (
        say_count(len(evidence.folders), "folder"),
        say_count(rows, "journal row"),
        say_count(lines, "record line"),
    )
    return f"{', '.join(counted)} and the index agree"
