"""What a workspace is expected to have, beyond the day's post: outputs of commands, reviews, room, drafts, pauses."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock
from tests.simulators.desk import Desk

from lamplighter.app import answering
from lamplighter.app.cadence import list_cadences
from lamplighter.app.expecting import MOST_DRAFTS, judge_space
from lamplighter.app.place import Workspace
from lamplighter.app.running import Started, run_command, run_configured
from lamplighter.app.watch import run_watch
from lamplighter.config.settings import read_settings
from lamplighter.engine.incident_life import Quiet
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.settings import JobSettings
from lamplighter.engine.slot import Slots
from lamplighter.engine.watch import TickReport, WatchCode
from lamplighter.errors import InputError
from lamplighter.featurepost.stock import Reason
from lamplighter.host.identity import ProcessIdentity
from lamplighter.host.space import Space
from lamplighter.notify.outbox import NoticeKind, Outbox
from lamplighter.notify.severity import Severity

GONE = ProcessIdentity(pid=94799, start="1", boot_id="a boot long ago")
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BACKUP = """
[jobs.backup]
command = ["true"]
at = ["13:00"]
output = "backups/*"

[expect.backup-today]
kind = "by_time"
job = "backup"
grace = "30m"
severity = "critical"

[expect.backup-fresh]
kind = "max_age"
job = "backup"
max_age = "30h"
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace with a full stock, at noon, with a backup that is due at one o'clock and expected."""
    desk = Desk.in_workspace(tmp_path / "shop", VirtualClock())
    for brand in ("wrenfold", "kirino", "wrenfold"):
        desk.put(brand)
    file = desk.folder / "lamplighter.toml"
    file.write_text(file.read_text("utf-8").replace("[post]", '[post]\nat = ""') + BACKUP, "utf-8")
    return desk


def workspace(desk: Desk) -> Workspace:
    """Return the workspace as a command has it."""
    return Workspace(folder=desk.folder, clock=desk.clock, say=desk.said.append)


def watch(desk: Desk) -> TickReport:
    """Tick once, as `lamplighter watch` does."""
    return run_watch(workspace(desk))


def standings(report: TickReport) -> dict[str, str]:
    """Return how each expectation stands."""
    return {verdict.key: verdict.standing.value for verdict in report.verdicts}


def end_run(desk: Desk, outcome: Outcome, line: str = "as it was", job: str = "backup") -> None:
    """Record a run that has ended."""
    ledger = Ledger(desk.database, desk.clock, "main")
    number = ledger.begin(job, command=f"lamplighter run {job}", trigger="cron", process=GONE)
    ledger.end(number, RunReport(outcome=outcome, line=line, outputs=("it",)))


def called(desk: Desk) -> list[str]:
    """Return what a person was called for; that features were made is none of it."""
    told = Outbox(desk.database, desk.clock, "main").all()
    return [one.notice.subject for one in told if one.notice.kind is not NoticeKind.MADE]


def line_of(report: TickReport, key: str) -> str:
    """Return what is said of one expectation."""
    return next(verdict.line for verdict in report.verdicts if verdict.key == key)


def test_a_command_is_expected_by_its_output_and_never_by_its_exit_code(desk: Desk) -> None:
    """Exit 0 that left nothing is failing all the same; the next run that leaves something ends it."""
    assert standings(watch(desk))["expect.backup-today"] == "new"
    desk.clock.jump(START + HOUR)
    end_run(desk, Outcome.COMPLETED, "exit 0, and no output is declared")
    desk.clock.advance(29 * timedelta(minutes=1))
    assert standings(watch(desk))["expect.backup-today"] == "late"
    desk.clock.advance(timedelta(minutes=1))
    report = watch(desk)
    assert (report.code, line_of(report, "expect.backup-today")) == (
        WatchCode.FAILING,
        "backup left no output for 2026-05-04",
    )
    (incident,) = report.incidents
    assert (incident.severity, incident.command) == (Severity.CRITICAL, "lamplighter run backup")
    assert incident.why == "run 1 (backup): completed: exit 0, and no output is declared"
    end_run(desk, Outcome.PRODUCED)
    assert watch(desk).code is WatchCode.OK


