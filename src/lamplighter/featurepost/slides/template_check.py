"""Tries a template with every fixture: one contact sheet to look at, and a list of what does not fit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from lamplighter.errors import UsageError
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.carousel import Carousel, Made, TemplateBroken, Trouble
from lamplighter.featurepost.slides.contact_sheet import Cell, Column, Row, Sheet, choose_cell, render_sheet
from lamplighter.featurepost.slides.fixture import (
    FIXTURES,
    Fixture,
    Script,
    all_words,
    compose_fixture,
    find_unlimited,
)
from lamplighter.featurepost.slides.fixture_photo import FixturePhotos, PhotoKind, write_fixture_photos
from lamplighter.featurepost.slides.template_folder import Template
from lamplighter.featurepost.slides.template_report import CheckReport
from lamplighter.host.files import make_folder, private_folder, write_atomic

_CELL = (270, 420)
_MOST_PROCESSES = 4
_SHOWN_LETTERS = 40
_NAMED_LETTERS = 4
_SUFFIXES = (".jpg", ".jpeg", ".png")


class Artist(Protocol):
    """Draws carousels; the Renderer is one."""

    def render(self, carousel: Carousel, template: Template, target_dir: Path) -> Made:
        """Write the slides of a carousel; raises RenderError."""

    def find_missing(self, text: str, template: Template) -> str:
        """Return the letters of a text that no font has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """One fixture in one script: what was drawn of it, or why it was not."""

    fixture: Fixture
    script: Script
    roles: tuple[Role, ...] = ()
    images: tuple[Image.Image, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""

    @property
    def name(self) -> str:
        return f"{self.fixture.name}, {self.script.value}"


def check_template(template: Template, artist: Artist, sheet_file: Path) -> CheckReport:
    """Draw every fixture, write the contact sheet, and return what does not fit.

    Raises TemplateBroken for a template that cannot be drawn (then nothing is written), UsageError for a file that is
    to be no picture, DiskError.
    """
    check_sheet_file(sheet_file)
    with private_folder() as folder:
        photos = write_fixture_photos(folder)
        trials = _try_all(_Bench(template=template, artist=artist, photos=photos, folder=folder))
    lacking = tuple(role for role in Role if template.layout(role) is None)
    sheet = _compose_sheet(template, trials)
    write_atomic(sheet_file, render_sheet(sheet, as_png=sheet_file.suffix.lower() == ".png"))
    return CheckReport(
        template=template.name,
        sheet_file=sheet_file,
        slides=sum(len(trial.images) for trial in trials),
        problems=(
            *(f"there is no [roles.{role.value}]: a feature with such a slide cannot be made" for role in lacking),
            *(line for trial in trials for line in _describe_problems(trial)),
        ),
        remarks=(
            *(f"no limit is named for {name}: no writer knows how long it may be" for name in find_unlimited(template)),
            *dict.fromkeys(note for trial in trials for note in trial.notes),
            *(line for trial in trials for line in _describe_remarks(trial)),
        ),
    )


def check_sheet_file(file: Path) -> None:
    """Raise UsageError for a file that can be no picture, before anything is drawn for it."""
    if file.suffix.lower() not in _SUFFIXES:
        raise UsageError(str(file), "a sheet is a picture", f"name it like sheet{_SUFFIXES[0]} or sheet{_SUFFIXES[-1]}")
    if file.is_dir():
        raise UsageError(str(file), "this is a folder", "name a file in it")
    if not file.parent.is_dir():
        raise UsageError(str(file), "its folder is not there", "make the folder first")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """What a trial needs: the template, who draws it, the photos, room for the pictures."""

    template: Template
    artist: Artist
    photos: FixturePhotos
    folder: Path

    def try_one(self, number: int, fixture: Fixture, script: Script) -> _Trial:
        """Draw one fixture in one script; raises TemplateBroken, naming it unless it is the very first."""
        carousel, _ = compose_fixture(fixture, script, self.template, self.photos)
        missing = self.artist.find_missing(all_words(carousel), self.template)
        if missing or not carousel.slides:
            return _Trial(fixture=fixture, script=script, missing=missing)
        target_dir = self.folder / f"trial-{number}"
        make_folder(target_dir)
        try:
            made = self.artist.render(carousel, self.template, target_dir)
        except TemplateBroken as error:
            where = f" (with {fixture.name}, {script.value})" if number else ""
            raise TemplateBroken(error.subject, f"{error.cause}{where}", error.remedy) from error
        return _Trial(
            fixture=fixture,
            script=script,
            roles=tuple(slide.role for slide in carousel.slides),
            images=tuple(_shrink(target_dir / picture.file, self.template) for picture in made.pictures),
            troubles=made.fit,
            notes=made.notes if fixture.photo is not PhotoKind.NONE else (),
        )


def _try_all(bench: _Bench) -> tuple[_Trial, ...]:
    """Draw the first fixture alone, as a broken template breaks there at once; then the others side by side."""
    tasks = [(fixture, script) for fixture in FIXTURES for script in fixture.scripts]
    first = bench.try_one(0, *tasks[0])
    executor = ThreadPoolExecutor(min(_MOST_PROCESSES, os.cpu_count() or 1))
    try:
        futures: list[Future[_Trial]] = [
            executor.submit(bench.try_one, number, *task) for number, task in enumerate(tasks[1:], start=1)
        ]
        return (first, *(future.result() for future in futures))
    finally:
        executor.shutdown(cancel_futures=True)


def _shrink(file: Path, template: Template) -> Image.Image:
    with Image.open(file) as image:
        return image.convert("RGB").resize(choose_cell(template.size, width=_CELL[0], height=_CELL[1]), reducing_gap=3)


def _describe_problems(trial: _Trial) -> Iterator[str]:
    """Yield a line for each text that must fit and does not, and for English letters no font has."""
    if trial.fixture.must_fit:
        yield from (describe_trouble(trial.name, trial.roles, trouble) for trouble in trial.troubles)
    if trial.missing and trial.script is Script.ENGLISH:
        yield f"{trial.name}: not shown: {_describe_missing(trial.missing)}"


def _describe_remarks(trial: _Trial) -> Iterator[str]:
    if not trial.fixture.must_fit:
        yield from (describe_trouble(trial.name, trial.roles, trouble) for trouble in trial.troubles)
    if trial.missing and trial.script is not Script.ENGLISH:
        yield f"{trial.name}: not shown: {_describe_missing(trial.missing)}; put a font that has them into fonts/"


def _describe_missing(missing: str) -> str:
    named = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:_NAMED_LETTERS])
    more = len(missing) - _NAMED_LETTERS
    return f"no font has {named}{f' and {more} more' if more > 0 else ''}"


