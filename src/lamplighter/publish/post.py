"""The job `post`: one feature a day goes out, once; owns journal, slot and order, the publisher only publishes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.supervisor import Run
from lamplighter.errors import Damaged, DiskError, InputError, LamplighterError
from lamplighter.featurepost.feature import Instant, Struct, has_date_everywhere
from lamplighter.featurepost.stock import Place, Stock, StockItem, is_feature_id
from lamplighter.host.clock import Clock
from lamplighter.host.files import append_line, read_capped
from lamplighter.publish.journal import Entry, Journal
from lamplighter.publish.publisher import SLOT_PATTERN, Post, Publisher, Recalled, Receipt, lint_post
from lamplighter.publish.settings import PostSettings
from lamplighter.schedule.cadence import slot_today

JOB = "post"
_LIST_REMEDY = "lamplighter stock list shows what is ready"
_RECORD_LIMIT = 100_000_000
_SLOT = re.compile(SLOT_PATTERN)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostPlan:
    """What a run would do: the slot, the post (None: nothing), or the entry that fills the slot already."""

    slot: str
    post: Post | None
    filled_by: Entry | None
    troubles: tuple[str, ...]
    is_extra: bool = False


class _RecordLine(Struct, frozen=True, kw_only=True):
    """One line of the readable record."""

    slot: str
    feature: str
    channel: str
    id: str
    location: str
    published_at: Instant

    @property
    def receipt(self) -> Receipt:
        return Receipt(id=self.id, location=self.location, published_at=self.published_at)


class Poster:
    """Posts from one stock to one channel."""

    def __init__(
        self,
        *,
        stock: Stock,
        journal: Journal,
        publisher: Publisher,
        record_file: Path,
        clock: Clock,
        settings: PostSettings,
    ) -> None:
        """Take the stock, the journal and the publisher; `record_file` is the readable record (JSON lines)."""
        self._stock = stock
        self._journal = journal
        self._publisher = publisher
        self._record_file = record_file
        self._clock = clock
        self._settings = settings

    def plan(self, *, feature_id: str = "", force: bool = False) -> PostPlan:
        """Return what `work` would do now, resuming apart; touches nothing."""
        named = self._stock.find(feature_id) if feature_id else None
        slot = slot_today(self._clock.now(), self._settings.at, self._settings.zone)
        today = self._journal.of_day(f"{slot.day:%Y-%m-%d}")
        if today and not force:
            return PostPlan(slot=slot.key, post=None, filled_by=today[0], troubles=())
        key = slot.key if not today else f"{slot.key}-extra{len(today)}"
        item, troubles = self._check_named(named) if named else self._choose()
        post = self._describe(item, key) if item else None
        return PostPlan(slot=key, post=post, filled_by=None, troubles=troubles, is_extra=bool(today))

    def work(self, run: Run, *, feature_id: str = "", force: bool = False) -> RunReport:
        """Finish what an earlier run began, then fill today's slot, and return the outcome with its proof."""
        self._stock.take_over()
        resumed = [entry.slot for entry in self._journal.unfinished() if self._resume(entry, run)]
        self._adopt(run)
        plan = self.plan(feature_id=feature_id, force=force)
        for trouble in plan.troubles:
            run.say(f"cannot be posted: {trouble}")
        if plan.filled_by is not None and plan.filled_by.slot in resumed:
            return self._report_posted(plan.filled_by.slot, plan.filled_by.feature_id, ("resumed",))
        if plan.filled_by is not None:
            return self._report_filled(plan.filled_by, feature_id)
        if plan.post is None:
            return self._report_nothing_ready(plan.slot)
        self._publish(plan.post, run)
        return self._report_posted(plan.slot, plan.post.feature.id, ("forced",) if force else ())

    def _adopt(self, run: Run) -> None:
        """Take into the journal what only record or channel know: with the database lost, what went out stays out."""
        try:
            self.remember(generation=run.generation, run=run.number)
        except (InputError, DiskError) as error:
            if isinstance(error, Damaged) or self._has_forgotten():
                raise
            run.say(f"what went out before cannot be read: {error}")
        for entry in self._journal.unfinished():
            self._resume(entry, run)

    def _has_forgotten(self) -> bool:
        """Return whether the journal knows of no post although there were some: its database was lost."""
        return not self._journal.entries(limit=1) and bool(self._stock.items(Place.POSTED))

    def remember(self, *, generation: int = 0, run: int = 0) -> None:
        """Write into the journal, as published, what the record and the channel know and it does not.

        Raises InputError or DiskError when either cannot be read; what the other knows is written all the same.
        """
        recorded: tuple[Recalled, ...] = ()
        trouble: LamplighterError | None = None
        try:
            recorded = read_record(self._record_file, self._publisher.name)
        except (InputError, DiskError) as error:
            trouble = error
        for known in (*recorded, *self._publisher.recall(besides=self._journal.feature_ids())):
            if self._journal.find(known.feature_id) is None and self._journal.is_free(known.slot):
                self._journal.claim(known.slot, known.feature_id, generation=generation, run=run)
                self._journal.published(known.slot, known.receipt, generation=generation)
        if trouble is not None:
            raise trouble

    def _publish(self, post: Post, run: Run) -> None:
        """Journal first, then the one call, then the record."""
        run.check()
        self._journal.claim(post.slot, post.feature.id, generation=run.generation, run=run.number)
        run.say(f"{post.feature.id} goes out for {post.slot}")
        try:
            run.check()
            receipt = self._publisher.publish(post)
        except LamplighterError:
            if self._publisher.find(post.slot, post.feature.id) is None:
                self._journal.withdraw(post.slot, generation=run.generation)
            raise
        self._finish(post.slot, post.feature.id, receipt, run)

    def _resume(self, entry: Entry, run: Run) -> bool:
        """Settle an entry that a killed run left behind; return whether it is out.

        What is proven to be out is moved and noted, what is not frees its slot: nothing is published here.
        """
        receipt = entry.receipt or self._publisher.find(entry.slot, entry.feature_id)
        if receipt is None:
            run.say(f"{entry.feature_id} was about to go out for {entry.slot} and did not; the slot is free again")
            self._journal.withdraw(entry.slot, generation=run.generation)
            return False
        run.say(f"{entry.feature_id} went out for {entry.slot}; its record is completed now")
        self._finish(entry.slot, entry.feature_id, receipt, run)
        return True

    def _finish(self, slot: str, feature_id: str, receipt: Receipt, run: Run) -> None:
        """Write receipt, move, note; what fails here is done by the next run and never leads back to publishing."""
        self._journal.published(slot, receipt, generation=run.generation)
        try:
            self._note(slot, feature_id, receipt)
            self._move_to_posted(feature_id, run)
        except LamplighterError as error:
            run.say(f"{feature_id} is posted, but the record is not complete: {error}; the next run tries again")
            return
        self._journal.recorded(slot, generation=run.generation)

    def _move_to_posted(self, feature_id: str, run: Run) -> None:
        """Move the feature; what a person deleted is not missed, and of what a person copied one is enough."""
        items = self._stock.with_id(feature_id)
        posted = any(item.place is Place.POSTED for item in items)
        for item in sorted(items, key=lambda item: item.place is not Place.READY):
            if posted and item.place is not Place.POSTED:
                run.say(f"{feature_id} is among the posted ones; {item.folder.name} is a copy and stays where it is")
            elif not posted:
                self._stock.move_to_posted(item)
                posted = True

    def _note(self, slot: str, feature_id: str, receipt: Receipt) -> None:
        """Append the readable record once."""
        line = _RecordLine(
            slot=slot,
            feature=feature_id,
            channel=self._publisher.name,
            id=receipt.id,
            location=receipt.location,
            published_at=receipt.published_at.replace(microsecond=0),
        )
        text = msgspec.json.encode(line).decode()
        noted = read_record(self._record_file, self._publisher.name)
        if not any((known.slot, known.feature_id) == (slot, feature_id) for known in noted):
            append_line(self._record_file, text)

    def _check_named(self, item: StockItem) -> tuple[StockItem, tuple[str, ...]]:
        """Return the feature a person named, raises InputError when it cannot be posted."""
        if item.place is not Place.READY:
            raise InputError(
                f"feature {item.id}", f"it is {item.place.value}, only a ready one can be posted", _LIST_REMEDY
            )
        trouble = self._trouble(item)
        if trouble:
            raise InputError(f"feature {item.id}", trouble, _LIST_REMEDY)
        return item, ()

    def _choose(self) -> tuple[StockItem | None, tuple[str, ...]]:
        """Return the oldest ready feature that is whole and never went out, and why the older ones cannot go."""
        troubles: list[str] = []
        for item in self._stock.ready():
            trouble = self._trouble(item)
            if not trouble:
                return item, tuple(troubles)
            troubles.append(trouble)
        return None, tuple(troubles)

    def _trouble(self, item: StockItem) -> str:
        trouble = self._stock.trouble(item)
        if trouble:
            return trouble
        entry = self._journal.find(item.id)
        if entry is not None:
            return f"{item.id} went out for {entry.slot} already"
        post = self._describe(item, "")
        findings = lint_post(post.feature.caption, post.slide_files)
        return f"{item.id}: {findings[0]}" if findings else ""

    def _describe(self, item: StockItem, slot: str) -> Post:
        feature = self._stock.read(item)
        files = tuple(item.folder / slide.file for slide in feature.slides)
        return Post(slot=slot, feature=feature, slide_files=files)

    def _report_posted(self, slot: str, feature_id: str, flags: tuple[str, ...]) -> RunReport:
        entry = self._journal.find(feature_id)
        location = entry.receipt.location if entry and entry.receipt else ""
        left = sum(not self._trouble(item) for item in self._stock.ready())
        return RunReport(
            outcome=Outcome.PRODUCED,
            line=f"posted {feature_id} for {slot}: {location}; {left} left in stock",
            evidence=(Evidence(name="slot", value=slot), Evidence(name="post", value=location)),
            outputs=(feature_id,),
            flags=flags,
        )

    def _report_filled(self, entry: Entry, asked: str) -> RunReport:
        receipt = entry.receipt
        when = f"since {self._tell_time(receipt.published_at)}" if receipt else "not confirmed yet"
        more = "; --force makes an extra post" if asked not in {"", entry.feature_id} else ""
        return RunReport(
            outcome=Outcome.NOTHING_NEEDED,
            line=f"today's post is out: {entry.feature_id} for {entry.slot}, {when}{more}",
            evidence=(
                Evidence(name="slot", value=entry.slot),
                Evidence(name="post", value=receipt.id if receipt else entry.feature_id),
            ),
        )

    def _report_nothing_ready(self, slot: str) -> RunReport:
        reasons = ((item, self._stock.reason(item)) for item in self._stock.items(Place.HELD))
        waiting = [item.id for item, reason in reasons if reason is not None and reason.kind == "review"]
        way_out = f"lamplighter stock approve {waiting[0]}" if waiting else "lamplighter generate makes one"
        return RunReport(
            outcome=Outcome.NOTHING_READY,
            line=f"no ready feature for {slot}; {way_out}",
            evidence=(
                Evidence(name="ready", value="0"),
                Evidence(name="waiting for review", value=str(len(waiting))),
                Evidence(name="slot", value=slot),
            ),
        )

    def _tell_time(self, at: datetime) -> str:
        return f"{at.astimezone(self._settings.zone):%Y-%m-%d %H:%M}"


