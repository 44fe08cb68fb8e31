"""What a person would read of a product's HTML, as plain lines; what is hidden or cannot be read is left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from lamplighter.featurepost.statement import holds_japanese

_HTML_LETTERS = 100_000
_MOST_RULES = 200
_MOST_MARKS = 4
_SILENT = re.compile(
    "audio|button|canvas|del|dialog|embed|form|head|iframe|input|link|math|meta|noembed|noframes|noscript|object|"
    "option|s|script|select|strike|style|svg|template|textarea|title|video"
)
_BLOCK = re.compile(
    "address|article|aside|blockquote|body|br|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|"
    "h[1-6]|header|hr|html|li|main|nav|ol|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul"
)
_HIDING_CLASS = re.compile(r"(?:^|\s)(?:hidden|hide|d-none|sr-only|visually-?hidden|screen-reader-text)(?:\s|$)")
_DECLARATION = re.compile(r"\s*([\w-]+)\s*:\s*([^;]*)")
_RULE = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_CSS_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_NO_SIZE = re.compile(r"0*(?:\.\d+)?[a-z%]*|1(?:px|pt)")
_FAR = re.compile(r"-\s*\d{3,}(?:\.\d+)?(?:px|pt)?|-\s*\d{2,}(?:\.\d+)?(?:em|rem|vw|vh|%|ch|in|cm)")
_UNSEEN_COLOUR = re.compile(r"transparent|white|#fff(?:fff)?|#fff0|#0000|.*,\s*0(?:\.0+)?\)|rgb\(255,\s*255,\s*255\)")
_FIXED_RULES = {
    "display": re.compile(r"none"),
    "visibility": re.compile(r"hidden|collapse"),
    "opacity": re.compile(r"0*(?:\.0\d*)?%?"),
    "font-size": re.compile(r"[01]?(?:\.\d+)?(?:px|pt|%)?|0(?:\.[01]\d*)?(?:em|rem|vw|vh)"),
    "clip": re.compile(r"rect\(.*"),
    "clip-path": re.compile(r"inset\((?:50|100)%.*|circle\(0.*"),
    "left": _FAR,
    "right": _FAR,
    "top": _FAR,
    "bottom": _FAR,
    "margin-left": _FAR,
    "margin-top": _FAR,
    "text-indent": _FAR,
    "transform": re.compile(r".*scale\(0(?:\.0+)?\).*|.*translate[xy]?\(\s*-\s*\d{3,}.*"),
    "content-visibility": re.compile(r"hidden"),
}
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """The lines a reader sees, and the text that is there without being seen; both are clean."""

    visible: str
    hidden: str


def is_unreadable(letter: str) -> bool:
    """Tell whether a character has no place in words: control, bidi, invisible, private, variation by the back door."""
    if letter == "\n":
        return False
    if unicodedata.category(letter) in {"Cc", "Cf", "Co", "Cs", "Cn"} or letter in _BLANK_LETTERS:
        return True
    return "\ufe00" <= letter <= "\ufe0e" or "\U000e0100" <= letter <= "\U000e01ef" or "\u180b" <= letter <= "\u180f"


def clean_text(text: str) -> str:
    """Return the text in NFC, without unreadable letters and heaps of marks; blanks single, no empty line."""
    spaced = re.sub(r"[^\S\n]+", " ", unicodedata.normalize("NFC", re.sub(r"\r\n?|\u2028|\u2029", "\n", text)))
    kept = "".join(_keep_readable(spaced))
    lines = (" ".join(line.split()) for line in unicodedata.normalize("NFC", kept).split("\n"))
    return "\n".join(line for line in lines if line)


def _keep_readable(text: str) -> Iterator[str]:
    """Yield the letters that may stay; of marks piled on one letter the first few, all that any language needs."""
    piled = 0
    for letter in text:
        piled = piled + 1 if unicodedata.category(letter) in {"Mn", "Me"} else 0
        if piled <= _MOST_MARKS and not is_unreadable(letter):
            yield letter


def extract_text(html: str) -> PageText:
    """Return what HTML shows: a block a line, a table row or a term and its meaning as "label: value".

    Only the first 100,000 letters are read: real descriptions have at most a few ten thousand, and nested elements
    cost time by the square of their depth.
    """
    if not html.strip():
        return PageText(visible="", hidden="")
    tree = LexborHTMLParser(html[:_HTML_LETTERS])
    hidden_by_rule = _ids_hidden_by_rule(tree)
    seen: list[str] = []
    unseen: list[str] = []
    if tree.body is not None:
        _walk(tree.body, hidden_by_rule, seen, unseen)
    return PageText(visible=clean_text("".join(seen)), hidden=clean_text("".join(unseen)))


def _walk(root: LexborNode, hidden_by_rule: frozenset[int], seen: list[str], unseen: list[str]) -> None:
    """Collect text in document order with a stack of our own: shop HTML may be nested deeper than Python's."""
    todo: list[LexborNode | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            seen.append(node)
        elif node.is_text_node:
            seen.append(re.sub(r"\s+", " ", node.text_content or ""))
        elif not node.is_element_node or _SILENT.fullmatch(node.tag or ""):
            continue
        elif node.mem_id in hidden_by_rule or _is_hidden(node):
            unseen.append(" " + node.text(separator=" ") + "\n")
        else:
            before, after = _edges(node)
            seen.append(before)
            todo.append(after)
            todo.extend(reversed(_children(node)))


def _edges(node: LexborNode) -> tuple[str, str]:
    """Return what a tag puts before and after its text."""
    tag = node.tag or ""
    if tag == "dt":
        return "", _colon(node) if _sibling(node, step=1) == "dd" else "\n"
    if tag == "dd" and _sibling(node, step=-1) == "dt":
        return "", "\n"
    return ("\n", "\n") if _BLOCK.fullmatch(tag) else ("", "")


def _children(node: LexborNode) -> list[LexborNode | str]:
    """Return what is to be read inside a tag, in order; empty cells of a row say nothing."""
    if node.tag == "sup":
        return _raised(node) or list(node.iter(include_text=True))
    if node.tag != "tr":
        return list(node.iter(include_text=True))
    cells = [cell for cell in node.iter() if (cell.text() or "").strip()]
    pieces: list[LexborNode | str] = []
    for number, cell in enumerate(cells):
        is_label = number == 0 and any(other.tag == "td" for other in cells)
        pieces.append(cell)
        if number < len(cells) - 1:
            pieces.append(_colon(cell) if is_label else " / ")
    return pieces


def _colon(label: LexborNode) -> str:
    text = label.text().strip()
    if not text or text.endswith((":", "：")):
        return " "
    return "：" if holds_japanese(text) else ": "


def _sibling(node: LexborNode, *, step: int) -> str:
    """Return the tag of the nearest element before or after, or ""."""
    other = node.next if step > 0 else node.prev
    while other is not None and not other.is_element_node:
        other = other.next if step > 0 else other.prev
    return (other.tag or "") if other is not None else ""


def _raised(node: LexborNode) -> list[LexborNode | str]:
    """Return digits set high as such letters: 10<sup>2</sup> must never become 102."""
    text = (node.text() or "").strip()
    return [text.translate(_RAISED)] if text and re.fullmatch(r"[0-9+-]+", text) else []


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    if _HIDING_CLASS.search((attributes.get("class") or "").lower()):
        return True
    return _hides(attributes.get("style") or "")


def _hides(style: str) -> bool:
    """Tell whether CSS declarations keep text from a reader's eyes."""
    plain = _CSS_COMMENT.sub("", style).lower().replace("!important", "")
    rules = {name: value.strip() for name, value in _declarations(plain)}
    for name, value in rules.items():
        pattern = _FIXED_RULES.get(name)
        if pattern is not None and value and pattern.fullmatch(value):
            return True
    if rules.get("overflow", "visible") != "visible":
        sizes = (rules.get(name, "") for name in ("height", "width", "max-height", "max-width"))
        if any(size and _NO_SIZE.fullmatch(size) for size in sizes):
            return True
    colour = rules.get("color", "")
    ground = rules.get("background-color") or rules.get("background") or ""
    return bool(colour) and (colour == ground or (not ground and bool(_UNSEEN_COLOUR.fullmatch(colour))))


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    for part in style.split(";"):
        found = _DECLARATION.fullmatch(part)
        if found:
            yield found[1], found[2]


def _ids_hidden_by_rule(tree: LexborHTMLParser) -> frozenset[int]:
    """Return the nodes that a style sheet inside the description hides."""
    ids: set[int] = set()
    style = _CSS_COMMENT.sub("", "\n".join(sheet.text() for sheet in tree.css("style")))
    selectors = dict.fromkeys(selector.strip() for selector, body in _RULE.findall(style) if _hides(body))
    for selector in list(selectors)[:_MOST_RULES]:
        try:
            ids.update(node.mem_id for node in tree.css(selector))
        except (SelectolaxError, ValueError):
            continue
    return frozenset(ids)
