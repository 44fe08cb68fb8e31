"""Notices on this machine's own desktop, by the program the system has for them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from lamplighter.errors import LamplighterError
from lamplighter.host.process import Command, Ending, Runner

_DEADLINE = timedelta(seconds=5)
_SCRIPT = (
    "on run words",
    "display notification (item 2 of words) with title (item 1 of words)",
    "end run",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """A program that shows a notice, what stands before the words, and the environment it needs."""

    argv: tuple[str, ...]
    env: Mapping[str, str]

    def show(self, title: str, body: str, runner: Runner) -> str:
        """Show a notice, and return why it was not shown, "" when it was."""
        words = tuple(text.lstrip("-") or " " for text in (title, body))  # what begins with - would be an option
        command = Command(argv=(*self.argv, *words), cwd=Path("/"), env=self.env, deadline=_DEADLINE)
        try:
            done = runner.run(command)
        except LamplighterError as error:
            return error.cause
        if done.ending is Ending.EXITED and done.code == 0:
            return ""
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:120]
        return f"{Path(self.argv[0]).name} did not show it{f': {said}' if said else ''}"


def find_notifier(environment: Mapping[str, str], *, platform: str = sys.platform) -> Notifier | None:
    """Return what shows notices here, None where there is no desktop to show them on.

    A scheduler's environment has no word of the session's bus; where it lies is known (sd-bus, $XDG_RUNTIME_DIR/bus).
    """
    path = environment.get("PATH", os.defpath)
    if platform == "darwin":
        script = tuple(word for line in _SCRIPT for word in ("-e", line))
        program = shutil.which("osascript", path=path)
        return Notifier(argv=(program, *script), env=dict(environment)) if program else None
    program = shutil.which("notify-send", path=path)
    bus = environment.get("DBUS_SESSION_BUS_ADDRESS", "")
    socket_file = Path(environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "bus"
    if not program or not (bus or _exists(socket_file)):
        return None
    env = {**environment, "DBUS_SESSION_BUS_ADDRESS": bus or f"unix:path={socket_file}"}
    return Notifier(argv=(program, "--app-name=lamplighter", "--urgency=critical", "--"), env=env)


def _exists(file: Path) -> bool:
    try:
        return file.exists()
    except OSError:
        return False
