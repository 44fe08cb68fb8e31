"""TERM, INT and HUP: raised once in the work, held back elsewhere, and the handlers are put back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

import pytest

from lamplighter.host.signals import Interrupted, deferring_signals, holding_interrupts

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
stops = pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)


def handlers() -> list[Callable[[int, FrameType | None], object] | int | None]:
    """Return who would take each stop signal now."""
    return [signal.getsignal(number) for number in STOPS]


@stops
def test_a_stop_signal_raises_where_it_arrives(number: signal.Signals) -> None:
    """The work unwinds by an exception that names the signal."""
    with pytest.raises(Interrupted) as caught, holding_interrupts() as interrupts, interrupts.raising():
        signal.raise_signal(number)
    assert caught.value.number == number


@stops
def test_later_signals_are_ignored_while_the_work_cleans_up(number: signal.Signals) -> None:
    """The second Ctrl-C does not tear the clean-up apart."""
    cleaned = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(number)
            cleaned.append(True)

    with pytest.raises(Interrupted) as caught, holding_interrupts() as interrupts, interrupts.raising():
        work()
    assert cleaned == [True]
    assert caught.value.number == signal.SIGTERM


def test_the_handlers_are_as_before_afterwards() -> None:
    """With an interrupt or without one, the handlers of before are put back."""
    before = handlers()
    with holding_interrupts() as interrupts, interrupts.raising():
        assert handlers() != before
    assert handlers() == before
    with pytest.raises(Interrupted), holding_interrupts() as interrupts, interrupts.raising():
        signal.raise_signal(signal.SIGHUP)
    assert handlers() == before


@stops
def test_a_held_signal_is_raised_when_the_work_begins(number: signal.Signals) -> None:
    """A stop that came while the row was written stops the work before its first step."""
    worked = False
    with holding_interrupts() as interrupts:
        signal.raise_signal(number)
        with pytest.raises(Interrupted) as caught, interrupts.raising():
            worked = True
    assert not worked
    assert caught.value.number == number


@stops
def test_a_signal_after_the_work_is_dropped(number: signal.Signals) -> None:
    """Nothing comes between the work and the writing of its outcome, and nothing is left to stop after that."""
    with holding_interrupts() as interrupts:
        with interrupts.raising():
            pass
        signal.raise_signal(number)


def test_only_one_interrupt_is_raised_however_many_blocks_follow() -> None:
    """What cleans up after an interrupt may itself be a block of work."""
    with holding_interrupts() as interrupts:
        with pytest.raises(Interrupted), interrupts.raising():
            signal.raise_signal(signal.SIGTERM)
        with interrupts.raising():
            signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_was_ignored_before_stays_ignored() -> None:
    """Whoever typed nohup wants the work to outlive the terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with holding_interrupts() as interrupts, interrupts.raising():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@stops
def test_a_deferred_signal_comes_after_the_block(number: signal.Signals) -> None:
    """What must not be broken off is done first, and then the signal is heard, once."""
    done = []

    def start() -> None:
        with deferring_signals():
            signal.raise_signal(number)
            done.append("started")
        done.append("never reached")

    with pytest.raises(Interrupted) as caught, holding_interrupts() as interrupts, interrupts.raising():
        start()
    assert (done, caught.value.number) == (["started"], number)


def test_deferring_puts_the_handlers_back() -> None:
    """Also when the block fails, and an ignored signal stays ignored."""
    before = handlers()
    with pytest.raises(ValueError, match="no"), deferring_signals():
        raise ValueError("no")
    assert handlers() == before


def test_another_thread_has_nothing_to_defer() -> None:
    """Signals come to the main thread only; a block elsewhere runs as it is."""
    ran = []

    def work() -> None:
        with deferring_signals():
            ran.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [True]
