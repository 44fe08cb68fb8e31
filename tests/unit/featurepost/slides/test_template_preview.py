"""A preview shows a brand's own words and photos where it has any, says where it has not, and replaces only itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from tests.simulators.artist import FlatArtist
from tests.simulators.desk import Desk, make_feature
from tests.unit.featurepost.slides.studio import jpeg_bytes, paint

from lamplighter.errors import DiskError, InputError, UpstreamError
from lamplighter.featurepost.catalog import Brand, Theme
from lamplighter.featurepost.feature import Feature, Language, Role, Slide, SlideText
from lamplighter.featurepost.photo import Photo
from lamplighter.featurepost.slides.carousel import Carousel, RenderError, Trouble
from lamplighter.featurepost.slides.template_folder import find_template
from lamplighter.featurepost.slides.template_preview import Subject, preview_template

PHOTO = Photo(content=jpeg_bytes(paint(60, 75)), format="JPEG")


def _brand(language: Language = "en") -> Brand:
    return Brand(
        slug="kibo",
        name="Kibo",
        shop="file:kibo",
        handle="@kibo",
        language=language,
        permission="own",
        theme=Theme(accent="#123456", on_accent="#ffffff"),
    )


def _subject(
    feature: Feature | None = None,
    fetch: Callable[[str], Photo] = {"a.jpg": PHOTO, "b.jpg": PHOTO, "c.jpg": PHOTO}.__getitem__,
    language: Language = "en",
) -> Subject:
    return Subject(brand=_brand(language), url="kibo.example", feature=feature, fetch_photo=fetch)


@pytest.fixture
def feature(tmp_path_factory: pytest.TempPathFactory) -> Feature:
    """Return a feature of a cover, two products and a closing without a photo."""
    desk = Desk.open(tmp_path_factory.mktemp("desk"))
    made = make_feature(desk.stock.new_draft("kibo"), "kibo", made_at=desk.clock.now())
    slides = tuple(
        Slide(file=f"slide-{number}.jpg", role=role, text=SlideText(title=f"t{number}"), alt="", photo=photo)
        for number, (role, photo) in enumerate(
            ((Role.COVER, "a.jpg"), (Role.PRODUCT, "b.jpg"), (Role.PRODUCT, "c.jpg"), (Role.CLOSING, None)), start=1
        )
    )
    return msgspec.structs.replace(made, slides=slides)


def test_the_newest_features_words_and_photos_are_shown(feature: Feature, tmp_path: Path) -> None:
    """In its order, each photo fetched by its source, in the brand's name and colours."""
    asked: list[str] = []

    def fetch(source: str) -> Photo:
        asked.append(source)
        return PHOTO

    artist = FlatArtist()
    report = preview_template(find_template("default"), _subject(feature, fetch), artist, tmp_path / "out")
    (carousel,) = artist.carousels
    assert asked == ["a.jpg", "b.jpg", "c.jpg"]
    assert [(slide.role, slide.text) for slide in carousel.slides] == [
        (slide.role, slide.text) for slide in feature.slides
    ]
    assert [slide.photo_file is None for slide in carousel.slides] == [False, False, False, True]
    assert (carousel.brand_name, carousel.handle, carousel.url) == ("Kibo", "@kibo", "kibo.example")
    assert carousel.theme.accent == "#123456"
    assert (report.feature, report.remarks) == (feature.id, ())
    assert sorted(file.name for file in report.folder.iterdir()) == sorted(file.name for file in report.files)
    assert [file.name for file in report.files] == [*(f"slide-{number}.jpg" for number in (1, 2, 3, 4)), "sheet.jpg"]
    with Image.open(report.files[-1]) as image:
        assert image.width > 4 * 432


