"""Statements in a shop's text: which sentence is a plain fact about a thing, and which is advertising or an attack."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from lamplighter.featurepost.bracket import is_balanced

QUOTE_LETTERS = 140
_WORDS_OF_A_SENTENCE = 3


class Topic(enum.Enum):
    """What a statement is about."""

    MATERIAL = "material"
    ORIGIN = "origin"
    SIZE = "size"
    CAPACITY = "capacity"
    WEIGHT = "weight"
    CARE = "care"
    CONTENT = "content"
    DETAIL = "detail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A quoted fact taken apart: "Material: stoneware" has a label and a value, a sentence has only a value."""

    topic: Topic
    label: str
    value: str


_LABELS = (
    (Topic.MATERIAL, re.compile(
        r"(?:main |outer |inner )?(?:materials?|fabric|composition|made (?:of|from)|finish)|素材|材質|原材料名?|"
        r"生地|仕上げ|主素材"
    )),
    (Topic.ORIGIN, re.compile(
        r"made in|origin|country of origin|place of origin|region|産地|原産国|生産国|生産地|製造国|製造|生産|窯元"
    )),
    (Topic.CAPACITY, re.compile(
        r"capacity|volume|holds|容量|満水容量|実用容量|内容量|net (?:weight|volume|content)"
    )),
    (Topic.WEIGHT, re.compile(
        r"weight|重さ|重量|本体重量"
    )),
    (Topic.SIZE, re.compile(
        r"(?:overall |product )?(?:sizes?|dimensions?|measurements?)|height|width|length|across|opening|depth|"
        r"diameter|サイズ|寸法|"
        r"大きさ|直径|口径|高さ|幅|長さ|奥行き?|縦|横|厚み"
    )),
    (Topic.CARE, re.compile(
        r"care(?: instructions)?|washing|cleaning|how to clean|お手入れ(?:方法)?|取り扱い|取扱い?(?:方法)?|"
        r"洗濯(?:方法)?|食洗機|電子レンジ"
    )),
    (Topic.CONTENT, re.compile(
        r"contents?|includes?|set(?: of)?|in the box|セット内容|内容|付属品|入数"
    )),
    (Topic.DETAIL, re.compile(
        r"colou?rs?|glaze|shape|pattern|weave|burn time|scent|notes|fit|closure|lining|色|釉薬|形|柄|織り|香り|"
        r"燃焼時間|仕様"
    )),
)  # fmt: skip

