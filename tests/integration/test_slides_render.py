"""Real carousels by the real worker process: what Instagram gets, in both languages, with words nobody expected."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.unit.featurepost.slides.studio import (
    SETTINGS,
    StudioRunner,
    carousel_of,
    slide,
    write_photo,
    write_template,
)

import lamplighter.featurepost.slides
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Language, Role, SlideText
from lamplighter.featurepost.slides.carousel import Carousel, Made, RenderError, SlideSpec
from lamplighter.featurepost.slides.palette import contrast
from lamplighter.featurepost.slides.renderer import Renderer
from lamplighter.featurepost.slides.template_folder import Template, find_template

FONTS_DIR = Path(lamplighter.featurepost.slides.__file__).parent / "fonts"
WORDS: dict[Language, dict[Role, dict[str, str]]] = {
    "en": {
        Role.COVER: {"kicker": "Gift guide", "title": "Slow mornings, made by hand", "subtitle": "Three pieces"},
        Role.PRODUCT: {"name": "Tsukishiro mug", "price": "€38", "note": "Thrown by hand. Holds 320 ml."},
        Role.DETAIL: {"title": "Wood ash makes the glaze", "body": "The potter burns pine and sieves the ash."},
        Role.CLOSING: {"title": "Which one would you keep?", "body": "Tell us below."},
    },
    "ja": {
        Role.COVER: {"kicker": "秋の道具", "title": "朝のコーヒーを、ゆっくり。", "subtitle": "三つのうつわ"},
        Role.PRODUCT: {"name": "「月白」のマグ", "price": "¥3,980", "note": "手びねりで。容量は 320 ml です。"},
        Role.DETAIL: {"title": "灰がつくる釉薬の色", "body": "松を焼いた灰をふるい、粘土と合わせます。"},
        Role.CLOSING: {"title": "どれを選びますか？", "body": "コメントで教えてください。"},
    },
}


def _render(carousel: Carousel, template: Template, target_dir: Path, *, fonts_dir: Path | None = None) -> Made:
    renderer = Renderer(runner=StudioRunner(), fonts_dir=fonts_dir, deadline=timedelta(seconds=60))
    return renderer.render(carousel, template, target_dir)


def _all_roles(photo_file: Path, language: Language) -> tuple[SlideSpec, ...]:
    return tuple(slide(role, photo_file, **words) for role, words in WORDS[language].items())


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", ["default", "editorial"])
def test_a_carousel_is_what_instagram_takes(name: str, language: Language, tmp_path: Path) -> None:
    """Every slide is a baseline sRGB JPEG of 1080x1350 below 8 MB without EXIF; nothing else is in the folder."""
    photo_file = write_photo(tmp_path / "photo.jpg")
    target_dir = tmp_path / "feature"
    carousel = carousel_of(*_all_roles(photo_file, language), language=language)
    rendered = _render(carousel, find_template(name), target_dir)
    assert (rendered.notes, rendered.fit) == ((), ())
    assert sorted(file.name for file in target_dir.iterdir()) == [f"slide-{number}.jpg" for number in range(1, 5)]
    for made in rendered.pictures:
        content = (target_dir / made.file).read_bytes()
        assert len(content) == made.size_bytes < 8_000_000
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            assert (image.format, image.size, image.mode) == ("JPEG", (1080, 1350), "RGB")
            assert not {"progressive", "exif", "comment"} & set(image.info)
            assert image.info["icc_profile"]
            assert len(np.unique(np.asarray(image.resize((20, 20))))) > 20


def test_the_same_carousel_twice_is_the_same_bytes(tmp_path: Path) -> None:
    """Nothing in a picture depends on the time, the folder or the process."""
    photo_file = write_photo(tmp_path / "photo.jpg")
    carousel = carousel_of(*_all_roles(photo_file, "ja"), language="ja")
    first = _render(carousel, find_template("default"), tmp_path / "first")
    second = _render(carousel, find_template("default"), tmp_path / "second")
    assert [made.sha256 for made in first.pictures] == [made.sha256 for made in second.pictures]
    assert (tmp_path / "first" / "slide-1.jpg").read_bytes() == (tmp_path / "second" / "slide-1.jpg").read_bytes()


@pytest.mark.parametrize("name", ["default", "editorial"])
@pytest.mark.parametrize(
    ("language", "sample"),
    [
        ("en", "Wonderful stoneware bowls from a quiet workshop by the sea, fired in wood for days, "),
        ("ja", "二十年の窯焚きから生まれた思いがけないほど美しい秋のうつわたちを、毎日の食卓へお届けします。"),
    ],
)
def test_words_as_long_as_the_template_allows_fit(name: str, language: Language, sample: str, tmp_path: Path) -> None:
    """The limits that go into the writer's prompt are kept promises in both languages."""
    template = find_template(name)
    photo_file = write_photo(tmp_path / "photo.jpg")
    slides = []
    for layout in template.roles:
        words = {
            field: (sample * 4)[:letters].strip()
            for field in SlideText.__struct_fields__
            if field != "price" and (letters := template.limits.limit(layout.role, field))
        }
        if layout.role is Role.PRODUCT:
            words["price"] = "¥1,234,567.89"
        slides.append(slide(layout.role, photo_file, **words))
    rendered = _render(carousel_of(*slides, language=language), template, tmp_path / "out")
    assert rendered.fit == ()


