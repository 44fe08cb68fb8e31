"""Templates by the real worker: what is broken is one line with its place, what does not fit is named, all is drawn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image
from tests.unit.featurepost.slides.studio import StudioRunner

from lamplighter.errors import FailureClass, LamplighterError
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_check import check_template
from lamplighter.featurepost.slides.template_folder import copy_template, find_template
from lamplighter.featurepost.slides.template_report import CheckReport

SMALL_SETTINGS = """\
contract = 1
size = [216, 270]
fonts = ["Inter", "Noto Sans JP"]
[theme]
ink = "#111111"
paper = "#ffffff"
accent = "#aa2200"
on_accent = "#ffffff"
[roles.cover]
photo = [216, 100]
text = { kicker = 10, title = 20, subtitle = 20 }
[roles.product]
photo = [216, 100]
text = { name = 20, price = 14, note = 30 }
[roles.detail]
text = { title = 20, body = 30 }
[roles.closing]
text = { title = 20, body = 20 }
"""
SMALL_SLIDES = """\
#import "/lib/lamp.typ": *
#let words(f) = fit(f, height: 80*px, hi: 20*px, lo: 6*px)
#let cover(s, c) = { place(photo(s,c)); words(s.title); words(s.subtitle); line-of-text(s.kicker, hi: 12*px, lo: 5*px) }
#let product(s, c) = { place(photo(s, c)); words(s.name); words(s.note); line-of-text(s.price, hi: 12*px, lo: 5*px) }
#let detail(s, c) = { words(s.title); words(s.body) }
#let closing(s, c) = { words(s.title); words(s.body); line-of-text(c.brand.handle, hi: 12*px, lo: 5*px) }
"""


def _check(templates_dir: Path, *, seconds: float = 60) -> CheckReport:
    renderer = Renderer(runner=StudioRunner(), deadline=timedelta(seconds=seconds))
    return check_template(find_template("mine", templates_dir), renderer, templates_dir / "sheet.jpg")


def _change(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / file).read_text("utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), "utf-8")

    return change


def _append(line: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with (folder / "slides.typ").open("a", encoding="utf-8") as stream:
            stream.write(line)

    return change


LOOP = "#let cover(s, c) = for a in range(9999999) { for b in range(9999999) { let x = a } }"
BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "a name that is none": (_change("slides.typ", "words(s.title);", "foo;"), "slides.typ:3: unknown variable: foo"),
    "a text that is none": (
        _change("slides.typ", "words(s.body) }", "words(s.bodi) }"),
        'slides.typ:5: dictionary does not contain key "bodi"',
    ),
    "a bracket left open": (_append("#let more = [a\n"), "slides.typ:7: unclosed delimiter"),
    "a helper misused": (
        _change("slides.typ", "hi: 12*px, lo: 5*px", "hi: 12, lo: 5*px"),
        "slides.typ:3: hi must be a size like 40*px",
    ),
    "a colour that is none": (
        _change("slides.typ", "hi: 20*px", 'fill: "red", hi: 20*px'),
        "slides.typ:2: expected ",
    ),
    "a photo for a text": (_change("slides.typ", "words(s.title)", "words(s.photo)"), "slides.typ:2: this is no text"),
    "no function for a role": (
        _change("slides.typ", "#let detail(", "#let details("),
        "slides.typ: there is no function detail(s, c)",
    ),
    "a function of one value": (
        _change("slides.typ", "#let detail(s, c)", "#let detail(s)"),
        "slides.typ: the function of a role takes two values, (s, c)",
    ),
    "a page too many": (_append("#let closing(s, c) = [a #pagebreak() b]"), "slides.typ:7: pagebreaks are not allowed"),
    "another page size": (
        _append("#let closing(s, c) = { set page(width: 9pt); [a] }"),
        "slides.typ:7: page configuration is not allowed",
    ),
    "a picture that is not there": (
        _append('#let closing(s, c) = image("logo.png")'),
        "slides.typ:7: there is no logo.png",
    ),
    "a file outside": (_append('#let closing(s, c) = raw(read("../../x"))'), "slides.typ:7: "),
    "a letter no font has": (_append("#let closing(s, c) = [한]"), "slides.typ:7: no font has 한 (U+D55C); put a font"),
    "a font that is not there": (_change("template.toml", '"Inter"', '"Helvetica"'), "there is no font Helvetica"),
    "an endless loop": (_append(LOOP), "slides took longer than 2 s; look for an endless loop in it"),
    "an endless recursion": (
        _append("#let closing(s, c) = closing(s, c)"),
        "slides.typ:7: maximum function call depth",
    ),
    "eval": (_append("#let closing(s, c) = eval(s.title.text)"), "slides.typ:7: it calls eval"),
    "a package": (_append('#import "@preview/cetz:0.3.0"'), "slides.typ:7: it takes a package from the network"),
    "a package by a trick": (_append('#import "@" + "preview/cetz:0.3.0": *'), "slides.typ:7: "),
    "a link": (lambda folder: (folder / "a.png").symlink_to("/etc/passwd"), "a.png is a symbolic link"),
    "no slides.typ": (lambda folder: (folder / "slides.typ").unlink(), "there is no slides.typ in it"),
    "broken settings": (_change("template.toml", "[theme]", "[theme"), "template.toml:4: this is not TOML"),
    "a key that is none": (_change("template.toml", "body = 30", "bodi = 30"), "template.toml:16: unknown key 'bodi'"),
    "colours that hide words": (
        _change("template.toml", "#111111", "#eeeeee"),
        "template.toml:5: the theme's ink #eeeeee on paper",
    ),
}


@pytest.fixture
def mine_dir(tmp_path: Path) -> Path:
    """Return the folder of a small template that shows every role."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "template.toml").write_text(SMALL_SETTINGS, "utf-8")
    (folder / "slides.typ").write_text(SMALL_SLIDES, "utf-8")
    return folder


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_is_one_line_with_its_place(kind: str, mine_dir: Path) -> None:
    """It names the template, the file and the line where they are known, is of class config, and leaves no sheet."""
    breakage, words = BROKEN[kind]
    breakage(mine_dir)
    with pytest.raises(LamplighterError) as caught:
        _check(mine_dir.parent, seconds=2 if kind == "an endless loop" else 60)
    line = str(caught.value)
    assert line.startswith(f"template mine: {words}")
    assert "\n" not in line
    assert "Traceback" not in line
    assert str(mine_dir.parent) not in line
    assert "/tmp" not in line
    assert caught.value.failure is FailureClass.CONFIG
    assert [file.name for file in mine_dir.parent.iterdir()] == ["mine"]


