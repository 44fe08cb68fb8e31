"""schedule install, verify, show and remove, and what the watcher repairs, on a machine of the tests' own."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.scheduler import Crontab, Launchctl

from lamplighter.app import probe, scheduling
from lamplighter.app.machine import Machine, build_launcher, choose_launcher, compose_path, read_machine
from lamplighter.app.place import Workspace
from lamplighter.app.running import DATABASE_FILE, ENGINE_MIGRATIONS
from lamplighter.config.settings import read_settings
from lamplighter.engine.expectation import ProbeFacts
from lamplighter.engine.ledger import Ledger
from lamplighter.errors import ConfigError, InputError, LamplighterError, NeedsHuman, UpstreamError, UsageError
from lamplighter.host.database import open_database
from lamplighter.schedule.check import Drift
from lamplighter.schedule.entry import project_name
from lamplighter.schedule.record import read_installed, write_installed
from lamplighter.value import replace as replace_value

NOW = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
THEIRS = b"MAILTO=x\n5 4 * * * echo \xff\n"
SETTINGS = 'zone = "Europe/Berlin"\n[jobs.backup]\ncommand = ["./b.sh"]\ncron = "*/30 8-18 * * 1-5"\n'


class Place:
    """A workspace, a crontab, a clock, and a scheduler that starts what it is asked to at once."""

    def __init__(self, folder: Path, settings: str = SETTINGS) -> None:
        """Make the workspace."""
        self.folder = folder / "brand"
        self.folder.mkdir()
        (self.folder / "brand-catalog.json").write_text('{"brands": []}')
        self.write(settings)
        self.clock = VirtualClock(NOW)
        self.said: list[str] = []
        self.workspace = Workspace(folder=self.folder, clock=self.clock, say=self.said.append)
        self.crontab = Crontab(THEIRS, start=self.start)
        self.interpreter = folder / "python"
        self.interpreter.touch()
        self.machine = Machine(
            runner=self.crontab,
            environment={"PATH": "/usr/bin:/bin"},
            home=folder,
            uid=os.getuid(),
            user="me",
            clock=self.clock,
            zone=ZoneInfo("Europe/Berlin"),
            interpreter=str(self.interpreter),
            is_mac=False,
            linger_dir=folder,
        )

    def write(self, settings: str) -> None:
        """Write the settings."""
        (self.folder / "lamplighter.toml").write_text(settings)

    def start(self, words: tuple[str, ...]) -> None:
        """Start what a scheduler starts: a probe of ours."""
        at = words.index(probe.MODULE)
        probe.prove(self.workspace, words[at + 1])

    def install(self) -> scheduling.InstallReport:
        """Install."""
        return scheduling.install(self.workspace, machine=self.machine)

    def drifts(self) -> dict[str, Drift | None]:
        """Return what verify finds, by job."""
        return {check.job: check.drift for check in scheduling.verify(self.workspace, machine=self.machine)}

    def look(self) -> ProbeFacts:
        """Return what a watcher's look finds."""
        settings = read_settings(self.folder)
        (expected,) = scheduling.list_expected(settings, self.clock, machine=self.machine)
        facts = expected.read()
        assert isinstance(facts, ProbeFacts)
        return facts


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a place with two jobs of ours and one of one's own."""
    return Place(tmp_path)


def test_install_proves_that_the_scheduler_starts_us(place: Place) -> None:
    """Seen in the ledger; then the entry that proved it is gone again."""
    report = place.install()
    assert report.proof == "cron started lamplighter at 13:00:30: it works"
    assert [entry.job for entry in report.entries] == ["generate", "post", "backup", "watch"]
    assert len(report.changed) == 4
    assert b"app.probe" not in (place.crontab.content or b"")
    with open_database(place.folder / "state" / DATABASE_FILE, ENGINE_MIGRATIONS) as database:
        (run,) = Ledger(database, place.clock, "main").latest(job=probe.JOB)
    assert run.trigger == "cron"
    assert set(place.drifts().values()) == {None}
    assert place.install().changed == ()


def test_a_scheduler_that_starts_nothing_is_no_success(place: Place) -> None:
    """The entries are there, and what did not come is said: no daemon, exit 77."""
    place.crontab.start = lambda _: None
    with pytest.raises(LamplighterError, match=r"but no run was seen|no cron daemon runs") as caught:
        place.install()
    assert isinstance(caught.value, (NeedsHuman, UpstreamError))
    assert place.clock.now() > NOW + timedelta(seconds=40)
    assert b"app.probe" not in (place.crontab.content or b"")
    assert set(place.drifts().values()) == {None}


def test_an_entry_holds_no_secret_and_names_everything_in_full(place: Place) -> None:
    """Interpreter and workspace absolute, no variable of the person's terminal."""
    place.machine = replace(place.machine, environment={"PATH": "/usr/bin", "API_TOKEN": "hush"})
    place.write(f'{SETTINGS}env = {{ TOKEN = "env:API_TOKEN" }}\n')
    report = place.install()
    content = (place.crontab.content or b"").decode("utf-8", "replace")
    assert "hush" not in content
    assert f"{place.interpreter} -P -m lamplighter run backup --scheduled --workspace {place.folder}" in content
    assert "job backup: no scheduler has the variable API_TOKEN; name a file: backup.env = file:PATH" in report.remarks