def read_record(record_file: Path, channel: str) -> tuple[Recalled, ...]:
    """Return what the readable record says of a channel; torn and foreign lines say nothing.

    Raises InputError or DiskError when it cannot be read.
    """
    return tuple(
        Recalled(slot=known.slot, feature_id=known.feature, receipt=known.receipt)
        for known in (_parse_line(line) for line in _read_lines(record_file))
        if known is not None and known.channel == channel
    )


def find_unreadable(record_file: Path, channel: str) -> tuple[int, ...]:
    """Return which lines of the readable record of a channel, from 1, say nothing of it; empty ones apart."""
    lines = ((number, line) for number, line in enumerate(_read_lines(record_file), start=1) if line.strip())
    return tuple(number for number, line in lines if (known := _parse_line(line)) is None or known.channel != channel)


def _read_lines(record_file: Path) -> tuple[bytes, ...]:
    if not os.path.lexists(record_file):
        return ()
    return tuple(read_capped(record_file, limit=_RECORD_LIMIT, what="record").split(b"\n"))


def _parse_line(line: bytes) -> _RecordLine | None:
    try:
        known = msgspec.json.decode(line, type=_RecordLine)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return None
    ours = _SLOT.fullmatch(known.slot) and is_feature_id(known.feature) and has_date_everywhere(known.published_at)
    return known if ours else None
