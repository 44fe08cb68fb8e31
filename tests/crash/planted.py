"""Bugs that the crash matrices must catch, each a wrong order of two right steps."""

from __future__ import annotations

import shutil
from pathlib import Path

from lamplighter.engine import supervisor
from lamplighter.engine.holder import LOCK_FILE
from lamplighter.engine.ledger import Ledger
from lamplighter.engine.lock import JobLock
from lamplighter.engine.supervisor import Run
from lamplighter.featurepost import stock
from lamplighter.publish.folder import FolderPublisher
from lamplighter.publish.post import Poster
from lamplighter.publish.publisher import Post, Recalled


def _publish_before_journal(self: Poster, post: Post, run: Run) -> None:
    """Write the journal after the call: what was killed in between goes out again."""
    receipt = self._publisher.publish(post)
    self._journal.claim(post.slot, post.feature.id, generation=run.generation, run=run.number)
    self._finish(post.slot, post.feature.id, receipt, run)


def _recall_nothing(self: FolderPublisher, *, besides: frozenset[str]) -> tuple[Recalled, ...]:
    """Remember nothing, as a network may that cannot be asked: the journal alone must keep a post from going twice."""
    del self, besides
    return ()


def _copy_instead_of_rename(source_dir: Path, target_dir: Path) -> None:
    """Move a folder file by file: what was killed in between is half a feature."""
    target_dir.mkdir(parents=True)
    for file in sorted(source_dir.iterdir()):
        shutil.copyfile(file, target_dir / file.name)
    shutil.rmtree(source_dir)


def _unlink_and_close(self: JobLock) -> None:
    """Tidy the lock file away at release: whoever waits for it holds a file that nobody else ever sees."""
    (self._folder / LOCK_FILE).unlink(missing_ok=True)
    _close(self)


_close = JobLock._close


def _reconcile_nothing(ledger: Ledger, job: str, *, own: int) -> int:
    """Write no word for the dead: their rows stay open for ever."""
    del ledger, job, own
    return 0


def plant(name: str) -> None:
    """Put a bug in this process; "none" puts none."""
    if name == "journal-after-call":
        Poster._publish = _publish_before_journal  # type: ignore[method-assign]  # the bug under test
        FolderPublisher.recall = _recall_nothing  # type: ignore[method-assign]  # else the outbox would heal it
    elif name == "copy-instead-of-rename":
        setattr(stock, "move_folder", _copy_instead_of_rename)  # noqa: B010 - the bug under test
    elif name == "unlink-at-release":
        JobLock._close = _unlink_and_close  # type: ignore[method-assign]  # the bug under test
    elif name == "no-reconcile":
        setattr(supervisor, "reconcile", _reconcile_nothing)  # noqa: B010 - the bug under test
    elif name != "none":
        raise ValueError(name)
