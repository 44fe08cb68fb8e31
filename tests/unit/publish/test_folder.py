"""The folder publisher: a post is in the outbox whole or not at all, and its page shows it safely."""

from __future__ import annotations

import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.clock import START
from tests.simulators.desk import JPEG, Desk, make_feature

from lamplighter.errors import DiskError, InputError, NeedsHuman
from lamplighter.featurepost.feature import parse_manifest
from lamplighter.featurepost.stock import Place, StockItem
from lamplighter.publish.folder import FolderPublisher, render_preview
from lamplighter.publish.publisher import Post

SLOT = "2026-05-04-1930"
NAME = f"{SLOT}-feature-0001-wrenfold"
HOSTILE = """<script>alert(1)</script> $title ${count} "quotes" 'single' & </p><img src=x onerror=alert(1)> --> 🫖"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a stock."""
    return Desk.open(tmp_path)


def publisher_of(desk: Desk) -> FolderPublisher:
    """Return a publisher beside the stock."""
    return FolderPublisher(desk.folder / "outbox", desk.clock)


def make_post(desk: Desk) -> Post:
    """Return a post of one ready feature."""
    item = desk.put()
    feature = desk.stock.read(item)
    files = tuple(item.folder / slide.file for slide in feature.slides)
    return Post(slot=SLOT, feature=feature, slide_files=files)


def outbox(desk: Desk) -> list[str]:
    """Return what is in the outbox, hidden names too."""
    return sorted(str(path.relative_to(desk.folder / "outbox")) for path in (desk.folder / "outbox").rglob("*"))


def test_a_post_is_a_folder_with_all_that_belongs_to_it(desk: Desk) -> None:
    """Slides as they are, the caption, the manifest, a page to look at."""
    post, publisher = make_post(desk), publisher_of(desk)
    receipt = publisher.publish(post)
    assert outbox(desk) == [NAME, *(f"{NAME}/{name}" for name in (
        "caption.txt", "feature.json", "preview.html", "slide-1.jpg", "slide-2.jpg"
    ))]  # fmt: skip
    folder = desk.folder / "outbox" / NAME
    assert (folder / "slide-1.jpg").read_bytes() == JPEG
    assert (folder / "caption.txt").read_text("utf-8") == post.feature.caption + "\n"
    assert parse_manifest((folder / "feature.json").read_bytes()) == post.feature
    assert (receipt.id, receipt.location, receipt.published_at) == (NAME, str(folder / "preview.html"), START)
    assert post.slide_files[0].parent.is_dir()


def test_what_is_out_is_found_and_what_is_not_is_not(desk: Desk) -> None:
    """The folder is the proof."""
    post, publisher = make_post(desk), publisher_of(desk)
    assert publisher.find(SLOT, post.feature.id) is None
    receipt = publisher.publish(post)
    found = publisher.find(SLOT, post.feature.id)
    assert found is not None
    assert (found.id, found.location) == (receipt.id, receipt.location)
    assert publisher.find("2026-05-05-1930", post.feature.id) is None
    assert publisher.find(SLOT, "feature-0002-wrenfold") is None


def test_half_a_post_that_a_killed_run_left_is_not_found_and_is_replaced(desk: Desk) -> None:
    """Its name says that it is not one."""
    post, publisher = make_post(desk), publisher_of(desk)
    left = desk.folder / "outbox" / f".tmp-{NAME}"
    left.mkdir(parents=True)
    (left / "slide-9.jpg").write_bytes(b"old")
    assert publisher.find(SLOT, post.feature.id) is None
    publisher.publish(post)
    assert not left.exists()
    assert f"{NAME}/slide-9.jpg" not in outbox(desk)


def test_a_slide_that_is_gone_leaves_nothing(desk: Desk) -> None:
    """The outbox is as it was."""
    post = make_post(desk)
    post.slide_files[1].unlink()
    with pytest.raises(InputError, match=r"slide-2\.jpg"):
        publisher_of(desk).publish(post)
    assert outbox(desk) == []


def test_a_slide_that_is_too_large_leaves_nothing(desk: Desk) -> None:
    """It would not go out on a network either."""
    post = make_post(desk)
    post.slide_files[0].write_bytes(b"x" * 8_000_001)
    with pytest.raises(InputError, match="larger than"):
        publisher_of(desk).publish(post)
    assert outbox(desk) == []


def test_a_post_that_is_there_is_never_replaced(desk: Desk) -> None:
    """And nothing is left beside it."""
    post, publisher = make_post(desk), publisher_of(desk)
    publisher.publish(post)
    (desk.folder / "outbox" / NAME / "caption.txt").write_text("mine")
    before = outbox(desk)
    with pytest.raises(NeedsHuman, match="it is in the way and is not this post; move it away and post again"):
        publisher.publish(post)
    assert outbox(desk) == before
    assert (desk.folder / "outbox" / NAME / "caption.txt").read_text() == "mine"


