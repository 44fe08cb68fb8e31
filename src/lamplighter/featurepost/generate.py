"""The job `generate`: fills the stock, a brand at a time, and says exactly how that went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from lamplighter.engine.boundary import report_error
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.supervisor import Run
from lamplighter.errors import DiskError, Fenced, LamplighterError, LockUnusable, render_line
from lamplighter.featurepost.brandstate import BrandState, BrandStates, SkippedBrand
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Feature
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.settings import GenerateSettings
from lamplighter.featurepost.stock import Failure, Place, Stock
from lamplighter.host.clock import Clock

JOB = "generate"
_SHOWN_LETTERS = 120
WentOut = Callable[[str], bool]


class NotMade(LamplighterError):
    """The feature was not made."""

    def __init__(
        self,
        brand: str,
        step: str,
        error: LamplighterError,
        *,
        by_gate: bool = False,
        limited_until: datetime | None = None,
    ) -> None:
        """Keep the brand's slug, the step, the error it stopped at, and the end of a limit when it was one."""
        super().__init__(f"brand {brand}", f"{step}: {error}")
        self.brand = brand
        self.step = step
        self.error = error
        self.by_gate = by_gate
        self.limited_until = limited_until


class Maker(Protocol):
    """Makes one feature of a brand."""

    def make(self, brand: Brand, run: Run) -> Feature:
        """Return a feature that is now in stock; raises NotMade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockLevel:
    """What was counted: ready features that can be posted, those waiting for review, the target, and troubles."""

    ready: tuple[str, ...]
    waiting: tuple[str, ...]
    target: int
    troubles: tuple[str, ...]

    @property
    def have(self) -> int:
        """Return how many count towards the target; drafts and unreadable folders never do."""
        return len(self.ready) + len(self.waiting)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return the count as evidence for an outcome."""
        counted = ", ".join((*self.ready, *(f"{name} (review)" for name in self.waiting))) or "none"
        return (Evidence(name="stock", value=f"{self.have} of {self.target}"), Evidence(name="counted", value=counted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do: how many it wants, how many attempts it allows itself, and the brands in their order."""

    level: StockLevel
    wanted: int
    attempts: int
    brands: tuple[str, ...]
    skipped: tuple[SkippedBrand, ...]


@dataclass(slots=True, kw_only=True)
class _Progress:
    """What has happened in this run so far."""

    made: list[Feature] = field(default_factory=list)
    failed: list[NotMade] = field(default_factory=list)
    unrecorded: DiskError | None = None

    @property
    def attempts(self) -> int:
        return len(self.made) + len(self.failed)

    @property
    def failed_brands(self) -> frozenset[str]:
        return frozenset(error.brand for error in self.failed)

    @property
    def over(self) -> bool:
        """Return whether the last error is none of the brand's: then no other brand would fare better."""
        if self.unrecorded is not None:
            return True
        return bool(self.failed) and isinstance(self.failed[-1].error, (DiskError, Fenced, LockUnusable))

    @property
    def served_brands(self) -> frozenset[str]:
        return frozenset(feature.brand for feature in self.made)


class Generator:
    """Keeps one stock full."""

    def __init__(
        self,
        *,
        brands: tuple[Brand, ...],
        stock: Stock,
        index: Index,
        states: BrandStates,
        maker: Maker,
        clock: Clock,
        settings: GenerateSettings,
        went_out: WentOut,
        named: bool = False,
    ) -> None:
        """Take the brands, the stock and the one who makes; a brand that a person `named` is tried though skipped."""
        self._went_out = went_out
        self._named = named
        self._brands = brands
        self._stock = stock
        self._index = index
        self._states = states
        self._maker = maker
        self._clock = clock
        self._settings = settings

    def plan(self, *, force: bool) -> Plan:
        """Return what `work` would do now; touches nothing."""
        level = read_level(self._stock, self._settings.target, self._went_out)
        states = self._read_states()
        wanted = 1 if force else max(0, min(level.target - level.have, self._settings.max_per_run))
        order = decide_order(self._brands, self._index.last_featured(), states, frozenset(), frozenset())
        return Plan(
            level=level,
            wanted=wanted,
            attempts=max(level.target - level.have, wanted) + self._settings.extra_attempts,
            brands=tuple(brand.slug for brand in order),
            skipped=tuple(
                SkippedBrand(slug=slug, until=state.skip_until, reason=state.skip_reason)
                for slug, state in states.items()
                if state.skip_until is not None
            ),
        )

    def work(self, run: Run, *, force: bool) -> RunReport:
        """Make what is missing and return the outcome with its evidence."""
        self._tidy(run)
        plan = self.plan(force=force)
        for trouble in plan.level.troubles:
            run.say(f"does not count as stock: {trouble}")
        if plan.wanted == 0:
            line = f"the stock is full: {plan.level.have} of {plan.level.target}"
            return RunReport(outcome=Outcome.NOTHING_NEEDED, line=line, evidence=plan.level.evidence)
        progress = _Progress()
        try:
            self._fill(plan, run, progress)
        except DiskError as error:
            if not progress.made:
                raise
            self._note(error, run, progress)
        return self._report(plan, progress, force=force)

    def _fill(self, plan: Plan, run: Run, progress: _Progress) -> None:
        while len(progress.made) < plan.wanted and progress.attempts < plan.attempts and not progress.over:
            brand = self._next_brand(progress)
            if brand is None or not self._has_time(run):
                break
            self._attempt(brand, run, progress)

    def _has_time(self, run: Run) -> bool:
        """Return whether one more feature can be finished within the run's limit, even at its worst."""
        left = run.left()
        if left is None or left >= self._settings.feature_limit:
            return True
        run.say("there is no time left in this run for another feature")
        return False

    def _note(self, error: DiskError, run: Run, progress: _Progress) -> None:
        """Say what could not be written or read beside a feature that is made: it counts, and the run ends here."""
        progress.unrecorded = error
        run.say(f"what was made is there, but not all of it could be noted: {error}")

    def _tidy(self, run: Run) -> None:
        """Take over what a person changed, say what died half-made, clean what is old."""
        now = self._clock.now()
        self._stock.sweep()
        self._stock.take_over()
        for draft in self._stock.interrupted():
            self._stock.fail(draft, Failure(step="interrupted", message="its run ended early", at=now, run=run.number))
            run.say(f"{draft.folder.name} was left half-made by an earlier run and is kept as a draft")
        for old in self._stock.clean(now=now, keep=self._settings.keep_drafts):
            run.say(f"{old.folder.name} was an old draft and is removed")

    def _attempt(self, brand: Brand, run: Run, progress: _Progress) -> None:
        try:
            feature = self._maker.make(brand, run)
        except NotMade as error:
            progress.failed.append(error)
            run.say(str(error))
            if not progress.over:
                self._record(error)
        else:
            progress.made.append(feature)
            title = render_line(feature.title, limit=_SHOWN_LETTERS)
            run.say(f"{feature.id}: {'waits for review' if self._settings.review else 'ready'}: {title}")
            self._states.record_success(brand.slug)

    def _record(self, error: NotMade) -> None:
        """Remember what stopped a brand: a limit is no failure of it and leaves it out until its end."""
        now = self._clock.now()
        if error.limited_until is not None:
            self._states.rest(error.brand, until=error.limited_until, reason=str(error.error), now=now)
        else:
            self._states.record_failure(error.brand, cause=str(error.error), now=now)

    def _next_brand(self, progress: _Progress) -> Brand | None:
        order = decide_order(
            self._brands,
            self._index.last_featured(),
            self._read_states(),
            progress.failed_brands,
            progress.served_brands,
        )
        return order[0] if order else None

    def _read_states(self) -> Mapping[str, BrandState]:
        now: datetime = self._clock.now()
        if self._named:
            return {brand.slug: BrandState() for brand in self._brands}
        return {brand.slug: self._states.read(brand.slug, now=now) for brand in self._brands}

    def _report(self, plan: Plan, progress: _Progress, *, force: bool) -> RunReport:
        level = self._read_level_after(plan, progress)
        made, attempts = len(progress.made), progress.attempts
        tried = f"{attempts} attempt{'' if attempts == 1 else 's'}"
        line = f"made {made} of {plan.wanted}, {tried}, {level.have} of {level.target} in stock"
        flags = ("forced",) if force else ()
        if made:
            whole = made == plan.wanted
            why = "" if whole else f": {_list_causes(progress) or 'no other brand is open'}"
            return RunReport(
                outcome=Outcome.PRODUCED if whole else Outcome.PARTIAL,
                line=f"{line}{why}",
                evidence=level.evidence,
                outputs=tuple(feature.id for feature in progress.made),
                flags=flags,
            )
        return _report_nothing_made(plan, progress, line, flags)

    def _read_level_after(self, plan: Plan, progress: _Progress) -> StockLevel:
        """Count the stock again; when that cannot be done, what was made is added to what was counted before."""
        try:
            return read_level(self._stock, self._settings.target, self._went_out)
        except DiskError:
            if not progress.made:
                raise
            made = tuple(feature.id for feature in progress.made)
            if self._settings.review:
                return replace(plan.level, waiting=plan.level.waiting + made)
            return replace(plan.level, ready=plan.level.ready + made)


def read_level(stock: Stock, target: int, went_out: WentOut) -> StockLevel:
    """Count the stock as it lies in the folders; what went out already is none, wherever a person put it."""
    ready: list[str] = []
    waiting: list[str] = []
    troubles: list[str] = []
    for found in stock.examine(Place.READY, Place.HELD):
        item, trouble = found.item, found.trouble
        if item.place is Place.HELD:
            reason = stock.reason(item)
            if reason is None or reason.kind != "review":
                continue
        elif went_out(item.id):
            trouble = f"{item.id} went out already"
        if trouble:
            troubles.append(trouble)
        else:
            (waiting if item.place is Place.HELD else ready).append(item.id)
    return StockLevel(ready=tuple(ready), waiting=tuple(waiting), target=target, troubles=tuple(troubles))


def decide_order(
    brands: tuple[Brand, ...],
    last_featured: Mapping[str, int],
    states: Mapping[str, BrandState],
    failed: frozenset[str],
    served: frozenset[str],
) -> tuple[Brand, ...]:
    """Return the brands that may be tried, those not served in this run first, then the longest not featured."""
    open_brands = [brand for brand in brands if brand.slug not in failed and states[brand.slug].skip_until is None]
    return tuple(sorted(open_brands, key=lambda brand: (brand.slug in served, last_featured.get(brand.slug, 0))))


def _list_causes(progress: _Progress) -> str:
    last = (progress.unrecorded,) if progress.unrecorded is not None else ()
    return "; ".join(str(error) for error in (*progress.failed[:3], *last))


def _describe_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _report_nothing_made(plan: Plan, progress: _Progress, line: str, flags: tuple[str, ...]) -> RunReport:
    """Say why nothing was made: no brand open, the gate, limits until the first of them ends, or the last error."""
    causes = _list_causes(progress)
    told = [error.error for error in progress.failed if not error.by_gate and error.limited_until is None]
    failure = None
    if not progress.failed:
        skips = (f"{skip.slug} until {_describe_time(skip.until)} ({skip.reason})" for skip in plan.skipped)
        outcome, causes = Outcome.COOLDOWN, f"every brand is skipped: {'; '.join(skips)}"
    elif told:
        report = report_error(told[-1] if progress.over else told[0])
        outcome, failure = report.outcome, report.failure
    elif any(error.by_gate for error in progress.failed):
        outcome = Outcome.REJECTED
    else:
        limits = [error.limited_until for error in progress.failed if error.limited_until is not None]
        until = min((*limits, *(skip.until for skip in plan.skipped)))
        outcome, causes = Outcome.COOLDOWN, f"nothing can be made until {_describe_time(until)}: {causes}"
    return RunReport(
        outcome=outcome, failure=failure, line=f"{line}: {causes}", evidence=plan.level.evidence, flags=flags
    )
