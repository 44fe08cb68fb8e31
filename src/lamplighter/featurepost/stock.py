"""The stock: the only module that knows where features live and what the folder names mean.

content/sns/feature-0007-slug/          ready
content/sns/_draft-feature-0008-slug/   being made, or failed (failure.json)
content/sns/_held-feature-0005-slug/    kept back (reason.json)
content/sns/posted/feature-0006-slug/   posted
content/sns/.highest-number             the highest number ever given, also when the database is lost
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from lamplighter.errors import InputError, LamplighterError, render_line
from lamplighter.featurepost.feature import MANIFEST_FILE, Feature, Slide, Struct, parse_manifest
from lamplighter.featurepost.index import Index
from lamplighter.host.files import (
    TEMPORARY_PREFIX,
    disk_error,
    list_folder,
    make_folder,
    move_folder,
    read_capped,
    sync_file,
    sync_folder,
    write_atomic,
)

FAILURE_FILE = "failure.json"
REASON_FILE = "reason.json"
_REMOVED = ".removed-"
_MANIFEST_LIMIT = 4_000_000
_SLIDE_LIMIT = 30_000_000
_JPEG_START = b"\xff\xd8\xff"
_SHOWN_LETTERS = 60
_NUMBER_FILE = ".highest-number"
_NUMBER = re.compile(rb"[0-9]{1,9}\s*")
_Record = TypeVar("_Record", bound=Struct)
_NAME = re.compile(r"(?P<prefix>_draft-|_held-)?(?P<id>feature-(?P<number>[0-9]{4,9})-[a-z0-9-]{1,60})")


PostLint = Callable[[str, tuple[Path, ...]], tuple[str, ...]]
"""What a network would refuse of a caption and its picture files, most important first."""


def _no_rules(caption: str, slide_files: tuple[Path, ...]) -> tuple[str, ...]:
    del caption, slide_files
    return ()


class Place(enum.Enum):
    """Where a feature is."""

    DRAFT = "draft"
    READY = "ready"
    HELD = "held"
    POSTED = "posted"


_PREFIX = {Place.DRAFT: "_draft-", Place.HELD: "_held-", Place.READY: "", Place.POSTED: ""}


class Fault(Struct, frozen=True, kw_only=True):
    """One thing a check found: its stable code, where, and a sentence for a person."""

    code: str
    where: str
    message: str

    def __str__(self) -> str:
        """Render one line."""
        return f"{self.where}: {self.message}"


class Failure(Struct, frozen=True, kw_only=True):
    """Why a draft did not become ready: the step, the error in one line, when, in which run, and all that was found."""

    step: str
    message: str
    at: datetime
    run: int
    findings: tuple[Fault, ...] = ()


class Reason(Struct, frozen=True, kw_only=True):
    """Why a feature is held: a person's hold or a review that is awaited."""

    kind: Literal["hold", "review"]
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StockItem:
    """A feature's folder and where it stands."""

    id: str
    number: int
    place: Place
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A feature's folder as it was found: its manifest, None when it cannot be read, and why it cannot be posted."""

    item: StockItem
    feature: Feature | None
    trouble: str


