"""Time: the machine's clock, the virtual one, boot and zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock

from lamplighter.host.clock import Clock, SystemClock, read_zone_name


@pytest.mark.parametrize("clock", [SystemClock(), VirtualClock()], ids=["system", "virtual"])
def test_a_clock_tells_aware_utc(clock: Clock) -> None:
    """Every instant carries UTC."""
    assert clock.now().tzinfo is UTC


@pytest.mark.parametrize("clock", [SystemClock(), VirtualClock()], ids=["system", "virtual"])
def test_waiting_takes_at_least_as_long_as_asked(clock: Clock) -> None:
    """The steady clock has moved on by what was waited for."""
    before = clock.monotonic()
    clock.wait(timedelta(milliseconds=3))
    assert clock.monotonic() - before >= timedelta(milliseconds=3)


@pytest.mark.parametrize("clock", [SystemClock(), VirtualClock()], ids=["system", "virtual"])
def test_waiting_for_a_past_time_returns_at_once(clock: Clock) -> None:
    """A negative duration is no error and no wait."""
    before = clock.monotonic()
    clock.wait(timedelta(seconds=-5))
    assert timedelta() <= clock.monotonic() - before < timedelta(seconds=2)


def test_a_year_of_the_virtual_clock_passes_at_once() -> None:
    """Waiting moves both clocks and is remembered."""
    clock = VirtualClock()
    clock.wait(timedelta(days=365))
    assert clock.now() == START + timedelta(days=365)
    assert clock.monotonic() == timedelta(days=365)
    assert clock.waits == [timedelta(days=365)]


def test_a_jump_of_the_virtual_wall_clock_leaves_the_steady_one() -> None:
    """A clock that is set back does not make time run backwards."""
    clock = VirtualClock()
    clock.advance(timedelta(hours=1))
    clock.jump(datetime(2020, 1, 1, tzinfo=UTC))
    assert clock.now() == datetime(2020, 1, 1, tzinfo=UTC)
    assert clock.monotonic() == timedelta(hours=1)


@pytest.mark.parametrize("value", ["Asia/Tokyo", ":Asia/Tokyo"])
def test_the_zone_is_what_tz_says(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TZ goes before the machine's own setting, with or without its colon."""
    monkeypatch.setenv("TZ", value)
    assert read_zone_name() == "Asia/Tokyo"


@pytest.mark.parametrize("value", ["", "CET-1CEST", "Europe", "/etc/localtime", "../../etc/passwd", "No/Such"])
def test_a_tz_that_names_no_zone_is_passed_over(value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The link /etc/localtime tells where TZ does not."""
    monkeypatch.setenv("TZ", value)
    link = tmp_path / "localtime"
    link.symlink_to("../usr/share/zoneinfo/Europe/Berlin")
    assert read_zone_name(link) == "Europe/Berlin"


def test_a_machine_that_names_no_zone_is_in_utc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither TZ nor a link: UTC."""
    monkeypatch.delenv("TZ")
    file = tmp_path / "localtime"
    file.write_bytes(b"TZif2")
    assert read_zone_name(file) == read_zone_name(tmp_path / "missing") == "UTC"
