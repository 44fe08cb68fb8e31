"""What a channel tells next: one notice, or many old ones in one word (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from lamplighter.notify.channel import Message
from lamplighter.notify.delivery_table import Pending
from lamplighter.notify.limits import Limits, neutralise, shorten, split
from lamplighter.notify.outbox import NoticeKind
from lamplighter.notify.settings import Language
from lamplighter.notify.wording import compose_missed, describe_time, say, translate_line

LATE = timedelta(hours=1)
MANY = 5
_ROOM = 48  # for "(10/12)" and "(may be a repeat)" in the title, so that where the parts begin does not depend on them
_SUM_LINES = (40, 20, 10, 5, 2)
_LEAST_BODY = 20
_NOT_SUMMED = frozenset({NoticeKind.REVIEW, NoticeKind.TEST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is told at once: one notice, or the old ones that are summed up; `over` are incidents that are over."""

    pending: tuple[Pending, ...]
    over: frozenset[int] = frozenset()

    @property
    def is_sum(self) -> bool:
        """Return whether these are several."""
        return len(self.pending) > 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of the notices."""
        return tuple(one.row.notice for one in self.pending)


def choose_batch(pending: Sequence[Pending], over: frozenset[int], now: datetime) -> Batch | None:
    """Return what to tell next, None when nothing is left; the oldest first.

    More than a handful of late ones are summed up: what is over, what succeeded, and of what is still wrong all but the
    last word, which is told by itself. What was begun in parts is finished first.
    """
    if not pending:
        return None
    begun = next((one for one in pending if one.row.part > 0), None)
    if begun is not None:
        return Batch(pending=(begun,))
    late = [one for one in pending if now - one.waiting.written_at > LATE]
    if len(late) > MANY:
        newest = {one.waiting.notice.incident: one.row.notice for one in late}
        summed = tuple(one for one in late if _is_summed(one, over, newest))
        if len(summed) > 1:
            return Batch(pending=summed, over=over)
    return Batch(pending=(pending[0],))


def _is_summed(one: Pending, over: frozenset[int], newest: dict[int, int]) -> bool:
    notice = one.waiting.notice
    if notice.kind in _NOT_SUMMED:
        return False
    is_last_word = notice.incident != 0 and newest[notice.incident] == one.row.notice
    return notice.incident in over or not is_last_word


def compose(batch: Batch, limits: Limits, *, now: datetime, zone: ZoneInfo, language: Language) -> tuple[Message, ...]:
    """Return the messages that tell a batch, each within a channel's limits."""
    if batch.is_sum:
        sums = (_sum_up(batch, zone, language, most=most) for most in _SUM_LINES)
        messages = [_fit(title, body, limits, batch=batch, language=language) for title, body in sums]
        return next((parts for parts in messages if len(parts) == 1), messages[-1][:1])  # a sum is told in one
    title, body = _tell(batch.pending[0], now=now, zone=zone, language=language)
    return _fit(title, body, limits, batch=batch, language=language)


def _tell(one: Pending, *, now: datetime, zone: ZoneInfo, language: Language) -> tuple[str, str]:
    notice, at = one.waiting.notice, one.waiting.written_at
    lines = [
        *(translate_line(line, language) for line in notice.body.splitlines()),
        *([notice.link] if notice.link else []),
        *([say("late", language, at=describe_time(at, zone))] if now - at > LATE else []),
    ]
    return notice.subject, "\n".join(lines)


def _sum_up(batch: Batch, zone: ZoneInfo, language: Language, *, most: int) -> tuple[str, str]:
    """Return one word for many: a line for each incident that is over, and one for each other notice."""
    over: dict[int, str] = {}
    earlier: list[str] = []
    for one in batch.pending:
        notice, at = one.waiting.notice, describe_time(one.waiting.written_at, zone)
        if notice.incident in batch.over and notice.incident:
            over[notice.incident] = f"{at} {notice.subject}"
        else:
            earlier.append(f"{at} {notice.subject}")
    written = [one.waiting.written_at.astimezone(zone) for one in batch.pending]
    return compose_missed(
        (tuple(over.values()), earlier),
        begin=min(written), end=max(written), count=len(written), most=most, language=language,
    )  # fmt: skip


def _fit(title: str, body: str, limits: Limits, *, batch: Batch, language: Language) -> tuple[Message, ...]:
    """Return the parts of a message; a title that is cut is said whole in the body."""
    title, body = " ".join(neutralise(title).split()), neutralise(body)
    short = shorten(title, min(limits.title or limits.body // 2, limits.body // 2), limits.measure)
    if short != title:
        body = f"{title}\n{body}"
    room = max(limits.body - limits.measure(short) - _ROOM, _LEAST_BODY)
    parts = split(body, room, limits.measure)
    if any(one.row.is_repeat for one in batch.pending):
        short = say("repeat", language, text=short)
    notices = [one.waiting.notice for one in batch.pending]
    pictures = () if batch.is_sum else notices[0].pictures
    return tuple(
        Message(
            title=short if len(parts) == 1 else say("part", language, text=short, part=number, parts=len(parts)),
            body=part or short,
            pictures=pictures if number == 1 else (),
            severity=max((notice.severity for notice in notices), key=lambda severity: severity.rank),
        )
        for number, part in enumerate(parts, start=1)
    )