class Stock:
    """The features of one workspace, kept in `folder` (content/sns)."""

    def __init__(self, folder: Path, index: Index, lint: PostLint = _no_rules) -> None:
        """Use `folder`, made on first writing, an index to remember by, and the rules a post must meet."""
        self._folder = folder
        self._index = index
        self._lint = lint

    @property
    def folder(self) -> Path:
        """Return the folder all features are in."""
        return self._folder

    def items(self, place: Place) -> tuple[StockItem, ...]:
        """Return the features in one place, oldest number first; folders with other names are not ours."""
        return tuple(sorted((item for item in self._walk() if item.place is place), key=lambda item: item.number))

    def ready(self) -> tuple[StockItem, ...]:
        """Return the ready features, the next to be posted first."""
        return self.items(Place.READY)

    def find(self, feature_id: str) -> StockItem:
        """Return a feature by its id, or one of several of an id by its folder; raises InputError."""
        walked = tuple(self._walk())
        found = [item for item in walked if feature_id == self._place_name(item)]
        found = found or [item for item in walked if feature_id in {item.id, item.folder.name}]
        if not found:
            raise InputError(f"feature {feature_id}", "there is none of that id", "lamplighter stock list shows them")
        if len(found) > 1:
            folders = " and ".join(self._place_name(item) for item in found)
            raise InputError(f"feature {feature_id}", f"there are {folders}", "name the folder you mean just like this")
        return found[0]

    def with_id(self, feature_id: str) -> tuple[StockItem, ...]:
        """Return every folder of that id; a person may have made a second one by hand."""
        return tuple(item for item in self._walk() if feature_id in {item.id, item.folder.name})

    def read(self, item: StockItem) -> Feature:
        """Return a feature's manifest; raises InputError when it is missing, broken or of another feature."""
        file = item.folder / MANIFEST_FILE
        try:
            feature = parse_manifest(read_capped(file, limit=_MANIFEST_LIMIT, what="manifest"))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(str(file), f"this manifest is broken: {error}", "drop the feature or mend it") from None
        if feature.id != item.id or feature.number != item.number:
            named = f"the folder is named {item.id}, the manifest says {feature.id}, number {feature.number}"
            raise InputError(str(file), named, "name the folder as the manifest says")
        return feature

    def examine(self, *places: Place) -> tuple[Examined, ...]:
        """Return the features in some places, oldest number first: one walk in all, one reading of each manifest."""
        items = sorted(self._walk(), key=lambda item: item.number)
        posted = frozenset(item.id for item in items if item.place is Place.POSTED)
        return tuple(self._examine(item, posted) for item in items if item.place in places)

    def trouble(self, item: StockItem) -> str:
        """Return why a ready or held feature cannot be posted as it stands, "" when it can."""
        posted = frozenset(other.id for other in self.with_id(item.id) if other.place is Place.POSTED)
        return self._examine(item, posted).trouble

    def _examine(self, item: StockItem, posted: frozenset[str]) -> Examined:
        try:
            feature = self.read(item)
        except LamplighterError as error:
            return Examined(item=item, feature=None, trouble=str(error))
        trouble = next((f"{item.id}: {found}" for found in _find_slide_troubles(item, feature)), "")
        if not trouble and item.place is not Place.POSTED:
            broken = self._lint(feature.caption, tuple(item.folder / slide.file for slide in feature.slides))
            trouble = f"{item.id}: {broken[0]}" if broken else ""
        if not trouble and item.place is not Place.POSTED and item.id in posted:
            trouble = f"{item.id}: it is among the posted ones already"
        return Examined(item=item, feature=feature, trouble=trouble)

    def interrupted(self) -> tuple[StockItem, ...]:
        """Return the drafts that neither failed nor became ready; with the lock held, their makers are dead."""
        return tuple(item for item in self.items(Place.DRAFT) if not os.path.lexists(item.folder / FAILURE_FILE))

    def take_over(self) -> tuple[str, ...]:
        """Index what a person put in, took out or renamed by hand; return a line for each folder that can't be read."""
        known, troubles = self._index.known_ids(), []
        for item in self._walk():
            if item.place is Place.DRAFT or item.id in known:
                continue
            try:
                self._index.remember(self.read(item))
            except LamplighterError as error:
                troubles.append(str(error))
        return tuple(troubles)

    def new_draft(self, slug: str) -> StockItem:
        """Make an empty draft folder under an id that was never used before."""
        make_folder(self._folder)
        noted = self._read_highest()
        number = self._index.claim_number(floor=max((noted, *(item.number for item in self._walk()))))
        write_atomic(self._folder / _NUMBER_FILE, b"%d\n" % number)
        feature_id = f"feature-{number:04}-{slug}"
        folder = self._folder / f"{_PREFIX[Place.DRAFT]}{feature_id}"
        make_folder(folder)
        return StockItem(id=feature_id, number=number, place=Place.DRAFT, folder=folder)

    def fail(self, draft: StockItem, failure: Failure) -> None:
        """Leave a draft where it is, with what failed and why, and without the temporary files of a killed maker."""
        _sweep(draft.folder)
        write_atomic(draft.folder / FAILURE_FILE, msgspec.json.format(msgspec.json.encode(failure), indent=2) + b"\n")

    def promote(self, draft: StockItem, check: Callable[[], None], hold: Reason | None = None) -> StockItem:
        """Make a complete draft ready (or held for review) by one rename, after `check` says that we still may.

        The rename is the commit: nothing that fails after it unmakes the feature, and `take_over` mends the index.
        """
        for file in sorted(path for path in draft.folder.rglob("*") if path.is_file()):
            sync_file(file)
        sync_folder(draft.folder)
        if hold is not None:
            self._write_reason(draft.folder, hold)
        check()
        return self._move(draft, Place.READY if hold is None else Place.HELD)

    def is_promoted(self, draft: StockItem) -> bool:
        """Tell whether a draft has become ready or held, which a promotion that then failed may have done."""
        places = {item.place for item in self.with_id(draft.id)}
        return Place.DRAFT not in places and bool(places & {Place.READY, Place.HELD})

    def move_to_posted(self, item: StockItem) -> StockItem:
        """Put a feature that was posted among the posted ones."""
        return self._move(item, Place.POSTED)

    def hold(self, item: StockItem, reason: Reason) -> StockItem:
        """Keep a ready feature back."""
        self._expect(item, Place.READY, "held")
        self._write_reason(item.folder, reason)
        return self._move(item, Place.HELD)

    def release(self, item: StockItem) -> StockItem:
        """Make a held feature ready again."""
        self._expect(item, Place.HELD, "released")
        ready = self._move(item, Place.READY)
        with contextlib.suppress(OSError):
            (ready.folder / REASON_FILE).unlink(missing_ok=True)
        return ready

    def approve(self, item: StockItem) -> StockItem:
        """Make a feature ready that waited for a person's review."""
        reason = self.reason(item)
        if item.place is not Place.HELD or reason is None or reason.kind != "review":
            raise InputError(f"feature {item.id}", "it does not wait for review")
        return self.release(item)

    def reason(self, item: StockItem) -> Reason | None:
        """Return why a feature is held, None when nothing readable says so."""
        return _read_struct(item.folder / REASON_FILE, Reason)

    def failure(self, item: StockItem) -> Failure | None:
        """Return why a draft failed, None when it did not say."""
        return _read_struct(item.folder / FAILURE_FILE, Failure)

    def drop(self, item: StockItem) -> None:
        """Delete a feature that was not posted, for good."""
        if item.place is Place.POSTED:
            raise InputError(f"feature {item.id}", "it was posted and is kept as the record")
        _remove(item.folder)

    def sweep(self) -> None:
        """Remove what a killed writer of this folder left; to be called with the job's lock held."""
        _sweep(self._folder)

    def clean(self, *, now: datetime, keep: timedelta) -> tuple[StockItem, ...]:
        """Delete drafts that were last touched more than `keep` ago and return them."""
        for entry in list_folder(self._folder):
            if entry.name.startswith(_REMOVED):
                shutil.rmtree(entry, ignore_errors=True)
        old = [item for item in self.items(Place.DRAFT) if _touched(item.folder) < (now - keep).timestamp()]
        for item in old:
            _remove(item.folder)
        return tuple(old)

    def _read_highest(self) -> int:
        """Return the highest number the folder's own note knows, 0 when there is none that can be read."""
        try:
            content = read_capped(self._folder / _NUMBER_FILE, limit=_SHOWN_LETTERS)
        except LamplighterError:
            return 0
        return int(content) if _NUMBER.fullmatch(content) else 0

    def _place_name(self, item: StockItem) -> str:
        """Return what only one folder is named by: a ready one has the id for a name, so it begins with ./ here."""
        name = item.folder.relative_to(self._folder).as_posix()
        return f"./{name}" if name == item.id else name

    def _walk(self) -> Iterator[StockItem]:
        for folder in (self._folder, self._folder / "posted"):
            for entry in list_folder(folder):
                item = _parse_name(folder, entry.name, posted=folder.name == "posted")
                if item is not None and entry.is_dir(follow_symlinks=False):
                    yield item

    def _move(self, item: StockItem, place: Place) -> StockItem:
        parent = self._folder / "posted" if place is Place.POSTED else self._folder
        make_folder(parent)
        target = parent / f"{_PREFIX[place]}{item.id}"
        move_folder(item.folder, target)
        return StockItem(id=item.id, number=item.number, place=place, folder=target)

    def _expect(self, item: StockItem, place: Place, verb: str) -> None:
        if item.place is not place:
            raise InputError(f"feature {item.id}", f"it is {item.place.value}, only a {place.value} one can be {verb}")

    def _write_reason(self, folder: Path, reason: Reason) -> None:
        write_atomic(folder / REASON_FILE, msgspec.json.format(msgspec.json.encode(reason), indent=2) + b"\n")


