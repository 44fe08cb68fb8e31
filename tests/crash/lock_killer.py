"""Kills a process in the middle of taking and letting go of a lock, and looks what is left.

usage: python -m tests.crash.lock_killer FOLDER HOW SCENE PLANT COUNT SEED

HOW is "line", at every executed line of our code (its first and its last turn), or "call", at every system call
(strace(1) injects the signal). SCENE is what the victim finds: "new" (no folder), "again" (a lock that was used),
"dead" (a holder that was killed and left a child), "hung" (a holder past its limit, which is taken over). COUNT is how
many points to try, 0 for all of them. Prints one JSON object: how many points there are, how many were tried, how many
of those were reached, and the harm done at each.

Everything is forked from this one process, so that a point costs milliseconds and not the start of an interpreter.
"""

from __future__ import annotations

import collections
import ctypes
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.crash.killer import NEVER, Killer
from tests.crash.planted import plant
from tests.simulators.child import is_running, until
from tests.simulators.holder import HOUR, ShiftedClock

from lamplighter.engine.history import HISTORY_FILE
from lamplighter.engine.holder import LOCK_FILE
from lamplighter.engine.lock import JobLock, Terms
from lamplighter.engine.owner import HELD, OWNER_FILE, Child, read_owner
from lamplighter.engine.record import SPARE_FILE
from lamplighter.errors import LamplighterError
from lamplighter.host.identity import read_identity

