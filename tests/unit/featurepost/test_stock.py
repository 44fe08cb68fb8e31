"""The stock: folders are the truth, names say where a feature stands, and nothing is ever half or lost."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.simulators.child import Child
from tests.simulators.clock import START
from tests.simulators.desk import JPEG, Desk, allow, fill, make_feature

from lamplighter.errors import DiskError, Fenced, InputError
from lamplighter.featurepost.stock import Examined, Failure, Fault, Place, Reason, Stock, StockItem

HOLD = Reason(kind="hold", text="not now", at=START)
REVIEW = Reason(kind="review", text="waits", at=START)
FAULT = Fault(code="number", where="title", message="no fact has this number: '24'")
FAILURE = Failure(step="gate", message="title: no fact has it", at=START, run=3, findings=(FAULT,))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty stock."""
    return Desk.open(tmp_path)


def names(desk: Desk) -> list[str]:
    """Return the names of the folders, those of posted ones with their parent."""
    found = [path.name for path in desk.sns.iterdir() if path.name not in {"posted", ".highest-number"}]
    return sorted([*found, *(f"posted/{path.name}" for path in (desk.sns / "posted").glob("*"))])


def places(desk: Desk) -> dict[str, Place]:
    """Return where each feature is."""
    return {item.id: item.place for place in Place for item in desk.stock.items(place)}


def age(folder: Path, at: datetime) -> None:
    """Let everything in a folder be last touched at an instant."""
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (at.timestamp(), at.timestamp()))


def test_a_stock_without_a_folder_is_empty(desk: Desk) -> None:
    """Looking makes nothing."""
    assert desk.stock.ready() == ()
    assert desk.stock.take_over() == ()
    assert desk.stock.clean(now=START, keep=timedelta()) == ()
    assert not desk.sns.exists()


def test_a_draft_becomes_ready_by_its_name(desk: Desk) -> None:
    """The folder keeps its content and loses its prefix."""
    draft = desk.stock.new_draft("wrenfold")
    assert names(desk) == ["_draft-feature-0001-wrenfold"]
    feature = make_feature(draft)
    fill(draft, feature)
    ready = desk.stock.promote(draft, allow)
    assert names(desk) == ["feature-0001-wrenfold"]
    assert (ready.place, desk.stock.read(ready), desk.stock.trouble(ready)) == (Place.READY, feature, "")
    assert sorted(path.name for path in ready.folder.iterdir()) == [
        "caption.txt", "feature.json", "qa.json", "slide-1.jpg", "slide-2.jpg"
    ]  # fmt: skip


def test_every_step_of_a_feature(desk: Desk) -> None:
    """Ready, held, ready again, posted."""
    item = desk.put()
    held = desk.stock.hold(item, HOLD)
    assert (names(desk), desk.stock.reason(held)) == (["_held-feature-0001-wrenfold"], HOLD)
    again = desk.stock.release(held)
    assert not (again.folder / "reason.json").exists()
    posted = desk.stock.move_to_posted(again)
    assert names(desk) == ["posted/feature-0001-wrenfold"]
    assert places(desk) == {posted.id: Place.POSTED}


def test_a_feature_for_review_waits_for_a_person(desk: Desk) -> None:
    """It is held from the first moment and ready when it is approved."""
    held = desk.put(hold=REVIEW)
    assert (held.place, desk.stock.reason(held)) == (Place.HELD, REVIEW)
    ready = desk.stock.approve(held)
    assert (ready.place, names(desk)) == (Place.READY, ["feature-0001-wrenfold"])
    assert not (ready.folder / "reason.json").exists()


def test_only_what_waits_for_review_can_be_approved(desk: Desk) -> None:
    """A person's hold is released, not approved; a ready one needs neither."""
    held = desk.stock.hold(desk.put(), HOLD)
    ready = desk.put()
    (ready.folder / "reason.json").write_bytes(msgspec.json.encode(REVIEW))
    for item in (held, ready):
        with pytest.raises(InputError, match="does not wait for review"):
            desk.stock.approve(item)


@pytest.mark.parametrize("place", [Place.DRAFT, Place.HELD, Place.POSTED])
def test_only_a_ready_feature_can_be_held(desk: Desk, place: Place) -> None:
    """The line says what it is."""
    item = bring(desk, place)
    with pytest.raises(InputError, match=f"it is {place.value}, only a ready one can be held"):
        desk.stock.hold(item, HOLD)


