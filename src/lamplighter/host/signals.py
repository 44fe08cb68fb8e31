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


class Deferral:
    """The stop signals that are put off while a `deferring_signals` block lasts, but for the parts inside `hearing`."""

    def __init__(self) -> None:
        """Put off nothing yet; only the main thread hears signals, so that in any other there is nothing to do."""
        self._received: list[int] = []
        is_main = threading.current_thread() is threading.main_thread()
        before = {number: signal.getsignal(number) for number in _ASKING_TO_STOP} if is_main else {}
        self._heard = {number: handler for number, handler in before.items() if handler not in {signal.SIG_IGN, None}}

    def is_urgent(self) -> bool:
        """Tell whether Ctrl-C came among what is put off now: somebody waits at a terminal, and asks again."""
        return signal.SIGINT in self._received

    def _put_off(self) -> None:
        for number in self._heard:
            signal.signal(number, lambda number, _: self._received.append(number))

    def _deliver(self) -> None:
        for number, handler in self._heard.items():
            signal.signal(number, handler)
        received, self._received = self._received, []
        for arrived in received:
            signal.raise_signal(arrived)

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """Let stop signals through in this block, those first that were put off before it."""
        try:
            self._deliver()
            yield
        finally:
            self._put_off()


@contextlib.contextmanager
def deferring_signals() -> Iterator[Deferral]:
    """Let no stop signal break in before the block has ended; then it is delivered, to whoever handles it.

    For the moments in which a process is started, and in which what it left is ended: broken off there, nobody would
    know of it.
    """
    deferral = Deferral()
    try:
        deferral._put_off()  # noqa: SLF001 - this module's own
        yield deferral
    finally:
        deferral._deliver()  # noqa: SLF001 - the same


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
