"""A month watched every five minutes: each missing post is told in time, and nothing else, whoever restarts it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.engine import incident, watch
from lamplighter.engine.expectation import (
    AgeFacts,
    ByTime,
    DayFacts,
    Facts,
    Level,
    LevelFacts,
    MaxAge,
    RunFact,
    Streak,
    StreakFacts,
)
from lamplighter.engine.incident import Incidents
from lamplighter.engine.job import Outcome
from lamplighter.engine.watch import EVERY, Expected, Watcher
from lamplighter.host.database import Database, open_database
from lamplighter.notify import outbox
from lamplighter.notify.outbox import NoticeKind, Outbox, Waiting
from lamplighter.schedule.cadence import Cadence, slot_of_day

pytestmark = pytest.mark.timeout(300)  # nine thousand ticks, thrice
BERLIN = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 10, 1, tzinfo=BERLIN).astimezone(UTC)  # a month with a day of 25 hours
DAYS = tuple(date(2026, 10, number) for number in range(1, 32))
GRACE = timedelta(minutes=15)
TABLES = (*watch.MIGRATIONS, *incident.MIGRATIONS, *outbox.MIGRATIONS)
POST = ByTime(
    key="post_today",
    about="the day's post",
    missing="no post went out",
    job="post",
    cadence=Cadence(zone=BERLIN, at=(time(19, 30),), once_a_day=True),
    grace=GRACE,
)


class Killed(BaseException):
    """The watcher is killed in mid-tick."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What happens in the month: when each day's post goes out (None: never), and when features are made."""

    posted_at: dict[date, datetime | None]
    made_at: tuple[datetime, ...]

    @classmethod
    def dream(cls, seed: int) -> World:
        """Return a month with posts on time, slow, late, by hand and missing, and five days without a shop."""
        dice = random.Random(seed)
        posted: dict[date, datetime | None] = {}
        for day in DAYS:
            due_at = due(day)
            kind = dice.choices(("on time", "slow", "late", "by hand", "missing"), (10, 3, 3, 3, 5))[0]
            posted[day] = {
                "on time": due_at + timedelta(seconds=20),
                "slow": due_at + timedelta(minutes=12),
                "late": due_at + timedelta(minutes=dice.randint(25, 200)),
                "by hand": due_at - timedelta(hours=dice.randint(2, 12)),
                "missing": None,
            }[kind]
        outage = range(dice.randint(8, 12), dice.randint(14, 18))
        made: list[datetime] = []
        have = 3
        for day in DAYS:
            for now in sorted(
                (*(datetime.combine(day, time(hour, 1), BERLIN) for hour in (6, 12, 18)), posted[day] or due(day))
            ):
                if now == posted[day]:
                    posted[day] = now if have else None
                    have -= bool(have)
                elif now != due(day) and day.day not in outage:
                    made += [now.astimezone(UTC)] * min(2, 3 - have)
                    have += min(2, 3 - have)
        return cls(posted_at=posted, made_at=tuple(made))

    def stock(self, now: datetime) -> int:
        """Return how many features are ready."""
        made = sum(at <= now for at in self.made_at)
        return 3 + made - sum(at is not None and at <= now for at in self.posted_at.values())

    def missing(self) -> list[date]:
        """Return the days whose post was not out when its grace ended."""
        return [day for day, at in self.posted_at.items() if at is None or at >= due(day) + GRACE]

    def expected(self, clock: VirtualClock) -> tuple[Expected, ...]:
        """Return what is expected, with facts as they are by the clock."""

        def days() -> Facts:
            out = {day for day, at in self.posted_at.items() if at is not None and at <= clock.now()}
            return DayFacts(days=frozenset(out), first_day=DAYS[0], command="lamplighter post")

        def level() -> Facts:
            return LevelFacts(have=self.stock(clock.now()), command="lamplighter generate")

        def age() -> Facts:
            made = [at for at in self.made_at if at <= clock.now()]
            full = self.stock(clock.now()) >= 3
            return AgeFacts(newest_at=max(made, default=None), excuse="the stock is full" if full else "")

        def runs() -> Facts:
            done = RunFact(number=1, job="post", started_at=BEGIN, outcome=Outcome.PRODUCED, line="")
            return StreakFacts(runs=(done,))

        return (
            Expected(rule=POST, read=days),
            Expected(rule=Level(key="stock", about="the stock", missing="the stock is empty"), read=level),
            Expected(rule=MaxAge(key="made", about="new features", missing="no feature was made"), read=age),
            Expected(rule=Streak(key="streak", about="the runs of post", job="post"), read=runs),
        )