def is_feature_id(text: str) -> bool:
    """Tell whether a text can be the id of a feature."""
    match = _NAME.fullmatch(text)
    return match is not None and match["prefix"] is None


def _parse_name(parent: Path, name: str, *, posted: bool) -> StockItem | None:
    match = _NAME.fullmatch(name)
    if match is None or (posted and match["prefix"]):
        return None
    places = {"_draft-": Place.DRAFT, "_held-": Place.HELD}
    place = Place.POSTED if posted else places.get(match["prefix"] or "", Place.READY)
    return StockItem(id=match["id"], number=int(match["number"]), place=place, folder=parent / name)


def _find_slide_troubles(item: StockItem, feature: Feature) -> Iterator[str]:
    """Yield why slides are not the pictures that were made; of what is posted only the presence counts."""
    named: set[str] = set()
    for slide in feature.slides:
        shown = render_line(slide.file, limit=_SHOWN_LETTERS)
        if slide.file in {"", "."} or Path(slide.file).name != slide.file:
            yield f"{shown!r} is no file of its folder"
        elif slide.file in named:
            yield f"{shown} is named twice"
        else:
            trouble = _find_file_trouble(item.folder / slide.file)
            if not trouble and item.place is not Place.POSTED:
                trouble = _find_picture_trouble(item.folder / slide.file, slide)
            if trouble:
                yield f"{shown} {trouble}"
        named.add(slide.file)


