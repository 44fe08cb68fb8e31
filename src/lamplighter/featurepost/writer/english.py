"""English: plain sentences, articles and plurals, and no word that a fact does not carry."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from lamplighter.featurepost.statement import Statement, Topic
from lamplighter.featurepost.writer.content import (
    Content,
    ProductContent,
    drop_repeats,
    find_size_run,
    is_many,
    names_material,
    starts_with_material,
)
from lamplighter.featurepost.writer.nouns import (
    add_article,
    find_last_noun,
    find_noun,
    is_word,
    join_words,
    make_plural,
)
from lamplighter.featurepost.writer.voice import MOST_TOLD, Sender, rotated
from lamplighter.featurepost.writer.wordings import (
    CLOSING_TITLES,
    DETAIL_TITLES,
    FAREWELLS,
    KICKERS,
    LEADS,
    MODEST_BODIES,
    MODEST_KICKERS,
    MODEST_OPENINGS,
    MODEST_TITLES,
    OPENINGS,
    PROMISE,
    SUBTITLES,
    TITLES,
)

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_VALUE_LETTERS = 60
_REST_LETTERS = 250
_MOST_KINDS = 4
_SHORT_LETTERS = 200
_CHOICE_LABELS = re.compile(
    r"colou?rs?|sizes?|finish|materials?|volume|weight|capacity|flavou?rs?|scents?|fragrance|length|width|style|pattern",
    re.IGNORECASE,
)
_VERBS = MappingProxyType(
    {
        Topic.MATERIAL: ("is made of", "are made of"),
        Topic.ORIGIN: ("comes from", "come from"),
        Topic.SIZE: ("measures", "measure"),
        Topic.CAPACITY: ("holds", "hold"),
        Topic.WEIGHT: ("weighs", "weigh"),
    }
)
_PLAIN_LABELS = re.compile(r"materials?|fabric|made (?:in|of|from)|(?:country of |place of )?origin|sizes?|"
                           r"dimensions?|"
                           r"measurements?|capacity|volume|holds|weight")  # fmt: skip


class English:
    """The English voice."""

    def kickers(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return short words above the title."""
        kinds = _kinds(content)
        named = [_capital(make_plural(kinds[0]))] if kinds and len(set(kinds)) == 1 else []
        return rotated([sender.name, *(KICKERS if content.is_mostly_told else MODEST_KICKERS), *named], turn)

    def titles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return titles in one wording, those that say most first."""
        place = turn % len(TITLES)
        wordings = TITLES[place] if content.is_mostly_told else MODEST_TITLES.get(place, TITLES[place])
        first = [_with_article(content.products[0], name) for name in _title_names(content.products[0])]
        return [
            text for the_a in first for text in _say(wordings, _things(content, sender, content.short_names), the_a)
        ]

    def subtitles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines below the title."""
        slots = {
            "names": join_words(content.short_names) if len(content.products) > 1 else "",
            "Materials": _capital(join_words(content.materials)) if content.is_all_known else "",
            "brand": sender.name,
            "handle": sender.handle,
            "promise": PROMISE if content.is_told else "",
        }
        said = [text.format(**slots) for text in rotated(SUBTITLES, turn)]
        first, *others = content.short_names or ("",)
        more = [f"{join} and more" for join in (f"{first}, {''.join(others[:1])}", first)] if len(others) > 1 else []
        return [text for text in (*said, *more) if text]

    def fragments(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return short complete sentences about one product."""
        said = [_fragment(statement) for statement in product.statements]
        return (*rotated(said, turn), *_choices(product))

    def last_resort(self, product: ProductContent, sender: Sender, turn: int) -> Sequence[str]:
        """Return what is true of a product about which there is nothing to tell."""
        kind = find_noun(product.kind)
        from_vendor = [f"{_capital(add_article(kind))} from {product.vendor}."] if kind and product.vendor else []
        if product.vendor:
            from_vendor.append(f"From {product.vendor}.")
        place = f"In the shop at {sender.address}." if sender.address else f"Ask for it at {sender.handle}."
        mine = [] if product.vendor.casefold() == sender.name.casefold() else [f"From {sender.name}."]
        return (*from_vendor, *rotated(["See it in the shop.", place, *mine], turn), "In the shop.")

    def hashtag(self, product: ProductContent) -> str:
        """Return the kind when it is one known English word."""
        return product.kind if is_word(product.kind) else ""

    def detail_titles(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return headings for the details of one product."""
        return rotated([*DETAIL_TITLES, _capital(product.short)], turn)

    def closing_titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return last headings."""
        return [pair[len(content.products) == 1] for pair in rotated(CLOSING_TITLES, turn)]

    def closing_bodies(self, content: Content, sender: Sender) -> Sequence[str]:
        """Return lines that name once more what was shown; where the shop is stands on the slide anyway."""
        return [", ".join(product.short for product in content.products), sender.name]

    def openings(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return first paragraphs of a caption."""
        table = OPENINGS if content.is_mostly_told else MODEST_OPENINGS
        the_a, *others = (_with_article(product, product.said) for product in content.products)
        rest = join_words(others) if sum(len(name) for name in others) <= _REST_LETTERS else "the others"
        things = _things(content, sender, content.spoken_names)
        return _say(table[turn % len(table)], things, the_a, rest=rest, brand=sender.name)

    def body(self, content: Content, turn: int) -> str:
        """Return the middle of a caption: facts in one of five shapes, else what can be chosen, else a lead."""
        turned = rotated(content.products, turn // 5 if len(content.products) <= MOST_TOLD else turn)
        products = turned[:MOST_TOLD]
        if len(products) == 1:
            return _alone(products[0], turn)
        left = drop_repeats(products)
        told = _tell(left, turn) or _focus(left, turn)
        told = told or (_chosen(products) if turn % 3 else "")
        if told and (len(turned) <= MOST_TOLD or len(told) > _SHORT_LETTERS):
            return told
        return "\n".join(part for part in (told, _lead(len(turned), turn)) if part)

    def farewell(self, content: Content, turn: int) -> str:
        """Return the last sentence of a caption, or ""."""
        return FAREWELLS[turn % len(FAREWELLS)][len(content.products) == 1]


def _tell(products: Sequence[ProductContent], turn: int) -> str:
    """Return the facts of several products in one of five shapes."""
    shape = turn % 5
    if shape == 0:
        return " ".join(text for product in products if (text := _sentence(product, turn)))
    if shape == 1:
        return "\n".join(line for product in products if (line := _line(product, turn, ": ")))
    if shape == 2:
        return "\n".join(line for product in products if (line := _quoting(product, turn)))
    if shape == 3:
        return _focus(products, turn)
    return _by_topic(products) or "\n".join(line for product in products if (line := _line(product, turn, " – ")))


def _lead(count: int, turn: int) -> str:
    """Return what leads to the list of names; more words where the list is long, lest all such captions be alike."""
    sentence, lead = MODEST_BODIES[turn % len(MODEST_BODIES)], LEADS[turn % len(LEADS)]
    if count > MOST_TOLD:
        other = MODEST_BODIES[(turn + 1 + turn // len(MODEST_BODIES) % (len(MODEST_BODIES) - 1)) % len(MODEST_BODIES)]
        return f"{sentence} {other} {lead}"
    return sentence if turn % 2 else lead


def _chosen(products: Sequence[ProductContent]) -> str:
    """Return what can be chosen, a line a product."""
    lines = []
    for product in products:
        chosen = _choices(product)
        if chosen:
            lines.append(f"{product.name} – {' '.join(chosen[:2])}")
    return "\n".join(lines)


def _say(
    wordings: tuple[str, str], things: Sequence[str], the_a: str, *, rest: str = "", brand: str = ""
) -> Sequence[str]:
    """Return one wording with every way to name the things; a brand that names them is not said a second time."""
    said = []
    for words in things or ("",):
        wording = wordings[not things]
        if brand and words.endswith(f" from {brand}"):
            wording = wording.replace("{things} from {brand}", "{things}").replace("From {brand}: {things}", "{Things}")
        said.append(
            wording.format(
                things=words, Things=_capital(words), the_a=the_a, The_a=_capital(the_a), rest=rest, brand=brand
            )
        )
    return said


def _things(content: Content, sender: Sender, names: Sequence[str]) -> Sequence[str]:
    """Return ways to name several products together: "three stoneware mugs", "three mugs", "a mug and a plate"."""
    return tuple(_name_together(content, sender, names)) if len(content.products) > 1 else ()


def _name_together(content: Content, sender: Sender, names: Sequence[str]) -> Iterator[str]:
    count = len(content.products)
    number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
    kinds = _kinds(content)
    material = content.shared_material
    if not kinds and names:
        yield join_words([_with_article(one, name) for one, name in zip(content.products, names, strict=True)])
    if kinds and len(set(kinds)) == 1:
        if material and material not in kinds[0]:
            yield f"{number} {material} {make_plural(kinds[0])}"
        yield f"{number} {make_plural(kinds[0])}"
    elif kinds and len(set(kinds)) <= _MOST_KINDS:
        counted = Counter(kinds)
        yield join_words([add_article(kind) if times == 1 else make_plural(kind) for kind, times in counted.items()])
    if material:
        yield f"{number} pieces in {material}"
    elif not kinds and content.is_all_known:
        yield f"{number} pieces in {join_words(content.materials)}"
    yield f"{number} from {sender.name}"
    yield f"{number} of ours"


def _title_names(product: ProductContent) -> Sequence[str]:
    return tuple(dict.fromkeys((product.said, product.short)))


def _kinds(content: Content) -> list[str]:
    """Return the kind of each product as a singular noun, or nothing when one of them has none."""
    kinds = [find_noun(product.kind) or find_last_noun(product.head) for product in content.products]
    return kinds if all(kinds) else []


def _with_article(product: ProductContent, name: str) -> str:
    """Return a name as it stands in a sentence; only what ends with a thing in English has an article."""
    if re.match(r"(?:the|an?) ", name, re.IGNORECASE):
        return name[0].lower() + name[1:]
    plain = re.fullmatch(r"[A-Z][\w-]*(?: [A-Za-z-]+)+", product.head) and name.startswith(product.head)
    return f"the {name}" if plain and find_last_noun(product.head) and not _is_many(product) else name


def _is_many(product: ProductContent) -> bool:
    last = product.head.lower()
    return bool(re.search(r"[^sui]s$", last)) and not last.endswith("'s")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _value(statement: Statement) -> str:
    """Return a labelled value as it stands after a verb: only a plain first word loses its capital."""
    value = statement.value
    return value[0].lower() + value[1:] if starts_with_material(value) else value


def _clause(statement: Statement, *, many: bool) -> str:
    """Return "is made of stoneware" for "Material: stoneware", or "" when the label does not allow it."""
    verbs = _VERBS.get(statement.topic)
    label = statement.label.lower()
    if not verbs or not _PLAIN_LABELS.fullmatch(label) or len(statement.value) > _VALUE_LETTERS:
        return ""
    if statement.topic in {Topic.SIZE, Topic.CAPACITY, Topic.WEIGHT} and not re.match(r"[^A-Za-z]*\d", statement.value):
        return ""
    if statement.topic is Topic.MATERIAL and not names_material(statement.value):
        return ""
    if re.match(r"(?:made|from|by|in|solid|hand)\b", statement.value.lower()) or ". " in statement.value:
        return ""
    verb = verbs[many]
    if label == "made in":
        verb = "are made in" if many else "is made in"
    return f"{verb} {_value(statement)}"


def _fragment(statement: Statement) -> str:
    """Return a statement as a sentence that stands alone."""
    if not statement.label:
        return statement.value if statement.value.endswith((".", "!", "?", "”", ".)")) else f"{statement.value}."
    clause = _clause(statement, many=False)
    if clause:
        return _capital(clause.removeprefix("is ")) + "."
    return f"{_capital(statement.label)}: {statement.value}."


def _choices(product: ProductContent) -> list[str]:
    """Return what can be chosen, a sentence each."""
    return [text for label, values in product.choices if (text := _choice(product, label, values))]


def _choice(product: ProductContent, label: str, values: tuple[str, ...]) -> str:
    """Return what can be chosen as a sentence; one choice alone only where its label says what it is, "" else."""
    known = _CHOICE_LABELS.fullmatch(label)
    sizes = find_size_run(values)
    if known and sizes:
        return f"Sizes {sizes[0]} to {sizes[1]}."
    if len(values) == 1 and (not known or values[0].casefold() in product.name.casefold()):
        return ""
    if is_many(values):
        return f"{_capital(label)}: {', '.join(values[:4])} and more."
    return f"{_capital(label)}: {join_words(values) if known else ', '.join(values)}."


def _sentence(product: ProductContent, turn: int) -> str:
    """Return one or two facts of a product as a whole sentence."""
    many = _is_many(product)
    clauses = [clause for one in rotated(product.statements, turn) if (clause := _clause(one, many=many))]
    name = _capital(_with_article(product, product.said))
    if len(clauses) > 1 and "," in "".join(clauses[:2]):
        return f"{name} {clauses[0]}. {'They' if many else 'It'} {clauses[1]}."
    if clauses:
        return f"{name} {join_words(clauses[:2])}."
    return _quoting(product, turn)


def _line(product: ProductContent, turn: int, mark: str) -> str:
    """Return a product and two facts in one line."""
    facts = [_fragment(statement) for statement in rotated(product.statements, turn // 2) if len(statement.value) <= 90]
    return f"{product.name}{mark}{' '.join(facts[:2])}" if facts else ""


def _quoting(product: ProductContent, turn: int) -> str:
    """Return a sentence in the shop's own words, marked as such, or a labelled fact."""
    return _quote(product, turn) or _line(product, turn, ": ")


def _quote(product: ProductContent, turn: int) -> str:
    whole = [
        one.value for one in product.statements if not one.label and re.fullmatch(r"[A-Z](?:.* ){4}.*\.", one.value)
    ]
    return f"{_capital(_with_article(product, product.said))}: “{whole[turn % len(whole)]}”" if whole else ""


def _alone(product: ProductContent, turn: int) -> str:
    """Return up to three facts of the only product, whose name need not be said again."""
    facts = [_fragment(statement) for statement in rotated(product.statements, turn)]
    return " ".join(facts[: 2 + turn % 2])


def _focus(products: Sequence[ProductContent], turn: int) -> str:
    """Return more about one product and only the names of the others."""
    first = next((product for product in products if product.statements), products[0])
    others = [_with_article(product, product.said) for product in products if product is not first]
    facts = [_fragment(statement) for statement in rotated(first.statements, turn)][:3]
    beside = "Next to them" if _is_many(first) else "Next to it"
    told = f"First, {_with_article(first, first.said)}. {' '.join(facts)}" if facts else ""
    return f"{told} {beside}: {join_words(others)}.".strip() if others and told else told


def _by_topic(products: Sequence[ProductContent]) -> str:
    """Return the products ordered by what is known: materials, sizes, origins."""
    lines = []
    for topic, heading in ((Topic.MATERIAL, "Materials"), (Topic.SIZE, "Sizes"), (Topic.ORIGIN, "Made in")):
        found = [
            f"{_value(statement)} ({product.short.removesuffix('…')})"
            for product in products
            for statement in product.statements
            if statement.topic is topic and statement.label and len(statement.value) <= _VALUE_LETTERS
        ]
        if len(found) > 1:
            lines.append(f"{heading}: {'; '.join(found)}.")
    return "\n".join(lines)