def test_the_outbox_recalls_what_is_whole_under_a_posts_name(desk: Desk) -> None:
    """Not what a killed run was still writing, what only has the name, what is known, or what is not ours."""
    post, publisher = make_post(desk), publisher_of(desk)
    assert publisher.recall(besides=frozenset()) == ()
    publisher.publish(post)
    folder = desk.folder / "outbox"
    shutil.copytree(folder / NAME, folder / f".tmp-{NAME}")
    shutil.copytree(folder / NAME, folder / f"copy of {NAME}")
    (folder / f"{SLOT}-feature-0002-kirino").mkdir()
    (folder / "notes.txt").write_text("mine")
    (recalled,) = publisher.recall(besides=frozenset())
    assert (recalled.slot, recalled.feature_id) == (SLOT, post.feature.id)
    assert publisher.recall(besides=frozenset({post.feature.id})) == ()


def test_a_post_that_lacks_a_file_is_no_proof(desk: Desk) -> None:
    """Only a whole folder of this very feature is."""
    post, publisher = make_post(desk), publisher_of(desk)
    publisher.publish(post)
    assert publisher.find(SLOT, post.feature.id) is not None
    (desk.folder / "outbox" / NAME / "slide-2.jpg").unlink()
    assert publisher.find(SLOT, post.feature.id) is None


def test_an_outbox_that_cannot_be_made_is_one_line(desk: Desk) -> None:
    """The disk's word, with the path."""
    post = make_post(desk)
    (desk.folder / "outbox").touch()
    with pytest.raises(DiskError, match="outbox"):
        publisher_of(desk).publish(post)


def test_a_dry_run_names_every_file(desk: Desk) -> None:
    """And makes none."""
    post = make_post(desk)
    target = desk.folder / "outbox" / NAME
    assert publisher_of(desk).describe(post) == (f"make {target}", *(f"write {target / name}" for name in (
        "slide-1.jpg", "slide-2.jpg", "caption.txt", "feature.json", "preview.html"
    )))  # fmt: skip
    assert not (desk.folder / "outbox").exists()


class Page(HTMLParser):
    """What a browser would see: pictures with their words, scripts, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.images: list[tuple[str, str]] = []
        self.tags: list[str] = []
        self.text = ""
        self.handlers: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        known = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.handlers.extend(name for name in known if name.startswith("on"))
        if tag == "img":
            self.images.append((known["src"], known["alt"]))

    def handle_data(self, data: str) -> None:
        """Gather the text."""
        self.text += data


ITEM = StockItem(id="feature-0001-wrenfold", number=1, place=Place.READY, folder=Path("x"))
PLAIN = Page(render_preview(make_feature(ITEM, alts=("A",) * 4)))


def test_the_page_names_every_slide_with_its_words() -> None:
    """One dot for each, and the count."""
    page = render_preview(make_feature(ITEM, alts=("A bowl.", "A mug.", "A vase.")))
    assert Page(page).images == [("slide-1.jpg", "A bowl."), ("slide-2.jpg", "A mug."), ("slide-3.jpg", "A vase.")]
    assert Page(page).tags.count("i") == 3
    assert ">1/3<" in page


def test_the_page_loads_nothing_from_elsewhere() -> None:
    """It can be opened from the disk, without a network."""
    page = render_preview(make_feature(ITEM))
    assert "://" not in page
    assert "${" in page
    assert "$title" not in page


def test_line_breaks_of_the_caption_stay() -> None:
    """A caption has paragraphs."""
    assert "one<br><br>two" in render_preview(make_feature(ITEM, caption="one\n\ntwo"))


def test_hostile_text_is_only_text() -> None:
    """In title, name, caption and descriptions."""
    feature = make_feature(ITEM, title=HOSTILE, caption=HOSTILE, brand_name=HOSTILE, alts=(HOSTILE,) * 4)
    page = Page(render_preview(feature))
    assert page.tags == PLAIN.tags
    assert page.handlers == []
    assert page.images[0][1] == HOSTILE
    assert page.text.count(HOSTILE) == 4
    assert "$title" in page.text


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_no_text_ever_becomes_markup(caption: str, alt: str) -> None:
    """Whatever a shop wrote."""
    feature = make_feature(ITEM, title=alt, caption=caption, brand_name=caption, alts=(alt,) * 4)
    page = Page(render_preview(feature))
    assert [tag for tag in page.tags if tag != "br"] == PLAIN.tags
    assert page.handlers == []


def test_a_slide_with_a_hostile_name_is_only_a_name() -> None:
    """Names come from a manifest, which a person may have changed."""
    feature = make_feature(ITEM)
    slide = msgspec.structs.replace(feature.slides[0], file='"><script>.jpg')
    page = Page(render_preview(msgspec.structs.replace(feature, slides=(slide,))))
    assert page.images == [('"><script>.jpg', "A bowl.")]


def test_an_emoji_brand_has_a_face_too() -> None:
    """And one without letters does no harm."""
    for name in ("🫖 Tea", "きりの", ""):
        assert f"<b>{name}</b>" in render_preview(make_feature(ITEM, brand_name=name))


def test_the_slot_and_the_feature_name_the_folder(desk: Desk) -> None:
    """Another slot is another folder."""
    post, publisher = make_post(desk), publisher_of(desk)
    publisher.publish(post)
    publisher.publish(replace(post, slot=f"{SLOT}-extra1"))
    assert {name for name in outbox(desk) if "/" not in name} == {NAME, f"{SLOT}-extra1-feature-0001-wrenfold"}
