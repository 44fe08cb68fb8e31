"""Japanese: short sentences in です・ます, counters, full-width punctuation, and no word that a fact does not carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lamplighter.featurepost.statement import Statement, Topic, holds_japanese
from lamplighter.featurepost.writer.content import Content, ProductContent, drop_repeats, find_size_run, is_many
from lamplighter.featurepost.writer.voice import MOST_TOLD, Sender, rotated

_COUNTS = ("零点", "一点", "二点", "三点", "四点", "五点", "六点")
_FINISHED = re.compile(
    r".*(?:ます|です|ません|でした|ました|した|ない|する|れる|える|ある|いる|可|不可|[。！？])", re.DOTALL
)
_VALUE_LETTERS = 36
_TITLE_LETTERS = 24
_PAIR = 2
_REST_LETTERS = 120

_TITLES = (
    ("{things}をならべて", "{a}のこと"),
    ("{things}を、近くで", "{a}を、近くで"),
    ("{things}の覚え書き", "{a}の覚え書き"),
    ("はじめに、{a}", "まずは、{a}"),
    ("{things}を見くらべる", "{a}をよく見る"),
    ("棚から、{things}", "棚から、{a}"),
    ("{things}をひとつずつ", "{a}をじっくり"),
    ("{things}の紹介です", "{a}の紹介です"),
    ("ショップから、{things}", "ショップから、{a}"),
    ("{things}の小さなメモ", "{a}の小さなメモ"),
    ("{things}をゆっくり見る", "{a}をゆっくり見る"),
    ("{things}、それぞれのこと", "{a}というもの"),
    ("{things}を知る", "{a}を知る"),
    ("{a}から始めます", "{a}から始めます"),
    ("今回は、{things}", "今回は、{a}"),
    ("{things}のことを少し", "{a}のことを少し"),
    ("{things}をよく見ると", "{a}をよく見ると"),
    ("ならべて見る、{things}", "手もとで見る、{a}"),
    ("{things}のご案内", "{a}のご案内"),
    ("{things}をまとめました", "{a}についてまとめました"),
    ("選ぶ前に、{things}", "選ぶ前に、{a}"),
    ("{things}について", "{a}について"),
    ("お見せします、{things}", "お見せします、{a}"),
    ("{a}と、そのとなり", "{a}をひとつ"),
)
_OPENINGS = (
    ("{brand}の{things}をご紹介します。", "{brand}の{a}をご紹介します。"),
    ("今回は、{things}です。選ぶときに役立つことを、短くまとめました。",
     "今回は、{a}です。選ぶときに役立つことを、短くまとめました。"),
    ("{things}を、ひとつずつ見ていきます。", "{a}を、ゆっくり見ていきます。"),
    ("ならべてみたのは、{things}です。", "手にとってみたのは、{a}です。"),
    ("{a}から、順にご紹介します。", "{a}を、ていねいにご紹介します。"),
    ("{things}について、少し書きます。", "{a}について、少し書きます。"),
    ("手にとる前に知っておきたいことを、{things}についてまとめました。",
     "手にとる前に知っておきたいことを、{a}についてまとめました。"),
    ("棚にならぶ{things}を、近くから見てみます。", "棚にある{a}を、近くから見てみます。"),
    ("はじめに{a}、それから{rest}です。", "今回は{a}、ひとつだけです。"),
    ("{things}のことを、お店で話すように書きました。", "{a}のことを、お店で話すように書きました。"),
    ("写真を横に送ると、{things}を一枚ずつご覧いただけます。", "写真を横に送ると、{a}を順にご覧いただけます。"),
    ("{brand}から、{things}のお知らせです。", "{brand}から、{a}のお知らせです。"),
    ("むずかしいことは書きません。{things}の、ほんとうのところだけです。",
     "むずかしいことは書きません。{a}の、ほんとうのところだけです。"),
)  # fmt: skip
_MODEST_TITLES = {
    2: ("{things}の写真", "{a}の写真"),
    9: ("{things}をならべました", "{a}を置いてみました"),
    12: ("{things}に会う", "{a}に会う"),
    15: ("{things}の一枚ずつ", "{a}の一枚"),
    18: ("{things}をどうぞ", "{a}をどうぞ"),
    19: ("{things}をお目にかけます", "{a}をお目にかけます"),
    20: ("写真で見る、{things}", "写真で見る、{a}"),
}
_MODEST_OPENINGS = (
    ("{brand}の{things}をご紹介します。", "{brand}の{a}をご紹介します。"),
    ("今回は、{things}です。", "今回は、{a}です。"),
    ("{things}を、ひとつずつ見ていきます。", "{a}を、ゆっくり見ていきます。"),
    ("ならべてみたのは、{things}です。", "手にとってみたのは、{a}です。"),
    ("{a}から、順にご紹介します。", "{a}を、ていねいにご紹介します。"),
    ("{things}を、写真でお目にかけます。", "{a}を、写真でお目にかけます。"),
    ("言葉は少なめに、{things}です。", "言葉は少なめに、{a}です。"),
    ("棚にならぶ{things}を、近くから見てみます。", "棚にある{a}を、近くから見てみます。"),
    ("はじめに{a}、それから{rest}です。", "今回は{a}、ひとつだけです。"),
    ("ショップから、{things}を一枚ずつお届けします。", "ショップから、{a}をお届けします。"),
    ("写真を横に送ると、{things}を一枚ずつご覧いただけます。", "写真を横に送ると、{a}を順にご覧いただけます。"),
    ("{brand}から、{things}のお知らせです。", "{brand}から、{a}のお知らせです。"),
    ("{things}を、棚から出してみました。", "{a}を、棚から出してみました。"),
)
_CHOICE_LABELS = re.compile(r"色|カラー|サイズ|大きさ|素材|容量|重さ|柄|香り|形|種類|味|長さ|仕上げ")
_KICKERS = ("ショップだより", "品物のこと", "棚から", "商品紹介", "ひとつずつ", "近くで見る")
_SUBTITLES = ("{names}", "{materials}", "{brand}より", "{brand} · {handle}", "{names}")
_DETAIL_TITLES = ("くわしく", "もう少しくわしく", "知っておきたいこと", "手もとのメモ", "品物のこと", "ひとこと")
_CLOSING_TITLES = (
    "ショップでご覧ください", "お待ちしています", "ゆっくりお選びください", "つづきはショップで", "ショップにあります",
    "どうぞご覧ください", "お店をのぞいてみてください",
)  # fmt: skip
_FAREWELLS = (
    ("どれが気になりましたか。", "どこに置きたいと思いましたか。"),
    ("わからないことがあれば、お気軽にお尋ねください。", "わからないことがあれば、お気軽にお尋ねください。"),
    ("ご質問はコメントでどうぞ。", "ご質問はコメントでどうぞ。"),
    ("ごゆっくりご覧ください。", "ごゆっくりご覧ください。"),
    ("あとで見返せるよう、保存しておくと便利です。", "あとで見返せるよう、保存しておくと便利です。"),
    ("ほかに知りたいことがあれば、教えてください。", "ほかに知りたいことがあれば、教えてください。"),
    ("選ぶときの手がかりになればうれしいです。", "選ぶときの手がかりになればうれしいです。"),
)


class Japanese:
    """The Japanese voice."""

    def kickers(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return short words above the title."""
        kinds = _kinds(content)
        named = [kinds[0]] if kinds and len(set(kinds)) == 1 else []
        return rotated([sender.name, *_KICKERS, *named], turn)

    def titles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return titles in one wording, those that say most first."""
        place = turn % len(_TITLES)
        wordings = _TITLES[place] if content.is_mostly_told else _MODEST_TITLES.get(place, _TITLES[place])
        first = dict.fromkeys((content.products[0].name, content.products[0].short))
        things = _things(content, sender, content.short_names)
        said = [text for name in first for text in _say(wordings, things, name)]
        return sorted(said, key=lambda title: len(title) > _TITLE_LETTERS)

    def subtitles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines below the title."""
        slots = {
            "names": "、".join(content.short_names) if len(content.products) > 1 else "",
            "materials": "、".join(content.materials) if content.is_all_known else "",
            "brand": sender.name,
            "handle": sender.handle,
        }
        return [said for text in rotated(_SUBTITLES, turn) if (said := text.format(**slots))]

    def fragments(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return short complete sentences about one product."""
        said = [_fragment(statement) for statement in product.statements]
        chosen = [text for label, values in product.choices if (text := _choice(product, label, values))]
        return (*rotated(said, turn), *chosen)

    def last_resort(self, product: ProductContent, sender: Sender, turn: int) -> Sequence[str]:
        """Return what is true of a product about which there is nothing to tell."""
        kind = _kind(product) if holds_japanese(product.kind) else ""
        vendor = product.vendor
        first = [f"{vendor}の{kind}です。"] if kind and vendor else [f"{vendor}の品です。"] if vendor else []
        own = [] if vendor == sender.name else [f"{sender.name}の品です。"]
        return (
            *first,
            *rotated(["ショップでご覧ください。", "写真でご覧ください。", *own], turn),
            "ショップにあります。",
        )

    def hashtag(self, product: ProductContent) -> str:
        """Return the kind when it is one Japanese word."""
        kind = _kind(product)
        return kind if re.fullmatch(r"[\u3005\u3040-\u30fa\u30fc-\u30ff\u3400-\u9fff]{1,12}", kind) else ""

    def detail_titles(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return headings for the details of one product."""
        return rotated([*_DETAIL_TITLES, product.short], turn)

    def closing_titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return last headings."""
        del content
        return rotated(_CLOSING_TITLES, turn)

    def closing_bodies(self, content: Content, sender: Sender) -> Sequence[str]:
        """Return lines that name once more what was shown; where the shop is stands on the slide anyway."""
        return ["、".join(product.short for product in content.products), sender.name]

    def openings(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return first paragraphs of a caption."""
        table = _OPENINGS if content.is_mostly_told else _MODEST_OPENINGS
        first, *others = (product.name for product in content.products)
        rest = "と".join(others) if sum(len(name) for name in others) <= _REST_LETTERS else "ほかの品"
        things = _things(content, sender, content.spoken_names)
        return _say(table[turn % len(table)], things, first, rest=rest, brand=sender.name)

    def body(self, content: Content, turn: int) -> str:
        """Return the middle of a caption in one of four shapes."""
        turned = rotated(content.products, turn // 4 if len(content.products) <= MOST_TOLD else turn)
        products = drop_repeats(turned[:MOST_TOLD])
        shape = turn % 4
        if len(products) == 1:
            return _alone(products[0], turn)
        if shape == 0:
            return "\n".join(line for product in products if (line := _sentence(product, turn)))
        if shape == 1:
            return "\n".join(line for product in products if (line := _line(product, turn)))
        if shape == 2:
            return "\n".join(line for product in products if (line := _quoting(product, turn)))
        return _focus(products, turn)

    def farewell(self, content: Content, turn: int) -> str:
        """Return the last sentence of a caption, or ""."""
        return _FAREWELLS[turn % len(_FAREWELLS)][len(content.products) == 1]


def _say(
    wordings: tuple[str, str], things: Sequence[str], first: str, *, rest: str = "", brand: str = ""
) -> Sequence[str]:
    """Return one wording with every way to name the things; a brand that names them is not said a second time."""
    said = []
    for words in things or ("",):
        wording = wordings[not things]
        if brand and words.startswith(f"{brand}の"):
            wording = wording.replace("{brand}の{things}", "{things}").replace("{brand}から、{things}", "{things}")
        said.append(wording.format(things=words, a=first, rest=rest, brand=brand))
    return said


def _things(content: Content, sender: Sender, names: Sequence[str]) -> Sequence[str]:
    """Return ways to name several products together: 「磁器の皿三点」「皿三点」「皿と鉢」「三点」."""
    return tuple(_name_together(content, sender, names)) if len(content.products) > 1 else ()


def _name_together(content: Content, sender: Sender, names: Sequence[str]) -> Iterator[str]:
    number = len(content.products)
    count = _COUNTS[number] if number < len(_COUNTS) else f"{number}点"
    kinds = _kinds(content)
    material = content.shared_material
    if not kinds and names:
        yield ("と" if number == _PAIR else "、").join(names)
    if kinds and len(set(kinds)) == 1:
        if material and material not in kinds[0]:
            yield f"{material}の{kinds[0]}{count}"
        yield f"{kinds[0]}{count}"
    elif kinds and len(set(kinds)) == number:
        yield "と".join(kinds)
    if material:
        yield f"{material}の{count}"
    yield f"{sender.name}の{count}"
    yield f"こちらの{count}"


def _kinds(content: Content) -> list[str]:
    kinds = [_kind(product) for product in content.products]
    return kinds if all(holds_japanese(kind) and len(kind) <= 12 for kind in kinds) else []


def _kind(product: ProductContent) -> str:
    """Return the kind, of several with a dot between (急須・土瓶) the one the name holds, else the first."""
    kinds = product.kind.split("・")
    return next((kind for kind in kinds if kind in product.name), kinds[0])


def _is_noun(value: str) -> bool:
    return len(value) <= _VALUE_LETTERS and not _FINISHED.fullmatch(value) and "。" not in value


def _fragment(statement: Statement) -> str:
    """Return a statement as a sentence that stands alone."""
    value = statement.value
    if not statement.label:
        return value if value.endswith(("。", ".", "！", "？", "」")) else f"{value}。"
    if _is_noun(value) and holds_japanese(statement.label) and statement.topic is not Topic.CARE:
        return f"{statement.label}は{value}。"
    return f"{statement.label}：{value}。"


def _choice(product: ProductContent, label: str, values: tuple[str, ...]) -> str:
    """Return what can be chosen as a sentence; one choice alone only where its label says what it is, "" else."""
    known = _CHOICE_LABELS.fullmatch(label)
    sizes = find_size_run(values)
    if known and sizes:
        return f"{label}は{sizes[0]}から{sizes[1]}まで。"
    if len(values) == 1 and (not known or values[0] in product.name):
        return ""
    shown = f"{'、'.join(values[:4])}など" if is_many(values) else "、".join(values)
    return f"{label}は{shown}。"


def _sentence(product: ProductContent, turn: int) -> str:
    """Return one or two facts of a product as a whole sentence."""
    nouns = [
        (one.label, one.value)
        for one in rotated(product.statements, turn)
        if one.label and _is_noun(one.value) and holds_japanese(one.label) and one.topic is not Topic.CARE
    ][:2]
    if len(nouns) == 2:
        return f"{product.name}は、" + "、".join(f"{label}が{value}" for label, value in nouns) + "です。"
    if nouns:
        return f"{product.name}の{nouns[0][0]}は{nouns[0][1]}です。"
    return _quoting(product, turn)


def _quoted(product: ProductContent, turn: int) -> str:
    quotes = [
        one.value.rstrip("。")
        for one in product.statements
        if not one.label and re.fullmatch(r"[^「」]{8,}(?:です|ます|ません|ました|た|ない|る)。", one.value)
    ]
    return f"{product.name}。{quotes[turn % len(quotes)]}。" if quotes else ""


def _line(product: ProductContent, turn: int) -> str:
    """Return a product and two facts in one line."""
    facts = [_fragment(one) for one in rotated(product.statements, turn // 2) if len(one.value) <= 60]
    return f"{product.name}――{''.join(facts[:2])}" if facts else ""


def _quoting(product: ProductContent, turn: int) -> str:
    """Return a sentence in the shop's own words, marked as such, or a labelled fact."""
    return _quoted(product, turn) or _line(product, turn)


def _alone(product: ProductContent, turn: int) -> str:
    """Return up to three facts of the only product, whose name need not be said again."""
    facts = [_fragment(statement) for statement in rotated(product.statements, turn)]
    return "".join(facts[: 2 + turn % 2])


def _focus(products: Sequence[ProductContent], turn: int) -> str:
    """Return more about one product and only the names of the others."""
    first = next((product for product in products if product.statements), products[0])
    others = [product.name for product in products if product is not first]
    facts = [_fragment(one) for one in rotated(first.statements, turn)][:3]
    if not facts:
        return ""
    beside = f"となりは{'と'.join(others)}です。" if others else ""
    return f"まずは{first.name}。{''.join(facts)}{beside}"
