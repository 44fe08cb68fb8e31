"""The job generate: how many it makes, of which brands, when it gives up, and what it says of itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.clock import START
from tests.simulators.desk import Desk, ScriptedMaker, make_brand

from lamplighter.engine.job import Outcome, RunReport, check_report
from lamplighter.engine.supervisor import Run
from lamplighter.errors import (
    ConfigError,
    DiskError,
    FailureClass,
    Fenced,
    InputError,
    LamplighterError,
    LockUnusable,
    UpstreamError,
)
from lamplighter.featurepost.brandstate import LONGEST_SKIP, BrandState, SkippedBrand
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.feature import Feature
from lamplighter.featurepost.generate import Generator, decide_order, read_level
from lamplighter.featurepost.settings import GenerateSettings
from lamplighter.featurepost.shop import RateLimited
from lamplighter.featurepost.stock import Place, Reason
from lamplighter.publish.publisher import Receipt

DOWN = UpstreamError("shop", "503")
DAY = timedelta(days=1)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty stock."""
    return Desk.open(tmp_path)


def generator(
    desk: Desk,
    maker: ScriptedMaker,
    *slugs: str,
    named: bool = False,
    review: bool = False,
    target: int = 3,
    max_per_run: int = 2,
) -> Generator:
    """Return a generator for brands of these names."""
    return Generator(
        brands=tuple(make_brand(slug) for slug in slugs),
        stock=desk.stock,
        index=desk.index,
        states=desk.states,
        maker=maker,
        clock=desk.clock,
        settings=GenerateSettings(target=target, max_per_run=max_per_run, review=review),
        went_out=desk.journal.went_out,
        named=named,
    )


def work(
    desk: Desk,
    maker: ScriptedMaker,
    *slugs: str,
    force: bool = False,
    named: bool = False,
    target: int = 3,
    max_per_run: int = 2,
) -> RunReport:
    """Run once; every report must stand before the supervisor."""
    job = generator(desk, maker, *slugs, named=named, target=target, max_per_run=max_per_run)
    report = job.work(desk.run(), force=force)
    assert check_report(report) == report
    return report


def endless(*slugs: str, error: LamplighterError = DOWN) -> dict[str, list[LamplighterError | None]]:
    """Return a script in which brands always fail."""
    return {slug: [error] * 50 for slug in slugs}


def test_the_stock_is_filled_in_runs_of_at_most_two(desk: Desk) -> None:
    """Two, one, and then nothing is needed, with the evidence."""
    maker = ScriptedMaker(desk)
    first, second, third = (work(desk, maker, "a", "b") for _ in range(3))
    assert (first.outcome, first.line) == (Outcome.PRODUCED, "made 2 of 2, 2 attempts, 2 of 3 in stock")
    assert first.outputs == ("feature-0001-a", "feature-0002-b")
    assert (second.outcome, second.line) == (Outcome.PRODUCED, "made 1 of 1, 1 attempt, 3 of 3 in stock")
    assert (third.outcome, third.line, third.exit_code) == (Outcome.NOTHING_NEEDED, "the stock is full: 3 of 3", 0)
    assert {fact.name: fact.value for fact in third.evidence} == {
        "stock": "3 of 3",
        "counted": "feature-0001-a, feature-0002-b, feature-0003-a",
    }
    assert desk.said[-1] == "feature-0003-a: ready: Quiet things"


@pytest.mark.parametrize(("target", "most", "made"), [(1, 2, 1), (5, 2, 2), (5, 20, 5), (1, 1, 1)])
def test_a_run_makes_the_smaller_of_what_is_missing_and_allowed(desk: Desk, target: int, most: int, made: int) -> None:
    """The rest is another run's."""
    report = work(desk, ScriptedMaker(desk), "a", target=target, max_per_run=most)
    assert (report.outcome, len(report.outputs)) == (Outcome.PRODUCED, made)


