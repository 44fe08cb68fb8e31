"""The renderer believes nothing its worker did not prove, and says in one line what went wrong."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.featurepost.slides.studio import carousel_of, slide, write_photo, write_template

from lamplighter.errors import ConfigError, DiskError, FailureClass, LamplighterError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role, SlideText
from lamplighter.featurepost.slides import renderer as renderer_module
from lamplighter.featurepost.slides.carousel import Made, Picture, RenderError, Trouble
from lamplighter.featurepost.slides.font_folder import OwnFont, read_font_folder
from lamplighter.featurepost.slides.order import Refused, parse_order, render_answer
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import find_template
from lamplighter.featurepost.slides.typesetter import Typesetter
from lamplighter.featurepost.slides.wording import Wording
from lamplighter.host.process import Command, Ending, Finished

CONTENT = b"\xff\xd8 a picture"
PICTURE = Picture(file="slide-1.jpg", size_bytes=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
LATE = "look for an endless loop in it, or raise generate.slides_limit"
MADE = Made(pictures=(PICTURE,), notes=("a note",), fit=())


@dataclass(slots=True)
class ToldRunner:
    """Answers as told, after writing the pictures as told; keeps the commands."""

    answer: Made | Refused | bytes = MADE
    ending: Ending = Ending.EXITED
    code: int = 0
    stderr: bytes = b""
    content: bytes = CONTENT
    commands: list[Command] = field(default_factory=list)

    def run(self, command: Command) -> Finished:
        """Write slide-1.jpg where the order wants it, and answer."""
        self.commands.append(command)
        (Path(parse_order(command.stdin).output_dir) / "slide-1.jpg").write_bytes(self.content)
        stdout = self.answer if isinstance(self.answer, bytes) else render_answer(self.answer)
        return Finished(ending=self.ending, code=self.code, seconds=0.5, stdout=stdout, stderr=self.stderr)


def _render(runner: ToldRunner, target_dir: Path) -> RenderError:
    renderer = Renderer(runner=runner, deadline=timedelta(seconds=60))
    with pytest.raises(RenderError) as caught:
        renderer.render(carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), target_dir)
    assert not target_dir.exists()
    return caught.value


def test_the_finished_pictures_are_moved_into_place(tmp_path: Path) -> None:
    """Files, notes and troubles come back as values; nothing else is left in the folder."""
    trouble = Trouble(slide=1, field="title", text="Tea", size=40.0, needed=500.0, limit=400.0, broken=False)
    runner = ToldRunner(answer=Made(pictures=(PICTURE,), notes=("a note",), fit=(trouble,)))
    rendered = Renderer(runner=runner).render(
        carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), tmp_path / "new"
    )
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["slide-1.jpg"]
    assert (tmp_path / "new" / "slide-1.jpg").read_bytes() == CONTENT
    assert (rendered.pictures, rendered.notes, rendered.fit) == ((PICTURE,), ("a note",), (trouble,))


def test_the_worker_starts_alone_and_offline(tmp_path: Path) -> None:
    """An isolated interpreter, a small environment, proxies that lead nowhere, a folder of its own that goes again."""
    runner = ToldRunner()
    Renderer(runner=runner, deadline=timedelta(seconds=7)).render(
        carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), tmp_path
    )
    (command,) = runner.commands
    assert command.argv == (sys.executable, "-I", "-m", "lamplighter.featurepost.slides.worker")
    assert command.deadline == timedelta(seconds=7)
    assert {name.lower() for name in command.env} == {
        "path",
        "lang",
        "tmpdir",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    }
    assert command.env["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert not command.cwd.exists()
    order = parse_order(command.stdin)
    assert Path(order.scratch_dir).parent == Path(order.output_dir).parent == command.cwd
    assert (order.parent, order.seconds) == (os.getpid(), 7.0)


def test_the_persons_own_fonts_are_told_only_when_they_exist(tmp_path: Path) -> None:
    """A workspace without fonts/ is no error."""
    _lend_font(tmp_path / "fonts")
    told = []
    for name in ("fonts", "nowhere"):
        runner = ToldRunner()
        renderer = Renderer(runner=runner, fonts_dir=tmp_path / name)
        renderer.render(carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), tmp_path / "out")
        told.append(parse_order(runner.commands[0].stdin).own_fonts.fonts)
    assert told == [(OwnFont(name="fonts/mine.ttf", file=str((tmp_path / "fonts/mine.ttf").resolve())),), ()]


@pytest.mark.parametrize(
    ("runner", "line"),
    [
        (
            ToldRunner(ending=Ending.DEADLINE, code=-15, answer=b""),
            f"template default: slides took longer than 60 s; {LATE}",
        ),
        (
            ToldRunner(ending=Ending.SIGNALLED, code=-9, answer=b""),
            "template default: the slide worker was ended by SIGKILL",
        ),
        (
            ToldRunner(ending=Ending.SIGNALLED, code=-250, answer=b""),
            "template default: the slide worker was ended by signal 250",
        ),
        (
            ToldRunner(code=1, stderr=b"Traceback (most recent call last):\n  File x\nMemoryError: no more\n\n"),
            "template default: the slide worker failed: MemoryError: no more",
        ),
        (ToldRunner(code=3), "template default: the slide worker failed: it said nothing"),
        (
            ToldRunner(answer=Refused(subject="slide 4", cause="no font has 简", remedy="add one")),
            "slide 4: no font has 简; add one",
        ),
        (
            ToldRunner(answer=Made(pictures=(), notes=(), fit=())),
            "template default: the slide worker made 0 pictures of 1 slides",
        ),
        (ToldRunner(content=b"other"), "slide-1.jpg: the picture on disk is not the one that was made"),
    ],
)
def test_each_way_to_fail_is_one_line(runner: ToldRunner, line: str, tmp_path: Path) -> None:
    """No traceback, no half-made folder."""
    assert str(_render(runner, tmp_path / "out")) == line


@pytest.mark.parametrize("answer", [b"", b"hello", b'{"type":"made"}', b"\xff\xfe"])
def test_an_unreadable_answer_is_an_error(answer: bytes, tmp_path: Path) -> None:
    """What is not exactly an answer is none."""
    assert "the slide worker's answer is unreadable" in str(_render(ToldRunner(answer=answer), tmp_path / "out"))


def test_a_picture_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    """Names are ours; a path in their place is not followed."""
    picture = Picture(file="../../slide-1.jpg", size_bytes=1, sha256="")
    error = _render(ToldRunner(answer=Made(pictures=(picture,), notes=(), fit=())), tmp_path / "out")
    assert error.cause == "the slide worker made 1 pictures of 1 slides"


def test_a_slide_the_template_does_not_know_is_refused_before_the_worker_starts(tmp_path: Path) -> None:
    """The line names the slide and the role."""
    write_template(tmp_path)
    runner = ToldRunner()
    with pytest.raises(RenderError, match="slide 2: template plain has no role 'closing'"):
        Renderer(runner=runner).render(
            carousel_of(slide(Role.COVER), slide(Role.CLOSING)), find_template("plain", tmp_path), tmp_path / "out"
        )
    assert runner.commands == []


def test_a_role_that_needs_a_photo_is_refused_without_one(tmp_path: Path) -> None:
    """A product nobody can see is not shown."""
    with pytest.raises(RenderError, match="slide 1: template default shows no product without a photo"):
        Renderer(runner=ToldRunner()).render(
            carousel_of(slide(Role.PRODUCT, name="Mug")), find_template("default"), tmp_path / "out"
        )


def test_colours_that_hide_words_are_refused_before_the_worker_starts(tmp_path: Path) -> None:
    """The line names the brand."""
    with pytest.raises(ConfigError, match="brand Kibo: the theme's ink #777777 on paper #888888"):
        Renderer(runner=ToldRunner()).render(
            carousel_of(slide(Role.COVER), theme=Theme(ink="#777777", paper="#888888")),
            find_template("default"),
            tmp_path / "out",
        )


def test_a_photo_is_told_by_its_full_path_and_box(tmp_path: Path) -> None:
    """The worker has another working folder."""
    photo_file = write_photo(tmp_path / "mug.jpg", width=60, height=80)
    runner = ToldRunner()
    Renderer(runner=runner).render(
        carousel_of(slide(Role.PRODUCT, photo_file, name="Mug")), find_template("default"), tmp_path / "out"
    )
    (order,) = parse_order(runner.commands[0].stdin).slides
    assert (order.photo, order.photo_box) == (str(photo_file.resolve()), (1080, 850))


def test_an_address_is_shown_as_it_was_given(tmp_path: Path) -> None:
    """How people write it is decided where the words are made."""
    runner = ToldRunner()
    carousel = dataclasses.replace(carousel_of(slide(Role.COVER, title="Tea")), url="www.kibo.example/tea")
    Renderer(runner=runner).render(carousel, find_template("default"), tmp_path)
    assert parse_order(runner.commands[0].stdin).brand.url == "www.kibo.example/tea"


@pytest.mark.parametrize(
    ("runner", "line"),
    [
        (
            ToldRunner(answer=Refused(subject="tmp", cause="full", remedy="free some", failure=FailureClass.DISK)),
            "tmp: full; free some",
        ),
        (
            ToldRunner(code=FailureClass.DISK.value, answer=b""),
            "the folder for temporary files: no room for the worker's answer; free some space there or set TMPDIR",
        ),
    ],
)
def test_a_disk_that_is_full_for_the_worker_is_our_disk(runner: ToldRunner, line: str, tmp_path: Path) -> None:
    """It stops the run, as no other carousel would fare better."""
    with pytest.raises(LamplighterError) as caught:
        Renderer(runner=runner).render(
            carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), tmp_path / "out"
        )
    assert (type(caught.value), str(caught.value)) == (DiskError, line)
    assert not (tmp_path / "out").exists()


def test_a_target_that_cannot_be_written_is_a_disk_error(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "out").touch()
    with pytest.raises(DiskError):
        Renderer(runner=ToldRunner()).render(
            carousel_of(slide(Role.COVER, title="Tea")), find_template("default"), tmp_path / "out"
        )


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("A mug, 手びねり ☕", ""),
        ("ถ้วย mug 𝕸 mug", "ถ\u0e22ว\u0e49\U0001d578"),
        ("👩🏽\u200d🎨 ❤\ufe0f 🇯🇵", ""),
        ("a\u202eb\ue000c\x07 \U000f0000", ""),
        ("x" * 600 + "ถ", ""),
        ("", ""),
    ],
)
def test_letters_that_cannot_be_shown_are_known_beforehand(text: str, missing: str) -> None:
    """As the worker finds them: after its cleaning, with emoji and joiners, in order, each once."""
    renderer = Renderer(runner=ToldRunner())
    assert renderer.find_missing(text, find_template("default")) == missing


def _lend_font(fonts_dir: Path) -> None:
    """Put a copy of a bundled font into the workspace's folder."""
    fonts_dir.mkdir()
    shutil.copy(Path(renderer_module.__file__).parent / "fonts" / "NotoSansJP-subset.ttf", fonts_dir / "mine.ttf")


