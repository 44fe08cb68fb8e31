"""What the doctor finds, a line each: ok, wrong with what to do, or could not check with why."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamplighter.errors import LamplighterError, render_line

# What a look may meet with that says nothing of the thing it looks at; a bug is for the command line to tell.
HINDRANCES = (LamplighterError, OSError, ValueError, LookupError, TypeError, ArithmeticError, ImportError, MemoryError)


class State(enum.Enum):
    """How something stands."""

    OK = "ok"
    WRONG = "wrong"
    UNKNOWN = "could not check"


class DoctorCode(enum.IntEnum):
    """How an examination ends, and its exit code."""

    OK = 0
    WRONG = 1
    UNKNOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line: what was looked at, how it stands, in words, and what a person does about it."""

    about: str
    state: State
    words: str
    remedy: str = ""

    @property
    def line(self) -> str:
        """Return it for a person, without what it is about."""
        return render_line(f"{self.state.value}: {self.words}{f'; {self.remedy}' if self.remedy else ''}", limit=2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One thing to look at: what it is about, and what finds how it stands."""

    about: str
    find: Callable[[], Iterable[Finding]]


def good(about: str, words: str) -> Finding:
    """Return that something can work."""
    return Finding(about=about, state=State.OK, words=words)


def wrong(about: str, words: str, remedy: str) -> Finding:
    """Return that something cannot work, or will not."""
    return Finding(about=about, state=State.WRONG, words=words, remedy=remedy)


def unknown(about: str, why: str) -> Finding:
    """Return that nobody can tell."""
    return Finding(about=about, state=State.UNKNOWN, words=why)


def examine(looks: Iterable[Look]) -> Iterator[Finding]:
    """Yield what each look finds; one that could not look, or says nothing at all, is none that found nothing."""
    for look in looks:
        has_said = False
        try:
            for finding in look.find():
                has_said = True
                yield finding
        except HINDRANCES as error:
            has_said = True
            yield unknown(look.about, explain(error))
        if not has_said:
            yield unknown(look.about, "the look at it said nothing")


def explain(error: BaseException) -> str:
    """Return why a look could not be had, in one line."""
    if isinstance(error, LamplighterError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return render_line(f"{error.filename or 'the system'}: {error.strerror}")
    return render_line(f"{type(error).__name__}: {error}")


def judge_all(findings: Iterable[Finding]) -> DoctorCode:
    """Return the exit code: something is wrong before something could not be checked."""
    states = {finding.state for finding in findings}
    if State.WRONG in states:
        return DoctorCode.WRONG
    return DoctorCode.UNKNOWN if State.UNKNOWN in states or not states else DoctorCode.OK


def say_age(age: timedelta) -> str:
    """Return how long ago something was, as a person says it."""
    minutes = int(max(age, timedelta()).total_seconds() // 60)
    for size, name in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= (2 * size if size > 1 else 1):
            count = minutes // size
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def say_count(count: int, noun: str) -> str:
    """Return a number of things, as "1 slide" or "3 slides"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def say_at(at: datetime) -> str:
    """Return an instant to the minute, in the zone it is given in."""
    return f"{at:%Y-%m-%d %H:%M}"
