"""Brings notices from the outbox to people: claimed before they are sent, tried for a week, by others if needed.

A claim is written before the call and its end after it, so whoever is killed in between leaves a claim that is told
from a notice never tried. What may have arrived is sent again only where a repeat does less harm than silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.notify.batch import Batch, choose_batch, compose
from lamplighter.notify.channel import Channel, Message, Result, Sent
from lamplighter.notify.delivery_table import ChannelState, DeliveryTable, Pending, Row, RowState, Undelivered
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox, Severity, Waiting
from lamplighter.notify.routing import (
    DESKTOP,
    Route,
    choose_fallback,
    choose_pause,
    choose_route,
    choose_superseded,
    is_due,
    is_repeatable,
)
from lamplighter.notify.settings import NotifySettings

KEEP = timedelta(days=8)
LEASE = timedelta(minutes=2)
_ONE_SEND = timedelta(seconds=20)
_LEAST = timedelta(seconds=1)
_SHORT_WAIT = timedelta(seconds=5)
_DEAD_PAUSE = timedelta(hours=6)
_MOST_REFUSALS = 3
_MOST_ROUNDS = 10


class Channels(Protocol):
    """Opens channels by their names; an address is read for its mark at once, a library loaded only to send."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all channels, the desktop's too where there is one."""

    def mark(self, name: str) -> str:
        """Return by what a channel's address is known again."""

    def open(self, name: str) -> Channel:
        """Return a channel, a broken one where its address cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadChannel:
    """A channel that needs a person: since when, and why."""

    name: str
    since: datetime
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """What became of the notices: sent, failed for good and waiting (counted on each channel), and what is dead."""

    sent: int = 0
    failed: int = 0
    waiting: int = 0
    dead: tuple[DeadChannel, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Round:
    """One delivery: until when it may take, and what it did so far."""

    end: timedelta
    sent: int = 0
    failed: int = 0
    waited: set[str] = field(default_factory=set)
    opened: dict[str, Channel] = field(default_factory=dict)


class Delivery:
    """Delivers the notices of one account."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        account: str,
        *,
        channels: Channels,
        settings: NotifySettings,
        zone: ZoneInfo,
        jitter: Callable[[], float],
    ) -> None:
        """Use an open database without a transaction; `jitter` returns chance between 0 and 1."""
        self._database = database
        self._clock = clock
        self._table = DeliveryTable(database, account)
        self._outbox = Outbox(database, clock, account)
        self._channels = channels
        self._settings = settings
        self._zone = zone
        self._jitter = jitter

    def deliver(self, *, until: timedelta) -> DeliveryReport:
        """Send what is due, for at most about `until`; raises DiskError when the database takes no word of it."""
        work = _Round(end=self._clock.monotonic() + until)
        self._take_up()
        for _ in range(_MOST_ROUNDS):
            for name in self._channels.names:
                self._empty(name, work)
            if not self._fall_back():
                break
        now = self._clock.now()
        with self._database.transaction():
            self._table.settle(now)
        states = self._table.states().values()
        dead = tuple(
            DeadChannel(name=state.name, since=state.dead_since, why=state.why)
            for state in states
            if state.dead_since is not None and state.name in self._channels.names
        )
        return DeliveryReport(sent=work.sent, failed=work.failed, waiting=self._table.count_pending(), dead=dead)

    def test(self, name: str, *, title: str, body: str) -> Sent:
        """Send a test message by one channel, at once and whatever is known of it, and note what became of it."""
        now = self._clock.now()
        notice = Notice(dedup_key="test", kind=NoticeKind.TEST, subject=title, body=body, severity=Severity.INFO)
        row = Row(
            notice=0, channel=name, state=RowState.SENDING, attempts=1, part=0,
            is_repeat=False, is_fallback=False, next_at=None, why="",
        )  # fmt: skip
        pending = Pending(waiting=Waiting(number=0, notice=notice, written_at=now), row=row)
        work = _Round(end=self._clock.monotonic() + _ONE_SEND)
        state = self._find_state(name)
        sent = self._send(Batch(pending=(pending,)), work, name)
        with self._database.transaction():
            self._note_channel(state, sent, self._clock.now())
        return sent

    def _take_up(self) -> None:
        """Take up claims that never came to an end, choose channels for new notices, and let go of what is too old."""
        now = self._clock.now()
        with self._database.transaction():
            for one in self._table.abandoned(before=now - LEASE, after=now + LEASE):
                self._put_back_or_end(one, "whoever sent it was killed", now)
            for notice in self._table.unrouted():
                route = self._route(notice)
                self._table.add(notice.number, route.to, is_fallback=False)
                if not route.to and self._settings.channels:
                    self._outbox.delivered(notice.number)
            self._table.let_go(written_before=now - KEEP, now=now)
            self._table.expire(written_before=now - KEEP, channels=self._channels.names, now=now)

    def _route(self, notice: Undelivered) -> Route:
        return choose_route(notice.kind, self._settings, has_desktop=DESKTOP in self._channels.names)

    def _empty(self, name: str, work: _Round) -> None:
        """Send what one channel has to tell, as long as it takes it and there is time."""
        if not self._table.count_pending(name):
            return
        state = self._find_state(name)
        while is_due(state.next_at, self._clock.now()):
            batch = self._choose(name)
            if batch is None or not self._wait_turn(state, name, work):
                return
            if not self._table.claim(name, batch.numbers, self._clock.now()):
                return
            sent = self._send(batch, work, name)
            self._record(batch, state, sent, work)
            state = self._find_state(name)
            asked = sent.retry_after if sent.result is Result.LATER else None
            if asked is not None and name not in work.waited and asked <= min(_SHORT_WAIT, self._left(work)):
                work.waited.add(name)
                self._clock.wait(asked)
                state = replace(state, next_at=None)  # the service itself said when

    def _find_state(self, name: str) -> ChannelState:
        """Return how a channel is; one whose address is another begins anew."""
        state, mark = self._table.states().get(name), self._channels.mark(name)
        if state is None or state.mark != mark:
            with self._database.transaction():
                return self._table.renew(name, mark)
        return state

    def _choose(self, name: str) -> Batch | None:
        now = self._clock.now()
        pending = [
            one
            for one in self._table.pending(name)
            if one.row.state is RowState.WAITING and is_due(one.row.next_at, now)
        ]
        over = self._table.over(one.waiting.notice.incident for one in pending) if len(pending) > 1 else frozenset()
        return choose_batch(pending, over, now)

    def _wait_turn(self, state: ChannelState, name: str, work: _Round) -> bool:
        """Return whether there is time to send, after the pause that the service wants between two."""
        pause = timedelta()
        if state.sent_at is not None:
            limits = self._open(name, work).limits
            pause = min(state.sent_at + limits.pause - self._clock.now(), limits.pause)
        if max(pause, timedelta()) + _LEAST > self._left(work):
            return False
        if pause > timedelta():
            self._clock.wait(pause)
        return True

    def _left(self, work: _Round) -> timedelta:
        return work.end - self._clock.monotonic()

    def _open(self, name: str, work: _Round) -> Channel:
        if name not in work.opened:
            work.opened[name] = self._channels.open(name)
        return work.opened[name]

    def _send(self, batch: Batch, work: _Round, name: str) -> Sent:
        """Send the parts of a batch that are not out yet; stops at the first that does not arrive."""
        channel = self._open(name, work)
        messages = compose(
            batch, channel.limits, now=self._clock.now(), zone=self._zone, language=self._settings.language
        )
        begin = batch.pending[0].row.part
        sent = Sent(result=Result.SENT)
        for part, message in enumerate(messages[begin:], start=begin):
            if part > begin:
                self._table.progress(batch.numbers[0], name, part)
                if self._left(work) <= channel.limits.pause + _LEAST:
                    return Sent(
                        result=Result.LATER, why="there was no time left for all parts", retry_after=timedelta()
                    )
                self._clock.wait(channel.limits.pause)
            sent = self._send_one(channel, message, work)
            if sent.result is not Result.SENT:
                return sent
        return sent

    def _send_one(self, channel: Channel, message: Message, work: _Round) -> Sent:
        return channel.send(message, min(_ONE_SEND, max(self._left(work), _LEAST)))

    def _record(self, batch: Batch, state: ChannelState, sent: Sent, work: _Round) -> None:
        """Write what became of a batch, and how its channel is by that."""
        now, name = self._clock.now(), state.name
        with self._database.transaction():
            self._note_channel(state, sent, now)
            for one in batch.pending:
                if sent.result is Result.SENT:
                    self._end_sent(one, sent.why, now)
                elif sent.result is Result.UNSURE:
                    work.failed += self._put_back_or_end(one, sent.why, now)
                elif sent.result is Result.REFUSED and one.row.attempts + 1 >= _MOST_REFUSALS:
                    self._table.end(one.row.notice, name, RowState.REFUSED, why=sent.why, now=now)
                    work.failed += 1
                else:
                    pause = choose_pause(one.row.attempts + 1, None, self._jitter())
                    later = now + pause if sent.result is Result.REFUSED else None
                    self._table.put_back(one.row, why=sent.why, is_repeat=False, next_at=later)
        if sent.result is Result.SENT:
            work.sent += len(batch.pending)

    def _note_channel(self, state: ChannelState, sent: Sent, now: datetime) -> None:
        """Write how a channel is after an attempt; what it refuses says nothing against it."""
        if sent.result is Result.SENT:
            self._table.succeeded(state.name, now)
        elif sent.result is not Result.REFUSED:
            is_dead = sent.result is Result.DEAD
            pause = choose_pause(state.failures + 1, sent.retry_after, self._jitter())
            next_at = now + (_DEAD_PAUSE if is_dead else pause)
            self._table.failed(state.name, why=sent.why, now=now, next_at=next_at, is_dead=is_dead)

    def _end_sent(self, one: Pending, why: str, now: datetime) -> None:
        row, kind = one.row, one.waiting.notice.kind
        self._table.end(row.notice, row.channel, RowState.SENT, why=why, now=now)
        for other in choose_superseded(kind, row, self._table.rows_of(row.notice)):
            self._table.end(row.notice, other, RowState.TOLD_ELSEWHERE, why=f"told by {row.channel}", now=now)

    def _put_back_or_end(self, one: Pending, why: str, now: datetime) -> bool:
        """Let what may have arrived be tried again where that does less harm; return whether it ended instead."""
        if is_repeatable(one.waiting.notice.kind):
            self._table.put_back(one.row, why=why, is_repeat=True)
            return False
        self._table.end(one.row.notice, one.row.channel, RowState.UNSURE, why=why, now=now)
        return True

    def _fall_back(self) -> bool:
        """Let the next channel tell what those before it do not; return whether there was any such."""
        now, added = self._clock.now(), False
        with self._database.transaction():
            states = self._table.states()
            for notice in self._table.undelivered():
                age = max(now - notice.written_at, timedelta())
                name = choose_fallback(notice.kind, self._route(notice), notice.rows, states, age=age)
                if name:
                    self._table.add(notice.number, (name,), is_fallback=True)
                    added = True
        return added