def test_remove_leaves_what_is_not_ours(place: Place) -> None:
    """Byte for byte; and then nothing is expected any more."""
    place.install()
    assert len(scheduling.remove(place.workspace, machine=place.machine)) == 4
    assert place.crontab.content == THEIRS
    assert list(scheduling.list_expected(read_settings(place.folder), place.clock, machine=place.machine)) == []
    with pytest.raises(InputError, match="nothing was installed for this workspace; lamplighter schedule install"):
        place.drifts()
    assert scheduling.describe_installed(place.workspace).startswith("nothing starts the jobs by itself")


def test_remove_works_where_the_settings_are_broken(place: Place) -> None:
    """Whoever gives up must be able to."""
    place.install()
    place.write("[generate\n")
    assert len(scheduling.remove(place.workspace, machine=place.machine)) == 4
    assert place.crontab.content == THEIRS


@pytest.mark.parametrize("left", [b"", THEIRS])
def test_entries_that_are_gone_are_put_back_and_told_once(place: Place, left: bytes) -> None:
    """Somebody emptied the crontab: the watcher repairs it, keeps theirs, and says so."""
    place.install()
    place.clock.advance(timedelta(minutes=5))
    assert place.look() == ProbeFacts()
    place.crontab.content = left
    place.clock.advance(timedelta(minutes=5))
    facts = place.look()
    assert facts.trouble == ""
    assert facts.repaired.startswith(
        "scheduler entries were put right: generate: missing, it is not there; post: missing"
    )
    assert set(place.drifts().values()) == {None}
    assert place.look() == ProbeFacts()
    record = read_installed(place.folder / "state")
    assert record is not None
    absence = record.absences[0]
    assert (absence.job, absence.end_at - absence.begin_at) == ("generate", timedelta(minutes=5))
    assert (place.crontab.content or b"").endswith(left)


def test_what_a_person_takes_away_no_watcher_puts_back(place: Place) -> None:
    """The look had begun before, and finds the record gone."""
    place.install()
    settings = read_settings(place.folder)
    (expected,) = scheduling.list_expected(settings, place.clock, machine=place.machine)
    scheduling.remove(place.workspace, machine=place.machine)
    assert expected.read() == ProbeFacts()
    assert place.crontab.content == THEIRS


def test_an_installation_that_is_being_proved_is_left_to_itself(place: Place) -> None:
    """A watcher that looks meanwhile does not take the proof's line for one that came back."""
    found: list[ProbeFacts] = []

    def start(words: tuple[str, ...]) -> None:
        found.append(place.look())
        place.start(words)

    place.crontab.start = start
    assert place.install().proof.endswith("it works")
    assert found == [ProbeFacts()]


def test_settings_that_change_reach_the_scheduler_by_themselves(place: Place) -> None:
    """Another time, a job more, a job less."""
    place.install()
    place.write('zone = "Europe/Berlin"\n[post]\nat = "21:00"\n[jobs.report]\ncommand = ["r"]\nevery = "30m"\n')
    assert place.drifts() == {
        "generate": None,
        "post": Drift.OUTDATED,
        "report": Drift.MISSING,
        "watch": None,
        "backup": Drift.RETIRED,
    }
    assert "post: out of date, the settings have changed since it was installed" in place.look().repaired
    assert set(place.drifts().values()) == {None}
    assert b"\n0 21 * * * " in (place.crontab.content or b"")


def test_what_cannot_be_repaired_is_said(place: Place) -> None:
    """A crontab that nobody may change any more: the facts are unreadable, never well."""
    place.install()
    place.crontab.refuses = "not allowed"
    with pytest.raises(UpstreamError, match="not allowed"):
        place.look()
    place.crontab.refuses = ""
    content = place.crontab.content or b""
    place.crontab.content = content + b"".join(content.splitlines(keepends=True)[:1])
    with pytest.raises(InputError, match="are not one pair, so it was left as it is"):
        place.look()


def test_an_interpreter_that_is_gone_is_replaced_by_the_one_that_looks(place: Place, tmp_path: Path) -> None:
    """The venv was moved; as long as the old one is there, another that looks changes nothing."""
    place.install()
    other = tmp_path / "other-python"
    other.touch()
    place.machine = replace(place.machine, interpreter=str(other))
    assert place.look() == ProbeFacts()
    place.interpreter.unlink()
    assert set(place.drifts().values()) == {Drift.MOVED}
    assert f"the interpreter {place.interpreter} is gone" in place.look().repaired
    assert str(other).encode() in (place.crontab.content or b"")
    assert set(place.drifts().values()) == {None}