def describe_trouble(where: str, roles: tuple[Role, ...], trouble: Trouble) -> str:
    """Return a text that does not fit in a line: where, which slide, which text, by how much."""
    text = " ".join(trouble.text.split())
    shown = text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}…"
    place = f"{where}: {roles[trouble.slide - 1].value}: the {trouble.field} {shown!r}"
    if trouble.edge:
        return f"{place} leaves the page by {trouble.excess} pixels at the {trouble.edge}"
    if trouble.broken:
        return f"{place} has a word too long for its place"
    return f"{place} needs {trouble.needed:.0f} pixels, {trouble.excess} more than there are"


def _compose_sheet(template: Template, trials: tuple[_Trial, ...]) -> Sheet:
    roles = tuple(role for role in Role if template.layout(role) is not None)
    rows = [
        Row(
            label=fixture.name,
            about=fixture.about,
            cells=tuple(_compose_cell(trial, role) for trial in trials if trial.fixture is fixture for role in roles),
        )
        for fixture in FIXTURES
    ]
    width, height = template.size
    return Sheet(
        title=f"Template {template.name}",
        about=f"{width} × {height} pixels; {', '.join(template.fonts)}; red is what does not fit",
        columns=tuple(
            Column(head=role.value, group=script.value if role is roles[0] else "")
            for script in FIXTURES[0].scripts
            for role in roles
        ),
        rows=tuple(rows),
        cell=choose_cell(template.size, width=_CELL[0], height=_CELL[1]),
    )


def _compose_cell(trial: _Trial, role: Role) -> Cell:
    if trial.missing:
        letters = ", ".join(f"U+{ord(letter):04X}" for letter in trial.missing[:_NAMED_LETTERS])
        return Cell(note=f"{trial.script.value}: not shown. No font has {letters}…")
    if role not in trial.roles:
        return Cell(note="never shown without a photo")
    position = trial.roles.index(role)
    marks = [_describe_mark(trouble) for trouble in trial.troubles if trouble.slide == position + 1]
    return Cell(image=trial.images[position], mark=", ".join(marks))


def _describe_mark(trouble: Trouble) -> str:
    if trouble.edge:
        return f"{trouble.field}: {trouble.excess} px off the page"
    return f"{trouble.field}: {'word cut' if trouble.broken else f'+{trouble.excess} px'}"