def test_an_old_output_is_told(desk: Desk) -> None:
    """Thirty hours after the last one, whatever ran since."""
    end_run(desk, Outcome.PRODUCED)
    desk.clock.advance(29 * HOUR)
    assert standings(watch(desk))["expect.backup-fresh"] == "ok"
    end_run(desk, Outcome.FAILED)
    desk.clock.advance(HOUR)
    report = watch(desk)
    assert line_of(report, "expect.backup-fresh") == "backup left no output for 30 hours"


def test_the_streak_of_a_job_with_expectations_is_a_child_of_them(desk: Desk) -> None:
    """One thing wrong is one notice: the missing output is told, the failures behind it stand in it."""
    watch(desk)
    desk.clock.jump(START + 2 * HOUR)
    for _ in range(3):
        end_run(desk, Outcome.FAILED)
    report = watch(desk)
    assert {incident.key for incident in report.incidents} == {"expect.backup-today", "streak_backup"}
    desk.clock.advance(timedelta(minutes=5))
    watch(desk)
    assert called(desk) == ["backup left no output for 2026-05-04"]


def test_an_expectation_about_no_job_is_one_line_and_unknown(desk: Desk) -> None:
    """The settings are broken: exit 3, never ok."""
    file = desk.folder / "lamplighter.toml"
    file.write_text(file.read_text("utf-8") + '\n[expect.x]\nkind = "streak"\njob = "bakup"\n', "utf-8")
    report = watch(desk)
    assert report.code is WatchCode.UNKNOWN
    assert "there is no such job; known are backup, generate, post" in report.verdicts[0].why


def test_a_full_shelf_for_five_days_calls_nobody(desk: Desk) -> None:
    """§4.11 (13): nothing is made, and nothing is wanted; each run says why it made nothing."""
    for hours in range(0, 120, 12):
        desk.clock.jump(START + hours * HOUR)
        end_run(desk, Outcome.NOTHING_NEEDED, "the stock is full", job="generate")
        end_run(desk, Outcome.PRODUCED)
        assert watch(desk).code is WatchCode.OK
    assert called(desk) == []


def test_a_feature_that_waits_for_review_is_told_after_a_day(desk: Desk) -> None:
    """With the command that approves it; approved, it is over."""
    item = desk.put("kirino", hold=Reason(kind="review", text="", at=START))
    end_run(desk, Outcome.PRODUCED)
    desk.clock.advance(23 * HOUR)
    assert standings(watch(desk))["review"] == "ok"
    desk.clock.advance(HOUR)
    end_run(desk, Outcome.PRODUCED)
    report = watch(desk)
    assert line_of(report, "review") == f"{item.id} has waited for your review for more than 24 hours"
    assert report.incidents[0].command == f"lamplighter stock approve {item.id}"
    desk.stock.approve(desk.stock.find(item.id))
    assert watch(desk).code is WatchCode.OK


def test_drafts_that_pile_up_are_told_once_and_calmly(desk: Desk) -> None:
    """No reminder, and nobody is woken."""
    end_run(desk, Outcome.PRODUCED)
    for _ in range(MOST_DRAFTS + 1):
        desk.stock.new_draft("kirino")
    report = watch(desk)
    assert [(incident.key, incident.severity) for incident in report.incidents] == [("drafts", Severity.INFO)]


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("free", "total", "files", "trouble", "is_worse"),
    [
        (600, 100_000, 9_999, "", False),
        (500, 100_000, 9_999, "the disk is nearly full", False),
        (100, 100_000, 9_999, "the disk is nearly full", True),
        (6, 100, 9_999, "", False),
        (4, 100, 9_999, "the disk is nearly full", False),
        (90_000, 100_000, 10, "the disk is nearly full", False),
    ],
)
def test_a_disk_that_fills_up_is_told_in_time(free: int, total: int, files: int, trouble: str, is_worse: bool) -> None:
    """Half a gigabyte of a large one, a twentieth of a small one, and files where those run out first."""
    space = Space(free=free * MEGABYTE, total=total * MEGABYTE, free_files=files, total_files=100_000)
    facts = judge_space(space, "/work")
    assert (facts.trouble, facts.is_worse) == (trouble, is_worse)


