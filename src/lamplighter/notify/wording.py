"""The words of notices in English and Japanese: success, questions, what was missed; and incidents' headings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from lamplighter.notify.settings import Language

_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "made": ("🆕 {title}, stock {have}/{target}", "🆕 {title}（在庫 {have}/{target}）"),
        "brand": ("brand: {brand}", "ブランド: {brand}"),
        "products": ("products: {products}", "商品: {products}"),
        "posted": ("✅ posted: {title}", "✅ 投稿しました: {title}"),
        "stock left": ("stock left: {have}/{target}", "残りの在庫: {have}/{target}"),
        "file": ("where: {place}", "場所: {place}"),
        "review": ("👀 waits for your approval: {title}", "👀 承認待ちです: {title}"),
        "approve": ("to approve it, type: {command}", "承認するコマンド: {command}"),
        "drop": ("to delete it, type: {command}", "削除するコマンド: {command}"),
        "test": ("lamplighter: a test notice", "lamplighter: テスト通知"),
        "test body": (
            "If you read this, notices from {place} arrive here.",
            "このメッセージが読めれば、{place} からの通知はここに届きます。",
        ),
        "repeat": ("{text} (may be a repeat)", "{text}（再送の可能性があります）"),
        "late": ("written {at}", "作成時刻: {at}"),
        "part": ("{text} ({part}/{parts})", "{text}（{part}/{parts}）"),
        "missed": ("{count} notices from {begin} to {end}", "{begin} から {end} までの通知 {count} 件"),
        "over": ("over: {text}", "解決済み: {text}"),
        "earlier": ("earlier: {text}", "以前の通知: {text}"),
        "more": (
            "… and {count} more; lamplighter runs list shows all",
            "…ほか {count} 件（lamplighter runs list で確認できます）",
        ),
    }
)
_HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "since": "発生",
        "why": "理由",
        "type": "コマンド",
        "noticed late": "発見の遅れ",
        "last runs": "最近の実行",
        "stock": "在庫",
        "counted": "内訳",
        "over after": "解決まで",
    }
)
_HEADING = re.compile(r"^([a-z][a-z ]{1,30}): ")
_MOST_LETTERS = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a notice of success says: the feature's title and brand, its products, and the stock as it is then."""

    title: str
    brand: str
    products: tuple[str, ...]
    have: int
    target: int


def say(key: str, language: Language, **values: str | int) -> str:
    """Return one text in a language."""
    english, japanese = _WORDS[key]
    return (japanese if language == "ja" else english).format(**values)


def translate_line(line: str, language: Language) -> str:
    """Return an incident's line with its heading ("since: …") in a language; the rest stays as it is."""
    match = _HEADING.match(line) if language == "ja" else None
    heading = _HEADINGS.get(match[1]) if match else None
    return f"{heading}: {line[match.end() :]}" if match and heading else line


def compose_made(told: Told, language: Language) -> tuple[str, str]:
    """Return subject and body of the news that a feature is ready."""
    return say("made", language, title=told.title, have=told.have, target=told.target), "\n".join(
        _about(told, language)
    )


def compose_posted(told: Told, language: Language, *, place: str) -> tuple[str, str]:
    """Return subject and body of the news that a post went out; `place` is where, when it is no web address."""
    lines = [
        *_about(told, language),
        *([say("file", language, place=place)] if place else []),
        say("stock left", language, have=told.have, target=told.target),
    ]
    return say("posted", language, title=told.title), "\n".join(lines)


def compose_review(told: Told, language: Language, *, feature_id: str) -> tuple[str, str]:
    """Return subject and body of the question whether a feature may go out."""
    lines = [
        *_about(told, language),
        say("approve", language, command=f"lamplighter stock approve {feature_id}"),
        say("drop", language, command=f"lamplighter stock drop {feature_id}"),
    ]
    return say("review", language, title=told.title), "\n".join(lines)


def compose_missed(
    told: tuple[Sequence[str], Sequence[str]],
    *,
    begin: datetime,
    end: datetime,
    count: int,
    most: int,
    language: Language,
) -> tuple[str, str]:
    """Return subject and body of one word for many: what is over, and what else was said, at most `most` lines."""
    over, earlier = told
    lines = [
        *(say("over", language, text=_shorten(text)) for text in over),
        *(say("earlier", language, text=_shorten(text)) for text in earlier),
    ]
    if len(lines) > most:
        lines = [*lines[:most], say("more", language, count=len(lines) - most)]
    spans = {"begin": f"{begin:%Y-%m-%d %H:%M}", "end": f"{end:%Y-%m-%d %H:%M}"}
    return say("missed", language, count=count, **spans), "\n".join(lines)


def describe_time(at: datetime, zone: ZoneInfo) -> str:
    """Return an instant as a person reads it."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def _about(told: Told, language: Language) -> list[str]:
    products = (" · " if language == "en" else "、").join(told.products)
    return [
        say("brand", language, brand=told.brand),
        *([say("products", language, products=products)] if products else []),
    ]


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
