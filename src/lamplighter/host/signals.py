"""TERM, INT and HUP as one exception that unwinds the work and lets it clean up."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_ASKING_TO_STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(BaseException):
    """The process was asked to stop by a signal."""

    def __init__(self, number: int) -> None:
        """Remember the signal's number."""
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def raising_interrupts() -> Iterator[None]:
    """Raise Interrupted once where a stop signal arrives; later ones are ignored while the work cleans up."""

    def interrupt(number: int, _: FrameType | None) -> None:
        for asking in _ASKING_TO_STOP:
            signal.signal(asking, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in _ASKING_TO_STOP}
    for number in _ASKING_TO_STOP:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def ignoring_interrupts() -> Iterator[None]:
    """Let nothing but SIGKILL come between two steps that belong together."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ASKING_TO_STOP}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
