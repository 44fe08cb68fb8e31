"""The job post: one feature a day goes out, once, whatever is killed whenever."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from tests.simulators.clock import START
from tests.simulators.desk import Desk, make_feature
from tests.simulators.publisher import Killed, ScriptedPublisher, make_receipt

from lamplighter.engine.job import Outcome, RunReport, check_report
from lamplighter.errors import DiskError, Fenced, InputError, UpstreamError
from lamplighter.featurepost.stock import Place, Reason, StockItem
from lamplighter.publish.folder import FolderPublisher
from lamplighter.publish.post import Poster
from lamplighter.publish.publisher import Publisher, Recalled
from lamplighter.publish.settings import PostSettings

SLOT = "2026-05-04-1930"
DAY = timedelta(days=1)
FIRST, SECOND = "feature-0001-wrenfold", "feature-0002-wrenfold"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty stock."""
    return Desk.open(tmp_path)


@pytest.fixture
def publisher() -> ScriptedPublisher:
    """Return a publisher that does what it is told."""
    return ScriptedPublisher()


def poster(desk: Desk, publisher: Publisher, *, zone: str = "UTC", at: time | None = time(19, 30)) -> Poster:
    """Return who posts from the desk."""
    return Poster(
        stock=desk.stock,
        journal=desk.journal,
        publisher=publisher,
        record_file=desk.folder / "posted.jsonl",
        clock=desk.clock,
        settings=PostSettings(at=at, zone=ZoneInfo(zone)),
    )


def work(
    desk: Desk, publisher: Publisher, *, feature: str = "", force: bool = False, generation: int = 1, zone: str = "UTC"
) -> RunReport:
    """Run once; every report must stand before the supervisor."""
    run = desk.run(number=generation, generation=generation)
    report = poster(desk, publisher, zone=zone).work(run, feature_id=feature, force=force)
    assert check_report(report) == report
    return report


def lines_of(desk: Desk) -> list[str]:
    """Return the lines of the readable record."""
    file = desk.folder / "posted.jsonl"
    return file.read_text("utf-8").splitlines() if file.exists() else []


def record(desk: Desk) -> list[tuple[str, str]]:
    """Return slot and feature of each line of the readable record."""
    lines = [json.loads(line) for line in lines_of(desk)]
    return [(line["slot"], line["feature"]) for line in lines]


def journal(desk: Desk) -> list[tuple[str, str, str]]:
    """Return what the journal says, oldest first."""
    return [(entry.slot, entry.feature_id, entry.state.value) for entry in reversed(desk.journal.entries())]


def where(desk: Desk) -> dict[str, Place]:
    """Return where each feature is."""
    return {item.id: item.place for place in Place for item in desk.stock.items(place)}


def test_the_oldest_ready_feature_goes_out(desk: Desk, publisher: ScriptedPublisher) -> None:
    """With proof, a record and its move to the posted ones."""
    desk.put()
    desk.put()
    report = work(desk, publisher)
    assert (report.outcome, report.outputs, report.exit_code) == (Outcome.PRODUCED, (FIRST,), 0)
    assert report.line == f"posted {FIRST} for {SLOT}: /outbox/{SLOT}-{FIRST}; 1 left in stock"
    assert {fact.name: fact.value for fact in report.evidence} == {"slot": SLOT, "post": f"/outbox/{SLOT}-{FIRST}"}
    assert publisher.calls == [(SLOT, FIRST)]
    assert journal(desk) == [(SLOT, FIRST, "recorded")]
    assert record(desk) == [(SLOT, FIRST)]
    assert where(desk) == {FIRST: Place.POSTED, SECOND: Place.READY}


def test_the_record_can_be_read_by_a_person_and_a_program(desk: Desk, publisher: ScriptedPublisher) -> None:
    """One JSON value a line, with where to look and since when."""
    desk.put()
    work(desk, publisher)
    (line,) = lines_of(desk)
    assert json.loads(line) == {
        "slot": SLOT,
        "feature": FIRST,
        "channel": "folder",
        "id": f"{SLOT}-{FIRST}",
        "location": f"/outbox/{SLOT}-{FIRST}",
        "published_at": "2026-05-04T12:00:00Z",
    }


