"""What there is to say: the fact sheets of a feature, read for a writer that has no mind of its own."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from lamplighter.featurepost.feature import FactSheet, Language
from lamplighter.featurepost.statement import Statement, Topic, read_statement
from lamplighter.featurepost.writer.fit import cut_to_fit

_SHORT_LETTERS = 28
_FRAGMENT_LETTERS = 40
_SEPARATOR = re.compile(r"\s+[-–—|/:]\s+|\s*[|｜／]\s*|\s*[(（\[［]|,\s|、")
_NAME_END = re.compile(
    r"\s(?:in|with|for|from|of|made|and|&)\s|\s+[-–—|/:]\s+|\s*[|｜／(（\[［]|,\s|(?<=[\u3040-\u9fff])[、 ]"
)
_FEWEST_LETTERS = 4
_PICTURES = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
_BRACKETS = re.compile(r"【[^】]*】")
_MATERIALS_EN = re.compile(
    r"\b(?:stainless steel|cast iron|stoneware|porcelain|earthenware|terracotta|bone china|ceramic|glass|linen|"
    r"cotton|"
    r"merino wool|wool|silk|hemp|leather|oak|walnut|beech|birch|pine|cedar|cherry wood|maple|olive wood|bamboo|"
    r"cork|brass|copper|"
    r"bronze|pewter|steel|iron|alumini?um|titanium|enamel|concrete|marble|slate|granite|washi|paper|beeswax|"
    r"soy wax|rapeseed wax|wax|"
    r"rattan|willow|jute|canvas|denim|felt|velvet|silicone|rubber|wood|clay)\b",
    re.IGNORECASE,
)
_MATERIALS_JA = re.compile(
    r"半磁器|磁器|陶器|炻器|せっ器|ガラス|リネン|麻|コットン|綿|ウール|羊毛|シルク|絹|牛革|レザー|革|オーク|"
    r"ナラ|楢|ウォールナット|クルミ|"
    r"ブナ|チェリー|メープル|ヒノキ|檜|ひのき|杉|竹|コルク|真鍮|銅|鋳鉄|鉄(?!釉|絵|粉)|ステンレス|アルミ|錫|琺瑯|ホーロー|"
    r"大理石|和紙|蜜蝋|籐|ラタン|"
    r"帆布|デニム|フェルト|シリコーン|シリコン|チタン"
)
_MADE = re.compile(
    r"\b(?:made|woven|cut|turned|carved|knitted|knit|thrown|blown|sewn|cast|spun) (?:of|from|in|with)\b|"
    r"製です|製。|でできて"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductContent:
    """One product as a writer sees it: names, kind, materials, statements and choices, all from its sheet."""

    product_id: int
    name: str
    short: str
    kind: str
    vendor: str
    materials: tuple[str, ...]
    statements: tuple[Statement, ...]
    choices: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All products of a feature, and a number that depends on nothing but their facts."""

    products: tuple[ProductContent, ...]
    seed: int

    @property
    def shared_material(self) -> str:
        """Return the material all products have in common, or ""."""
        common = set(self.products[0].materials)
        for product in self.products[1:]:
            common &= set(product.materials)
        return next((material for material in self.products[0].materials if material in common), "")

    @property
    def is_all_known(self) -> bool:
        """Tell whether the material of every product is known, and there are several."""
        return len(self.materials) > 1 and all(product.materials for product in self.products)

    @property
    def materials(self) -> tuple[str, ...]:
        """Return the first material of each product, without repeats."""
        return tuple(dict.fromkeys(product.materials[0] for product in self.products if product.materials))


def read_content(sheets: tuple[FactSheet, ...], language: Language) -> Content:
    """Return what the sheets say, taken apart."""
    told = "\n".join(fact.text for sheet in sheets for fact in sheet.facts)
    names = _distinct_names([sheet.title for sheet in sheets])
    return Content(
        products=tuple(_read_product(sheet, name, language) for sheet, name in zip(sheets, names, strict=True)),
        seed=zlib.crc32(told.encode()),
    )


def _read_product(sheet: FactSheet, short: str, language: Language) -> ProductContent:
    statements = tuple(
        statement
        for fact in sheet.facts
        if fact.kind == "quote" and (statement := read_statement(fact.text)) is not None
    )
    return ProductContent(
        product_id=sheet.product_id,
        name=_tidy_name(sheet.title),
        short=short,
        kind=next((fact.text for fact in sheet.facts if fact.kind == "kind"), ""),
        vendor=next((fact.text for fact in sheet.facts if fact.kind == "vendor"), ""),
        materials=tuple(dict.fromkeys(_find_materials(sheet.title, statements, language))),
        statements=statements,
        choices=tuple(_read_choice(fact.text) for fact in sheet.facts if fact.kind == "option"),
    )


def _find_materials(title: str, statements: tuple[Statement, ...], language: Language) -> Iterator[str]:
    """Yield materials that the title names or a statement says the thing is made of."""
    pattern = _MATERIALS_JA if language == "ja" else _MATERIALS_EN
    for statement in statements:
        if statement.topic is Topic.MATERIAL:
            short = statement.label or len(statement.value) <= _FRAGMENT_LETTERS
            said = statement.value if short else _after_made(statement.value)
            yield from (found[0].lower() for found in pattern.finditer(said))
    yield from (found[0].lower() for found in pattern.finditer(title))


def _after_made(sentence: str) -> str:
    """Return the part of a sentence that names what something is made of; Japanese names it before the verb."""
    found = _MADE.search(sentence)
    if found is None:
        return ""
    return sentence[: found.end()] if found[0].startswith(("製", "で")) else sentence[found.end() :]


def starts_with_material(text: str) -> bool:
    """Tell whether the first words of an English text are a material's name, not somebody's."""
    return _MATERIALS_EN.match(text) is not None


def _read_choice(text: str) -> tuple[str, tuple[str, ...]]:
    label, _, values = re.sub("：", ": ", text, count=1).partition(": ")
    return label.strip(), tuple(re.split(r"、|, ", values.strip()))


def _tidy_name(title: str) -> str:
    bare = " ".join(_BRACKETS.sub(" ", title).split())
    return bare if any(letter.isalpha() for letter in bare) else title


def _distinct_names(titles: list[str]) -> list[str]:
    """Return short names; where two would be the same, longer ones."""
    tidy = [_tidy_name(title) for title in titles]
    short = [_shorten(name) for name in tidy]
    return [
        short[index] if short.count(short[index]) == 1 else cut_to_fit(tidy[index], 2 * _SHORT_LETTERS)
        for index in range(len(titles))
    ]


def shorten_name(name: str, letters: int | None = _SHORT_LETTERS) -> str:
    """Return the name, or the longest beginning of it that stands for the thing: before "in", "with", "(" or "|"."""
    if letters is None or len(name) <= letters:
        return name
    heads = [name[: found.start()].strip() for found in _NAME_END.finditer(name)]
    good = [
        head for head in heads if _FEWEST_LETTERS <= len(head) <= letters and any(letter.isalpha() for letter in head)
    ]
    return good[-1] if good else cut_to_fit(name, letters)


def _shorten(name: str) -> str:
    plain = " ".join(_PICTURES.sub(" ", name).split())
    head = _SEPARATOR.split(plain, maxsplit=1)[0].strip()
    return shorten_name(head if any(letter.isalpha() for letter in head) else plain or name)
