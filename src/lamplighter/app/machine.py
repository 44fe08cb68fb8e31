"""The machine that entries are installed on, as far as they depend on it, and its schedulers."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from lamplighter.errors import NeedsHuman, UsageError
from lamplighter.host.clock import Clock, SystemClock
from lamplighter.host.files import current_user
from lamplighter.host.localtime import read_machine_zone
from lamplighter.host.process import Runner, SystemRunner
from lamplighter.schedule.launcher import Launcher

if TYPE_CHECKING:
    from lamplighter.schedule.cron_launcher import CronLauncher
    from lamplighter.schedule.systemd_launcher import SystemdLauncher

LAUNCHERS = ("launchd", "systemd", "cron")
_LINGER_DIR = Path("/var/lib/systemd/linger")
_SYSTEM_PATHS = ("/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What entries depend on; a test has one of its own."""

    runner: Runner
    environment: Mapping[str, str]
    home: Path
    uid: int
    user: str
    clock: Clock
    zone: tzinfo
    interpreter: str
    is_mac: bool
    linger_dir: Path = _LINGER_DIR

    @property
    def log_dir(self) -> Path | None:
        """Return where a Mac keeps logs, None where the state folder is the place."""
        return self.home / "Library" / "Logs" / "lamplighter" if self.is_mac else None


def read_machine() -> Machine:
    """Return this machine, for the user of this process; raises NeedsHuman for a user without a home."""
    uid = current_user()
    try:
        entry = pwd.getpwuid(uid)
        user, home = entry.pw_name, Path(os.environ.get("HOME") or entry.pw_dir)
    except KeyError:
        user, home = str(uid), Path(os.environ.get("HOME", ""))
    if not home.is_absolute():
        raise NeedsHuman("schedule", f"user {user} has no home folder", "set HOME")
    return Machine(
        runner=SystemRunner(),
        environment=dict(os.environ),
        home=home,
        uid=uid,
        user=user,
        clock=SystemClock(),
        zone=read_machine_zone(),
        interpreter=sys.executable,
        is_mac=sys.platform == "darwin",
    )


def build_launcher(name: str, machine: Machine) -> Launcher:
    """Return a scheduler by its name; raises UsageError for one that this kind of machine does not have."""
    if name not in LAUNCHERS:
        known = ", ".join(LAUNCHERS)
        raise UsageError(f"schedule --with {name[:40]}", "there is no such scheduler", f"known are {known}")
    if machine.is_mac != (name == "launchd"):
        right = "launchd is what a Mac has" if machine.is_mac else "only a Mac has launchd"
        raise UsageError(
            f"schedule --with {name}", right, f"--with {'launchd' if machine.is_mac else 'systemd or cron'}"
        )
    return {"launchd": _build_launchd, "systemd": _build_systemd, "cron": _build_cron}[name](machine)


def choose_launcher(machine: Machine) -> Launcher:
    """Return the best scheduler there is: launchd on a Mac, systemd where this user's manager answers, else cron."""
    if machine.is_mac:
        return _build_launchd(machine)
    systemd, cron = _build_systemd(machine), _build_cron(machine)
    if systemd.answers():
        return systemd
    if cron.answers():
        return cron
    raise NeedsHuman(
        "schedule",
        f"no systemd manager of user {machine.user} answers, and there is no crontab",
        f"loginctl enable-linger {machine.user}, or install cron",
    )


def compose_path(machine: Machine, programs: tuple[str, ...]) -> str:
    """Return the PATH that scheduled runs get: where the interpreter and the named programs are, then the system's."""
    import shutil  # noqa: PLC0415 - it loads much, and only installing asks where programs are

    given = machine.environment.get("PATH", "")
    found = [shutil.which(program, path=given) for program in programs]
    folders = [str(Path(one).parent) for one in (machine.interpreter, *found) if one]
    absolute = [folder for folder in (*folders, *_SYSTEM_PATHS) if Path(folder).is_absolute() and ":" not in folder]
    return ":".join(folder for folder in dict.fromkeys(absolute) if folder in folders or Path(folder).is_dir())


def _build_launchd(machine: Machine) -> Launcher:
    from lamplighter.schedule.launchd_launcher import LaunchdLauncher  # noqa: PLC0415 - one of the three is used

    return LaunchdLauncher(
        machine.runner, home=machine.home, uid=machine.uid, environment=machine.environment, clock=machine.clock
    )


def _build_cron(machine: Machine) -> CronLauncher:
    from lamplighter.schedule.cron_launcher import CronLauncher  # noqa: PLC0415 - one of the three is used

    return CronLauncher(machine.runner, environment=machine.environment, clock=machine.clock, machine=machine.zone)


def _build_systemd(machine: Machine) -> SystemdLauncher:
    from lamplighter.schedule.systemd_launcher import SystemdLauncher  # noqa: PLC0415 - one of the three is used

    config = _find_base(machine, "XDG_CONFIG_HOME", ".config")
    data = _find_base(machine, "XDG_DATA_HOME", ".local/share")
    return SystemdLauncher(
        machine.runner,
        unit_dir=config / "systemd" / "user",
        stamp_dir=data / "systemd" / "timers",
        uid=machine.uid,
        user=machine.user,
        environment=machine.environment,
        linger_dir=machine.linger_dir,
    )


def _find_base(machine: Machine, variable: str, default: str) -> Path:
    """Return a folder of the XDG Base Directory Specification."""
    named = Path(machine.environment.get(variable, ""))
    return named if named.is_absolute() else machine.home / default
