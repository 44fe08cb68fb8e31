"""Notices wait in the outbox until they are delivered, each of them once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.errors import InputError
from lamplighter.host.database import Database, open_database
from lamplighter.notify.outbox import MIGRATIONS, Notice, NoticeKind, Outbox


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an open database."""
    with open_database(tmp_path / "lamplighter.db", MIGRATIONS) as opened:
        yield opened


@pytest.fixture
def clock() -> VirtualClock:
    """Return the outbox's clock."""
    return VirtualClock()


def notice(key: str, subject: str = "no post went out") -> Notice:
    """Return a notice."""
    return Notice(dedup_key=key, kind=NoticeKind.OPENED, incident=7, subject=subject, body="since: …\n🆕 皿")


def test_notices_wait_in_their_order(database: Database, clock: VirtualClock) -> None:
    """Oldest first, as written, with their instants."""
    outbox = Outbox(database, clock, "own")
    outbox.put(notice("a"))
    clock.advance(timedelta(minutes=5))
    outbox.put(notice("b"))
    assert [(waiting.number, waiting.notice, waiting.written_at) for waiting in outbox.waiting()] == [
        (1, notice("a"), START),
        (2, notice("b"), START + timedelta(minutes=5)),
    ]
    assert [waiting.number for waiting in outbox.waiting(limit=1)] == [1]


def test_a_notice_is_written_once(database: Database, clock: VirtualClock) -> None:
    """A watcher that says it again adds nothing, also after it was delivered."""
    outbox = Outbox(database, clock, "own")
    outbox.put(notice("a", "first"))
    outbox.put(notice("a", "second"))
    outbox.delivered(1)
    outbox.put(notice("a", "third"))
    assert outbox.waiting() == ()
    assert [waiting.notice.subject for waiting in outbox.all()] == ["first"]


def test_accounts_have_outboxes_of_their_own(database: Database, clock: VirtualClock) -> None:
    """The same key of another account is another notice."""
    own, other = Outbox(database, clock, "own"), Outbox(database, clock, "other")
    own.put(notice("a"))
    other.put(notice("a"))
    own.delivered(1)
    assert (own.waiting(), len(other.waiting())) == ((), 1)


def test_a_notice_is_part_of_the_transaction_it_is_written_in(database: Database, clock: VirtualClock) -> None:
    """What is undone is not told."""
    outbox = Outbox(database, clock, "own")

    def put_and_fail() -> None:
        with database.transaction():
            outbox.put(notice("a"))
            raise InputError("a run")

    with pytest.raises(InputError):
        put_and_fail()
    assert outbox.all() == ()
