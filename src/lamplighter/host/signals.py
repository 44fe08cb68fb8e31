"""TERM, INT and HUP as one exception that unwinds the work and lets it clean up."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_ASKING_TO_STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(BaseException):
    """The process was asked to stop by a signal."""

    def __init__(self, number: int) -> None:
        """Remember the signal's number."""
        super().__init__(number)
        self.number = number


class Interrupts:
    """The stop signals while they are held: the first is kept until `raising`, later ones are ignored."""

    def __init__(self) -> None:
        """Hold nothing yet; use `holding_interrupts`."""
        self._first: int | None = None
        self._raises = False
        self._raised = False

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Raise Interrupted, once, at a stop signal that comes in this block or was held before it."""
        try:
            self._raises = True
            self._raise_first()
            yield
        finally:
            self._raises = False

    def receive(self, number: int, _: FrameType | None) -> None:
        """Take a signal; this is the handler."""
        if self._first is None:
            self._first = number
        if self._raises:
            self._raise_first()

    def _raise_first(self) -> None:
        if self._first is not None and not self._raised:
            self._raised = True
            raise Interrupted(self._first)


@contextlib.contextmanager
def deferring_signals() -> Iterator[None]:
    """Let no stop signal break in before the block has ended; then it is delivered, to whoever handles it.

    For the moment in which a process is started: broken off there, nobody would know of it. Only the main thread hears
    signals, so that in any other there is nothing to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in _ASKING_TO_STOP}
    heard = {number: handler for number, handler in before.items() if handler not in {signal.SIG_IGN, None}}
    for number in heard:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
        for arrived in received:
            signal.raise_signal(arrived)


@contextlib.contextmanager
def holding_interrupts() -> Iterator[Interrupts]:
    """Let no stop signal come between steps that belong together, the parts inside `raising` apart.

    What is held at the end is dropped: by then nothing is left to stop. A signal that was ignored before (nohup, a
    background job of a shell) stays ignored.
    """
    interrupts = Interrupts()
    before = {number: signal.getsignal(number) for number in _ASKING_TO_STOP}
    for number, handler in before.items():
        if handler not in {signal.SIG_IGN, None}:
            signal.signal(number, interrupts.receive)
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: set by something that is not Python
                signal.signal(number, handler)
