"""Japanese: short sentences in です・ます, counters, full-width punctuation, and no word that a fact does not carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lamplighter.featurepost.statement import Statement, Topic
from lamplighter.featurepost.writer.content import Content, ProductContent
from lamplighter.featurepost.writer.voice import MOST_TOLD, Sender, rotated

_COUNTS = ("零点", "一点", "二点", "三点", "四点", "五点", "六点")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_FINISHED = re.compile(
    r".*(?:ます|です|ません|でした|ました|した|ない|する|れる|える|ある|いる|可|不可|[。！？])", re.DOTALL
)
_VALUE_LETTERS = 36
_TITLE_LETTERS = 24
_NAMES_LETTERS = 40
_PAIR = 2

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
_KICKERS = ("ショップだより", "品物のこと", "棚から", "商品紹介", "ひとつずつ", "近くで見る")
_SUBTITLES = ("{names}", "{materials}", "{brand}より", "{brand} · {handle}", "{names}")
_DETAIL_TITLES = ("くわしく", "もう少しくわしく", "知っておきたいこと", "手もとのメモ", "品物のこと", "ひとこと")
_CLOSING_TITLES = (
    "ショップでご覧ください", "お待ちしています", "ゆっくりお選びください", "つづきはショップで", "ショップにあります",
    "どうぞご覧ください", "お店をのぞいてみてください",
)  # fmt: skip
_CLOSING_BODIES = (
    "{site} · {handle}",
    "ショップはこちら {site}",
    "{site}",
    "{site} でご覧いただけます",
    "{handle} · {site}",
)
_FAREWELLS = (
    ("どれが気になりましたか。", "どこに置きたいと思いましたか。"),
    ("わからないことがあれば、お気軽にお尋ねください。", "わからないことがあれば、お気軽にお尋ねください。"),
    ("ご質問はコメントでどうぞ。", "ご質問はコメントでどうぞ。"),
    ("", ""),
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

    def titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return titles in one wording, longer ones first."""
        said = _say(_TITLES[turn % len(_TITLES)], content)
        return sorted(said, key=lambda title: len(title) > _TITLE_LETTERS)

    def subtitles(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines below the title."""
        slots = {
            "names": "、".join(product.short for product in content.products) if len(content.products) > 1 else "",
            "materials": "、".join(content.materials) if content.is_all_known else "",
            "brand": sender.name,
            "handle": sender.handle,
        }
        return [said for text in rotated(_SUBTITLES, turn) if (said := text.format(**slots))]

    def fragments(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return short complete sentences about one product."""
        said = [_fragment(statement) for statement in product.statements]
        chosen = [f"{label}は{'、'.join(values)}。" for label, values in product.choices if len(values) > 1]
        return (*rotated(said, turn), *chosen) or tuple(_last_resort(product))[:1]

    def detail_titles(self, product: ProductContent, turn: int) -> Sequence[str]:
        """Return headings for the details of one product."""
        return rotated([*_DETAIL_TITLES, product.short], turn)

    def closing_titles(self, content: Content, turn: int) -> Sequence[str]:
        """Return last headings."""
        del content
        return rotated(_CLOSING_TITLES, turn)

    def closing_bodies(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return lines that say where the shop is."""
        del content
        if not sender.site:
            return rotated([sender.handle, f"{sender.handle} をご覧ください", f"{sender.name} · {sender.handle}"], turn)
        said = [text.format(site=sender.site, handle=sender.handle) for text in rotated(_CLOSING_BODIES, turn)]
        return [*said, sender.site, sender.handle]

    def openings(self, content: Content, sender: Sender, turn: int) -> Sequence[str]:
        """Return first paragraphs of a caption."""
        return _say(_OPENINGS[turn % len(_OPENINGS)], content, brand=sender.name)

    def body(self, content: Content, turn: int) -> str:
        """Return the middle of a caption in one of four shapes."""
        products = rotated(content.products, turn // 4 if len(content.products) <= MOST_TOLD else turn)[:MOST_TOLD]
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


def _say(wordings: tuple[str, str], content: Content, *, brand: str = "") -> Sequence[str]:
    """Return one wording with every way to name the things, the longest first."""
    wording = wordings[len(content.products) == 1]
    first = content.products[0].short
    rest = "と".join(product.short for product in content.products[1:])
    return [wording.format(things=things, a=first, rest=rest, brand=brand) for things in _things(content)]


def _things(content: Content) -> Iterator[str]:
    """Yield ways to name all products together: 「磁器の皿三点」「皿三点」「皿と鉢」「三点」."""
    number = len(content.products)
    count = _COUNTS[number] if number < len(_COUNTS) else f"{number}点"
    kinds = _kinds(content)
    material = content.shared_material
    names = ("と" if number == _PAIR else "、").join(product.short for product in content.products)
    if not kinds and len(names) <= _NAMES_LETTERS:
        yield names
    if kinds and len(set(kinds)) == 1:
        if material and material not in kinds[0]:
            yield f"{material}の{kinds[0]}{count}"
        yield f"{kinds[0]}{count}"
    elif kinds and len(set(kinds)) == number:
        yield "と".join(kinds)
    if material:
        yield f"{material}の{count}"
    yield f"こちらの{count}"


def _kinds(content: Content) -> list[str]:
    kinds = [_kind(product) for product in content.products]
    return kinds if all(_JAPANESE.search(kind) and len(kind) <= 12 for kind in kinds) else []


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
    if _is_noun(value) and _JAPANESE.search(statement.label) and statement.topic is not Topic.CARE:
        return f"{statement.label}は{value}。"
    return f"{statement.label}：{value}。"


def _last_resort(product: ProductContent) -> Iterator[str]:
    """Yield what can be said when a product has no statement."""
    kind = product.kind if _JAPANESE.search(product.kind) else ""
    if kind and product.vendor:
        yield f"{product.vendor}の{kind}です。"
    if product.vendor:
        yield f"{product.vendor}の品です。"
    if kind:
        yield f"{kind}です。"


def _sentence(product: ProductContent, turn: int) -> str:
    """Return one or two facts of a product as a whole sentence."""
    nouns = [
        (one.label, one.value)
        for one in rotated(product.statements, turn)
        if one.label and _is_noun(one.value) and _JAPANESE.search(one.label) and one.topic is not Topic.CARE
    ][:2]
    if len(nouns) == 2:
        return f"{product.short}は、" + "、".join(f"{label}が{value}" for label, value in nouns) + "です。"
    if nouns:
        return f"{product.short}の{nouns[0][0]}は{nouns[0][1]}です。"
    return _quoted(product, turn) or _line(product, turn)


def _quoted(product: ProductContent, turn: int) -> str:
    quotes = [
        one.value.rstrip("。")
        for one in product.statements
        if not one.label and re.fullmatch(r"[^「」]{8,}(?:です|ます|ません|ました|た|ない|る)。", one.value)
    ]
    return f"{product.short}の商品ページには「{quotes[turn % len(quotes)]}」とあります。" if quotes else ""


def _line(product: ProductContent, turn: int) -> str:
    """Return a product and two facts in one line."""
    facts = [_fragment(one) for one in rotated(product.statements, turn // 2) if len(one.value) <= 60]
    return f"{product.short}――{''.join(facts[:2])}" if facts else ""


def _quoting(product: ProductContent, turn: int) -> str:
    """Return a sentence in the shop's own words, marked as such, or a labelled fact."""
    return _quoted(product, turn) or _line(product, turn)


def _alone(product: ProductContent, turn: int) -> str:
    """Return up to three facts of the only product, whose name need not be said again."""
    facts = [_fragment(statement) for statement in rotated(product.statements, turn)]
    return "".join(facts[: 2 + turn % 2])


def _focus(products: Sequence[ProductContent], turn: int) -> str:
    """Return more about one product and only the names of the others."""
    first, others = products[0], [product.short for product in products[1:]]
    facts = [_fragment(one) for one in rotated(first.statements, turn)][:3]
    if not facts:
        return ""
    beside = f"となりは{'と'.join(others)}です。" if others else ""
    return f"まずは{first.short}。{''.join(facts)}{beside}"
