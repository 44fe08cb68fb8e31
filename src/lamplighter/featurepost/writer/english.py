"""English: plain sentences, articles and plurals, and no word that a fact does not carry."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from lamplighter.featurepost.statement import Statement, Topic
from lamplighter.featurepost.writer.content import Content, ProductContent, starts_with_material
from lamplighter.featurepost.writer.voice import MOST_TOLD, Sender, rotated

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_NO_NOUN = re.compile(
    r".*(?:ware|wear|ing|decor|art|stationery|paper|fabric|cloth|tea|coffee|honey|juice|soap|oil|yarn|wool|"
    r"jewell?ery|kitchen|home|garden|linen|furniture|food)"
)
_THING = re.compile(
    r"mug|cup|bowl|plate|saucer|dish|vase|tray|candle|towel|notebook|bag|tote|box|lamp|chair|stool|table|bench|"
    r"board|spoon|"
    r"knife|fork|jug|jar|pot|teapot|pitcher|carafe|glass|tumbler|bottle|flask|kettle|pan|cooler|blanket|throw|"
    r"cushion|pillow|"
    r"rug|basket|hook|shelf|mirror|clock|print|poster|card|pen|scarf|hat|cap|shirt|t-shirt|tee|sweater|hoodie|"
    r"jacket|coat|"
    r"dress|skirt|ring|necklace|bracelet|brooch|wallet|belt|apron|napkin|coaster|planter|brush|comb|ladle|whisk|"
    r"backpack|pouch|case|holder|stand|frame|ornament|tile"
)
_VALUE_LETTERS = 60
_NAMES_LETTERS = 90

_TITLES = (
    ("{Things}, side by side", "{The_a}, on its own"),
    ("A closer look at {things}", "A closer look at {the_a}"),
    ("{Things}, plainly told", "{The_a}, plainly told"),
    ("Meet {things}", "Meet {the_a}"),
    ("{Things} to look at slowly", "{The_a}, looked at slowly"),
    ("In the shop: {things}", "In the shop: {the_a}"),
    ("{Things}, up close", "{The_a}, up close"),
    ("Notes on {things}", "Notes on {the_a}"),
    ("Starting with {the_a}", "It starts with {the_a}"),
    ("{Things}, one by one", "{The_a}, bit by bit"),
    ("From our shelf: {things}", "From our shelf: {the_a}"),
    ("{Things} at a glance", "{The_a} at a glance"),
    ("A short guide to {things}", "A short guide to {the_a}"),
    ("{Things} in plain words", "{The_a} in plain words"),
    ("Small facts about {things}", "Small facts about {the_a}"),
    ("Here are {things}", "Here is {the_a}"),
    ("{Things} and what to know", "{The_a} and what to know"),
    ("Getting to know {things}", "Getting to know {the_a}"),
    ("{Things} in a row", "{The_a} in focus"),
    ("Taking a look at {things}", "Taking a look at {the_a}"),
    ("A word on {things}", "A word on {the_a}"),
    ("{Things} in detail", "{The_a} in detail"),
    ("On the shelf: {things}", "On the shelf: {the_a}"),
    ("What to know about {things}", "What to know about {the_a}"),
)
_OPENINGS = (
    ("Here are {things} from {brand}, with the facts that help when choosing.",
     "Here is {the_a} from {brand}, with the facts that help when choosing."),
    ("A quiet look at {things}: plain facts, no fuss.", "A quiet look at {the_a}: plain facts, no fuss."),
    ("We put {things} next to each other and wrote down what is worth knowing.",
     "We took {the_a} from the shelf and wrote down what is worth knowing."),
    ("Some of what is in the shop right here: {things}.", "One thing from the shop, looked at properly: {the_a}."),
    ("{Things}, and a few facts about each.", "{The_a}, and a few facts about it."),
    ("If you are wondering about {things}, this may help.", "If you are wondering about {the_a}, this may help."),
    ("May we introduce {things}?", "May we introduce {the_a}?"),
    ("This post is about {things}. Nothing more, nothing less.",
     "This post is about {the_a}. Nothing more, nothing less."),
    ("We begin with {the_a}, then go on to {rest}.", "We begin and end with {the_a}."),
    ("A few words on {things} from {brand}.", "A few words on {the_a} from {brand}."),
    ("Swipe through {things}: a slide each, with what there is to know.",
     "Swipe through for {the_a}, with what there is to know."),
    ("We like to keep descriptions short, so {things} get a few lines each.",
     "We like to keep descriptions short, so {the_a} gets a few lines."),
    ("From {brand}: {things}, described the way we would over the counter.",
     "From {brand}: {the_a}, described the way we would over the counter."),
)  # fmt: skip
_KICKERS = ("A closer look", "In the shop", "From the shelf", "Shop notes", "Plain facts", "Worth knowing")
_SUBTITLES = ("{names}", "{Materials}", "From {brand}", "{brand} · {handle}", "With the facts on each", "{names}")
_DETAIL_TITLES = (
    "The details",
    "Good to know",
    "More about it",
    "In detail",
    "The small print, read out",
)
_CLOSING_TITLES = (
    ("See them in the shop", "See it in the shop"),
    ("Find them in the shop", "Find it in the shop"),
    ("Come and have a look", "Come and have a look"),
    ("There is more in the shop", "There is more in the shop"),
    ("Take your time choosing", "Take your time"),
    ("Have a proper look", "Have a proper look"),
    ("They are in the shop", "It is in the shop"),
)
_CLOSING_BODIES = ("{site} · {handle}", "Find us at {site}", "{site}", "The shop: {site}", "Visit {site} or {handle}")
_FAREWELLS = (
    ("Which would you pick?", "Where would you put it?"),
    ("If something is missing here, just ask.", "If something is missing here, just ask."),
    ("Questions are welcome in the comments.", "Questions are welcome in the comments."),
    ("", ""),
    ("Save this for later if it helps.", "Save this for later if it helps."),
    ("Tell us what else you would like to know.", "Tell us what else you would like to know."),
    ("Is there anything else you would like to know?", "Is there anything else you would like to know?"),
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
        named = [_capital(_plural(kinds[0]))] if kinds and len(set(kinds)) == 1 else []
        return rotated([sender.name, *_KICKERS, *named], turn)

    def titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return titles in one wording, longer ones first."""
        return self._say(_TITLES[turn % len(_TITLES)], content)

    def subtitles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines below the title."""
        slots = {
            "names": _joined([product.short for product in content.products]) if len(content.products) > 1 else "",
            "Materials": _capital(_joined(content.materials)) if content.is_all_known else "",
            "brand": sender.name,
            "handle": sender.handle,
        }
        said = [text.format(**slots) for text in rotated(_SUBTITLES, turn)]
        return [text for text in said if text]

    def fragments(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return short complete sentences about one product."""
        said = [_fragment(statement) for statement in product.statements]
        chosen = [f"{_capital(label)}: {_joined(values)}." for label, values in product.choices if len(values) > 1]
        return (*rotated(said, turn), *chosen) or tuple(_last_resort(product))[:1]

    def detail_titles(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return headings for the details of one product."""
        return rotated([*_DETAIL_TITLES, _capital(product.short)], turn)

    def closing_titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return last headings."""
        return [pair[len(content.products) == 1] for pair in rotated(_CLOSING_TITLES, turn)]

    def closing_bodies(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines that say where the shop is."""
        del content
        if not sender.site:
            return rotated([sender.handle, f"Find us as {sender.handle}", f"{sender.name} · {sender.handle}"], turn)
        said = [text.format(site=sender.site, handle=sender.handle) for text in rotated(_CLOSING_BODIES, turn)]
        return [*said, sender.site, sender.handle]

    def openings(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return first paragraphs of a caption."""
        return self._say(_OPENINGS[turn % len(_OPENINGS)], content, brand=sender.name)

    def body(self, content: Content, turn: int) -> str:
        """Return the middle of a caption in one of five shapes."""
        products = rotated(content.products, turn // 5 if len(content.products) <= MOST_TOLD else turn)[:MOST_TOLD]
        shape = turn % 5
        if len(products) == 1:
            return _alone(products[0], turn)
        if shape == 0:
            return " ".join(_sentence(product, turn) for product in products if _sentence(product, turn))
        if shape == 1:
            return "\n".join(line for product in products if (line := _line(product, turn, ": ")))
        if shape == 2:
            return "\n".join(line for product in products if (line := _quoting(product, turn)))
        if shape == 3:
            return _focus(products, turn)
        return _by_topic(products) or "\n".join(line for product in products if (line := _line(product, turn, " – ")))

    def farewell(self, content: Content, turn: int) -> str:
        """Return the last sentence of a caption, or ""."""
        return _FAREWELLS[turn % len(_FAREWELLS)][len(content.products) == 1]

    def _say(self, wordings: tuple[str, str], content: Content, *, brand: str = "") -> Sequence[str]:
        """Return one wording with every way to name the things, the longest first."""
        single = len(content.products) == 1
        first = _with_article(content.products[0])
        rest = _joined([_with_article(product) for product in content.products[1:]])
        return [
            wordings[single].format(
                things=things, Things=_capital(things), the_a=first, The_a=_capital(first), rest=rest, brand=brand
            )
            for things in _things(content)
        ]


def _things(content: Content) -> Iterator[str]:
    """Yield ways to name all products together: "three stoneware mugs", "three mugs", "a mug and a plate"."""
    count = len(content.products)
    number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
    kinds = _kinds(content)
    material = content.shared_material
    names = _joined([_with_article(product) for product in content.products])
    if not kinds and len(names) <= _NAMES_LETTERS:
        yield names
    if kinds and len(set(kinds)) == 1:
        if material and material not in kinds[0]:
            yield f"{number} {material} {_plural(kinds[0])}"
        yield f"{number} {_plural(kinds[0])}"
    elif kinds:
        counted = Counter(kinds)
        yield _joined([_a(kind) if times == 1 else _plural(kind) for kind, times in counted.items()])
    if material:
        yield f"{number} pieces in {material}"
    elif not kinds and content.is_all_known:
        yield f"{number} pieces in {_joined(content.materials)}"
    yield f"{number} pieces" if content.materials or kinds else f"{number} things"


def _kinds(content: Content) -> list[str]:
    """Return the kind of each product as a singular noun, or nothing when one of them has none."""
    kinds = [_noun(product.kind) or _noun_in(product.short) for product in content.products]
    return kinds if all(kinds) else []


def _noun(kind: str) -> str:
    word = kind.lower()
    if not re.fullmatch(r"[a-z][a-z -]{1,22}[a-z]", word) or _NO_NOUN.fullmatch(word) or " and " in word:
        return ""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if re.search(r"(?:sh|ch|x|ss|z)es$", word):
        return word[:-2]
    if word.endswith("knives"):
        return f"{word[:-3]}fe"
    return (
        word[:-1]
        if re.search(r"[^sui]s$", word)
        and not re.search(
            r"(?:trouser|jean|short|"
            r"scissor)s$",
            word,
        )
        else word
    )


def _noun_in(name: str) -> str:
    """Return the thing a name ends with ("Pocket Notebook"), where it is one that can be counted."""
    word = name.rpartition(" ")[2].lower()
    return word if _THING.fullmatch(_noun(word)) else ""


def _plural(noun: str) -> str:
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if noun.endswith("knife"):
        return f"{noun[:-2]}ves"
    return f"{noun}es" if re.search(r"(?:s|sh|ch|x|z)$", noun) else f"{noun}s"


def _a(noun: str) -> str:
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _with_article(product: ProductContent) -> str:
    """Return the short name as it stands in a sentence."""
    name = product.short
    if re.match(r"(?:the|an?) ", name, re.IGNORECASE):
        return name[0].lower() + name[1:]
    plain = re.fullmatch(r"[A-Z][\w-]*(?: [A-Za-z-]+)+", name) and not re.search(r"\d", name)
    return f"the {name}" if plain and " for " not in name else name


def _is_many(product: ProductContent) -> bool:
    return bool(re.search(r"[^sui]s$", product.short.lower())) and not product.short.lower().endswith("'s")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


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
    if re.match(r"(?:made|from|by|in|solid|hand)\b", statement.value.lower()) or ". " in statement.value:
        return ""
    verb = verbs[many]
    if label == "made in":
        verb = "are made in" if many else "is made in"
    return f"{verb} {_value(statement)}"


def _fragment(statement: Statement) -> str:
    """Return a statement as a sentence that stands alone."""
    if not statement.label:
        return statement.value if statement.value.endswith((".", "!", "?", "”", ")")) else f"{statement.value}."
    clause = _clause(statement, many=False)
    if clause:
        return _capital(clause.removeprefix("is ")) + "."
    return f"{_capital(statement.label)}: {statement.value}."


def _last_resort(product: ProductContent) -> Iterator[str]:
    """Yield what can be said when a product has no statement."""
    kind = _noun(product.kind)
    if kind and product.vendor:
        yield f"{_capital(_a(kind))} by {product.vendor}."
    if product.vendor:
        yield f"By {product.vendor}."
    if kind:
        yield f"{_capital(_a(kind))} from the shop."


def _sentence(product: ProductContent, turn: int) -> str:
    """Return one or two facts of a product as a whole sentence."""
    many = _is_many(product)
    clauses = [clause for one in rotated(product.statements, turn) if (clause := _clause(one, many=many))]
    name = _capital(_with_article(product))
    if len(clauses) > 1 and "," in "".join(clauses[:2]):
        return f"{name} {clauses[0]}. {'They' if many else 'It'} {clauses[1]}."
    if clauses:
        return f"{name} {_joined(clauses[:2])}."
    return _quote(product, turn) or _line(product, turn, ": ")


def _line(product: ProductContent, turn: int, mark: str) -> str:
    """Return a product and two facts in one line."""
    facts = [_fragment(statement) for statement in rotated(product.statements, turn // 2) if len(statement.value) <= 90]
    return f"{product.short}{mark}{' '.join(facts[:2])}" if facts else ""


def _quoting(product: ProductContent, turn: int) -> str:
    """Return a sentence in the shop's own words, marked as such, or a labelled fact."""
    return _quote(product, turn) or _line(product, turn, ": ")


def _quote(product: ProductContent, turn: int) -> str:
    whole = [
        one.value for one in product.statements if not one.label and re.fullmatch(r"[A-Z](?:.* ){4}.*\.", one.value)
    ]
    return f"From the page of {_with_article(product)}: “{whole[turn % len(whole)]}”" if whole else ""


def _alone(product: ProductContent, turn: int) -> str:
    """Return up to three facts of the only product, whose name need not be said again."""
    facts = [_fragment(statement) for statement in rotated(product.statements, turn)]
    return " ".join(facts[: 2 + turn % 2])


def _focus(products: Sequence[ProductContent], turn: int) -> str:
    """Return more about one product and only the names of the others."""
    first, others = products[0], [_with_article(product) for product in products[1:]]
    facts = [_fragment(statement) for statement in rotated(first.statements, turn)][:3]
    beside = "Next to them" if _is_many(first) else "Next to it"
    told = f"First, {_with_article(first)}. {' '.join(facts)}" if facts else ""
    return f"{told} {beside}: {_joined(others)}.".strip() if others and told else told


def _by_topic(products: Sequence[ProductContent]) -> str:
    """Return the products ordered by what is known: materials, sizes, origins."""
    lines = []
    for topic, heading in ((Topic.MATERIAL, "Materials"), (Topic.SIZE, "Sizes"), (Topic.ORIGIN, "Made in")):
        found = [
            f"{_value(statement)} ({product.short})"
            for product in products
            for statement in product.statements
            if statement.topic is topic and statement.label and len(statement.value) <= _VALUE_LETTERS
        ]
        if len(found) > 1:
            lines.append(f"{heading}: {'; '.join(found)}.")
    return "\n".join(lines)
