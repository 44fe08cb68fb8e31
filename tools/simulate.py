"""Sixty days of a workspace in some seconds: misfortunes drawn from a seed, and an inquest on what a person was told.

    python -m tools.simulate [--days N] [--seed N] [--plant exit-zero]

The last line sums up; the exit code is 1 when a missing post was not known in time, an alarm was false, a notice came
off its ladder, or the same seed told another story.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from tests.simulators.household import ZONE, Household
from tests.simulators.inquest import Findings, hash_story, hold_inquest
from tests.simulators.planted_watch import ExitZero

from lamplighter.app.expecting import Expectations

_BEGIN = datetime(2026, 9, 25, tzinfo=ZONE)  # the clocks go back on 25 October
_SEED = 24
_AGAIN = timedelta(days=4)


def simulate(*, seed: int, days: int, expectations: type[Expectations] = Expectations) -> tuple[Household, Findings]:
    """Live through the days, and the first of them once more: the same seed tells the same story."""
    folder, again = (Path(tempfile.mkdtemp(prefix="lamplighter-simulate-", dir=_find_memory())) for _ in range(2))
    try:
        life = Household(folder, seed=seed, days=days, begin=_BEGIN, expectations=expectations)
        life.live()
        other = Household(again, seed=seed, days=days, begin=_BEGIN, expectations=expectations)
        other.live_until(other.begin + _AGAIN)
        findings = hold_inquest(life)
        begun = life.notices[: len(other.notices)]
        same = hash_story(begun, folder) == hash_story(other.notices, again)
        life.database.close()
        other.database.close()
    finally:
        for place in (folder, again):
            shutil.rmtree(place, ignore_errors=True)
    wrong = () if same else (f"seed {seed} told another story when it was told again",)
    return life, Findings(
        days=findings.days,
        missing=findings.missing,
        told=findings.told,
        by_heartbeat=findings.by_heartbeat,
        notices=findings.notices,
        wrong=(*findings.wrong, *wrong),
        story=findings.story,
    )


def _find_memory() -> str | None:
    """Return a folder in memory, None where the machine has none."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - folders of random names, removed again


def main() -> int:
    """Print what befell, what was wrong, and the summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--seed", type=int, default=_SEED, help="default: %(default)s; 0 draws one")
    parser.add_argument("--plant", choices=("exit-zero",), help="plant a bug, which is to be caught")
    parser.add_argument("--verbose", action="store_true", help="print every misfortune and notice")
    arguments = parser.parse_args()
    expectations = ExitZero if arguments.plant else Expectations
    seed = arguments.seed or random.SystemRandom().randrange(1, 100_000)
    life, findings = simulate(seed=seed, days=max(5, arguments.days), expectations=expectations)
    befell = Counter(one.kind.value for one in life.misfortunes)
    print("befell: " + ", ".join(f"{count} x {kind}" for kind, count in sorted(befell.items())))
    print("runs: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(life.account.outcomes.items())))
    if arguments.verbose:
        for one in life.misfortunes:
            print(f"  {one.begin:%m-%d %H:%M} to {one.end:%m-%d %H:%M} {one.kind.value} {one.job}")
        for said in life.notices:
            notice, at = said.notice, said.written_at.astimezone(ZONE)
            print(f"  {at:%m-%d %H:%M} {notice.kind.value} {notice.incident}: {notice.subject}")
    for line in findings.wrong:
        print(f"wrong: {line}")
    print(
        f"simulate: seed {seed}, {findings.days} days, {len(life.account.ticks)} ticks, {findings.missing} "
        f"posts missing: {findings.told} told within 15 minutes, {findings.by_heartbeat} by heartbeat; "
        f"{findings.notices} notices; {len(findings.wrong)} wrong; story {findings.story}"
    )
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