def test_a_sound_template_is_drawn_with_every_fixture(mine_dir: Path) -> None:
    """Emoji, Japanese and odd photos included; what no font has is a remark and its slides are left out."""
    report = _check(mine_dir.parent)
    assert report.problems == ()
    assert [line.partition(":")[0] for line in report.remarks if "not shown" in line] == [
        "right to left, Arabic",
        "right to left, Hebrew",
    ]
    assert report.slides == 88
    with Image.open(report.sheet_file) as image:
        assert image.width > 8 * 216


def test_words_within_its_own_limits_that_do_not_fit_are_named(mine_dir: Path) -> None:
    """A box of 12 pixels for a title of 20 letters: fixture, slide, text, pixels."""
    _change("slides.typ", "words(s.title); words(s.subtitle)", "fit(s.title, height: 12*px, hi: 20*px, lo: 18*px)")(
        mine_dir
    )
    report = _check(mine_dir.parent)
    assert "words at the limits, English: cover: the title 'Wonderful stoneware" in "\n".join(report.problems)
    assert all(": cover: the title " in line and " more than there are" in line for line in report.problems)


def test_a_copy_of_a_built_in_template_needs_no_mending(tmp_path: Path) -> None:
    """What a person starts from is sound."""
    copy_template("editorial", "mine", tmp_path)
    assert _check(tmp_path).problems == ()
