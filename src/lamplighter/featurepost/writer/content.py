"""What there is to say: the fact sheets of a feature, read for a writer that has no mind of its own."""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamplighter.featurepost.feature import FactSheet, Language
from lamplighter.featurepost.statement import Statement, Topic, parse_statement
from lamplighter.featurepost.writer.names import LONG_LETTERS, SHORT_LETTERS, find_head, name_products

_FRAGMENT_LETTERS = 40
_VENDOR_LETTERS = 4
_SPOKEN_LETTERS = 160
_MOST_SPOKEN = 4
_STROKE_END = re.compile(r"(.*\S) \| ([^|()]+)")
_SIZES = ("XXXS", "XXS", "XS", "S", "M", "L", "XL", "2XL", "3XL", "4XL", "5XL", "6XL")
_FEWEST_SIZES = 3
_MOST_VALUES = 11
_MANY_VALUES = 5
_FOREIGN = re.compile(
    r"\b(?:und|oder|mit|für|aus|eine?[nmrs]?|nicht|wird|werden|sowie|durch|beim|vom|zum|zur|avec|sans|pour|dans|sont|"
    r"les|aux|para|della|delle|degli|nella|senza|voor|een|och|från)\b|\b(?:[Dd]er|[Dd]ie|[Dd]as|le|la|el|los|las|il)\s+[a-z]|"
    r"\b(?=[a-zß-ÿ]{3})[a-zß-ÿ]*[äöüßåøæñãõ]"
)
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
    """One product as a writer sees it: names, kind, materials, statements and choices, all from its sheet.

    `name` is the whole title unless it is very long, `said` the same within a sentence, `short` what a slide's heading
    holds, `head` the bare thing; no two products of one feature share a name or a short one.
    """

    product_id: int
    name: str
    said: str
    short: str
    head: str
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
    def is_told(self) -> bool:
        """Tell whether there is a fact beyond name, maker and price about every product."""
        return all(product.statements for product in self.products)

    @property
    def is_mostly_told(self) -> bool:
        """Tell whether there is such a fact about more than half of the products."""
        return 2 * sum(bool(product.statements) for product in self.products) > len(self.products)

    @property
    def short_names(self) -> tuple[str, ...]:
        """Return short names for a heading, or none where one of them had to be cut."""
        names = tuple(product.short for product in self.products)
        return () if len(set(names)) < len(names) or any("…" in name for name in names) else names

    @property
    def spoken_names(self) -> tuple[str, ...]:
        """Return names for a sentence: whole ones, short ones where whole ones are too long together, or none."""
        if len(self.products) > _MOST_SPOKEN:
            return ()
        for names in (tuple(one.said for one in self.products), tuple(one.short for one in self.products)):
            whole = len(set(names)) == len(names) and not any("…" in name for name in names)
            if whole and sum(len(name) for name in names) <= _SPOKEN_LETTERS:
                return names
        return ()

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


def parse_content(sheets: tuple[FactSheet, ...], language: Language) -> Content:
    """Return what the sheets say, taken apart."""
    told = "\n".join(fact.text for sheet in sheets for fact in sheet.facts)
    names = name_products(sheets, LONG_LETTERS)
    short = name_products(sheets, SHORT_LETTERS, compact=True)
    return Content(
        products=tuple(_parse_product(*one, language) for one in zip(sheets, names, short, strict=True)),
        seed=zlib.crc32(told.encode()),
    )


def drop_repeats(products: Sequence[ProductContent]) -> tuple[ProductContent, ...]:
    """Return the products without the sentences that an earlier one of them already says of itself."""
    said: set[str] = set()
    left = []
    for product in products:
        own = tuple(one for one in product.statements if one.label or one.value not in said)
        said.update(one.value for one in product.statements)
        left.append(dataclasses.replace(product, statements=own))
    return tuple(left)


def _parse_product(sheet: FactSheet, name: str, short: str, language: Language) -> ProductContent:
    quotes = [fact.text for fact in sheet.facts if fact.kind == "quote"]
    read = [statement for text in quotes if not is_foreign(text) and (statement := parse_statement(text)) is not None]
    foreign = any(is_foreign(text) for text in quotes)
    statements = tuple(statement for statement in read if statement.label or not foreign)
    vendor = next((fact.text for fact in sheet.facts if fact.kind == "vendor"), "")
    return ProductContent(
        product_id=sheet.product_id,
        name=name,
        said=_say_name(name),
        short=short,
        head=find_head(name),
        kind=next((fact.text for fact in sheet.facts if fact.kind == "kind"), ""),
        vendor=vendor if _is_maker(vendor) else "",
        materials=tuple(dict.fromkeys(_find_materials(sheet.title, statements, language))),
        statements=statements,
        choices=tuple(_parse_choice(fact.text) for fact in sheet.facts if fact.kind == "option"),
    )


def is_foreign(text: str) -> bool:
    """Tell whether a text gives itself away as German, French or the like, whose claims cannot be weighed."""
    return _FOREIGN.search(text) is not None


def find_size_run(values: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the first and the last of sizes that follow each other without a gap, or None when it is not sure."""
    if not _FEWEST_SIZES <= len(values) <= _MOST_VALUES or values[0].upper() not in _SIZES:
        return None
    start = _SIZES.index(values[0].upper())
    same = tuple(value.upper().replace("XXL", "2XL") if value.upper() == "XXL" else value.upper() for value in values)
    return (values[0], values[-1]) if same == _SIZES[start : start + len(values)] else None


def is_many(values: tuple[str, ...]) -> bool:
    """Tell whether there are more choices than a sentence should list."""
    return len(values) > _MANY_VALUES


def _is_maker(vendor: str) -> bool:
    """Tell whether a vendor reads as a name; "Veg" or "x" is somebody's shelf mark."""
    return len(vendor) >= _VENDOR_LETTERS or vendor.isupper() or any(letter > "\u2fff" for letter in vendor)


def _say_name(name: str) -> str:
    """Return a name for a sentence: "Bottle | 24 OZ" is said "Bottle (24 OZ)"."""
    found = _STROKE_END.fullmatch(name)
    return f"{found[1]} ({found[2]})" if found else name


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


def names_material(text: str) -> bool:
    """Tell whether an English text names a material that is known."""
    return _MATERIALS_EN.search(text) is not None


def _parse_choice(text: str) -> tuple[str, tuple[str, ...]]:
    label, _, values = re.sub("：", ": ", text, count=1).partition(": ")
    return label.strip(), tuple(re.split(r"、|, ", values.strip()))
