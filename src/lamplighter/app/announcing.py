"""Success is told: what is ready, what waits for a person's word, what went out; each once, whoever is killed when.

It asks what there is and was not told of, so it may be called at any time and as often as one likes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamplighter.app.opening import Parts
from lamplighter.errors import LamplighterError
from lamplighter.featurepost.feature import Feature
from lamplighter.featurepost.generate import read_level
from lamplighter.featurepost.stock import Place, StockItem
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.notify.announced import begin_announcing
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox, Severity
from lamplighter.notify.wording import Told, compose_made, compose_posted, compose_review
from lamplighter.publish.publisher import Receipt

RECENT = timedelta(days=3)
_POSTS_READ = 20
_ROUNDING = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Success:
    """One feature that was not told of yet, as what, and where it went when it went out."""

    kind: NoticeKind
    item: StockItem
    feature: Feature
    receipt: Receipt | None = None

    @property
    def key(self) -> str:
        return _key(self.kind, self.item.id)


def announce(parts: Parts, database: Database, clock: Clock) -> None:
    """Put the notices that are missing into the outbox; raises LamplighterError.

    Nothing is told of what was made before the first time this was called for a workspace, or more than three days ago.
    """
    settings, now = parts.settings, clock.now()
    since = max(begin_announcing(database, settings.account, now), now - RECENT) - _ROUNDING
    box = Outbox(database, clock, settings.account)
    found = sorted(_find(parts, box, since), key=lambda success: success.feature.number)
    if not found:
        return
    level = read_level(parts.stock, settings.generate.target, parts.journal.went_out)
    still_to_come = sum(success.kind is not NoticeKind.POSTED for success in found)
    notices = []
    for success in found:
        still_to_come -= success.kind is not NoticeKind.POSTED
        have = level.have if success.kind is NoticeKind.POSTED else max(level.have - still_to_come, 1)
        notices.append(_compose(success, parts, have=have, target=level.target))
    with database.transaction():
        for notice in notices:
            box.put(notice)


def _find(parts: Parts, box: Outbox, since: datetime) -> Iterator[_Success]:
    """Yield what was not told of; a folder that cannot be read is somebody else's trouble."""
    for item in parts.stock.items(Place.READY):
        yield from _find_made(parts, box, item, since)
    for item in parts.stock.items(Place.HELD):
        yield from _find_waiting(parts, box, item, since)
    for entry in parts.journal.entries(limit=_POSTS_READ):
        if entry.receipt is not None and entry.receipt.published_at >= since:
            for item in parts.stock.with_id(entry.feature_id):
                yield from _find_made(parts, box, item, since)
                yield from _find_posted(parts, box, item, entry.receipt)


def _find_waiting(parts: Parts, box: Outbox, item: StockItem, since: datetime) -> Iterator[_Success]:
    if box.has(_key(NoticeKind.REVIEW, item.id)):
        return
    with contextlib.suppress(LamplighterError):
        reason, feature = parts.stock.reason(item), parts.stock.read(item)
        if reason is not None and reason.kind == "review" and feature.made_at >= since:
            yield _Success(kind=NoticeKind.REVIEW, item=item, feature=feature)


def _find_posted(parts: Parts, box: Outbox, item: StockItem, receipt: Receipt) -> Iterator[_Success]:
    if box.has(_key(NoticeKind.POSTED, item.id)):
        return
    with contextlib.suppress(LamplighterError):
        yield _Success(kind=NoticeKind.POSTED, item=item, feature=parts.stock.read(item), receipt=receipt)


def _find_made(parts: Parts, box: Outbox, item: StockItem, since: datetime) -> Iterator[_Success]:
    """Yield a feature that is ready and was never told of; one a person was asked about is known to them."""
    if box.has(_key(NoticeKind.MADE, item.id)) or box.has(_key(NoticeKind.REVIEW, item.id)):
        return
    with contextlib.suppress(LamplighterError):
        feature = parts.stock.read(item)
        if feature.made_at >= since:
            yield _Success(kind=NoticeKind.MADE, item=item, feature=feature)


def _compose(success: _Success, parts: Parts, *, have: int, target: int) -> Notice:
    feature, language = success.feature, parts.settings.notify.language
    told = Told(
        title=feature.title,
        brand=feature.brand_name,
        products=tuple(product.title for product in feature.products),
        have=have,
        target=target,
    )
    location = success.receipt.location if success.receipt else ""
    link = next((product.url for product in feature.products if product.url.startswith("https://")), "")
    if success.kind is NoticeKind.POSTED:
        is_web = location.startswith("https://")
        subject, body = compose_posted(told, language, place="" if is_web else location)
        link = location if is_web else link
    elif success.kind is NoticeKind.REVIEW:
        subject, body = compose_review(told, language, feature_id=feature.id)
    else:
        subject, body = compose_made(told, language)
    slides = feature.slides if success.kind is NoticeKind.REVIEW else feature.slides[:1]
    return Notice(
        dedup_key=success.key,
        kind=success.kind,
        subject=subject,
        body=body,
        severity=Severity.INFO,
        pictures=tuple(str(success.item.folder / slide.file) for slide in slides),
        link=link,
    )


def _key(kind: NoticeKind, feature_id: str) -> str:
    return f"{kind.value}-{feature_id}"
