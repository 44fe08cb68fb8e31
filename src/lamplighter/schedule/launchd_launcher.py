"""launchd, asked by launchctl, for the session of one user. Never tried on a Mac."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from lamplighter.errors import InputError, LamplighterError, NeedsHuman, UpstreamError
from lamplighter.host.clock import Clock
from lamplighter.host.files import disk_error, list_folder, make_folder, read_capped, write_atomic
from lamplighter.host.process import Runner
from lamplighter.schedule.check import Fact
from lamplighter.schedule.entry import LABEL_PREFIX, Entry
from lamplighter.schedule.launchd import find_edits, parse_disabled, parse_list, parse_print, render_agent
from lamplighter.schedule.launcher import NextWakes
from lamplighter.schedule.tool import Answer, Tool

_PLIST_BYTES = 200_000
_MODE = 0o644
_SOON = timedelta(seconds=30)
_LOOKS, _BETWEEN_LOOKS = 75, timedelta(milliseconds=200)
_NO_SUCH = frozenset({3, 113})  # ESRCH of older systems, and "Could not find service"


class LaunchdLauncher:
    """The agents of one user; they live as long as that user is logged in at the screen."""

    name = "launchd"

    def __init__(self, runner: Runner, *, home: Path, uid: int, environment: Mapping[str, str], clock: Clock) -> None:
        """Ask for the user `uid`, whose agents are in `home`."""
        self._tool = Tool(runner, "launchctl", environment)
        self._folder = home / "Library" / "LaunchAgents"
        self._domain = f"gui/{uid}"
        self._uid = uid
        self._clock = clock
        self._own_label = environment.get("XPC_SERVICE_NAME", "")

    def read(self, entries: Sequence[Entry], project: str) -> tuple[Fact, ...]:
        """Return what there is of each entry: its file, whether it is loaded and enabled, how it last ended."""
        disabled = parse_disabled(self._refuse_no_session(self._tool.ask("print-disabled", self._domain)).text)
        known = {entry.label: entry for entry in entries}
        labels = dict.fromkeys((*known, *self._find_labels(project)))
        return tuple(self._read_one(label, known.get(label), disabled) for label in labels)

    def _read_one(self, label: str, entry: Entry | None, disabled: frozenset[str]) -> Fact:
        file = self._file(label)
        exists = os.path.lexists(file)
        edits, argv = self._compare(file, entry) if exists and entry is not None else ((), ())
        answer = self._tool.ask("print", f"{self._domain}/{label}")
        state = parse_print(answer.text) if self._is_found(answer) else None
        if state is not None and state.file and state.file != str(file):
            edits = (*edits, f"loaded from {state.file}")
        return Fact(
            label=label,
            exists=exists,
            edits=edits,
            is_loaded=state is not None,
            is_enabled=label not in disabled,
            argv=argv,
            last_exit=state.last_exit if state else "",
            failed_start=state is not None and state.failed_start,
        )

    def _compare(self, file: Path, entry: Entry) -> tuple[tuple[str, ...], tuple[str, ...]]:
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode):
            return ("it is not a file of its own",), ()
        odd = []
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            odd.append("others may write it")
        if status.st_uid != self._uid:
            odd.append("it belongs to somebody else")
        edits, argv = find_edits(entry, read_capped(file, limit=_PLIST_BYTES, what="property list"))
        return (*odd, *edits), argv

    def install(self, entries: Sequence[Entry], project: str, *, gently: bool = False) -> tuple[str, ...]:
        """Write and load what is not as it is to be, and unload what is not to be there."""
        make_folder(self._folder)
        facts = {fact.label: fact for fact in self.read(entries, project)}
        changed = []
        for entry in entries:
            fact = facts[entry.label]
            is_right = fact.exists and not fact.edits and fact.is_loaded and fact.is_enabled
            if is_right and not fact.failed_start:  # loading anew also lets it forget a start that failed
                continue
            make_folder(entry.boot_file.parent)  # a folder that is missing there is exit 78
            write_atomic(self._file(entry.label), render_agent(entry), mode=_MODE)
            if self._load(entry.label, gently=gently):
                changed.append(entry.label)
        wanted = {entry.label for entry in entries}
        return (*changed, *(label for label in facts if label not in wanted and self._take_away(label, gently=gently)))

    def remove(self, project: str) -> tuple[str, ...]:
        """Unload and delete every agent of the project."""
        return tuple(label for label in self._find_labels(project) if self._take_away(label))

    def start(self, entry: Entry, now: datetime) -> datetime:
        """Load an agent of one start, and kick it."""
        make_folder(self._folder)
        make_folder(entry.boot_file.parent)
        write_atomic(self._file(entry.label), render_agent(entry), mode=_MODE)
        self._load(entry.label)
        self._tool.order("kickstart", f"{self._domain}/{entry.label}")
        return now + _SOON

    def clear(self, entry: Entry, project: str) -> None:
        """Unload and delete it."""
        del project
        self._take_away(entry.label)

    def list_next(self, entry: Entry, now: datetime, count: int) -> NextWakes:
        """Say that launchd does not tell."""
        del entry, now, count
        return NextWakes(words="launchd does not say when it starts an agent next")

    def list_remarks(self) -> tuple[str, ...]:
        """Say what a Mac needs for agents to run."""
        return (
            "agents run only while you are logged in at the screen: after a restart with FileVault that is nobody",
            "to have a sleeping Mac wake for the post: sudo pmset repeat wakeorpoweron MTWRFSU 19:25:00",
        )

    def explain_silence(self, entry: Entry) -> str:
        """Return how the agent ended, as launchctl says."""
        answer = self._tool.ask("print", f"{self._domain}/{entry.label}")
        if not self._is_found(answer):
            return "launchd has not loaded it"
        state = parse_print(answer.text)
        if state.failed_start:
            return "launchd could not start it (exit 78): is the interpreter there, and may it read the folder?"
        return state.last_exit or "launchd says that it has not ended"

    def _load(self, label: str, *, gently: bool = False) -> bool:
        """Load an agent anew, and return whether that was done: a run at work would be ended by it."""
        target = f"{self._domain}/{label}"
        if label == self._own_label or (gently and self._is_at_work(label)):
            return False
        self._tool.ask("bootout", target)
        self._wait_until_gone(target)
        self._tool.order("enable", target)  # a label that was once disabled stays so, and cannot be loaded
        self._refuse_no_session(self._tool.order("bootstrap", self._domain, str(self._file(label))))
        if not self._is_found(self._tool.ask("print", target)):
            raise UpstreamError(f"launchctl {label}", "launchd took it and does not know it", "log out and in again")
        return True

    def _wait_until_gone(self, target: str) -> None:
        """Wait a little for launchd to have let go: it answers a bootout before that, and then refuses a bootstrap."""
        for _ in range(_LOOKS):
            if not self._is_found(self._tool.ask("print", target)):
                return
            self._clock.wait(_BETWEEN_LOOKS)

    def _take_away(self, label: str, *, gently: bool = False) -> bool:
        if gently and self._is_at_work(label):
            return False
        file = self._file(label)
        if label != self._own_label:
            self._tool.ask("bootout", f"{self._domain}/{label}")
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise disk_error(file, error) from error
        return True

    def _is_at_work(self, label: str) -> bool:
        answer = self._tool.ask("print", f"{self._domain}/{label}")
        return self._is_found(answer) and parse_print(answer.text).is_running

    def _is_found(self, answer: Answer) -> bool:
        if answer.code in _NO_SUCH or b"Could not find service" in answer.err:
            return False
        if answer.code:
            raise UpstreamError("launchctl print", answer.words, "run it by hand to see more")
        return True

    def _refuse_no_session(self, answer: Answer) -> Answer:
        """Raise NeedsHuman where this user has no session at the screen, as over ssh."""
        if answer.code:
            raise NeedsHuman("launchd", answer.words, "log in at the Mac's screen as this user, and run it there")
        return answer

    def _find_labels(self, project: str) -> Iterator[str]:
        """Yield the labels of the project that have a file or are loaded."""
        prefix = f"{LABEL_PREFIX}.{project}."
        labels = [entry.name.removesuffix(".plist") for entry in list_folder(self._folder) if ".plist" in entry.name]
        with contextlib.suppress(InputError, LamplighterError):
            labels += sorted(parse_list(self._tool.ask("list").text))
        yield from (label for label in dict.fromkeys(labels) if label.startswith(prefix))

    def _file(self, label: str) -> Path:
        return self._folder / f"{label}.plist"
