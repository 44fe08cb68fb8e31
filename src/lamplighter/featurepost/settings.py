"""The settings of each part of featurepost; imports no library, so that reading them costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time, timedelta

_MOST_PHOTOS = 10
_DISK = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopSettings:
    """How a shop is asked: attempts, limits and waits, decided together.

    The list may take `total` with all its `tries`; then it is the next brand's turn. `allowed_hosts` are the exact
    "host:port" that may be private and plain http; give the HTTP client the same set.
    """

    tries: int = 3
    wait: timedelta = timedelta(seconds=15)
    total: timedelta = timedelta(seconds=90)
    connect: timedelta = timedelta(seconds=10)
    read: timedelta = timedelta(seconds=20)
    spacing: timedelta = timedelta(seconds=1)
    list_bytes: int = 8_000_000
    photo_tries: int = 2
    photo_wait: timedelta = timedelta(seconds=2)
    photo_total: timedelta = timedelta(seconds=60)
    photo_bytes: int = 25_000_000
    photo_width: int = 1440
    allowed_hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateSettings:
    """How the stock is kept: target, most made a run, attempts beyond what is missing, age at which drafts go.

    `feature_limit` is the most time one feature can take, all its own limits together.
    """

    target: int = 3
    max_per_run: int = 2
    extra_attempts: int = 3
    keep_drafts: timedelta = timedelta(days=30)
    review: bool = False
    at: tuple[time, ...] = ()
    catch_up: timedelta = timedelta(hours=6)
    feature_limit: timedelta = timedelta(minutes=15)

    @property
    def limit(self) -> timedelta:
        """Return the most time a run may take: as many features as it may make and attempts beyond, each at its worst.

        A limit shorter than the work ends runs that did nothing wrong, day after day.
        """
        return self.feature_limit * (self.max_per_run + self.extra_attempts)


def longest_feature(shop: ShopSettings, slides_limit: timedelta) -> timedelta:
    """Return the most time one feature can take: the shop's list, ten photos, the slides, and the disk."""
    return shop.total + _MOST_PHOTOS * shop.photo_total + slides_limit + _DISK
