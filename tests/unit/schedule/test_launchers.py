"""Schedulers asked through their programs: what is installed, found, started once, and taken away."""

from __future__ import annotations

import plistlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.scheduler import Crontab, Launchctl, Systemctl, said
from tests.unit.schedule.entries import PROJECT, at_home

from lamplighter.errors import InputError, NeedsHuman, UpstreamError
from lamplighter.host.process import Command, Ending, Finished, Runner
from lamplighter.schedule.cron import render_block
from lamplighter.schedule.cron_launcher import CronLauncher
from lamplighter.schedule.entry import Entry
from lamplighter.schedule.launchd_launcher import LaunchdLauncher
from lamplighter.schedule.systemd_launcher import SystemdLauncher
from lamplighter.schedule.tool import Tool

NOW = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
THEIRS = b"MAILTO=x\n5 4 * * * echo \xff\n"


def probe_of(entry: Entry) -> Entry:
    """Return an entry of one start."""
    argv = ("/v/bin/python", "-P", "-m", "lamplighter.app.probe", "token", "/w")
    label = entry.label.replace("generate", "schedule-probe")
    return replace(entry, label=label, job="schedule-probe", argv=argv, minutes=frozenset(), catches_up=False)


class Home:
    """A Mac's home and its launchctl."""

    def __init__(self, folder: Path) -> None:
        """Begin with nothing installed."""
        self.agents = folder / "Library" / "LaunchAgents"
        self.entries = at_home(folder)
        self.started: list[tuple[str, ...]] = []
        self.launchctl = Launchctl(self.agents, start=self.started.append)
        self.clock = VirtualClock(NOW)
        self.launcher = LaunchdLauncher(
            self.launchctl, home=folder, uid=folder.stat().st_uid, environment={}, clock=self.clock
        )

    def file(self, entry: Entry) -> Path:
        """Return where an entry's property list is."""
        return self.agents / f"{entry.label}.plist"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a Mac's home."""
    return Home(tmp_path)


def test_launchd_install_writes_real_files_and_loads_them(home: Home) -> None:
    """0644, enabled before they are loaded, and known afterwards; a second time there is nothing to do."""
    label = home.entries[0].label
    home.launchctl.disabled.add(label)
    assert home.launcher.install(home.entries, PROJECT) == tuple(entry.label for entry in home.entries)
    assert home.file(home.entries[0]).stat().st_mode & 0o777 == 0o644
    assert set(home.launchctl.loaded) == {entry.label for entry in home.entries}
    words = [asked[0] for asked in home.launchctl.asked if any(label in word for word in asked)]
    assert words[words.index("bootout") :] == ["bootout", "print", "enable", "bootstrap", "print"]
    assert home.launcher.install(home.entries, PROJECT) == ()


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda _, file: file.unlink(), {"exists": False, "is_loaded": True}),
        (lambda home, _: home.launchctl.loaded.clear(), {"is_loaded": False}),
        (lambda home, file: home.launchctl.disabled.add(file.stem), {"is_enabled": False}),
        (lambda _, file: file.chmod(0o666), {"edits": ("others may write it",)}),
        (lambda _, file: file.write_bytes(b"x"), {"edits": ("it is no property list",)}),
        (
            lambda home, file: home.launchctl.loaded.update({file.stem: Path("/repo/x.plist")}),
            {"edits": ("loaded from /repo/x.plist",)},
        ),
        (
            lambda _, file: (file.rename(file.with_suffix(".x")), file.symlink_to(file.with_suffix(".x"))),
            {"edits": ("it is not a file of its own",)},
        ),
        (
            lambda home, file: home.launchctl.last_exit.update({file.stem: "78: EX_CONFIG"}),
            {"last_exit": "exit 78", "failed_start": True},
        ),
    ],
)
def test_launchd_drift_is_found_and_mended(
    home: Home, spoil: Callable[[Home, Path], None], found: dict[str, str]
) -> None:
    """A file that is gone, edited, a link, writable for others; not loaded, disabled, loaded from elsewhere."""
    home.launcher.install(home.entries, PROJECT)
    good = home.launcher.read(home.entries, PROJECT)[0]
    spoil(home, home.file(home.entries[0]))
    fact = home.launcher.read(home.entries, PROJECT)[0]
    for name, value in found.items():
        assert getattr(fact, name) == value
    assert fact != good
    assert home.entries[0].label in home.launcher.install(home.entries, PROJECT)
    assert home.launcher.read(home.entries, PROJECT)[0] == good


