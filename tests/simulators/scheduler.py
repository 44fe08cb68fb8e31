"""The system's schedulers, as far as we ask them: each answers like its program, and starts what it is asked to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lamplighter.errors import InputError
from lamplighter.host.process import Command, Ending, Finished

Start = Callable[[tuple[str, ...]], None]


def said(out: bytes | str = b"", *, err: str = "", code: int = 0) -> Finished:
    """Return what a program leaves."""
    content = out.encode() if isinstance(out, str) else out
    return Finished(ending=Ending.EXITED, code=code, seconds=0.0, stdout=content, stderr=err.encode())


def start_nothing(_: tuple[str, ...]) -> None:
    """Be a scheduler that never gets to it."""


class Crontab:
    """crontab(1) and, at once instead of at the next minute, what cron would start of a line with a date."""

    def __init__(self, content: bytes | None = None, *, start: Start = start_nothing) -> None:
        """Begin with a crontab, or with none."""
        self.content = content
        self.start = start
        self.asked: list[tuple[str, ...]] = []
        self.before_reading: Callable[[], None] = lambda: None
        self.refuses = ""
        self.cannot_write = ""

    def run(self, command: Command) -> Finished:
        """Answer like crontab, and like a machine without systemd."""
        self.asked.append(command.argv)
        if command.argv[0] == "systemctl":
            return said(err="Failed to connect to bus: No medium found", code=1)
        if command.argv[0] != "crontab":
            raise InputError(command.argv[0], "cannot be started: No such file or directory")
        if self.refuses:
            return said(err=self.refuses, code=1)
        return self._answer(command)

    def _answer(self, command: Command) -> Finished:
        match command.argv[1:]:
            case ("-l",):
                self.before_reading()
                return said(err="no crontab for me\n", code=1) if self.content is None else said(self.content)
            case ("-",) if self.cannot_write:
                return said(err=self.cannot_write, code=1)
            case ("-",):
                self.content = command.stdin
                for line in command.stdin.decode("utf-8", "replace").splitlines():
                    fields = line.split()
                    if len(fields) > 5 and fields[3].isdecimal() and "lamplighter.app.probe" in line:
                        self.start(tuple(fields[5:]))
            case ("-r",):
                self.content = None
        return said()


class Launchctl:
    """launchctl(1) for one user's session at the screen."""

    def __init__(self, folder: Path, *, start: Start = start_nothing) -> None:
        """Know nothing yet; property lists are in `folder`."""
        self.folder = folder
        self.start = start
        self.loaded: dict[str, Path] = {}
        self.disabled: set[str] = set()
        self.running: set[str] = set()
        self.last_exit: dict[str, str] = {}
        self.asked: list[tuple[str, ...]] = []
        self.has_session = True
        self.forgets = False
        self.lingers = 0
        self._leaving: dict[str, int] = {}

    def run(self, command: Command) -> Finished:
        """Answer like launchctl."""
        self.asked.append(command.argv[1:])
        if not self.has_session:
            return said(err="Could not find domain for user gui: 501", code=125)
        word, *rest = command.argv[1:]
        label = rest[0].rpartition("/")[2] if rest else ""
        answers: dict[str, Callable[[], Finished]] = {
            "print": lambda: self._print(label),
            "print-disabled": self._print_disabled,
            "list": self._list,
            "bootout": lambda: self._boot_out(label),
            "enable": lambda: self._enable(label),
            "bootstrap": lambda: self._bootstrap(Path(rest[1])),
            "kickstart": lambda: self._kick(label),
        }
        return answers[word]()

    def _print(self, label: str) -> Finished:
        if self._leaving.get(label, 0):
            self._leaving[label] -= 1
            return said(f"gui/501/{label} = {{\n\tstate = not running\n}}\n")
        if label not in self.loaded:
            err = f'Bad request.\nCould not find service "{label}" in domain for user gui: 501'
            return said(err=err, code=113)
        state = "running" if label in self.running else "not running"
        return said(
            f"gui/501/{label} = {{\n\tactive count = 0\n\tpath = {self.loaded[label]}\n\ttype = LaunchAgent\n"
            f"\tstate = {state}\n\n\tdomain = gui/501 [100003]\n\texit timeout = 60\n\truns = 3\n"
            f"\tlast exit code = {self.last_exit.get(label, '(never exited)')}\n\n\tendpoints = {{\n"
            '\t\t"com.example.socket" = {\n\t\t\tstate = running\n\t\t}\n\t}\n}\n'
        )

    def _print_disabled(self) -> Finished:
        lines = [f'\t\t"{label}" => disabled' for label in sorted(self.disabled)]
        return said("\n".join(("disabled services = {", '\t\t"com.apple.ftpd" => enabled', *lines, "\t}")))

    def _list(self) -> Finished:
        return said("\n".join(("PID\tStatus\tLabel", *(f"-\t0\t{label}" for label in self.loaded))))

    def _boot_out(self, label: str) -> Finished:
        if self.loaded.pop(label, None) is None:
            return said(err="Boot-out failed: 3: No such process", code=3)
        self._leaving[label] = self.lingers
        self.running.discard(label)
        self.last_exit.pop(label, None)
        return said()

    def _enable(self, label: str) -> Finished:
        self.disabled.discard(label)
        return said()

    def _bootstrap(self, file: Path) -> Finished:
        label = file.name.removesuffix(".plist")
        if label in self.disabled or label in self.loaded or self._leaving.get(label) or not file.is_file():
            return said(err="Bootstrap failed: 5: Input/output error", code=5)
        if not self.forgets:
            self.loaded[label] = file
        return said()

    def _kick(self, label: str) -> Finished:
        import plistlib  # noqa: PLC0415 - beside its use

        self.start(tuple(plistlib.loads(self.loaded[label].read_bytes())["ProgramArguments"]))
        return said()