def test_photos_that_cannot_be_had_are_the_samples_and_said(feature: Feature, tmp_path: Path) -> None:
    """The first that fails is the last that is asked for: an offline shop is not waited for slide by slide."""
    asked: list[str] = []

    def fetch(source: str) -> Photo:
        asked.append(source)
        if source == "b.jpg":
            raise UpstreamError("b.jpg", "no route to host")
        return PHOTO

    artist = FlatArtist()
    report = preview_template(find_template("default"), _subject(feature, fetch), artist, tmp_path / "out")
    assert asked == ["a.jpg", "b.jpg"]
    assert report.remarks == ("sample photos from slide 2 on: b.jpg: no route to host",)
    photos = [slide.photo_file for slide in artist.carousels[0].slides]
    assert [photo.name if photo else None for photo in photos] == [
        "photo-1.jpeg",
        "dawn-mug-1.jpg",
        "dawn-mug-1.jpg",
        None,
    ]


@pytest.mark.parametrize(("language", "title"), [("en", "Slow mornings, made by hand"), ("ja", "朝のコーヒーを")])
def test_a_brand_without_a_feature_gets_made_up_words(language: Language, title: str, tmp_path: Path) -> None:
    """In its language, name and colours, and it is said."""
    artist = FlatArtist()
    report = preview_template(find_template("editorial"), _subject(language=language), artist, tmp_path / "out")
    (carousel,) = artist.carousels
    assert carousel.slides[0].text.title.startswith(title)
    assert (carousel.brand_name, carousel.language) == ("Kibo", language)
    assert (report.feature, report.remarks) == ("", ("kibo has no feature yet: words and photos are made up",))


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    """By slide and pixels."""
    trouble = Trouble(slide=1, field="title", text="Tea", size=20, needed=200, limit=150, broken=False)
    artist = FlatArtist(judge=lambda carousel: (trouble,) * len(carousel.slides[:1]))
    report = preview_template(find_template("default"), _subject(), artist, tmp_path / "out")
    assert report.remarks[-1] == "does not fit: cover: the title 'Tea' needs 200 pixels, 50 more than there are"


def test_a_second_preview_takes_the_place_of_the_first(feature: Feature, tmp_path: Path) -> None:
    """With no slide of the first left in it."""
    template = find_template("default")
    preview_template(template, _subject(feature), FlatArtist(), tmp_path / "out")
    fewer = msgspec.structs.replace(feature, slides=feature.slides[:2])
    preview_template(template, _subject(fewer), FlatArtist(), tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["sheet.jpg", "slide-1.jpg", "slide-2.jpg"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_preview_that_fails_leaves_the_earlier_one(tmp_path: Path) -> None:
    """All or none."""
    preview_template(find_template("default"), _subject(), FlatArtist(), tmp_path / "out")
    before = sorted(file.name for file in (tmp_path / "out").iterdir())

    def fail(carousel: Carousel) -> tuple[Trouble, ...]:
        del carousel
        raise RenderError("slide 1", "it cannot be")

    with pytest.raises(RenderError):
        preview_template(find_template("default"), _subject(), FlatArtist(judge=fail), tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """Whoever put it there keeps it."""

    def appear(carousel: Carousel) -> tuple[Trouble, ...]:
        del carousel
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine.txt").touch()
        return ()

    with pytest.raises((InputError, DiskError)):
        preview_template(find_template("default"), _subject(), FlatArtist(judge=appear), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("kind", ["other files", "file", "link", "no parent"])
def test_a_place_that_is_no_earlier_preview_is_refused(kind: str, tmp_path: Path) -> None:
    """Before anything is drawn; nothing of a person's is ever replaced."""
    target_dir = tmp_path / "out"
    if kind == "other files":
        target_dir.mkdir()
        (target_dir / "holiday.jpg").touch()
    elif kind == "file":
        target_dir.touch()
    elif kind == "link":
        target_dir.symlink_to(tmp_path)
    else:
        target_dir = tmp_path / "nowhere" / "out"
    before = sorted(tmp_path.rglob("*"))
    artist = FlatArtist()
    with pytest.raises(InputError):
        preview_template(find_template("default"), _subject(), artist, target_dir)
    assert (artist.carousels, sorted(tmp_path.rglob("*"))) == ([], before)
