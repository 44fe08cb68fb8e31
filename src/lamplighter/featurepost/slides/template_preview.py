"""Shows how a template looks with one brand: its newest feature's words and photos, or fixture words in its name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from lamplighter.errors import InputError, LamplighterError
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Feature, Role
from lamplighter.featurepost.photo import Photo
from lamplighter.featurepost.slides.carousel import Carousel, SlideSpec
from lamplighter.featurepost.slides.contact_sheet import Cell, Column, Row, Sheet, choose_cell, render_sheet
from lamplighter.featurepost.slides.fixture import FIXTURES, Script, compose_slides
from lamplighter.featurepost.slides.fixture_photo import FixturePhotos, PhotoKind, write_fixture_photos
from lamplighter.featurepost.slides.template_check import Artist, describe_trouble
from lamplighter.featurepost.slides.template_folder import Template
from lamplighter.featurepost.slides.template_report import PreviewReport
from lamplighter.host.files import make_folder, move_folder, private_folder, write_atomic

SHEET_FILE = "sheet.jpg"
_OURS = re.compile(r"slide-[0-9]+\.jpg|sheet\.jpg")
_CELL = (432, 640)
_COLUMNS = 4

FetchPhoto = Callable[[str], Photo]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Whom a preview shows: the brand, its address as it is shown, its newest feature, the way to its photos."""

    brand: Brand
    url: str
    feature: Feature | None
    fetch_photo: FetchPhoto


def preview_template(template: Template, subject: Subject, artist: Artist, target_dir: Path) -> PreviewReport:
    """Write the slides and a sheet of them into `target_dir`, all or none, in place of an earlier preview.

    Raises RenderError or ConfigError when the slides cannot be made, InputError when the folder holds anything else,
    DiskError.
    """
    _refuse_foreign(target_dir)
    if not target_dir.parent.is_dir():
        raise InputError(str(target_dir.parent), "there is no such folder", "make it first")
    with private_folder(target_dir.parent) as folder:
        made_dir = folder / "preview"
        make_folder(made_dir)
        slides, remarks = _choose_slides(template, subject, folder)
        roles = tuple(slide.role for slide in slides)
        made = artist.render(_compose(subject, slides), template, made_dir)
        names = tuple(picture.file for picture in made.pictures)
        troubles = tuple(describe_trouble("does not fit", roles, trouble) for trouble in made.fit)
        sheet = _compose_sheet(template, subject, roles, tuple(made_dir / name for name in names))
        write_atomic(made_dir / SHEET_FILE, render_sheet(sheet))
        _refuse_foreign(target_dir)  # once more: drawing took a while
        _put_in_place(made_dir, target_dir, folder / "before")
    return PreviewReport(
        folder=target_dir,
        files=tuple(target_dir / name for name in (*names, SHEET_FILE)),
        brand=subject.brand.slug,
        feature=subject.feature.id if subject.feature else "",
        remarks=(*remarks, *made.notes, *troubles),
    )


def _put_in_place(made_dir: Path, target_dir: Path, before_dir: Path) -> None:
    """Move a finished preview to its place; the earlier one stays when that fails."""
    earlier = os.path.lexists(target_dir)
    if earlier:
        move_folder(target_dir, before_dir)
    try:
        move_folder(made_dir, target_dir)
    except BaseException:
        if earlier:
            move_folder(before_dir, target_dir)
        raise


def _refuse_foreign(target_dir: Path) -> None:
    """Raise InputError for a place that is not free and no earlier preview: nothing of a person's is ever replaced."""
    if not os.path.lexists(target_dir):
        return
    own = not target_dir.is_symlink() and target_dir.is_dir()
    if not own or any(not _OURS.fullmatch(file.name) for file in target_dir.iterdir()):
        raise InputError(str(target_dir), "it holds other things than a preview", "choose another --output")


def _choose_slides(template: Template, subject: Subject, folder: Path) -> tuple[tuple[SlideSpec, ...], tuple[str, ...]]:
    """Return the slides to draw, and a remark where they are not quite the brand's own."""
    photos = write_fixture_photos(folder)
    if subject.feature is None:
        script = Script.JAPANESE if subject.brand.language == "ja" else Script.ENGLISH
        slides = compose_slides(FIXTURES[0], script, template, photos)
        return slides, (f"{subject.brand.slug} has no feature yet: words and photos are made up",)
    return _take_feature(subject.feature, subject.fetch_photo, photos, folder)


def _take_feature(
    feature: Feature, fetch_photo: FetchPhoto, photos: FixturePhotos, folder: Path
) -> tuple[tuple[SlideSpec, ...], tuple[str, ...]]:
    """Return a feature's slides with its photos; once one cannot be had, with sample photos from there on."""
    slides: list[SlideSpec] = []
    remark = ""
    for number, slide in enumerate(feature.slides, start=1):
        spec = SlideSpec(role=slide.role, photo_file=None, text=slide.text)
        if slide.photo is not None and not remark:
            try:
                photo = fetch_photo(slide.photo)
            except LamplighterError as error:
                remark = f"sample photos from slide {number} on: {error}"
            else:
                file = folder / f"photo-{number}.{photo.format.lower()}"
                write_atomic(file, photo.content)
                spec = replace(spec, photo_file=file)
        if slide.photo is not None and spec.photo_file is None:
            spec = replace(spec, photo_file=photos.find(PhotoKind.USUAL, slide.role))
        slides.append(spec)
    return tuple(slides), (remark,) if remark else ()


def _compose(subject: Subject, slides: tuple[SlideSpec, ...]) -> Carousel:
    return Carousel(
        slides=slides,
        brand_name=subject.brand.name,
        handle=subject.brand.handle,
        url=subject.url,
        language=subject.brand.language,
        theme=subject.brand.theme,
    )


def _compose_sheet(template: Template, subject: Subject, roles: tuple[Role, ...], files: tuple[Path, ...]) -> Sheet:
    cell = choose_cell(template.size, width=_CELL[0], height=_CELL[1])
    cells: list[Cell] = []
    for file in files:
        with Image.open(file) as image:
            cells.append(Cell(image=image.convert("RGB").resize(cell, reducing_gap=3)))
    starts = range(0, len(cells), _COLUMNS)
    words = f"the words of {subject.feature.id}" if subject.feature else "made-up words"
    return Sheet(
        title=f"Template {template.name}, brand {subject.brand.slug}",
        about=f"{len(roles)} slides, {words}",
        columns=tuple(Column(head="") for _ in roles[:_COLUMNS]),
        rows=tuple(Row(label="", about="", cells=tuple(cells[start : start + _COLUMNS])) for start in starts),
        cell=cell,
    )
