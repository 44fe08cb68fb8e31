"""What work needs of the machine: the network, and that it stays awake."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import VirtualClock

from lamplighter.app.attending import attended
from lamplighter.app.needing import list_hosts
from lamplighter.config.settings import read_settings
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.lock import Terms
from lamplighter.engine.supervisor import Run
from lamplighter.host.online import PATIENCE, Host

SHOP = Host(name="shop.example")


class Trial:
    """One run of attended work, and what happened on the way."""

    def __init__(self, *, scheduled: bool, hosts: Sequence[Host] | None, answers: Sequence[bool]) -> None:
        """Do it."""
        self.clock = VirtualClock()
        self.said: list[str] = []
        self.looked: list[Sequence[Host]] = []
        found = iter(answers)

        def look(hosts: Sequence[Host]) -> bool:
            self.looked.append(hosts)
            return next(found, False)

        work, self.terms = attended(
            lambda _: RunReport(outcome=Outcome.COMPLETED, line=f"after {self.clock.monotonic().total_seconds():g} s"),
            Terms(limit=timedelta(minutes=10)),
            job="generate",
            scheduled=scheduled,
            clock=self.clock,
            hosts=lambda: hosts,
            look=look,
            guard=(),
        )
        self.report = work(Run(number=1, generation=1, check=lambda: None, say=self.said.append))


def test_with_the_network_there_the_work_begins_at_once() -> None:
    """And nothing is said."""
    trial = Trial(scheduled=True, hosts=(SHOP,), answers=(True,))
    assert (trial.report.line, trial.said, trial.looked) == ("after 0 s", [], [(SHOP,)])


def test_a_network_that_is_late_is_waited_for() -> None:
    """As after a wake: said in the log, before and after."""
    trial = Trial(scheduled=True, hosts=(SHOP,), answers=(False, False, True))
    assert trial.report.line == "after 10 s"
    assert trial.said == [
        "no network yet (shop.example): waiting up to 180 s",
        "the network is there after 10 s",
    ]


def test_without_a_network_the_work_begins_after_three_minutes_all_the_same() -> None:
    """It says itself what it could not do, and its own time is not shortened by the wait."""
    trial = Trial(scheduled=True, hosts=(), answers=())
    assert trial.report.line == "after 180 s"
    assert trial.said[-1] == "there is still no network; the work begins all the same"
    assert trial.terms.limit == timedelta(minutes=10) + PATIENCE


@pytest.mark.parametrize(("scheduled", "hosts"), [(False, (SHOP,)), (True, None)])
def test_a_person_and_work_without_network_wait_for_nothing(scheduled: bool, hosts: Sequence[Host] | None) -> None:
    """A person sees what is wrong at once."""
    trial = Trial(scheduled=scheduled, hosts=hosts, answers=())
    assert (trial.report.line, trial.looked) == ("after 0 s", [])


def test_the_guard_holds_for_as_long_as_the_work_and_no_longer(tmp_path: Path) -> None:
    """A process of its own, seen while the work is done, gone afterwards."""
    mark = tmp_path / "awake"
    code = "import pathlib,sys; p=pathlib.Path(sys.argv[1]); p.touch(); sys.stdin.read(); p.unlink()"
    clock = VirtualClock()

    def work(_: Run) -> RunReport:
        waited = 0
        while not mark.exists() and waited < 1000:
            waited += 1
            import time  # noqa: PLC0415 - a real process

            time.sleep(0.01)
        return RunReport(outcome=Outcome.COMPLETED, line=str(mark.exists()))

    guarded, _ = attended(
        work,
        Terms(),
        job="generate",
        scheduled=False,
        clock=clock,
        hosts=lambda: None,
        guard=(sys.executable, "-c", code, str(mark)),
    )
    assert guarded(Run(number=1, generation=1, check=lambda: None, say=lambda _: None)).line == "True"


def test_generate_needs_the_shops_of_the_catalog_and_post_needs_none(tmp_path: Path) -> None:
    """Folders are no shops of the network; a broken catalog is said by the work itself."""
    (tmp_path / "lamplighter.toml").write_text("")
    settings = read_settings(tmp_path)
    catalog = tmp_path / "brand-catalog.json"
    brand = '{"slug": "%s", "name": "A", "shop": "%s", "handle": "@a", "language": "en", "permission": "own"}'
    shops = ("https://a.example", "http://127.0.0.1:8080", "file:shop/x", "https://a.example/x")
    catalog.write_text('{"brands": [%s]}' % ",".join(brand % (f"s{n}", shop) for n, shop in enumerate(shops)))  # noqa: UP031
    found = list_hosts("generate", settings)
    assert found == (Host(name="a.example"), Host(name="127.0.0.1", port=8080))
    assert list_hosts("post", settings) is None
    catalog.write_text("{")
    assert list_hosts("generate", settings) is None
