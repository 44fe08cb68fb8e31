"""The whole examination, around a workspace of the tests' own: nothing that cannot be looked at is ever ok."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.desk import Desk
from tests.simulators.publisher import make_receipt
from tests.simulators.scheduler import Crontab

from lamplighter.app import probe, scheduling
from lamplighter.app.comparing import compare_all
from lamplighter.app.doctoring import Doctor, Wishes, examine
from lamplighter.app.machine import Machine
from lamplighter.app.place import Workspace
from lamplighter.config.settings import read_settings
from lamplighter.doctor.finding import DoctorCode, Finding, Look, State, good, judge_all
from lamplighter.doctor.finding import examine as examine_all
from lamplighter.engine.lock import JobLock
from lamplighter.errors import InputError, UpstreamError

OFFLINE = Wishes(is_offline=True)
ALL = Wishes(is_offline=True, is_deep=True)
NOW = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)


class Ward:
    """A workspace with two brands, and a machine whose crontab starts a probe at once."""

    def __init__(self, folder: Path) -> None:
        """Make it."""
        self.desk = Desk.in_workspace(folder / "workspace", VirtualClock(NOW))
        self.folder = self.desk.folder
        self.workspace = Workspace(folder=self.folder, clock=self.desk.clock, say=self.desk.said.append, apart=False)
        self.crontab = Crontab(b"", start=self.start)
        interpreter = folder / "python"
        interpreter.touch()
        self.machine = Machine(
            runner=self.crontab,
            environment={"PATH": "/usr/bin:/bin"},
            home=folder,
            uid=os.getuid(),
            user="me",
            clock=self.desk.clock,
            zone=ZoneInfo("UTC"),
            interpreter=str(interpreter),
            is_mac=False,
            linger_dir=folder,
        )

    def start(self, words: tuple[str, ...]) -> None:
        """Start a probe, as cron does."""
        probe.prove(self.workspace, words[words.index(probe.MODULE) + 1])

    def examine(self, wishes: Wishes = OFFLINE, *, draws: bool = False) -> dict[str, Finding]:
        """Return what is found, the worst of each line; drawing takes a while and is left out."""
        found: dict[str, Finding] = {}
        with ExitStack() as stack:
            looks = Doctor(self.workspace, wishes, stack, self.machine).list_looks()
            for finding in examine_all(look for look in looks if draws or look.about != "slides"):
                if finding.about not in found or finding.state is not State.OK:
                    found[finding.about] = finding
        return found

    def looks(self) -> tuple[Look, ...]:
        """Return every look there is."""
        with ExitStack() as stack:
            return tuple(Doctor(self.workspace, ALL, stack, self.machine).list_looks())


@pytest.fixture
def ward(tmp_path: Path) -> Ward:
    """Return a workspace where nothing is installed."""
    return Ward(tmp_path)


def refuse() -> tuple[Finding, ...]:
    """Be a look that cannot be had."""
    raise UpstreamError("the system", "cannot run")


def test_every_look_that_cannot_run_is_exit_3(ward: Ward) -> None:
    """All of them at once, and each alone among others that are ok: never ok, never passed over."""
    looks = ward.looks()
    assert len(looks) >= 22
    found = tuple(examine_all(replace(look, find=refuse) for look in looks))
    assert [(one.about, one.state) for one in found] == [(look.about, State.UNKNOWN) for look in looks]
    assert judge_all(found) is DoctorCode.UNKNOWN
    for broken in looks:
        mixed = (
            replace(look, find=refuse if look is broken else lambda: (good("x", "as it is to be"),)) for look in looks
        )
        assert judge_all(examine_all(mixed)) is DoctorCode.UNKNOWN, broken.about


def test_broken_settings_leave_nothing_ok_that_rests_on_them(ward: Ward) -> None:
    """One line is wrong; the others could not be checked, and none is left out."""
    (ward.folder / "lamplighter.toml").write_text("zone = 5\n")
    found = ward.examine(ALL)
    assert {about for about, one in found.items() if one.state is State.OK} == {"catalog", "owner", "writer"}
    assert {about for about, one in found.items() if one.state is State.WRONG} == {"settings"}
    assert "see its own line" in found["jobs"].words


def test_a_catalog_that_cannot_be_read_is_wrong_once(ward: Ward) -> None:
    """And what needs the brands could not be checked."""
    (ward.folder / "brand-catalog.json").write_text("{")
    found = ward.examine(draws=True)
    assert found["catalog"].state is State.WRONG
    assert {found[about].state for about in ("shops", "clock", "slides", "scheduler")} == {State.UNKNOWN}


def test_a_damaged_database_is_wrong_and_what_needs_it_unknown(ward: Ward) -> None:
    """It says that the next run makes a new one."""
    ward.desk.database.close()
    file = ward.folder / "state" / "lamplighter.db"
    for ending in ("-wal", "-shm"):
        Path(f"{file}{ending}").unlink(missing_ok=True)
    file.write_bytes(b"SQLite format 3\x00" + os.urandom(8_000))
    found = ward.examine()
    assert (found["database"].state, "is damaged" in found["database"].words) == (State.WRONG, True)
    assert {found[about].state for about in ("jobs", "watch", "incidents", "drafts")} == {State.UNKNOWN}


def test_a_database_that_is_gone_is_wrong_where_runs_have_been(ward: Ward) -> None:
    """Where none has been, the first run makes it."""
    ward.desk.database.close()
    for file in (ward.folder / "state").glob("lamplighter.db*"):
        file.unlink()
    assert ward.examine()["database"].state is State.OK
    log = ward.folder / "state/logs/generate/7.log"
    log.parent.mkdir(parents=True)
    log.write_text("made\n")
    found = ward.examine()["database"]
    assert (found.state, "is gone" in found.words) == (State.WRONG, True)


def test_nothing_installed_is_wrong_where_jobs_are_due(ward: Ward) -> None:
    """And so is a watcher that nobody starts."""
    found = ward.examine()
    assert found["scheduler"].line == "wrong: nothing starts the jobs when they are due; lamplighter schedule install"
    assert (found["watch"].state, found["watch"].remedy) == (State.WRONG, "lamplighter schedule install")
    assert found["login"].state is State.OK


def test_what_is_installed_is_compared_entry_by_entry(ward: Ward) -> None:
    """With our next time and the system's; each job's own line has its entry too."""
    scheduling.install(ward.workspace, machine=ward.machine)
    found = ward.examine()
    assert [found[f"entry {job}"].state for job in ("generate", "post", "watch")] == [State.OK] * 3
    assert "due 2026-11-30 18:00, woken 2026-11-30" in found["entry generate"].words
    assert found["job post"].words.startswith("entry loaded; system's last exit: not said; it has not run yet")
    ward.crontab.content = (ward.crontab.content or b"").replace(b"run post", b"run toast")
    edited = ward.examine()
    assert (edited["entry post"].state, edited["entry post"].remedy) == (State.WRONG, "lamplighter schedule install")
    assert edited["job post"].words.startswith("entry edited")


def test_a_scheduler_that_does_not_answer_could_not_be_checked(ward: Ward) -> None:
    """And a record that makes no sense is wrong."""
    scheduling.install(ward.workspace, machine=ward.machine)
    ward.crontab.refuses = "you may not"
    found = ward.examine()
    assert (found["scheduler"].state, "you may not" in found["scheduler"].words) == (State.UNKNOWN, True)
    assert found["job post"].words.startswith("entry not known")
    (ward.folder / "state/schedule/installed.json").write_text("[]")
    assert ward.examine()["scheduler"].state is State.WRONG


def test_a_template_that_is_not_there_is_wrong(ward: Ward) -> None:
    """One slide is drawn by the first; the others are only looked at."""
    assert ward.examine(draws=True)["slides"].line.startswith("ok: one slide was drawn by template default")
    catalog = ward.folder / "brand-catalog.json"
    catalog.write_text(catalog.read_text("utf-8").replace('"template": "default"', '"template": "mine"', 1), "utf-8")
    found = ward.examine(draws=True)["slides"]
    assert (found.state, "template mine" in found.words) == (State.WRONG, True)


def test_entries_of_another_kind_of_machine_are_wrong(ward: Ward) -> None:
    """A workspace that was copied from a Mac."""
    scheduling.install(ward.workspace, machine=ward.machine)
    record = ward.folder / "state/schedule/installed.json"
    record.write_text(record.read_text().replace('"cron"', '"launchd"'))
    found = ward.examine()
    assert (found["scheduler"].state, "installed at launchd" in found["scheduler"].words) == (State.WRONG, True)


def test_a_job_that_was_due_and_left_nothing_is_wrong(ward: Ward) -> None:
    """Once the time of a run has passed since, and not for what was due before anybody scheduled it."""
    scheduling.install(ward.workspace, machine=ward.machine)
    run = ("UPDATE cadence SET since = ?", ((NOW - timedelta(days=2)).timestamp(),))
    ward.desk.database.change(
        "INSERT INTO cadence (account, job, words, since) VALUES ('main', 'post', '19:30 Etc/UTC', 0)"
    )
    zone = read_settings(ward.folder).post.zone.key
    ward.desk.database.change("UPDATE cadence SET words = ?", (f"19:30 {zone}",))
    ward.desk.database.change(*run)
    found = ward.examine()["job post"]
    assert (found.state, "and never ran" in found.words, found.remedy) == (State.WRONG, True, "lamplighter post")
    slot = "2026-11-29-1930"
    ward.desk.journal.claim(slot, "feature-0001-wrenfold", generation=1, run=1)
    ward.desk.journal.published(slot, make_receipt(slot, "feature-0001-wrenfold"), generation=1)
    assert ward.examine()["job post"].state is State.OK


def test_the_deep_look_is_single_and_says_who_has_it(ward: Ward) -> None:
    """It waits for nobody; what it cannot look at is unknown."""
    settings = read_settings(ward.folder)
    with JobLock(settings.state_dir / "locks" / "doctor", ward.desk.clock) as lock:
        lock.acquire("doctor --deep")
        (found,) = compare_all(settings, ward.desk.clock)
    assert (found.state, found.words.startswith("another one is at work")) == (State.UNKNOWN, True)
    (free,) = compare_all(settings, ward.desk.clock)
    assert free.state is State.OK


def test_the_deep_look_waits_out_what_a_run_is_just_moving(ward: Ward) -> None:
    """A difference is one only when it stays: here it does, and then it is told."""
    item = ward.desk.put()
    (item.folder / "slide-2.jpg").unlink()
    settings = read_settings(ward.folder)
    with JobLock(settings.state_dir / "locks" / "post", ward.desk.clock) as lock:
        lock.acquire("post")
        (found,) = compare_all(settings, ward.desk.clock)
    assert (found.about, "slide-2.jpg is missing" in found.words) == (f"feature {item.id}", True)
    assert ward.desk.clock.waits


def test_a_record_that_cannot_be_read_is_no_agreement(ward: Ward) -> None:
    """It could not be checked."""
    (ward.folder / "state/folder_posted.jsonl").mkdir()
    found = ward.examine(ALL)["deep"]
    assert found.state is State.UNKNOWN


@pytest.mark.parametrize("name", ["state", "content/sns"])
def test_a_place_that_is_no_folder_is_never_ok(ward: Ward, name: str) -> None:
    """A file in its place is said by the folders' line at least."""
    ward.desk.database.close()
    place = ward.folder / name
    if place.exists():
        place.rename(ward.folder / "aside")
    place.parent.mkdir(exist_ok=True)
    place.write_text("")
    found = ward.examine(ALL)
    assert found["folders"].state is State.WRONG
    assert found["deep"].state is State.UNKNOWN


def test_a_workspace_that_is_gone_is_never_ok(tmp_path: Path) -> None:
    """Nothing but what lies outside it."""
    said: list[str] = []
    gone = Workspace(folder=tmp_path / "gone", clock=VirtualClock(NOW), say=said.append)
    found = tuple(examine(gone, OFFLINE))
    assert {one.about for one in found if one.state is State.OK} == {"writer"}
    with pytest.raises(InputError):
        read_settings(gone.folder)