def test_a_disk_without_a_count_of_files_has_room_for_them() -> None:
    """As some file systems are."""
    space = Space(free=90_000 * MEGABYTE, total=100_000 * MEGABYTE, free_files=0, total_files=0)
    assert judge_space(space, "/work").trouble == ""


def test_a_paused_job_is_excused_and_what_fell_into_the_pause_is_never_missed(desk: Desk) -> None:
    """Neither while it lasts nor after; the next day counts again."""
    watch(desk)
    answering.pause(workspace(desk), "backup", lasting=3 * HOUR, reason="the disk is being changed")
    desk.clock.jump(START + 2 * HOUR)
    report = watch(desk)
    assert (report.code, standings(report)["expect.backup-today"]) == (WatchCode.OK, "excused")
    assert line_of(report, "expect.backup-today").endswith(
        "paused until 2026-05-04 15:00 UTC: the disk is being changed"
    )
    desk.clock.jump(START + 20 * HOUR)
    assert watch(desk).code is WatchCode.OK
    desk.clock.jump(START + 26 * HOUR)
    assert line_of(watch(desk), "expect.backup-today") == "backup left no output for 2026-05-05"


def test_a_pause_hides_what_is_open_until_it_ends(desk: Desk) -> None:
    """Neither in ALERT.txt nor in the exit code, and it is not resolved by it."""
    watch(desk)
    desk.clock.jump(START + 2 * HOUR)
    assert watch(desk).code is WatchCode.FAILING
    answering.pause(workspace(desk), "", lasting=DAY, reason="")
    report = watch(desk)
    assert (report.code, len(report.incidents), report.shown) == (WatchCode.OK, 1, ())
    assert not (desk.folder / "ALERT.txt").exists()
    assert answering.resume(workspace(desk), "").ended == 1
    assert watch(desk).code is WatchCode.FAILING


def test_an_answered_incident_is_not_cried_at_the_head(desk: Desk) -> None:
    """ALERT.txt says that it is known, and until when."""
    watch(desk)
    desk.clock.jump(START + 2 * HOUR)
    (incident,) = watch(desk).incidents
    answering.answer(workspace(desk), incident.number, Quiet.ACKNOWLEDGED, lasting=DAY)
    watch(desk)
    text = (desk.folder / "ALERT.txt").read_text("utf-8")
    assert text.startswith("Known, and answered: 1\n")
    assert "  acknowledged until 2026-05-05 14:00\n" in text


@pytest.mark.parametrize("job", ["bakup", "watch", "-", "backup "])
def test_a_job_that_is_not_there_cannot_be_paused(desk: Desk, job: str) -> None:
    """One line that lists those there are."""
    with pytest.raises(InputError) as caught:
        answering.pause(workspace(desk), job, lasting=DAY, reason="")
    assert "known are generate, post, backup" in str(caught.value)


def test_a_paused_run_says_so_does_nothing_and_excuses_its_slot(desk: Desk) -> None:
    """Exit 0, outcome `paused`, and what ends it; a job beside it runs."""
    desk.clock.jump(START + HOUR)
    Slots(desk.database, desk.clock, "main").observe("backup", list_cadences(read_settings(desk.folder))["backup"])
    answering.pause(workspace(desk), "backup", lasting=DAY, reason="")
    report = run_configured(workspace(desk), "backup", Started(scheduled=True))
    assert (report.outcome, report.exit_code) == (Outcome.PAUSED, 0)
    assert report.line == "paused until 2026-05-05 13:00 UTC; lamplighter resume backup ends it"
    (slot,) = Slots(desk.database, desk.clock, "main").latest("backup")
    assert (slot.slot.key, slot.status.value) == ("2026-05-04-1300", "excused")
    other = JobSettings(name="other", command=("true",), folder=desk.folder)
    assert run_command(workspace(desk), other, Started()).outcome is Outcome.COMPLETED
    answering.pause(workspace(desk), "", lasting=DAY, reason="")
    assert run_command(workspace(desk), other, Started()).outcome is Outcome.PAUSED
