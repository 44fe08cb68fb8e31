"""One tick over a real workspace: its stock, its journal, its record, its runs, its settings."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock
from tests.simulators.desk import Desk

from lamplighter.app.cadence import list_cadences
from lamplighter.app.head import head_line
from lamplighter.app.place import Workspace
from lamplighter.app.watch import WATCH_MIGRATIONS, run_watch
from lamplighter.config.settings import read_settings
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.pause import Pauses
from lamplighter.engine.slot import Slots, SlotStatus
from lamplighter.engine.watch import TickReport, WatchCode
from lamplighter.errors import UsageError
from lamplighter.host.database import open_database
from lamplighter.host.identity import ProcessIdentity
from lamplighter.notify.outbox import Outbox
from lamplighter.publish.publisher import Receipt

EVENING = START.replace(hour=19, minute=30)
GONE = ProcessIdentity(pid=94799, start="1", boot_id="a boot long ago")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace with two ready features, at noon, that posts at 19:30 UTC."""
    desk = Desk.in_workspace(tmp_path / "shop", VirtualClock())
    desk.put("wrenfold")
    desk.put("kirino")
    return desk


def watch(desk: Desk) -> TickReport:
    """Tick once, as `lamplighter watch` does."""
    return run_watch(Workspace(folder=desk.folder, clock=desk.clock, say=desk.said.append))


def alert(desk: Desk) -> str:
    """Return what ALERT.txt says, "" when there is none."""
    file = desk.folder / "ALERT.txt"
    return file.read_text("utf-8") if file.exists() else ""


def standings(report: TickReport) -> dict[str, str]:
    """Return how each expectation stands."""
    return {verdict.key: verdict.standing.value for verdict in report.verdicts}


def publish(desk: Desk, slot: str, feature: str = "feature-0001-wrenfold", *, out: bool = True) -> None:
    """Journal a post, and that it is out."""
    desk.journal.claim(slot, feature, generation=1, run=1)
    if out:
        receipt = Receipt(id="1", location="outbox/1", published_at=desk.clock.now())
        desk.journal.published(slot, receipt, generation=1)


def end_run(desk: Desk, job: str, outcome: Outcome, line: str = "as it was") -> int:
    """Record a run that has ended."""
    ledger = Ledger(desk.database, desk.clock, "main")
    number = ledger.begin(job, command=f"lamplighter {job}", trigger="cron", process=GONE)
    ledger.end(number, RunReport(outcome=outcome, line=line, outputs=("it",)))
    return number


def test_all_is_well_leaves_no_file(desk: Desk) -> None:
    """Exit 0, a verdict for everything that is expected without any setting, and no ALERT.txt."""
    report = watch(desk)
    assert (report.code, alert(desk), head_line(desk.folder, desk.clock)) == (WatchCode.OK, "", "")
    well = ("stock", "made_recently", "review", "disk", "drafts", "database", "reconcile", "watch_ticks")
    new = ("post_today", "streak_generate", "streak_post")
    assert standings(report) == dict.fromkeys(well, "ok") | dict.fromkeys(new, "new")


def test_a_missing_post_is_told_until_it_is_out(desk: Desk) -> None:
    """Late at 19:30, failing at 19:45 with the command to type, over when the journal has its receipt."""
    desk.clock.jump(EVENING + timedelta(minutes=14))
    late = watch(desk)
    assert (late.code, standings(late)["post_today"], alert(desk)) == (WatchCode.OK, "late", "")
    desk.clock.jump(EVENING + timedelta(minutes=15))
    assert watch(desk).code is WatchCode.FAILING
    assert alert(desk).split("\n")[0] == (
        "ALERT: no post went out for 2026-05-04; since: 2026-05-04 19:30; type: lamplighter post"
    )
    assert head_line(desk.folder, desk.clock).endswith("; see ALERT.txt")
    publish(desk, "2026-05-04-1930", out=False)
    assert watch(desk).code is WatchCode.FAILING
    desk.journal.published(
        "2026-05-04-1930", Receipt(id="1", location="x", published_at=desk.clock.now()), generation=1
    )
    assert (watch(desk).code, alert(desk)) == (WatchCode.OK, "")
    told = Outbox(desk.database, desk.clock, "main").all()
    kinds = [waiting.notice.kind.value for waiting in told]
    assert kinds == ["opened", "resolved", "posted"]


