"""Which channels a notice goes to, and which is next when one fails (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamplighter.notify.delivery_table import ChannelState, Row, RowState
from lamplighter.notify.outbox import NoticeKind
from lamplighter.notify.settings import NotifySettings

DESKTOP = "desktop"
PATIENCE = timedelta(minutes=10)
_LONGEST_PAUSE = timedelta(days=1, hours=1)
_SUCCESS = frozenset({NoticeKind.MADE, NoticeKind.POSTED, NoticeKind.REVIEW})
_ON_DESKTOP = frozenset({NoticeKind.OPENED, NoticeKind.REMINDER, NoticeKind.ESCALATED, NoticeKind.BUNDLE})
# Where a repeat does less harm than silence.
_REPEATED = frozenset(
    {
        NoticeKind.OPENED,
        NoticeKind.REMINDER,
        NoticeKind.ESCALATED,
        NoticeKind.RESOLVED,
        NoticeKind.BUNDLE,
        NoticeKind.REVIEW,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a notice goes: to each of `to`; when all of these fail, to the first of `then` that takes it."""

    to: tuple[str, ...]
    then: tuple[str, ...]


def is_repeatable(kind: NoticeKind) -> bool:
    """Return whether a notice that may have arrived is sent again."""
    return kind in _REPEATED


def goes_to_one(kind: NoticeKind) -> bool:
    """Return whether it is enough that one channel has told it."""
    return kind not in _SUCCESS | {NoticeKind.ESCALATED}


def choose_route(kind: NoticeKind, settings: NotifySettings, *, has_desktop: bool) -> Route:
    """Return where a notice of a kind goes."""
    alert = settings.alert
    if kind in _SUCCESS:
        told = settings.posted if kind is NoticeKind.POSTED else settings.made
        if kind is NoticeKind.REVIEW and not told:  # whoever wants no word of success is still asked
            told = alert[:1]
        return Route(to=told, then=tuple(name for name in alert if name not in told) if told else ())
    desktop = (DESKTOP,) if has_desktop and kind in _ON_DESKTOP else ()
    if not alert:
        return Route(to=desktop, then=())
    if kind is NoticeKind.ESCALATED:
        return Route(to=alert, then=desktop)
    return Route(to=alert[:1], then=(*alert[1:], *desktop))


def choose_fallback(
    kind: NoticeKind,
    route: Route,
    rows: Sequence[Row],
    states: Mapping[str, ChannelState],
    *,
    age: timedelta,
) -> str:
    """Return the channel that is next to be asked, "" when none is, or the ones asked are not given up."""
    if any(row.state in {RowState.SENT, RowState.UNSURE} for row in rows if row.channel != DESKTOP):
        return ""
    patience = PATIENCE if goes_to_one(kind) or kind is NoticeKind.ESCALATED else timedelta.max
    if not all(_is_in_trouble(row, states.get(row.channel), age=age, patience=patience) for row in rows):
        return ""
    asked = {row.channel for row in rows}
    return next((name for name in (*route.to, *route.then) if name not in asked), "")


def _is_in_trouble(row: Row, state: ChannelState | None, *, age: timedelta, patience: timedelta) -> bool:
    if row.state is not RowState.WAITING:
        return row.state is not RowState.SENDING
    if state is not None and state.dead_since is not None:
        return True
    failing = row.attempts > 0 or (state is not None and state.failures > 0)
    return failing and age >= patience


def choose_superseded(kind: NoticeKind, sent: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the channels that need not tell a notice any more, now that one has; the desktop does not count."""
    if sent.channel == DESKTOP:
        return ()
    waiting = [row for row in rows if row.state is RowState.WAITING and row.channel != sent.channel]
    if goes_to_one(kind) or sent.is_fallback:
        return tuple(row.channel for row in waiting)
    return tuple(row.channel for row in waiting if row.is_fallback or row.channel == DESKTOP)


def choose_pause(failures: int, retry_after: timedelta | None, jitter: float) -> timedelta:
    """Return how long a channel that failed is left alone: 30 s, doubled each time, half an hour at most.

    `jitter` is between 0 and 1; what the service asked for is never undercut.
    """
    seconds = min(30.0 * 2 ** min(max(failures, 1) - 1, 10), 1_800.0) * (0.8 + 0.4 * jitter)
    return max(timedelta(seconds=seconds), retry_after or timedelta())


def is_due(next_at: datetime | None, now: datetime) -> bool:
    """Return whether the time has come; one that a clock set back since has put far ahead does not count."""
    return next_at is None or next_at <= now or next_at > now + _LONGEST_PAUSE
