"""A program of the system that is asked: launchctl, systemctl, loginctl, crontab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from lamplighter.errors import UpstreamError, render_line
from lamplighter.host.process import Command, Ending, Runner

_DEADLINE = timedelta(seconds=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a program said: its exit code and its bytes."""

    code: int
    out: bytes = field(repr=False)
    err: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """Return what it printed."""
        return self.out.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """Return what it said of a failure, in one line."""
        said = (self.err.strip() or self.out.strip()).decode("utf-8", "replace")
        return render_line(said, limit=300) or f"exit {self.code}"


class Tool:
    """One such program, asked with words that no language setting changes."""

    def __init__(self, runner: Runner, program: str, environment: Mapping[str, str], *before: str) -> None:
        """Ask `program` with the arguments `before` all others."""
        self._runner = runner
        self._argv = (program, *before)
        self._environment = {**environment, "LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}

    def ask(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Return what it said; raises InputError where it cannot be started, UpstreamError when it does not answer."""
        command = Command(
            argv=(*self._argv, *arguments),
            cwd=Path("/"),
            env=self._environment,
            deadline=_DEADLINE,
            stdin=stdin,
        )
        done = self._runner.run(command)
        if done.ending is Ending.DEADLINE:
            raise UpstreamError(
                self._argv[0], f"it gave no answer in {_DEADLINE.total_seconds():g} s", "run it by hand"
            )
        return Answer(code=done.code, out=done.stdout, err=done.stderr)

    def order(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Return what it said of what it did; raises UpstreamError when it did not."""
        answer = self.ask(*arguments, stdin=stdin)
        if answer.code:
            shown = " ".join((*self._argv, *arguments[:2]))
            raise UpstreamError(shown, answer.words, "run it by hand to see more")
        return answer
