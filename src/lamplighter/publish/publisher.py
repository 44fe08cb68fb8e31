"""What a publisher is: the one who puts a post out, and the rules its network has for posts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from lamplighter.featurepost.feature import Feature

CAPTION_LIMIT = 2_200  # UTF-16 units, and the two below: reference/instagram.md, "Captions"
HASHTAG_LIMIT = 30
SLIDE_LIMITS = (1, 10)
SLIDE_BYTES_LIMIT = 8_000_000
SLOT_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]{4})?(?:-extra[0-9]+)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One feature about to go out in one slot; `slide_files` in order, JPEG."""

    slot: str
    feature: Feature
    slide_files: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that a post is out: the publisher's id of it, where to see it, and since when."""

    id: str
    location: str
    published_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A post that the channel itself remembers: its slot, its feature, its receipt."""

    slot: str
    feature_id: str
    receipt: Receipt


class Publisher(Protocol):
    """Puts posts out. It never sleeps, retries or writes state; the journal does that around it."""

    @property
    def name(self) -> str:
        """Return the channel's name."""

    def describe(self, post: Post) -> tuple[str, ...]:
        """Return what `publish` would do, a line each; does nothing."""

    def find(self, slot: str, feature_id: str) -> Receipt | None:
        """Return the receipt of a post when it is out, None when it is proven not to be."""

    def recall(self, *, besides: frozenset[str]) -> tuple[Recalled, ...]:
        """Return our posts that the channel itself remembers, besides those of known features.

        Asked before every post, so that a journal that was lost or is old loses nothing.
        """

    def publish(self, post: Post) -> Receipt:
        """Put the post out and return its receipt; raises LamplighterError when it is not out."""


def lint_post(caption: str, slide_files: tuple[Path, ...]) -> tuple[str, ...]:
    """Return what a carousel network would refuse: caption, hashtags, number and size of pictures."""
    findings = []
    units = len(caption.encode("utf-16-le", "surrogatepass")) // 2
    if units > CAPTION_LIMIT:
        findings.append(f"the caption has {units} of at most {CAPTION_LIMIT} characters")
    hashtags = len(re.findall(r"[#＃]\w+", caption))
    if hashtags > HASHTAG_LIMIT:
        findings.append(f"the caption has {hashtags} of at most {HASHTAG_LIMIT} hashtags")
    least, most = SLIDE_LIMITS
    if not least <= len(slide_files) <= most:
        findings.append(f"there are {len(slide_files)} pictures, {least} to {most} can be posted")
    for file in slide_files:
        if not file.is_file():
            findings.append(f"{file.name} is missing")
        elif file.stat().st_size > SLIDE_BYTES_LIMIT:
            findings.append(f"{file.name} is larger than {SLIDE_BYTES_LIMIT:,} bytes")
    return tuple(findings)