def test_a_day_has_one_post(desk: Desk, publisher: ScriptedPublisher) -> None:
    """The second run of a day has nothing to do, and says what fills it."""
    desk.put()
    desk.put()
    work(desk, publisher)
    desk.clock.advance(timedelta(hours=11, minutes=59))
    report = work(desk, publisher)
    assert (report.outcome, report.exit_code) == (Outcome.NOTHING_NEEDED, 0)
    assert report.line == f"today's post is out: {FIRST} for {SLOT}, since 2026-05-04 12:00"
    assert {fact.name: fact.value for fact in report.evidence} == {"slot": SLOT, "post": f"{SLOT}-{FIRST}"}
    desk.clock.advance(timedelta(minutes=1))
    assert work(desk, publisher).outputs == (SECOND,)
    assert len(publisher.calls) == 2


@pytest.mark.parametrize(
    ("zone", "now", "slot"),
    [
        ("Asia/Tokyo", datetime(2026, 5, 4, 14, 59, tzinfo=UTC), "2026-05-04-1930"),
        ("Asia/Tokyo", datetime(2026, 5, 4, 15, 0, tzinfo=UTC), "2026-05-05-1930"),
        ("America/Los_Angeles", datetime(2026, 5, 4, 6, 59, tzinfo=UTC), "2026-05-03-1930"),
        ("Pacific/Kiritimati", datetime(2026, 5, 4, 10, 0, tzinfo=UTC), "2026-05-05-1930"),
    ],
)
def test_the_day_is_the_zones(desk: Desk, publisher: ScriptedPublisher, zone: str, now: datetime, slot: str) -> None:
    """Midnight is where the person lives."""
    desk.put()
    desk.clock.jump(now)
    work(desk, publisher, zone=zone)
    assert publisher.calls == [(slot, FIRST)]


def test_another_time_of_the_day_makes_no_second_post(desk: Desk, publisher: ScriptedPublisher) -> None:
    """A person who changes post.at at noon still has one post that day."""
    desk.put()
    desk.put()
    work(desk, publisher)
    report = poster(desk, publisher, at=time(21, 0)).work(desk.run())
    assert report.outcome is Outcome.NOTHING_NEEDED
    assert poster(desk, publisher, at=None).work(desk.run()).outcome is Outcome.NOTHING_NEEDED


