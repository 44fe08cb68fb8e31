"""The story that lamplighter starts from, played with real processes: python -m tools.incident (make incident).

A holder is killed with SIGKILL, and three scheduled runs follow; then the two things that broke the repairs. Each is
played with the old lock in its three versions and with lamplighter, and the table says who ran, who said what, and when
a person would have known.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_OLD_LOCK = Path(__file__).with_name("old_lock.py")
_OLD_VERSIONS = ("age", "pid", "repaired")
_RUNS = 3
_NOBODY = 65534
_MAKE = 'echo "a post" > "posts/post-$(date +%s%N)"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one scene with one lock: each run's word and exit code, posts made, and when a person knew."""

    scene: str
    lock: str
    words: tuple[str, ...]
    posts: int
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A folder to play one scene in."""

    folder: Path

    @property
    def posts(self) -> Path:
        """Return where the job leaves its output."""
        return self.folder / "posts"

    @property
    def lock(self) -> Path:
        """Return where the old lock is."""
        return self.folder / "job.lock"

    def old(self, version: str, seconds: float = 0, *, user: int | None = None) -> list[str]:
        """Return the command of one run under the old lock, as another user where asked."""
        command = [sys.executable, str(_OLD_LOCK), version, str(self.lock), str(self.posts), str(seconds)]
        return [*command, str(user)] if user is not None else command

    def ours(self, seconds: float = 0) -> list[str]:
        """Return the command of one run under lamplighter."""
        work = f"sleep {seconds}; {_MAKE}" if seconds else _MAKE
        program = [sys.executable, "-m", "lamplighter"]
        return [*program, "run", "--scheduled", "--output", "posts/*", "story", "--", "sh", "-c", work]

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        """Start a command here."""
        environment = {**os.environ, "XDG_STATE_HOME": str(self.folder / "state")}
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def show_runs(self) -> str:
        """Return what lamplighter has recorded of its runs."""
        own = str(self.folder / "state/lamplighter/own")
        command = [sys.executable, "-m", "lamplighter", "runs", "list", "--json", "--workspace", own]
        return self.start(command).communicate(timeout=60)[0]

    def say(self, command: list[str]) -> str:
        """Run a command to its end and return its last line with its exit code."""
        process = self.start(command)
        lines = process.communicate(timeout=60)[0].strip().splitlines()
        return f"{lines[-1] if lines else 'said nothing'} (exit {process.returncode})"


Break = Callable[[Stage, list[str], str], None]


def kill_the_holder(stage: Stage, hold: list[str], lock: str) -> None:
    """Let a run take the lock, and kill it at work with SIGKILL."""
    process = stage.start(hold)
    _wait_for(stage, lock)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def kill_between_truncating_and_writing(stage: Stage, hold: list[str], lock: str) -> None:
    """Leave what a process leaves that was killed after it emptied the lock file and before it wrote its pid."""
    if lock == "lamplighter":
        kill_the_holder(stage, hold, lock)
        for file in stage.folder.glob("state/lamplighter/own/state/locks/story/*"):
            file.write_bytes(b"")
    else:
        stage.lock.write_bytes(b"")


def give_the_pid_to_another(stage: Stage, hold: list[str], lock: str) -> None:
    """Kill the holder, and let the pid it wrote be that of a process that lives: this one."""
    kill_the_holder(stage, hold, lock)
    text = str(os.getpid())
    if lock == "lamplighter":
        (stage.folder / "state/lamplighter/own/state/locks/story/lock").write_text(text)
    else:
        stage.lock.write_text(text)


def _wait_for(stage: Stage, lock: str) -> None:
    """Wait until a run is at work."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if lock != "lamplighter" and stage.lock.exists() and stage.lock.read_text():
            return
        records = [*stage.folder.glob("state/lamplighter/own/state/locks/story/owner.json")]
        if lock == "lamplighter" and records and '"pid"' in records[0].read_text().partition('"children"')[2]:
            return
        time.sleep(0.01)
    raise TimeoutError("no run began")


SCENES: tuple[tuple[str, Break], ...] = (
    ("the holder is killed with SIGKILL", kill_the_holder),
    ("killed between truncating and writing", kill_between_truncating_and_writing),
    ("its pid is another process's now", give_the_pid_to_another),
)


def play(scene: str, break_it: Break, lock: str) -> Played:
    """Play a scene with one lock."""
    with tempfile.TemporaryDirectory(prefix="lamplighter-incident-") as name:
        stage = Stage(folder=Path(name))
        stage.posts.mkdir()
        ours = lock == "lamplighter"
        break_it(stage, stage.ours(30) if ours else stage.old(lock, 30), lock)
        began = time.monotonic()
        words = tuple(stage.say(stage.ours() if ours else stage.old(lock)) for _ in range(_RUNS))
        seconds = (time.monotonic() - began) / _RUNS
        posts = len([*stage.posts.iterdir()])
        return Played(
            scene=scene, lock=lock, words=words, posts=posts, known=_say_known(stage, posts, seconds, ours=ours)
        )


def _say_known(stage: Stage, posts: int, seconds: float, *, ours: bool) -> str:
    if ours:
        told = stage.show_runs()
        when = f"at the next run, {seconds:.1f} s later"
        return f"{when}: its record says predecessor_died" if "predecessor_died" in told else "never"
    return "nothing was wrong" if posts == _RUNS else "never: three times exit 0, and no output to be missed"


def play_another_user() -> tuple[Played, ...]:
    """Play the live holder of another user, which the second version took for dead: needs root to be played."""
    if os.geteuid() != 0:
        return ()
    played = []
    for lock in _OLD_VERSIONS:
        with tempfile.TemporaryDirectory(prefix="lamplighter-incident-") as name:
            stage = Stage(folder=Path(name))
            stage.posts.mkdir()
            for path in (stage.folder, stage.posts):
                path.chmod(0o777)
            holder = stage.start(stage.old(lock, 30))
            _wait_for(stage, lock)
            stage.lock.chmod(0o666)
            words = tuple(stage.say(stage.old(lock, user=_NOBODY)) for _ in range(_RUNS))
            made = len([*stage.posts.iterdir()])
            alive = holder.poll() is None
            holder.kill()
            holder.communicate()
            stole = bool(made) and alive
            known = "never: two were at work at once" if stole else "nothing was wrong: it is held"
            scene = "the holder lives, as another user"
            played.append(Played(scene=scene, lock=lock, words=words, posts=made, known=known))
    return tuple(played)


def main() -> int:
    """Play everything and print the table; 1 when lamplighter did not stand it."""
    began = time.monotonic()
    played = [play(scene, act, lock) for scene, act in SCENES for lock in (*_OLD_VERSIONS, "lamplighter")]
    played += play_another_user()
    scene = ""
    for entry in played:
        if entry.scene != scene:
            scene = entry.scene
            print(f"\n{scene}; then three scheduled runs")
        name = entry.lock if entry.lock == "lamplighter" else f"old lock, {entry.lock}"
        print(f"  {name:<19} made {entry.posts} of {_RUNS}   a person knew: {entry.known}")
        for word in dict.fromkeys(entry.words):
            print(f"      {entry.words.count(word)}x {word}")
    print(f"\nplayed in {time.monotonic() - began:.1f} s")
    return 0 if all(entry.posts == _RUNS for entry in played if entry.lock == "lamplighter") else 1


if __name__ == "__main__":
    sys.exit(main())