_MEASURES = (Topic.SIZE, Topic.CAPACITY, Topic.WEIGHT)
_SENTENCES = (
    (Topic.MATERIAL, re.compile(
        r"\bmade (?:of|from|with|in)\b|\bcut from\b|\bwoven (?:from|of|in)\b|\bknitted? (?:from|in)\b|"
        r"\bturned from\b|\bcarved from\b|\bthrown in\b|\b\d{1,3} ?% [a-z]+|\b(?:solid|glazed|unglazed|"
        r"untreated|oiled|fired|blown|cast|spun|dyed) |製です|でできて|を使(?:い|って|用)|から(?:作|つく)|(?:綿|"
        r"麻|毛|絹|ウール|リネン|コットン|"
        r"ポリエステル)\d{1,3}[%％]|[釉木陶磁]"
    )),
    (Topic.SIZE, re.compile(
        r"\d ?(?:[x×]|cm|mm|m\b|in\b|inch|\")|\bacross\b|\b(?:tall|wide|deep|long|high)\b.*\d|\d.*\b(?:tall|"
        r"wide|deep|long|high)\b|直径|高さ|センチ|ミリ"
    )),
    (Topic.CAPACITY, re.compile(
        r"\bholds?\b.*\d|\d ?(?:ml|cl|l|oz|litres?|liters?)\b|容量|リットル"
    )),
    (Topic.WEIGHT, re.compile(
        r"\bweighs?\b|\d ?(?:g|kg|lb|lbs|grams?)\b|グラム|キロ"
    )),
    (Topic.ORIGIN, re.compile(
        r"\b(?:made|thrown|woven|sewn|blown|printed|fired|turned|spun|knitted|dyed|poured|forged|glazed|"
        r"hand[- ]?made|hand[- ]?thrown)\b.* (?:in|by) |で(?:作|つく|織|焼|染|仕立)|職人|工房|窯"
    )),
    (Topic.CARE, re.compile(
        r"\b(?:dishwasher|microwave|oven|machine wash|hand wash|wash|wipe|rinse|iron|oil it|dry flat)\b|食洗機|"
        r"電子レンジ|オーブン|手洗い|洗濯|洗え|拭[いくき]|水洗い|お手入れ"
    )),
    (Topic.CONTENT, re.compile(
        r"\b(?:set|pair|box|pack) of\b|\bincludes?\b|\bcomes with\b|セット|付き(?:です|ます)|入りです"
    )),
    (Topic.DETAIL, re.compile(
        r"\b(?:handle|lid|rim|foot|base|spout|pocket|strap|zip|button|buckle|stitch|hem|collar|cuff|sleeve|seam|"
        r"lining|glaze|edge|wick|blade|cord|hook|shelf|drawer|wall|cap|straw)s?\b|取っ手|持ち手|蓋|ふた|縁|ふち|"
        r"高台|注ぎ口|ポケット|"
        r"ボタン|縫|釉|芯|刃|紐|ひも"
    )),
)  # fmt: skip