def test_launchd_retired_agents_go(home: Home) -> None:
    """One that came back as a file, one that is only loaded; another project's stays."""
    home.launcher.install(home.entries, PROJECT)
    old, ghost, other = (f"dev.lamplighter.{name}" for name in (f"{PROJECT}.old", f"{PROJECT}.ghost", "other-1.post"))
    for label in (old, other):
        (home.agents / f"{label}.plist").write_bytes(plistlib.dumps({"Label": label}))
    home.launchctl.loaded[ghost] = Path("/gone.plist")
    assert set(home.launcher.install(home.entries, PROJECT)) == {old, ghost}
    assert not (home.agents / f"{old}.plist").exists()
    assert (home.agents / f"{other}.plist").exists()
    assert ghost not in home.launchctl.loaded


def test_launchd_remove_leaves_nothing_of_ours(home: Home) -> None:
    """Unloaded and deleted."""
    home.launcher.install(home.entries, PROJECT)
    assert set(home.launcher.remove(PROJECT)) == {entry.label for entry in home.entries}
    assert (list(home.agents.iterdir()), home.launchctl.loaded) == ([], {})
    assert home.launcher.remove(PROJECT) == ()


def test_launchd_repair_ends_no_run_that_is_at_work(home: Home, tmp_path: Path) -> None:
    """Loading anew would end it, and the watcher that repairs itself would end itself."""
    home.launcher.install(home.entries, PROJECT)
    generate, watch = home.entries
    changed = (replace(generate, path="/new"), replace(watch, path="/new"))
    home.launchctl.running.add(generate.label)
    own = LaunchdLauncher(
        home.launchctl,
        home=tmp_path,
        uid=tmp_path.stat().st_uid,
        environment={"XPC_SERVICE_NAME": watch.label},
        clock=home.clock,
    )
    home.launchctl.asked.clear()
    assert own.install(changed, PROJECT, gently=True) == ()
    assert "bootout" not in [asked[0] for asked in home.launchctl.asked]
    assert not own.read(changed, PROJECT)[0].edits


def test_launchd_starts_once_and_leaves_nothing(home: Home) -> None:
    """Loaded, kicked, and gone again."""
    probe = probe_of(home.entries[0])
    assert home.launcher.start(probe, NOW) > NOW
    assert home.started == [probe.argv]
    home.launcher.clear(probe, PROJECT)
    assert (list(home.agents.iterdir()), home.launchctl.loaded) == ([], {})


def test_launchd_says_why_nothing_came(home: Home) -> None:
    """Not loaded, never ended, 78."""
    probe = probe_of(home.entries[0])
    assert home.launcher.explain_silence(probe) == "launchd has not loaded it"
    home.launcher.start(probe, NOW)
    assert home.launcher.explain_silence(probe) == "launchd says that it has not ended"
    home.launchctl.last_exit[probe.label] = "78: EX_CONFIG"
    assert home.launcher.explain_silence(probe).startswith("launchd could not start it (exit 78)")
    assert home.launcher.list_next(probe, NOW, 3).words == "launchd does not say when it starts an agent next"
    assert any("FileVault" in remark for remark in home.launcher.list_remarks())


