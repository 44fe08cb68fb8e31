"""A damaged database is never a reason to post again, and what was made and what went out is known again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.simulators.child import Child
from tests.simulators.desk import Desk
from tests.simulators.publisher import Killed

from lamplighter.app.opening import MIGRATIONS
from lamplighter.engine.job import Outcome, RunReport
from lamplighter.engine.repair import Repair, open_or_repair
from lamplighter.errors import DiskError, InputError
from lamplighter.featurepost.stock import Place
from lamplighter.host.database import beside
from lamplighter.publish.folder import FolderPublisher
from lamplighter.publish.post import Poster
from lamplighter.publish.publisher import Post, Receipt
from lamplighter.publish.settings import PostSettings

DAY = timedelta(days=1)


class Mortal(FolderPublisher):
    """The folder publisher of a run that is killed: before its one call, or after it."""

    dies = ""

    def publish(self, post: Post) -> Receipt:
        """Publish, and die where told."""
        if self.dies == "posting":
            raise Killed
        receipt = super().publish(post)
        if self.dies == "out":
            raise Killed
        return receipt


def post(desk: Desk, *, dies: str = "") -> RunReport:
    """Run the job once, with the real publisher; `dies` says where the run is killed."""

    def say(line: str) -> None:
        desk.said.append(line)

    publisher = Mortal(desk.folder / "outbox", desk.clock)
    publisher.dies = dies
    record_file = desk.folder / "posted.jsonl"
    noted = record_file.read_bytes() if dies == "published" else b""
    if dies == "published":  # what cannot be noted stays published and not recorded
        record_file.unlink()
        record_file.mkdir()
    poster = Poster(
        stock=desk.stock,
        journal=desk.journal,
        publisher=publisher,
        record_file=record_file,
        clock=desk.clock,
        settings=PostSettings(at=time(19, 30), zone=ZoneInfo("UTC")),
    )
    try:
        if dies == "before":
            desk.check = _die
        return poster.work(desk.run())
    finally:
        if dies == "published":
            record_file.rmdir()
            record_file.write_bytes(noted)


def _die() -> None:
    raise Killed


def be_garbage(file: Path) -> None:
    """Let it be no database any more."""
    file.write_bytes(b"this is no database " * 1_000)


def be_cut(file: Path) -> None:
    """Leave a third of it."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])


def be_gone(file: Path) -> None:
    """Leave nothing, neither the file nor a log that would tell."""
    file.unlink()


def repair(desk: Desk, damage: Callable[[Path], None]) -> tuple[Desk, Repair | None]:
    """Damage the database of a desk and open it again, as the next run does."""
    file = desk.folder / "lamplighter.db"
    desk.database.close()
    for ending in ("-wal", "-shm"):
        beside(file, ending).unlink(missing_ok=True)
    damage(file)
    database, repaired = open_or_repair(file, MIGRATIONS, logs_dir=desk.folder / "logs", clock=desk.clock)
    database.close()
    return Desk.open(desk.folder, desk.clock), repaired


def outbox(desk: Desk) -> list[str]:
    """Return what is out."""
    return sorted(path.name for path in (desk.folder / "outbox").glob("*"))


@pytest.mark.parametrize("damage", [be_garbage, be_cut, be_gone])
@pytest.mark.parametrize("dies", ["before", "posting", "out", "published", "recorded"])
def test_damage_at_every_place_of_a_post_never_posts_twice(
    tmp_path: Path, damage: Callable[[Path], None], dies: str
) -> None:
    """Killed there, its database damaged, the next runs put each feature out once and one a day."""
    desk = Desk.open(tmp_path)
    for _ in range(5):
        desk.put()
    post(desk)
    desk.clock.advance(DAY)
    if dies in {"published", "recorded"}:
        assert post(desk, dies=dies).outcome is Outcome.PRODUCED
    else:
        with pytest.raises(Killed):
            post(desk, dies=dies)
    was_out = outbox(desk)
    assert len(was_out) == (1 if dies in {"before", "posting"} else 2)
    again, repaired = repair(desk, damage)
    assert (repaired is not None) == (damage is not be_gone)
    report = post(again)
    assert (report.outcome is Outcome.PRODUCED) == (dies in {"before", "posting"}), report.line
    assert post(again).outcome is Outcome.NOTHING_NEEDED
    assert len(outbox(again)) == 2
    assert set(was_out) <= set(outbox(again))
    again.clock.advance(DAY)
    post(again)
    features = Counter(name.partition("feature-")[2] for name in outbox(again))
    assert (len(features), set(features.values())) == (3, {1})
    assert len(again.stock.items(Place.POSTED)) == 3
    assert [entry.state.value for entry in again.journal.entries()] == ["recorded"] * 3


def test_a_new_database_and_a_record_that_cannot_be_read_is_no_reason_to_post(tmp_path: Path) -> None:
    """Then nobody knows what went out: the run fails in one line and posts nothing, until a person has looked."""
    desk = Desk.open(tmp_path)
    for _ in range(3):
        desk.put()
    post(desk)
    (tmp_path / "outbox").rename(tmp_path / "outbox-was-tidied-up")
    record = (tmp_path / "posted.jsonl").read_bytes()
    (tmp_path / "posted.jsonl").unlink()
    (tmp_path / "posted.jsonl").mkdir()
    again, _ = repair(desk, be_garbage)
    with pytest.raises((InputError, DiskError), match=r"posted\.jsonl"):
        post(again)
    assert outbox(again) == []
    (tmp_path / "posted.jsonl").rmdir()
    (tmp_path / "posted.jsonl").write_bytes(record)
    assert post(again).outcome is Outcome.NOTHING_NEEDED
    assert outbox(again) == []


DAMAGE_AND_REPAIR = """
import sys
from pathlib import Path
from lamplighter.app.opening import MIGRATIONS
from lamplighter.engine.repair import open_or_repair
from lamplighter.host.clock import SystemClock
file = Path(sys.argv[1])
file.write_bytes(b"this is no database " * 1_000)
database, repair = open_or_repair(file, MIGRATIONS, logs_dir=file.parent / "logs", clock=SystemClock())
database.close()
print(repair is not None, flush=True)
"""


def test_a_run_at_work_posts_nothing_once_its_database_was_set_aside(tmp_path: Path) -> None:
    """Its journal is one that nobody reads any more: it stops before anything goes out, and the next run posts."""
    desk = Desk.open(tmp_path)
    desk.put()
    desk.database.row("PRAGMA wal_checkpoint(TRUNCATE)")

    def be_repaired_by_another() -> None:
        with Child(DAMAGE_AND_REPAIR, tmp_path / "lamplighter.db") as child:
            assert child.hear() == "True"

    desk.check = be_repaired_by_another
    with pytest.raises(DiskError, match="it was set aside or replaced while this run was at work; run it again"):
        post(desk)
    assert outbox(desk) == []
    assert post(Desk.open(tmp_path, desk.clock)).outcome is Outcome.PRODUCED


def test_features_and_their_numbers_are_known_again(tmp_path: Path) -> None:
    """What brand and products were used last is read from the folders; no id is given twice."""
    desk = Desk.open(tmp_path)
    made = [desk.put("wrenfold", product_ids=(1, 2)), desk.put("kirino", product_ids=(3,))]
    again, _ = repair(desk, be_garbage)
    assert again.stock.take_over() == ()
    assert again.index.known_ids() == {item.id for item in made}
    assert again.index.last_used("wrenfold") == (1, 2)
    assert again.index.last_featured() == {"wrenfold": 1, "kirino": 2}
    assert again.put("wrenfold").number == 3
