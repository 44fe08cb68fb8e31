"""A household on a virtual clock: a machine that sleeps and fails, a scheduler, a person who reads notices and acts.

What is watched and told is done by the real code: Slots, Ledger, Supervisor, Journal, Watch, Incidents, Outbox,
Delivery, Heartbeat. The work of generate and post, the features, the network and the channels are played.

    household = Household(folder, seed=1, days=60)
    household.live()
    household.ears.heard, household.outside.bad, household.posted_at, ...
"""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.simulators.clock import VirtualClock
from tests.simulators.desk import make_feature
from tests.simulators.listener import Ears, OutsideWatcher
from tests.simulators.misfortune import MENDED_BY_HAND, Kind, Misfortune, dream

from lamplighter.app.expecting import Expectations
from lamplighter.app.notify import find_day
from lamplighter.app.opening import MIGRATIONS, assemble
from lamplighter.app.pausing import unless_paused
from lamplighter.app.timing import find_outcome
from lamplighter.app.watch import Watch
from lamplighter.app.watch_table import WATCH_MIGRATIONS
from lamplighter.config.settings import parse_settings
from lamplighter.engine.expectation import ProbeFacts
from lamplighter.engine.incident import Incidents
from lamplighter.engine.incident_life import Quiet
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.miss import MissReason
from lamplighter.engine.pause import Pauses
from lamplighter.engine.slot import RELEASING, SlotRow, Slots
from lamplighter.engine.supervisor import Run, Setup, Supervisor, Work
from lamplighter.engine.watch import TickReport, blind_report
from lamplighter.errors import DiskError, LockBusy, NeedsHuman, UpstreamError
from lamplighter.featurepost.feature import Feature
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.stock import Examined, Place, Reason, Stock, StockItem
from lamplighter.host.database import Database, open_database
from lamplighter.host.identity import ProcessIdentity, read_own_identity
from lamplighter.notify.delivery import Delivery
from lamplighter.notify.heartbeat import Heartbeat
from lamplighter.notify.outbox import Outbox, Waiting
from lamplighter.notify.settings import ChannelSettings, NotifySettings
from lamplighter.publish.publisher import Receipt
from lamplighter.schedule.cadence import Cadence, Due, slot_today, slots_between

ZONE = ZoneInfo("Europe/Berlin")
STEP = timedelta(minutes=5)
POST_AT = time(19, 30)
GRACE = timedelta(minutes=15)
_MADE_AT = (time(6), time(12), time(18))
# A day's entries are a superset: the time of the other offset wakes us too, and the slot guard says `not_due`.
_WAKES = {"generate": _MADE_AT, "post": (time(18, 30), POST_AT)}
_GONE = ProcessIdentity(pid=94_799, start="1", boot_id="a boot long ago")
_TARGET, _A_RUN = 3, 2
_SETTINGS = b'zone = "Europe/Berlin"\naccount = "main"\n'
_ALL = (*MIGRATIONS, *WATCH_MIGRATIONS)


class Shelf(Stock):
    """The ready features, in memory."""

    def __init__(self, folder: Path, index: Index) -> None:
        """Begin empty."""
        super().__init__(folder, index)
        self.features: list[tuple[StockItem, Feature]] = []
        self.is_readable: Callable[[], bool] = lambda: True

    def items(self, place: Place) -> tuple[StockItem, ...]:
        """Return what is ready; nothing is anywhere else."""
        self._look()
        return tuple(item for item, _ in self.features) if place is Place.READY else ()

    def examine(self, *places: Place) -> tuple[Examined, ...]:
        """Return what is ready."""
        self._look()
        found = self.features if Place.READY in places else []
        return tuple(Examined(item=item, feature=feature, trouble="") for item, feature in found)

    def read(self, item: StockItem) -> Feature:
        """Return a manifest."""
        return next(feature for other, feature in self.features if other.id == item.id)

    def reason(self, item: StockItem) -> Reason | None:
        """Return that nothing is held."""
        del item
        return None

    def _look(self) -> None:
        if not self.is_readable():
            raise DiskError("content/sns", "Input/output error", "look after the disk")


class _FullDatabase(Database):
    """A database on a full disk: it can be read, and takes no word."""

    def change(self, statement: str, values: object = ()) -> int:
        """Say that there is no room."""
        del statement, values
        raise DiskError(self.name, "No space left on device", "free some space and run it again")


