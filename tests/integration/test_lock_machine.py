"""Contenders, kills, stops, deletions, forgeries and wrong clocks in any order: never two commits at a time."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.simulators.child import Child, is_running, until
from tests.simulators.holder import forge

from lamplighter.engine.holder import LOCK_FILE
from lamplighter.engine.owner import OWNER_FILE, read_owner

# Forks an actor for each line it hears, so that one costs milliseconds; an actor obeys orders in a file, a line each.
NURSERY = """
import os, signal, sys
from datetime import timedelta
from pathlib import Path
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.errors import LamplighterError
from tests.simulators.holder import HOUR, ShiftedClock

signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def act(lock, folder, word, rest):
    if word == "acquire":
        steady, years, floor, limit = map(int, rest)
        terms = Terms(limit=timedelta(seconds=limit) if limit else None, grace=timedelta(milliseconds=50))
        lock = JobLock(folder, ShiftedClock(steady=steady * HOUR, wall=timedelta(days=365 * years)), terms)
        lock.acquire("actor", floor=floor)
        return lock, f"{lock.generation} {lock.predecessor.pid if lock.predecessor else 0}"
    if word == "commit":
        lock.check()
        with folder.parent.with_name("commits").open("a") as log:
            log.write(f"{lock.generation} {os.getpid()}\\n")
        return lock, "committed"
    lock.release("done")
    return lock, "released"


def live(name, folder):
    lock = None
    with open(f"{name}.in") as orders, open(f"{name}.out", "w") as answers:
        for line in orders:
            word, *rest = line.split()
            try:
                lock, answer = act(lock, folder, word, rest)
            except LamplighterError as error:
                answer = f"{type(error).__name__}: {error}"
            print(answer, file=answers, flush=True)


print("ready", flush=True)
for line in sys.stdin:
    name, folder = line.rstrip("\\n").split("\\t")
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            live(name, Path(folder))
        finally:
            os._exit(0)
    print(pid, flush=True)
