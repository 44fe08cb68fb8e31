"""Success is told once, whoever is killed when: what is ready, what waits for a person, what went out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.desk import Desk

from lamplighter.app.announcing import announce
from lamplighter.app.opening import Parts, assemble
from lamplighter.config.settings import read_settings
from lamplighter.featurepost.stock import Reason
from lamplighter.notify.announced import begin_announcing
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox
from lamplighter.publish.publisher import Receipt


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace that tells of its success from now on."""
    opened = Desk.in_workspace(tmp_path / "w")
    begin_announcing(opened.database, "main", opened.clock.now())
    return opened


def parts_of(desk: Desk) -> Parts:
    """Return the parts of the workspace, as a run builds them."""
    return assemble(read_settings(desk.folder), desk.database, desk.clock)


def tell(desk: Desk) -> None:
    """Announce, as at the end of a run or at a tick."""
    announce(parts_of(desk), desk.database, desk.clock)


def notices(desk: Desk) -> list[Notice]:
    """Return everything that was ever put into the outbox."""
    return [waiting.notice for waiting in Outbox(desk.database, desk.clock, "main").all()]


def review(desk: Desk) -> Reason:
    """Return the reason of a feature that waits for a person."""
    return Reason(kind="review", text="waits", at=desk.clock.now())


def post(desk: Desk, feature_id: str, slot: str, location: str = "https://social.example/p/1") -> None:
    """Put a feature out, as a run of post leaves it."""
    receipt = Receipt(id="r", location=location, published_at=desk.clock.now())
    desk.journal.claim(slot, feature_id, generation=1, run=1)
    desk.journal.published(slot, receipt, generation=1)
    desk.stock.move_to_posted(desk.stock.find(feature_id))
    desk.journal.recorded(slot, generation=1)


def test_what_was_made_is_told_once_with_its_cover(desk: Desk) -> None:
    """In the order it was made, each with the stock as it was by then."""
    first, second = desk.put("wrenfold"), desk.put("kirino")
    tell(desk)
    tell(desk)
    told = notices(desk)
    assert [(notice.kind, notice.subject) for notice in told] == [
        (NoticeKind.MADE, "🆕 Quiet things, stock 1/3"),
        (NoticeKind.MADE, "🆕 Quiet things, stock 2/3"),
    ]
    assert [notice.pictures for notice in told] == [
        (str(first.folder / "slide-1.jpg"),),
        (str(second.folder / "slide-1.jpg"),),
    ]
    assert told[0].body == "brand: Wrenfold\nproducts: Product 1"


def test_what_went_out_is_told_with_link_cover_and_stock(desk: Desk) -> None:
    """A web address is the link; a folder is said as a place."""
    item = desk.put()
    desk.put("kirino")
    tell(desk)
    post(desk, item.id, "2026-05-04-1930")
    tell(desk)
    told = notices(desk)[-1]
    assert (told.kind, told.subject, told.link) == (
        NoticeKind.POSTED,
        "✅ posted: Quiet things",
        "https://social.example/p/1",
    )
    assert told.body.splitlines()[-1] == "stock left: 1/3"
    assert told.pictures == (str(desk.sns / "posted" / item.id / "slide-1.jpg"),)
    other = desk.put()
    post(desk, other.id, "2026-05-05-1930", "/workspace/outbox/x/preview.html")
    tell(desk)
    assert (notices(desk)[-1].link, "where: /workspace/outbox/x/preview.html" in notices(desk)[-1].body) == ("", True)


def test_a_feature_made_and_posted_in_between_is_told_as_both(desk: Desk) -> None:
    """A run that was killed before its last word, and no watcher: the next one tells it all."""
    item = desk.put()
    post(desk, item.id, "2026-05-04-1930")
    tell(desk)
    assert [notice.kind for notice in notices(desk)] == [NoticeKind.MADE, NoticeKind.POSTED]


def test_a_feature_that_waits_for_a_person_is_asked_about_once(desk: Desk) -> None:
    """With all its slides and what to type; approved, it is no second piece of news."""
    item = desk.put(hold=review(desk))
    tell(desk)
    told = notices(desk)
    assert [notice.kind for notice in told] == [NoticeKind.REVIEW]
    assert told[0].pictures == tuple(str(item.folder / f"slide-{number}.jpg") for number in (1, 2))
    assert f"lamplighter stock approve {item.id}" in told[0].body
    desk.stock.approve(desk.stock.find(item.id))
    tell(desk)
    assert len(notices(desk)) == 1


def test_what_a_person_holds_is_no_news(desk: Desk) -> None:
    """They know."""
    desk.put(hold=Reason(kind="hold", text="not now", at=desk.clock.now()))
    tell(desk)
    assert notices(desk) == []


def test_what_was_there_before_the_first_time_is_no_news(tmp_path: Path) -> None:
    """A workspace that was used for months, or whose database was lost, does not tell of old features."""
    desk = Desk.in_workspace(tmp_path / "w")
    item = desk.put()
    post(desk, desk.put().id, "2026-05-04-1930")
    desk.clock.advance(timedelta(minutes=1))
    tell(desk)
    assert notices(desk) == []
    assert item.folder.exists()


def test_what_is_three_days_old_is_no_news(desk: Desk) -> None:
    """A machine that was off for a week tells what is new."""
    desk.put()
    desk.clock.advance(timedelta(days=4))
    fresh = desk.put()
    tell(desk)
    assert [notice.dedup_key for notice in notices(desk)] == [f"made-{fresh.id}"]


def test_a_folder_that_cannot_be_read_keeps_no_other_from_being_told(desk: Desk) -> None:
    """What is wrong with it is said elsewhere."""
    broken, good = desk.put(), desk.put("kirino")
    (broken.folder / "feature.json").write_bytes(b"{")
    tell(desk)
    assert [notice.dedup_key for notice in notices(desk)] == [f"made-{good.id}"]


def test_notices_are_in_the_language_of_the_settings(desk: Desk) -> None:
    """Japanese, when it says so."""
    desk.put()
    parts = parts_of(desk)
    settings = replace(parts.settings, notify=replace(parts.settings.notify, language="ja"))
    announce(replace(parts, settings=settings), desk.database, desk.clock)
    assert notices(desk)[0].subject == "🆕 Quiet things（在庫 1/3）"


def test_the_first_time_is_kept(tmp_path: Path) -> None:
    """Since when success is told never moves."""
    desk = Desk.in_workspace(tmp_path / "w", VirtualClock())
    first = begin_announcing(desk.database, "main", desk.clock.now())
    desk.clock.advance(timedelta(days=1))
    assert begin_announcing(desk.database, "main", desk.clock.now()) == first
