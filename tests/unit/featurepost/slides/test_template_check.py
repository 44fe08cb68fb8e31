"""A check draws every fixture, tells apart what must be mended and what is worth knowing, and writes one sheet."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PIL import Image
from tests.simulators.artist import FlatArtist
from tests.simulators.child import files_of_at_most
from tests.unit.featurepost.slides.studio import write_template

from lamplighter.errors import DiskError, UsageError
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.carousel import Carousel, RenderError, TemplateBroken, Trouble
from lamplighter.featurepost.slides.fixture import FIXTURES
from lamplighter.featurepost.slides.template_check import check_template
from lamplighter.featurepost.slides.template_folder import find_template

TRIALS = sum(len(fixture.scripts) for fixture in FIXTURES)
LONG_TITLE = 44


def _trouble(*, broken: bool = False) -> Trouble:
    return Trouble(slide=2, field="note", text="many words " * 20, size=20, needed=182.2, limit=138, broken=broken)


def _is_long(carousel: Carousel) -> bool:
    return len(carousel.slides[0].text.title) >= LONG_TITLE


def test_a_template_that_shows_all_has_nothing_to_mend(tmp_path: Path) -> None:
    """Every fixture in each script, every role, is on the one sheet; nothing else is written."""
    artist = FlatArtist()
    report = check_template(find_template("default"), artist, tmp_path / "sheet.jpg")
    assert (report.problems, report.remarks) == ((), ())
    assert len(artist.carousels) == TRIALS
    assert report.slides == 4 * TRIALS - 2  # no product without a photo
    assert [file.name for file in tmp_path.iterdir()] == ["sheet.jpg"]
    with Image.open(report.sheet_file) as image:
        assert image.format == "JPEG"
        assert image.width > 8 * 270
        assert image.height > len(FIXTURES) * 338


def test_what_does_not_fit_at_the_limits_is_to_be_mended(tmp_path: Path) -> None:
    """The line names fixture, script, slide and text, and by how much; the sheet is written all the same."""
    artist = FlatArtist(judge=lambda carousel: (_trouble(),) if _is_long(carousel) else ())
    report = check_template(find_template("default"), artist, tmp_path / "sheet.png")
    line = (
        "words at the limits, English: product: the note 'many words many words many words many wo…'"
        " needs 182 pixels, 45 more than there are"
    )
    assert report.problems == (line, line.replace("English", "Japanese"))
    assert [remark.partition(":")[0] for remark in report.remarks] == [
        "words beyond them, English",
        "words beyond them, Japanese",
    ]
    with Image.open(tmp_path / "sheet.png") as image:
        assert image.format == "PNG"


def test_a_word_that_is_cut_says_so(tmp_path: Path) -> None:
    """Its pixels would say nothing."""
    artist = FlatArtist(judge=lambda carousel: (_trouble(broken=True),) if _is_long(carousel) else ())
    report = check_template(find_template("default"), artist, tmp_path / "sheet.jpg")
    assert report.problems[0].endswith("has a word too long for its place")


@pytest.mark.parametrize("letter", ["אأ", "朝"])
def test_letters_of_another_script_that_no_font_has_are_a_remark(letter: str, tmp_path: Path) -> None:
    """Those slides are not shown, the others are; a shop may need the one and not the other."""
    report = check_template(find_template("default"), FlatArtist(unknown=letter), tmp_path / "sheet.jpg")
    assert report.problems == ()
    assert report.slides < 4 * TRIALS - 2
    for line in report.remarks:
        assert ": not shown: no font has " in line
        assert line.endswith("; put a font that has them into fonts/")


def test_english_letters_that_no_font_has_are_to_be_mended(tmp_path: Path) -> None:
    """The fixtures' fonts cannot even show those."""
    report = check_template(find_template("default"), FlatArtist(unknown="aeiou"), tmp_path / "sheet.jpg")
    assert report.problems[0] == (
        "usual words, English: not shown: no font has a (U+0061) e (U+0065) i (U+0069) o (U+006F) and 1 more"
    )