def due(day: date) -> datetime:
    """Return when a day's post is due."""
    return slot_of_day(day, time(19, 30), BERLIN).due_at


def ticks(*, asleep: Sequence[tuple[datetime, datetime]] = ()) -> Iterator[datetime]:
    """Yield when the watcher is started: every five minutes, but not while the machine sleeps."""
    now = BEGIN + timedelta(minutes=3, seconds=17)
    while now < BEGIN + timedelta(days=31):
        if not any(begin <= now < end for begin, end in asleep):
            yield now
        now += EVERY


class Story:
    """One telling of a month, in a database of its own."""

    def __init__(self, file: Path, world: World) -> None:
        self._file = file
        self._world = world
        self.clock = VirtualClock(BEGIN)
        self.restart()

    def restart(self) -> None:
        """Begin as another process would."""
        self.database = open_database(self._file, TABLES)
        self.database.row("PRAGMA synchronous = OFF")  # nine thousand ticks; no power is lost here
        self.box = Outbox(self.database, self.clock, "own")
        self.incidents = Incidents(self.database, self.clock, "own", outbox=self.box, zone=BERLIN)
        self.watcher = Watcher(self.database, self.clock, "own", incidents=self.incidents, boot_id="boot")

    def tick(self, now: datetime) -> None:
        """Tick once."""
        self.clock.jump(now)
        self.watcher.tick(self._world.expected(self.clock), reconcile=lambda: None)

    def be_killed(self, now: datetime, left: int) -> bool:
        """Be killed at the nth statement of a tick, if it has so many, and start again; return whether it was."""
        self.clock.jump(now)
        killing = _Killing(self.database, left)
        told = Incidents(killing, self.clock, "own", outbox=Outbox(killing, self.clock, "own"), zone=BERLIN)
        watcher = Watcher(killing, self.clock, "own", incidents=told, boot_id="boot")
        try:
            watcher.tick(self._world.expected(self.clock), reconcile=lambda: None)
        except Killed:
            self.database.close()
            self.restart()
            return True
        return False

    def ledger(self) -> list[tuple[str, str, str, datetime]]:
        """Return every notice as it was told, and when."""
        return [
            (one.notice.kind.value, one.notice.subject, one.notice.body, one.written_at)
            for one in self.box.all(limit=10_000)
        ]


class _Killing(Database):
    """A database under which the process dies at its nth statement."""

    def __init__(self, database: Database, left: int) -> None:
        super().__init__(database._connection, database._file)
        self._left = left

    def change(self, statement: str, values: Sequence[str | int | float | None] = ()) -> int:
        """Die, or do it."""
        self._count(statement)
        return super().change(statement, values)

    def row(self, statement: str, values: Sequence[str | int | float | None] = ()) -> sqlite3.Row | None:
        """Die, or do it."""
        self._count(statement)
        return super().row(statement, values)

    def _count(self, statement: str) -> None:
        self._left -= 1
        if self._left == 0:
            raise Killed(statement)


@pytest.fixture(scope="module")
def world() -> World:
    """Return the month that is told."""
    return World.dream(1)


