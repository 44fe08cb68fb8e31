"""The worker: a process that makes one carousel and says so in JSON; started by the renderer, ended when it is late."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from lamplighter.errors import DiskError, FailureClass, InputError
from lamplighter.featurepost.slides.carousel import Made, RenderError
from lamplighter.featurepost.slides.order import CarouselOrder, Refused, SlideOrder, parse_order, render_answer
from lamplighter.featurepost.slides.photo_box import PhotoRefused, box_photo
from lamplighter.featurepost.slides.raster import write_pictures
from lamplighter.featurepost.slides.typesetter import Document, PageSlide, Typesetter
from lamplighter.featurepost.slides.wording import Wording
from lamplighter.host.files import DISK_TROUBLES, temporary_trouble
from lamplighter.host.process import die_with_parent

_THREADS = 2
_PHOTO_QUALITY = 92
_FULL_CHROMA = 0
_SPARE = timedelta(seconds=10)  # the parent ends a late worker itself; this is for when it cannot


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPhoto:
    """Where a slide's photo lies below the document's root (none: it has none), and a remark where one is missing."""

    path: str | None
    note: str = ""


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
    root_dir = Path(order.scratch_dir)
    (root_dir / "photos").mkdir()
    placing = [
        executor.submit(place_photo, number, slide, root_dir) for number, slide in enumerate(order.slides, start=1)
    ]
    typesetter = _set_up(order, root_dir)
    wording = Wording(coverage=typesetter.read_coverage())
    brand = wording.brand(order.brand)
    words = [wording.words(number, slide.text) for number, slide in enumerate(order.slides, start=1)]
    photos = [future.result() for future in placing]
    document = Document(
        size=order.size,
        fonts=typesetter.fonts,
        lang=order.language,
        theme=order.palette,
        brand=brand,
        slides=tuple(
            PageSlide(role=slide.role.value, photo=photo.path, words=found)
            for slide, photo, found in zip(order.slides, photos, words, strict=True)
        ),
    )
    typeset = typesetter.typeset(document)
    pictures = write_pictures(
        typeset.pdf,
        Path(order.output_dir),
        size=order.size,
        expected=len(order.slides),
        subject=f"template {order.template}",
        executor=executor,
    )
    notes = (*(photo.note for photo in photos if photo.note), *typeset.remarks)
    return Made(pictures=pictures, notes=notes, fit=(*wording.cut, *typeset.fit))


def _set_up(order: CarouselOrder, root_dir: Path) -> Typesetter:
    return Typesetter(
        template=order.template,
        template_dir=Path(order.template_dir),
        library_dir=Path(order.library_dir),
        root_dir=root_dir,
        fonts=order.fonts,
        bundled_fonts_dir=Path(order.bundled_fonts_dir),
        own_fonts_dir=Path(order.own_fonts_dir) if order.own_fonts_dir else None,
    )


def place_photo(number: int, slide: SlideOrder, root_dir: Path) -> PlacedPhoto:
    """Write the slide's photo in its exact box below `root_dir`; raises RenderError for a bad photo, DiskError."""
    if slide.photo_box is None:
        return PlacedPhoto(path=None)
    if slide.photo is None:
        return PlacedPhoto(path=None, note=f"slide {number}: no photo, so it shows the brand's colours")
    try:
        image = box_photo(Path(slide.photo), slide.photo_box)
    except (PhotoRefused, InputError) as error:
        raise RenderError(f"slide {number}", f"photo {Path(slide.photo).name}: {error.cause}") from error
    name = f"photos/{number}.jpg"
    buffer = io.BytesIO()  # Pillow's own writing loses what the operating system says of a full disk
    image.save(buffer, "JPEG", quality=_PHOTO_QUALITY, subsampling=_FULL_CHROMA)
    (root_dir / name).write_bytes(buffer.getvalue())
    return PlacedPhoto(path=f"/{name}")


if __name__ == "__main__":
    sys.exit(main())
