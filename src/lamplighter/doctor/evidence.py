"""Reads what the deep look compares: every folder with its pictures, every record, journal rows, index."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lamplighter.doctor.comparison import Evidence, Folder, Record
from lamplighter.errors import LamplighterError
from lamplighter.featurepost.index import Index
from lamplighter.featurepost.stock import Examined, Place, Stock
from lamplighter.host.files import list_folder, read_capped
from lamplighter.publish.journal import Journal
from lamplighter.publish.post import find_unreadable, read_record
from lamplighter.publish.publisher import Publisher

_RECORD = re.compile(r"([a-z0-9]{1,40})_posted\.jsonl")
_SLIDE_BYTES = 30_000_000
_ROWS = 1_000_000


def read_evidence(
    stock: Stock, index: Index, journal_of: Callable[[str], Journal], publisher: Publisher, state_dir: Path
) -> Evidence:
    """Return all that knows of features; the database is to be a copy, and is read before what lies on disk."""
    indexed = index.known_ids()
    names = {match[1]: entry.name for entry in list_folder(state_dir) if (match := _RECORD.fullmatch(entry.name))}
    channels = tuple(dict.fromkeys((publisher.name, *names)))
    journal = {channel: journal_of(channel).entries(limit=_ROWS) for channel in channels}
    known = frozenset(row.feature_id for rows in journal.values() for row in rows)
    return Evidence(
        folders=tuple(_read_folders(stock)),
        records=tuple(_read_record(state_dir / name, channel) for channel, name in names.items()),
        journal=journal,
        out=publisher.recall(besides=known),
        indexed=indexed,
        channel=publisher.name,
    )


def _read_folders(stock: Stock) -> Iterator[Folder]:
    for found in stock.examine(*Place):
        item = found.item
        is_draft = item.place is Place.DRAFT  # unfinished by its nature
        trouble = "" if is_draft else found.trouble or _find_changed(found)
        name = item.folder.relative_to(stock.folder).as_posix()
        prefix = f"{item.id}: "
        yield Folder(id=item.id, place=item.place, name=name, trouble=trouble.removeprefix(prefix))


def _find_changed(found: Examined) -> str:
    """Return which picture of a posted feature is not the one that was made; the stock looks at the others itself."""
    if found.item.place is not Place.POSTED or found.feature is None:
        return ""
    for slide in found.feature.slides:
        try:
            content = read_capped(found.item.folder / slide.file, limit=_SLIDE_BYTES, what="picture")
        except LamplighterError as error:
            return f"{slide.file} cannot be read: {error.cause}"
        if slide.sha256 and hashlib.sha256(content).hexdigest() != slide.sha256.lower():
            return f"{slide.file} is not the picture that was made"
    return ""


def _read_record(file: Path, channel: str) -> Record:
    posts = read_record(file, channel)
    return Record(channel=channel, file=file.name, posts=posts, unreadable=find_unreadable(file, channel))