@pytest.mark.parametrize("place", [Place.DRAFT, Place.READY, Place.POSTED])
def test_only_a_held_feature_can_be_released(desk: Desk, place: Place) -> None:
    """The line says what it is."""
    item = bring(desk, place)
    with pytest.raises(InputError, match=f"it is {place.value}, only a held one can be released"):
        desk.stock.release(item)


def bring(desk: Desk, place: Place) -> StockItem:
    """Return a feature in a place."""
    if place is Place.DRAFT:
        return desk.stock.new_draft("wrenfold")
    item = desk.put()
    if place is Place.HELD:
        return desk.stock.hold(item, HOLD)
    return desk.stock.move_to_posted(item) if place is Place.POSTED else item


def test_a_posted_feature_is_never_dropped(desk: Desk) -> None:
    """It is the record of what went out."""
    item = bring(desk, Place.POSTED)
    with pytest.raises(InputError, match="kept as the record"):
        desk.stock.drop(item)
    assert names(desk) == ["posted/feature-0001-wrenfold"]


@pytest.mark.parametrize("place", [Place.DRAFT, Place.READY, Place.HELD])
def test_everything_else_can_be_dropped(desk: Desk, place: Place) -> None:
    """Nothing of it is left."""
    desk.stock.drop(bring(desk, place))
    assert names(desk) == []


def test_a_drop_that_was_killed_leaves_no_half_that_counts(desk: Desk) -> None:
    """What was on its way out is never a feature again, is no obstacle, and is cleaned away."""
    item = desk.put()
    gone = item.folder.rename(desk.sns / f".removed-{item.folder.name}")
    (gone / "feature.json").unlink()
    assert places(desk) == {}
    item.folder.mkdir()
    desk.stock.drop(desk.stock.find(item.id))
    assert names(desk) == []
    gone.mkdir()
    (gone / "slide-1.jpg").touch()
    assert desk.stock.clean(now=START, keep=timedelta(days=30)) == ()
    assert names(desk) == []


def test_dropping_what_is_gone_says_so(desk: Desk) -> None:
    """A person was quicker."""
    item = desk.put()
    desk.stock.drop(item)
    with pytest.raises(DiskError):
        desk.stock.drop(item)


@pytest.mark.parametrize(
    "name",
    [
        "feature-1-x", "feature-0001", "feature-0001-", "feature-0001-X", "feature-0001-x y", "Feature-0001-x",
        "_draft-_held-feature-0001-x", "draft-feature-0001-x", "_Draft-feature-0001-x", ".removed-feature-0001-x",
        "feature-0001-x.bak", "feature-0001-x ", "feature-0001-é", "feature-٠٠٠١-x", "x" * 200,
        "feature-1234567890-x",
        "_draft-feature-999999999999-x", "feature-9999999999999-x",
        ".tmp-feature-0001-x", "notes", "🫖", "feature-0001-x\n",
    ],
)  # fmt: skip
def test_names_that_are_not_ours_are_ignored(desk: Desk, name: str) -> None:
    """Whatever a person keeps beside the features stays and counts for nothing."""
    (desk.sns / name).mkdir(parents=True)
    assert places(desk) == {}
    with pytest.raises(InputError, match="there is none of that id"):
        desk.stock.find("feature-0001-x")
    desk.stock.clean(now=START + timedelta(days=9999), keep=timedelta())
    assert desk.put().number == 1
    assert (desk.sns / name).exists() or name.startswith(".removed-")


def test_a_file_with_a_features_name_is_not_ours(desk: Desk) -> None:
    """A feature is a folder."""
    desk.sns.mkdir(parents=True)
    (desk.sns / "feature-0001-x").touch()
    assert places(desk) == {}


def test_held_and_draft_names_among_the_posted_are_not_ours(desk: Desk) -> None:
    """What is posted has no other state."""
    (desk.sns / "posted" / "_draft-feature-0001-x").mkdir(parents=True)
    assert places(desk) == {}


def test_a_link_to_a_feature_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    """What lies elsewhere is neither counted nor deleted."""
    item = desk.put()
    elsewhere = item.folder.rename(tmp_path / "elsewhere")
    (desk.sns / "feature-0001-wrenfold").symlink_to(elsewhere)
    (desk.sns / "_draft-feature-0002-wrenfold").symlink_to(elsewhere)
    assert places(desk) == {}
    assert desk.stock.clean(now=START + timedelta(days=9999), keep=timedelta()) == ()
    assert (elsewhere / "feature.json").exists()