def test_launchd_without_a_session_is_for_a_person(home: Home) -> None:
    """As over ssh: one line that says what to do."""
    home.launchctl.has_session = False
    with pytest.raises(NeedsHuman, match="log in at the Mac's screen as this user"):
        home.launcher.install(home.entries, PROJECT)
    assert list(home.agents.iterdir()) == []


class Machine:
    """A crontab and who reads it."""

    def __init__(self, folder: Path, content: bytes | None, zone: str = "UTC") -> None:
        """Begin with a crontab, or with none."""
        self.crontab = Crontab(content)
        self.clock = VirtualClock(NOW)
        self.entries = at_home(folder)
        self.pid_file = folder / "cron.pid"
        self.launcher = CronLauncher(
            self.crontab, environment={}, clock=self.clock, machine=ZoneInfo(zone), pid_files=(self.pid_file,)
        )


@pytest.mark.parametrize("before", [None, b"", THEIRS])
def test_cron_install_and_remove_leave_what_was_there(tmp_path: Path, before: bytes | None) -> None:
    """Nothing, an empty crontab, and one with other people's lines."""
    machine = Machine(tmp_path, before)
    labels = tuple(entry.label for entry in machine.entries)
    assert machine.launcher.install(machine.entries, PROJECT) == labels
    assert machine.crontab.content == render_block(machine.entries, PROJECT) + (before or b"")
    assert all(fact.exists and not fact.edits for fact in machine.launcher.read(machine.entries, PROJECT))
    assert machine.launcher.install(machine.entries, PROJECT) == ()
    assert machine.launcher.remove(PROJECT) == labels
    assert machine.crontab.content == (before or None)
    assert machine.launcher.remove(PROJECT) == ()


def test_cron_drift_is_found(tmp_path: Path) -> None:
    """An edited line, a label that is gone, one that came back, a line without a name, another zone above."""
    machine = Machine(tmp_path, THEIRS)
    generate, watch = machine.entries
    block = render_block(machine.entries, PROJECT)
    machine.crontab.content = block.replace(b"0 6,12,18 * * *", b"0 7 * * *", 1)
    assert [fact.edits for fact in machine.launcher.read(machine.entries, PROJECT)] == [("its lines",), ()]
    machine.crontab.content = render_block((watch,), PROJECT)
    assert [fact.exists for fact in machine.launcher.read(machine.entries, PROJECT)] == [False, True]
    machine.crontab.content = block
    assert [fact.label for fact in machine.launcher.read((generate,), PROJECT)] == [generate.label, watch.label]
    machine.crontab.content = block.replace(b"\n", b"\n1 1 * * * true\n", 1)
    assert machine.launcher.read(machine.entries, PROJECT)[0].edits == ("lines without a name",)
    machine.crontab.content = b"CRON_TZ=Asia/Tokyo\n" + block
    assert machine.launcher.read(machine.entries, PROJECT)[0].edits == ("CRON_TZ is set above our lines",)
    machine.launcher.install(machine.entries, PROJECT)
    assert machine.crontab.content == block + b"CRON_TZ=Asia/Tokyo\n"