def test_force_makes_one_whatever_the_stock(desk: Desk) -> None:
    """By the same path, and it says so."""
    for _ in range(3):
        desk.put("a")
    report = work(desk, ScriptedMaker(desk), "a", force=True)
    assert (report.outcome, report.flags, report.line) == (
        Outcome.PRODUCED, ("forced",), "made 1 of 1, 1 attempt, 4 of 3 in stock"
    )  # fmt: skip


def test_force_makes_only_one_on_an_empty_stock(desk: Desk) -> None:
    """It asks for one."""
    assert len(work(desk, ScriptedMaker(desk), "a", force=True).outputs) == 1


def test_the_brand_that_was_longest_not_featured_comes_first(desk: Desk) -> None:
    """One never featured before all others, then in the catalog's order."""
    for slug in ("a", "b", "c", "a"):
        desk.stock.drop(desk.put(slug))
    maker = ScriptedMaker(desk)
    work(desk, maker, "a", "b", "c", "d", "e", target=9, max_per_run=9)
    assert maker.tried == ["d", "e", "b", "c", "a", "d", "e", "b", "c"]


def test_a_brand_that_failed_is_not_tried_again_in_the_run(desk: Desk) -> None:
    """The others fill its place."""
    maker = ScriptedMaker(desk, endless("a"))
    report = work(desk, maker, "a", "b", "c")
    assert (report.outcome, maker.tried) == (Outcome.PRODUCED, ["a", "b", "c"])
    assert report.line == "made 2 of 2, 3 attempts, 2 of 3 in stock"


def test_a_brand_that_succeeded_comes_again_only_when_no_other_is_left(desk: Desk) -> None:
    """Also when it is the one that was longest not featured."""
    maker = ScriptedMaker(desk, endless("b"))
    report = work(desk, maker, "a", "b")
    assert (report.outcome, maker.tried) == (Outcome.PRODUCED, ["a", "b", "a"])


def test_a_single_brand_fills_the_stock_alone(desk: Desk) -> None:
    """One shop is enough."""
    maker = ScriptedMaker(desk)
    assert len(work(desk, maker, "a").outputs) == 2
    assert maker.tried == ["a", "a"]


def test_a_run_gives_up_after_three_more_attempts_than_are_missing(desk: Desk) -> None:
    """Need is what the stock lacks, not what this run may make."""
    slugs = [f"b{number}" for number in range(20)]
    maker = ScriptedMaker(desk, endless(*slugs))
    report = work(desk, maker, *slugs)
    assert len(maker.tried) == len(set(maker.tried)) == 6
    assert (report.outcome, report.failure, report.exit_code) == (Outcome.FAILED, FailureClass.UPSTREAM, 69)
    assert report.line.startswith("made 0 of 2, 6 attempts, 0 of 3 in stock: brand b0: slides: shop: 503; brand b1")


def test_one_made_of_two_is_partial_and_says_why(desk: Desk) -> None:
    """Exit 0, since something came of it."""
    report = work(desk, ScriptedMaker(desk, {"a": [None, DOWN]}), "a")
    assert (report.outcome, report.exit_code, report.outputs) == (Outcome.PARTIAL, 0, ("feature-0001-a",))
    assert report.line == "made 1 of 2, 2 attempts, 1 of 3 in stock: brand a: slides: shop: 503"


def test_drafts_keep_what_failed_and_why(desk: Desk) -> None:
    """And never count as stock."""
    work(desk, ScriptedMaker(desk, endless("a")), "a")
    (draft,) = desk.stock.items(Place.DRAFT)
    failure = desk.stock.failure(draft)
    assert failure is not None
    assert (failure.step, failure.message, failure.run) == ("slides", "shop: 503", 1)
    assert read_level(desk.stock, 3, desk.journal.went_out).have == 0