def test_the_stock_in_the_place_of_a_file_is_one_line(desk: Desk) -> None:
    """The disk's word, with the path."""
    desk.sns.parent.mkdir()
    desk.sns.touch()
    with pytest.raises(DiskError, match="sns"):
        desk.stock.ready()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("_draft-feature-0001-wrenfold", Place.DRAFT),
        ("_held-feature-0001-wrenfold", Place.HELD),
        ("posted/feature-0001-wrenfold", Place.POSTED),
    ],
)
def test_a_person_moves_a_feature_by_renaming_its_folder(desk: Desk, name: str, place: Place) -> None:
    """There and back, without a command of ours."""
    item = desk.put()
    (desk.sns / "posted").mkdir()
    item.folder.rename(desk.sns / name)
    assert places(desk) == {item.id: place}
    (desk.sns / name).rename(item.folder)
    assert places(desk) == {item.id: Place.READY}


def test_a_person_deletes_a_feature(desk: Desk) -> None:
    """It is gone from the stock and remembered as featured."""
    item = desk.put("kirino")
    for path in item.folder.iterdir():
        path.unlink()
    item.folder.rmdir()
    assert desk.stock.ready() == ()
    assert desk.index.last_featured() == {"kirino": 1}


def test_a_feature_under_another_number_is_said_and_not_posted(desk: Desk) -> None:
    """The folder and the manifest must agree."""
    item = desk.put()
    item.folder.rename(desk.sns / "feature-0009-wrenfold")
    (moved,) = desk.stock.ready()
    assert "the folder is named feature-0009-wrenfold, the manifest says feature-0001-wrenfold" in desk.stock.trouble(
        moved
    )
    assert desk.put().number == 10


def test_what_a_person_puts_in_is_indexed(desk: Desk, tmp_path: Path) -> None:
    """A feature from another workspace counts from the next command on."""
    (tmp_path / "other").mkdir()
    foreign = Desk.open(tmp_path / "other").put("kirino", product_ids=(5, 6))
    desk.sns.mkdir(parents=True)
    foreign.folder.rename(desk.sns / foreign.id)
    assert desk.index.last_featured() == {}
    assert desk.stock.take_over() == ()
    assert desk.index.last_featured() == {"kirino": 1}
    assert desk.index.last_used("kirino") == (5, 6)
    assert desk.put().number == 2


