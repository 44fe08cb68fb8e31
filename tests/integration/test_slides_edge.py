"""A text that leaves its page is trouble, by the real worker; one that only touches the edge is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.featurepost.slides.studio import (
    SETTINGS,
    StudioRunner,
    carousel_of,
    slide,
    write_template,
)

from lamplighter.errors import InputError
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.carousel import TemplateBroken
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_check import check_template
from lamplighter.featurepost.slides.template_folder import copy_template, find_template

LINE = "line-of-text(s.title, hi: 40*px)"
FIT = "fit(s.title, height: 60*px, hi: 40*px)"


def _judge(code: str, title: str, tmp_path: Path) -> list[str]:
    """Return what is wrong with two slides of a page of 320 by 400, the second with this title."""
    write_template(tmp_path, slides=f'#import "/lib/lamp.typ": *\n#let cover(s, c) = {code}\n')
    carousel = carousel_of(slide(Role.COVER), slide(Role.COVER, title=title))
    made = Renderer(runner=StudioRunner()).render(carousel, find_template("plain", tmp_path), tmp_path / "out")
    return [str(trouble) for trouble in made.fit]


@pytest.mark.parametrize("text", [LINE, FIT])
@pytest.mark.parametrize("title", ["Tea pot", "朝の一杯"])
def test_a_text_at_the_edge_is_no_trouble(text: str, title: str, tmp_path: Path) -> None:
    """In each corner, turned and made smaller, and in a pill."""
    places = ("top + left", "top + right", "bottom + left", "bottom + right")
    shown = (text, f"rotate(-90deg, reflow: true, block(width: 200*px, {text}))", f"scale(50%, reflow: true, {text})")
    code = [f"place({place}, block(width: 300*px, {one}))" for place in places for one in shown]
    code.append("place(bottom + right, pill(red, line-of-text(s.title, hi: 20*px)))")
    assert _judge(f"{{ {'; '.join(code)} }}", title, tmp_path) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (f"place(bottom + left, dy: 10*px, {LINE})", "10 pixels at the bottom"),
        (f"place(top + left, dy: -12.5*px, {LINE})", "13 pixels at the top"),
        (f"place(top + left, dx: -9*px, {LINE})", "9 pixels at the left"),
        (f"place(top + left, dx: 250*px, block(width: 100*px, {FIT}))", "30 pixels at the right"),
        (f"place(top + left, dy: 400*px, {FIT})", "48 pixels at the bottom"),
        (f"place(bottom + left, dy: 10*px, rotate(-90deg, reflow: true, {LINE}))", "10 pixels at the bottom"),
        (f"place(bottom + left, dy: 10*px, scale(50%, reflow: true, {LINE}))", "10 pixels at the bottom"),
        ("place(bottom + left, dy: 10*px, pill(red, inset: 0*px, line-of-text(s.title)))", "10 pixels at the bottom"),
    ],
)
def test_a_text_that_leaves_the_page_is_told_with_edge_and_pixels(code: str, words: str, tmp_path: Path) -> None:
    """On its own slide; the slide without words has no trouble."""
    assert _judge(code, "Mug", tmp_path) == [f"slide 2: the title 'Mug' leaves the page by {words}"]


def test_layouts_on_a_smaller_page_are_to_be_mended(tmp_path: Path) -> None:
    """The words of `default` on a square page: the check names them, the built-in size stays without a word."""
    folder = copy_template("default", "mine", tmp_path).folder_dir
    settings = (folder / "template.toml").read_text("utf-8")
    (folder / "template.toml").write_text(settings.replace("[1080, 1350]", "[1080, 1080]"), "utf-8")
    report = check_template(find_template("mine", tmp_path), Renderer(runner=StudioRunner()), tmp_path / "sheet.jpg")
    assert any(
        line.startswith("usual words, English: product: the note 'Thrown by hand")
        and line.endswith("pixels at the bottom")
        for line in report.problems
    )


def test_broken_fonts_are_remarked_and_named_when_a_family_is_missing(tmp_path: Path) -> None:
    """What looks like a font and is none is known only to Typst."""
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts/junk.ttf").write_bytes(b"\0\1\0\0junk")
    (tmp_path / "fonts/page.ttf").write_bytes(b"<html>")
    renderer = Renderer(runner=StudioRunner(), fonts_dir=tmp_path / "fonts")
    write_template(tmp_path)
    carousel = carousel_of(slide(Role.COVER, title="Tea"))
    made = renderer.render(carousel, find_template("plain", tmp_path), tmp_path / "out")
    remarks = (
        "fonts/page.ttf: this is no font that can be read",
        "fonts/junk.ttf: this is no font that can be read",
    )
    assert made.notes[-2:] == remarks
    write_template(tmp_path, name="other", settings=SETTINGS.replace('"Inter"', '"Junk"'))
    with pytest.raises(TemplateBroken, match=f"there is no font Junk; {'; '.join(remarks)}; put its file into fonts/"):
        renderer.render(carousel, find_template("other", tmp_path), tmp_path / "out")


def test_a_temporary_place_whose_path_is_not_utf_8_is_told(tmp_path: Path) -> None:
    """The worker is told everything in JSON, which has no such text."""
    odd_dir = tmp_path / os.fsdecode(b"od\xff")
    odd_dir.mkdir()
    with pytest.raises(InputError, match="this path is not UTF-8 text; rename the folder or set TMPDIR"):
        Renderer(runner=StudioRunner()).render(
            carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), odd_dir
        )
    assert list(odd_dir.iterdir()) == []