class Systemctl:
    """systemctl(1) --user with a manager that answers; what it knows of `folder` is as of its last reload."""

    def __init__(self, folder: Path, *, start: Start = start_nothing) -> None:
        """Know nothing yet."""
        self.folder = folder
        self.start = start
        self.known: dict[str, bytes] = {}
        self.active: set[str] = set()
        self.drop_ins: dict[str, str] = {}
        self.results: dict[str, tuple[str, str]] = {}
        self.asked: list[tuple[str, ...]] = []
        self.refuses: dict[str, str] = {}

    def run(self, command: Command) -> Finished:
        """Answer like systemctl, and like systemd-analyze."""
        if command.argv[0] == "systemd-analyze":
            return said("    Next elapse: Mon 2026-11-30 18:00:00 UTC\n       From now: 6h left\n")
        words = [word for word in command.argv[1:] if word not in {"--user", "--no-pager"}]
        self.asked.append(tuple(words))
        verb, names = words[0], [word for word in words[1:] if not word.startswith("--")]
        if verb in self.refuses:
            return said(err=self.refuses[verb], code=1)
        answers: dict[str, Callable[[], Finished]] = {
            "show": lambda: self._show(names),
            "list-units": lambda: said("".join(f"{name} loaded active waiting x\n" for name in sorted(self.active))),
            "daemon-reload": self._reload,
            "enable": lambda: self._enable(names),
            "disable": lambda: self._disable(names),
            "restart": lambda: self._restart(names),
            "start": lambda: self._start(names[0]),
            "reset-failed": said,
        }
        return answers[verb]()

    def link(self, name: str) -> Path:
        """Return the link that an enabled timer has."""
        return self.folder / "timers.target.wants" / name

    def _show(self, names: list[str]) -> Finished:
        return said("\n\n".join("\n".join(self._describe(name)) for name in names))

    def _describe(self, name: str) -> tuple[str, ...]:
        file = self.folder / name
        content = file.read_bytes() if file.exists() else None
        loaded = name in self.known
        result, status = self.results.get(name, ("success", "0"))
        return (
            f"Id={name}",
            f"LoadState={'loaded' if loaded else 'not-found'}",
            f"ActiveState={'active' if name in self.active else 'inactive'}",
            f"UnitFileState={'enabled' if self.link(name).is_symlink() else 'disabled' if loaded else ''}",
            f"FragmentPath={file if loaded else ''}",
            f"NeedDaemonReload={'yes' if loaded and content != self.known[name] else 'no'}",
            f"DropInPaths={self.drop_ins.get(name, '')}",
            f"Result={result}",
            f"ExecMainStatus={status}",
        )

    def _reload(self) -> Finished:
        self.known = {file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()}
        self.active &= self.known.keys()
        return said()

    def _enable(self, names: list[str]) -> Finished:
        for name in names:
            self.link(name).parent.mkdir(exist_ok=True)
            self.link(name).unlink(missing_ok=True)
            self.link(name).symlink_to(self.folder / name)
        return said()

    def _disable(self, names: list[str]) -> Finished:
        for name in names:
            self.link(name).unlink(missing_ok=True)
            self.active.discard(name)
        return said()

    def _restart(self, names: list[str]) -> Finished:
        if not self.known.keys() >= set(names):
            return said(err="Unit not found.", code=5)
        self.active |= set(names)
        return said()

    def _start(self, name: str) -> Finished:
        from lamplighter.schedule.systemd import parse_argv  # noqa: PLC0415 - beside its use

        self.start(parse_argv(self.known[name].decode()))
        return said()
