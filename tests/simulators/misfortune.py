"""Misfortunes drawn from a seed: what befalls a workspace in some days, from when to when (pure)."""

from __future__ import annotations

import enum
import random
from dataclasses import dataclass
from datetime import datetime, timedelta

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


class Kind(enum.Enum):
    """What may happen."""

    POWER_OFF = "power off"
    SLEEP = "sleep over slots"
    KILLED = "killed runs"
    HUNG = "hung runs"
    FULL_DISK = "full disk"
    DEAD_SHOP = "dead shop"
    LLM_LIMIT = "LLM limit"
    LLM_LOGOUT = "LLM logout"
    EXPIRED_TOKEN = "expired token"
    DEAD_DISCORD = "dead Discord"
    ENTRY_GONE = "scheduler entry gone"
    CLOCK_JUMP = "clock jump"
    WATCHER_DEAD = "watcher dead"
    LIAR = "exit 0 without output"
    UNREADABLE = "unreadable stock"


# Ended by a person who was told, and not by themselves before their end.
MENDED_BY_HAND = frozenset({Kind.LLM_LOGOUT, Kind.EXPIRED_TOKEN, Kind.ENTRY_GONE, Kind.LIAR})


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfortune:
    """One of them: what, from when to when, whom it befalls ("": all), by how far the clock is wrong meanwhile."""

    kind: Kind
    begin: datetime
    end: datetime
    job: str = ""
    shift: timedelta = timedelta()

    def lasts(self, at: datetime) -> bool:
        """Return whether it lasts at an instant."""
        return self.begin <= at < self.end


def dream(seed: int, begin: datetime, days: int) -> tuple[Misfortune, ...]:
    """Return what befalls in so many days: every kind at least once where there is room, evenings more than mornings.

    The first two days are quiet.
    """
    dice = random.Random(seed)
    kinds = list(Kind)
    dice.shuffle(kinds)
    count = max(len(kinds) if days >= 30 else 4, days // 2)
    found = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        day = begin + 2 * _DAY + dice.random() * (days - 3) * _DAY
        at = day.replace(hour=0, minute=0, second=0, microsecond=0) + dice.choice((5, 11, 16, 17, 18, 19, 20)) * _HOUR
        at += dice.randrange(0, 60, 5) * _MINUTE
        found.append(_draw(kind, at, dice))
    return tuple(sorted(found, key=lambda one: (one.begin, one.kind.value)))


def _draw(kind: Kind, at: datetime, dice: random.Random) -> Misfortune:
    hours = {
        Kind.POWER_OFF: (1, 40),
        Kind.SLEEP: (1, 14),
        Kind.KILLED: (6, 30),
        Kind.HUNG: (2, 30),
        Kind.FULL_DISK: (3, 30),
        Kind.DEAD_SHOP: (12, 110),
        Kind.LLM_LIMIT: (5, 60),
        Kind.LLM_LOGOUT: (200, 201),
        Kind.EXPIRED_TOKEN: (200, 201),
        Kind.DEAD_DISCORD: (6, 90),
        Kind.ENTRY_GONE: (200, 201),
        Kind.CLOCK_JUMP: (1, 2),
        Kind.WATCHER_DEAD: (1, 30),
        Kind.LIAR: (60, 61),
        Kind.UNREADABLE: (1, 6),
    }[kind]
    lasting = dice.randrange(hours[0] * 60, hours[1] * 60, 5) * _MINUTE
    job = dice.choice(("generate", "post")) if kind in {Kind.KILLED, Kind.HUNG, Kind.ENTRY_GONE} else ""
    shift = timedelta()
    if kind is Kind.CLOCK_JUMP:
        lasting = dice.randrange(10, 45, 5) * _MINUTE
        shift = dice.choice((40 * _MINUTE, -25 * _MINUTE, 3 * _HOUR, -_DAY, 400 * _DAY, -4_000 * _DAY))
    return Misfortune(kind=kind, begin=at, end=at + lasting, job=job, shift=shift)
