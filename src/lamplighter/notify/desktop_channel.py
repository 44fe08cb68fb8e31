"""The desktop as a channel: the last that is asked, for a person who happens to sit there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from lamplighter.host.desktop import Notifier
from lamplighter.host.process import Runner
from lamplighter.notify.channel import Message, Result, Sent
from lamplighter.notify.limits import Limits, shorten

_LETTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class DesktopChannel:
    """Shows the beginning of a notice; there is no more room."""

    notifier: Notifier
    runner: Runner

    @property
    def limits(self) -> Limits:
        """Return limits that no notice is cut at: what is shown is cut here."""
        return Limits(body=100_000, pause=timedelta())

    @property
    def mark(self) -> str:
        """Return by what it is known again."""
        return "desktop"

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Show a message."""
        del limit  # the program has its own
        why = self.notifier.show(message.title, shorten(message.body, _LETTERS), self.runner)
        return Sent(result=Result.REFUSED if why else Result.SENT, why=why)