def test_all_refused_by_the_gate_is_rejected(desk: Desk) -> None:
    """Exit 76, with the first causes."""
    maker = ScriptedMaker(desk, endless("a", "b", error=InputError("quality gate", "a number nobody knows")))
    maker.by_gate = True
    report = work(desk, maker, "a", "b")
    assert (report.outcome, report.exit_code) == (Outcome.REJECTED, 76)
    assert "a number nobody knows" in report.line


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (UpstreamError("shop", "503"), FailureClass.UPSTREAM),
        (ConfigError("template x", "unknown"), FailureClass.CONFIG),
        (InputError("file", "missing"), FailureClass.INPUT),
    ],
)
def test_the_first_cause_that_is_not_the_gates_decides_how_it_failed(
    desk: Desk, error: LamplighterError, failure: FailureClass
) -> None:
    """The exit code says whose part it was."""
    report = work(desk, ScriptedMaker(desk, endless("a", error=error)), "a")
    assert (report.outcome, report.failure, report.exit_code) == (Outcome.FAILED, failure, failure.value)


@pytest.mark.parametrize("error", [DiskError("disk", "full"), Fenced("lock"), LockUnusable("lock", "gone")])
def test_an_error_that_is_not_the_brands_stops_the_run_at_once(desk: Desk, error: LamplighterError) -> None:
    """No other brand would fare better, and no brand is blamed."""
    maker = ScriptedMaker(desk, {"a": [error], "b": [error]})
    report = work(desk, maker, "a", "b", "c")
    assert maker.tried == ["a"]
    assert (report.outcome, report.failure) == (Outcome.FAILED, error.failure)
    assert desk.states.read("a", now=START) == BrandState()


def test_a_disk_that_fills_up_after_a_brands_failure_is_what_is_reported(desk: Desk) -> None:
    """The last error ended the run."""
    maker = ScriptedMaker(desk, {"a": [DOWN], "b": [DiskError("disk", "full")]})
    assert work(desk, maker, "a", "b", "c").failure is FailureClass.DISK


def test_a_disk_that_fills_up_after_one_was_made_is_partial(desk: Desk) -> None:
    """What was made is there."""
    report = work(desk, ScriptedMaker(desk, {"b": [DiskError("disk", "full")]}), "a", "b")
    assert (report.outcome, report.outputs) == (Outcome.PARTIAL, ("feature-0001-a",))
    assert "disk: full" in report.line


def test_three_runs_that_failed_rest_a_brand_for_a_day(desk: Desk) -> None:
    """Then every brand is skipped, which is a limit that ends: cooldown, exit 75."""
    maker = ScriptedMaker(desk, endless("a"))
    for _ in range(3):
        assert work(desk, maker, "a").outcome is Outcome.FAILED
    report = work(desk, maker, "a")
    assert (report.outcome, report.exit_code, len(maker.tried)) == (Outcome.COOLDOWN, 75, 3)
    assert "every brand is skipped: a until 2026-05-05 12:00 UTC (failed 3 times in a row: shop: 503)" in report.line
    desk.clock.advance(DAY)
    assert work(desk, ScriptedMaker(desk), "a").outcome is Outcome.PRODUCED
    assert desk.states.read("a", now=desk.clock.now()) == BrandState()


def limited(until: datetime) -> RateLimited:
    """Return the error of a shop that asks for a pause."""
    return RateLimited("shop", "a pause (429)", until=until, wait=None)


def test_a_run_that_met_only_limits_is_a_cooldown_until_the_first_of_them_ends(desk: Desk) -> None:
    """Exit 75, and the brands are left out until then without being blamed."""
    script: dict[str, list[LamplighterError | None]] = {
        "a": [limited(START + 2 * DAY)], "b": [limited(START + DAY)]
    }  # fmt: skip
    maker = ScriptedMaker(desk, script)
    report = work(desk, maker, "a", "b")
    assert (report.outcome, report.failure, report.exit_code) == (Outcome.COOLDOWN, None, 75)
    assert "0 of 3 in stock: nothing can be made until 2026-05-05 12:00 UTC: brand a: slides: shop: a pause" in (
        report.line
    )
    state = desk.states.read("a", now=START)
    assert (state.skip_until, state.skip_reason, state.failures) == (START + 2 * DAY, "shop: a pause (429)", 0)
    assert work(desk, maker, "a", "b").outcome is Outcome.COOLDOWN
    assert maker.tried == ["a", "b"]
    desk.clock.advance(DAY)
    assert work(desk, maker, "a", "b").outputs == ("feature-0003-b", "feature-0004-b")


