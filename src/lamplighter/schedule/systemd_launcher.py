"""systemd's manager of one user, asked by systemctl --user."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.errors import InputError, LamplighterError, NeedsHuman, UpstreamError
from lamplighter.host.files import disk_error, list_folder, make_folder, read_capped, write_atomic
from lamplighter.host.process import Runner
from lamplighter.schedule import systemd
from lamplighter.schedule.check import Fact
from lamplighter.schedule.entry import LABEL_PREFIX, Entry
from lamplighter.schedule.launcher import NextWakes
from lamplighter.schedule.systemd import UnitState, service_name, timer_name
from lamplighter.schedule.tool import Answer, Tool

_UNIT_BYTES = 200_000
_MODE = 0o644
_SOON = timedelta(seconds=30)
_NO_BUS = ("Failed to connect to bus", "Failed to get D-Bus connection", "not been booted with systemd")


class SystemdLauncher:
    """The user units of one user."""

    name = "systemd"

    def __init__(
        self,
        runner: Runner,
        *,
        unit_dir: Path,
        stamp_dir: Path,
        uid: int,
        user: str,
        environment: Mapping[str, str],
        linger_dir: Path,
    ) -> None:
        """Keep units in `unit_dir`; systemd keeps stamps of their timers in `stamp_dir`.

        The manager is found by the run-time folder of `uid` where no session names it.
        """
        named = {"XDG_RUNTIME_DIR": f"/run/user/{uid}", **environment}
        self._tool = Tool(runner, "systemctl", named, "--user", "--no-pager")
        self._analyzer = Tool(runner, "systemd-analyze", named)
        self._unit_dir = unit_dir
        self._stamp_dir = stamp_dir
        self._user = user
        self._linger_file = linger_dir / user

    def answers(self) -> bool:
        """Return whether a manager of this user answers."""
        with contextlib.suppress(LamplighterError):
            return self._tool.ask("show", "--property=Version").code == 0
        return False

    def read(self, entries: Sequence[Entry], project: str) -> tuple[Fact, ...]:
        """Return what there is of each entry: its two files, whether its timer waits, how its service last ended."""
        known = {entry.label: entry for entry in entries}
        labels = tuple(dict.fromkeys((*known, *self._find_labels(project))))
        units = [name for label in labels for name in (timer_name(label), service_name(label))]
        states = self._show(units) if units else {}
        return tuple(self._read_one(label, known.get(label), states) for label in labels)

    def _read_one(self, label: str, entry: Entry | None, states: Mapping[str, UnitState]) -> Fact:
        timer, service = states.get(timer_name(label)), states.get(service_name(label))
        files = [self._unit_dir / name(label) for name in (timer_name, service_name)]
        exists = all(map(os.path.lexists, files)) if entry else any(map(os.path.lexists, files))
        edits, argv = self._compare(entry) if exists and entry is not None else ((), ())
        odd = [state.drop_ins for state in (timer, service) if state and state.drop_ins]
        moved = [state.file for state in (timer,) if state and state.file and state.file != str(files[0])]
        ended, failed = self._read_ended(entry)
        return Fact(
            label=label,
            exists=exists,
            edits=(*edits, *odd, *(f"loaded from {file}" for file in moved)),
            is_loaded=timer is not None and timer.is_loaded and timer.is_active and not timer.needs_reload,
            is_enabled=timer is not None and timer.enabled in {"enabled", "enabled-runtime"} if exists else None,
            argv=argv,
            last_exit=ended,
            failed_start=failed,
        )

    def _compare(self, entry: Entry) -> tuple[tuple[str, ...], tuple[str, ...]]:
        edits: tuple[str, ...] = ()
        argv: tuple[str, ...] = ()
        for file, wanted in self._render(entry):
            if file.is_symlink():
                return (f"{file.name} is a link",), ()
            found = read_capped(file, limit=_UNIT_BYTES, what="unit").decode("utf-8", "replace")
            edits += systemd.find_edits(wanted, found)
            argv = argv or systemd.parse_argv(found)
        return edits, argv

    def _read_ended(self, entry: Entry | None) -> tuple[str, bool]:
        """Return how an entry's last start ended, as its service left it."""
        with contextlib.suppress(LamplighterError):
            if entry is not None:
                content = read_capped(entry.boot_line_file, limit=1_000)
                return systemd.parse_ended(content.decode("utf-8", "replace"))
        return "", False

    def install(self, entries: Sequence[Entry], project: str, *, gently: bool = False) -> tuple[str, ...]:
        """Write what is not as it is to be, have it taken in, and let the timers wait; no run at work is touched."""
        facts = {fact.label: fact for fact in self.read(entries, project)}
        wrong = [entry for entry in entries if not _is_right(facts[entry.label])]
        for entry in wrong if gently else entries:  # what went wrong before is not said of what is new
            self._delete(entry.boot_line_file)
        make_folder(self._unit_dir)
        for entry in wrong:
            make_folder(entry.boot_file.parent, mode=0o700)
            for file, content in self._render(entry):
                _replace(file, content)
        retired = self._take_away([label for label in facts if label not in {entry.label for entry in entries}])
        if wrong:
            self._order("daemon-reload")
            timers = [timer_name(entry.label) for entry in wrong]
            self._order("enable", *timers)
            self._order("restart", *timers)  # a timer that waits already waits for its old times
        return (*(entry.label for entry in wrong), *retired)

    def remove(self, project: str) -> tuple[str, ...]:
        """Stop the timers, delete the units and what systemd remembers of them; a run at work goes on."""
        return self._take_away(list(self._find_labels(project)))

    def start(self, entry: Entry, now: datetime) -> datetime:
        """Have a service without a timer started."""
        make_folder(self._unit_dir)
        make_folder(entry.boot_file.parent, mode=0o700)
        _replace(self._unit_dir / service_name(entry.label), systemd.render_service(entry))
        self._order("daemon-reload")
        self._order("start", "--no-block", service_name(entry.label))
        return now + _SOON

    def clear(self, entry: Entry, project: str) -> None:
        """Delete it."""
        del project
        self._take_away([entry.label])

    def list_next(self, entry: Entry, now: datetime, count: int) -> NextWakes:
        """Return what systemd-analyze counts of the timer's times; the timer adds up to 90 s."""
        del now
        found: list[datetime] = []
        for times in systemd.list_calendars(entry.minutes):
            answer = self._analyzer.ask("calendar", f"--iterations={count}", times)
            found += systemd.parse_calendar(answer.text)
        return NextWakes(at=tuple(sorted(set(found))[:count]), words="" if found else "systemd-analyze does not say")

    def list_remarks(self) -> tuple[str, ...]:
        """Say when nothing runs while the user is logged out."""
        if self._linger_file.exists():
            return ()
        return (f"timers stop when you log out: loginctl enable-linger {self._user} lets them run on",)

    def explain_silence(self, entry: Entry) -> str:
        """Return how the service ended, as systemd says."""
        state = self._show([service_name(entry.label)]).get(service_name(entry.label))
        ended, _ = self._read_ended(entry)
        if ended:
            return ended
        return f"systemd says {state.result} ({state.status})" if state else "systemd does not know it"

    def _render(self, entry: Entry) -> tuple[tuple[Path, str], tuple[Path, str]]:
        return (
            (self._unit_dir / service_name(entry.label), systemd.render_service(entry)),
            (self._unit_dir / timer_name(entry.label), systemd.render_timer(entry)),
        )

    def _show(self, units: Sequence[str]) -> dict[str, UnitState]:
        return systemd.parse_show(self._order("show", f"--property={','.join(systemd.SHOWN)}", *units).text)

    def _take_away(self, labels: Sequence[str]) -> tuple[str, ...]:
        if not labels:
            return ()
        timers = [timer_name(label) for label in labels]
        self._tool.ask("disable", "--now", *timers)
        for label in labels:
            for name in (timer_name(label), service_name(label)):
                self._delete(self._unit_dir / name)
                self._delete(self._unit_dir / "timers.target.wants" / name)
            self._delete(self._stamp_dir / f"stamp-{timer_name(label)}")
        self._order("daemon-reload")
        self._tool.ask("reset-failed", *(service_name(label) for label in labels))
        return tuple(labels)

    def _delete(self, file: Path) -> None:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise disk_error(file, error) from error

    def _order(self, *arguments: str) -> Answer:
        """Return what systemctl said; raises NeedsHuman where no manager of this user answers."""
        answer = self._tool.ask(*arguments)
        if answer.code and any(words in answer.words for words in _NO_BUS):
            raise NeedsHuman(
                "systemd",
                f"no manager of this user answers: {answer.words}",
                f"log in as {self._user} (not by su or sudo) or have loginctl enable-linger {self._user} done, "
                "or choose --with cron",
            )
        if answer.code:
            raise UpstreamError(f"systemctl --user {arguments[0]}", answer.words, "run it by hand to see more")
        return answer

    def _find_labels(self, project: str) -> Iterator[str]:
        """Yield the labels of the project that have a file, or of which the manager still knows a timer."""
        prefix = f"{LABEL_PREFIX}.{project}."
        names = [entry.name for entry in list_folder(self._unit_dir)]
        with contextlib.suppress(InputError, UpstreamError):
            listed = self._order("list-units", "--all", "--plain", "--no-legend", "--full", f"{prefix}*.timer").text
            names += [line.split()[0] for line in listed.splitlines() if line.split()]
        labels = dict.fromkeys(systemd.is_label(name) for name in names)
        yield from (label for label in labels if label.startswith(prefix))


def _is_right(fact: Fact) -> bool:
    return bool(fact.exists and not fact.edits and fact.is_loaded and fact.is_enabled)


def _replace(file: Path, content: str) -> None:
    """Write a unit as a file of its own, also where a link stood in its place."""
    if file.is_symlink():
        with contextlib.suppress(OSError):
            file.unlink()
    write_atomic(file, content.encode(), mode=_MODE)