def test_a_workspace_that_was_moved_takes_its_entries_along(place: Place) -> None:
    """Under its new name; the entries of the old one go."""
    place.install()
    moved = place.folder.with_name("moved")
    place.folder.rename(moved)
    place.folder, place.workspace = moved, replace_value(place.workspace, folder=moved)
    assert set(place.drifts().values()) == {Drift.MOVED}
    assert "the workspace was moved from" in place.look().repaired
    content = (place.crontab.content or b"").decode("utf-8", "replace")
    assert f"dev.lamplighter.{project_name(moved)}.post" in content
    assert "brand-" not in content


def test_another_scheduler_takes_over_and_the_former_is_cleared(place: Place) -> None:
    """Installed by cron, then on a Mac by launchd: one post a day, not two."""
    place.install()
    agents = place.machine.home / "Library" / "LaunchAgents"
    launchctl = Launchctl(agents, start=place.start)
    mac = replace(place.machine, runner=launchctl, is_mac=True)
    report = scheduling.install(place.workspace, machine=mac)
    assert report.proof.startswith("launchd started lamplighter at ")
    assert report.remarks[0].startswith("the former entries at cron are still there: ")
    assert {file.suffix for file in agents.iterdir()} == {".plist"}
    assert (place.machine.home / "Library/Logs/lamplighter").is_dir()
    assert len(scheduling.remove(place.workspace, machine=mac)) == 4
    assert list(agents.iterdir()) == []


def test_show_tells_the_next_times_by_us_and_by_the_system(place: Place) -> None:
    """Also where nothing is installed: then by us alone."""
    name, shown = scheduling.show(place.workspace, machine=place.machine)
    assert (name, shown[0].wakes.words) == ("", "nothing is installed")
    place.install()
    name, shown = scheduling.show(place.workspace, machine=place.machine)
    post = next(job for job in shown if job.job == "post")
    assert name == "cron"
    assert [f"{at.astimezone(ZoneInfo('Europe/Berlin')):%d %H:%M}" for at in post.due_at] == [
        "30 19:30",
        "01 19:30",
        "02 19:30",
    ]
    assert len(post.wakes.at) == 3
    assert next(job for job in shown if job.job == "watch").due_at == ()


def test_an_impossible_name_for_cron_is_refused_before_anything_changes(place: Place) -> None:
    """A PATH that cron would cut."""
    far = place.machine.home / ("x" * 200) / ("y" * 200) / ("z" * 200)
    far.mkdir(parents=True)
    place.machine = replace(place.machine, interpreter=str(far / "python"))
    with pytest.raises(ConfigError, match="cron takes 998"):
        place.install()
    assert place.crontab.content == THEIRS
    assert read_installed(place.folder / "state") is None


def test_the_kind_of_machine_decides_which_schedulers_there_are(place: Place) -> None:
    """A Mac has launchd alone, and nothing else has it; nothing at all is for a person."""
    mac = replace(place.machine, is_mac=True)
    with pytest.raises(UsageError, match="launchd is what a Mac has"):
        build_launcher("cron", mac)
    with pytest.raises(UsageError, match="only a Mac has launchd"):
        build_launcher("launchd", place.machine)
    with pytest.raises(UsageError, match="there is no such scheduler"):
        build_launcher("at", place.machine)
    assert (choose_launcher(mac).name, choose_launcher(place.machine).name) == ("launchd", "cron")
    place.crontab.refuses = "no"
    with pytest.raises(NeedsHuman, match="no systemd manager of user me answers, and there is no crontab"):
        choose_launcher(place.machine)


def test_path_has_what_the_jobs_need_first(place: Place, tmp_path: Path) -> None:
    """The interpreter's folder, then where the tools are, then the system's; nothing relative."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "claude").write_text("#!/bin/sh\n")
    (tools / "claude").chmod(0o755)
    machine = replace(place.machine, environment={"PATH": f"relative:{tools}:/bin"})
    folders = compose_path(machine, ("claude", "no-such-tool")).split(":")
    assert folders[:2] == [str(tmp_path), str(tools)]
    assert "/usr/bin" in folders
    assert all(Path(folder).is_absolute() for folder in folders)


def test_this_machine_is_read(place: Place) -> None:
    """Its user, home and zone."""
    machine = read_machine()
    assert (machine.uid, machine.home, machine.is_mac) == (os.geteuid(), Path(os.environ["HOME"]), False)
    assert datetime.now(tz=UTC).astimezone(machine.zone).utcoffset() is not None
    assert machine.log_dir is None
    assert place.machine.log_dir is None


def test_a_record_that_makes_no_sense_is_doubt_and_not_silence(place: Place) -> None:
    """Somebody wrote into it: unknown, never ok."""
    place.install()
    record = read_installed(place.folder / "state")
    assert record is not None
    write_installed(place.folder / "state", record)
    (place.folder / "state/schedule/installed.json").write_text("{}")
    with pytest.raises(InputError, match="it makes no sense"):
        place.look()