def test_a_crontab_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Somebody saved theirs between our look and our change."""
    machine = Machine(tmp_path, THEIRS)
    looks = iter((THEIRS, b"new\n"))

    def change() -> None:
        machine.crontab.content = next(looks, b"new\n")

    machine.crontab.before_reading = change
    with pytest.raises(InputError, match="somebody changed it meanwhile, so it was left as it is"):
        machine.launcher.install(machine.entries, PROJECT)
    assert machine.crontab.content == b"new\n"


def test_a_crontab_that_does_not_keep_what_was_written_is_said(tmp_path: Path) -> None:
    """Never taken for done."""
    machine = Machine(tmp_path, THEIRS)

    def forget() -> None:
        machine.crontab.content = THEIRS

    machine.crontab.before_reading = forget
    with pytest.raises(UpstreamError, match="it does not hold what was written"):
        machine.launcher.install(machine.entries, PROJECT)


def test_a_crontab_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """A user who may not use cron."""
    machine = Machine(tmp_path, None)
    machine.crontab.refuses = "You (me) are not allowed to use this program (crontab)\nSee crontab(1)"
    with pytest.raises(UpstreamError, match="crontab -l: You \\(me\\) are not allowed"):
        machine.launcher.read(machine.entries, PROJECT)
    assert not machine.launcher.answers()


@pytest.mark.parametrize(("second", "minute"), [(30, 1), (49, 1), (50, 2), (0, 1), (1, 1), (59, 2)])
def test_cron_is_asked_for_a_start_in_the_next_minute(tmp_path: Path, second: int, minute: int) -> None:
    """Never while a minute begins: what is written then cron may not see, its times have whole seconds."""
    machine = Machine(tmp_path, THEIRS, "Europe/Berlin")
    machine.clock.jump(NOW.replace(second=second))
    probe = probe_of(machine.entries[0])
    until = machine.launcher.start(probe, machine.clock.now())
    written = (machine.crontab.content or b"").decode("utf-8", "replace")
    assert f"\n{minute} 13 30 11 * /usr/bin/env" in written
    assert until - NOW.replace(minute=minute, second=0) == timedelta(seconds=20)
    assert 2 <= machine.clock.now().second <= 58
    machine.launcher.clear(probe, PROJECT)
    assert machine.crontab.content == THEIRS


def test_cron_says_when_it_wakes_us(tmp_path: Path) -> None:
    """By its own lines, in the machine's zone; a line that is no time is said."""
    machine = Machine(tmp_path, None, "Europe/Berlin")
    machine.launcher.install(machine.entries, PROJECT)
    wakes = machine.launcher.list_next(machine.entries[1], NOW, 3)
    assert [at.strftime("%H:%M") for at in wakes.at] == ["12:05", "12:10", "12:15"]
    machine.crontab.content = (machine.crontab.content or b"").replace(b"*/5 * * * *", b"*/5 * * 13 *")
    assert machine.launcher.list_next(machine.entries[1], NOW, 3).words == "*/5 * * 13 * is no time"
    machine.crontab.content = None
    assert machine.launcher.list_next(machine.entries[1], NOW, 3).words == "its lines have no time"


def test_cron_says_that_no_daemon_runs(tmp_path: Path) -> None:
    """By its pid file."""
    machine = Machine(tmp_path, None)
    assert "no cron daemon runs" in machine.launcher.explain_silence(machine.entries[0])
    machine.pid_file.touch()
    assert "cron runs" in machine.launcher.explain_silence(machine.entries[0])
    assert "once an hour" in machine.launcher.list_remarks()[0]


class Silent:
    """A systemctl that says one thing."""

    def __init__(self, answer: Finished) -> None:
        """Answer so."""
        self.answer = answer
        self.environments: list[str] = []

    def run(self, command: Command) -> Finished:
        """Answer, and remember where the manager was looked for."""
        self.environments.append(command.env.get("XDG_RUNTIME_DIR", ""))
        return self.answer