@dataclass(slots=True, kw_only=True)
class Hung:
    """A run that is at work and does nothing."""

    number: int
    until: datetime


@dataclass(slots=True, kw_only=True)
class Errand:
    """What a person is going to do about the missing post of a day, and when."""

    day: date
    at: datetime


@dataclass(slots=True, kw_only=True)
class Account:
    """What truly happened, for the one who judges: by the true clock, and what the machine's clock said then."""

    posted_at: dict[date, datetime] = field(default_factory=dict)
    shelf: list[tuple[datetime, int]] = field(default_factory=list)
    made_at: list[datetime] = field(default_factory=list)
    answered_until: list[datetime] = field(default_factory=list)
    ticks: list[tuple[datetime, datetime]] = field(default_factory=list)
    blind: list[datetime] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)


class Household:
    """Lives through some days."""

    def __init__(
        self, folder: Path, *, seed: int, days: int, begin: datetime, expectations: type[Expectations] = Expectations
    ) -> None:
        """Found a household in an empty folder, at the midnight of `begin` in Berlin."""
        self.begin = begin.astimezone(UTC)
        self.end = self.begin + timedelta(days=days)
        self.folder = folder
        self.true_now = self.begin
        self.misfortunes = list(dream(seed, begin, days))
        self.account = Account()
        self._dice = random.Random(seed + 1)
        self.clock = VirtualClock(self.begin)
        (folder / "state").mkdir(parents=True, exist_ok=True)
        self.ears = Ears(true_now=lambda: self.true_now, is_dead=self._is_channel_dead)
        self.outside = OutsideWatcher(true_now=lambda: self.true_now, is_reachable=lambda: True)
        self._channels = NotifySettings(
            folder=folder,
            channels=tuple(ChannelSettings(name=name, source="") for name in self.ears.names),
            alert=self.ears.names,
            desktop=False,
        )
        self._settings = replace(parse_settings(_SETTINGS, folder), notify=self._channels)
        feel = self._feel_disk
        self._kind = type("Expected", (expectations,), {"_read_disk": lambda _: feel()})
        self._boot, self._booted_at, self._slept = 0, self.begin, timedelta()
        self._running, self._is_back = True, False
        self._woken_at = dict.fromkeys(_WAKES, self.begin)
        self._wakes = {
            job: [slot.due_at for slot in slots_between(Cadence(zone=ZONE, at=at), self.begin, self.end)]
            for job, at in _WAKES.items()
        }
        self._hung: dict[str, Hung] = {}
        self._errands: list[Errand] = []
        self._heard = 0
        self.settled: tuple[SlotRow, ...] = ()
        self.notices: tuple[Waiting, ...] = ()
        self._written: dict[int, datetime] = {}
        self._open()

    def live(self) -> None:
        """Live through all days."""
        self.live_until(self.end)

    def live_until(self, end: datetime) -> None:
        """Live on for a while; what was written to be told by then is in `notices`."""
        while self.true_now < end:
            self._step()
            self.true_now += STEP
        self.notices = self.box.all(limit=100_000)

    def slots_of(self, job: str) -> tuple[SlotRow, ...]:
        """Return the slots of a job that have a word, oldest first."""
        return tuple(reversed(self.slots.latest(job, limit=100)))

    def true_time(self, number: int) -> datetime:
        """Return when a notice was truly written."""
        return self._written[number]

    def lasting(self, kind: Kind, *, job: str = "") -> Misfortune | None:
        """Return the misfortune of a kind that lasts now, None when none does."""
        found = (
            one for one in self.misfortunes if one.kind is kind and one.lasts(self.true_now) and one.job in {"", job}
        )
        return next(found, None)

    def _open(self) -> None:
        """Begin as another process would, with the shelf as it is."""
        before = getattr(self, "shelf", None)
        self.database = open_database(self.folder / "state" / "lamplighter.db", _ALL)
        self.database.row("PRAGMA synchronous = OFF")  # no power is lost here but in the story
        parts = assemble(self._settings, self.database, self.clock)
        shelf = Shelf(self.folder, parts.index)
        shelf.features = before.features if before is not None else []
        shelf.is_readable = lambda: self.lasting(Kind.UNREADABLE) is None
        self.shelf = shelf
        self.parts = replace(parts, stock=shelf)
        self.ledger = Ledger(self.database, self.clock, "main")
        self.slots = Slots(self.database, self.clock, "main")
        self.box = Outbox(self.database, self.clock, "main")
        self.incidents = Incidents(self.database, self.clock, "main", outbox=self.box, zone=ZONE)
        self._watch = self._build_watch(self.database)

    def _build_watch(self, database: Database) -> Watch:
        parts = self.parts if database is self.database else replace(self.parts, database=database)
        return Watch(
            parts,
            database,
            self.clock,
            boot_id=f"boot {self._boot}",
            boot_at=lambda _: self._booted_at,
            slept=lambda: self._slept,
            session_begin=lambda: self._booted_at,
            expectations=self._kind,
        )

    def _step(self) -> None:
        """Let five minutes pass: the machine, its scheduler, the watcher, the person."""
        if not self._be_on():
            return
        for job, hung in list(self._hung.items()):
            if self.true_now >= hung.until:
                self._end_hung(job, Outcome.TIMED_OUT)
        if self._is_back and self.lasting(Kind.WATCHER_DEAD) is None:
            self._tick()  # just awake, the watcher may be started before the jobs
        self._is_back = False
        for job in _WAKES:
            self._wake(job)
        if self.lasting(Kind.WATCHER_DEAD) is None:
            self._tick()
        self._hear()
        self._run_errands()
        if self._dice.random() < 0.01:
            self.database.close()
            self._open()

    def _be_on(self) -> bool:
        """Set the clock, and return whether the machine is awake."""
        jump = self.lasting(Kind.CLOCK_JUMP)
        now = self.true_now + (jump.shift if jump else timedelta())
        off, asleep = self.lasting(Kind.POWER_OFF), self.lasting(Kind.SLEEP)
        if off is not None or asleep is not None:
            self._slept += STEP
            self._is_back = True
            if off is not None and self._running:
                for job in list(self._hung):
                    self._hung.pop(job)
                    self._drop(job)
            self._running = self._running and off is None
            return False
        if not self._running:
            self._running, self._booted_at = True, now
            self._boot += 1
            self._watch = self._build_watch(self.database)
        self.clock.advance(STEP)
        self.clock.jump(now)
        return True

    def _drop(self, job: str) -> None:
        """Let the process of a run be gone: its row stays open."""
        self.database.change(
            "UPDATE run SET pid = ?, process_start = ?, boot_id = ? WHERE job = ? AND outcome IS NULL",
            (_GONE.pid, _GONE.start, _GONE.boot_id, job),
        )

    def _wake(self, job: str) -> None:
        """Do what the system's scheduler does: start a job once for all its times that have come, however late."""
        now, before = self.clock.now(), self._woken_at[job]
        self._woken_at[job] = now
        if self.lasting(Kind.ENTRY_GONE, job=job) is not None:
            return
        times = self._wakes[job]
        if bisect.bisect_right(times, before) < bisect.bisect_right(times, now):
            self._start(job, scheduled=True)

    def _start(self, job: str, *, scheduled: bool) -> None:
        """Run a job, as far as it comes."""
        killed, hung = self.lasting(Kind.KILLED, job=job), self.lasting(Kind.HUNG, job=job)
        if self.lasting(Kind.FULL_DISK) is not None:
            return
        if job not in self._hung and scheduled and (killed or hung):
            self._begin_and_stay(job, hung)
            return
        work = self._at_slot(job, self._works()[job], scheduled=scheduled)
        if job in self._hung:
            work = _raise_busy
        pauses = Pauses(self.database, self.clock, "main")
        work = unless_paused(work, job, pauses, excuse=lambda _: None)
        supervisor = Supervisor(
            ledger=self.ledger, state_dir=self.folder / "state", clock=self.clock, say=lambda _: None
        )
        report = supervisor.run(job, lambda: Setup(work=work), command=f"lamplighter {job}")
        self.account.outcomes[report.outcome.value] = self.account.outcomes.get(report.outcome.value, 0) + 1

    def _begin_and_stay(self, job: str, hung: Misfortune | None) -> None:
        """Leave a run without a word: its process is gone, or hangs."""
        process = read_own_identity() if hung else _GONE
        number = self.ledger.begin(job, command=f"lamplighter {job}", trigger="cron", process=process)
        self._take(job, number, scheduled=True)
        if hung:
            self._hung[job] = Hung(number=number, until=hung.end)

    def _end_hung(self, job: str, outcome: Outcome) -> None:
        hung = self._hung.pop(job)
        self.ledger.end(hung.number, RunReport(outcome=outcome, line="it ran past its limit", signal=9))

    def _take(self, job: str, number: int, *, scheduled: bool) -> bool:
        """Claim a slot as timing does, and return whether there was one."""
        times = {"generate": _MADE_AT, "post": (POST_AT,)}[job]
        cadence = Cadence(zone=ZONE, at=times, once_a_day=job == "post")
        journal = self.parts.journal
        done = {Outcome.PRODUCED, Outcome.PARTIAL, Outcome.NOTHING_NEEDED}

        def outcome_of(claimed: int) -> Outcome | None:
            outcome = find_outcome(self.ledger, claimed)
            frees = job == "post" and outcome is not None and outcome not in done
            return next(iter(RELEASING)) if frees else outcome

        decided = self.slots.take(
            job,
            cadence,
            number,
            scheduled=scheduled,
            outcome_of=outcome_of,
            reason_of=lambda _: MissReason.UNKNOWN,
            served=journal.days_done() if job == "post" else frozenset(),
        )
        if isinstance(decided, Due):
            self.ledger.set_slot(number, decided.slot.key)
        return isinstance(decided, Due)

    def _at_slot(self, job: str, work: Work, *, scheduled: bool) -> Work:
        def work_at_slot(run: Run) -> RunReport:
            if not self._take(job, run.number, scheduled=scheduled) and scheduled:
                return RunReport(outcome=Outcome.NOT_DUE, line="no slot is open")
            return work(run)

        return work_at_slot

    def _works(self) -> dict[str, Work]:
        return {"generate": self._generate, "post": self._post}

    def _generate(self, run: Run) -> RunReport:
        have = len(self.shelf.features)
        counted = (Evidence(name="stock", value=f"{have} of {_TARGET}"),)
        if have >= _TARGET:
            return RunReport(outcome=Outcome.NOTHING_NEEDED, line="the stock is full", evidence=counted)
        if self.lasting(Kind.DEAD_SHOP) is not None:
            raise UpstreamError("brand wrenfold: products.json", "503 from the shop")
        if self.lasting(Kind.LLM_LOGOUT) is not None:
            raise NeedsHuman("the writer", "it is not logged in", "claude login")
        if self.lasting(Kind.LLM_LIMIT) is not None:
            return RunReport(outcome=Outcome.COOLDOWN, line="the writer's limit lasts for some hours")
        made = tuple(self._make() for _ in range(min(_TARGET - have, _A_RUN)))
        self._count(run)
        return RunReport(outcome=Outcome.PRODUCED, line=f"made {len(made)}", outputs=made)

    def _make(self) -> str:
        number = self.parts.index.claim_number(floor=0)
        name = f"feature-{number:04}-wrenfold"
        item = StockItem(id=name, number=number, place=Place.READY, folder=self.folder / name)
        feature = make_feature(item, made_at=self.clock.now())
        self.parts.index.remember(feature)
        self.account.made_at.append(self.true_now)
        self.shelf.features.append((item, feature))
        return name

    def _post(self, run: Run) -> RunReport:
        slot = slot_today(self.clock.now(), POST_AT, ZONE)
        journal = self.parts.journal
        if journal.of_day(f"{slot.day}"):
            return RunReport(
                outcome=Outcome.NOTHING_NEEDED,
                line="today has its post",
                evidence=(Evidence(name="slot", value=slot.key),),
            )
        if self.lasting(Kind.EXPIRED_TOKEN) is not None:
            raise NeedsHuman("the channel", "its token has expired", "lamplighter connect instagram")
        if self.lasting(Kind.LIAR) is not None:
            return RunReport(outcome=Outcome.PRODUCED, line="posted, it says", outputs=("a post",))
        if not self.shelf.features:
            return RunReport(outcome=Outcome.NOTHING_READY, line="no feature is ready")
        item, _ = self.shelf.features.pop(0)
        receipt = Receipt(id=item.id, location=f"outbox/{item.id}", published_at=self.clock.now())
        journal.claim(slot.key, item.id, generation=run.generation, run=run.number)
        journal.published(slot.key, receipt, generation=run.generation)
        journal.recorded(slot.key, generation=run.generation)
        self.account.posted_at[slot.day] = self.true_now
        self._count(run)
        return RunReport(outcome=Outcome.PRODUCED, line=f"posted {item.id}", outputs=(receipt.location,))

    def _count(self, _: Run) -> None:
        self.account.shelf.append((self.true_now, len(self.shelf.features)))

    def _tick(self) -> None:
        """Look once as `lamplighter watch` does, ping, and deliver."""
        self.account.ticks.append((self.true_now, self.clock.now()))
        report = self._look()
        for one in self.box.waiting(limit=1_000):
            self._written.setdefault(one.number, self.true_now)
        if not report.incidents and len(report.verdicts) == 1:
            self.account.blind.append(self.true_now)
            return  # the disk is full: nothing can be noted, delivered or pinged
        if self.clock.now().astimezone(ZONE).time() >= POST_AT:  # before its time nothing is said of a day
            self._ping(report)
        if self.box.waiting(limit=1):
            self._deliver()

    def _ping(self, report: TickReport) -> None:
        settings = self._settings
        pings = Heartbeat(
            self.database, self.clock, "main", http=self.outside, read_url=lambda name: f"https://outside/{name}"
        )
        day = find_day(settings, self.clock.now(), report)
        pings.beat(("verdict",), day=day, text="", words=settings.heartbeat.words)

    def _look(self) -> TickReport:
        try:
            if self.lasting(Kind.FULL_DISK) is None:
                return self._watch.tick()
            full = _FullDatabase(self.database._connection, self.folder / "state" / "lamplighter.db")
            return self._build_watch(full).tick()
        except DiskError as error:
            return blind_report(self.clock.now(), error)

    def _deliver(self) -> None:
        Delivery(
            self.database,
            self.clock,
            "main",
            channels=self.ears,
            settings=self._channels,
            zone=ZONE,
            jitter=lambda: 0.5,
        ).deliver(until=timedelta(seconds=30))

    def _feel_disk(self) -> ProbeFacts:
        """Say that the disk fills up, from some hours before it is full."""
        soon = self.true_now + timedelta(hours=3)
        if any(
            one.kind is Kind.FULL_DISK and one.begin <= soon and self.true_now < one.end for one in self.misfortunes
        ):
            return ProbeFacts(trouble="the disk is nearly full", why="40 MB left", command="free some space")
        return ProbeFacts()

    def _is_channel_dead(self, name: str) -> bool:
        return name == "discord" and self.lasting(Kind.DEAD_DISCORD) is not None

    def _hear(self) -> None:
        """Read what came, and now and then decide to do something about it: soon, tomorrow, or not at all."""
        for heard in self.ears.heard[self._heard :]:
            if "no post went out for" not in heard.text or self._dice.random() < 0.3:
                continue
            day = self.true_now.astimezone(ZONE).date()
            delay = self._dice.choice((30, 60, 120, 600, 900))
            self._errands.append(Errand(day=day, at=self.true_now + timedelta(minutes=delay)))
            if self._dice.random() < 0.2:
                for incident in self.incidents.open():
                    answered = self.incidents.answer(incident.number, Quiet.ACKNOWLEDGED, lasting=timedelta(hours=12))
                    if answered.quiet_until is not None:
                        self.account.answered_until.append(answered.quiet_until)
        self._heard = len(self.ears.heard)

    def _run_errands(self) -> None:
        for errand in [errand for errand in self._errands if self.true_now >= errand.at]:
            self._errands.remove(errand)
            self._mend()
            if not self.shelf.features:
                self._start("generate", scheduled=False)
            self._start("post", scheduled=False)

    def _mend(self) -> None:
        """Log in, install the entry again, end what hangs."""
        self.misfortunes = [
            replace(one, end=self.true_now) if one.kind in MENDED_BY_HAND and one.lasts(self.true_now) else one
            for one in self.misfortunes
        ]
        for job in list(self._hung):
            self._end_hung(job, Outcome.KILLED)


def _raise_busy(_: Run) -> RunReport:
    raise LockBusy("generate", "run 3 is at work", "lamplighter lock status")