@pytest.fixture(scope="module")
def story(world: World, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Return the month as one watcher told it that never was restarted."""
    story = Story(tmp_path_factory.mktemp("month") / "own.db", world)
    for now in ticks():
        story.tick(now)
    return story


def about_posts(story: Story) -> list[Waiting]:
    """Return the notices that call somebody for a post."""
    called = (NoticeKind.OPENED, NoticeKind.REMINDER)
    return [
        one
        for one in story.box.all(limit=10_000)
        if one.notice.kind in called and one.notice.subject.startswith("no post went out")
    ]


def test_each_missing_post_is_told_in_time_and_no_other(story: Story, world: World) -> None:
    """Within five minutes after time and grace; no day that had its post is ever named, and nobody is ever in doubt."""
    calls = about_posts(story)
    missing = world.missing()
    assert len(missing) > 5
    assert [one.notice.subject.split(",")[0] for one in calls] == [f"no post went out for {day}" for day in missing]
    for day, one in zip(missing, calls, strict=True):
        assert timedelta() <= one.written_at - (due(day) + GRACE) <= EVERY
    others = {one.notice.subject for one in story.box.all(limit=10_000) if one.notice.kind is NoticeKind.OPENED}
    assert not {subject for subject in others if subject.startswith(("nobody can tell", "the runs of"))}


def test_an_empty_stock_is_told_after_two_hours_and_a_short_one_never(story: Story, world: World) -> None:
    """Each time it was empty for so long, at the tick that saw the two hours full."""
    empty_since: datetime | None = None
    expected = []
    for now in ticks():
        empty_since = (empty_since or now) if world.stock(now) == 0 else None
        if empty_since is not None and now - EVERY < empty_since + timedelta(hours=2) <= now:
            expected.append(now)
    told = [one for one in story.box.all(limit=10_000) if one.notice.subject == "the stock is empty"]
    assert [one.written_at for one in told] == expected != []


def test_nothing_made_for_36_hours_is_told_once_for_each_outage(story: Story) -> None:
    """Five days without a shop are one incident, and it is over when the shop is back."""
    told = [one.notice for one in story.box.all(limit=10_000) if "no feature was made" in one.notice.subject]
    kinds = [notice.kind for notice in told]
    assert (kinds[0], kinds[-1], kinds.count(NoticeKind.OPENED)) == (NoticeKind.OPENED, NoticeKind.RESOLVED, 1)
    assert set(kinds[1:-1]) == {NoticeKind.REMINDER, NoticeKind.ESCALATED}


def test_a_restart_at_any_tick_changes_nothing(tmp_path: Path, world: World, story: Story) -> None:
    """Closed, ticked twice, killed at each statement of a tick that has news: the same words at the same instants."""
    dice = random.Random(7)
    restarted = Story(tmp_path / "restarted.db", world)
    news = {at for *_, at in story.ledger()}
    killed = 0
    for now in ticks():
        chance = dice.random()
        statement = 1 if now in news else dice.randint(1, 9) if chance < 0.03 else 0
        while statement and restarted.be_killed(now, statement):
            killed += 1
            statement += 1 if now in news else -statement
        if 0.05 < chance < 0.1:
            restarted.database.close()
            restarted.restart()
        restarted.tick(now)
        if 0.1 < chance < 0.15:
            restarted.tick(now)
    assert killed > 9 * len(news) > 200
    assert restarted.ledger() == story.ledger()
    assert restarted.incidents.latest(limit=1_000) == story.incidents.latest(limit=1_000)


def test_a_laptop_that_sleeps_tells_five_minutes_after_it_wakes(tmp_path: Path) -> None:
    """Asleep over the evening: told if it is still missing then, not at all if it was made up for on waking."""
    world = World.dream(2)
    dice = random.Random(3)
    asleep = [
        (due(day) - timedelta(minutes=dice.randint(5, 90)), due(day) + timedelta(minutes=dice.randint(20, 600)))
        for day in DAYS[:30]
        if dice.random() < 0.6
    ]
    story = Story(tmp_path / "own.db", world)
    awake = list(ticks(asleep=asleep))
    for now in awake:
        story.tick(now)
    expected = []
    for day in world.missing():
        end = datetime.max.replace(tzinfo=UTC)
        seen, after = [now for now in (*awake, end, end) if now >= due(day) + GRACE][:2]
        at = world.posted_at[day]
        tomorrow = world.posted_at.get(day + timedelta(days=1))
        if all(out is None or out > after for out in (at, tomorrow)):
            expected.append((f"no post went out for {day}", seen))
    told = [(one.notice.subject.split(",")[0], one.written_at) for one in about_posts(story)]
    assert [subject for subject, _ in told] == [subject for subject, _ in expected]
    assert all(now - seen in {timedelta(), EVERY} for (_, now), (_, seen) in zip(told, expected, strict=True))