class User:
    """A user with a manager that answers."""

    def __init__(self, folder: Path) -> None:
        """Begin with nothing installed."""
        self.units = folder / "units"
        self.stamps = folder / "stamps"
        self.entries = at_home(folder)
        self.started: list[tuple[str, ...]] = []
        self.systemctl = Systemctl(self.units, start=self.started.append)
        self.launcher = systemd(folder, self.systemctl)

    def file(self, job: int, kind: str) -> Path:
        """Return where a unit of an entry is."""
        return self.units / f"{self.entries[job].label}.{kind}"


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Return a user."""
    return User(tmp_path)


def test_systemd_install_writes_units_and_lets_the_timers_wait(user: User) -> None:
    """0644, taken in, enabled and waiting; a second time there is nothing to do."""
    labels = tuple(entry.label for entry in user.entries)
    assert user.launcher.answers()
    assert user.launcher.install(user.entries, PROJECT) == labels
    assert {file.stat().st_mode & 0o777 for file in user.units.glob("dev.*")} == {0o644}
    facts = user.launcher.read(user.entries, PROJECT)
    assert [(fact.exists, fact.edits, fact.is_loaded, fact.is_enabled) for fact in facts] == [
        (True, (), True, True)
    ] * 2
    assert facts[0].argv == user.entries[0].argv
    user.systemctl.asked.clear()
    assert user.launcher.install(user.entries, PROJECT) == ()
    assert {asked[0] for asked in user.systemctl.asked} == {"list-units", "show"}


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda user: user.file(0, "timer").unlink(), {"exists": False}),
        (lambda user: user.file(0, "service").unlink(), {"exists": False}),
        (lambda user: user.systemctl.link(user.file(0, "timer").name).unlink(), {"is_enabled": False}),
        (lambda user: user.systemctl.active.discard(user.file(0, "timer").name), {"is_loaded": False}),
        (
            lambda user: user.file(0, "timer").write_text(
                user.file(0, "timer").read_text().replace("Persistent=true", "Persistent=false")
            ),
            {"edits": ("Timer.Persistent",), "is_loaded": False},
        ),
        (
            lambda user: (
                user.file(0, "service").rename(user.units.parent / "elsewhere"),
                user.file(0, "service").symlink_to(user.units.parent / "elsewhere"),
            ),
            {"edits": (f"dev.lamplighter.{PROJECT}.generate.service is a link",)},
        ),
    ],
)
def test_systemd_drift_is_found_and_mended(user: User, spoil: Callable[[User], None], found: dict[str, str]) -> None:
    """A file that is gone, edited or a link; a timer that is disabled or does not wait."""
    user.launcher.install(user.entries, PROJECT)
    good = user.launcher.read(user.entries, PROJECT)[0]
    spoil(user)
    fact = user.launcher.read(user.entries, PROJECT)[0]
    for name, value in found.items():
        assert getattr(fact, name) == value
    assert fact != good
    assert user.launcher.install(user.entries, PROJECT) == (user.entries[0].label,)
    assert user.launcher.read(user.entries, PROJECT)[0] == good


def test_what_is_laid_over_a_unit_is_an_edit(user: User) -> None:
    """A drop-in of somebody's: named, and not ours to remove."""
    user.launcher.install(user.entries, PROJECT)
    user.systemctl.drop_ins[user.file(0, "timer").name] = "/x/mine.conf"
    assert user.launcher.read(user.entries, PROJECT)[0].edits == ("/x/mine.conf",)


def test_systemd_retired_units_go_and_remove_leaves_nothing(user: User) -> None:
    """A unit that came back, one that is only known; stamps and links too; other people's stay."""
    user.launcher.install(user.entries, PROJECT)
    old, ghost = (f"dev.lamplighter.{PROJECT}.{name}" for name in ("old", "ghost"))
    (user.units / f"{old}.timer").write_text("[Timer]\n")
    (user.units / "backup.timer").write_text("[Timer]\n")
    user.systemctl.active.add(f"{ghost}.timer")
    user.stamps.mkdir()
    (user.stamps / f"stamp-{old}.timer").touch()
    assert set(user.launcher.install(user.entries, PROJECT)) == {old, ghost}
    assert list(user.stamps.iterdir()) == []
    assert set(user.launcher.remove(PROJECT)) == {entry.label for entry in user.entries}
    assert [file.name for file in user.units.rglob("*") if not file.is_dir()] == ["backup.timer"]
    assert (user.launcher.remove(PROJECT), user.systemctl.active) == ((), set())


