"""What is found of an entry at the system's scheduler, and what that means (pure)."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lamplighter.schedule.entry import Entry

INSTALL = "lamplighter schedule install"


class CheckCode(enum.IntEnum):
    """How a check ends, and its exit code."""

    OK = 0
    WRONG = 1
    UNKNOWN = 3


class Drift(enum.Enum):
    """What is wrong with an entry."""

    MISSING = "missing"
    DISABLED = "disabled"
    NOT_LOADED = "not loaded"
    EDITED = "edited"
    OUTDATED = "out of date"
    MOVED = "moved"
    RETIRED = "retired"
    NOT_STARTED = "could not be started"


# What installing again mends, so that nobody need do anything.
REPAIRABLE = frozenset(Drift) - {Drift.NOT_STARTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What the system has of one entry.

    `edits` are the keys that are not as they are to be; `is_loaded` and `is_enabled` are None where the system has no
    such thing. `argv` is what it starts. `last_exit` is how the system says its last start ended ("": it does not say),
    `failed_start` that nothing of ours ever began.
    """

    label: str
    exists: bool
    edits: tuple[str, ...] = ()
    is_loaded: bool | None = None
    is_enabled: bool | None = None
    argv: tuple[str, ...] = ()
    last_exit: str = ""
    failed_start: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How one entry stands: None of `drift` is ok; `words` for a person, and what they type."""

    job: str
    label: str
    drift: Drift | None
    words: str
    remedy: str = ""
    last_exit: str = ""

    @property
    def code(self) -> CheckCode:
        """Return the exit code of this check."""
        return CheckCode.WRONG if self.drift else CheckCode.OK


def judge_all(
    entries: Sequence[Entry],
    facts: Sequence[Fact],
    jobs: Mapping[str, str],
    *,
    gone: str = "",
    outdated: Collection[str] = (),
) -> tuple[Check, ...]:
    """Return how every entry stands, then those that should not be there; `jobs` names the job of each label.

    `gone` is why no entry can work whatever it says (its interpreter is no more), "" when that is not so; of the labels
    `outdated` the settings have changed since they were installed.
    """
    known = {fact.label: fact for fact in facts}
    checks = [judge(entry, known.get(entry.label), gone=gone, is_outdated=entry.label in outdated) for entry in entries]
    wanted = {entry.label for entry in entries}
    for fact in facts:
        if fact.label not in wanted and (fact.exists or fact.is_loaded):
            words = "nothing of the settings is to be started by it"
            job = jobs.get(fact.label, "")
            checks.append(Check(job=job, label=fact.label, drift=Drift.RETIRED, words=words, remedy=INSTALL))
    return tuple(checks)


def judge(entry: Entry, fact: Fact | None, *, gone: str = "", is_outdated: bool = False) -> Check:
    """Return how one entry stands."""
    drift, words = _find_drift(entry, fact, gone, is_outdated=is_outdated)
    last_exit = fact.last_exit if fact else ""
    if drift is None and fact is not None and fact.failed_start:
        drift, words = Drift.NOT_STARTED, f"the system could not start it the last time: {fact.last_exit}"
    remedy = "" if drift is None else INSTALL if drift is not Drift.NOT_STARTED else _FAILED_REMEDY
    return Check(job=entry.job, label=entry.label, drift=drift, words=words, remedy=remedy, last_exit=last_exit)


def _find_drift(entry: Entry, fact: Fact | None, gone: str, *, is_outdated: bool) -> tuple[Drift | None, str]:
    if fact is None or not fact.exists:
        loaded = fact is not None and fact.is_loaded
        return Drift.MISSING, "its file is gone, and so it is after the next start" if loaded else "it is not there"
    if gone:
        return Drift.MOVED, gone
    if fact.edits:
        return _explain_edits(entry, fact, is_outdated=is_outdated)
    if fact.is_enabled is False:
        return Drift.DISABLED, "somebody disabled it"
    if fact.is_loaded is False:
        return Drift.NOT_LOADED, "its file is there, but the scheduler did not take it in"
    return None, _NOTHING_WRONG


def _explain_edits(entry: Entry, fact: Fact, *, is_outdated: bool) -> tuple[Drift, str]:
    if fact.argv and fact.argv[0] != entry.argv[0]:
        return Drift.MOVED, f"it starts {fact.argv[0]}, not {entry.argv[0]}"
    keys = ", ".join(fact.edits[:5])
    if is_outdated:
        return Drift.OUTDATED, f"the settings have changed since it was installed: {keys}"
    return Drift.EDITED, f"it was edited: {keys}"


_NOTHING_WRONG = "as it was installed"
_FAILED_REMEDY = "lamplighter schedule install, which tries it"
