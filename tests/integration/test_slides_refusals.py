"""What must never become a post stops in the real worker process, with one line that says where and why."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from tests.simulators.child import files_of_at_most
from tests.unit.featurepost.slides.studio import (
    SETTINGS,
    StudioRunner,
    carousel_of,
    jpeg_bytes,
    paint,
    png_of_size,
    slide,
    write_photo,
    write_template,
)

from lamplighter.errors import DiskError, FailureClass
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.carousel import RenderError
from lamplighter.featurepost.slides.order import parse_order, render_order
from lamplighter.featurepost.slides.renderer import WORKER_MODULE, Renderer
from lamplighter.featurepost.slides.template_folder import find_template

IMPORT = '#import "/lib/lamp.typ": *\n'


def _refusal(slides: str, tmp_path: Path, *, seconds: float = 60) -> str:
    """Return the one line a template of that code is refused with."""
    write_template(tmp_path / "templates", slides=IMPORT + slides)
    renderer = Renderer(runner=StudioRunner(), deadline=timedelta(seconds=seconds))
    with pytest.raises(RenderError) as caught:
        renderer.render(
            carousel_of(slide(Role.COVER, title="Tea")),
            find_template("plain", tmp_path / "templates"),
            tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()
    line = str(caught.value)
    assert "\n" not in line
    assert "Traceback" not in line
    return line


def test_an_endless_template_is_ended_at_the_deadline(tmp_path: Path) -> None:
    """Typst cannot be interrupted, so its whole process is ended."""
    loop = "#let cover(s, c) = { for a in range(1000000) { for b in range(1000000) { let x = a * b } } }"
    line = (
        "template plain: slides took longer than 1.5 s; look for an endless loop in it, or raise generate.slides_limit"
    )
    assert _refusal(loop, tmp_path, seconds=1.5) == line


@pytest.mark.parametrize("code", ["{ while true { } }", "{ let f(x) = f(x); f(1) }"])
def test_loops_typst_sees_are_errors(code: str, tmp_path: Path) -> None:
    """Typst itself stops an endless while and a bottomless recursion."""
    assert _refusal(f"#let cover(s, c) = {code}", tmp_path).startswith("template plain: slides.typ:2: ")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("#let cover(s, c) = [a #pagebreak() b]", "slides.typ:2: pagebreaks are not allowed"),
        ("#let cover(s, c) = { page(width: 100pt, height: 100pt)[a] }", "page configuration is not allowed"),
        ("#let cover(s, c) = { set page(width: 100pt); [a] }", "page configuration is not allowed"),
        ("#let cover(s, c) = nothing-of-that-name", "slides.typ:2: unknown variable: nothing-of-that-name"),
        ("#let product(s, c) = []", "slides.typ: there is no function cover(s, c)"),
        ("#let cover = 3", "slides.typ: there is no function cover(s, c)"),
        ("#let cover(s) = []", "slides.typ: the function of a role takes two values, (s, c): unexpected argument"),
        ("#let cover(s, c) = 3", "slides.typ: cover(s, c) must give content, not integer"),
        ("#let cover(s, c) = fit(s.titel)", 'slides.typ:2: dictionary does not contain key "titel"'),
        ("#let cover(s, c) = {\n fit(s.photo)\n}", "slides.typ:3: this is no text of a slide: give s.title"),
        ("#let cover(s, c) = fit(s.title, hi: 3)", "slides.typ:2: hi must be a size like 40*px"),
        ("#let cover(s, c) = line-of-text(s.title, width: 50%)", "slides.typ:2: width must be a size like 40*px"),
        ('#let cover(s, c) = fit(s.title, fill: "red")', "slides.typ:2: "),
        ('#let cover(s, c) = image("logo.png")', "slides.typ:2: there is no logo.png"),
        ('#import "more.typ": x', "slides.typ:2: there is no more.typ"),
        ("#let cover(s, c) = [한]", "slides.typ:2: no font has 한 (U+D55C); put a font that has it into fonts/"),
        ('#let cover(s, c) = raw(read("/etc/passwd"))', "slides.typ:2: there is no /etc/passwd;"),
        (
            '#let cover(s, c) = raw(read("../../../../../../etc/passwd"))',
            "slides.typ:2: a template sees no file outside its folder; copy the file into it",
        ),
        ('#import "/lib/lmp.typ": *', "slides.typ:2: there is no /lib/lmp.typ;"),
        ("#let cover(s, c) = [ك م ك]", "slides.typ:2: no font has "),
        ('#let cover(s, c) = raw(read("/photos/../main.typ/../../x"))', "slides.typ:2: "),
        ('#let cover(s, c) = { import "@" + "preview/cetz:0.3.0": * }', "slides.typ:2: "),
        ('#let cover(s, c) = image("https://example.org/x.png")', "no https:/example.org/x.png; network access is"),
        ("#let cover(s, c) = panic(s.title.text)", "slides.typ:2: panicked with: Tea"),
    ],
)
def test_a_template_that_breaks_the_contract_is_refused_with_its_line(code: str, cause: str, tmp_path: Path) -> None:
    """Other pages, sizes or files, the network, plain mistakes: one line, with the template's line where known."""
    line = _refusal(code, tmp_path)
    assert line.startswith("template plain: ")
    assert cause in line