def test_systemd_starts_once_and_leaves_nothing(user: User) -> None:
    """A service without a timer, started and gone again; what it said of its end is told."""
    probe = probe_of(user.entries[0])
    assert user.launcher.start(probe, NOW) > NOW
    assert user.started == [probe.argv]
    user.systemctl.results[f"{probe.label}.service"] = ("exit-code", "203")
    assert user.launcher.explain_silence(probe) == "systemd says exit-code (203)"
    probe.boot_line_file.write_text("exit-code exited 203\n")
    assert user.launcher.explain_silence(probe) == "systemd could not start it (203)"
    user.launcher.clear(probe, PROJECT)
    assert list(user.units.iterdir()) == []


def test_how_the_last_start_ended_is_read(user: User) -> None:
    """As the service itself left it."""
    user.launcher.install(user.entries, PROJECT)
    user.entries[0].boot_line_file.write_text("exit-code exited 203\n")
    user.entries[1].boot_line_file.write_text("exit-code exited 2\n")
    facts = user.launcher.read(user.entries, PROJECT)
    assert [(fact.last_exit, fact.failed_start) for fact in facts] == [
        ("systemd could not start it (203)", True),
        ("exit 2", False),
    ]
    user.launcher.install(user.entries, PROJECT, gently=True)
    assert user.launcher.read(user.entries, PROJECT) == facts
    user.launcher.install(user.entries, PROJECT)
    assert [fact.last_exit for fact in user.launcher.read(user.entries, PROJECT)] == ["", ""]


def test_systemd_says_when_it_wakes_us(user: User) -> None:
    """As systemd-analyze counts."""
    assert user.launcher.list_next(user.entries[0], NOW, 3).at == (datetime(2026, 11, 30, 18, tzinfo=UTC),)
    nothing = replace(user.entries[0], minutes=frozenset())
    assert user.launcher.list_next(nothing, NOW, 3).words == "systemd-analyze does not say"


def test_a_manager_that_takes_no_unit_is_one_line(user: User) -> None:
    """What it said, and that it was systemctl."""
    user.systemctl.refuses["enable"] = "Failed to enable unit: Unit file is masked.\n"
    with pytest.raises(UpstreamError, match="systemctl --user enable: Failed to enable unit: Unit file is masked"):
        user.launcher.install(user.entries, PROJECT)


def systemd(tmp_path: Path, runner: Runner) -> SystemdLauncher:
    """Return a user's manager that is asked through `runner`."""
    return SystemdLauncher(
        runner,
        unit_dir=tmp_path / "units",
        stamp_dir=tmp_path / "stamps",
        uid=1234,
        user="me",
        environment={},
        linger_dir=tmp_path,
    )


@pytest.mark.parametrize(
    "words",
    [
        "Failed to connect to bus: No medium found",
        "Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined",
        "System has not been booted with systemd as init system (PID 1). Can't operate.",
    ],
)
def test_a_user_without_a_manager_is_told_what_to_do(tmp_path: Path, words: str) -> None:
    """One line, and nothing is written."""
    runner = Silent(said(err=f"{words}\nmore", code=1))
    launcher = systemd(tmp_path, runner)
    assert not launcher.answers()
    with pytest.raises(
        NeedsHuman, match=r"no manager of this user answers: .* loginctl enable-linger me .* --with cron"
    ):
        launcher.install(at_home(tmp_path), PROJECT)
    assert not (tmp_path / "units").exists()
    assert set(runner.environments) == {"/run/user/1234"}


def test_systemd_that_refuses_is_one_line(tmp_path: Path) -> None:
    """With what it said."""
    launcher = systemd(tmp_path, Silent(said(err="Access denied\n", code=1)))
    with pytest.raises(UpstreamError, match="systemctl --user show: Access denied"):
        launcher.read(at_home(tmp_path), PROJECT)


def test_lingering_is_said_until_it_is_on(tmp_path: Path) -> None:
    """Without it nothing runs while nobody is logged in."""
    launcher = systemd(tmp_path, Silent(said()))
    assert launcher.list_remarks() == ("timers stop when you log out: loginctl enable-linger me lets them run on",)
    (tmp_path / "me").touch()
    assert launcher.list_remarks() == ()


