"""The index: what is remembered of features, and that the folders can tell it again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START
from tests.simulators.desk import Desk, make_feature

from lamplighter.errors import DiskError
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.stock import Place, Reason, StockItem


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty stock."""
    return Desk.open(tmp_path)


def item(number: int, brand: str = "wrenfold") -> StockItem:
    """Return where a feature would be."""
    return StockItem(id=f"feature-{number:04}-{brand}", number=number, place=Place.READY, folder=Path("x"))


def test_nothing_is_known_of_nothing(desk: Desk) -> None:
    """Every question has an answer."""
    assert desk.index.known_ids() == frozenset()
    assert desk.index.latest_captions(5) == ()
    assert desk.index.last_featured() == {}
    assert desk.index.last_used("wrenfold") == ()


def test_numbers_go_up_from_the_floor_and_from_what_was_given(desk: Desk) -> None:
    """Whichever is higher."""
    floors = (0, 0, 7, 3, 8, 20)
    assert [desk.index.claim_number(floor=floor) for floor in floors] == [1, 2, 8, 9, 10, 21]


def test_a_brand_was_last_featured_with_its_newest_number(desk: Desk) -> None:
    """Whatever the order of remembering."""
    for number, brand in ((3, "wrenfold"), (1, "wrenfold"), (2, "kirino")):
        desk.index.remember(make_feature(item(number, brand), brand))
    assert desk.index.last_featured() == {"wrenfold": 3, "kirino": 2}


def test_a_product_was_last_used_in_its_newest_feature(desk: Desk) -> None:
    """Of its brand only, since ids are the shop's, and by number, whatever the order of remembering."""
    desk.index.remember(make_feature(item(3), product_ids=(2, 10**15)))
    desk.index.remember(make_feature(item(1), product_ids=(1, 2)))
    desk.index.remember(make_feature(item(2, "kirino"), "kirino", product_ids=(2,)))
    assert desk.index.last_used("wrenfold") == (1, 2, 10**15)
    assert desk.index.last_used("kirino") == (2,)


def test_the_least_recently_used_product_comes_first(desk: Desk) -> None:
    """Within one feature the one that was shown first, so that everything has its turn."""
    desk.index.remember(make_feature(item(1), product_ids=(3, 1, 2)))
    desk.index.remember(make_feature(item(2), product_ids=(5, 3)))
    assert desk.index.last_used("wrenfold") == (1, 2, 5, 3)


def test_the_newest_come_first_with_what_they_said(desk: Desk) -> None:
    """New captions are compared with them."""
    for number in (1, 2, 3):
        feature = make_feature(item(number), caption=f"caption {number} 🫖", made_at=START + timedelta(days=number))
        desk.index.remember(feature)
    assert desk.index.latest_captions(2) == ("caption 3 🫖", "caption 2 🫖")


def test_an_earlier_run_does_not_overwrite_what_a_later_one_wrote(desk: Desk) -> None:
    """The generation decides."""
    desk.index.remember(make_feature(item(1), caption="new", generation=5))
    desk.index.remember(make_feature(item(1), caption="zombie", generation=4))
    assert desk.index.latest_captions(1) == ("new",)
    desk.index.remember(make_feature(item(1), caption="newer", generation=6))
    assert desk.index.latest_captions(1) == ("newer",)


def test_accounts_do_not_see_each_other(desk: Desk) -> None:
    """One database may hold several."""
    other = Index(desk.database, "other")
    desk.index.remember(make_feature(item(1)))
    assert desk.index.claim_number(floor=4) == 5
    assert (other.known_ids(), other.last_featured(), other.claim_number(floor=0)) == (frozenset(), {}, 1)


def test_a_lost_database_is_told_again_by_the_folders(desk: Desk) -> None:
    """Ready, held and posted ones count, drafts do not."""
    desk.put("wrenfold", product_ids=(1, 2))
    desk.stock.move_to_posted(desk.put("kirino", product_ids=(7,)))
    desk.put("kirino", hold=Reason(kind="review", text="waits", at=START), product_ids=(8,))
    desk.stock.new_draft("olute")
    before = (desk.index.last_featured(), desk.index.last_used("wrenfold"), desk.index.last_used("kirino"))
    again = desk.forget()
    assert again.index.last_featured() == {}
    assert again.stock.take_over() == ()
    assert (again.index.last_featured(), again.index.last_used("wrenfold"), again.index.last_used("kirino")) == before
    assert again.index.known_ids() == {"feature-0003-kirino", "feature-0002-kirino", "feature-0001-wrenfold"}
    assert len(again.index.latest_captions(9)) == 3


@pytest.mark.parametrize("products", ["junk", "null", "[[1]]", "3"])
def test_a_damaged_row_is_the_databases_trouble(desk: Desk, products: str) -> None:
    """Told in one line that names the file."""
    desk.index.remember(make_feature(item(1)))
    desk.database.change("UPDATE feature SET products = ?", (products,))
    with pytest.raises(DiskError, match="a row is damaged"):
        desk.index.last_used("wrenfold")


def test_a_damaged_count_never_gives_a_number_twice(desk: Desk) -> None:
    """The folders' floor still holds."""
    desk.index.claim_number(floor=0)
    desk.database.change("UPDATE feature_number SET highest = 'abc'")
    assert desk.index.claim_number(floor=7) == 8