def test_without_a_time_the_slot_is_the_day(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Any time of it."""
    desk.put()
    poster(desk, publisher, at=None).work(desk.run())
    assert publisher.calls == [("2026-05-04", FIRST)]


def test_force_makes_an_extra_post(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Each in a slot of its own, and it says so."""
    for _ in range(3):
        desk.put()
    assert poster(desk, publisher).plan(force=True).is_extra is False
    work(desk, publisher)
    assert poster(desk, publisher).plan(force=True).is_extra is True
    report = work(desk, publisher, force=True)
    assert (report.outcome, report.flags) == (Outcome.PRODUCED, ("forced",))
    work(desk, publisher, force=True)
    assert [slot for slot, _ in publisher.calls] == [SLOT, f"{SLOT}-extra1", f"{SLOT}-extra2"]
    assert len({feature for _, feature in publisher.calls}) == 3


def test_force_on_a_free_day_takes_the_days_own_slot(desk: Desk, publisher: ScriptedPublisher) -> None:
    """An extra post is only what comes on top."""
    desk.put()
    work(desk, publisher, force=True)
    assert publisher.calls == [(SLOT, FIRST)]


def test_without_a_ready_feature_nothing_goes_out(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Exit 66, with what was counted; drafts, held and posted ones are none."""
    desk.stock.new_draft("x")
    desk.put(hold=Reason(kind="hold", text="x", at=START))
    desk.stock.move_to_posted(desk.put())
    report = work(desk, publisher)
    assert (report.outcome, report.exit_code) == (Outcome.NOTHING_READY, 66)
    assert report.line == f"no ready feature for {SLOT}; lamplighter generate makes one"
    evidence = {fact.name: fact.value for fact in report.evidence}
    assert evidence == {"ready": "0", "waiting for review": "0", "slot": SLOT}
    assert (publisher.calls, journal(desk)) == ([], [])


def test_a_named_feature_goes_before_older_ones(desk: Desk, publisher: ScriptedPublisher) -> None:
    """By its id."""
    desk.put()
    desk.put()
    assert work(desk, publisher, feature=SECOND).outputs == (SECOND,)


@pytest.mark.parametrize("place", [Place.DRAFT, Place.HELD, Place.POSTED])
def test_a_named_feature_that_is_not_ready_is_refused(desk: Desk, publisher: ScriptedPublisher, place: Place) -> None:
    """The line says what it is, and nothing goes out in its stead."""
    item = desk.put()
    desk.put()
    if place is Place.DRAFT:
        item.folder.rename(desk.sns / f"_draft-{item.id}")
    elif place is Place.HELD:
        desk.stock.hold(item, Reason(kind="hold", text="x", at=START))
    else:
        desk.stock.move_to_posted(item)
    with pytest.raises(InputError, match=f"it is {place.value}, only a ready one can be posted"):
        work(desk, publisher, feature=item.id)
    assert (publisher.calls, journal(desk)) == ([], [])


def test_a_named_feature_that_is_unknown_or_broken_is_refused(desk: Desk, publisher: ScriptedPublisher) -> None:
    """One line each."""
    item = desk.put()
    (item.folder / "slide-1.jpg").unlink()
    with pytest.raises(InputError, match=r"slide-1\.jpg is missing"):
        work(desk, publisher, feature=item.id)
    with pytest.raises(InputError, match="there is none of that id"):
        work(desk, publisher, feature="feature-0099-x")


def take_slide(item: StockItem) -> None:
    """Delete a picture."""
    (item.folder / "slide-2.jpg").unlink()


def break_manifest(item: StockItem) -> None:
    """Cut the manifest off."""
    (item.folder / "feature.json").write_text("{")


def write_too_much(item: StockItem) -> None:
    """Make the caption longer than the network takes."""
    feature = make_feature(item, caption="a" * 2_201)
    (item.folder / "feature.json").write_bytes(msgspec.json.encode(feature))


@pytest.mark.parametrize("spoil", [take_slide, break_manifest, write_too_much])
def test_a_broken_feature_is_passed_over_and_said(
    desk: Desk, publisher: ScriptedPublisher, spoil: Callable[[StockItem], None]
) -> None:
    """The next one goes out; the broken one is not counted as left."""
    spoil(desk.put())
    desk.put()
    report = work(desk, publisher)
    assert report.outputs == (SECOND,)
    assert report.line.endswith("; 0 left in stock")
    (line,) = [line for line in desk.said if "cannot be posted" in line]
    assert FIRST in line


def test_what_went_out_once_never_goes_out_again(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Also when a person moves it back among the ready ones."""
    desk.put()
    work(desk, publisher)
    posted = desk.stock.find(FIRST)
    posted.folder.rename(desk.sns / FIRST)
    desk.clock.advance(DAY)
    assert work(desk, publisher).outcome is Outcome.NOTHING_READY
    assert f"cannot be posted: {FIRST} went out for {SLOT} already" in desk.said
    with pytest.raises(InputError, match="already"):
        work(desk, publisher, feature=FIRST)


def test_a_dry_run_says_what_would_go_out_and_changes_nothing(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Neither folders nor journal."""
    broken = desk.put()
    take_slide(broken)
    desk.put()
    before = sorted(str(path) for path in desk.folder.rglob("*"))
    plan = poster(desk, publisher).plan()
    assert plan.post is not None
    assert (plan.slot, plan.post.feature.id, plan.filled_by, len(plan.troubles)) == (SLOT, SECOND, None, 1)
    assert [file.name for file in plan.post.slide_files] == ["slide-1.jpg", "slide-2.jpg"]
    assert sorted(str(path) for path in desk.folder.rglob("*")) == before
    assert (publisher.calls, journal(desk)) == ([], [])


# What is killed, when, and what the next run makes of it.


def test_a_publisher_that_refuses_frees_the_slot(desk: Desk, publisher: ScriptedPublisher) -> None:
    """The feature stays ready, and the next run tries again."""
    desk.put()
    publisher.before = UpstreamError("network", "down")
    with pytest.raises(UpstreamError):
        work(desk, publisher)
    assert (journal(desk), where(desk), record(desk)) == ([], {FIRST: Place.READY}, [])
    publisher.before = None
    assert work(desk, publisher).outputs == (FIRST,)


def test_killed_before_it_is_out_the_next_run_posts_it(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Once."""
    desk.put()
    publisher.before = Killed()
    with pytest.raises(Killed):
        work(desk, publisher)
    assert journal(desk) == [(SLOT, FIRST, "posting")]
    publisher.before = None
    report = work(desk, publisher, generation=2)
    assert (report.outcome, report.flags, list(publisher.out)) == (Outcome.PRODUCED, (), [(SLOT, FIRST)])
    assert f"{FIRST} was about to go out for {SLOT} and did not; the slot is free again" in desk.said
    assert journal(desk) == [(SLOT, FIRST, "recorded")]


def test_killed_after_it_is_out_the_next_run_only_completes_the_record(
    desk: Desk, publisher: ScriptedPublisher
) -> None:
    """Nothing is sent a second time."""
    desk.put()
    desk.put()
    publisher.after = Killed()
    with pytest.raises(Killed):
        work(desk, publisher)
    assert (journal(desk), where(desk)[FIRST]) == ([(SLOT, FIRST, "posting")], Place.READY)
    publisher.after = None
    report = work(desk, publisher, generation=2)
    assert (report.outcome, report.flags, report.outputs) == (Outcome.PRODUCED, ("resumed",), (FIRST,))
    assert len(publisher.calls) == 1
    assert (journal(desk), where(desk)[FIRST], record(desk)) == (
        [(SLOT, FIRST, "recorded")], Place.POSTED, [(SLOT, FIRST)]
    )  # fmt: skip
    assert work(desk, publisher, generation=3).outcome is Outcome.NOTHING_NEEDED


def test_resumed_on_the_next_day_the_new_day_has_its_own_post(desk: Desk, publisher: ScriptedPublisher) -> None:
    """The old slot is settled first."""
    desk.put()
    desk.put()
    publisher.after = Killed()
    with pytest.raises(Killed):
        work(desk, publisher)
    publisher.after = None
    desk.clock.advance(DAY)
    report = work(desk, publisher, generation=2)
    assert (report.outputs, report.flags) == ((SECOND,), ())
    assert record(desk) == [(SLOT, FIRST), ("2026-05-05-1930", SECOND)]


@pytest.mark.parametrize("done", ["published", "noted", "moved"])
def test_killed_while_the_record_is_written_the_next_run_goes_on_there(
    desk: Desk, publisher: ScriptedPublisher, done: str
) -> None:
    """Each step is done once, whatever was done before."""
    item = desk.put()
    receipt = make_receipt(SLOT, FIRST)
    publisher.out[SLOT, FIRST] = receipt
    desk.journal.claim(SLOT, FIRST, generation=1, run=1)
    desk.journal.published(SLOT, receipt, generation=1)
    if done != "published":
        line = {"slot": SLOT, "feature": FIRST, "channel": "folder", "id": receipt.id, "location": receipt.location}
        line["published_at"] = "2026-05-04T12:00:00Z"
        (desk.folder / "posted.jsonl").write_bytes(msgspec.json.encode(line) + b"\n")
    if done == "moved":
        desk.stock.move_to_posted(item)
    report = work(desk, publisher, generation=2)
    assert (report.flags, publisher.calls) == (("resumed",), [])
    assert (journal(desk), where(desk), record(desk)) == (
        [(SLOT, FIRST, "recorded")], {FIRST: Place.POSTED}, [(SLOT, FIRST)]
    )  # fmt: skip


def test_a_line_that_was_torn_is_written_again_whole(desk: Desk, publisher: ScriptedPublisher) -> None:
    """The torn one stays as it is and harms nobody."""
    desk.put()
    (desk.folder / "posted.jsonl").write_text('{"slot":"2026-05-04-19')
    work(desk, publisher)
    torn, whole = lines_of(desk)
    assert (torn, json.loads(whole)["feature"]) == ('{"slot":"2026-05-04-19', FIRST)


def test_a_person_who_deleted_the_feature_in_between_is_no_trouble(desk: Desk, publisher: ScriptedPublisher) -> None:
    """It is out, and that is recorded."""
    item = desk.put()
    publisher.after = Killed()
    with pytest.raises(Killed):
        work(desk, publisher)
    publisher.after = None
    shutil.rmtree(item.folder)
    report = work(desk, publisher, generation=2)
    assert (report.flags, where(desk), journal(desk)) == (("resumed",), {}, [(SLOT, FIRST, "recorded")])
    assert record(desk) == [(SLOT, FIRST)]


def test_a_feature_that_was_renamed_to_a_draft_in_between_ends_among_the_posted(
    desk: Desk, publisher: ScriptedPublisher
) -> None:
    """It went out, whatever its folder is called."""
    item = desk.put()
    publisher.after = Killed()
    with pytest.raises(Killed):
        work(desk, publisher)
    publisher.after = None
    item.folder.rename(desk.sns / f"_draft-{FIRST}")
    work(desk, publisher, generation=2)
    assert where(desk) == {FIRST: Place.POSTED}


def test_a_folder_of_that_name_among_the_posted_is_no_trouble(desk: Desk, publisher: ScriptedPublisher) -> None:
    """A person made it; one is enough, the copy stays and is said, and the post is settled for good."""
    desk.put()
    (desk.sns / "posted" / FIRST).mkdir(parents=True)
    publisher.out[SLOT, FIRST] = make_receipt(SLOT, FIRST)
    desk.journal.claim(SLOT, FIRST, generation=1, run=1)
    work(desk, publisher, generation=2)
    assert journal(desk) == [(SLOT, FIRST, "recorded")]
    assert any(f"{FIRST} is a copy and stays where it is" in line for line in desk.said)
    assert work(desk, publisher, generation=3).outcome is Outcome.NOTHING_NEEDED


def test_a_record_that_cannot_be_written_does_not_post_again(desk: Desk, publisher: ScriptedPublisher) -> None:
    """It is out; the next run completes the record."""
    desk.put()
    (desk.folder / "posted.jsonl").mkdir()
    report = work(desk, publisher)
    assert report.outcome is Outcome.PRODUCED
    assert any("the record is not complete" in line for line in desk.said)
    assert journal(desk) == [(SLOT, FIRST, "published")]
    (desk.folder / "posted.jsonl").rmdir()
    work(desk, publisher, generation=2)
    assert (journal(desk), len(publisher.calls), record(desk)) == ([(SLOT, FIRST, "recorded")], 1, [(SLOT, FIRST)])


def test_what_cannot_be_seen_keeps_its_slot(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Whether it is out is unknown, so nothing goes out in its stead."""
    desk.put()
    desk.put()
    publisher.before, publisher.blind = UpstreamError("network", "down"), DiskError("outbox", "I/O error")
    with pytest.raises(DiskError):
        work(desk, publisher)
    assert journal(desk) == [(SLOT, FIRST, "posting")]
    with pytest.raises(DiskError):
        work(desk, publisher, generation=2)
    assert len(publisher.calls) == 1


def test_a_run_that_lost_its_lock_sends_nothing(desk: Desk, publisher: ScriptedPublisher) -> None:
    """And leaves the slot free."""

    def refuse() -> None:
        raise Fenced("lock")

    desk.put()
    desk.check = refuse
    with pytest.raises(Fenced):
        work(desk, publisher)
    assert (publisher.calls, journal(desk)) == ([], [])


def test_a_lock_lost_between_journal_and_publisher_sends_nothing(desk: Desk, publisher: ScriptedPublisher) -> None:
    """The claim is taken back, since nothing is out."""
    answers = [None, Fenced("lock")]

    def check() -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    desk.put()
    desk.check = check
    with pytest.raises(Fenced):
        work(desk, publisher)
    assert (publisher.calls, journal(desk)) == ([], [])


def test_a_run_that_was_taken_over_writes_nothing_more(desk: Desk, publisher: ScriptedPublisher) -> None:
    """The later generation has the row."""
    item = desk.put()
    desk.journal.claim(SLOT, FIRST, generation=9, run=1)
    publisher.out[SLOT, FIRST] = make_receipt(SLOT, FIRST)
    with pytest.raises(Fenced, match="a later run"):
        work(desk, publisher, generation=8)
    assert (journal(desk), item.folder.is_dir()) == ([(SLOT, FIRST, "posting")], True)


def test_what_only_the_channel_remembers_fills_its_slot(desk: Desk, publisher: ScriptedPublisher) -> None:
    """With database and record lost, what can be seen out there keeps the day, and its feature never goes again."""
    first, second = desk.put(), desk.put()
    publisher.remembered.append(Recalled(slot=SLOT, feature_id=first.id, receipt=make_receipt(SLOT, first.id)))
    report = work(desk, publisher)
    assert (report.outcome, publisher.calls) == (Outcome.NOTHING_NEEDED, [])
    assert [item.id for item in desk.stock.ready()] == [second.id]
    assert record(desk) == [(SLOT, first.id)]


def test_a_feature_that_is_named_must_be_there(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Also on a day that has its post; one that is there is told of --force."""
    desk.put()
    second = desk.put()
    work(desk, publisher)
    with pytest.raises(InputError, match="there is none of that id"):
        work(desk, publisher, feature="nope")
    assert "--force makes an extra post" in work(desk, publisher, feature=second.id).line


def test_with_nothing_ready_a_feature_that_waits_for_review_is_named(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Making more would not help; a person's approval does."""
    item = desk.put(hold=Reason(kind="review", text="x", at=START))
    report = work(desk, publisher)
    assert (report.outcome, f"lamplighter stock approve {item.id}" in report.line) == (Outcome.NOTHING_READY, True)


def test_with_the_database_lost_the_record_keeps_the_day(desk: Desk, publisher: ScriptedPublisher) -> None:
    """What went out stays out: no second post on the same day, and what was posted is known again."""
    for _ in range(3):
        desk.put()
    work(desk, publisher)
    desk.clock.advance(DAY)
    work(desk, publisher)
    again = desk.forget()
    report = work(again, publisher)
    assert (report.outcome, len(publisher.calls)) == (Outcome.NOTHING_NEEDED, 2)
    assert journal(again) == [(SLOT, FIRST, "recorded"), ("2026-05-05-1930", SECOND, "recorded")]
    assert record(again) == [(SLOT, FIRST), ("2026-05-05-1930", SECOND)]


ELSEWHERE = b"""{"slot": "2026-05-04-1930", "feature": "f", "channel": "other", "id": "", "location": "",
"published_at": "2026-05-04T12:00:00Z"}""".replace(b"\n", b" ")


HERE = ELSEWHERE.replace(b"other", b"scripted").replace(b'"f"', f'"{FIRST}"'.encode())


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{", b"\xff\xfe", b"[]", b'{"slot": "x"}', ELSEWHERE,
        HERE.replace(FIRST.encode(), b"../../x"),
        HERE.replace(b"2026-05-04-1930", b"../../x"),
        HERE.replace(b"2026-05-04-1930", b""),
        HERE.replace(b"2026-05-04T12:00:00Z", b"9999-12-31T23:59:59Z"),
    ],
)  # fmt: skip
def test_lines_that_are_not_ours_are_left_alone(desk: Desk, publisher: ScriptedPublisher, line: bytes) -> None:
    """A person's notes, other channels' posts and what names no feature, slot or date of ours fill no slot."""
    desk.put()
    (desk.folder / "posted.jsonl").write_bytes(line + b"\n")
    assert work(desk, publisher).outputs == (FIRST,)


def test_with_folders_the_whole_way_is_the_same(desk: Desk) -> None:
    """The real publisher: killed after its rename, the next run finds the folder."""

    class KilledAfterwards(FolderPublisher):
        def publish(self, post):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - the real one's, plus a death
            super().publish(post)
            raise Killed

    desk.put()
    with pytest.raises(Killed):
        work(desk, KilledAfterwards(desk.folder / "outbox", desk.clock))
    os.utime(desk.folder / "outbox" / f"{SLOT}-{FIRST}", (START.timestamp(), START.timestamp()))
    report = work(desk, FolderPublisher(desk.folder / "outbox", desk.clock), generation=2)
    assert (report.flags, report.outputs, record(desk)) == (("resumed",), (FIRST,), [(SLOT, FIRST)])
    assert [path.name for path in (desk.folder / "outbox").iterdir()] == [f"{SLOT}-{FIRST}"]


def test_a_year_of_days_posts_each_feature_once(desk: Desk, publisher: ScriptedPublisher) -> None:
    """Two runs a day, across both changes of the clocks, every third killed after it was out."""
    zone = ZoneInfo("Europe/Berlin")
    desk.clock.jump(datetime(2026, 3, 20, 9, 0, tzinfo=UTC))
    days = 20
    for _ in range(days):
        desk.put()
    for number in range(2 * days):
        publisher.after = Killed() if number % 3 == 0 else None
        try:
            poster(desk, publisher, zone=zone.key).work(desk.run(number + 1, number + 1))
        except Killed:
            desk.said.append("killed")
        desk.clock.advance(timedelta(hours=12))
    publisher.after = None
    work(desk, publisher, generation=999, zone=zone.key)
    slots = [slot for slot, _ in publisher.calls]
    assert len({feature for _, feature in publisher.calls}) == len(publisher.calls) == days
    assert slots == sorted(set(slots))
    assert record(desk) == publisher.calls