_DISCOUNT = re.compile(
    r"\bsale\b|\bdiscount|% ?off\b|\bhalf (?:off|price)\b|\bprice (?:cut|drop)|\bmark(?:ed)?[- ]?down|"
    r"\breduced (?:price|to)|"
    r"\bbargain|\bdeals?\b|\bpromo(?:tions?)?\b|\bclearance\b|\bcoupon|\b(?:two|2|three|3) for (?:one|1|two|"
    r"2)\b|\bbogo\b|"
    r"\bfree (?:shipping|delivery|gift|returns?|sample|of charge)\b|\bfor free\b|\bgratis\b|"
    r"\bsave (?:up to )?[$€£¥]?\d|"
    r"\bblack ?friday\b|\bcyber ?monday\b|\bgiveaway\b|\bspecial (?:offer|price)\b|\brabatt\b|\bsoldes?\b|"
    r"割引|値引|半額|セール(?!ス)|\d[割%％] ?(?:off|オフ)|\boff\b ?\d|特価|激安|お買い得|お買得|お得|無料|"
    r"値下げ|クーポン|"
    r"ポイント\d+倍|プレゼント|わけあり|訳あり|福袋"
)  # fmt: skip
_PROMOTION = re.compile(
    r"^(?:just|grab|get|take|enjoy|discover|bring|pair|feel|try|start|stay|sip|make|meet|introducing|welcome|"
    r"add|ready|"
    r"eg|ex|note|hinweis|ingredients?)\b|[,:：、]$|"
    r"\b(?:ideal|great|effortless\w*|durab\w+|leader|refresh\w*|(?:high|top)[- ]quality|refined|lighter|"
    r"stronger|thanks|"
    r"best|finest|greatest|perfect(?:ly)?|amazing|ultimate|incredible|awesome|stunning|luxur\w+|premium|unique|"
    r"iconic|beloved|favou?rites?|exclusive|revolutionary|unbeatable|unmatched|superior|top[- ]?quality|"
    r"world[- ]class|"
    r"number one|must[- ]have|award|bestsell\w+|limited|hurry|today|now|last chance|while stocks?|only \d+ left|"
    r"guarantee\w*|warrant\w+|lifetime|forever|indestructible|unbreakable|proven|certif\w+|approved|tested|"
    r"organic(?:ally)?|eco|eco[- ]?friendly|sustainab\w+|green|climate|carbon|biodegradable|compostable|"
    r"recycl\w+|ethical\w*|vegan|"
    r"non[- ]?toxic|toxins?|detox|bpa|chemical|natural(?:ly)?|pure|safe for|health\w*|heal(?:s|ing)?|cures?|treats?|"
    r"relie(?:f|ves?)|therap\w+|medic\w+|clinical\w*|doctors?|immun\w+|anti[- ]?\w*bacterial|antimicrobial|"
    r"allerg\w+|stress|sleep|pain|"
    r"ship(?:s|ped|ping)?|deliver\w*|orders?|returns?|refunds?|restock\w*|in stock|sold out|subscri\w+|newsletter|"
    r"click|buy|shop|cart|checkout|price[sd]?|cost|cheap\w*|afford\w*|gift card|contact|email|call|visit|please|"
    r"you|your|yours|you.re|we|our|us|i|my|than (?:most|any|other|ever)|better|cheaper|popular|trend\w*|loved?|"
    r"everyone|"
    r"will|instagram|facebook|tiktok|black friday)\b|#1\b|[!?]|"
    r"[！？]|最高|最安|最強|最上|最適|No\.?1|ナンバーワン|日本一|世界一|世界初|業界初|一番|抜群|完璧|究極|極上|"
    r"至高|贅沢|高級|大人気|人気|話題|"
    r"限定|今だけ|本日|残り|在庫|品切れ|売り切れ|お早め|急いで|大好評|売れ筋|受賞|ランキング|おすすめ|オススメ|"
    r"ぜひ|是非|"
    r"保証|返品|返金|交換|送料|配送|発送|注文|購入|ご了承|ください|お問い合わせ|ショップ|税込|税抜|価格|値段|"
    r"円(?!形|筒|錐|盤|い|く|み)|"
    r"健康|効果|効能|治|癒|美肌|ダイエット|抗菌|除菌|殺菌|アレルギー|デトックス|免疫|安眠|ストレス|安心|安全|無添加|"
    r"オーガニック|有機|エコ|サステナブル|サスティナブル|環境に|天然|認証|認定|検査|医|絶対|必ず|永久|一生|必見|"
    r"必需|あなた|私たち|当店|弊社",
    re.IGNORECASE,
)  # fmt: skip
_LEANING = re.compile(
    r"(?:on |in |for |with )?(?:both|either|neither|these|those|others?|the (?:same|other|latter|former))\b|"
    r"th(?:is|at) (?:size|one|colou?r|model|version|style|option|variant)\b|"
    r"(?:and|but|so|or|then|also|however|here|there|instead|therefore|because|which|that)\b|"
    r"どちら|いずれ|それ|そこ|その|これら|また[、は]|そして|ただし|なお|しかし|だから|ここ|ほかに",
    re.IGNORECASE,
)  # fmt: skip
_SIZE_RUN = re.compile(
    r"(?<![\w-])(?:(?:x{0,4}s|m|x{0,4}l|[2-9]xl|\d{2,3})\s*(?:[/|,・、–-]|\s)\s*){3,}(?:x{0,4}s|m|x{0,4}l|[2-9]xl|\d{2,3})"
    r"(?![\w-])",
    re.IGNORECASE,
)
_CELLS = re.compile(r"\s/\s")
_MOST_CELLS = 2
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|holds?|weighs?|measures?|comes?|fits?|includes?|features?|keeps?|opens?|closes?|"
    r"stands?|burns?|wipe|wash|rinse|made|cut|woven|turned|thrown|carved|knitted|glazed|fired|sewn|cast|blown)\b"
)
_CAPITALS = re.compile(r"(?<=\s)[A-Z][a-z]+")
_COUNT = re.compile(r"\s[x×]\s?\d{1,3}\.?$|^\d{1,3}\s?[x×]\s(?!\d)", re.IGNORECASE)
_MARKUP = re.compile(r"[<>{}`\\]|\]\(|&\w+;|\*\*|__")
_MONEY = re.compile(r"[$€£¥￥₩₹]|\d\s?(?:円|usd|eur|gbp|jpy|dollars?|euros?)", re.IGNORECASE)
_CONTACT = re.compile(
    r"(?:https?://|www\.)[^\s、。）」]+|[\w.+-]{1,64}[@＠][\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|[@＠][A-Za-z0-9_.]+|"
    r"(?<![\w-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,4}\.(?:com|net|org|shop|store|info|biz|app|io|co|me|jp|"
    r"de|uk|fr|it|es|eu|us|ca|"
    r"au|ie|in|cn|ru|example)\b(?:/\S*)?|"
    r"(?<!\d)(?:\+|＋|00)\d[\d\s().-]{6,20}\d|\(\d{2,4}\)[\s-]?\d{3,4}[-\s]\d{3,4}|"
    r"\b0\d{1,4}[-‐－ ]\d{1,4}[-‐－ ]\d{3,4}\b|"
    r"\b\d{3}[-.]\d{3}[-.]\d{4}\b|\b(?:tel|phone|call|fax|whatsapp|line id|電話)[^\d\n]{0,12}\d[\d\s().-]{5,20}\d",
    re.IGNORECASE,
)  # fmt: skip
_ATTACK = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines?|"
    r"everything|context|above|previous)\b|"
    r"\b(?:previous|prior|above|system|hidden|new) (?:instructions?|prompts?)\b|\bprompt injection\b|\bjailbreak|"
    r"^\s*(?:system|assistant|developer)\s*(?:prompt|message|note)?\s*[:：]|<\|?\s*/?(?:system|im_start|im_end|"
    r"assistant|user|endoftext)|\[/?inst\]|"
    r"#{2,} ?(?:instruction|system|response)|\byou are (?:now |no longer )?(?:an? )?(?:ai\b|assistant|chatgpt|"
    r"claude|gpt|language model|helpful)|"
    r"\bif you are (?:an? )?(?:ai\b|llm|bot|agent|assistant|(?:large )?language model)|\bas an ai\b|"
    r"\b(?:ai|llm)[ -](?:assistants?|agents?|models?|crawlers?|readers?)\b|\b(?:note|message|attention|"
    r"instructions?) (?:to|for) (?:the )?(?:ai|llm|bot|assistant|model)s?\b|"
    r"\bact as (?:an? )?\w+ (?:and|who|that)\b|\b(?:respond|reply|answer|output) (?:only |exactly )?(?:with|"
    r"in json|as json)\b|"
    r"\b(?:use|set|say|write|state|mention) (?:the )?price\b|\bdo not (?:mention|reveal|tell|disclose)\b|"
    r"\byour (?:system )?prompt\b|"
    r"(?:以前|前|上記|これまで|すべて|全て)の?(?:の)?(?:指示|命令|プロンプト|ルール)|(?:指示|命令)(?:を|"
    r"は)?(?:無視|忘れ)|(?:無視|忘れて)して?ください|"
    r"システム ?プロンプト|あなたは(?:ai|人工知能|アシスタント)|ai(?:アシスタント|エージェント|モデル)|"
    r"人工知能への|プロンプト",
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{60,}={0,2}|(?:[0-9a-f]{2}[ :]?){40,}", re.IGNORECASE)
_ABBREVIATION = re.compile(
    r"(?:\b(?:approx|ca|incl|e\.g|i\.e|no|dia|max|min|vol|st|dr|mr|mrs|vs|etc)|(?-i:\b[A-Z]))\.$", re.IGNORECASE
)
_EN_END = re.compile(r"(?<=[.!?])[ \t]+(?=[\"“‘(]?[A-Z0-9])")
_JA_END = re.compile(r"(?<=[。！？])(?![」』）])")
_ROW = re.compile(r"([^:：]{1,30}?)\s*[:：]\s*(\S.*)", re.DOTALL)
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def holds_japanese(text: str) -> bool:
    """Tell whether there is a letter of kana or kanji."""
    return _JAPANESE.search(text) is not None