_LONGEST_ACQUIRE = 0.050
_PR_SET_PTRACER = 0x59616D61
_CALL = re.compile(r"^\d+ +(\w+)\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the victim finds: a lock folder, processes of a run before, and perhaps a lock file.

    `pin` is a second name of that file, so that no other can get its inode.
    """

    folder: Path
    holder: int
    leftover: int
    pin: Path


def fork(work: Callable[[], None]) -> int:
    """Run `work` in a child that ends with it, and return its pid."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def take(folder: Path, *, hours: int = 0, terms: Terms | None = None) -> JobLock:
    """Take the lock, so many hours of steady time from now."""
    lock = JobLock(folder, ShiftedClock(steady=hours * HOUR), terms)
    lock.acquire("lamplighter generate")
    return lock


def hold_with_child(folder: Path, said: int) -> None:
    """Take the lock, start a program in a session of its own, say its pid, and hang."""
    lock = take(folder, terms=Terms(limit=timedelta(seconds=1), grace=timedelta(milliseconds=20)))
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    lock.describe(phase="copy.md", children=(Child(pid=child.pid, start=read_identity(child.pid).start),))
    os.write(said, f"{child.pid}\n".encode())
    signal.pause()


def prepare(name: str, folder: Path) -> Scene:
    """Make what the victim is to find."""
    holder = leftover = 0
    if name == "again":
        take(folder).release()
    if name in {"dead", "hung"}:
        ours, theirs = os.pipe()
        holder = fork(lambda: hold_with_child(folder, theirs))
        leftover = int(os.read(ours, 20))
        os.close(ours)
        os.close(theirs)
    if name == "dead":
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
    pin = folder.parent / "pin"
    if (folder / LOCK_FILE).exists():
        os.link(folder / LOCK_FILE, pin)
    return Scene(folder=folder, holder=holder if name == "hung" else 0, leftover=leftover, pin=pin)


def live(folder: Path) -> None:
    """Do what is to be killed: one whole life of a lock."""
    lock = take(folder, hours=1)
    lock.describe(phase="slides")
    lock.check()
    lock.release("produced")


def find_harm(scene: Scene, victim: int) -> list[str]:
    """Take the lock twice after the victim's death and return what is wrong."""
    record = read_owner(scene.folder)
    dead = record.pid if record is not None and record.state == HELD else 0
    known = max(_read_number(scene.folder), record.generation if record else 0)
    try:
        started = time.process_time()
        lock = take(scene.folder, hours=2)
        took = time.process_time() - started
    except LamplighterError as error:
        return [f"the next run does not get the lock: {error}"]
    harm = [f"it took {took * 1000:.0f} ms"] if took > _LONGEST_ACQUIRE and not scene.holder else []
    told = lock.predecessor or lock.taken_over
    if (told.pid if told else 0) != dead or (dead == victim and lock.predecessor is None):
        harm.append(f"a death was told wrongly: of {dead}, told {told}")
    if lock.generation <= known:
        harm.append(f"generation {lock.generation} after {known}")
    if scene.leftover and is_running(scene.leftover):
        harm.append("a process of the run before lives on")
    return [*harm, *_find_later_harm(scene, lock)]


def _find_later_harm(scene: Scene, lock: JobLock) -> list[str]:
    """Let go, take the lock once more, and return what is wrong then."""
    generation = lock.generation
    lock.check()
    lock.release("produced")
    after = take(scene.folder)
    harm = []
    if after.predecessor is not None or after.generation != generation + 1:
        harm.append(f"afterwards: {after.predecessor}, generation {after.generation} after {generation}")
    after.release()
    names = {path.name for path in scene.folder.iterdir()}
    if names != {LOCK_FILE, OWNER_FILE, SPARE_FILE, HISTORY_FILE}:
        harm.append(f"the folder holds {sorted(names)}")
    if scene.pin.exists() and not scene.pin.samefile(scene.folder / LOCK_FILE):
        harm.append("the lock file is another one now")
    return harm


def _read_number(folder: Path) -> int:
    try:
        text = (folder / LOCK_FILE).read_text("ascii").strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0


def count_lines(scene: Scene, bug: str) -> list[str]:
    """Return every line a life executes, with its first and its last turn."""
    ours, theirs = os.pipe()

    def work() -> None:
        os.write(theirs, json.dumps(_trace(scene.folder, NEVER, bug)).encode())

    pid = fork(work)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        points: list[str] = json.loads(stream.read())
    os.waitpid(pid, 0)
    return points


def kill_at_line(scene: Scene, point: str, bug: str) -> tuple[int, bool]:
    """Let a victim die at a line; return its pid and whether it did."""
    pid = fork(lambda: [].clear() if _trace(scene.folder, point, bug) else None)
    return pid, os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def _trace(folder: Path, point: str, bug: str) -> list[str]:
    plant(bug)
    killer = Killer(point)
    sys.settrace(killer)
    try:
        live(folder)
    finally:
        sys.settrace(None)
    return [f"{line}:{turn}" for line, turns in killer.reached.items() for turn in sorted({1, len(turns)})]


def count_calls(scene: Scene, bug: str) -> list[str]:
    """Return every system call of a life, as "openat:7" for the seventh of its name; to ask /proc changes nothing."""
    log = scene.folder.parent.parent / "calls"
    pid, _ = _live_traced(scene, bug, "-y", "-o", str(log), "-e", "signal=none")
    counts: collections.Counter[str] = collections.Counter()
    points = []
    for line in log.read_text("ascii", "replace").splitlines():
        match = _CALL.match(line)
        if match is not None and line.startswith(f"{pid} "):
            counts[match[1]] += 1
            if "/proc" not in line:
                points.append(f"{match[1]}:{counts[match[1]]}")
    return points


def kill_at_call(scene: Scene, point: str, bug: str) -> tuple[int, bool]:
    """Let a victim die at a system call; return its pid and whether it did."""
    name, _, number = point.partition(":")
    inject = f"inject={name}:signal=KILL:when={number}"
    return _live_traced(scene, bug, "-o", os.devnull, "-e", inject)


def _live_traced(scene: Scene, bug: str, *flags: str) -> tuple[int, bool]:
    """Run a life under strace(1), from its first system call on; return its pid and whether SIGKILL ended it."""
    ours, theirs = os.pipe()

    def work() -> None:
        plant(bug)
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
        os.read(ours, 1)
        live(scene.folder)

    pid = fork(work)
    tracer = subprocess.Popen(["strace", "-f", "-q", "-p", str(pid), *flags], stderr=subprocess.PIPE)
    status = Path(f"/proc/{pid}/status")
    until(lambda: "TracerPid:\t0\n" not in status.read_text() or tracer.poll() is not None, "strace attached")
    os.write(theirs, b"x")
    ended = os.waitpid(pid, 0)[1]
    _, said = tracer.communicate(timeout=30)
    os.close(ours)
    os.close(theirs)
    if b"not permitted" in said:
        raise PermissionError(said.decode())
    return pid, os.WIFSIGNALED(ended)


def try_point(folder: Path, scene_name: str, act: Callable[[Scene], tuple[int, bool]]) -> list[str] | None:
    """Return the harm that a victim's death does, None when the point was not reached."""
    scene = prepare(scene_name, folder)
    try:
        victim, is_killed = act(scene)
        return find_harm(scene, victim) if is_killed else None
    finally:
        for pid in filter(None, (scene.holder, scene.leftover)):
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        if scene.holder:
            os.waitpid(scene.holder, 0)


def main() -> int:
    """Try the points and print what came of it."""
    base, how, name, bug, count, seed = sys.argv[1:]
    list_points, kill_at = (count_lines, kill_at_line) if how == "line" else (count_calls, kill_at_call)
    folders = iter(Path(base) / f"{number}" / "generate" for number in range(10**6))
    points: list[str] = []

    def list_once(scene: Scene) -> tuple[int, bool]:
        points.extend(list_points(scene, bug))
        return 0, False

    try_point(next(folders), name, list_once)
    chosen = random.Random(int(seed)).sample(points, int(count)) if int(count) else points
    harms, reached = {}, 0
    for point in chosen:
        folder = next(folders)
        harm = try_point(folder, name, lambda scene, point=point: kill_at(scene, point, bug))  # type: ignore[misc]
        reached += harm is not None
        if harm:
            harms[point] = harm
        shutil.rmtree(folder.parent, ignore_errors=True)
    print(json.dumps({"points": len(points), "tried": len(chosen), "reached": reached, "harms": harms}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
