"""Names of products as they may stand in print: tidy, cut where a name may end, and no two alike in one feature."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from lamplighter.featurepost.bracket import BRACKETS, balance_brackets, is_balanced
from lamplighter.featurepost.feature import FactSheet
from lamplighter.featurepost.writer.fit import cut_to_fit, split_graphemes

SHORT_LETTERS = 32
LONG_LETTERS = 80
_FEWEST_LETTERS = 4
_CHOICE_LETTERS = 30
_OPENING = re.escape("".join(BRACKETS.values()))
_CLOSING = re.escape("".join(BRACKETS))
_LEADING_TAG = re.compile(r"^(?:\s*【[^】]*】)+\s*")
_INNER_BLANKS = re.compile(rf"(?<=[{_OPENING}])\s+|\s+(?=[{_CLOSING},;])")
_NO_BRACKETS = re.compile(rf"[{_OPENING}]\s*[{_CLOSING}]")
_STROKE = re.compile(r"\s*\|\s*")
_PICTURES = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
_LINKING = (
    r"(?i:and|or|with|without|for|from|of|in|on|by|to|made|the|including|incl\.?|inkl\.?|aus|mit|ohne|für|und|oder|von|vom|"
    r"zum|zur|avec|sans|pour|et|con|sin|para|por|della|di|senza|met|voor|van|med|och|för)|"
    r"an?|at|im|am|der|die|das|dem|den|eine?|ou|en|de|du|des|à|la|le|les|y|del|los|las|da|per|e|het|een|til|&|\+"
)
_LOOSE_END = re.compile(rf"(?:\s+(?:{_LINKING}))+$|[\s,;:、，；：/／|｜・{_OPENING}]+$|(?:\s+[&+×\-–—]+)+$")
_STRAY_END = re.compile(rf"(?:[\s,;:、，；：/／|｜・{_OPENING}]|\s[&+×\-–—])+$")
_LOOSE_START = re.compile(rf"^[\s,;:、，；：/／|｜&+\-–—・.{_CLOSING}]+")
_SEPARATOR = re.compile(rf"\s+[-–—|/:]\s+|\s*[|｜／]\s*|\s*[{_OPENING}]|,\s|、")
_NAME_END = re.compile(rf"\s(?:{_LINKING})\s|\s+[-–—|/:]\s+|\s*[|｜／{_OPENING}]|,\s|(?<=[\u3040-\u9fff])[、 ]")
_WORD_START = re.compile(rf"[\s|｜／、・{_OPENING}]")
_LAST_SEPARATOR = re.compile(r"\s*[|｜／]\s*$|\s+[-–—/]\s+$|,\s*$|、$")
_LISTING = re.compile(r",.*\s(?:and|und|et|&)\s|\s(?:and|und|et|&)\s")
_FIGURE = re.compile(r"[\d.,]")


def tidy_title(title: str) -> str:
    """Return a title with single blanks, none inside its brackets, and only brackets that have their other half."""
    text = balance_brackets(" ".join(title.split()))
    text = _STROKE.sub(" | ", _NO_BRACKETS.sub(" ", _INNER_BLANKS.sub("", text)))
    text = _STRAY_END.sub("", _LOOSE_START.sub("", " ".join(text.split())))
    return text if any(letter.isalnum() for letter in text) else title.strip()


def find_head(name: str) -> str:
    """Return what a name calls the thing itself: all before the first bracket, stroke, comma or linking word."""
    heads = [head for head in _heads(name) if len(head) >= _FEWEST_LETTERS]
    return heads[0] if heads else name


def shorten_name(name: str, letters: int | None = SHORT_LETTERS) -> str:
    """Return the name, or the longest beginning of it that may stand for the thing; else whole words and an ellipsis.

    Half a list has an ellipsis too: beetroot and apple juice is no beetroot. No bracket stays open, and no linking
    word or stroke stays at the end.
    """
    if letters is None or len(name) <= letters:
        return name
    heads = [head for head in _heads(name) if _FEWEST_LETTERS <= len(head) <= letters]
    if heads and len(heads[-1]) >= min(letters // 3, 10):
        head = heads[-1]
        return f"{head}…" if _LISTING.match(name[len(head) :]) and len(head) < letters else head
    cut = cut_to_fit(name, letters)
    tidy = _trim_end(balance_brackets(cut.removesuffix("…")))
    if not any(letter.isalnum() for letter in tidy):
        return cut
    return f"{tidy}…" if len(tidy) < letters else tidy


def tell_apart(titles: Sequence[str], letters: int | None, *, compact: bool = False) -> tuple[str, ...]:
    """Return a name of at most so many letters for each title; names are alike only where titles are.

    `compact` takes the part before the first stroke, bracket or comma also where the whole would fit. A very small
    limit may leave no room for a difference.
    """
    tidy = _tidy_all(titles)
    names = [shorten_name(_compact(name) if compact else name, letters) for name in tidy]
    for _ in titles:
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for index, name in enumerate(names):
            groups[name].append(index)
        alike = [group for group in groups.values() if len({tidy[index] for index in group}) > 1]
        if not alike:
            break
        for group in alike:
            for index, name in zip(group, _tell_group([tidy[index] for index in group], letters), strict=True):
                names[index] = name
    return tuple(names)


def name_products(sheets: Sequence[FactSheet], letters: int | None, *, compact: bool = False) -> tuple[str, ...]:
    """Return a name for each sheet; products of one title are told apart by what can be chosen, where that differs."""
    return tell_apart(list_titles(sheets), letters, compact=compact)


def list_titles(sheets: Sequence[FactSheet]) -> list[str]:
    """Return the titles; of products with the same one, each with its own choice: "Linen Shirt (Black, Navy)"."""
    counted = Counter(sheet.title for sheet in sheets)
    return [_title_with_choice(sheet, sheets) if counted[sheet.title] > 1 else sheet.title for sheet in sheets]


def _title_with_choice(sheet: FactSheet, sheets: Sequence[FactSheet]) -> str:
    others = [other for other in sheets if other.title == sheet.title and other is not sheet]
    for text in _options(sheet):
        values = re.split(r"[：:]\s*", text, maxsplit=1)[-1]
        if len(values) <= _CHOICE_LETTERS and not any(text in _options(other) for other in others):
            return f"{sheet.title} ({values})"
    return sheet.title


def _options(sheet: FactSheet) -> list[str]:
    return [fact.text for fact in sheet.facts if fact.kind == "option"]


def _tidy_all(titles: Sequence[str]) -> list[str]:
    """Return tidy titles without a tag before the name, unless that tag is what tells two of them apart."""
    whole = [tidy_title(title) for title in titles]
    bare = [_without_tag(title) for title in whole]
    counted = Counter(bare)
    return [full if counted[name] > 1 else name for full, name in zip(whole, bare, strict=True)]


def _without_tag(title: str) -> str:
    bare = _LEADING_TAG.sub("", title)
    return bare if any(letter.isalpha() for letter in bare) else title


def _compact(name: str) -> str:
    plain = " ".join(_PICTURES.sub(" ", name).split())
    head = _SEPARATOR.split(plain, maxsplit=1)[0].strip()
    if _LISTING.match(plain[len(head) :]):
        return plain
    return _trim_end(head) if any(letter.isalpha() for letter in head) else plain or name


def _heads(name: str) -> Iterator[str]:
    """Yield the beginnings of a name that may stand alone, shorter ones first."""
    for found in _NAME_END.finditer(name):
        head = _trim_end(name[: found.start()])
        if any(letter.isalpha() for letter in head) and is_balanced(head):
            yield head


def _trim_end(text: str) -> str:
    """Return the text without linking words, strokes and opening brackets at its end; "" stays text."""
    tidy = text
    while tidy != (shorter := _LOOSE_END.sub("", tidy)) and shorter:
        tidy = shorter
    return tidy


def _tell_group(texts: Sequence[str], letters: int | None) -> list[str]:
    """Return names for texts whose beginnings were cut to the same name."""
    if letters is None or max(len(text) for text in texts) <= letters:
        return list(texts)
    names = list(texts)
    for start in _starts(texts):
        names = [_with_tail(text, start, letters) for text in texts]
        if len(set(names)) == len(set(texts)):
            return names
    return names


def _starts(texts: Sequence[str]) -> Iterator[int]:
    """Yield where the part that differs may begin: at its phrase, at its word, at its very letter."""
    first, last = min(texts), max(texts)
    same = next((index for index in range(len(first)) if first[index] != last[index]), len(first))
    strokes = [found.end() for found in _SEPARATOR.finditer(first) if found.end() <= same]
    words = [found.end() for found in _WORD_START.finditer(first) if found.end() <= same]
    yield from dict.fromkeys((*strokes[-1:], *words[-1:]))
    while same and _FIGURE.match(first[same - 1]):
        same -= 1
    yield same


def _with_tail(text: str, start: int, letters: int) -> str:
    """Return as much of a text's beginning as there is room for beside what stands from `start` on."""
    if len(text) <= letters:
        return text
    bracket = text[start - 1 : start] in BRACKETS.values()
    start -= bracket
    tail = _LOOSE_START.sub("", balance_brackets(text[start:]))
    if not tail:
        return shorten_name(_trim_end(text[:start]), letters)
    end = _cut_tail(tail, max(letters * 3 // 5, 1))
    joint = "… " if " " in text else "…"
    separator = _LAST_SEPARATOR.search(text[:start])
    if bracket or separator:
        joint = separator[0] if separator else " " if end.startswith(text[start]) else ", "
    head = shorten_name(_trim_end(text[:start]), max(letters - len(end) - len(joint), 1)).removesuffix("…")
    head = _trim_end(balance_brackets(head))
    if len(head) < _FEWEST_LETTERS or not any(letter.isalpha() for letter in head):
        return _cut_tail(tail, letters)
    return f"{head}{joint}{end}"


def _cut_tail(tail: str, letters: int) -> str:
    """Return the tail's beginning; a number in it stays whole, or the tail does not begin with it."""
    if len(tail) <= letters:
        return tail
    cut = shorten_name(tail if tail[0] not in BRACKETS.values() else balance_brackets(tail[1:]), letters)
    return cut if any(letter.isalnum() for letter in cut) else "".join(split_graphemes(tail))[:letters]
