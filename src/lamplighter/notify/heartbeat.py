"""Pings to an outside watcher: that we look at all, and once a day that all is there. Never in the way of a tick.

Whoever is pinged raises an alarm when the ping stays away: that covers theft, fire and a machine that is off.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from lamplighter.errors import LamplighterError
from lamplighter.host.clock import Clock
from lamplighter.host.database import Database
from lamplighter.host.http import Http, Request

WATCH, VERDICT = "watch", "verdict"
TOTAL = timedelta(seconds=10)
_CONNECT = timedelta(seconds=5)
_TRIES = 3
_BETWEEN = timedelta(milliseconds=500)
_LEAST = timedelta(milliseconds=200)
_AT_MOST_EVERY = timedelta(seconds=25)  # two pings, so five a minute at most
_FAIL_EVERY = timedelta(hours=1)
_BODY_BYTES = 10_000
_MESSAGE_LETTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """What was pinged last: when it was tried, the last day that was called good, and since when it is called bad."""

    tried_at: datetime | None = None
    good_day: str = ""
    failed_at: datetime | None = None
    misses: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The day as the verdict sees it: its name, when all of it is due, what does not hold, what may still come."""

    name: str
    due_at: datetime
    trouble: str = ""
    is_open: bool = False


def decide_verdict(now: datetime, day: Day, before: Beat) -> bool | None:
    """Return what to say of a day: True for good, False for bad, None for nothing now.

    Nothing before its time, good once, bad at once and at most hourly from then on, good again when it is mended.
    """
    if now < day.due_at:
        return None
    if day.trouble:
        since = now - before.failed_at if before.failed_at else _FAIL_EVERY
        return None if timedelta() <= since < _FAIL_EVERY else False
    if day.is_open or (before.good_day == day.name and before.failed_at is None):
        return None
    return True


def render_ping(url: str, *, is_good: bool, message: str, words: tuple[str, str]) -> str:
    """Return the address to ask, "" when this watcher has no way to be told of failure: then silence tells it.

    A template says {result}, {code} or {message}; without these it is one as Healthchecks has them: /fail behind it.
    """
    message = message[:_MESSAGE_LETTERS]
    if "{" not in url:
        path, mark, query = url.partition("?")
        return url if is_good else f"{path.rstrip('/')}/fail{mark}{query}"
    if not is_good and "{result}" not in url and "{code}" not in url:
        return ""
    filled = url.replace("{result}", words[0 if is_good else 1]).replace("{code}", "0" if is_good else "1")
    return filled.replace("{message}", quote(message, safe=""))


class Heartbeat:
    """Pings for one account; what it could not do is counted, and nothing of it is ever raised but DiskError."""

    def __init__(
        self, database: Database, clock: Clock, account: str, *, http: Http, read_url: Callable[[str], str]
    ) -> None:
        """Use an open database; `read_url` returns the address of a ping by its name, and raises ConfigError."""
        self._database = database
        self._clock = clock
        self._account = account
        self._http = http
        self._read_url = read_url

    def beat(self, names: tuple[str, ...], *, day: Day, text: str, words: tuple[str, str]) -> None:
        """Ping what is due of `names`, within ten seconds in all; `text` is what a failure is told with."""
        end = self._clock.monotonic() + TOTAL
        due = [(name, good) for name in names if (good := self._decide(name, day)) is not None]
        for left, (name, is_good) in zip(range(len(due), 0, -1), due, strict=True):
            share = (end - self._clock.monotonic()) / left
            why = self._ping(name, share, is_good=is_good, text=day.trouble or text, words=words)
            self._note(name, day.name if name == VERDICT else "", is_good=is_good, why=why)

    def read(self, name: str) -> Beat:
        """Return what was pinged last."""
        row = self._database.row("SELECT * FROM heartbeat WHERE account = ? AND name = ?", (self._account, name))
        if row is None:
            return Beat()
        with self._database.parsing():
            return Beat(
                tried_at=datetime.fromtimestamp(float(row["tried_at"]), tz=UTC),
                good_day=str(row["good_day"]),
                failed_at=datetime.fromtimestamp(float(row["failed_at"]), tz=UTC) if row["failed_at"] else None,
                misses=int(row["misses"]),
                why=str(row["why"]),
            )

    def _decide(self, name: str, day: Day) -> bool | None:
        now, before = self._clock.now(), self.read(name)
        if before.tried_at is not None and timedelta() <= now - before.tried_at < _AT_MOST_EVERY:
            return None
        return True if name == WATCH else decide_verdict(now, day, before)

    def _ping(self, name: str, limit: timedelta, *, is_good: bool, text: str, words: tuple[str, str]) -> str:
        """Ping, and return why it did not arrive, "" when it did."""
        end = self._clock.monotonic() + limit
        try:
            url = render_ping(self._read_url(name), is_good=is_good, message=text, words=words)
        except LamplighterError as error:
            return str(error)
        if not url:
            return ""
        body = b"" if is_good or "{" in self._read_url(name) else _clean(text, url)
        why = ""
        for _ in range(_TRIES):
            why, is_final = self._ask(url, body, end - self._clock.monotonic())
            if is_final or end - self._clock.monotonic() < _BETWEEN + _LEAST:
                break
            self._clock.wait(_BETWEEN)
        return why

    def _ask(self, url: str, body: bytes, left: timedelta) -> tuple[str, bool]:
        """Return why a ping did not arrive ("": it did), and whether asking again is of no use."""
        request = Request(
            url=url, connect=min(_CONNECT, left), read=left, total=left, max_bytes=100_000, body=body, max_redirects=1
        )
        try:
            status = self._http.get(request).status
        except LamplighterError as error:
            return error.cause, error.permanent
        if 200 <= status < 300:
            return "", True
        return f"it answered {status}", status < 500 and status != 429

    def _note(self, name: str, day: str, *, is_good: bool, why: str) -> None:
        """Write what was pinged; one that did not arrive is tried again at the next tick."""
        now = self._clock.now().timestamp()
        arrived = not why
        self._database.change(
            """INSERT INTO heartbeat (account, name, tried_at) VALUES (?, ?, ?)
            ON CONFLICT (account, name) DO UPDATE SET tried_at = excluded.tried_at""",
            (self._account, name, now),
        )
        if not arrived:
            self._database.change(
                "UPDATE heartbeat SET misses = misses + 1, why = ? WHERE account = ? AND name = ?",
                (why, self._account, name),
            )
        elif is_good:
            self._database.change(
                """UPDATE heartbeat SET misses = 0, why = '', good_day = ?, failed_at = NULL
                WHERE account = ? AND name = ?""",
                (day, self._account, name),
            )
        else:
            self._database.change(
                "UPDATE heartbeat SET misses = 0, why = '', failed_at = ? WHERE account = ? AND name = ?",
                (now, self._account, name),
            )


def _clean(text: str, url: str) -> bytes:
    """Return what a failure is told with: short, and without any address that has a password in it."""
    text = re.sub(r"://[^\s/@]*@", "://…@", text.replace(url, "…"))
    return text.encode("utf-8", "replace")[:_BODY_BYTES].decode("utf-8", "ignore").encode()
