"""Whoever tells is killed at every statement: what was not told is told later, and nothing is told twice unsaid."""

from __future__ import annotations

import json
import os
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

from tests.simulators.clock import VirtualClock
from tests.simulators.desk import Desk

from lamplighter.app.announcing import announce
from lamplighter.app.opening import MIGRATIONS, assemble
from lamplighter.config.settings import read_settings
from lamplighter.host.database import Database, Value, open_database
from lamplighter.notify.announced import begin_announcing
from lamplighter.notify.channel import Channel, Message, Result, Sent
from lamplighter.notify.delivery import Delivery
from lamplighter.notify.limits import Limits
from lamplighter.notify.outbox import Notice, NoticeKind, Outbox

Step = Callable[[], None]


class Mortal(Database):
    """A database whose process is killed before a statement that changes something."""

    step: Step = staticmethod(lambda: None)

    def change(self, statement: str, values: tuple[Value, ...] = ()) -> int:  # type: ignore[override]  # a tuple is enough
        """Count, then do it."""
        self.step()
        return super().change(statement, values)


class Box:
    """A channel that writes what it takes into a file, as a service remembers it whoever dies here."""

    limits = Limits(body=1_900, pause=timedelta())
    mark = "box"
    names = ("team",)

    def __init__(self, file: Path, step: Step) -> None:
        """Kill or not, before and after a message is taken."""
        self._file = file
        self._step = step

    def open(self, name: str) -> Channel:
        """Return itself, as Channels promises."""
        assert name == "team"
        return cast("Channel", self)

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Take a message."""
        del limit
        self._step()
        with self._file.open("a") as stream:
            stream.write(json.dumps(message.title) + "\n")
        self._step()
        return Sent(result=Result.SENT)


class Opener:
    """The one channel there is."""

    names = ("team",)

    def __init__(self, box: Box) -> None:
        self._box = box

    def mark(self, name: str) -> str:
        """Return a mark, as Channels promises."""
        return name

    def open(self, name: str) -> Channel:
        """Return the channel, as Channels promises."""
        return self._box.open(name)


def tell(folder: Path, clock: VirtualClock, step: Step) -> None:
    """Announce and deliver, as a tick does."""
    settings = read_settings(folder)
    with open_database(folder / "state" / "lamplighter.db", MIGRATIONS) as opened:
        database = Mortal(opened._connection, opened._file, opened._inode)
        database.step = step
        announce(assemble(settings, database, clock), database, clock)
        box = Box(folder / "told", step)
        delivery = Delivery(
            database, clock, settings.account,
            channels=Opener(box), settings=settings.notify, zone=ZoneInfo("UTC"), jitter=lambda: 0.5,
        )  # fmt: skip
        delivery.deliver(until=timedelta(seconds=30))


def die_at(folder: Path, clock: VirtualClock, point: int) -> bool:
    """Tell in a process of its own that is killed at its step number `point`; return whether it lived to its end."""
    with warnings.catch_warnings():  # from Python 3.12 on: a test runner has threads, and the child uses none of them
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            steps = iter(range(1_000))

            def step() -> None:
                if next(steps) == point:
                    os.kill(os.getpid(), signal.SIGKILL)

            tell(folder, clock, step)
        except BaseException:  # noqa: BLE001 - the child must not go on as a second pytest
            traceback.print_exc()
            os._exit(2)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def test_a_teller_killed_at_every_statement_loses_no_alert_and_doubles_nothing_unsaid(tmp_path: Path) -> None:
    """By a real SIGKILL, at each change of the database and around each message; three minutes later it goes on."""
    source = tmp_path / "source"
    desk = Desk.in_workspace(source)
    begin_announcing(desk.database, "main", desk.clock.now())
    (source / "lamplighter.toml").write_text('zone = "UTC"\n[notify.channels]\nteam = "env:TEAM"\n')
    desk.put()
    Outbox(desk.database, desk.clock, "main").put(
        Notice(dedup_key="alert", kind=NoticeKind.OPENED, subject="no post", body="why: x")
    )
    desk.database.close()
    points = 0
    while True:
        folder = tmp_path / f"killed-at-{points}"
        shutil.copytree(source, folder)
        clock = VirtualClock()
        lived = die_at(folder, clock, points)
        for _ in range(3):
            clock.advance(timedelta(minutes=3))
            tell(folder, clock, lambda: None)
        told = [json.loads(line) for line in (folder / "told").read_text().splitlines()]
        alerts = [title for title in told if title.startswith("no post")]
        made = [title for title in told if title.startswith("🆕")]
        assert alerts in (["no post"], ["no post (may be a repeat)"], ["no post", "no post (may be a repeat)"]), points
        assert len(made) <= 1, points
        with open_database(folder / "state" / "lamplighter.db", MIGRATIONS) as database:
            assert Outbox(database, clock, "main").waiting() == ()
            assert len(Outbox(database, clock, "main").all()) == 2
            states = {row["state"] for row in database.rows("SELECT state FROM delivery")}
            assert states <= {"sent", "unsure"}, points
            assert len(made) == 1 or "unsure" in states, points
        if lived:
            break
        points += 1
    assert points > 15