def test_a_brand_that_is_open_sooner_ends_the_cooldown(desk: Desk) -> None:
    """Also when it is another's skip that ends."""
    desk.states.skip("b", until=START + DAY / 2, reason="lunch")
    report = work(desk, ScriptedMaker(desk, {"a": [limited(START + DAY)]}), "a", "b")
    assert "until 2026-05-05 00:00 UTC" in report.line


def test_no_limit_leaves_a_brand_out_for_ever(desk: Desk) -> None:
    """At most as long as a person could, and a person's longer skip stays as it is."""
    work(desk, ScriptedMaker(desk, {"a": [limited(START + 9_999 * DAY)]}), "a")
    assert desk.states.read("a", now=START).skip_until == START + LONGEST_SKIP
    desk.states.skip("b", until=START + 30 * DAY, reason="holiday")
    work(desk, ScriptedMaker(desk, {"b": [limited(START + DAY)]}), "b", named=True)
    assert desk.states.read("b", now=START).skip_reason == "holiday"


def test_a_failure_beside_a_limit_is_what_is_reported(desk: Desk) -> None:
    """It needs somebody; the limit ends by itself."""
    script: dict[str, list[LamplighterError | None]] = {"a": [limited(START + DAY)], "b": [ConfigError("b", "wrong")]}
    report = work(desk, ScriptedMaker(desk, script), "a", "b")
    assert (report.outcome, report.failure) == (Outcome.FAILED, FailureClass.CONFIG)


def test_a_limit_after_one_was_made_is_partial(desk: Desk) -> None:
    """What was made is there."""
    report = work(desk, ScriptedMaker(desk, {"b": [limited(START + DAY)], "a": [None, DOWN]}), "a", "b")
    assert (report.outcome, report.outputs) == (Outcome.PARTIAL, ("feature-0001-a",))


BREAK_STATES = "CREATE TRIGGER full BEFORE UPDATE ON brand BEGIN SELECT RAISE(FAIL, 'disk is full'); END"


class BreakingMaker(ScriptedMaker):
    """Breaks the database just after the first feature was made."""

    def __init__(self, desk: Desk, statement: str) -> None:
        super().__init__(desk)
        self._broken = desk
        self._statement = statement

    def make(self, brand: Brand, run: Run) -> Feature:
        """Make one, then break."""
        feature = super().make(brand, run)
        if self.tried == [brand.slug]:
            self._broken.database.change(self._statement)
        return feature


@pytest.mark.parametrize(
    ("statement", "most", "outcome"),
    [
        (BREAK_STATES, 1, Outcome.PRODUCED),
        (BREAK_STATES, 2, Outcome.PARTIAL),
        ("DROP TABLE brand", 2, Outcome.PARTIAL),
        ("DROP TABLE feature", 1, Outcome.PRODUCED),
        ("DROP TABLE feature", 2, Outcome.PARTIAL),
        ("DROP TABLE post", 1, Outcome.PRODUCED),
        ("DROP TABLE post", 2, Outcome.PRODUCED),
    ],
)
def test_what_was_made_counts_whatever_becomes_of_the_database(
    desk: Desk, statement: str, most: int, outcome: Outcome
) -> None:
    """A ready folder is there: the run names it, says what could not be noted, and tries no further without it."""
    desk.states.skip("a", until=START, reason="over")
    report = work(desk, BreakingMaker(desk, statement), "a", max_per_run=most)
    assert report.outcome is outcome
    assert [item.id for item in desk.stock.ready()] == list(report.outputs)
    assert f"{len(report.outputs)} of 3 in stock" in report.line
    assert report.evidence[1].value == ", ".join(report.outputs)


def test_a_database_that_fails_before_anything_was_made_is_a_failed_run(desk: Desk) -> None:
    """There is no output to be lost."""
    desk.states.skip("a", until=START, reason="over")
    desk.database.change(BREAK_STATES)
    with pytest.raises(DiskError, match="disk is full"):
        work(desk, ScriptedMaker(desk, endless("a")), "a")


