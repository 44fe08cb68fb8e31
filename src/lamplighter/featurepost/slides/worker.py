"""The worker: a process that makes one carousel and says so in JSON; started by the renderer, ended when it is late."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lamplighter.errors import DiskError, FailureClass, InputError
from lamplighter.featurepost.slides.carousel import Made, RenderError
from lamplighter.featurepost.slides.order import CarouselOrder, Refused, SlideOrder, parse_order, render_answer
from lamplighter.featurepost.slides.photo_box import PhotoRefused, Pixels, order_by_photo, read_pixels
from lamplighter.host.files import DISK_TROUBLES, temporary_trouble
from lamplighter.host.process import die_with_parent

if TYPE_CHECKING:
    from lamplighter.featurepost.slides.raster import PagePhoto
    from lamplighter.featurepost.slides.typesetter import Document, Typesetter
    from lamplighter.featurepost.slides.wording import Wording

_THREADS = 2
_SPARE = timedelta(seconds=10)  # the parent ends a late worker itself; this is for when it cannot


def main() -> int:
    """Read an order from standard input, write the answer to standard output, return the exit code.

    That is 74 where a full disk has no room for the answer.
    """
    order = parse_order(sys.stdin.buffer.read())
    die_with_parent(order.parent, limit=timedelta(seconds=order.seconds) + _SPARE)
    answer = render_answer(make_carousel(order))
    try:
        while answer:
            answer = answer[os.write(sys.stdout.fileno(), answer) :]
    except OSError:
        return FailureClass.DISK.value
    return 0


def make_carousel(order: CarouselOrder) -> Made | Refused:
    """Return the finished pictures of a carousel, or why they cannot be made."""
    try:
        with _disk_errors(), ThreadPoolExecutor(_THREADS) as executor:
            return _make(order, executor)
    except (RenderError, DiskError) as error:
        return Refused(subject=error.subject, cause=error.cause, remedy=error.remedy, failure=error.failure)


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    """Tell a full or failing disk by a DiskError: what this process writes are temporary files."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_TROUBLES:
            raise
        raise temporary_trouble(os.strerror(error.errno)) from error


def _make(order: CarouselOrder, executor: Executor) -> Made:
    # Photos take longest: what the other steps need is imported, and the words are set, while they are decoded.
    pixels = _begin_photos(order.slides, executor)
    from lamplighter.featurepost.slides.raster import PagePhoto, make_stand_in, write_pictures  # noqa: PLC0415
    from lamplighter.featurepost.slides.wording import Wording  # noqa: PLC0415

    boxes = map(_shown_box, order.slides)
    photos = tuple(
        PagePhoto(box=box, stand_in=make_stand_in(number, box), pixels=future) if box and future else None
        for number, (box, future) in enumerate(zip(boxes, pixels, strict=True), start=1)
    )
    root_dir = Path(order.scratch_dir)
    typesetter = _set_up(order, root_dir)
    wording = Wording(coverage=typesetter.read_coverage())
    typeset = typesetter.typeset(_compose_document(order, wording, typesetter.fonts, _place(photos, root_dir)))
    pictures = write_pictures(
        typeset.pdf,
        Path(order.output_dir),
        size=order.size,
        photos=photos,
        subject=f"template {order.template}",
        executor=executor,
    )
    notes = tuple(
        f"slide {number}: no photo, so it shows the brand's colours"
        for number, slide in enumerate(order.slides, start=1)
        if slide.photo_box and slide.photo is None
    )
    return Made(pictures=pictures, notes=(*notes, *typeset.remarks), fit=(*wording.cut, *typeset.fit))


def _shown_box(slide: SlideOrder) -> tuple[int, int] | None:
    return slide.photo_box if slide.photo is not None else None


def _begin_photos(slides: tuple[SlideOrder, ...], executor: Executor) -> list[Future[Pixels] | None]:
    """Let the photos be read meanwhile, in the order they will be drawn; None where a slide shows none."""
    begun: list[Future[Pixels] | None] = [None] * len(slides)
    for index in order_by_photo(tuple(map(_shown_box, slides))):
        slide = slides[index]
        if slide.photo is not None and slide.photo_box is not None:
            begun[index] = executor.submit(_read_photo, index + 1, Path(slide.photo), slide.photo_box)
    return begun


def _read_photo(number: int, file: Path, box: tuple[int, int]) -> Pixels:
    """Return the photo in its exact box; raises RenderError for a bad photo, DiskError."""
    try:
        return read_pixels(file, box)
    except (PhotoRefused, InputError) as error:
        raise RenderError(f"slide {number}", f"photo {file.name}: {error.cause}") from error


def _place(photos: tuple[PagePhoto | None, ...], root_dir: Path) -> tuple[str | None, ...]:
    """Write what stands in for the photos below the document's root, and return where, as the document says it."""
    (root_dir / "photos").mkdir()
    names = tuple(f"photos/{number}.jpg" if photo else None for number, photo in enumerate(photos, start=1))
    for name, photo in zip(names, photos, strict=True):
        if name and photo:
            (root_dir / name).write_bytes(photo.stand_in)
    return tuple(f"/{name}" if name else None for name in names)


def _set_up(order: CarouselOrder, root_dir: Path) -> Typesetter:
    from lamplighter.featurepost.slides.typesetter import Typesetter  # noqa: PLC0415

    return Typesetter(
        template=order.template,
        template_dir=Path(order.template_dir),
        library_dir=Path(order.library_dir),
        root_dir=root_dir,
        fonts=order.fonts,
        bundled_fonts_dir=Path(order.bundled_fonts_dir),
        own_fonts=order.own_fonts,
    )


def _compose_document(
    order: CarouselOrder, wording: Wording, fonts: tuple[str, ...], photos: tuple[str | None, ...]
) -> Document:
    """Return everything the template is told; raises RenderError for letters no font has."""
    from lamplighter.featurepost.slides.typesetter import Document, PageSlide  # noqa: PLC0415

    return Document(
        size=order.size,
        fonts=fonts,
        lang=order.language,
        theme=order.palette,
        brand=wording.brand(order.brand),
        slides=tuple(
            PageSlide(role=slide.role.value, photo=photo, words=wording.words(number, slide.text))
            for number, (slide, photo) in enumerate(zip(order.slides, photos, strict=True), start=1)
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