def _find_file_trouble(file: Path) -> str:
    try:
        regular = stat.S_ISREG(file.lstat().st_mode)
    except FileNotFoundError:
        return "is missing"
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    return "" if regular else "is not a regular file"


def _find_picture_trouble(file: Path, slide: Slide) -> str:
    try:
        content = read_capped(file, limit=_SLIDE_LIMIT, what="picture")
    except LamplighterError as error:
        return f"cannot be read: {error.cause}"
    if not content.startswith(_JPEG_START):
        return "is not a JPEG"
    changed = slide.sha256 and hashlib.sha256(content).hexdigest() != slide.sha256.lower()
    return "is not the picture that was made" if changed else ""


def _read_struct(file: Path, kind: type[_Record]) -> _Record | None:
    try:
        return msgspec.json.decode(read_capped(file, limit=_MANIFEST_LIMIT), type=kind)
    except (LamplighterError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _sweep(folder: Path) -> None:
    """Remove temporary files and folders where that can be done: they are in nobody's way."""
    for entry in list_folder(folder):
        if entry.name.startswith(TEMPORARY_PREFIX):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    Path(entry).unlink()


def _touched(folder: Path) -> float:
    """Return the newest modification in a folder, epoch seconds."""
    newest = 0.0
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(OSError):
            newest = max(newest, path.lstat().st_mtime)
    return newest


def _remove(folder: Path) -> None:
    """Delete a folder so that no half of it ever counts: first out of the way, then away."""
    doomed = folder.with_name(f"{_REMOVED}{folder.name}")
    try:
        shutil.rmtree(doomed, ignore_errors=True)
        folder.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise disk_error(folder, error) from error