def test_a_skipped_brand_is_left_out(desk: Desk) -> None:
    """Until its skip ends."""
    desk.states.skip("a", until=START + DAY, reason="holiday")
    maker = ScriptedMaker(desk)
    work(desk, maker, "a", "b")
    assert maker.tried == ["b", "b"]
    desk.clock.advance(DAY)
    work(desk, maker, "a", "b")
    assert maker.tried[2:] == ["a"]


def test_a_brand_that_a_person_names_is_tried_though_it_is_skipped(desk: Desk) -> None:
    """The person knows better."""
    desk.states.skip("a", until=START + DAY, reason="holiday")
    maker = ScriptedMaker(desk)
    assert work(desk, maker, "a", named=True).outcome is Outcome.PRODUCED
    assert maker.tried == ["a", "a"]


def test_a_ready_folder_that_cannot_be_read_does_not_count_and_is_said(desk: Desk) -> None:
    """It is replaced, and a person hears of it."""
    items = [desk.put("a") for _ in range(3)]
    (items[1].folder / "slide-1.jpg").unlink()
    report = work(desk, ScriptedMaker(desk), "a")
    assert (report.outcome, len(report.outputs)) == (Outcome.PRODUCED, 1)
    assert desk.said[0] == "does not count as stock: feature-0002-a: slide-1.jpg is missing"


def test_features_that_wait_for_review_count_and_held_ones_do_not(desk: Desk) -> None:
    """A person who is slow to approve does not get ten more; a person's hold makes room."""
    review, hold = (Reason(kind=kind, text="x", at=START) for kind in ("review", "hold"))
    desk.put("a", hold=review)
    desk.put("a", hold=hold)
    desk.stock.move_to_posted(desk.put("a"))
    desk.stock.new_draft("a")
    level = read_level(desk.stock, 3, desk.journal.went_out)
    assert (level.ready, level.waiting, level.have) == ((), ("feature-0001-a",), 1)
    assert level.evidence[1].value == "feature-0001-a (review)"


def test_a_feature_for_review_that_cannot_be_read_does_not_count(desk: Desk) -> None:
    """Else a broken folder would keep the stock full for ever."""
    item = desk.put("a", hold=Reason(kind="review", text="x", at=START))
    (item.folder / "feature.json").write_text("{")
    level = read_level(desk.stock, 3, desk.journal.went_out)
    assert (level.have, len(level.troubles)) == (0, 1)


def test_a_posted_feature_that_a_person_moved_back_does_not_count(desk: Desk) -> None:
    """It can't be posted again, so it must not keep the stock full."""
    item = desk.put("a")
    desk.journal.claim("2026-11-29-1930", item.id, generation=1, run=1)
    receipt = Receipt(id="x", location="x", published_at=START)
    assert read_level(desk.stock, 3, desk.journal.went_out).have == 1
    desk.journal.published("2026-11-29-1930", receipt, generation=1)
    level = read_level(desk.stock, 3, desk.journal.went_out)
    assert (level.have, level.troubles) == (0, ("feature-0001-a went out already",))


def test_what_a_killed_writer_left_beside_the_features_is_swept(desk: Desk) -> None:
    """The lock is held, so nobody is writing it."""
    desk.put("a")
    (desk.sns / ".tmp-.highest-number.4711").write_text("2")
    work(desk, ScriptedMaker(desk), "a", target=1)
    assert list(desk.sns.glob(".tmp-*")) == []


def test_a_feature_made_for_review_is_not_called_ready(desk: Desk) -> None:
    """The line says what it waits for."""
    generator(desk, ScriptedMaker(desk), "a", review=True).work(desk.run(), force=True)
    assert desk.said == ["feature-0001-a: waits for review: Quiet things"]


