"""What is installed: names that never collide, and minutes at which no slot is slept through."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.schedule.entries import GENERATE, PROJECT

from lamplighter.schedule.cadence import Cadence, slots_between
from lamplighter.schedule.entry import (
    DAY_MINUTES,
    every_minutes,
    find_minutes,
    group_minutes,
    job_of,
    label_of,
    project_name,
)

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
zones = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Africa/Cairo", "Asia/Tokyo", "UTC"]
).map(ZoneInfo)
cadences = st.one_of(
    st.lists(st.times().map(lambda at: at.replace(second=0, microsecond=0)), min_size=1, max_size=3).map(
        lambda at: {"at": tuple(at)}
    ),
    st.sampled_from(["30 2 * * *", "*/30 8-18 * * 1-5", "15 */2 * * *", "0 0 1 * *"]).map(lambda text: {"cron": text}),
    st.sampled_from([5, 7, 30, 50, 90, 1440]).map(lambda minutes: {"every": timedelta(minutes=minutes)}),
)


@settings(max_examples=80)
@given(zone=zones, machine=zones, words=cadences, days=st.integers(0, 700))
def test_every_slot_is_at_a_minute_at_which_we_are_woken(
    zone: ZoneInfo, machine: ZoneInfo, words: dict[str, tuple[time, ...]], days: int
) -> None:
    """Whatever the job's zone and the machine's, over every change of either clock, for two years."""
    cadence = Cadence(zone=zone, **words)  # type: ignore[arg-type] # one of its three fields
    minutes = find_minutes(cadence, machine, NOW)
    begin = NOW + timedelta(days=days)
    for slot in slots_between(cadence, begin, begin + timedelta(days=2)):
        wall = slot.due_at.astimezone(machine)
        assert wall.hour * 60 + wall.minute in minutes


def test_in_the_machines_own_zone_the_minutes_are_the_times() -> None:
    """Nothing more than what was asked for, where no clock change comes near."""
    assert find_minutes(Cadence(zone=BERLIN, at=(time(19, 30),)), BERLIN, NOW) == {19 * 60 + 30}


def test_another_zone_has_both_hours_of_the_year() -> None:
    """Half past seven in Tokyo is half past eleven in Berlin in winter, and half past twelve in summer."""
    assert find_minutes(Cadence(zone=TOKYO, at=(time(19, 30),)), BERLIN, NOW) == {11 * 60 + 30, 12 * 60 + 30}


def test_a_time_that_spring_skips_is_also_looked_for_when_the_clock_is_set_forward() -> None:
    """02:30 does not come that day, and a scheduler that drops it still wakes us at three."""
    assert find_minutes(Cadence(zone=BERLIN, at=(time(2, 30),)), BERLIN, NOW) == {150, 180}


def test_an_interval_that_divides_no_day_is_looked_for_on_its_grid() -> None:
    """Every fifty minutes, counted from 1970, may be at any ten minutes of a day."""
    assert find_minutes(Cadence(zone=BERLIN, every=timedelta(minutes=50)), ZoneInfo("UTC"), NOW) == every_minutes(10)


def test_two_workspaces_of_one_name_have_different_projects() -> None:
    """The folder's name is for a person, the rest tells two apart."""
    one, other = project_name(Path("/a/brand")), project_name(Path("/b/brand"))
    assert one != other
    assert one.startswith("brand-")
    assert project_name(Path("/a/brand")) == one


@pytest.mark.parametrize("name", ["きりの道具店", "a.b c", "..", "x" * 300, "UPPER"])
def test_a_project_is_a_plain_word_whatever_the_folder_is_called(name: str) -> None:
    """No dot, which parts project and job; not too long for a file's name."""
    project = project_name(Path("/w") / name)
    assert project.replace("-", "").isascii()
    assert project == project.lower()
    assert "." not in project
    assert len(project) <= 41


def test_a_label_tells_its_job_to_its_own_project_alone() -> None:
    """A job may have dots; another project's label is nobody's here."""
    assert job_of(label_of(PROJECT, "nightly.report"), PROJECT) == "nightly.report"
    assert job_of(label_of("other-00000000", "generate"), PROJECT) == ""


@given(st.frozensets(st.integers(0, DAY_MINUTES - 1)))
def test_grouped_minutes_are_the_same_minutes(minutes: frozenset[int]) -> None:
    """Nothing is lost and nothing added."""
    groups = list(group_minutes(minutes))
    assert frozenset(hour * 60 + minute for hours, shared in groups for hour in hours for minute in shared) == minutes


def test_other_settings_have_another_fingerprint() -> None:
    """Times, interpreter, PATH and limit count; the same entry has the same."""
    others = (
        replace(GENERATE, minutes=frozenset({1})),
        replace(GENERATE, path="/bin"),
        replace(GENERATE, limit=None),
        replace(GENERATE, argv=("/w/bin/python", *GENERATE.argv[1:])),
    )
    assert len({GENERATE.fingerprint, *(other.fingerprint for other in others)}) == 5
    assert replace(GENERATE).fingerprint == GENERATE.fingerprint