@pytest.mark.parametrize("name", ["default", "editorial"])
def test_empty_words_leave_no_trace(name: str, tmp_path: Path) -> None:
    """A product without a price, a cover of a title alone, slides without any word: all are drawn, nothing is said."""
    photo_file = write_photo(tmp_path / "photo.jpg")
    slides = (
        slide(Role.COVER, photo_file, title="Tea"),
        slide(Role.PRODUCT, photo_file, name="Mug"),
        slide(Role.DETAIL, photo_file),
        slide(Role.CLOSING, photo_file),
    )
    carousel = Carousel(slides=slides, brand_name="Kibo", handle="@kibo", url="", language="en", theme=Theme())
    rendered = _render(carousel, find_template(name), tmp_path / "out")
    assert (len(rendered.pictures), rendered.notes, rendered.fit) == (4, (), ())


def test_a_product_without_a_price_has_no_empty_pill(tmp_path: Path) -> None:
    """Where the price would stand there is no accent colour at all."""
    photo_file = write_photo(tmp_path / "photo.jpg")
    theme = Theme(accent="#0000ff", on_accent="#ffffff")
    slides = (slide(Role.PRODUCT, photo_file, name="Mug", price="€38"), slide(Role.PRODUCT, photo_file, name="Mug"))
    _render(carousel_of(*slides, theme=theme), find_template("default"), tmp_path / "out")
    blue = []
    for number in (1, 2):
        with Image.open(tmp_path / "out" / f"slide-{number}.jpg") as image:
            area = image.crop((600, 790, 1080, 900))
        red, green, ink = (np.asarray(area.getchannel(name)) for name in "RGB")
        blue.append(int(((ink > 180) & (red < 60) & (green < 60)).sum()))
    assert blue[0] > 4000
    assert blue[1] == 0


def test_white_words_can_be_read_on_a_white_photo(tmp_path: Path) -> None:
    """Beside the words of a cover, from their first line down, the ground is dark enough for 4.5:1."""
    Image.new("RGB", (1080, 1350), "white").save(tmp_path / "white.png")
    cover = slide(Role.COVER, tmp_path / "white.png", title="Tea")
    _render(carousel_of(cover), find_template("default"), tmp_path / "out")
    with Image.open(tmp_path / "out" / "slide-1.jpg") as image:
        pixels = np.asarray(image)
    for row in range(970, 1350, 10):
        red, green, blue = (int(value) for value in pixels[row, 40])
        assert contrast(f"#{red:02x}{green:02x}{blue:02x}", "#ffffff") >= 4.5
    assert pixels[300, 40].min() > 250


@pytest.mark.parametrize("name", ["default", "editorial"])
def test_slides_without_photos_show_the_brands_colours_and_say_so(name: str, tmp_path: Path) -> None:
    """Each missing photo is a note with the slide's number."""
    slides = (slide(Role.COVER, title="Tea"), slide(Role.CLOSING, title="Bye"))
    rendered = _render(carousel_of(*slides), find_template(name), tmp_path / "out")
    assert rendered.notes == tuple(f"slide {number}: no photo, so it shows the brand's colours" for number in (1, 2))


def test_a_tiny_photo_is_shown(tmp_path: Path) -> None:
    """How many pixels a photo must have is decided where it is chosen."""
    photo_file = write_photo(tmp_path / "tiny.jpg", width=160, height=120)
    rendered = _render(carousel_of(slide(Role.COVER, photo_file, title="Tea")), find_template("default"), tmp_path)
    assert (len(rendered.pictures), rendered.notes) == (1, ())


HOSTILE = (
    '#panic("x")',
    '#read("/etc/passwd")',
    '#import "@preview/cetz:0.3.0"',
    "*bold* _under_ `code` $x^2$ = Title",
    "<b>bold</b> &amp; <script>",
    "\u202egnp.exe\u202c \u2066abc\u2069",
    '"]) #eval("1") [',
    "// a comment /* another */",
    "\\ \\u{1F600} ~ -- --- '",
    "https://example.org/a?b=c#d @kibo <label>",
    "☕🏺👩🏽‍🎨🏳️‍🌈🇯🇵1️⃣❤️",
    "\x00\x07\x1b[31m red",
)


