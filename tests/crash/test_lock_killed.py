"""Taking and letting go of a lock, killed at every line and every system call: the next run always works."""

from __future__ import annotations

import collections
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.crash.matrix import ROOT
from tests.simulators.contender import Round, play
from tests.simulators.holder import Manner

pytestmark = [pytest.mark.crash, pytest.mark.timeout(900)]
SCENES = ("new", "again", "dead", "hung")
SAMPLED_LINES, SAMPLED_CALLS, ALL = 30, 8, 0
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace: apt-get install strace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a matrix found: how many points it tried, how many of those were reached, and the harm at each."""

    tried: int
    reached: int
    harms: dict[str, list[str]]


def kill_all(folder: Path, how: str, scene: str, *, plant: str = "none", sample: int = ALL) -> Looked:
    """Run a matrix, the whole of it in a proof, else a sample with a printed seed."""
    seed = int(os.environ.get("LAMPLIGHTER_SEED") or random.randrange(10**6))
    count = ALL if os.environ.get("LAMPLIGHTER_PROOF") == "all" else sample
    print(f"LAMPLIGHTER_SEED={seed}")
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.lock_killer", folder, how, scene, plant, str(count), str(seed)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=850,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return Looked(tried=found["tried"], reached=found["reached"], harms=found["harms"])


@pytest.mark.parametrize("scene", SCENES)
def test_a_lock_killed_at_any_line_is_free_and_tells_of_the_death(tmp_path: Path, scene: str) -> None:
    """The next run has it in a twentieth of a second, counts on, is told who died, and leaves nothing behind."""
    looked = kill_all(tmp_path, "line", scene, sample=SAMPLED_LINES)
    assert looked.harms == {}
    assert looked.reached > 0.8 * looked.tried  # how often a loop over other processes turns is theirs to say


@needs_strace
@pytest.mark.parametrize("scene", SCENES)
def test_a_lock_killed_at_any_system_call_is_free_and_tells_of_the_death(tmp_path: Path, scene: str) -> None:
    """The same between any two things that the kernel is asked to do."""
    looked = kill_all(tmp_path, "call", scene, sample=SAMPLED_CALLS)
    assert looked.harms == {}
    assert looked.reached > 0.5 * looked.tried  # how often memory is asked for is the interpreter's to say


def test_the_matrix_catches_an_unlink_at_release(tmp_path: Path) -> None:
    """With the planted bug the lock file is another one: a matrix without harm means something."""
    looked = kill_all(tmp_path, "line", "again", plant="unlink-at-release")
    assert any("the lock file is another one now" in harm for harm in looked.harms.values())


def test_of_eight_contenders_for_a_hung_holder_one_wins_in_every_round(tmp_path: Path) -> None:
    """Two hundred rounds in a proof: one winner, who is never signalled, and seven who are told that it is busy."""
    rounds = 200 if os.environ.get("LAMPLIGHTER_PROOF") == "all" else 3
    manners = itertools.islice(
        itertools.cycle(Manner(limit=1, grace=0.05, term=term) for term in ("die", "obey", "ignore")), rounds
    )
    played = collections.Counter(play(tmp_path, count=8, manners=manners))
    assert played == {Round(generations=(2,), busy=7, is_told_both=False): rounds}
