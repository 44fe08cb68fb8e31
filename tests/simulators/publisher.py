"""A publisher that remembers what went out and stops where a test says.

    publisher = ScriptedPublisher()
    publisher.before = UpstreamError("network", "down")   # raised before anything is out
    publisher.after = Killed()                            # raised when it is out, before the receipt comes back

`Killed` is a BaseException, so that nothing tidies up after it, as nothing does after SIGKILL.
"""

from __future__ import annotations

from datetime import datetime

from tests.simulators.clock import START

from lamplighter.publish.publisher import Post, Recalled, Receipt


class Killed(BaseException):
    """The process is gone at this point."""


class ScriptedPublisher:
    """Implements publish.publisher.Publisher; `calls` counts what was sent, `out` what can be seen there."""

    def __init__(self) -> None:
        self.before: BaseException | None = None
        self.after: BaseException | None = None
        self.blind: Exception | None = None
        self.remembered: list[Recalled] = []
        self.calls: list[tuple[str, str]] = []
        self.out: dict[tuple[str, str], Receipt] = {}

    @property
    def name(self) -> str:
        """Return the channel's name."""
        return "folder"

    def describe(self, post: Post) -> tuple[str, ...]:
        """Return one line."""
        return (f"send {post.feature.id}",)

    def find(self, slot: str, feature_id: str) -> Receipt | None:
        """Return the receipt of what is out, unless it cannot be seen."""
        if self.blind is not None:
            raise self.blind
        return self.out.get((slot, feature_id))

    def recall(self, *, besides: frozenset[str]) -> tuple[Recalled, ...]:
        """Return what a test says the channel remembers."""
        return tuple(known for known in self.remembered if known.feature_id not in besides)

    def publish(self, post: Post) -> Receipt:
        """Put it out, unless told otherwise."""
        self.calls.append((post.slot, post.feature.id))
        if self.before is not None:
            raise self.before
        receipt = make_receipt(post.slot, post.feature.id)
        self.out[post.slot, post.feature.id] = receipt
        if self.after is not None:
            raise self.after
        return receipt


def make_receipt(slot: str, feature_id: str, at: datetime = START) -> Receipt:
    """Return the receipt of a post."""
    return Receipt(id=f"{slot}-{feature_id}", location=f"/outbox/{slot}-{feature_id}", published_at=at)
