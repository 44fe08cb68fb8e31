"""The journal: a slot is filled once, a feature goes out once, and a run that lost its lock changes nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START
from tests.simulators.desk import Desk
from tests.simulators.publisher import make_receipt

from lamplighter.errors import DiskError, Fenced
from lamplighter.publish.journal import Journal, State

SLOT = "2026-05-04-1930"
RECEIPT = make_receipt(SLOT, "f1", START + timedelta(microseconds=123_456))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty journal and all around it."""
    return Desk.open(tmp_path)


def states(journal: Journal) -> list[tuple[str, str, str]]:
    """Return slot, feature and state of each entry."""
    return [(entry.slot, entry.feature_id, entry.state.value) for entry in journal.entries()]


def test_a_post_goes_through_three_states(desk: Desk) -> None:
    """Posting, published, recorded; the receipt is there from the second on."""
    journal = desk.journal
    journal.claim(SLOT, "f1", generation=1, run=7)
    entry = journal.find("f1")
    assert entry is not None
    assert (entry.slot, entry.state, entry.receipt, entry.claimed_at) == (SLOT, State.POSTING, None, START)
    journal.published(SLOT, RECEIPT, generation=1)
    (entry,) = journal.unfinished()
    assert (entry.state, entry.receipt) == (State.PUBLISHED, RECEIPT)
    journal.recorded(SLOT, generation=1)
    assert journal.unfinished() == ()
    assert journal.entries()[0].receipt == RECEIPT


def test_a_slot_is_filled_once(desk: Desk) -> None:
    """The second claim is refused and changes nothing."""
    desk.journal.claim(SLOT, "f1", generation=1, run=1)
    with pytest.raises(Fenced, match="in the journal already"):
        desk.journal.claim(SLOT, "f2", generation=9, run=2)
    assert states(desk.journal) == [(SLOT, "f1", "posting")]


def test_a_feature_goes_out_once(desk: Desk) -> None:
    """Also in another slot."""
    desk.journal.claim(SLOT, "f1", generation=1, run=1)
    with pytest.raises(Fenced):
        desk.journal.claim("2026-05-05-1930", "f1", generation=9, run=2)


@pytest.mark.parametrize("generation", [1, 2, 9])
def test_a_later_run_takes_over_and_the_earlier_one_can_do_nothing_more(desk: Desk, generation: int) -> None:
    """The generation that wrote last fences all before it."""
    journal = desk.journal
    journal.claim(SLOT, "f1", generation=1, run=1)
    journal.published(SLOT, RECEIPT, generation=generation)
    if generation > 1:
        with pytest.raises(Fenced, match="a later run"):
            journal.published(SLOT, make_receipt(SLOT, "zombie"), generation=generation - 1)
        with pytest.raises(Fenced, match="a later run"):
            journal.recorded(SLOT, generation=generation - 1)
    assert [entry.receipt for entry in journal.entries()] == [RECEIPT]
    journal.recorded(SLOT, generation=generation)


def test_what_is_not_in_the_journal_cannot_be_published(desk: Desk) -> None:
    """The journal comes first."""
    with pytest.raises(Fenced):
        desk.journal.published(SLOT, RECEIPT, generation=1)
    with pytest.raises(Fenced):
        desk.journal.recorded(SLOT, generation=1)


def test_a_claim_can_be_withdrawn_only_before_it_is_out(desk: Desk) -> None:
    """And only by its own run or a later one."""
    journal = desk.journal
    journal.claim(SLOT, "f1", generation=5, run=1)
    journal.withdraw(SLOT, generation=4)
    assert states(journal) == [(SLOT, "f1", "posting")]
    journal.withdraw(SLOT, generation=6)
    assert states(journal) == []
    journal.claim(SLOT, "f1", generation=6, run=2)
    journal.published(SLOT, RECEIPT, generation=6)
    journal.withdraw(SLOT, generation=9)
    assert states(journal) == [(SLOT, "f1", "published")]


def test_a_day_has_its_slots_in_order(desk: Desk) -> None:
    """Extra ones after the first."""
    for slot, feature in (("2026-05-04-1930-extra1", "b"), (SLOT, "a"), ("2026-05-05", "c"), ("2026-05-03-1930", "d")):
        desk.journal.claim(slot, feature, generation=1, run=1)
    assert [entry.feature_id for entry in desk.journal.of_day("2026-05-04")] == ["a", "b"]
    assert [entry.feature_id for entry in desk.journal.of_day("2026-05-05")] == ["c"]
    assert desk.journal.of_day("2026-05-06") == ()


def test_entries_are_newest_first_and_unfinished_oldest_first(desk: Desk) -> None:
    """A person reads the first, a run settles the second."""
    for number in (1, 2, 3):
        desk.journal.claim(f"2026-05-0{number}-1930", f"f{number}", generation=1, run=1)
        desk.clock.advance(timedelta(days=1))
    assert [entry.feature_id for entry in desk.journal.entries(limit=2)] == ["f3", "f2"]
    assert [entry.feature_id for entry in desk.journal.unfinished()] == ["f1", "f2", "f3"]


def test_accounts_and_channels_are_apart(desk: Desk) -> None:
    """The same feature may go out on two networks."""
    desk.journal.claim(SLOT, "f1", generation=1, run=1)
    for account, channel in (("main", "instagram"), ("other", "folder")):
        journal = Journal(desk.database, desk.clock, account=account, channel=channel)
        assert (journal.entries(), journal.find("f1"), journal.of_day("2026-05-04"), journal.unfinished()) == (
            (), None, (), ()
        )  # fmt: skip
        journal.claim(SLOT, "f1", generation=1, run=1)
        journal.withdraw(SLOT, generation=1)
    assert states(desk.journal) == [(SLOT, "f1", "posting")]


def test_the_journal_outlives_the_process(desk: Desk) -> None:
    """It is on disk before the publisher is called."""
    desk.journal.claim(SLOT, "f1", generation=1, run=1)
    assert states(Desk.open(desk.folder).journal) == [(SLOT, "f1", "posting")]


@pytest.mark.parametrize(
    "change", ["state = 'bogus'", "claimed_at = 'abc'", "claimed_at = 1e300", "published_at = 253402300799"]
)
def test_a_damaged_row_is_the_databases_trouble(desk: Desk, change: str) -> None:
    """Told in one line that names the file, wherever rows are read."""
    journal = desk.journal
    journal.claim(SLOT, "f1", generation=1, run=7)
    desk.database.change(f"UPDATE post SET {change}")  # noqa: S608 - fixed text from above
    for look in (journal.entries, journal.unfinished, lambda: journal.of_day(SLOT[:10]), lambda: journal.find("f1")):
        with pytest.raises(DiskError, match="a row is damaged"):
            look()
