"""Processes that all want one lock at once, and what each of them was told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.simulators.child import Child
from tests.simulators.holder import Holder, Manner

# A folder a line; it answers, and a second line lets it go.
_CODE = """
import os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
from tests.simulators.holder import HOUR, acquire
from lamplighter.errors import LockBusy
print("ready", flush=True)
for line in sys.stdin:
    lock = None
    try:
        lock = acquire(Path(line.strip()), steady=HOUR)
        print(f"got {lock.generation} {lock.taken_over is not None} {lock.predecessor is not None}", flush=True)
    except LockBusy as error:
        print(f"busy {error}", flush=True)
    sys.stdin.readline()
    if lock is not None:
        lock.check()
        lock.release()
    print("done", flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What came of one round: the winners' generations, how many were told busy, and whether a winner was told both."""

    generations: tuple[int, ...]
    busy: int
    is_told_both: bool


class Contenders:
    """Several processes that contend for one lock after another; leaving the block ends them."""

    def __init__(self, count: int) -> None:
        """Start them, and wait until each is ready."""
        self._stack = contextlib.ExitStack()
        self._children = [self._stack.enter_context(Child(_CODE, Path(__file__).parents[2])) for _ in range(count)]

    def __enter__(self) -> Self:
        assert {child.hear() for child in self._children} == {"ready"}
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def contend(self, folder: Path, manner: Manner) -> Round:
        """Let a holder of this manner hang, and all of them take over at once; each must answer to the end."""
        with Holder(folder, manner):
            for child in self._children:
                child.tell(str(folder))
            answers = [child.hear().split() for child in self._children]
        for child in self._children:
            child.tell("")
        assert {child.hear() for child in self._children} == {"done"}, "a winner was signalled or fenced"
        won = [answer for answer in answers if answer[0] == "got"]
        return Round(
            generations=tuple(int(answer[1]) for answer in won),
            busy=sum(answer[0] == "busy" for answer in answers),
            is_told_both=any(answer[2:] == ["True", "True"] for answer in won),
        )


def play(place: Path, *, count: int, manners: Iterator[Manner]) -> Iterator[Round]:
    """Give a round for each manner, every one over a new lock."""
    with Contenders(count) as contenders:
        for number, manner in enumerate(manners):
            yield contenders.contend(place / f"{number}", manner)