def find_attack(text: str) -> str:
    """Return the words that speak to a machine instead of a customer, or ""."""
    folded = unicodedata.normalize("NFKC", text)
    found = _ATTACK.search(folded) or _BLOB.search(folded)
    return " ".join(found[0].split())[:60] if found else ""


def find_discount(text: str) -> str:
    """Return the first words that promise a lower price, or ""."""
    found = _DISCOUNT.search(unicodedata.normalize("NFKC", text).lower())
    return found[0] if found else ""


def find_contact(text: str) -> str:
    """Return the first web address, e-mail, @name or phone number, or ""."""
    found = _CONTACT.search(text)
    return found[0] if found else ""


def remove_contacts(text: str) -> str:
    """Return the text without web addresses, e-mails, @names and phone numbers."""
    return " ".join(_CONTACT.sub(" ", text).split())


def is_plain(text: str) -> bool:
    """Tell whether a name or a choice carries no contact, price, discount or markup."""
    return not (_CONTACT.search(text) or _MARKUP.search(text) or _MONEY.search(text) or find_discount(text))


def split_sentences(text: str) -> Iterator[str]:
    """Yield the lines and sentences of a text in order, each exactly as it stands there."""
    for line in text.split("\n"):
        held = ""
        start = position = 0
        for part in _EN_END.split(line):
            position = line.index(part, position) + len(part)
            held = line[start:position]
            if not _ABBREVIATION.search(held) and held.count("(") <= held.count(")"):
                yield from _split_japanese(held)
                start, held = position, ""
        if held.strip():
            yield from _split_japanese(held)


