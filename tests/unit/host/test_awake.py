"""Sleep: how long the machine has slept, what a Mac's log tells, and who holds it off."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

import pytest

from lamplighter.errors import UpstreamError
from lamplighter.host.awake import Sleep, choose_guard, holding_awake, parse_power_log, read_sleeps
from lamplighter.host.process import Command, Ending, Finished
from lamplighter.host.slept import read_slept

LOG = """Time stamp                Domain          \tMessage
2026-09-26 22:07:00 -0700 Assertions          \tPID 1(x) Created PreventUserIdleSystemSleep "caffeinate"
2026-09-26 22:29:58 -0700 Sleep               \tEntering Sleep state due to 'Clamshell Sleep':TCPKeepAlive=active
2026-09-26 22:30:29 -0700 DarkWake            \tDarkWake from Deep Idle [CDN] : due to smc.sysState.Wake
2026-09-26 22:31:14 -0700 Sleep               \tEntering Sleep state due to 'Maintenance Sleep'
2026-09-26 23:40:00 -0700 Wake                \tDarkWake to FullWake from Deep Idle [CDNVA]
  continuation line without a timestamp
2026-09-27 08:00:00 -0700 Wake                \tWake from Deep Idle
2026-09-27 23:00:00 -0700 Sleep               \tEntering Sleep state due to 'Idle Sleep'
"""


def test_a_macs_log_tells_its_sleeps() -> None:
    """As pmset -g log was recorded: a dark wake, in which nothing of ours runs, ends none; the last may still last."""
    assert parse_power_log(LOG) == (
        Sleep(
            begin_at=datetime(2026, 9, 27, 5, 29, 58, tzinfo=UTC),
            end_at=datetime(2026, 9, 27, 6, 40, tzinfo=UTC),
        ),
        Sleep(begin_at=datetime(2026, 9, 28, 6, 0, tzinfo=UTC), end_at=None),
    )
    assert parse_power_log("") == ()


def test_only_a_mac_is_asked_for_its_log() -> None:
    """By pmset; one that does not answer says nothing."""
    asked: list[tuple[str, ...]] = []

    class Log:
        def run(self, command: Command) -> Finished:
            asked.append(command.argv)
            if len(asked) > 1:
                raise UpstreamError("pmset")
            return Finished(ending=Ending.EXITED, code=0, seconds=0, stdout=LOG.encode(), stderr=b"")

    assert len(read_sleeps(Log(), is_mac=True)) == 2
    assert read_sleeps(Log(), is_mac=True) == read_sleeps(Log(), is_mac=False) == ()
    assert asked == [("pmset", "-g", "log")] * 2


def test_this_machine_says_how_long_it_slept() -> None:
    """Never less than nothing."""
    assert read_slept() >= timedelta()


@pytest.mark.parametrize(
    ("is_mac", "has_bus", "program"),
    [(True, False, "caffeinate"), (False, True, "systemd-inhibit"), (False, False, "")],
)
def test_each_system_has_its_guard(is_mac: bool, has_bus: bool, program: str) -> None:
    """Where systemd's bus is not there, nothing is started for nothing."""
    argv = choose_guard(42, why="generate is at work", is_mac=is_mac, has_bus=has_bus)
    assert argv[:1] == ((program,) if program else ())
    if is_mac:
        assert argv == ("caffeinate", "-i", "-w", "42")


@pytest.mark.parametrize("guard", [(), ("no-such-program-here",)])
def test_a_missing_guard_is_no_failure(guard: tuple[str, ...]) -> None:
    """The work is done all the same."""
    with holding_awake("x", guard) as held:
        assert held is False


def test_a_guard_that_refuses_or_does_not_end_is_no_failure() -> None:
    """One that exits at once, and one that is deaf to the end of its input."""
    with holding_awake("x", (sys.executable, "-c", "raise SystemExit(1)")) as held:
        assert held is True
    with holding_awake("x", (sys.executable, "-c", "import time; time.sleep(60)")) as held:
        assert held is True