"""


@dataclass(slots=True)
class Actor:
    """A process of the game, and what it should be at."""

    pid: int
    orders: IO[str]
    answers: IO[str]
    is_stopped: bool = False
    generation: int = 0  # what it holds or once held; 0: nothing
    folder_inode: int = 0
    may_be_ended: bool = False
    hours: int = 0  # how far its clock was ahead when it took the lock

    def ask(self, words: str) -> str:
        """Give an order and return the answer."""
        self.orders.write(f"{words}\n")
        self.orders.flush()
        return self.answers.readline().strip()


def wire(fifo: str, mode: str) -> IO[str]:
    """Open one end of a FIFO; the other end is opened by the actor."""
    return os.fdopen(os.open(fifo, os.O_WRONLY if mode == "w" else os.O_RDONLY), mode)


class Game(RuleBasedStateMachine):
    """At most three actors, one lock."""

    nursery: Child
    base: Path

    def __init__(self) -> None:
        """Start with nobody and nothing."""
        super().__init__()
        self.place = Path(tempfile.mkdtemp(dir=self.base))
        self.folder = self.place / "locks" / "generate"
        self.names = itertools.count()
        self.actors: list[Actor] = []
        self.holder: Actor | None = None
        self.is_record_true = True
        self.highest = 0

    @initialize()
    def begin(self) -> None:
        """Let two be there."""
        self.join()
        self.join()

    @precondition(lambda self: len(self.actors) < 3)
    @rule()
    def join(self) -> None:
        """Let one more be there."""
        name = self.place / f"actor-{next(self.names)}"
        os.mkfifo(f"{name}.in")
        os.mkfifo(f"{name}.out")
        self.nursery.tell(f"{name}\t{self.folder}")
        pid = int(self.nursery.hear())
        self.actors.append(Actor(pid=pid, orders=wire(f"{name}.in", "w"), answers=wire(f"{name}.out", "r")))

    def awake(self) -> list[Actor]:
        """Return those that can be given orders."""
        return [actor for actor in self.actors if not actor.is_stopped]

    @precondition(lambda self: any(not actor.generation for actor in self.awake()))
    @rule(
        data=st.data(),
        hours=st.sampled_from([0, 0, 2]),
        years=st.sampled_from([0, -10, 10]),
        limit=st.sampled_from([0, 60]),
    )
    def contend(self, data: st.DataObject, hours: int, years: int, limit: int) -> None:
        """Let one try: it gets what is free or overdue, and never what another holds."""
        actor = data.draw(st.sampled_from([actor for actor in self.awake() if not actor.generation]))
        record = read_owner(self.folder)
        dead = record.pid if record is not None and record.state == "held" else 0
        holder = self.holder if self.is_held() else None
        answer = actor.ask(f"acquire {hours} {years} {self.highest} {limit}")
        is_overdue = holder is not None and holder.may_be_ended and hours > holder.hours
        # A record that was meddled with may still name the holder truly, and then it may be ended.
        if holder is not None and (not is_overdue or (not self.is_record_true and answer.startswith("LockBusy"))):
            assert answer.startswith("LockBusy"), answer
            assert is_running(holder.pid)
            return
        generation, told = map(int, answer.split())
        assert generation > self.highest
        if holder is None:
            assert told == dead
        else:
            until(lambda: not is_running(holder.pid), "the overdue one was ended")
            self.leave(holder)
        self.highest = generation
        self.holder, self.is_record_true = actor, True
        actor.generation, actor.may_be_ended, actor.hours = generation, bool(limit), hours
        actor.folder_inode = self.folder.stat().st_ino

    def is_held(self) -> bool:
        """Return whether somebody living holds the folder that is there now."""
        if self.holder is None or self.holder not in self.actors or not self.folder.exists():
            return False
        return self.folder.stat().st_ino == self.holder.folder_inode

    @precondition(lambda self: any(actor.generation for actor in self.awake()))
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        """Let one commit that once got the lock: only the present holder can, and it can as long as nobody meddled."""
        actor = data.draw(st.sampled_from([actor for actor in self.awake() if actor.generation]))
        answer = actor.ask("commit")
        if answer == "committed":
            assert actor is self.holder
        else:
            assert answer.startswith("Fenced"), answer
            assert actor is not self.holder or not self.is_record_true

    @precondition(lambda self: any(actor.generation for actor in self.awake()))
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        """Let one go that once got the lock."""
        actor = data.draw(st.sampled_from([actor for actor in self.awake() if actor.generation]))
        assert actor.ask("release") == "released"
        actor.generation = 0
        if actor is self.holder:
            self.holder = None

    @precondition(lambda self: self.actors)
    @rule(data=st.data())
    def kill(self, data: st.DataObject) -> None:
        """End one by SIGKILL, stopped or not."""
        actor = data.draw(st.sampled_from(self.actors))
        os.kill(actor.pid, signal.SIGKILL)
        until(lambda: not is_running(actor.pid), "it is dead")
        self.leave(actor)

    def leave(self, actor: Actor) -> None:
        """Forget one that is dead."""
        actor.orders.close()
        actor.answers.close()
        self.actors.remove(actor)
        if actor is self.holder:
            self.holder = None

    @precondition(lambda self: self.awake())
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        """Stop one, as a debugger or a laptop's lid does."""
        actor = data.draw(st.sampled_from(self.awake()))
        os.kill(actor.pid, signal.SIGSTOP)
        actor.is_stopped = True

    @precondition(lambda self: len(self.awake()) < len(self.actors))
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        """Let one go on."""
        actor = data.draw(st.sampled_from([actor for actor in self.actors if actor.is_stopped]))
        os.kill(actor.pid, signal.SIGCONT)
        actor.is_stopped = False

    @precondition(lambda self: self.folder.exists())
    @rule(what=st.sampled_from([LOCK_FILE, OWNER_FILE, ""]))
    def delete(self, what: str) -> None:
        """Remove a file or all of it, as a person in despair does."""
        if what:
            (self.folder / what).unlink(missing_ok=True)
        else:
            self.folder.rename(self.place / f"away-{next(self.names)}")  # not removed: its inode is not used again
        self.is_record_true = False

    @precondition(lambda self: (self.folder / OWNER_FILE).exists())
    @rule(
        changes=st.sampled_from(
            [{"pid": 1}, {"pid": os.getpid()}, {"start": "1"}, {"boot_id": "x"}, {"nonce": "f"}, {"generation": 10**9}]
        )
    )
    def lie(self, changes: dict[str, object]) -> None:
        """Forge a record that parses."""
        if read_owner(self.folder) is not None:
            forge(self.folder, **changes)
            self.is_record_true = False
            if "generation" in changes:
                self.highest = max(self.highest, 10**9)

    @precondition(lambda self: self.folder.exists())
    @rule(
        content=st.sampled_from([b"", b"94799\n", b"\xff\x00", b"[" * 9999]),
        name=st.sampled_from([LOCK_FILE, OWNER_FILE]),
    )
    def spoil(self, content: bytes, name: str) -> None:
        """Write garbage into a file, in place."""
        (self.folder / name).write_bytes(content)
        self.is_record_true = False

    @invariant()
    def commits_follow_each_other(self) -> None:
        """Generations never go back, and each is one process's."""
        log = self.place / "commits"
        commits = [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []
        generations = [generation for generation, _ in commits]
        assert generations == sorted(generations)
        assert len(set(commits)) == len(set(generations))

    def teardown(self) -> None:
        """End everybody."""
        for actor in list(self.actors):
            with contextlib.suppress(ProcessLookupError):
                os.kill(actor.pid, signal.SIGKILL)
            self.leave(actor)
        shutil.rmtree(self.place, ignore_errors=True)


@pytest.fixture
def nursery(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    """Return the process that forks the actors."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parents[2]), os.environ["PYTHONPATH"])))
    with Child(NURSERY) as child:
        assert child.hear() == "ready"
        yield child


@pytest.mark.crash
@pytest.mark.timeout(900)
def test_whatever_happens_to_a_lock_there_are_never_two_commits_at_a_time(nursery: Child, tmp_path: Path) -> None:
    """Generations increase, a dead holder never blocks, a living one is never harmed unless it is proved overdue."""

    class OneGame(Game):
        """The game with its nursery and its folder."""

    OneGame.nursery, OneGame.base = nursery, tmp_path
    whole = os.environ.get("LAMPLIGHTER_PROOF") == "all"
    run_state_machine_as_test(
        OneGame,
        settings=settings(
            max_examples=150 if whole else 20,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
