"""A channel: something that takes a message, and what became of it."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from lamplighter.host.network import Answered
from lamplighter.notify.limits import Limits
from lamplighter.notify.outbox import Severity

_GONE = frozenset({401, 403, 404, 410})
_MOST_SECONDS = 86_400
# What services say of a chat or token that is no more, under a status that says less (core.telegram.org/bots/api,
# docs.slack.dev/reference/methods/chat.postMessage).
_GONE_WORDS = re.compile(
    "chat not found|bot was blocked|user is deactivated|invalid_auth|account_inactive|token_revoked|channel_not_found",
    re.IGNORECASE,
)
_RETRY_AFTER = re.compile(r'"retry_after"\s*:\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)')


class Result(enum.Enum):
    """What became of a message.

    LATER: it is not out, and may be tried again. UNSURE: it may be out. REFUSED: this message is not taken. DEAD: no
    message is, until a person does something.
    """

    SENT = "sent"
    LATER = "later"
    UNSURE = "unsure"
    REFUSED = "refused"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of a message, why (no address in it), and how long the service asks us to wait."""

    result: Result
    why: str = ""
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What is sent at once: a title, a body that fits, and pictures by their absolute paths."""

    title: str
    body: str
    pictures: tuple[str, ...] = ()
    severity: Severity = Severity.INFO


class Channel(Protocol):
    """Whatever takes messages."""

    @property
    def limits(self) -> Limits:
        """Return what it takes at a time."""

    @property
    def mark(self) -> str:
        """Return by what it is known whether it is still the same."""

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Send a message within `limit`; never raises for what the other side does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenChannel:
    """A channel whose address cannot be read or understood: all that is sent by it is told why."""

    why: str

    @property
    def limits(self) -> Limits:
        """Return limits like any other's."""
        return Limits(body=2_000)

    @property
    def mark(self) -> str:
        """Return what no address has: as soon as one can be read, it is another channel."""
        return "broken"

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Return why nothing can be sent."""
        del message, limit
        return Sent(result=Result.DEAD, why=self.why)


def judge(record: Sequence[Answered], *, accepted: bool, said: str) -> Sent:
    """Return what became of a message by what the service answered; `said` is the library's own word, redacted."""
    if accepted:
        return Sent(result=Result.SENT)
    failed = next((answered for answered in record if not answered.is_ok), None)
    if failed is None:
        gone = any(_GONE_WORDS.search(answered.words) for answered in record)
        refused = Result.DEAD if gone else Result.REFUSED
        return Sent(result=refused if record else Result.LATER, why=said or "it was not taken")
    if failed.trouble:
        unsure = Result.UNSURE if failed.is_unsure else Result.LATER
        return Sent(result=Result.DEAD if failed.is_refused else unsure, why=failed.trouble)
    return _judge_status(failed)


def _judge_status(failed: Answered) -> Sent:
    why = f"the service answered {failed.status}"
    if failed.status in _GONE or _GONE_WORDS.search(failed.words):
        if "1010" in failed.words:
            why = f"{why} (1010: it refuses who we say we are)"
        return Sent(result=Result.DEAD, why=why)
    if 300 <= failed.status < 400:
        return Sent(result=Result.DEAD, why=f"{why}: it has moved")
    if failed.status == 504:  # a gateway gave up waiting for the service, which may have done its work
        return Sent(result=Result.UNSURE, why=why)
    if failed.is_late or failed.status in {408, 425}:
        return Sent(result=Result.LATER, why=why, retry_after=failed.retry_after or _find_retry_after(failed.words))
    return Sent(result=Result.REFUSED, why=why)


def _find_retry_after(words: str) -> timedelta | None:
    """Return what a JSON answer asks for, as Discord and Telegram do (in seconds)."""
    match = _RETRY_AFTER.search(words)
    return timedelta(seconds=min(float(match[1]), _MOST_SECONDS)) if match else None