def test_a_template_may_have_a_size_of_its_own(tmp_path: Path) -> None:
    """Pages and pictures have the size the template names."""
    write_template(tmp_path / "templates", settings=SETTINGS.replace("[320, 400]", "[321, 555]"))
    template = find_template("plain", tmp_path / "templates")
    made = Renderer(runner=StudioRunner()).render(carousel_of(slide(Role.COVER, title="Tea")), template, tmp_path)
    with Image.open(tmp_path / made.pictures[0].file) as image:
        assert image.size == (321, 555)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (jpeg_bytes(paint(800, 1000))[:5000], "it is damaged"),
        (b"<html>403 Forbidden</html>", "it is not a picture but text: <html>403 Forbidden</html>"),
        (png_of_size(30000, 30000), "more than 50,000,000 pixels"),
        (b"", "it is empty"),
    ],
)
def test_a_bad_photo_names_the_slide_the_file_and_the_cause(content: bytes, cause: str, tmp_path: Path) -> None:
    """The good first slide does not save the second."""
    good = write_photo(tmp_path / "good.jpg")
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(content)
    with pytest.raises(RenderError) as caught:
        Renderer(runner=StudioRunner()).render(
            carousel_of(slide(Role.COVER, good, title="Tea"), slide(Role.PRODUCT, bad, name="Mug")),
            find_template("default"),
            tmp_path / "out",
        )
    assert caught.value.subject == "slide 2"
    assert caught.value.cause.startswith("photo bad.jpg: ")
    assert cause in caught.value.cause
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["photo.avif", "photo.webp", "photo.gif", "photo.png"])
def test_photos_typst_alone_would_not_take_are_taken(name: str, tmp_path: Path) -> None:
    """Every picture reaches Typst as a JPEG of its exact box."""
    paint(600, 750).save(tmp_path / name)
    rendered = Renderer(runner=StudioRunner()).render(
        carousel_of(slide(Role.COVER, tmp_path / name, title="Tea")), find_template("default"), tmp_path / "out"
    )
    assert (len(rendered.pictures), rendered.notes) == (1, ())


def test_a_missing_photo_names_the_slide(tmp_path: Path) -> None:
    """The file was there when the slides were planned, and is gone."""
    with pytest.raises(RenderError, match=r"slide 1: photo gone\.jpg: there is no such photo"):
        Renderer(runner=StudioRunner()).render(
            carousel_of(slide(Role.COVER, tmp_path / "gone.jpg", title="Tea")),
            find_template("default"),
            tmp_path / "out",
        )


@pytest.mark.parametrize("title", ["Tea", "한"])
def test_nothing_stays_behind(title: str, tmp_path: Path) -> None:
    """Neither success nor failure leaves the worker's private folder."""
    runner = StudioRunner()
    with contextlib.suppress(RenderError):
        Renderer(runner=runner).render(
            carousel_of(slide(Role.COVER, title=title)), find_template("default"), tmp_path / "out"
        )
    assert [command.cwd.exists() for command in runner.commands] == [False]


def test_a_late_worker_leaves_nothing_behind(tmp_path: Path) -> None:
    """The private folder goes when the process is ended too."""
    write_template(tmp_path / "templates", slides="#let cover(s, c) = for a in range(99999999) { let b = a }")
    runner = StudioRunner()
    with pytest.raises(RenderError, match=r"slides took longer than 0\.5 s"):
        Renderer(runner=runner, deadline=timedelta(seconds=0.5)).render(
            carousel_of(slide(Role.COVER, title="Tea")),
            find_template("plain", tmp_path / "templates"),
            tmp_path / "out",
        )
    assert [command.cwd.exists() for command in runner.commands] == [False]


def test_a_disk_that_fills_up_under_the_worker_is_our_disks_trouble(tmp_path: Path) -> None:
    """It is no fault of the template or the photo, and no other carousel would fare better."""
    noise = Image.merge("RGB", [Image.effect_noise((900, 1100), 200 + number) for number in range(3)])
    noise.save(tmp_path / "noise.jpg", quality=90)
    with files_of_at_most(200_000), pytest.raises(DiskError) as caught:
        Renderer(runner=StudioRunner()).render(
            carousel_of(slide(Role.COVER, tmp_path / "noise.jpg", title="Tea")),
            find_template("default"),
            tmp_path / "out",
        )
    assert str(caught.value) == ("the folder for temporary files: File too large; free some space there or set TMPDIR")


def test_a_worker_without_room_for_its_answer_says_so_by_its_code(tmp_path: Path) -> None:
    """The device that is always full stands in for the disk; the renderer knows the code."""
    runner = StudioRunner()
    carousel = carousel_of(slide(Role.COVER, title="Tea"))
    Renderer(runner=runner).render(carousel, find_template("default"), tmp_path)
    (tmp_path / "scratch").mkdir()
    order = parse_order(runner.commands[0].stdin)
    again = msgspec.structs.replace(
        order, parent=os.getpid(), scratch_dir=str(tmp_path / "scratch"), output_dir=str(tmp_path)
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-I", "-m", WORKER_MODULE], input=render_order(again), stdout=full, check=False
        )
    assert done.returncode == FailureClass.DISK.value


def test_a_worker_whose_parent_is_gone_makes_nothing(tmp_path: Path) -> None:
    """The order names who waits for it; a parent that died before the work began is no longer there."""
    runner = StudioRunner()
    Renderer(runner=runner).render(carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), tmp_path)
    orphan = msgspec.structs.replace(parse_order(runner.commands[0].stdin), parent=2**22 + 1)
    done = subprocess.run(
        [sys.executable, "-I", "-m", WORKER_MODULE], input=render_order(orphan), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