def test_the_last_run_is_why(desk: Desk) -> None:
    """What the post of 19:30 said stands in the alert."""
    desk.clock.jump(EVENING)
    number = end_run(desk, "post", Outcome.LOCK_HELD, "run 3 is at work since 14:00")
    desk.clock.advance(timedelta(minutes=20))
    watch(desk)
    assert f"  why: run {number} (post): lock_held: run 3 is at work since 14:00\n" in alert(desk)


def test_an_empty_stock_changes_what_to_type(desk: Desk) -> None:
    """First something must be made, or approved."""
    for item in desk.stock.ready():
        desk.stock.drop(item)
    desk.clock.jump(EVENING + timedelta(minutes=20))
    watch(desk)
    assert "type: lamplighter generate && lamplighter post" in alert(desk)


def test_an_empty_stock_is_told_after_two_hours(desk: Desk) -> None:
    """Late at once, failing later."""
    for item in desk.stock.ready():
        desk.stock.drop(item)
    assert standings(watch(desk))["stock"] == "late"
    desk.clock.advance(timedelta(hours=2))
    assert standings(watch(desk))["stock"] == "failing"
    desk.put("wrenfold")
    assert watch(desk).code is WatchCode.OK


def test_nothing_made_for_36_hours_is_told_unless_the_stock_is_full(desk: Desk) -> None:
    """Two of three for 36 hours is told; with a third made, it is over."""
    for hours, code in ((0, WatchCode.OK), (30, WatchCode.OK), (36, WatchCode.FAILING)):
        desk.clock.jump(START + timedelta(hours=hours))
        for slot, feature in (("2026-05-04-1930", "feature-0101-a"), ("2026-05-05-1930", "feature-0102-b")):
            if desk.journal.is_free(slot):
                publish(desk, slot, feature)
        assert watch(desk).code is code
    assert "no feature was made for 36 hours" in alert(desk)
    desk.put("kirino")
    assert watch(desk).code is WatchCode.OK


def test_three_skips_in_a_row_are_told(desk: Desk) -> None:
    """Three times held up; a run that made something ends it."""
    for count in (1, 2, 3):
        end_run(desk, "generate", Outcome.LOCK_HELD)
        assert watch(desk).code is (WatchCode.FAILING if count == 3 else WatchCode.OK)
    assert "3 runs of generate in a row left nothing done: lock_held, lock_held, lock_held" in alert(desk)
    assert "type: lamplighter lock status generate" in alert(desk)
    end_run(desk, "generate", Outcome.PRODUCED)
    assert (watch(desk).code, alert(desk)) == (WatchCode.OK, "")


def test_a_run_that_died_gets_its_word_at_the_next_tick(desk: Desk) -> None:
    """Nobody has to start the job again for that, and its slot is free again."""
    clock = desk.clock
    clock.jump(START.replace(hour=6))
    watch(desk)
    ledger = Ledger(desk.database, clock, "main")
    number = ledger.begin("generate", command="lamplighter generate", trigger="cron", process=GONE)
    cadence = list_cadences(read_settings(desk.folder))["generate"]
    slots = Slots(desk.database, clock, "main")
    decided = slots.decide("generate", cadence, scheduled=True, outcome_of=lambda _: None)
    slots.claim("generate", getattr(decided, "slot"), number)  # noqa: B009 - a NotDue has none, and fails here
    watch(desk)
    report = ledger.find(number).report
    assert report is not None
    assert report.outcome is Outcome.KILLED
    (row,) = slots.latest("generate", limit=1)
    assert (row.status, row.run) == (SlotStatus.DUE, 0)


def test_missed_slots_get_their_word(desk: Desk) -> None:
    """A day after: the slots that nobody was woken for are missed, and what is still open is left."""
    watch(desk)
    desk.clock.jump(START + timedelta(days=1, hours=6, minutes=30))
    watch(desk)
    rows = Slots(desk.database, desk.clock, "main").latest("generate")
    assert {row.slot.key: row.status.value for row in rows} == {
        "2026-05-04-1200": "missed",
        "2026-05-04-1800": "missed",
        "2026-05-05-0600": "missed",
        "2026-05-05-1200": "missed",
    }


def test_the_record_and_the_outbox_count_when_the_database_is_lost(desk: Desk) -> None:
    """A post that only the readable record knows is out; a line that is none says nothing."""
    record = desk.folder / "state" / "folder_posted.jsonl"
    record.write_text(
        "not a line\n"
        '{"slot":"some day","feature":"f","channel":"folder","id":"1","location":"x",'
        '"published_at":"2026-05-04T19:30:05Z"}\n'
        '{"slot":"2026-05-04-1930","feature":"feature-0009-wrenfold","channel":"folder","id":"1","location":"x",'
        '"published_at":"2026-05-04T19:30:05Z"}\n',
        "utf-8",
    )
    desk.clock.jump(EVENING + timedelta(hours=1))
    assert watch(desk).code is WatchCode.OK


