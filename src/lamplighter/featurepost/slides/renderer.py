"""The renderer: turns a carousel into JPEG files by a worker process of its own that can be ended at any time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec

from lamplighter.errors import DiskError
from lamplighter.featurepost.slides.carousel import (
    Carousel,
    FitTrouble,
    Rendered,
    RenderedSlide,
    RenderError,
    SlideSpec,
)
from lamplighter.featurepost.slides.exchange import (
    BrandLines,
    Colours,
    Made,
    Picture,
    Refused,
    Request,
    SlideOrder,
    parse_answer,
    render_request,
)
from lamplighter.featurepost.slides.palette import choose_palette
from lamplighter.featurepost.slides.template import Template
from lamplighter.host.files import make_folder, read_capped, write_atomic
from lamplighter.host.process import Command, Ending, Finished, Runner

WORKER_MODULE = "lamplighter.featurepost.slides.worker"
_HERE_DIR = Path(__file__).parent
_MOST_BYTES = 8_000_000
# A template's package import must not reach the network, and Typst has no switch for it: a proxy that refuses.
_DEAD_PROXY = "http://127.0.0.1:9"


class Renderer:
    """Makes the pictures of a carousel, each within `deadline`; `fonts_dir` adds font files to the bundled ones."""

    def __init__(
        self, *, runner: Runner, fonts_dir: Path | None = None, deadline: timedelta = timedelta(seconds=60)
    ) -> None:
        self._runner = runner
        self._fonts_dir = fonts_dir
        self._deadline = deadline

    def render(self, carousel: Carousel, template: Template, target_dir: Path) -> Rendered:
        """Write slide-1.jpg, slide-2.jpg … into `target_dir`, all or none of them half.

        Raises RenderError naming the slide or the template and the cause, ConfigError for colours, DiskError.
        """
        with _private_folder() as private_dir:
            request = self._request(carousel, template, private_dir)
            make_folder(Path(request.scratch_dir))
            make_folder(Path(request.output_dir))
            finished = self._runner.run(self._command(request, private_dir))
            made = self._judge(finished, template, expected=len(carousel.slides))
            pictures = [(picture, _read_picture(Path(request.output_dir), picture)) for picture in made.pictures]
            make_folder(target_dir)
            for picture, content in pictures:
                write_atomic(target_dir / picture.file, content)
        return Rendered(
            slides=tuple(
                RenderedSlide(file=picture.file, size_bytes=picture.size_bytes, sha256=picture.sha256)
                for picture in made.pictures
            ),
            notes=made.notes,
            fit=tuple(FitTrouble(**msgspec.structs.asdict(trouble)) for trouble in made.fit),
            seconds=finished.seconds,
        )

    def _request(self, carousel: Carousel, template: Template, private_dir: Path) -> Request:
        palette = choose_palette(template.theme, carousel.theme, subject=f"brand {carousel.brand_name}")
        own_fonts = self._fonts_dir is not None and self._fonts_dir.is_dir()
        return Request(
            template=template.name,
            template_dir=str(template.folder_dir.resolve()),
            library_dir=str(_HERE_DIR / "lib"),
            bundled_fonts_dir=str(_HERE_DIR / "fonts"),
            own_fonts_dir=str(self._fonts_dir.resolve()) if self._fonts_dir is not None and own_fonts else None,
            scratch_dir=str(private_dir / "scratch"),
            output_dir=str(private_dir / "output"),
            size=template.size,
            fonts=template.fonts,
            colours=Colours(
                ink=palette.ink,
                paper=palette.paper,
                accent=palette.accent,
                on_accent=palette.on_accent,
                accent_text=palette.accent_text,
                quiet=palette.quiet,
                dark=palette.dark,
            ),
            brand=BrandLines(name=carousel.brand_name, handle=carousel.handle, url=_shown_address(carousel.url)),
            language=carousel.language,
            slides=tuple(_order(number, slide, template) for number, slide in enumerate(carousel.slides, start=1)),
        )

    def _command(self, request: Request, private_dir: Path) -> Command:
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
            stdin=render_request(request),
        )

    def _judge(self, finished: Finished, template: Template, *, expected: int) -> Made:
        """Return what the worker made; raises RenderError when it made nothing or something else."""
        subject = f"template {template.name}"
        if finished.ending is Ending.DEADLINE:
            raise RenderError(subject, f"slides took longer than {self._deadline.total_seconds():g} s")
        if finished.ending is Ending.SIGNALLED:
            raise RenderError(subject, f"the slide worker was ended by {_signal_name(-finished.code)}")
        if finished.code != 0:
            raise RenderError(subject, f"the slide worker failed: {_last_line(finished.stderr)}")
        try:
            answer = parse_answer(finished.stdout)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RenderError(subject, f"the slide worker's answer is unreadable: {error}") from None
        if isinstance(answer, Refused):
            raise RenderError(answer.subject, answer.cause, answer.remedy)
        names = [picture.file for picture in answer.pictures]
        if names != [f"slide-{number}.jpg" for number in range(1, expected + 1)]:
            raise RenderError(subject, f"the slide worker made {len(names)} pictures of {expected} slides")
        return answer


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    """Yield a folder only this user can enter, gone afterwards; raises DiskError."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="lamplighter-slides-", ignore_cleanup_errors=True)
    except OSError as error:
        raise DiskError("temporary folder", error.strerror or str(error)) from error
    with folder as name:
        yield Path(name).resolve()


def _order(number: int, slide: SlideSpec, template: Template) -> SlideOrder:
    """Return one slide as the worker wants it; raises RenderError when the template cannot show it."""
    layout = template.layout(slide.role)
    if layout is None:
        raise RenderError(f"slide {number}", f"template {template.name} has no role {slide.role.value!r}")
    if layout.require_photo and slide.photo_file is None:
        raise RenderError(f"slide {number}", f"template {template.name} shows no {slide.role.value} without a photo")
    return SlideOrder(
        role=slide.role,
        text=slide.text,
        photo=str(slide.photo_file.resolve()) if slide.photo_file is not None else None,
        photo_box=layout.photo_box,
    )


def _shown_address(url: str) -> str:
    """Return a web address as people write it: kibo.example."""
    return url.removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")


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