def test_a_crontab_that_refuses_to_be_written_is_one_line(tmp_path: Path) -> None:
    """What crontab said of our lines; theirs are as they were."""
    machine = Machine(tmp_path, THEIRS)

    def refuse() -> None:
        if machine.crontab.asked.count(("crontab", "-l")) > 1:
            machine.crontab.cannot_write = "errors in crontab file, can't install."

    machine.crontab.before_reading = refuse
    with pytest.raises(UpstreamError, match="crontab -: errors in crontab file, can't install"):
        machine.launcher.install(machine.entries, PROJECT)
    assert machine.crontab.content == THEIRS


def test_a_program_that_does_not_answer_is_one_line() -> None:
    """A manager that hangs holds nobody up."""

    class Hanging:
        def run(self, command: Command) -> Finished:
            assert command.deadline <= timedelta(seconds=30)
            return Finished(ending=Ending.DEADLINE, code=-9, seconds=20, stdout=b"", stderr=b"")

    with pytest.raises(UpstreamError, match="launchctl: it gave no answer in 20 s"):
        Tool(Hanging(), "launchctl", {}).ask("list")


def test_launchd_refuses_to_guess_what_launchctl_meant(home: Home) -> None:
    """An answer that is none of the known ones is doubt; a list that cannot be had leaves the files."""

    class Odd:
        def run(self, command: Command) -> Finished:
            word = command.argv[1]
            return said(err="odd", code=42) if word == "print" else said("")

    launcher = LaunchdLauncher(Odd(), home=home.agents, uid=0, environment={}, clock=home.clock)
    with pytest.raises(UpstreamError, match="launchctl print: odd"):
        launcher.read(home.entries, PROJECT)
    with pytest.raises(UpstreamError, match="launchctl print: odd"):
        launcher.explain_silence(home.entries[0])


def test_launchd_that_forgets_what_it_took_is_no_success(home: Home) -> None:
    """Loaded without a word, and then not there."""
    home.launchctl.forgets = True
    with pytest.raises(UpstreamError, match="launchd took it and does not know it"):
        home.launcher.install(home.entries, PROJECT)


def test_launchd_is_given_time_to_let_go(home: Home) -> None:
    """It answers before an agent is gone, and takes no new one until then; it is not waited for without end."""
    home.launcher.install(home.entries, PROJECT)
    changed = tuple(replace(entry, path="/new") for entry in home.entries)
    home.launchctl.lingers = 3
    assert len(home.launcher.install(changed, PROJECT)) == 2
    assert home.clock.waits == [timedelta(milliseconds=200)] * 6
    home.launchctl.lingers = 1_000
    with pytest.raises(UpstreamError, match=r"launchctl bootstrap gui.*Bootstrap failed: 5"):
        home.launcher.install(home.entries, PROJECT)


def test_launchd_belongs_to_its_user(home: Home, tmp_path: Path) -> None:
    """A list of another user's is refused by launchd."""
    home.launcher.install(home.entries, PROJECT)
    other = LaunchdLauncher(
        home.launchctl, home=tmp_path, uid=tmp_path.stat().st_uid + 1, environment={}, clock=home.clock
    )
    assert other.read(home.entries, PROJECT)[0].edits == ("it belongs to somebody else",)


def test_launchd_repair_takes_no_agent_away_that_is_at_work(home: Home) -> None:
    """A retired one goes when it has ended."""
    home.launcher.install(home.entries, PROJECT)
    generate, watch = home.entries
    home.launchctl.running.add(generate.label)
    assert home.launcher.install((watch,), PROJECT, gently=True) == ()
    home.launchctl.running.clear()
    assert home.launcher.install((watch,), PROJECT, gently=True) == (generate.label,)