def test_a_record_that_cannot_be_read_is_unknown(desk: Desk) -> None:
    """Nobody can tell whether the post is out: exit 3, and said at once."""
    (desk.folder / "state" / "folder_posted.jsonl").mkdir()
    desk.clock.jump(EVENING + timedelta(hours=1))
    report = watch(desk)
    assert (report.code, standings(report)["post_today"]) == (WatchCode.UNKNOWN, "unknown")
    assert alert(desk).startswith("ALERT: nobody can tell about the day's post")


def test_a_stock_that_cannot_be_read_is_unknown_and_the_rest_is_judged(desk: Desk) -> None:
    """A file in place of the features: stock and makings are unknown, the missing post is told all the same."""
    shutil.rmtree(desk.sns)
    desk.sns.write_text("no folder", "utf-8")
    desk.clock.jump(EVENING + timedelta(hours=1))
    report = watch(desk)
    assert report.code is WatchCode.FAILING
    found = standings(report)
    assert (found["post_today"], found["stock"], found["made_recently"]) == ("failing", "unknown", "unknown")
    assert "content/sns: this is not a folder" in alert(desk)


@pytest.mark.parametrize("content", ["[generate\n", "targt = 3\n", 'zone = "Mars/Base"\n', ""])
def test_settings_that_are_broken_are_unknown(desk: Desk, content: str) -> None:
    """Exit 3 with the settings' own line; the incident that was open is told again when they are mended."""
    desk.clock.jump(EVENING + timedelta(hours=1))
    watch(desk)
    file = desk.folder / "lamplighter.toml"
    right = file.read_text("utf-8")
    file.write_text(content, "utf-8")
    report = watch(desk)
    if content:
        assert (report.code, standings(report)) == (WatchCode.UNKNOWN, {"watch": "unknown"})
        assert "lamplighter.toml" in alert(desk)
    file.write_text(right, "utf-8")
    assert watch(desk).code is WatchCode.FAILING
    assert alert(desk).startswith("ALERT: no post went out for 2026-05-04")
    assert len(Outbox(desk.database, desk.clock, "main").all()) == 1


@pytest.mark.parametrize("damage", ["garbage", "empty", "folder", "missing"])
def test_a_damaged_database_is_never_ok(desk: Desk, damage: str) -> None:
    """§4.11 (14): with the stock there and the time past it is told, never exit 0, and what is out stays out."""
    watch(desk)
    publish(desk, "2026-05-03-1930")
    desk.clock.jump(EVENING + timedelta(hours=1))
    desk.database.close()
    for file in (desk.folder / "state").glob("lamplighter.db*"):
        file.unlink()
    file = desk.folder / "state" / "lamplighter.db"
    if damage == "folder":
        file.mkdir()
    elif damage != "missing":
        file.write_bytes(b"garbage " * 1_000 if damage == "garbage" else b"")
    assert watch(desk).code in {WatchCode.UNKNOWN, WatchCode.FAILING}
    assert alert(desk).startswith("ALERT: ")
    assert not (desk.folder / "outbox").exists()


def test_a_database_that_was_set_aside_is_told_until_somebody_looked(desk: Desk) -> None:
    """What the repair left is the evidence; with it removed, the incident is over."""
    kept = desk.folder / "state" / "lamplighter.db.damaged-20260504T090000Z"
    kept.write_bytes(b"garbage")
    kept.with_name(f"{kept.name}.txt").write_text("file is not a database\n", "utf-8")
    assert watch(desk).code is WatchCode.FAILING
    assert "the database was damaged and a new one was made" in alert(desk)
    for file in kept.parent.glob("*damaged*"):
        file.unlink()
    assert watch(desk).code is WatchCode.OK