def test_a_role_that_is_not_there_is_to_be_mended(tmp_path: Path) -> None:
    """A feature with such a slide could not be made; texts without a limit are a remark."""
    write_template(tmp_path)
    report = check_template(find_template("plain", tmp_path), FlatArtist(), tmp_path / "sheet.jpg")
    assert report.problems == tuple(
        f"there is no [roles.{role.value}]: a feature with such a slide cannot be made"
        for role in (Role.PRODUCT, Role.DETAIL, Role.CLOSING)
    )
    assert report.remarks[0] == "no limit is named for cover.kicker: no writer knows how long it may be"


def test_what_typst_remarks_is_said_once(tmp_path: Path) -> None:
    """However many fixtures it was said of."""
    report = check_template(find_template("default"), FlatArtist(notes=("unknown font",)), tmp_path / "sheet.jpg")
    assert report.remarks == ("unknown font",)


def _break(carousel: Carousel) -> tuple[Trouble, ...]:
    del carousel
    raise TemplateBroken("template default", "slides.typ:3: unknown variable: foo")


def test_a_broken_template_is_told_at_the_first_fixture(tmp_path: Path) -> None:
    """As one line, and no sheet is written, nor an earlier one touched."""
    (tmp_path / "sheet.jpg").write_bytes(b"earlier")
    artist = FlatArtist(judge=_break)
    with pytest.raises(TemplateBroken) as caught:
        check_template(find_template("default"), artist, tmp_path / "sheet.jpg")
    assert str(caught.value) == "template default: slides.typ:3: unknown variable: foo"
    assert len(artist.carousels) == 1
    assert (tmp_path / "sheet.jpg").read_bytes() == b"earlier"


def test_a_template_that_breaks_only_on_some_words_names_them(tmp_path: Path) -> None:
    """What broke it is in the line; the trials that have not begun are not waited for."""
    artist = FlatArtist(judge=lambda carousel: _break(carousel) if _is_long(carousel) else ())
    before = {*threading.enumerate()}
    with pytest.raises(TemplateBroken, match=r"unknown variable: foo \(with words at the limits, (English|Japanese)\)"):
        check_template(find_template("default"), artist, tmp_path / "sheet.jpg")
    assert list(tmp_path.iterdir()) == []
    assert {*threading.enumerate()} <= before


def test_any_other_trouble_is_told_as_it_is(tmp_path: Path) -> None:
    """A worker that was killed is no fault of the template."""

    def fail(carousel: Carousel) -> tuple[Trouble, ...]:
        del carousel
        raise RenderError("template default", "the slide worker was ended by SIGKILL")

    with pytest.raises(RenderError) as caught:
        check_template(find_template("default"), FlatArtist(judge=fail), tmp_path / "sheet.jpg")
    assert type(caught.value) is RenderError


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("sheet.gif", "a sheet is a picture"),
        ("sheet", "a sheet is a picture"),
        ("folder.jpg", "this is a folder"),
        ("nowhere/sheet.jpg", "its folder is not there"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_anything_is_drawn(name: str, cause: str, tmp_path: Path) -> None:
    """Nobody waits ten seconds to be told of a name."""
    (tmp_path / "folder.jpg").mkdir()
    artist = FlatArtist()
    with pytest.raises(UsageError, match=cause):
        check_template(find_template("default"), artist, tmp_path / name)
    assert artist.carousels == []


def test_a_sheet_that_does_not_fit_on_the_disk_leaves_the_earlier_one(tmp_path: Path) -> None:
    """Nothing half-written, no temporary file."""
    (tmp_path / "sheet.jpg").write_bytes(b"earlier")

    with files_of_at_most(50_000), pytest.raises(DiskError):
        check_template(find_template("default"), FlatArtist(), tmp_path / "sheet.jpg")
    assert [file.name for file in tmp_path.iterdir()] == ["sheet.jpg"]
