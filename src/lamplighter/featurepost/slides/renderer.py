"""The renderer: turns a carousel into JPEG files by a worker process of its own that can be ended at any time."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import msgspec
import typst

from lamplighter.errors import DiskError, FailureClass, InputError, LamplighterError
from lamplighter.featurepost.slides.carousel import Carousel, Made, Picture, RenderError, SlideSpec, TemplateBroken
from lamplighter.featurepost.slides.font_folder import link_fonts, read_font_folder
from lamplighter.featurepost.slides.glyphs import Coverage, read_coverage
from lamplighter.featurepost.slides.order import (
    BrandLines,
    CarouselOrder,
    Refused,
    SlideOrder,
    parse_answer,
    render_order,
)
from lamplighter.featurepost.slides.palette import choose_palette
from lamplighter.featurepost.slides.phrases import clean
from lamplighter.featurepost.slides.template_folder import Template
from lamplighter.featurepost.slides.typesetter import EMOJI_FAMILY
from lamplighter.host.files import make_folder, private_folder, read_capped, temporary_trouble, write_atomic
from lamplighter.host.process import Command, Ending, Finished, Runner

WORKER_MODULE = "lamplighter.featurepost.slides.worker"
_HERE_DIR = Path(__file__).parent
_FONTS_DIR = _HERE_DIR / "fonts"
_MOST_BYTES = 8_000_000
# A template's package import must not reach the network, and Typst has no switch for it: a proxy that refuses.
_DEAD_PROXY = "http://127.0.0.1:9"
_KINDS: MappingProxyType[FailureClass, type[LamplighterError]] = MappingProxyType(
    {FailureClass.DISK: DiskError, FailureClass.CONFIG: TemplateBroken}
)


class Renderer:
    """Makes the pictures of a carousel, each within `deadline`; `fonts_dir` adds font files to the bundled ones."""

    def __init__(
        self, *, runner: Runner, fonts_dir: Path | None = None, deadline: timedelta = timedelta(seconds=60)
    ) -> None:
        self._runner = runner
        self._fonts_dir = fonts_dir
        self._deadline = deadline
        self._coverages: dict[tuple[str, ...], Coverage | None] = {}

    def find_missing(self, text: str, template: Template) -> str:
        """Return the letters of `text` that the template's slides cannot show, as the worker will find; "" if none.

        Also "" where a font of the template is missing itself, which only the worker's error can say.
        """
        if template.fonts not in self._coverages:
            self._coverages[template.fonts] = self._read_coverage(template.fonts)
        coverage = self._coverages[template.fonts]
        return "".join(coverage.missing(clean(text).text)) if coverage is not None else ""

    def _read_coverage(self, wanted: tuple[str, ...]) -> Coverage | None:
        """Return what the fonts the worker would use cover together; raises DiskError."""
        own_fonts = read_font_folder(self._fonts_dir).fonts
        with private_folder() as private_dir:
            own_dir = link_fonts(own_fonts, private_dir / "fonts")
            font_dirs = [str(folder) for folder in (_FONTS_DIR, own_dir) if folder is not None]
            found = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=font_dirs).fonts()
        if not {font.family for font in found}.issuperset(wanted):
            return None
        own_files = {font.file for font in own_fonts}
        own = {font.family for font in found if font.path in own_files}
        families = {*wanted, *own, EMOJI_FAMILY}
        try:
            return read_coverage({Path(font.path) for font in found if font.path and font.family in families})
        except OSError as error:
            raise DiskError(error.filename or "fonts", error.strerror or str(error)) from error

    def render(self, carousel: Carousel, template: Template, target_dir: Path) -> Made:
        """Write slide-1.jpg, slide-2.jpg … into `target_dir`, all or none of them half.

        Raises RenderError naming the slide and the cause, TemplateBroken when it is the template's, ConfigError for
        colours, DiskError.
        """
        with private_folder(target_dir if target_dir.is_dir() else None) as private_dir:
            order = self._order(carousel, template, private_dir)
            make_folder(Path(order.scratch_dir))
            make_folder(Path(order.output_dir))
            finished = self._runner.run(self._command(order, private_dir))
            made = self._judge(finished, template, expected=len(carousel.slides))
            pictures = [(picture, _read_picture(Path(order.output_dir), picture)) for picture in made.pictures]
            make_folder(target_dir)
            for picture, content in pictures:
                write_atomic(target_dir / picture.file, content)
        return made

    def _order(self, carousel: Carousel, template: Template, private_dir: Path) -> CarouselOrder:
        return CarouselOrder(
            parent=os.getpid(),
            seconds=self._deadline.total_seconds(),
            template=template.name,
            template_dir=str(template.folder_dir.resolve()),
            library_dir=str(_HERE_DIR / "lib"),
            bundled_fonts_dir=str(_FONTS_DIR),
            own_fonts=read_font_folder(self._fonts_dir),
            scratch_dir=str(private_dir / "scratch"),
            output_dir=str(private_dir / "output"),
            size=template.size,
            fonts=template.fonts,
            palette=choose_palette(template.theme, carousel.theme, subject=f"brand {carousel.brand_name}"),
            brand=BrandLines(name=carousel.brand_name, handle=carousel.handle, url=carousel.url),
            language=carousel.language,
            slides=tuple(
                _slide_order(number, slide, template) for number, slide in enumerate(carousel.slides, start=1)
            ),
        )

    def _command(self, order: CarouselOrder, private_dir: Path) -> Command:
        proxies = {f"{scheme}_proxy": _DEAD_PROXY for scheme in ("http", "https", "all")}
        return Command(
            argv=(sys.executable, "-I", "-m", WORKER_MODULE),
            cwd=private_dir,
            env={
                "PATH": os.defpath,
                "LANG": "C.UTF-8",
                "TMPDIR": str(private_dir),
                **proxies,
                **{name.upper(): value for name, value in proxies.items()},
            },
            deadline=self._deadline,
            stdin=_render_plainly(order),
        )

    def _judge(self, finished: Finished, template: Template, *, expected: int) -> Made:
        """Return what the worker made; raises DiskError when it had no room, RenderError for all else."""
        subject = f"template {template.name}"
        if finished.ending is Ending.DEADLINE:
            remedy = "look for an endless loop in it, or raise generate.slides_limit"
            raise TemplateBroken(subject, f"slides took longer than {self._deadline.total_seconds():g} s", remedy)
        if finished.ending is Ending.SIGNALLED:
            raise RenderError(subject, f"the slide worker was ended by {_signal_name(-finished.code)}")
        if finished.code == FailureClass.DISK.value:
            raise temporary_trouble("no room for the worker's answer")
        if finished.code != 0:
            raise RenderError(subject, f"the slide worker failed: {_last_line(finished.stderr)}")
        try:
            answer = parse_answer(finished.stdout)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RenderError(subject, f"the slide worker's answer is unreadable: {error}") from None
        if isinstance(answer, Refused):
            raise _KINDS.get(answer.failure, RenderError)(answer.subject, answer.cause, answer.remedy)
        names = [picture.file for picture in answer.pictures]
        if names != [f"slide-{number}.jpg" for number in range(1, expected + 1)]:
            raise RenderError(subject, f"the slide worker made {len(names)} pictures of {expected} slides")
        return answer


def _render_plainly(order: CarouselOrder) -> bytes:
    """Return the order as JSON; raises InputError for the path in it that JSON and Typst cannot have."""
    try:
        return render_order(order)
    except UnicodeEncodeError as error:
        raise InputError(str(error.object), "this path is not UTF-8 text", "rename the folder or set TMPDIR") from None


def _slide_order(number: int, slide: SlideSpec, template: Template) -> SlideOrder:
    """Return one slide as the worker wants it; raises RenderError when the template cannot show it."""
    layout = template.layout(slide.role)
    if layout is None:
        raise TemplateBroken(f"slide {number}", f"template {template.name} has no role {slide.role.value!r}")
    if layout.require_photo and slide.photo_file is None:
        raise RenderError(f"slide {number}", f"template {template.name} shows no {slide.role.value} without a photo")
    return SlideOrder(
        role=slide.role,
        text=slide.text,
        photo=str(slide.photo_file.resolve()) if slide.photo_file is not None else None,
        photo_box=layout.photo_box,
    )


def _read_picture(output_dir: Path, picture: Picture) -> bytes:
    """Return a finished file, checked against what the worker said of it."""
    content = read_capped(output_dir / picture.file, limit=_MOST_BYTES, what="picture")
    if len(content) != picture.size_bytes or hashlib.sha256(content).hexdigest() != picture.sha256:
        raise RenderError(picture.file, "the picture on disk is not the one that was made")
    return content


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
