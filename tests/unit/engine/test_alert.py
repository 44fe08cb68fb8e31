"""ALERT.txt and the line at the head of every command."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import START

from lamplighter.engine.alert import ALERT_FILE, MARK_FILE, head_line, render_alert, write_alert, write_mark
from lamplighter.engine.expectation import Standing, Verdict
from lamplighter.engine.incident_life import Incident
from lamplighter.engine.job import Evidence
from lamplighter.engine.watch import TickReport, blind_report
from lamplighter.errors import DiskError

UTC = ZoneInfo("UTC")
FIVE = timedelta(minutes=5)
OK = Verdict(key="stock", standing=Standing.OK, line="the stock: 3, and at least 1 is expected")
UNKNOWN = Verdict(
    key="stock", standing=Standing.UNKNOWN, line="nobody can tell about the stock", why="no right", command="status"
)


def incident(key: str = "post_today", line: str = "no post went out for 2026-05-04") -> Incident:
    """Return an open incident."""
    return Incident(
        number=1,
        key=key,
        opened_at=START,
        resolved_at=None,
        resolution="",
        line=line,
        since=START - timedelta(minutes=20),
        why="run 41 (post): lock_held:\nsecond line",
        evidence=(Evidence(name="noticed late", value="away"),),
        command="lamplighter post",
        occurrence="",
    )


def report(*incidents: Incident, verdicts: tuple[Verdict, ...] = (OK,)) -> TickReport:
    """Return what a tick found."""
    return TickReport(at=START, verdicts=verdicts, incidents=incidents)


def test_all_is_well_is_no_text() -> None:
    """Nothing open, nothing unknown."""
    assert render_alert(report(), UTC) == ""


def test_the_text_says_what_since_when_why_and_what_to_type() -> None:
    """The first line alone tells it; foreign text stays on one line."""
    assert render_alert(report(incident()), UTC).split("\n") == [
        "ALERT: no post went out for 2026-05-04; since: 2026-05-04 11:40; type: lamplighter post",
        "",
        "no post went out for 2026-05-04",
        "  since: 2026-05-04 11:40",
        "  why: run 41 (post): lock_held: second line",
        "  noticed late: away",
        "  type: lamplighter post",
        "",
        "Times are UTC. lamplighter watch wrote this file, and removes it when all is well again.",
        "",
    ]


def test_the_first_line_counts_what_else_is_wrong() -> None:
    """Two more below."""
    text = render_alert(report(incident(), incident("stock", "the stock is empty"), verdicts=(UNKNOWN,)), UTC)
    assert text.split("\n")[0].endswith("; type: lamplighter post; 1 more")
    lost = Verdict(key="database", standing=Standing.UNKNOWN, line="nobody can tell about the database")
    assert "; 2 more" in render_alert(report(incident(), incident("stock:unknown"), verdicts=(UNKNOWN, lost)), UTC)


def test_what_is_unknown_is_in_it_before_it_is_an_incident() -> None:
    """A file that says nothing would be taken for all is well."""
    text = render_alert(report(verdicts=(UNKNOWN,)), UTC)
    assert text.startswith("ALERT: nobody can tell about the stock; type: status\n")
    assert "  why: no right\n" in text


def test_a_tick_that_saw_nothing_is_in_it() -> None:
    """Settings that cannot be read: nobody can tell anything."""
    text = render_alert(blind_report(START, DiskError("lamplighter.toml", "broken", "mend it")), UTC)
    assert "why: lamplighter.toml: broken; mend it" in text


def test_the_file_is_written_once_and_taken_away_when_all_is_well(tmp_path: Path) -> None:
    """The same text is not written again, so that nothing synchronises it every five minutes."""
    file = tmp_path / ALERT_FILE
    write_alert(tmp_path, "ALERT: ä\n", START)
    before = file.stat()
    write_alert(tmp_path, "ALERT: ä\n", START)
    assert (file.read_text("utf-8"), file.stat().st_ino) == ("ALERT: ä\n", before.st_ino)
    write_alert(tmp_path, "ALERT: b\n", START)
    assert file.read_text("utf-8") == "ALERT: b\n"
    write_alert(tmp_path, "", START)
    write_alert(tmp_path, "", START)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_in_the_files_place_is_said(tmp_path: Path) -> None:
    """A folder of that name is an error in one line, for writing and for taking away."""
    (tmp_path / ALERT_FILE / "inside").mkdir(parents=True)
    for text in ("ALERT: a\n", ""):
        with pytest.raises(DiskError) as caught:
            write_alert(tmp_path, text, START)
        assert str(tmp_path / ALERT_FILE) in str(caught.value)
    assert head_line(tmp_path, tmp_path, START) == ""


def test_the_head_line_is_the_first_line_of_the_alert(tmp_path: Path) -> None:
    """With where to read more; nothing when all is well."""
    assert head_line(tmp_path, tmp_path, START) == ""
    write_alert(tmp_path, render_alert(report(incident()), UTC), START)
    assert head_line(tmp_path, tmp_path, START) == (
        "ALERT: no post went out for 2026-05-04; since: 2026-05-04 11:40; type: lamplighter post; see ALERT.txt"
    )


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(minutes=14), ""),
        (timedelta(minutes=16), "16 minutes"),
        (timedelta(hours=9, minutes=5), "9 hours"),
        (timedelta(days=3), "3 days"),
        (-timedelta(days=3), ""),
    ],
)
def test_a_watcher_that_stopped_is_said(tmp_path: Path, age: timedelta, said: str) -> None:
    """More than three intervals without a tick, once it ever ticked."""
    write_mark(tmp_path, START, FIVE)
    line = head_line(tmp_path, tmp_path, START + age)
    expected = f"watch has not run for {said}: nothing raises an alarm; lamplighter watch looks now" if said else ""
    assert line == expected


def test_an_alert_and_a_stopped_watcher_are_one_line(tmp_path: Path) -> None:
    """The alert may be out of date, so both are said."""
    write_alert(tmp_path, "ALERT: a\n", START)
    write_mark(tmp_path, START, FIVE)
    line = head_line(tmp_path, tmp_path, START + timedelta(hours=3))
    assert line.startswith("ALERT: a; see ALERT.txt; watch has not run for 3 hours")


@pytest.mark.parametrize("mark", [b"", b"soon 300", b"1 2 3", b"9" * 99 + b" 1", b"\xff\xfe", b"-1 -1\n\x00"])
def test_a_mark_that_is_none_is_passed_over(tmp_path: Path, mark: bytes) -> None:
    """A head line never fails a command."""
    (tmp_path / MARK_FILE).write_bytes(mark)
    assert head_line(tmp_path, tmp_path, START) in {
        "",
        "watch has not run for 20577 days: nothing raises an alarm; lamplighter watch looks now",
    }


@pytest.mark.parametrize("kind", ["fifo", "binary", "link", "foreign"])
def test_an_alert_that_is_not_ours_moves_no_terminal(tmp_path: Path, kind: str) -> None:
    """A FIFO is not waited for, another's text is not said, and escape sequences are shown as text."""
    file = tmp_path / ALERT_FILE
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "binary":
        file.write_bytes(b"ALERT: \x1b[31mred\xff\n")
    elif kind == "link":
        file.symlink_to(tmp_path / "nowhere")
    else:
        file.write_text("my own notes\n", "utf-8")
    expected = "ALERT: ?[31mred?; see ALERT.txt" if kind == "binary" else ""
    assert head_line(tmp_path, tmp_path, START).replace("�", "?") == expected


def test_what_a_killed_watcher_left_is_taken_away(tmp_path: Path) -> None:
    """Half a file of long ago goes; one that another watcher is just writing stays."""
    old, fresh, mark = (tmp_path / f".tmp-{name}" for name in ("ALERT.txt.7", "ALERT.txt.8", "watch-tick.7"))
    for file, age in ((old, 61), (fresh, 5), (mark, 3_600)):
        file.write_text("half", "utf-8")
        os.utime(file, (START.timestamp() - age,) * 2)
    write_alert(tmp_path, "", START)
    write_mark(tmp_path, START, FIVE)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".tmp-ALERT.txt.8", MARK_FILE]