def test_what_an_earlier_run_left_half_made_is_kept_and_said(desk: Desk) -> None:
    """Once: the next run finds it marked."""
    desk.stock.new_draft("a")
    work(desk, ScriptedMaker(desk), "a")
    assert desk.said[0] == "_draft-feature-0001-a was left half-made by an earlier run and is kept as a draft"
    failure = desk.stock.failure(desk.stock.items(Place.DRAFT)[0])
    assert failure is not None
    assert failure.step == "interrupted"
    desk.said.clear()
    work(desk, ScriptedMaker(desk), "a")
    assert not any("half-made" in line for line in desk.said)


def test_old_drafts_are_removed_and_said(desk: Desk) -> None:
    """After thirty days, also when the stock is full."""
    for _ in range(3):
        desk.put("a")
    draft = desk.stock.new_draft("a")
    desk.clock.jump(START.replace(year=2099))
    report = work(desk, ScriptedMaker(desk), "a")
    assert report.outcome is Outcome.NOTHING_NEEDED
    assert f"{draft.folder.name} was an old draft and is removed" in desk.said


def test_what_a_person_put_in_counts_for_the_order_too(desk: Desk) -> None:
    """The database is only an index of the folders."""
    desk.put("a")
    maker = ScriptedMaker(again := desk.forget())
    work(again, maker, "a", "b")
    assert maker.tried == ["b", "a"]


def test_a_dry_run_says_what_would_be_done_and_touches_nothing(desk: Desk) -> None:
    """Not even half-made drafts."""
    desk.states.skip("b", until=START + DAY, reason="holiday")
    desk.put("a")
    desk.stock.new_draft("a")
    before = sorted(str(path) for path in desk.folder.rglob("*"))
    plan = generator(desk, ScriptedMaker(desk), "a", "b", "c").plan(force=False)
    assert (plan.wanted, plan.attempts, plan.brands, plan.level.have) == (2, 5, ("c", "a"), 1)
    assert plan.skipped == (SkippedBrand(slug="b", until=START + DAY, reason="holiday"),)
    assert sorted(str(path) for path in desk.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("stock", "force", "wanted", "attempts"),
    [(0, False, 2, 6), (2, False, 1, 4), (3, False, 0, 3), (3, True, 1, 4), (9, True, 1, 4), (0, True, 1, 6)],
)
def test_a_plan_counts_attempts_by_what_is_missing(
    desk: Desk, stock: int, *, force: bool, wanted: int, attempts: int
) -> None:
    """Three more than that, or than the one that was forced."""
    for _ in range(stock):
        desk.put("a")
    plan = generator(desk, ScriptedMaker(desk), "a").plan(force=force)
    assert (plan.wanted, plan.attempts) == (wanted, attempts)


@given(
    st.lists(st.sampled_from("abcdef"), unique=True, min_size=1),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)),
    st.frozensets(st.sampled_from("abcdef")),
    st.frozensets(st.sampled_from("abcdef")),
    st.frozensets(st.sampled_from("abcdef")),
)
@settings(max_examples=200, deadline=None)
def test_the_order_leaves_out_failed_and_skipped_and_puts_served_last(
    slugs: list[str],
    featured: dict[str, int],
    skipped: frozenset[str],
    failed: frozenset[str],
    served: frozenset[str],
) -> None:
    """For every combination."""
    brands = tuple(make_brand(slug) for slug in slugs)
    states = {slug: BrandState(skip_until=START if slug in skipped else None) for slug in slugs}
    order = [brand.slug for brand in decide_order(brands, featured, states, failed, served)]
    assert set(order) == set(slugs) - skipped - failed
    ranks = [(slug in served, featured.get(slug, 0), slugs.index(slug)) for slug in order]
    assert ranks == sorted(ranks)


def rename(folder: Path) -> None:
    """Give a folder another name."""
    folder.rename(folder.with_name("kept"))


@pytest.mark.parametrize("spoil", [shutil.rmtree, rename])
def test_a_feature_that_a_person_takes_away_is_made_anew(desk: Desk, spoil: Callable[[Path], None]) -> None:
    """The folders are the truth of the stock."""
    for _ in range(3):
        desk.put("a")
    spoil(desk.stock.ready()[0].folder)
    assert len(work(desk, ScriptedMaker(desk), "a").outputs) == 1
