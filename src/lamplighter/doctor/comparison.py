"""Features, records, journal and index held against each other (pure): each difference a line with what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lamplighter.doctor.finding import Finding, wrong
from lamplighter.featurepost.stock import Place
from lamplighter.publish.journal import Entry, State
from lamplighter.publish.publisher import Recalled

_TAKES_OVER = "the next lamplighter post takes it over"
_SETTLES = "lamplighter post settles it"
_BACKUP = "put it back from a backup; it is never posted again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One feature's folder: its id, where it stands, its name, why it is not whole ("": it is)."""

    id: str
    place: Place
    name: str
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a channel's readable record says, and which of its lines (from 1) say nothing that can be read."""

    channel: str
    file: str
    posts: Sequence[Recalled]
    unreadable: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that knows of features: folders, records, journal rows by channel, what is out on a channel, the index."""

    folders: Sequence[Folder]
    records: Sequence[Record]
    journal: Mapping[str, Sequence[Entry]]
    out: Sequence[Recalled] = ()
    indexed: frozenset[str] = frozenset()
    channel: str = "folder"


def compare(evidence: Evidence) -> Iterator[Finding]:
    """Yield every difference, none where all agree."""
    yield from _compare_folders(evidence)
    for record in evidence.records:
        yield from _compare_record(record, evidence)
    yield from _compare_journal(evidence)
    yield from _compare_posted(evidence)
    yield from _compare_index(evidence)


def _compare_folders(evidence: Evidence) -> Iterator[Finding]:
    """Yield what is wrong with the folders themselves: not whole, or twice there."""
    for folder in evidence.folders:
        if folder.trouble:
            yield wrong(f"feature {folder.id}", f"{folder.name}: {folder.trouble}", _mend(folder))
    for feature_id, count in Counter(folder.id for folder in evidence.folders).items():
        if count > 1:
            names = " and ".join(folder.name for folder in evidence.folders if folder.id == feature_id)
            yield wrong(f"feature {feature_id}", f"there are {names}", "keep one of them and move the others away")


def _mend(folder: Folder) -> str:
    if folder.place is Place.POSTED:
        return "put it back from a backup; what went out is out"
    return f"put it back from a backup, or lamplighter stock drop {folder.id}"


def _compare_record(record: Record, evidence: Evidence) -> Iterator[Finding]:
    """Yield what a record has and the journal has not, or otherwise, and lines that say nothing."""
    about = f"record {record.file}"
    if record.unreadable:
        lines = ", ".join(map(str, record.unreadable[:5]))
        more = f" and {len(record.unreadable) - 5} more" if len(record.unreadable) > 5 else ""
        yield wrong(
            about, f"line {lines}{more} cannot be read", "correct or remove it; the journal knows what went out"
        )
    rows = {row.feature_id: row for row in evidence.journal.get(record.channel, ())}
    for post in record.posts:
        row = rows.get(post.feature_id)
        if row is None:
            remedy = _TAKES_OVER if record.channel == evidence.channel else f"set post.publisher = {record.channel!r}"
            yield wrong(about, f"{post.feature_id} went out for {post.slot}, and the journal does not know", remedy)
        elif row.slot != post.slot:
            words = f"{post.feature_id} went out for {post.slot}, and the journal has it for {row.slot}"
            yield wrong(about, words, "correct the record's line: the journal decides")
    for feature_id, count in Counter(post.feature_id for post in record.posts).items():
        if count > 1:
            yield wrong(about, f"{feature_id} is there {count} times", "remove the lines too many")


def _compare_journal(evidence: Evidence) -> Iterator[Finding]:
    """Yield what the journal says and folders or records do not."""
    places: dict[str, dict[Place, Folder]] = {}
    for folder in evidence.folders:
        places.setdefault(folder.id, {})[folder.place] = folder
    for channel, rows in evidence.journal.items():
        record = next((record for record in evidence.records if record.channel == channel), None)
        noted = frozenset(post.feature_id for post in record.posts) if record else frozenset()
        missing = f"{record.file if record else 'no record'} has no line of it"
        for row in rows:
            is_noted = row.feature_id in noted
            yield from _compare_row(channel, row, places.get(row.feature_id, {}), missing="" if is_noted else missing)


def _compare_row(channel: str, row: Entry, places: Mapping[Place, Folder], *, missing: str) -> Iterator[Finding]:
    """Yield what one journal row says and its folders or its record do not."""
    about = f"journal {row.slot}"
    if row.state is State.POSTING:
        yield wrong(
            about, f"{row.feature_id} was about to go out on {channel}, and nobody said whether it did", _SETTLES
        )
        return
    if row.state is State.PUBLISHED:
        yield wrong(about, f"{row.feature_id} is out, and not yet moved and noted", _SETTLES)
        return
    if Place.POSTED not in places:
        left = next(iter(places.values()), None)
        if left is None:
            yield wrong(about, f"{row.feature_id} went out, and its folder is gone", _BACKUP)
        else:
            words = f"{row.feature_id} went out, and its folder is still {left.place.value}: {left.name}"
            yield wrong(about, words, f"move it to content/sns/posted/{row.feature_id}; it is not posted again")
    if missing:
        words = f"{row.feature_id} went out, and {missing}"
        yield wrong(about, words, "put the record back from a backup; nothing is posted again for want of a line")


def _compare_posted(evidence: Evidence) -> Iterator[Finding]:
    """Yield folders among the posted ones, and posts on the channel, that neither journal nor record knows."""
    known = {row.feature_id for rows in evidence.journal.values() for row in rows}
    recorded = {post.feature_id for record in evidence.records for post in record.posts}
    out = {post.feature_id for post in evidence.out}
    for folder in evidence.folders:
        if folder.place is Place.POSTED and folder.id not in known | recorded | out:
            words = f"{folder.name} is among the posted ones, and nothing says that it went out"
            yield wrong(
                f"feature {folder.id}", words, f"move it to content/sns/{folder.id} to have it posted, or leave it"
            )
    for post in evidence.out:
        if post.feature_id not in known | recorded:
            words = f"{post.feature_id} is out on {evidence.channel} for {post.slot}, and the journal does not know"
            yield wrong(f"channel {evidence.channel}", words, _TAKES_OVER)


def _compare_index(evidence: Evidence) -> Iterator[Finding]:
    """Yield whole features that the index does not know; what it knows beyond them outlives their folders."""
    for folder in evidence.folders:
        if folder.place is not Place.DRAFT and not folder.trouble and folder.id not in evidence.indexed:
            words = f"{folder.name} is not in the database's index"
            yield wrong(f"feature {folder.id}", words, "the next lamplighter generate takes it in")