def _split_japanese(text: str) -> Iterator[str]:
    for sentence in _JA_END.split(text):
        if sentence.strip():
            yield sentence.strip()


def parse_statement(text: str) -> Statement | None:
    """Return what a sentence says about a thing, or None when it is no plain statement worth quoting."""
    if not _is_quotable(text):
        return None
    row = _ROW.fullmatch(text)
    if row:
        label, value = row[1].strip(), row[2].strip().rstrip("。.")
        topic = next((topic for topic, pattern in _LABELS if pattern.fullmatch(label.lower())), None)
        if topic is not None:
            return None if _is_table_row(topic, value) else Statement(topic=topic, label=label, value=value)
        if label.count(" ") < _WORDS_OF_A_SENTENCE:
            return None
    if _is_list_item(text):
        return None
    topic = next((topic for topic, pattern in _SENTENCES if pattern.search(text.lower())), None)
    return Statement(topic=topic, label="", value=text) if topic is not None else None


def _is_table_row(topic: Topic, value: str) -> bool:
    """Tell whether a labelled value is a table's head, or its columns without the head that would explain them."""
    columns = len(_CELLS.findall(value)) >= _MOST_CELLS
    return columns or (topic in _MEASURES and not re.search(r"\d", value))


def _is_list_item(text: str) -> bool:
    """Tell whether a line without a label only lists: columns, or another thing's name and how many there are of it."""
    if len(_CELLS.findall(text)) >= _MOST_CELLS or _COUNT.search(text):
        return True
    if holds_japanese(text) or text.endswith("."):
        return False
    return len(_CAPITALS.findall(text)) > 1 and not _VERB.search(text.lower())


def _is_quotable(text: str) -> bool:
    fewest = 4 if holds_japanese(text) else 8
    if not fewest <= len(text) <= QUOTE_LETTERS or text.isupper():
        return False
    folded = unicodedata.normalize("NFKC", text)
    return (
        is_plain(folded)
        and is_balanced(text)
        and not _SIZE_RUN.search(folded)
        and not _LEANING.match(folded)
        and not _PROMOTION.search(folded)
        and folded.count(",") + folded.count("、") < 6
    )