def spoil(folder: Path, name: str, content: bytes | None) -> None:
    """Replace a file, or delete it."""
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\xfe", b"[" * 9000, b'{"schema": 2}', b"x" * 4_000_001])
def test_a_broken_manifest_is_said_and_never_counts(desk: Desk, content: bytes | None) -> None:
    """It stays where it is for a person to mend."""
    item = desk.put()
    spoil(item.folder, "feature.json", content)
    trouble = desk.stock.trouble(item)
    assert "feature.json" in trouble
    assert "\n" not in trouble
    again = desk.forget()
    assert again.stock.take_over() == (trouble,)
    assert again.index.known_ids() == frozenset()


def test_a_manifest_of_another_feature_never_counts(desk: Desk) -> None:
    """A copied folder is not a second feature."""
    first, second = desk.put(), desk.put()
    spoil(second.folder, "feature.json", (first.folder / "feature.json").read_bytes())
    assert "the manifest says feature-0001-wrenfold" in desk.stock.trouble(second)


@pytest.mark.parametrize("file", ["../../../secret.jpg", "/etc/hostname", "a/slide-1.jpg", "..", ".", ""])
def test_a_manifest_that_names_a_file_elsewhere_never_counts(desk: Desk, file: str) -> None:
    """Nothing outside a feature's folder is ever posted."""
    item = desk.put()
    feature = make_feature(item)
    slides = (msgspec.structs.replace(feature.slides[0], file=file), feature.slides[1])
    spoil(item.folder, "feature.json", msgspec.json.encode(msgspec.structs.replace(feature, slides=slides)))
    assert desk.stock.trouble(item) != ""


def test_a_missing_slide_is_said(desk: Desk) -> None:
    """A feature without one of its pictures is no feature."""
    item = desk.put()
    (item.folder / "slide-2.jpg").unlink()
    assert desk.stock.trouble(item) == "feature-0001-wrenfold: slide-2.jpg is missing"


def make_pipe(file: Path) -> Path:
    """Put a pipe that nobody writes into."""
    os.mkfifo(file)
    return file


def name_slides(item: StockItem, *files: str, sha256: str = "") -> None:
    """Let the manifest name these files for slides."""
    feature = make_feature(item)
    slides = tuple(msgspec.structs.replace(feature.slides[0], file=file, sha256=sha256) for file in files)
    spoil(item.folder, "feature.json", msgspec.json.encode(msgspec.structs.replace(feature, slides=slides)))


@pytest.mark.parametrize(
    ("spoiled", "trouble"),
    [
        (lambda file: file.write_bytes(b"<html>"), "slide-1.jpg is not a JPEG"),
        (lambda file: file.write_bytes(b""), "slide-1.jpg is not a JPEG"),
        (lambda file: (file.unlink(), file.mkdir()), "slide-1.jpg is not a regular file"),
        (lambda file: (file.unlink(), make_pipe(file)), "slide-1.jpg is not a regular file"),
        (lambda file: (file.unlink(), file.symlink_to("slide-2.jpg")), "slide-1.jpg is not a regular file"),
        (lambda file: os.truncate(file, 30_000_001), "slide-1.jpg cannot be read: this picture is larger than"),
    ],
)
def test_what_is_no_picture_is_no_slide(desk: Desk, spoiled: Callable[[Path], object], trouble: str) -> None:
    """A feature with one such file never goes out."""
    item = desk.put()
    spoiled(item.folder / "slide-1.jpg")
    assert desk.stock.trouble(item).startswith(f"feature-0001-wrenfold: {trouble}")


def test_a_picture_that_was_changed_is_no_slide(desk: Desk) -> None:
    """The manifest knows what was made; what was posted is not looked into any more."""
    item = desk.put()
    name_slides(item, "slide-1.jpg", sha256=hashlib.sha256(JPEG).hexdigest())
    assert desk.stock.trouble(item) == ""
    (item.folder / "slide-1.jpg").write_bytes(JPEG + b"!")
    trouble = "feature-0001-wrenfold: slide-1.jpg is not the picture that was made"
    assert desk.stock.trouble(item) == trouble
    assert [one.trouble for one in desk.stock.examine(Place.READY)] == [trouble]
    desk.stock.move_to_posted(item)
    assert [one.trouble for one in desk.stock.examine(Place.POSTED)] == [""]


def test_a_picture_that_is_named_twice_is_one_too_many(desk: Desk) -> None:
    """No carousel shows one picture twice."""
    item = desk.put()
    name_slides(item, "slide-1.jpg", "slide-2.jpg", "slide-1.jpg")
    assert desk.stock.trouble(item) == "feature-0001-wrenfold: slide-1.jpg is named twice"


@pytest.mark.parametrize("file", ["x" * 300, "a\0b", "\x1b[2J.jpg", "é" * 200])
def test_a_name_no_file_can_have_is_one_line(desk: Desk, file: str) -> None:
    """Never a crash, never what moves a terminal."""
    item = desk.put()
    name_slides(item, file)
    trouble = desk.stock.trouble(item)
    assert trouble.startswith("feature-0001-wrenfold: ")
    assert trouble.isprintable()


@pytest.mark.parametrize(
    "made_at",
    ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:00:00Z"],
)
def test_an_instant_that_no_clock_can_show_is_a_broken_manifest(desk: Desk, made_at: str) -> None:
    """In some time zone it has no date."""
    item = desk.put()
    content = (item.folder / "feature.json").read_text("utf-8")
    spoil(item.folder, "feature.json", re.sub(r'"made_at": ".*?"', f'"made_at": "{made_at}"', content).encode())
    trouble = desk.stock.trouble(item)
    assert "this manifest is broken: " in trouble
    assert "made_at" in trouble
    assert "\n" not in trouble
    assert desk.forget().stock.take_over() == (trouble,)


def test_a_copy_of_a_posted_feature_never_counts(desk: Desk) -> None:
    """Nothing goes out twice because a person copied a folder, also when the database is lost."""
    item = desk.put()
    posted = desk.stock.move_to_posted(item)
    item.folder.mkdir()
    for file in posted.folder.iterdir():
        (item.folder / file.name).write_bytes(file.read_bytes())
    (copy,) = desk.forget().stock.ready()
    assert "among the posted ones already" in desk.stock.trouble(copy)


def test_what_is_there_is_examined_at_once(desk: Desk) -> None:
    """Oldest first, with the manifest where it can be read and the same trouble as each has by itself."""
    whole, broken, poor = (desk.put() for _ in range(3))
    held = desk.stock.hold(desk.put(), HOLD)
    posted = desk.stock.move_to_posted(desk.put())
    (broken.folder / "feature.json").write_text("{")
    (poor.folder / "slide-1.jpg").unlink()
    copy = StockItem(id=posted.id, number=5, place=Place.READY, folder=desk.sns / posted.id)
    shutil.copytree(posted.folder, copy.folder)
    found = desk.stock.examine(Place.READY, Place.HELD)
    assert [one.item for one in found] == [whole, broken, poor, held, copy]
    assert [one.trouble for one in found] == [desk.stock.trouble(one.item) for one in found]
    assert [one.trouble == "" for one in found] == [True, False, False, True, False]
    assert found[0] == Examined(item=whole, feature=desk.stock.read(whole), trouble="")
    assert found[1].feature is None
    assert found[4].trouble == f"{posted.id}: it is among the posted ones already"
    assert [one.trouble for one in desk.stock.examine(Place.POSTED)] == [""]


def test_numbers_never_repeat_within_a_workspace(desk: Desk) -> None:
    """Also after everything was deleted."""
    numbers = []
    for _ in range(3):
        item = desk.put()
        numbers.append(item.number)
        desk.stock.drop(item)
    draft = desk.stock.new_draft("kirino")
    desk.stock.drop(draft)
    assert [*numbers, draft.number, desk.put().number] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("place", list(Place))
def test_numbers_never_repeat_after_the_database_is_lost(desk: Desk, place: Place) -> None:
    """The folders tell, wherever the newest one is."""
    desk.put()
    newest = bring(desk, place)
    assert desk.forget().stock.new_draft("wrenfold").number == newest.number + 1


def test_numbers_never_repeat_after_all_else_is_lost(desk: Desk) -> None:
    """The features' folder keeps the highest one by itself."""
    desk.put()
    desk.stock.drop(desk.put())
    assert desk.forget().put().number == 3


@pytest.mark.parametrize("content", [b"", b"-5", b"many", b"1_0", b"\xff", b"9" * 10, b"1" * 5_000, "٣".encode()])
def test_a_note_that_cannot_be_read_is_written_anew(desk: Desk, content: bytes) -> None:
    """It is a help for bad days, not a condition."""
    desk.put()
    (desk.sns / ".highest-number").write_bytes(content)
    assert desk.forget().put().number == 2
    assert (desk.sns / ".highest-number").read_bytes() == b"2\n"


def test_numbers_that_run_out_are_one_line_and_nothing_is_claimed(desk: Desk) -> None:
    """When the folder with the high number is renamed, all goes on."""
    high = desk.sns / "feature-999999999-x"
    high.mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(InputError, match="the next one would be 1000000000, above 999999999"):
            desk.stock.new_draft("wrenfold")
    assert names(desk) == [high.name]
    high.rename(desk.sns / "feature-0007-x")
    assert desk.put().number == 8


def test_numbers_never_repeat_across_processes(desk: Desk) -> None:
    """Several processes that make drafts at once get numbers of their own."""
    code = """
    import sys
    from pathlib import Path
    from tests.simulators.desk import Desk
    desk = Desk.open(Path(sys.argv[1]))
    for _ in range(15):
        print(desk.stock.new_draft("wrenfold").number, flush=True)
    print("done", flush=True)
    """
    with Child(code, desk.folder) as one, Child(code, desk.folder) as other:
        told = [child.hear() for child in (one, other) for _ in range(16)]
    numbers = [int(line) for line in told if line != "done"]
    assert sorted(numbers) == list(range(1, 31))
    assert len(desk.stock.items(Place.DRAFT)) == 30


def test_a_high_number_put_in_by_hand_is_passed(desk: Desk) -> None:
    """Five digits and more sort by number, not by letter."""
    for number in (9_999, 10_000, 20):
        (desk.sns / f"feature-{number:04}-x").mkdir(parents=True)
    assert [item.number for item in desk.stock.ready()] == [20, 9_999, 10_000]
    assert desk.stock.new_draft("x").id == "feature-10001-x"


@pytest.mark.parametrize("hold", [None, REVIEW])
def test_promote_never_replaces(desk: Desk, hold: Reason | None) -> None:
    """A folder in the place of the new one stays, and the draft too."""
    draft = desk.stock.new_draft("wrenfold")
    feature = make_feature(draft)
    fill(draft, feature)
    other = desk.sns / f"{'_held-' if hold else ''}{draft.id}"
    other.mkdir()
    with pytest.raises(DiskError, match="exists already"):
        desk.stock.promote(draft, allow, hold)
    assert list(other.iterdir()) == []
    assert draft.folder.is_dir()
    assert desk.index.known_ids() == frozenset()


def test_a_run_that_lost_its_lock_does_not_promote(desk: Desk) -> None:
    """The check comes last before the rename."""

    def refuse() -> None:
        raise Fenced("lock")

    draft = desk.stock.new_draft("wrenfold")
    fill(draft, make_feature(draft))
    with pytest.raises(Fenced):
        desk.stock.promote(draft, refuse)
    assert places(desk) == {draft.id: Place.DRAFT}


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.simulators.desk import Desk, fill, make_feature
desk = Desk.open(Path(sys.argv[1]))
item = desk.stock.new_draft("wrenfold")
feature = make_feature(item)
fill(item, feature)
left = int(sys.argv[2])
def trace(frame, event, argument):
    global left
    if event == "line" and frame.f_code.co_filename.endswith(("stock.py", "files.py", "index.py")):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return trace
sys.settrace(trace)
desk.stock.promote(item, lambda: None)
desk.index.remember(feature)
sys.settrace(None)
print("done", left, flush=True)
"""


@pytest.mark.crash
def test_a_promotion_killed_anywhere_leaves_a_draft_or_a_whole_ready_feature(tmp_path: Path) -> None:
    """Sampled over the lines of it; the index is right after the next take-over either way."""
    seen = set()
    for step in (1, 8, 20, 45, 70, 85, 95, 10_000):
        folder = tmp_path / str(step)
        folder.mkdir()
        with Child(KILLED, folder, step) as child:
            code = child.wait()
        assert code == (0 if step == 10_000 else -signal.SIGKILL)
        desk = Desk.open(folder)
        assert desk.stock.take_over() == ()
        (state,) = places(desk).values()
        seen.add(state)
        assert desk.index.last_featured() == ({"wrenfold": 1} if state is Place.READY else {})
        assert all(desk.stock.trouble(item) == "" for item in desk.stock.ready())
        assert desk.put().number == 2
    assert seen == {Place.DRAFT, Place.READY}


def test_a_draft_keeps_what_failed_and_why(desk: Desk) -> None:
    """A person can read it, and so can we."""
    draft = desk.stock.new_draft("wrenfold")
    assert (desk.stock.failure(draft), desk.stock.interrupted()) == (None, (draft,))
    desk.stock.fail(draft, FAILURE)
    assert (desk.stock.failure(draft), desk.stock.interrupted()) == (FAILURE, ())
    assert b'\n  "step": "gate"' in (draft.folder / "failure.json").read_bytes()
    assert b'"code": "number"' in (draft.folder / "failure.json").read_bytes()


def test_a_failed_draft_keeps_no_temporary_files(desk: Desk) -> None:
    """A killed maker may have left a folder of the worker's, and half a file."""
    draft = desk.stock.new_draft("wrenfold")
    (draft.folder / ".tmp-worker" / "scratch").mkdir(parents=True)
    (draft.folder / ".tmp-copy.json.7").touch()
    (draft.folder / "copy.json").touch()
    desk.stock.fail(draft, FAILURE)
    assert sorted(path.name for path in draft.folder.iterdir()) == ["copy.json", "failure.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"x" * 5_000_000])
def test_a_broken_failure_or_reason_says_nothing(desk: Desk, content: bytes) -> None:
    """Reading it never fails."""
    held = desk.stock.hold(desk.put(), HOLD)
    draft = desk.stock.new_draft("wrenfold")
    (held.folder / "reason.json").write_bytes(content)
    (draft.folder / "failure.json").write_bytes(content)
    assert desk.stock.reason(held) is None
    assert desk.stock.failure(draft) is None
    assert desk.stock.release(held).place is Place.READY


def test_old_drafts_are_cleaned_and_younger_ones_kept(desk: Desk) -> None:
    """By when anything in them was last touched; nothing but drafts is ever old."""
    now, keep = START, timedelta(days=30)
    old, young, touched = (desk.stock.new_draft("x") for _ in range(3))
    ready, held = desk.put(), desk.stock.hold(desk.put(), HOLD)
    posted = desk.stock.move_to_posted(desk.put())
    for item in (old, touched, ready, held, posted):
        (item.folder / "photos").mkdir(exist_ok=True)
        (item.folder / "photos" / "a.jpg").touch()
        age(item.folder, now - keep - timedelta(seconds=1))
    age(young.folder, now - keep + timedelta(seconds=1))
    os.utime(touched.folder / "photos" / "a.jpg", (now.timestamp(), now.timestamp()))
    assert desk.stock.clean(now=now, keep=keep) == (old,)
    assert set(places(desk)) == {young.id, touched.id, ready.id, held.id, posted.id}


def test_a_feature_is_found_by_id_and_by_the_name_of_its_folder(desk: Desk) -> None:
    """A person copies what the file manager shows."""
    held = desk.stock.hold(desk.put(), HOLD)
    assert desk.stock.find("feature-0001-wrenfold") == held
    assert desk.stock.find("_held-feature-0001-wrenfold") == held
    for wrong in ("", "feature-0001", "../posted", "1"):
        with pytest.raises(InputError, match="lamplighter stock list shows them"):
            desk.stock.find(wrong)


def test_of_two_folders_of_one_id_a_person_chooses(desk: Desk) -> None:
    """Both are named, each by what finds only it."""
    item = desk.put()
    for name in (f"_held-{item.id}", f"posted/{item.id}"):
        (desk.sns / name).mkdir(parents=True)
    with pytest.raises(InputError) as caught:
        desk.stock.find(item.id)
    folders = (f"_held-{item.id}", f"./{item.id}", f"posted/{item.id}")
    assert f"there are {' and '.join(folders)}" in str(caught.value)
    assert [desk.stock.find(name).place for name in folders] == [Place.HELD, Place.READY, Place.POSTED]


def test_every_folder_of_an_id_is_told(desk: Desk) -> None:
    """A person may have made a second one."""
    item = desk.put()
    (desk.sns / f"_draft-{item.id}").mkdir()
    (desk.sns / "posted").mkdir()
    (desk.sns / "posted" / item.id).mkdir()
    assert {found.place for found in desk.stock.with_id(item.id)} == {Place.DRAFT, Place.READY, Place.POSTED}


@pytest.mark.parametrize(
    "act",
    [
        lambda desk, item: desk.stock.hold(item, HOLD),
        lambda desk, item: desk.stock.move_to_posted(item),
    ],
)
def test_no_move_ever_replaces(desk: Desk, act: Callable[[Desk, StockItem], StockItem]) -> None:
    """Whatever stands in the new place stays."""
    item = desk.put()
    for name in (f"_held-{item.id}", f"posted/{item.id}"):
        (desk.sns / name).mkdir(parents=True)
        (desk.sns / name / "mine.txt").touch()
    with pytest.raises(DiskError, match="exists already"):
        act(desk, item)
    assert item.folder.is_dir()
    assert (desk.sns / f"_held-{item.id}" / "mine.txt").exists()
    assert (desk.sns / "posted" / item.id / "mine.txt").exists()


def test_a_release_that_cannot_be_done_keeps_the_reason(desk: Desk) -> None:
    """A held feature never forgets why."""
    held = desk.stock.hold(desk.put(), HOLD)
    (desk.sns / held.id).mkdir()
    with pytest.raises(DiskError):
        desk.stock.release(held)
    assert desk.stock.reason(held) == HOLD


def test_ids_are_names_a_person_can_sort(desk: Desk) -> None:
    """Four digits and the brand."""
    assert re.fullmatch(r"feature-[0-9]{4}-wrenfold", desk.put().id)


def test_what_the_network_would_refuse_is_no_stock(desk: Desk) -> None:
    """Else a stock would look full of which nothing can ever be posted."""
    item = desk.put()
    strict = Stock(desk.sns, desk.index, lambda caption, files: (f"{len(caption)} letters, {len(files)} files",))
    assert strict.trouble(item) == f"{item.id}: 19 letters, 2 files"
    assert desk.stock.trouble(item) == ""
    assert strict.trouble(desk.stock.move_to_posted(item)) == ""
