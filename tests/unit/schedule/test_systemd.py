"""Units by systemd's man pages, and what systemctl says of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.schedule.entries import GENERATE, WATCH

from lamplighter.schedule.systemd import (
    find_edits,
    is_label,
    list_calendars,
    parse_argv,
    parse_calendar,
    parse_ended,
    parse_show,
    render_service,
    render_timer,
)

SERVICE = """[Unit]
Description=lamplighter generate of /home/me/my brand
OnFailure=dev.lamplighter.brand-0a1b2c3d.watch.service

[Service]
Type=oneshot
ExecStart="/v/bin/python" "-P" "-m" "lamplighter" "run" "generate" "--scheduled" "--workspace" "/home/me/my brand"
ExecStopPost=-/bin/sh -c 'echo "$$SERVICE_RESULT $$EXIT_CODE $$EXIT_STATUS" > "$$0"' "/home/me/my brand/state/schedule/boot-generate.ended"
WorkingDirectory=/home/me/my brand
Environment="PATH=/v/bin:/usr/bin" "LANG=en_US.UTF-8" "PYTHONUNBUFFERED=1"
StandardInput=null
TimeoutStartSec=2400
TimeoutStopSec=60
KillMode=mixed
OOMPolicy=stop
SuccessExitStatus=75
UMask=0077
"""  # noqa: E501 - a unit's lines are as long as they are
TIMER = """[Unit]
Description=when lamplighter generate of /home/me/my brand may be due

[Timer]
OnCalendar=*-*-* 06,12,18:00:00
Persistent=true
AccuracySec=1min
RandomizedDelaySec=90
FixedRandomDelay=true
Unit=dev.lamplighter.brand-0a1b2c3d.generate.service

[Install]
WantedBy=timers.target
"""


def test_a_service_and_its_timer_are_exactly_these() -> None:
    """No shell but for the last word, no secret, no RuntimeMaxSec, no condition; its limit and ten minutes."""
    assert render_service(GENERATE).partition("\n")[2] == SERVICE
    assert render_timer(GENERATE).partition("\n")[2] == TIMER


def test_the_watcher_calls_nobody_and_its_verdicts_are_no_failures() -> None:
    """Else one that finds something missing would start itself again and again."""
    service = render_service(WATCH)
    assert "OnFailure" not in service
    assert "SuccessExitStatus=75 2 3\n" in service
    assert list(list_calendars(WATCH.minutes)) == ["*-*-* *:00,05,10,15,20,25,30,35,40,45,50,55:00"]


def test_a_job_without_a_limit_is_never_ended_by_systemd() -> None:
    """A default of ours kills nothing."""
    assert "TimeoutStartSec=infinity\n" in render_service(replace(GENERATE, limit=None))


def test_odd_letters_in_paths_stay_what_they_are() -> None:
    """Percent, dollar, quote and backslash are systemd's own words otherwise."""
    odd = replace(GENERATE, argv=("/v/bin/python", "--workspace", '/a 100%/$HOME/"q"\\b'), folder=Path("/a 100%"))
    service = render_service(odd)
    assert parse_argv(service) == odd.argv
    assert "WorkingDirectory=/a 100%%\n" in service
    assert '"/a 100%%/$$HOME/\\"q\\"\\\\b"' in service


def test_an_edit_is_named_by_section_and_key() -> None:
    """Another value, a key that is gone, one that was added; comments, blanks and order of sections are none."""
    wanted = render_timer(GENERATE)
    edited = wanted.replace("Persistent=true", "Persistent=false").replace("AccuracySec=1min\n", "OnBootSec=5\n")
    assert find_edits(wanted, edited) == ("Timer.Persistent", "Timer.AccuracySec", "Timer.OnBootSec")
    assert find_edits(wanted, f"; mine\n\n{wanted}# x\n") == ()
    assert find_edits(wanted, "")[0] == "Unit.Description"


def test_units_are_read_as_systemctl_shows_them() -> None:
    """One block a unit, an equals sign in a value included."""
    text = """Id=a.timer
LoadState=loaded
ActiveState=active
UnitFileState=enabled
FragmentPath=/home/me/.config/systemd/user/a.timer
NeedDaemonReload=no
DropInPaths=
NextElapseUSecRealtime=Mon 2026-11-30 19:30:34 UTC

Id=b.service
LoadState=not-found
ActiveState=inactive
Result=exit-code
ExecMainCode=1
ExecMainStatus=203
NeedDaemonReload=yes
DropInPaths=/x=y.conf
"""
    found = parse_show(text)
    timer, service = found["a.timer"], found["b.service"]
    assert (timer.is_loaded, timer.is_active, timer.enabled, timer.needs_reload) == (True, True, "enabled", False)
    assert (service.is_loaded, service.is_active, service.needs_reload) == (False, False, True)
    assert (service.result, service.status, service.drop_ins) == ("exit-code", "203", "/x=y.conf")
    assert parse_show("") == {}


@pytest.mark.parametrize(
    ("text", "words", "failed"),
    [
        ("success exited 0\n", "exit 0", False),
        ("success exited 75\n", "exit 75", False),
        ("exit-code exited 66\n", "exit 66", False),
        ("exit-code exited 203\n", "systemd could not start it (203)", True),
        ("exit-code exited 200\n", "systemd could not start it (200)", True),
        ("signal killed KILL\n", "signal killed KILL", False),
        ("oom-kill killed KILL\n", "oom-kill killed KILL", False),
        ("timeout killed TERM\n", "timeout killed TERM", False),
        ("", "", False),
    ],
)
def test_how_a_service_ended_is_read(text: str, words: str, failed: bool) -> None:
    """By what ExecStopPost= was given: 200 to 243 are systemd's own, nothing of ours had begun."""
    assert parse_ended(text) == (words, failed)


def test_the_next_times_are_read_in_utc() -> None:
    """As systemd-analyze prints them, in a zone of its own and in UTC."""
    text = """  Original form: 06,18:00
Normalized form: *-*-* 06,18:00:00
    Next elapse: Mon 2026-11-30 18:00:00 CET
       (in UTC): Mon 2026-11-30 17:00:00 UTC
       From now: 2h left
       Iter. #2: Tue 2026-12-01 06:00:00 CET
       (in UTC): Tue 2026-12-01 05:00:00 UTC
       From now: 14h left
"""
    expected = (datetime(2026, 11, 30, 17, tzinfo=UTC), datetime(2026, 12, 1, 5, tzinfo=UTC))
    assert parse_calendar(text) == expected
    in_utc = "    Next elapse: Mon 2026-11-30 17:00:00 UTC\n       Iter. #2: Tue 2026-12-01 05:00:00 UTC\n"
    assert parse_calendar(in_utc) == expected
    assert parse_calendar("Failed to parse calendar specification") == ()


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("dev.lamplighter.a-1.b.timer", "dev.lamplighter.a-1.b"),
        ("dev.lamplighter.a-1.b.service", "dev.lamplighter.a-1.b"),
        ("dev.lamplighter.a-1.b.timer.d", ""),
        ("backup.timer", ""),
    ],
)
def test_only_our_units_have_labels(name: str, label: str) -> None:
    """What is not ours is nobody's business."""
    assert is_label(name) == label
