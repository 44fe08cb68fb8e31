"""template new, check and preview through the installed program: from a copy to pictures, and every refusal a line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image
from tests.acceptance.program import run, snapshot

SMALL = """\
contract = 1
size = [216, 270]
fonts = ["Inter", "Noto Sans JP"]
[theme]
ink = "#111111"
paper = "#ffffff"
accent = "#aa2200"
on_accent = "#ffffff"
[roles.cover]
text = { kicker = 9, title = 20, subtitle = 20 }
[roles.product]
text = { name = 20, price = 14, note = 20 }
[roles.detail]
text = { title = 20, body = 20 }
[roles.closing]
text = { title = 20, body = 20 }
"""
SLIDES = """\
#import "/lib/lamp.typ": *
#let words(f) = fit(f, height: 80*px, hi: 20*px, lo: 6*px)
#let cover(s, c) = { words(s.title); words(s.subtitle); words(s.kicker) }
#let product(s, c) = { words(s.name); words(s.note); words(s.price) }
#let detail(s, c) = { words(s.title); words(s.body) }
#let closing(s, c) = { words(s.title); words(s.body); words(c.brand.handle) }
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace of the sample brands with a small template `mine` that is quick to draw."""
    folder = tmp_path / "workspace"
    assert run("init", folder, "--shop", "sample").code == 0
    assert run("template", "new", "mine", "--workspace", folder).code == 0
    (folder / "templates/mine/template.toml").write_text(SMALL, "utf-8")
    (folder / "templates/mine/slides.typ").write_text(SLIDES, "utf-8")
    return folder


def test_a_template_of_ones_own_from_copy_to_sheet(tmp_path: Path) -> None:
    """The new one says what to edit and what to type; typed so, all fits and the sheet is where it says."""
    folder = tmp_path / "workspace"
    run("init", folder, "--shop", "sample")
    made = run("template", "new", "mine", "--from", "editorial", cwd=folder)
    assert (made.code, made.err) == (0, "")
    assert made.out.splitlines()[0] == "A template: templates/mine, a copy of editorial"
    (command,) = [line for line in made.out.splitlines() if line.startswith("Next: lamplighter ")]
    checked = run(*command.split()[2:], cwd=folder)
    assert (checked.code, checked.err) == (0, "")
    last = checked.out.splitlines()[-1]
    assert last == "template mine: all that must fit fits; 86 slides on template-check-mine.jpg"
    with Image.open(folder / "template-check-mine.jpg") as image:
        assert (image.format, image.width > 2000, image.height > 4000) == ("JPEG", True, True)
    listed = run("template", "list", cwd=folder)
    assert [line.split(maxsplit=1) for line in listed.out.splitlines()] == [
        ["default", "built in"],
        ["editorial", "built in"],
        ["mine", "templates/mine"],
    ]


def test_a_check_writes_its_sheet_and_nothing_else(workspace: Path, tmp_path: Path) -> None:
    """Neither state nor lock nor anything beside: the workspace is as it was."""
    before = snapshot(workspace)
    sheet = tmp_path / "sheet.png"
    told = run("template", "check", "mine", "--output", sheet, "--json", "--workspace", workspace)
    assert told.code == 0
    value = told.value()
    assert (value["sheet"], value["slides"], value["problems"]) == (str(sheet), 88, [])
    assert snapshot(workspace) == before
    assert sheet.stat().st_size > 10_000


def test_words_within_the_limits_that_do_not_fit_end_with_65(workspace: Path) -> None:
    """The list is told, and in JSON too; the sheet is there to look at."""
    text = SLIDES.replace("words(s.name)", "fit(s.name, height: 9*px, hi: 12*px, lo: 12*px)")
    (workspace / "templates/mine/slides.typ").write_text(text, "utf-8")
    told = run("template", "check", "mine", "--json", "--workspace", workspace)
    assert told.code == 65
    problems = told.value()["problems"]
    assert isinstance(problems, list)
    assert any(str(line).startswith("words at the limits, English: product: the name ") for line in problems)
    assert (workspace / "template-check-mine.jpg").is_file()


def test_a_broken_template_is_one_line(workspace: Path) -> None:
    """With file and line, 65, and no sheet."""
    with (workspace / "templates/mine/slides.typ").open("a", encoding="utf-8") as stream:
        stream.write("\n#let cover(s, c) = foo\n")
    for command in (("check", "mine"), ("preview", "mine")):
        told = run("template", *command, "--workspace", workspace)
        assert (told.code, told.out) == (65, "")
        assert told.err == (
            "lamplighter: template mine: slides.typ:8: unknown variable: foo; correct it and run again\n"
        )
    assert list(workspace.glob("template-*")) == []


@pytest.mark.parametrize(
    ("words", "code", "cause"),
    [
        (("new", "mine"), 66, "it is there already and is not overwritten"),
        (("new", "default"), 64, "would take the built-in one's place"),
        (("new", "../evil"), 64, "this cannot be its name"),
        (("new", "other", "--from", "editoral"), 65, "did you mean 'editorial'?"),
        (("check", "minne"), 65, "did you mean 'mine'?"),
        (("check", "mine", "--output", "sheet.gif"), 64, "a sheet is a picture"),
        (("preview", "mine", "--brand", "nobody"), 66, "known are wrenfold, kirino"),
        (("preview", "mine", "--output", "templates"), 66, "it holds other things than a preview"),
        (("preview",), 64, "NAME"),
    ],
)
def test_every_refusal_is_one_line(words: tuple[str, ...], code: int, cause: str, workspace: Path) -> None:
    """With its exit code, and nothing in the workspace has changed."""
    before = snapshot(workspace)
    told = run("template", *words, cwd=workspace)
    assert (told.code, told.out, told.err.count("\n")) == (code, "", 1)
    assert cause in told.err
    assert snapshot(workspace) == before


def test_a_preview_shows_the_newest_feature_and_leaves_the_stock_alone(stocked: Path) -> None:
    """Its slides in the other template, with the shop's photos; everything else in the workspace is as it was."""
    before = snapshot(stocked)
    told = run("template", "preview", "editorial", "--brand", "kirino", "--json", "--workspace", stocked)
    assert told.code == 0
    value = told.value()
    assert (value["feature"], value["remarks"]) == ("feature-0002-kirino", [])
    folder = stocked / "template-preview-editorial-kirino"
    slides = len(list((stocked / "content/sns/feature-0002-kirino").glob("slide-*.jpg")))
    assert len(list(folder.glob("slide-*.jpg"))) == slides
    assert (folder / "sheet.jpg").is_file()
    shutil.rmtree(folder)
    after = snapshot(stocked)
    assert {name: entry for name, entry in after.items() if name != "."} == {
        name: entry for name, entry in before.items() if name != "."
    }


def test_a_preview_without_the_shop_says_so(stocked: Path) -> None:
    """The words are the feature's, the photos the sample's."""
    (stocked / "shop").unlink()
    told = run("template", "preview", "default", "--brand", "wrenfold", "--workspace", stocked)
    assert told.code == 0
    assert "remark: sample photos from slide 1 on: " in told.out


def test_a_preview_of_a_brand_without_a_feature_is_in_its_name(workspace: Path) -> None:
    """The first brand when none is named, as none has the template."""
    told = run("template", "preview", "mine", cwd=workspace)
    assert told.code == 0
    assert told.out.startswith("template mine, brand wrenfold, made-up words: template-preview-mine-wrenfold\n")
    assert "remark: wrenfold has no feature yet: words and photos are made up" in told.out
    again = run("template", "preview", "mine", cwd=workspace)
    assert again.code == 0
