"""The job `generate`: fills the stock, a brand at a time, and says exactly how that went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.supervisor import Run, report_error
from lamplighter.errors import DiskError, Fenced, LamplighterError, LockUnusable
from lamplighter.featurepost.brandstate import BrandState, BrandStates
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Feature
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.settings import GenerateSettings
from lamplighter.featurepost.stock import Failure, Place, Stock
from lamplighter.host.clock import Clock

JOB = "generate"
WentOut = Callable[[str], bool]


class NotMade(LamplighterError):
    """The feature was not made."""

    def __init__(self, brand: str, step: str, error: LamplighterError, *, by_gate: bool = False) -> None:
        """Keep the step and the error it stopped at."""
        super().__init__(f"brand {brand}", f"{step}: {error}")
        self.step = step
        self.error = error
        self.by_gate = by_gate


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
    skipped: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Progress:
    """What has happened in this run so far."""

    made: list[Feature] = field(default_factory=list)
    failed: list[NotMade] = field(default_factory=list)

    @property
    def attempts(self) -> int:
        return len(self.made) + len(self.failed)

    @property
    def failed_brands(self) -> frozenset[str]:
        return frozenset(error.subject.removeprefix("brand ") for error in self.failed)

    @property
    def over(self) -> bool:
        """Return whether the last error is none of the brand's: then no other brand would fare better."""
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
                f"{slug} until {state.skip_until:%Y-%m-%d %H:%M} UTC ({state.skip_reason})"
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
        while len(progress.made) < plan.wanted and progress.attempts < plan.attempts and not progress.over:
            brand = self._next_brand(progress)
            if brand is None:
                break
            self._attempt(brand, run, progress)
        return self._report(plan, progress, force=force)

    def _tidy(self, run: Run) -> None:
        """Take over what a person changed, say what died half-made, clean what is old."""
        now = self._clock.now()
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
            if progress.over:
                return
            self._states.record_failure(brand.slug, cause=str(error.error), now=self._clock.now())
        else:
            progress.made.append(feature)
            self._states.record_success(brand.slug)
            run.say(f"{feature.id}: {'waits for review' if self._settings.review else 'ready'}: {feature.title}")

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
        level = read_level(self._stock, self._settings.target, self._went_out)
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


def read_level(stock: Stock, target: int, went_out: WentOut) -> StockLevel:
    """Count the stock as it lies in the folders; what went out already is none, wherever a person put it."""
    ready, waiting, troubles = [], [], []
    for item in stock.ready():
        trouble = f"{item.id} went out already" if went_out(item.id) else stock.trouble(item)
        if trouble:
            troubles.append(trouble)
        else:
            ready.append(item.id)
    for item in stock.items(Place.HELD):
        reason = stock.reason(item)
        if reason is None or reason.kind != "review":
            continue
        trouble = stock.trouble(item)
        if trouble:
            troubles.append(trouble)
        else:
            waiting.append(item.id)
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
    return "; ".join(str(error) for error in progress.failed[:3])


def _report_nothing_made(plan: Plan, progress: _Progress, line: str, flags: tuple[str, ...]) -> RunReport:
    """Say why nothing was made: no brand open, the gate, or the last error."""
    if not progress.failed:
        return RunReport(
            outcome=Outcome.COOLDOWN,
            line=f"{line}: every brand is skipped: {'; '.join(plan.skipped)}",
            evidence=plan.level.evidence,
            flags=flags,
        )
    causes = _list_causes(progress)
    if all(error.by_gate for error in progress.failed):
        return RunReport(outcome=Outcome.REJECTED, line=f"{line}: {causes}", evidence=plan.level.evidence, flags=flags)
    told = [error.error for error in progress.failed if not error.by_gate]
    report = report_error(told[-1] if progress.over else told[0])
    return RunReport(
        outcome=report.outcome,
        failure=report.failure,
        line=f"{line}: {causes}",
        evidence=plan.level.evidence,
        flags=flags,
    )