def test_only_the_templates_and_the_persons_own_fonts_count(tmp_path: Path) -> None:
    """A bundled font the template does not name shows nothing, until a person adds it; emoji are always there."""
    latin = dataclasses.replace(find_template("default"), fonts=("Inter",))
    assert Renderer(runner=ToldRunner()).find_missing("a 手 ☕", latin) == "手"
    _lend_font(tmp_path / "fonts")
    assert Renderer(runner=ToldRunner(), fonts_dir=tmp_path / "fonts").find_missing("a 手 ☕", latin) == ""
    assert Renderer(runner=ToldRunner(), fonts_dir=tmp_path / "nowhere").find_missing("a 手", latin) == "手"


@pytest.mark.parametrize("wanted", [("Inter",), ("Inter", "Noto Sans JP"), ("Noto Sans JP",)])
@pytest.mark.parametrize("own", [True, False])
def test_the_worker_finds_the_same_letters(wanted: tuple[str, ...], own: bool, tmp_path: Path) -> None:
    """Every letter there is, by the typesetter the worker uses, with and without a person's fonts."""
    if own:
        _lend_font(tmp_path / "fonts")
    template = dataclasses.replace(find_template("default"), fonts=wanted)
    typesetter = Typesetter(
        template="default",
        template_dir=template.folder_dir,
        library_dir=Path(renderer_module.__file__).parent / "lib",
        root_dir=tmp_path,
        fonts=wanted,
        bundled_fonts_dir=Path(renderer_module.__file__).parent / "fonts",
        own_fonts=read_font_folder(tmp_path / "fonts"),
    )
    wording = Wording(coverage=typesetter.read_coverage())
    renderer = Renderer(runner=ToldRunner(), fonts_dir=tmp_path / "fonts")
    for start in range(0, 0x30000, 500):
        text = "".join(map(chr, range(start, start + 500)))
        missing = renderer.find_missing(text, template)
        if missing:
            with pytest.raises(RenderError, match=rf"no font has . \(U\+{ord(missing[0]):04X}\)"):
                wording.words(1, SlideText(title=text))
        else:
            wording.words(1, SlideText(title=text))


def test_a_missing_font_is_the_workers_to_say() -> None:
    """It is no fault of any letter."""
    other = dataclasses.replace(find_template("default"), fonts=("Inter", "Nowhere Sans"))
    assert Renderer(runner=ToldRunner()).find_missing("ถ", other) == ""


def test_fonts_are_read_once_for_a_set(tmp_path: Path) -> None:
    """Asking again costs nothing, and another renderer knows nothing of it."""
    _lend_font(tmp_path / "fonts")
    latin = dataclasses.replace(find_template("default"), fonts=("Inter",))
    renderer = Renderer(runner=ToldRunner(), fonts_dir=tmp_path / "fonts")
    assert renderer.find_missing("手", latin) == ""
    (tmp_path / "fonts" / "mine.ttf").unlink()
    assert renderer.find_missing("手", latin) == ""
    assert Renderer(runner=ToldRunner(), fonts_dir=tmp_path / "fonts").find_missing("手", latin) == "手"
