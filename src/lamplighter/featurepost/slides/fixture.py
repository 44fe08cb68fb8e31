"""The fixtures: the words and photos by which a template is tried, a row of the contact sheet each."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from types import MappingProxyType

from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Role, SlideText
from lamplighter.featurepost.slides.carousel import Carousel, SlideSpec
from lamplighter.featurepost.slides.fixture_photo import FixturePhotos, PhotoKind
from lamplighter.featurepost.slides.template_folder import Template

# The texts a slide of each role may be given (featurepost/roles.py); a template that shows others shows nothing there.
FIELDS: MappingProxyType[Role, tuple[str, ...]] = MappingProxyType(
    {
        Role.COVER: ("kicker", "title", "subtitle"),
        Role.PRODUCT: ("name", "price", "note"),
        Role.DETAIL: ("title", "body"),
        Role.CLOSING: ("title", "body"),
    }
)
_BEYOND = 1.6
_UNLIMITED = 600
_CUT = "-–—,.;:、。・ "


class Length(enum.Enum):
    """How long the words of a fixture are, measured by the template's own limits."""

    WITHIN = "within"
    FULL = "full"
    BEYOND = "beyond"


class Script(enum.Enum):
    """The language a column of the sheet is in."""

    ENGLISH = "English"
    JAPANESE = "Japanese"
    ARABIC = "Arabic"
    HEBREW = "Hebrew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """One row of the sheet: its name, what it shows, its words by script, and the photo they stand beside."""

    name: str
    about: str
    words: tuple[tuple[Script, tuple[str, ...]], ...]
    length: Length = Length.WITHIN
    photo: PhotoKind = PhotoKind.USUAL

    @property
    def must_fit(self) -> bool:
        """Say whether a text that does not fit is the template's fault."""
        return self.length is not Length.BEYOND

    @property
    def scripts(self) -> tuple[Script, ...]:
        """Return the scripts of its columns."""
        return tuple(script for script, _ in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureBrand:
    """Whom the fixtures speak for."""

    name: str
    handle: str
    url: str


# In the order of the fields: cover kicker, title, subtitle; product name, price, note; detail title, body; closing
# title, body.
_SHORT = ("New", "Tea", "For two", "Mug", "$9", "Holds 320 ml.", "Ash", "It melts.", "Which?", "Tell us.")
_SHORT_JA = ("新作", "茶", "二人で", "湯のみ", "¥900", "320 ml です。", "灰", "とけます。", "どれ？", "教えて。")
_USUAL = (
    "Gift guide",
    "Slow mornings, made by hand",
    "Three pieces for the first hour of the day",
    "Dawn mug",
    "$38",
    "Thrown by hand from stoneware. Holds 320 ml and keeps warm.",
    "Wood ash makes the glaze",
    "The potter burns pine, sieves the ash and mixes it with clay. No two firings give the same blue.",
    "Which one would you keep?",
    "Tell us below, and save this for later.",
)
_USUAL_JA = (
    "秋の道具",
    "朝のコーヒーを、もうすこしゆっくり。",
    "三つのうつわ",
    "「月白」のマグ",
    "¥3,980",
    "手びねりで一つずつ。容量は 320 ml、冷めにくい厚みです。",
    "灰がつくる釉薬の色",
    "松を焼いた灰をふるい、粘土と合わせます。焼くたびに、少しずつちがう青になります。",
    "どれを選びますか？",
    "コメントで教えてください。",
)
_LONG = "Wonderful stoneware bowls from a quiet workshop by the sea, fired in wood for days and days"
_LONG_JA = "二十年の窯焚きから生まれた、思いがけないほど美しい秋のうつわたちを、毎日の食卓へお届けします。"
_LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitän "
_LONG_WORD_JA = "インターナショナルコミュニケーションデザイン"
_EMOJI = (
    "🎁 Gifts",
    "Tea time ☕ 🍵",
    "👩🏽‍🎨 made by hand ❤️",
    "Mug 🏺",
    "$38",
    "🌊 sea-blue, 🔥 fired for days, 📏 320 ml",
    "How it is made 🪵",
    "1️⃣ burn pine 2️⃣ sieve the ash 3️⃣ mix it. From 🇯🇵 with ❤️",
    "Which one? 🤔",
    "👇 Tell us below 🙌",
)
_EMOJI_JA = (
    "🎁 贈りもの",
    "朝の一杯 ☕",
    "👩🏽‍🎨 手仕事 ❤️",
    "湯のみ 🍵",
    "¥3,980",
    "🌊 海の青、🔥 三日の窯焚き、📏 320 ml",
    "つくりかた 🪵",
    "1️⃣ 松を焼く 2️⃣ ふるう 3️⃣ 合わせる。🇯🇵 より ❤️",
    "どれにする？ 🤔",
    "👇 教えてください 🙌",
)
_ARABIC = (
    "دليل الهدايا",
    "صباحات هادئة من صنع اليد",
    "ثلاث قطع لأول ساعة في اليوم",
    "كوب الفجر",
    "$38",
    "مصنوع يدويًا من الطين، ويتسع 320 مل.",
    "رماد الخشب يصنع اللون",
    "يحرق الخزّاف خشب الصنوبر وينخل الرماد ويمزجه بالطين.",
    "أيّها تختار؟",
    "أخبرنا في التعليقات.",
)
_HEBREW = (
    "מדריך מתנות",
    "בקרים שקטים בעבודת יד",
    "שלושה כלים לשעה הראשונה של היום",
    "ספל השחר",
    "$38",
    "נוצר ביד מחומר, ומכיל 320 מ״ל.",
    "אפר העץ יוצר את הצבע",
    "הקדר שורף עצי אורן, מנפה את האפר ומערבב אותו בחומר.",
    "איזה מהם תבחרו?",
    "ספרו לנו בתגובות.",
)
_BOTH = ((Script.ENGLISH, _USUAL), (Script.JAPANESE, _USUAL_JA))

FIXTURES: tuple[Fixture, ...] = (
    Fixture(name="usual words", about="as most features have them", words=_BOTH),
    Fixture(name="short words", about="a word or two", words=((Script.ENGLISH, _SHORT), (Script.JAPANESE, _SHORT_JA))),
    Fixture(
        name="words at the limits",
        about="as many letters as template.toml allows",
        words=((Script.ENGLISH, (_LONG,) * 10), (Script.JAPANESE, (_LONG_JA,) * 10)),
        length=Length.FULL,
    ),
    Fixture(
        name="words beyond them",
        about="1.6 times as many, a very long word, the longest brand name; they may be too long",
        words=((Script.ENGLISH, (_LONG_WORD + _LONG,) * 10), (Script.JAPANESE, (_LONG_WORD_JA + _LONG_JA,) * 10)),
        length=Length.BEYOND,
    ),
    Fixture(
        name="emoji",
        about="families, flags, keycaps, hearts",
        words=((Script.ENGLISH, _EMOJI), (Script.JAPANESE, _EMOJI_JA)),
    ),
    Fixture(
        name="right to left",
        about="Arabic, then Hebrew",
        words=((Script.ARABIC, _ARABIC), (Script.HEBREW, _HEBREW)),
    ),
    Fixture(name="no photo", about="the brand's colours instead", words=_BOTH, photo=PhotoKind.NONE),
    Fixture(name="very wide photo", about="8:1, cropped to the box", words=_BOTH, photo=PhotoKind.WIDE),
    Fixture(name="very tall photo", about="1:8, cropped to the box", words=_BOTH, photo=PhotoKind.TALL),
    Fixture(name="tiny photo", about="160 × 120 pixels, enlarged", words=_BOTH, photo=PhotoKind.TINY),
    Fixture(name="turned photo", about="upright only by its EXIF note", words=_BOTH, photo=PhotoKind.TURNED),
    Fixture(name="cut-out photo", about="a transparent PNG, put on white", words=_BOTH, photo=PhotoKind.CUT_OUT),
)
_BRANDS: MappingProxyType[Script, FixtureBrand] = MappingProxyType(
    {
        Script.ENGLISH: FixtureBrand(name="Wrenfold", handle="@wrenfold.goods", url="wrenfold.example"),
        Script.JAPANESE: FixtureBrand(name="きりの道具店", handle="@kirino.dougu", url="kirino.example"),
    }
)
_LONGEST_BRAND = FixtureBrand(
    name="The Extraordinarily Long Name of a Small Workshop by the Sea",
    handle="@a_handle_as_long_as_they_may_be",
    url="the-extraordinarily-long-name-of-a-small-workshop.example/shop",
)


def compose_fixture(
    fixture: Fixture, script: Script, template: Template, photos: FixturePhotos
) -> tuple[Carousel, tuple[Role, ...]]:
    """Return one fixture as a carousel of the template's roles, and those that are left out for want of a photo."""
    slides = compose_slides(fixture, script, template, photos)
    brand = _LONGEST_BRAND if fixture.length is Length.BEYOND else _BRANDS.get(script, _BRANDS[Script.ENGLISH])
    carousel = Carousel(
        slides=slides,
        brand_name=brand.name,
        handle=brand.handle,
        url=brand.url,
        language="ja" if script is Script.JAPANESE else "en",
        theme=Theme(),
    )
    shown = {slide.role for slide in slides}
    return carousel, tuple(layout.role for layout in template.roles if layout.role not in shown)


def compose_slides(
    fixture: Fixture, script: Script, template: Template, photos: FixturePhotos
) -> tuple[SlideSpec, ...]:
    """Return a slide for each role of the template, in the order of a post; none where a needed photo is missing."""
    words = dict(fixture.words)[script]
    slides: list[SlideSpec] = []
    for role in Role:
        layout = template.layout(role)
        photo_file = photos.find(fixture.photo, role)
        if layout is not None and (photo_file is not None or not layout.require_photo):
            text = _compose_text(role, words, fixture.length, template)
            slides.append(SlideSpec(role=role, photo_file=photo_file, text=text))
    return tuple(slides)


def all_words(carousel: Carousel) -> str:
    """Return every word a carousel shows, to look for letters that no font has."""
    texts = (getattr(slide.text, field) for slide in carousel.slides for field in SlideText.__struct_fields__)
    return " ".join((*map(str, texts), carousel.brand_name, carousel.handle, carousel.url))


def find_unlimited(template: Template) -> tuple[str, ...]:
    """Return the texts for which a template names no limit, so that no writer knows how long they may be."""
    return tuple(
        f"{role.value}.{field}"
        for role, fields in FIELDS.items()
        if template.layout(role) is not None
        for field in fields
        if template.limits.limit(role, field) is None
    )


def _compose_text(role: Role, words: tuple[str, ...], length: Length, template: Template) -> SlideText:
    places = [(known, field) for known, fields in FIELDS.items() for field in fields]
    texts: dict[str, str] = {}
    for (known, field), text in zip(places, words, strict=True):
        if known is role:
            limit = template.limits.limit(role, field)
            if field == "price" and length is not Length.WITHIN:  # code writes it, and never longer than this
                texts[field] = fill_up("$1,234,567,890.00", limit or 8)
            else:
                texts[field] = _measure(text, limit, length)
    return SlideText(**texts)


def _measure(text: str, limit: int | None, length: Length) -> str:
    if length is Length.WITHIN:
        return cut(text, limit or _UNLIMITED)
    if limit is None:
        return cut(text, _UNLIMITED)
    return fill_up(text, limit if length is Length.FULL else round(limit * _BEYOND) + 1)


def cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` letters, cut after a word where there is one."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1].rpartition(" ")[0] or text[:limit]
    return head.rstrip(_CUT) or text[:limit].strip() or text[:1]


def fill_up(text: str, letters: int) -> str:
    """Return a text of exactly that many letters: its beginning, or itself again and again."""
    gap = " " if text.isascii() or " " in text else ""
    filled = (f"{text}{gap}" * (letters // len(text) + 1))[:letters]
    last = filled.rstrip(_CUT)
    return last + ("0" if last[-1:].isdigit() else "s" if gap else "々") * (letters - len(last))
