"""A process that holds a job's lock and does what it is told, and clocks that are wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from tests.simulators.child import Child

from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.owner import OWNER_FILE
from lamplighter.host.clock import SystemClock

HOUR = timedelta(hours=1)
NO_LIMIT = -1.0

# Orders, a line each; every one is answered by a line.
_CODE = """
import codecs, ctypes, os, signal, subprocess, sys, time
from datetime import timedelta
from pathlib import Path
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.owner import Child
from lamplighter.engine.takeover import MARK
from lamplighter.errors import LamplighterError
from lamplighter.host.clock import SystemClock
from lamplighter.host.identity import read_identity

folder, term, uid = Path(sys.argv[1]), sys.argv[4], int(sys.argv[5])
limit, grace = float(sys.argv[2]), float(sys.argv[3])
if uid >= 0:
    codecs.lookup("ascii")  # the interpreter's own files may be closed to that user
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
terms = Terms(limit=timedelta(seconds=limit) if limit >= 0 else None, grace=timedelta(seconds=grace))
lock = JobLock(folder, SystemClock(), terms)


def obey(number, frame):
    lock.release("stopped")
    os._exit(0)


def let_go(number, frame):
    lock.release("stopped")


if term == "ignore":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
elif term == "obey":
    signal.signal(signal.SIGTERM, obey)
elif term == "let-go":
    signal.signal(signal.SIGTERM, let_go)
children = ()


def fork_behind_python(*, away):
    # fork(2) without Python's hooks, as a library in C would do it: the copy keeps the descriptors.
    pid = ctypes.CDLL(None).fork()
    if pid == 0:
        if away:
            os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while True:
            time.sleep(60)
    return pid


def start(**more):
    return subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **more).pid


def answer(order):
    global children
    word, _, rest = order.partition(" ")
    if word == "acquire":
        try:
            lock.acquire("lamplighter generate --scheduled")
        except LamplighterError as error:
            return str(error)
        return str(lock.generation)
    if word == "release":
        lock.release("produced")
        return "released"
    if word == "phase":
        lock.describe(phase=rest)
        return "told"
    if word == "drop":  # any close of the file drops the record lock, as fcntl(2) says
        (folder / "lock").open().close()
        return "dropped"
    if word == "keep":
        return str(fork_behind_python(away=False))
    if word == "keep-away":
        return str(fork_behind_python(away=True))
    if word == "start":
        return str(start(close_fds=False))
    if word == "start-session":
        pid = start(start_new_session=True)
        children = (*children, Child(pid=pid, start=read_identity(pid).start, command="sleep 60"))
        lock.describe(children=children)
        return str(pid)
    if word == "start-marked":
        return str(start(start_new_session=True, env={**os.environ, MARK: lock.nonce}))
    if word == "fork":
        pid = os.fork()
        if pid == 0:
            sys.exit(0)
        os.waitpid(pid, 0)
        return "reaped"
    if word == "fork-stay":
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(theirs, b"x")  # the hooks of fork have run
            time.sleep(60)
            os._exit(0)
        os.read(ours, 1)
        return str(pid)
    if word == "ask-in-fork":
        ours, theirs = os.pipe()
        if os.fork() == 0:
            try:
                lock.check()
                os.write(theirs, b"held")
            except LamplighterError as error:
                os.write(theirs, str(error).encode())
            lock.release()
            os._exit(0)
        os.wait()
        return os.read(ours, 4096).decode()
    if word == "check":
        try:
            lock.check()
            return "held"
        except LamplighterError as error:
            return str(error)
    return "unknown order"


print("ready", flush=True)
for line in sys.stdin:
    print(answer(line.strip()), flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a holder holds: seconds of limit (NO_LIMIT: none) and grace, what it does at SIGTERM, as which user.

    `term` is "die" (killed by it, no word), "obey" (lets go and ends), "let-go" (and lives on) or "ignore".
    """

    limit: float = NO_LIMIT
    grace: float = 0.2
    term: str = "die"
    uid: int = -1


class Holder(Child):
    """A process that has taken the lock; `order` tells it what to do and returns what it answers."""

    def __init__(self, folder: Path, manner: Manner | None = None, *, take: bool = True) -> None:
        """Start it, and let it take the lock."""
        how = manner or Manner()
        super().__init__(_CODE, folder, how.limit, how.grace, how.term, how.uid)
        try:
            assert self.hear() == "ready"
            answer = self.order("acquire") if take else "0"
            assert answer.isdigit(), answer
        except BaseException:
            self.__exit__()
            raise
        self.generation = int(answer)

    def order(self, words: str) -> str:
        """Tell it something and return the answer."""
        self.tell(words)
        return self.hear()


class ShiftedClock(SystemClock):
    """The machine's clock, off by so much: the steady part as after a long wait, the wall as somebody set it."""

    def __init__(self, *, steady: timedelta = timedelta(0), wall: timedelta = timedelta(0)) -> None:
        """Be off by `steady` and `wall`."""
        self._shift, self._wall = steady, wall

    def now(self) -> datetime:
        """Return the wrong time."""
        return super().now() + self._wall

    def monotonic(self) -> timedelta:
        """Return steady time, later than it is."""
        return super().monotonic() + self._shift


def acquire(
    folder: Path,
    *,
    steady: timedelta = timedelta(0),
    wall: timedelta = timedelta(0),
    wait: timedelta = timedelta(0),
    terms: Terms | None = None,
) -> JobLock:
    """Take the lock in this process, with a clock that may be off."""
    lock = JobLock(folder, ShiftedClock(steady=steady, wall=wall), terms)
    lock.acquire("lamplighter generate", wait=wait)
    return lock


def forge(folder: Path, **changes: object) -> None:
    """Change fields of the record, as a restored backup, an attacker or another computer would."""
    file = folder / OWNER_FILE
    record: dict[str, object] = json.loads(file.read_text())
    file.write_text(json.dumps(record | changes))