@pytest.mark.parametrize(
    ("forgery", "unknown"),
    [
        ("UPDATE pause SET ends = 1e300", {"pauses"}),
        ("UPDATE pause SET begins = 'noon'", {"pauses"}),
        ("UPDATE incident SET severity = 'splendid'", {"watch"}),
        ("UPDATE holding SET since = 'noon'", {"watch"}),
        ("UPDATE run SET outcome = 'splendid'", {"streak_generate", "stock", "made_recently"}),
        ("UPDATE run SET started_at = 1e300", {"streak_generate", "stock", "made_recently"}),
        ("UPDATE tick SET at = 'noon'", {"watch"}),
    ],
)
def test_a_value_that_we_never_wrote_is_unknown(desk: Desk, forgery: str, unknown: set[str]) -> None:
    """A row of another's hand: what depends on it cannot be told, the rest is judged, and nothing crashes."""
    end_run(desk, "generate", Outcome.FAILED)
    watch(desk)
    Pauses(desk.database, desk.clock, "main").begin("nobody", lasting=timedelta(days=1))
    desk.database.change("INSERT INTO holding VALUES ('main', 'x', 0)")
    desk.database.change(
        """INSERT INTO incident (account, number, dedup_key, opened_at, resolved_at, line, since, why, evidence,
        command, occurrence, is_active) VALUES ('main', 1, 'stock', 0, 0, 'x', 0, '', '[]', '', '', 1)"""
    )
    desk.database.change(forgery)
    report = watch(desk)
    assert report.code is WatchCode.UNKNOWN
    assert unknown <= {verdict.key for verdict in report.unknown}
    assert alert(desk).startswith("ALERT: nobody can tell")


def test_an_alert_that_cannot_be_written_is_no_ok(desk: Desk) -> None:
    """A folder of that name: exit 3, for nobody would be told."""
    (desk.folder / "ALERT.txt" / "x").mkdir(parents=True)
    report = watch(desk)
    assert report.code is WatchCode.UNKNOWN
    assert report.unknown[0].key == "alert"


def test_without_a_time_no_post_is_expected(desk: Desk) -> None:
    """An incident that was open is over when the day's time is taken out of the settings."""
    desk.clock.jump(EVENING + timedelta(hours=1))
    watch(desk)
    file = desk.folder / "lamplighter.toml"
    file.write_text(file.read_text("utf-8").replace("[post]", '[post]\nat = ""'), "utf-8")
    report = watch(desk)
    assert (report.code, "post_today" in standings(report), alert(desk)) == (WatchCode.OK, False, "")


def test_another_user_is_refused(desk: Desk) -> None:
    """Root in a user's workspace leaves nothing behind."""
    os.chown(desk.folder, 12_345, -1)
    with pytest.raises(UsageError):
        watch(desk)
    assert not (desk.folder / "state" / "watch-tick").exists()


def test_a_watcher_that_stopped_is_in_the_head_of_every_command(desk: Desk) -> None:
    """With the state folder elsewhere too."""
    file = desk.folder / "lamplighter.toml"
    file.write_text(f'state_dir = "{desk.folder / "elsewhere"}"\n' + file.read_text("utf-8"), "utf-8")
    watch(desk)
    assert head_line(desk.folder, desk.clock) == ""
    desk.clock.advance(timedelta(minutes=16))
    assert head_line(desk.folder, desk.clock).startswith("watch has not run for 16 minutes")


def test_other_commands_read_a_database_that_a_watcher_wrote(desk: Desk) -> None:
    """Its tables are in nobody's way."""
    watch(desk)
    again = Desk.in_workspace(desk.folder, desk.clock)
    assert again.journal.entries() == ()
    with open_database(desk.folder / "state" / "lamplighter.db", WATCH_MIGRATIONS) as database:
        assert database.row("SELECT COUNT(*) FROM tick") is not None


def test_ten_days_of_a_real_workspace(desk: Desk) -> None:
    """Each evening every five minutes: three days without a post are told in time, seven with one are not."""
    missing = {2, 5, 6}
    told: dict[int, timedelta] = {}
    for day in range(10):
        evening = EVENING + timedelta(days=day)
        desk.clock.jump(evening - timedelta(hours=3))
        watch(desk)
        for minutes in range(-3, 60, 5):
            desk.clock.jump(evening + timedelta(minutes=minutes))
            if minutes == 2 and day not in missing:
                publish(desk, f"{evening:%Y-%m-%d}-1930", f"feature-{day:04}-x")
                desk.put("kirino")
            before = len(Outbox(desk.database, desk.clock, "main").all())
            report = watch(desk)
            notices = [one.notice for one in Outbox(desk.database, desk.clock, "main").all()[before:]]
            called = [one for one in notices if one.subject.startswith(f"no post went out for {evening:%Y-%m-%d}")]
            if called:
                told[day] = timedelta(minutes=minutes)
            assert not report.unknown
    assert told == dict.fromkeys(missing, timedelta(minutes=17))
