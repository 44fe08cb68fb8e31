"""The inquest on a simulated life: was each missing post known in time, was any alarm false, any notice off its ladder?

Everything is worked out anew from what truly happened; nothing of the code under test is asked.
"""

from __future__ import annotations

import bisect
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from tests.simulators.household import GRACE, POST_AT, STEP, ZONE, Household
from tests.simulators.misfortune import Kind

from lamplighter.notify.outbox import NoticeKind, Waiting

SOON = timedelta(minutes=15)
PATIENCE = timedelta(minutes=45)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_MISSING = re.compile(r"no post went out for (\d{4}-\d{2}-\d{2})")
_CALLS = frozenset({NoticeKind.OPENED, NoticeKind.REMINDER, NoticeKind.ESCALATED, NoticeKind.BUNDLE})
_LADDER = (_HOUR, 4 * _HOUR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the inquest found: posts that were missing, how each became known, and everything that is wrong."""

    days: int
    missing: int
    told: int
    by_heartbeat: int
    notices: int
    wrong: tuple[str, ...]
    story: str


def hold_inquest(household: Household) -> Findings:
    """Return what is to be said of a life."""
    inquest = _Inquest(household)
    known = [inquest.judge_day(day) for day in inquest.days]
    wrong = [
        *(line for _, lines in known for line in lines),
        *inquest.find_false_alarms(),
        *inquest.find_false_pings(),
        *inquest.find_off_ladder(),
    ]
    return Findings(
        days=len(inquest.days),
        missing=sum(how != "there" for how, _ in known),
        told=sum(how == "told" for how, _ in known),
        by_heartbeat=sum(how == "heartbeat" for how, _ in known),
        notices=len(household.notices),
        wrong=tuple(wrong),
        story=hash_story(household.notices, household.folder),
    )


def hash_story(notices: Iterable[Waiting], folder: Path) -> str:
    """Return a hash of everything that was written to be told, and when; the folder it happened in apart."""
    digest = hashlib.sha256()
    for one in notices:
        notice = one.notice
        text = f"{one.written_at.isoformat()}|{notice.kind.value}|{notice.subject}|{notice.body}\n"
        digest.update(text.replace(str(folder), "…").encode())
    return digest.hexdigest()[:16]


def due_at(day: date) -> datetime:
    """Return when a day's post is due."""
    return datetime.combine(day, POST_AT, ZONE).astimezone(UTC)


class _Inquest:
    def __init__(self, household: Household) -> None:
        self._life = household
        self._account = household.account
        first = household.begin.astimezone(ZONE).date()
        last = (household.end - timedelta(hours=5)).astimezone(ZONE).date()
        self.days = [first + number * _DAY for number in range((last - first).days)]
        self._alarms = household.outside.alarms({day: due_at(day) + GRACE for day in self.days}, patience=PATIENCE)
        self._told: dict[date, datetime] = {}
        for heard in household.ears.heard:
            for found in _MISSING.findall(heard.text):
                self._told.setdefault(date.fromisoformat(found), heard.at)
        blind = set(self._account.blind)
        self._ticks = [at for at, _ in self._account.ticks if at not in blind]
        self._jumps = [one for one in household.misfortunes if one.kind is Kind.CLOCK_JUMP]

    def judge_day(self, day: date) -> tuple[str, list[str]]:
        """Return how a missing post became known ("there" for one that was not missing), and what is wrong with it."""
        limit = due_at(day) + GRACE
        posted_at = self._account.posted_at.get(day, datetime.max.replace(tzinfo=UTC))
        if posted_at <= limit:
            return "there", []
        told_at = self._told.get(day)
        if told_at is not None and told_at <= limit + SOON:
            return "told", []
        if posted_at > limit + SOON and self._is_watched(limit, limit + SOON):
            return "unknown", [f"{day}: the post was missing, the watcher ran, and nobody was told within 15 minutes"]
        if posted_at <= limit + PATIENCE:
            return "heartbeat", []
        known_at = min((at for at in (told_at, self._alarms.get(day)) if at is not None), default=None)
        if known_at is None or known_at > limit + PATIENCE:
            return "unknown", [f"{day}: the post was missing, and not even the heartbeat told anybody"]
        return "heartbeat", []

    def _is_watched(self, begin: datetime, end: datetime) -> bool:
        """Return whether the watcher ran all the time, by a clock that was right."""
        ticks = bisect.bisect_right(self._ticks, end) - bisect.bisect_left(self._ticks, begin)
        return ticks >= 3 and not self._is_shifted(begin - _HOUR, end)

    def _is_shifted(self, begin: datetime, end: datetime) -> bool:
        return any(jump.begin <= end and begin <= jump.end + STEP for jump in self._jumps)

    def find_false_alarms(self) -> Iterator[str]:
        """Yield the calls that nothing had happened for; what was said while the clock was wrong is the clock's."""
        for one in self._life.notices:
            at = self._life.true_time(one.number)
            if one.notice.kind not in _CALLS or self._is_shifted(at - STEP, at):
                continue
            for line in (one.notice.subject, *(one.notice.body.split("\n") if one.notice.incident == 0 else ())):
                doubt = "" if line.startswith("over after ") else self._doubt(line, at)
                if doubt:
                    yield f"{at:%Y-%m-%d %H:%M} UTC: {line}: {doubt}"

    def _doubt(self, line: str, at: datetime) -> str:
        """Return why a line is not true, "" when it is."""
        days = [date.fromisoformat(found) for found in _MISSING.findall(line)]
        if days:
            out = [day for day in days if self._account.posted_at.get(day, at + _DAY) < at]
            return f"it was out by {self._account.posted_at[out[0]]}" if out else ""
        causes = {
            # What a person did in the same five minutes came after the look.
            "the stock is empty": self._is_empty_since(at, 2 * _HOUR) or self._is_empty_since(at - STEP, 2 * _HOUR),
            "no feature was made": at - self._last_made(at - STEP) >= 36 * _HOUR,
            "in a row left nothing done": self._has_befallen(at, 6 * _DAY, *_HINDER),
            "nobody can tell": self._has_befallen(at, 2 * STEP, Kind.UNREADABLE),
            "the disk is nearly full": self._will_befall(at, Kind.FULL_DISK),
            # A dead channel is known to live again when the next notice is sent by it.
            "notices do not arrive": self._has_befallen(at, 2 * _DAY, Kind.DEAD_DISCORD),
            "type: lamplighter incidents list": True,
            "things at once": True,
        }
        found = [holds for words, holds in causes.items() if words in line]
        return "" if found and found[0] else "nothing had happened that is like it"

    def _is_empty_since(self, at: datetime, lasting: timedelta) -> bool:
        """Return whether nothing was ready for so long, as far as ticks could see it."""
        counts = [(when, count) for when, count in self._account.shelf if when <= at]
        since = next((when for when, count in reversed(counts) if count), self._life.begin)
        later = [when for when, count in counts if when > since and count == 0]
        return bool(counts) and counts[-1][1] == 0 and at - (later[0] if later else since) >= lasting - STEP

    def _last_made(self, at: datetime) -> datetime:
        return max((when for when in self._account.made_at if when <= at), default=self._life.begin)

    def _has_befallen(self, at: datetime, lately: timedelta, *kinds: Kind) -> bool:
        lived = self._life.misfortunes
        return any(one.kind in kinds and one.begin <= at and at - lately <= one.end for one in lived)

    def _will_befall(self, at: datetime, kind: Kind) -> bool:
        lived = self._life.misfortunes
        return any(one.kind is kind and one.begin - 4 * _HOUR <= at <= one.end + _DAY for one in lived)

    def find_false_pings(self) -> Iterator[str]:
        """Yield the alarms of the outside watcher on days that were well, watched and pinged."""
        for day, at in self._alarms.items():
            limit = due_at(day) + GRACE
            posted_at = self._account.posted_at.get(day)
            is_well = posted_at is not None and posted_at <= limit and not self._is_empty_since(at, 2 * _HOUR)
            is_clear = not self._has_befallen(limit, 2 * _HOUR, Kind.UNREADABLE)
            # A clock that is hours ahead has its evening, and its one good ping of the day, too early.
            is_clear = is_clear and not self._is_shifted(limit - _DAY, limit)
            if is_well and is_clear and self._is_watched(limit, at):
                yield f"{day}: the outside watcher alarms, and the post was out at {posted_at}"

    def find_off_ladder(self) -> Iterator[str]:
        """Yield the notices that came at a time that is on no ladder."""
        groups: dict[int, list[Waiting]] = defaultdict(list)
        for one in self._life.notices:
            if one.notice.incident:
                groups[one.notice.incident].append(one)
        for number, told in groups.items():
            first, last = self._life.true_time(told[0].number), self._life.true_time(told[-1].number)
            if self._is_shifted(first - STEP, last) or any("again: " in one.notice.subject for one in told):
                continue
            yield from (f"incident {number}: {line}" for line in self._climb(told))

    def _climb(self, told: list[Waiting]) -> Iterator[str]:
        """Yield what is wrong with the notices of one incident, by the machine's clock."""
        blind = set(self._account.blind)
        machine = [at for true_at, at in self._account.ticks if true_at not in blind]
        first_at = told[0].written_at
        last_at = told[-1].written_at
        bundled = any(
            one.notice.kind is NoticeKind.BUNDLE and first_at - _DAY <= one.written_at <= last_at
            for one in self._life.notices
        )
        if told[0].notice.kind is not NoticeKind.OPENED and not bundled:
            yield f"its first word is {told[0].notice.kind.value}"
        for kind in (NoticeKind.OPENED, NoticeKind.ESCALATED, NoticeKind.RESOLVED):
            if sum(one.notice.kind is kind for one in told) > 1:
                yield f"{kind.value} more than once"
        used: set[datetime] = set()
        for one in told[1:]:
            if not one.notice.subject.startswith(("still, ", "nobody has answered")) or bundled:
                continue
            before = machine[bisect.bisect_left(machine, one.written_at) - 1]
            steps = [step for step in self._steps(first_at, one.written_at) if before < step <= one.written_at]
            if not set(steps) - used:
                yield f"{one.notice.kind.value} at {one.written_at:%Y-%m-%d %H:%M} UTC is on no step"
            used.update(steps)

    def _steps(self, first_at: datetime, until: datetime) -> Iterator[datetime]:
        yield from (first_at + step for step in _LADDER)
        yield from self._account.answered_until
        # What hushed it is over: then it is told of, if a step has come meanwhile.
        yield from (one.written_at for one in self._life.notices if one.notice.kind is NoticeKind.RESOLVED)
        day = first_at.astimezone(ZONE).date()
        while (at := datetime.combine(day, time(9), ZONE).astimezone(UTC)) <= until:
            if at > first_at + _LADDER[-1]:
                yield at
            day += _DAY


_HINDER = (
    Kind.DEAD_SHOP,
    Kind.LLM_LIMIT,
    Kind.LLM_LOGOUT,
    Kind.EXPIRED_TOKEN,
    Kind.HUNG,
    Kind.KILLED,
    Kind.POWER_OFF,
    Kind.FULL_DISK,
)
