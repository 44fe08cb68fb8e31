"""The slides by the product: whole, as `generate` makes them, or (`--warm`) by its worker's function, all in here."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from bench.peers.errand import BRAND, HANDLE, URL, Errand, compose_words, serve

from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role, SlideText
from lamplighter.featurepost.slides.carousel import Carousel, SlideSpec
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import find_template
from lamplighter.host.process import Command, Finished, SystemRunner


class OrderTaken(Exception):
    """There is an order, and nothing was run."""


class OrderTaker:
    """A runner that keeps the order and runs nothing."""

    def __init__(self) -> None:
        self.order = b""

    def run(self, command: Command) -> Finished:
        """Keep the order; raises OrderTaken."""
        self.order = command.stdin
        raise OrderTaken


def compose_carousel(errand: Errand) -> Carousel:
    """Return the errand as the product's own carousel."""
    slides = tuple(
        SlideSpec(
            role=Role(words.role),
            photo_file=Path(photo),
            text=SlideText(
                kicker=words.kicker,
                title=words.title,
                subtitle=words.subtitle,
                name=words.name,
                price=words.price,
                note=words.note,
                body=words.body,
            ),
        )
        for words, photo in zip(compose_words(errand.turn), errand.photos, strict=True)
    )
    return Carousel(slides=slides, brand_name=BRAND, handle=HANDLE, url=URL, language="ja", theme=Theme())


def make_whole(errand: Errand) -> None:
    """Make the pictures as the product does: an order, a worker process, checked and durable files."""
    output_dir = Path(errand.output_dir)
    made = Renderer(runner=SystemRunner()).render(compose_carousel(errand), find_template("default"), output_dir)
    name_by_number(output_dir, [picture.file for picture in made.pictures])


def make_warm(errand: Errand) -> None:
    """Make the pictures by the worker's function, in this process."""
    import msgspec  # noqa: PLC0415 - warm only

    from lamplighter.featurepost.slides.order import Refused, parse_order  # noqa: PLC0415 - warm only
    from lamplighter.featurepost.slides.worker import make_carousel  # noqa: PLC0415 - warm only

    output_dir, taker = Path(errand.output_dir), OrderTaker()
    with contextlib.suppress(OrderTaken):
        Renderer(runner=taker).render(compose_carousel(errand), find_template("default"), output_dir)
    order = parse_order(taker.order)
    with tempfile.TemporaryDirectory(prefix="lamplighter-warm-") as scratch:
        made = make_carousel(msgspec.structs.replace(order, scratch_dir=scratch, output_dir=str(output_dir)))
    if isinstance(made, Refused):
        raise SystemExit(f"{made.subject}: {made.cause}")
    name_by_number(output_dir, [picture.file for picture in made.pictures])


def name_by_number(folder: Path, files: list[str]) -> None:
    """Rename the pictures as the errand wants them."""
    for number, file in enumerate(files, start=1):
        os.replace(folder / file, folder / f"{number}.jpg")


if __name__ == "__main__":
    serve(make_warm if "--warm" in sys.argv else make_whole)
