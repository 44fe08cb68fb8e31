"""The worker: a process that makes one carousel and says so in JSON; started by the renderer, ended when it is late."""

from __future__ import annotations

import sys
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lamplighter.errors import DiskError, InputError
from lamplighter.featurepost.slides.carousel import RenderError
from lamplighter.featurepost.slides.exchange import Made, Refused, Request, SlideOrder, parse_request, render_answer
from lamplighter.featurepost.slides.photo_box import SMALLEST_SIDE, PhotoRefused, box_photo
from lamplighter.featurepost.slides.raster import write_pictures
from lamplighter.featurepost.slides.typesetter import Document, PageSlide, Typesetter
from lamplighter.featurepost.slides.wording import Wording
from lamplighter.host.process import die_with_parent

_THREADS = 2
_PHOTO_QUALITY = 92
_FULL_CHROMA = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPhoto:
    """Where a slide's photo lies below the document's root (none: it has none), and a remark about it."""

    path: str | None
    note: str = ""


def main() -> int:
    """Read a request from standard input, write the answer to standard output, return the exit code."""
    die_with_parent()
    request = parse_request(sys.stdin.buffer.read())
    sys.stdout.buffer.write(render_answer(make_carousel(request)))
    sys.stdout.buffer.flush()
    return 0


def make_carousel(request: Request) -> Made | Refused:
    """Return the finished pictures of a carousel, or why they cannot be made."""
    try:
        with ThreadPoolExecutor(_THREADS) as executor:
            return _make(request, executor)
    except RenderError as error:
        return Refused(subject=error.subject, cause=error.cause, remedy=error.remedy)


def _make(request: Request, executor: Executor) -> Made:
    root_dir = Path(request.scratch_dir)
    (root_dir / "photos").mkdir()
    placing = [
        executor.submit(place_photo, number, slide, root_dir) for number, slide in enumerate(request.slides, start=1)
    ]
    typesetter = _set_up(request, root_dir)
    wording = Wording(coverage=typesetter.read_coverage())
    brand = wording.brand(request.brand)
    words = [wording.words(number, slide.text) for number, slide in enumerate(request.slides, start=1)]
    photos = [future.result() for future in placing]
    document = Document(
        size=request.size,
        fonts=typesetter.fonts,
        lang=request.language,
        theme=request.colours,
        brand=brand,
        slides=tuple(
            PageSlide(role=slide.role.value, photo=photo.path, words=found)
            for slide, photo, found in zip(request.slides, photos, words, strict=True)
        ),
    )
    typeset = typesetter.typeset(document)
    pictures = write_pictures(
        typeset.pdf,
        Path(request.output_dir),
        size=request.size,
        expected=len(request.slides),
        subject=f"template {request.template}",
        executor=executor,
    )
    notes = (*(photo.note for photo in photos if photo.note), *typeset.remarks)
    return Made(pictures=pictures, notes=notes, fit=(*wording.cut, *typeset.fit))


def _set_up(request: Request, root_dir: Path) -> Typesetter:
    return Typesetter(
        template=request.template,
        template_dir=Path(request.template_dir),
        library_dir=Path(request.library_dir),
        root_dir=root_dir,
        fonts=request.fonts,
        bundled_fonts_dir=Path(request.bundled_fonts_dir),
        own_fonts_dir=Path(request.own_fonts_dir) if request.own_fonts_dir else None,
    )


def place_photo(number: int, slide: SlideOrder, root_dir: Path) -> PlacedPhoto:
    """Write the slide's photo in its exact box below `root_dir`; raises RenderError when it cannot be used."""
    if slide.photo_box is None:
        return PlacedPhoto(path=None)
    if slide.photo is None:
        return PlacedPhoto(path=None, note=f"slide {number}: no photo, so it shows the brand's colours")
    try:
        boxed = box_photo(Path(slide.photo), slide.photo_box)
    except (PhotoRefused, InputError, DiskError) as error:
        raise RenderError(f"slide {number}", f"photo {Path(slide.photo).name}: {error.cause}") from error
    name = f"photos/{number}.jpg"
    boxed.image.save(root_dir / name, "JPEG", quality=_PHOTO_QUALITY, subsampling=_FULL_CHROMA)
    width, height = boxed.source_size
    note = f"slide {number}: the photo is only {width}x{height}; take one of {SMALLEST_SIDE} pixels or more"
    return PlacedPhoto(path=f"/{name}", note=note if boxed.is_coarse else "")


if __name__ == "__main__":
    sys.exit(main())
