"""The folder publisher: posts into `outbox/<slot>-<feature>/`, with a page that looks as the network would show it."""

from __future__ import annotations

import contextlib
import html
import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from string import Template

import msgspec

from lamplighter.errors import InputError, NeedsHuman
from lamplighter.featurepost.feature import CAPTION_FILE, MANIFEST_FILE, Feature, parse_manifest, render_manifest
from lamplighter.host.clock import Clock
from lamplighter.host.files import (
    TEMPORARY_PREFIX,
    disk_error,
    list_folder,
    make_folder,
    move_folder,
    read_capped,
    sync_folder,
    write_atomic,
)
from lamplighter.publish.publisher import SLIDE_BYTES_LIMIT, SLOT_PATTERN, Post, Recalled, Receipt

PREVIEW_FILE = "preview.html"
_POST_NAME = re.compile(rf"(?P<slot>{SLOT_PATTERN})-(?P<feature>feature-.+)")
_MANIFEST_LIMIT = 4_000_000
_PAGE_FILE = Path(__file__).with_name("preview.html")


class FolderPublisher:
    """Posts by one rename: a post is in the outbox whole, or not at all."""

    def __init__(self, outbox_dir: Path, clock: Clock) -> None:
        """Use `outbox_dir`, made on first posting."""
        self._outbox_dir = outbox_dir
        self._clock = clock

    @property
    def name(self) -> str:
        """Return the channel's name."""
        return "folder"

    def describe(self, post: Post) -> tuple[str, ...]:
        """Return what `publish` would do, a line each."""
        target = self._target(post.slot, post.feature.id)
        names = [*(file.name for file in post.slide_files), CAPTION_FILE, MANIFEST_FILE, PREVIEW_FILE]
        return (f"make {target}", *(f"write {target / name}" for name in names))

    def find(self, slot: str, feature_id: str) -> Receipt | None:
        """Return the receipt of a post whose whole folder is there; what only has its name proves nothing."""
        target = self._target(slot, feature_id)
        try:
            feature = parse_manifest(read_capped(target / MANIFEST_FILE, limit=_MANIFEST_LIMIT, what="manifest"))
            names = [CAPTION_FILE, PREVIEW_FILE, *(slide.file for slide in feature.slides)]
            whole = feature.id == feature_id and all((target / name).is_file() for name in names)
            made = target.stat().st_mtime
        except (InputError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        except OSError as error:
            raise disk_error(target, error) from error
        return self._receipt(target, datetime.fromtimestamp(made, tz=UTC)) if whole else None

    def recall(self, *, besides: frozenset[str]) -> tuple[Recalled, ...]:
        """Return every post that is whole in the outbox, besides those of known features."""
        found = []
        for entry in list_folder(self._outbox_dir):
            match = _POST_NAME.fullmatch(entry.name)  # what a killed run was still writing has another name
            if match is None or match["feature"] in besides:
                continue
            receipt = self.find(match["slot"], match["feature"])
            if receipt is not None:
                found.append(Recalled(slot=match["slot"], feature_id=match["feature"], receipt=receipt))
        return tuple(found)

    def publish(self, post: Post) -> Receipt:
        """Write the post beside its place and rename it there; raises DiskError and leaves nothing half-written."""
        target = self._target(post.slot, post.feature.id)
        if os.path.lexists(target):
            raise NeedsHuman(str(target), "it is in the way and is not this post", "move it away and post again")
        draft_dir = self._outbox_dir / f"{TEMPORARY_PREFIX}{target.name}"
        for entry in list_folder(self._outbox_dir):
            if entry.name.startswith(TEMPORARY_PREFIX):  # of a run that was killed, in any slot
                shutil.rmtree(entry, ignore_errors=True)
        make_folder(draft_dir)
        try:
            for file in post.slide_files:
                write_atomic(draft_dir / file.name, read_capped(file, limit=SLIDE_BYTES_LIMIT, what="slide"))
            write_atomic(draft_dir / CAPTION_FILE, post.feature.caption.encode() + b"\n")
            write_atomic(draft_dir / MANIFEST_FILE, render_manifest(post.feature))
            write_atomic(draft_dir / PREVIEW_FILE, render_preview(post.feature).encode())
            sync_folder(draft_dir)
            move_folder(draft_dir, target)
        except BaseException:
            with contextlib.suppress(OSError):
                shutil.rmtree(draft_dir)
            raise
        return self._receipt(target, self._clock.now())

    def _target(self, slot: str, feature_id: str) -> Path:
        return self._outbox_dir / f"{slot}-{feature_id}"

    def _receipt(self, target: Path, at: datetime) -> Receipt:
        return Receipt(id=target.name, location=str(target / PREVIEW_FILE), published_at=at)


def render_preview(feature: Feature) -> str:
    """Return one self-contained page: swipe, dots and caption; nothing of the feature's text runs as markup."""
    slides = "\n".join(
        f'<figure class="slide"><img src="{html.escape(slide.file)}" alt="{html.escape(slide.alt)}" '
        f'width="1080" height="1350"{"" if position else " fetchpriority=high"}></figure>'
        for position, slide in enumerate(feature.slides)
    )
    dots = "".join(f"<i{' class=on' if position == 0 else ''}></i>" for position in range(len(feature.slides)))
    caption = html.escape(feature.caption).replace("\n", "<br>")
    page = Template(_PAGE_FILE.read_text("utf-8"))
    return page.substitute(
        language=feature.language,
        title=html.escape(feature.title),
        brand=html.escape(feature.brand_name),
        initial=html.escape(feature.brand_name[:1]),
        slides=slides,
        dots=dots,
        count=len(feature.slides),
        caption=caption,
    )