@pytest.mark.parametrize("name", ["default", "editorial"])
def test_hostile_words_stay_words(name: str, tmp_path: Path) -> None:
    """Markup, code, control characters and emoji of a shop are shown as they are, never run."""
    slides = tuple(slide(Role.COVER, kicker="a *b*", title=words, subtitle=words) for words in HOSTILE)
    rendered = _render(carousel_of(*slides, name="#kibo *k*"), find_template(name), tmp_path / "out")
    assert len(rendered.pictures) == len(HOSTILE)
    assert rendered.fit == ()


def test_markup_in_words_is_drawn_letter_by_letter(tmp_path: Path) -> None:
    """`*bold*` with its stars is another picture than `bold`."""
    slides = tuple(slide(Role.COVER, title=words) for words in ("*bold*", "bold", "*bold*"))
    first, second, third = _render(carousel_of(*slides), find_template("editorial"), tmp_path).pictures
    with Image.open(tmp_path / first.file) as image:
        starred = image.crop((0, 130, 1080, 420)).tobytes()
    with Image.open(tmp_path / second.file) as image:
        plain = image.crop((0, 130, 1080, 420)).tobytes()
    with Image.open(tmp_path / third.file) as image:
        again = image.crop((0, 130, 1080, 420)).tobytes()
    assert starred != plain
    assert starred == again


@pytest.mark.parametrize(
    ("words", "letters"),
    [("简体 글", "简 (U+7B80) 글 (U+AE00)"), ("مرحبا", "ا (U+0627)"), ("mug 글", "글 (U+AE00)")],
)
def test_letters_no_font_has_name_the_slide(words: str, letters: str, tmp_path: Path) -> None:
    """A silent empty box is never posted."""
    with pytest.raises(RenderError) as caught:
        _render(
            carousel_of(slide(Role.COVER, title="Tea"), slide(Role.CLOSING, title=words)),
            find_template("default"),
            tmp_path / "out",
        )
    assert caught.value.subject == "slide 2"
    assert letters in caught.value.cause
    assert not (tmp_path / "out").exists()


def test_a_word_of_300_letters_is_reported_not_raised(tmp_path: Path) -> None:
    """The picture is made, and the trouble names slide, field and that a word was cut."""
    rendered = _render(
        carousel_of(slide(Role.COVER, title="Tea"), slide(Role.CLOSING, title="x" * 300)),
        find_template("default"),
        tmp_path,
    )
    (trouble,) = rendered.fit
    assert (trouble.slide, trouble.field, trouble.text, trouble.broken) == (2, "title", "x" * 300, True)


@pytest.mark.parametrize("name", ["default", "editorial"])
def test_words_far_too_long_are_reported_for_each_field(name: str, tmp_path: Path) -> None:
    """Several lines or one: whatever does not fit is named."""
    photo_file = write_photo(tmp_path / "photo.jpg")
    long = "many words " * 50
    rendered = _render(
        carousel_of(slide(Role.PRODUCT, photo_file, name=long, price=long, note=long)),
        find_template(name),
        tmp_path / "out",
    )
    assert {trouble.field for trouble in rendered.fit} == {"name", "price", "note"}
    assert all(trouble.needed > trouble.limit for trouble in rendered.fit)


def test_twenty_kilobytes_of_words_are_reported(tmp_path: Path) -> None:
    """They are cut, and the cut is in the report."""
    rendered = _render(carousel_of(slide(Role.CLOSING, body="word " * 4000)), find_template("default"), tmp_path)
    assert (rendered.fit[0].field, rendered.fit[0].broken) == ("body", True)


def test_a_long_brand_name_is_set_smaller(tmp_path: Path) -> None:
    """Sixty letters, the most a catalog takes, fit on every slide of both templates."""
    photo_file = write_photo(tmp_path / "photo.jpg")
    for name in ("default", "editorial"):
        carousel = carousel_of(
            *_all_roles(photo_file, "en"), name="The Extraordinarily Long Name of a Small Workshop by the Sea"
        )
        assert _render(carousel, find_template(name), tmp_path / name).fit == ()


def test_a_font_of_the_persons_own_is_used(tmp_path: Path) -> None:
    """A file in fonts/ can be named by a template, and its letters count for every template."""
    fonts_dir = tmp_path / "fonts"
    fonts_dir.mkdir()
    renamed = (
        (FONTS_DIR / "Inter-VF.ttf").read_bytes().replace("Inter".encode("utf-16-be"), "Imber".encode("utf-16-be"))
    )
    (fonts_dir / "own.ttf").write_bytes(renamed)
    write_template(tmp_path, settings=SETTINGS.replace('"Inter"', '"Imber"'))
    template = find_template("plain", tmp_path)
    carousel = carousel_of(slide(Role.COVER, title="Tea"))
    assert len(_render(carousel, template, tmp_path / "out", fonts_dir=fonts_dir).pictures) == 1
    with pytest.raises(RenderError, match="template plain: there is no font Imber; put its file into fonts/; present:"):
        _render(carousel, template, tmp_path / "other")
