"""The commands: what a person reads, what a program gets, and the exit code both can trust."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.desk import Desk

from lamplighter.cli.console import Console
from lamplighter.cli.main import main
from lamplighter.featurepost.stock import Failure, Reason

FIRST = "feature-0001-wrenfold"
NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
Value = str | int | float | bool | None | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Value:
        """Return the one JSON value that is all of standard output."""
        found: Value = json.loads(self.out)
        return found


class Call(Protocol):
    """Runs a command in the workspace."""

    def __call__(self, *arguments: str) -> Told:
        """Return what it said."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace with two brands and an empty stock."""
    return Desk.in_workspace(tmp_path / "workspace", VirtualClock(NOW))


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, desk: Desk) -> Call:
    """Return a function that runs a command in the workspace."""
    monkeypatch.chdir(desk.folder)

    def run(*arguments: str) -> Told:
        capsys.readouterr()
        code = main(arguments)
        told = capsys.readouterr()
        return Told(code=code, out=told.out, err=told.err)

    return run


def snapshot(folder: Path) -> list[tuple[str, int]]:
    """Return every name below a folder with its time stamp."""
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def fill(desk: Desk) -> None:
    """Put a feature into every place."""
    desk.put()
    desk.stock.hold(desk.put(), Reason(kind="hold", text="wait for spring", at=NOW))
    desk.put("kirino", hold=Reason(kind="review", text="waits for a person's approval", at=NOW))
    desk.stock.move_to_posted(desk.put())
    failure = Failure(step="slides", message="no font has U+1FAE8", at=NOW, run=1)
    desk.stock.fail(desk.stock.new_draft("kirino"), failure)
    desk.stock.new_draft("kirino")


LOOKING = [
    ("status",),
    ("posted",),
    ("stock", "list"),
    ("stock", "list", "--all"),
    ("stock", "show", FIRST),
    ("stock", "show", "feature-0005-kirino"),
    ("brands", "list"),
    ("runs", "list"),
    ("runs", "show", "1"),
    ("runs", "log", "1"),
    ("generate", "--dry-run"),
    ("generate", "--dry-run", "--force", "--brand", "kirino"),
    ("post", "--dry-run"),
    ("post", "--dry-run", "--feature", FIRST, "--force"),
]
CHANGING = [
    ("stock", "hold", FIRST),
    ("stock", "release", "feature-0002-wrenfold"),
    ("stock", "approve", "feature-0003-kirino"),
    ("stock", "drop", FIRST, "--yes"),
    ("stock", "clean"),
    ("brands", "skip", "kirino"),
    ("brands", "unskip", "kirino"),
    ("post",),
    ("post", "--feature", FIRST),
]
WRONG = [
    ("stock", "show", "feature-0099-x"),
    ("stock", "hold", "feature-0002-wrenfold"),
    ("stock", "release", FIRST),
    ("stock", "approve", FIRST),
    ("stock", "drop", FIRST),
    ("stock", "drop", "feature-0004-wrenfold", "--yes"),
    ("brands", "skip", "nobody"),
    ("brands", "skip", "kirino", "--days", "91"),
    ("brands", "unskip", "nobody"),
    ("runs", "show", "99"),
    ("generate", "--brand", "nobody", "--dry-run"),
    ("post", "--feature", "feature-0002-wrenfold", "--dry-run"),
    ("status", "--workspace", "/nowhere/at/all"),
]


@pytest.mark.parametrize("arguments", LOOKING)
def test_looking_succeeds_and_changes_nothing(desk: Desk, call: Call, arguments: tuple[str, ...]) -> None:
    """For a person in lines, for a program in one JSON value."""
    prepare(desk, call)
    before = snapshot(desk.folder)
    plain = call(*arguments)
    assert (plain.code, plain.err) == (0, "")
    assert plain.out.strip() != ""
    assert "\x1b" not in plain.out
    told = call(*arguments, "--json")
    assert (told.code, told.err) == (0, "")
    assert told.value is not None
    assert snapshot(desk.folder) == before


def prepare(desk: Desk, call: Call) -> None:
    """Fill the workspace first, then let a run fail: the numbers of the features stay as written above."""
    fill(desk)
    shutil.rmtree(desk.folder / "state" / "logs", ignore_errors=True)
    assert call("generate", "--brand", "nobody").code == 66
    desk.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize("arguments", CHANGING)
def test_changing_succeeds_with_one_json_value(desk: Desk, call: Call, arguments: tuple[str, ...]) -> None:
    """Progress goes to standard error then, so that standard output can be parsed whole."""
    fill(desk)
    told = call(*arguments, "--json")
    assert told.code == 0
    assert isinstance(told.value, dict)


@pytest.mark.parametrize("arguments", CHANGING)
def test_changing_tells_a_person_in_plain_lines(desk: Desk, call: Call, arguments: tuple[str, ...]) -> None:
    """A pipe gets no colour."""
    fill(desk)
    told = call(*arguments)
    assert (told.code, told.err) == (0, "")
    assert "\x1b" not in told.out
    assert told.out.count("\n") >= 1


@pytest.mark.parametrize("arguments", WRONG)
def test_an_error_is_one_line_on_standard_error(desk: Desk, call: Call, arguments: tuple[str, ...]) -> None:
    """Standard output stays empty, or holds the error as one JSON value; nothing is changed."""
    fill(desk)
    desk.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    names = sorted(str(path) for path in (desk.folder / "content").rglob("*"))
    plain = call(*arguments)
    assert plain.code in {64, 66}
    assert plain.out == ""
    assert re.fullmatch(r"lamplighter: [^\n]+: [^\n]+\n", plain.err)
    told = call(*arguments, "--json")
    assert told.value == {"error": plain.err.removeprefix("lamplighter: ").strip(), "exit_code": plain.code}
    assert (told.code, told.err) == (plain.code, plain.err)
    assert sorted(str(path) for path in (desk.folder / "content").rglob("*")) == names


def test_stock_list_says_where_everything_is_and_why(desk: Desk, call: Call) -> None:
    """Drafts with what failed, held ones with the reason, posted ones when asked for."""
    fill(desk)
    told = call("stock", "list").out
    assert re.search(rf"ready +{FIRST} +Quiet things", told)
    assert "Quiet things (hold: wait for spring)" in told
    assert "(review: waits for a person's approval)" in told
    assert "failed at slides: no font has U+1FAE8" in told
    assert "being made" in told
    assert "posted" not in told
    assert re.search(r"posted +feature-0004-wrenfold", call("stock", "list", "--all").out)


def test_a_broken_feature_is_listed_with_what_is_wrong(desk: Desk, call: Call) -> None:
    """Listing never fails for it."""
    item = desk.put()
    (item.folder / "feature.json").write_text("{")
    assert "this manifest is broken" in call("stock", "list").out
    assert call("stock", "show", item.id).code == 66
    assert "does not count" in call("status").out
    assert "dry run: cannot be posted" in call("post", "--dry-run").out


def test_holding_releasing_and_dropping_move_the_folder(desk: Desk, call: Call) -> None:
    """A person can follow it with the file manager."""
    desk.put()
    assert call("stock", "hold", FIRST, "--reason", "not\nin May").out == f"{FIRST} is held\n"
    assert (desk.sns / f"_held-{FIRST}").is_dir()
    assert "(hold: not in May)" in call("stock", "list").out
    assert call("post").code == 66
    assert call("stock", "release", FIRST).out == f"{FIRST} is ready\n"
    assert call("stock", "drop", FIRST, "--yes").out == f"{FIRST} is deleted\n"
    assert [path.name for path in desk.sns.iterdir()] == [".highest-number"]


def test_dropping_asks_first_and_nobody_there_means_no(desk: Desk, call: Call) -> None:
    """A script must say --yes."""
    desk.put()
    told = call("stock", "drop", FIRST)
    assert (told.code, told.err) == (
        64, "lamplighter: stock drop: it was not confirmed; say yes at a terminal, or add --yes\n"
    )  # fmt: skip
    assert (desk.sns / FIRST).is_dir()


def test_what_is_going_out_cannot_be_touched(desk: Desk, call: Call) -> None:
    """Hold and drop wait until the post is settled."""
    desk.put()
    desk.journal.claim("2026-05-04-1930", FIRST, generation=1, run=1)
    for arguments in (("stock", "hold", FIRST), ("stock", "drop", FIRST, "--yes")):
        told = call(*arguments)
        assert (told.code, "it is going out for 2026-05-04-1930" in told.err) == (66, True)
    assert (desk.sns / FIRST).is_dir()


def test_cleaning_removes_old_drafts_only(desk: Desk, call: Call) -> None:
    """The count is said."""
    desk.stock.new_draft("x")
    assert call("stock", "clean").out == "0 old drafts removed\n"


def test_a_skip_is_shown_with_its_end_and_taken_back(call: Call) -> None:
    """In the list, in status, in a dry run."""
    told = call("brands", "skip", "kirino", "--days", "2", "--reason", "holi\n\x1bday")
    assert re.fullmatch(r"kirino is skipped until \d{4}-\d\d-\d\d \d\d:\d\d UTC\n", told.out)
    assert "holi ?day" in call("brands", "list").out
    assert "kirino until" in call("status").out
    assert "dry run: skipped: kirino until" in call("generate", "--dry-run").out
    assert call("brands", "unskip", "kirino").out == "kirino is taken in again\n"
    assert "holi" not in call("brands", "list").out


def test_a_brands_failures_are_listed(desk: Desk, call: Call) -> None:
    """With the last cause."""
    desk.states.record_failure("kirino", cause="the shop is locked", now=NOW)
    assert "failed 1 in a row: the shop is locked" in call("brands", "list").out
    desk.put("wrenfold")
    assert re.search(r"wrenfold +Wrenfold +feature 1 +file:wrenfold", call("brands", "list").out)


def test_post_and_then_nothing_is_needed(desk: Desk, call: Call) -> None:
    """With the evidence, and exit 0 both times."""
    desk.put()
    desk.database.close()  # this process reads it as well, and a worker would take it for closed then
    first = call("post")
    assert (first.code, f"post: produced: posted {FIRST} for " in first.out) == (0, True)
    second = call("post")
    assert (second.code, "post: nothing_needed: today's post is out" in second.out) == (0, True)
    assert re.search(r"(?m)^  slot: \d{4}-\d\d-\d\d-1930$", second.out)
    assert FIRST in call("posted").out
    assert FIRST in call("status").out
    assert "fills" in call("post", "--dry-run").out


def test_an_extra_post_must_be_confirmed(desk: Desk, call: Call) -> None:
    """Nobody at a terminal means no, and there is no way round."""
    desk.put()
    desk.put()
    call("post")
    told = call("post", "--force")
    assert (told.code, "an extra post was not confirmed" in told.err) == (64, True)
    assert len(desk.stock.ready()) == 1


def test_nothing_ready_is_exit_66_with_evidence(call: Call) -> None:
    """For a scheduler and for a person."""
    told = call("post", "--json")
    assert told.code == 66
    assert isinstance(told.value, dict)
    assert (told.value["outcome"], told.value["exit_code"]) == ("nothing_ready", 66)
    assert isinstance(told.value["evidence"], dict)
    assert told.value["evidence"]["ready"] == "0"
    assert "dry run: no ready feature" in call("post", "--dry-run").out


def test_a_failed_run_is_listed_shown_and_has_a_log(desk: Desk, call: Call) -> None:
    """Newest first."""
    desk.database.close()  # this process reads it as well, and a worker would take it for closed then
    assert call("runs", "list").out == "nothing has run yet\n"
    call("post")
    told = call("generate", "--json")
    assert told.code == 66
    assert isinstance(told.value, dict)
    assert (told.value["outcome"], told.value["failure"]) == ("failed", "input")
    first, second = call("runs", "list").out.splitlines()
    assert re.match(r"2 +\d{4}-\d\d-\d\d \d\d:\d\d +generate +failed", first)
    assert re.match(r"1 +\d{4}-\d\d-\d\d \d\d:\d\d +post +nothing_ready", second)
    assert len(call("runs", "list", "--limit", "1").out.splitlines()) == 1
    assert len(call("runs", "list", "--job", "post").out.splitlines()) == 1
    assert "outcome        failed" in call("runs", "show", "2").out
    assert "is passed over" not in call("runs", "log", "2").out
    assert "failed: made 0 of 2" in call("runs", "log", "2").out


def test_a_full_stock_says_so_in_a_dry_run(desk: Desk, call: Call) -> None:
    """And what would be made when it is not full."""
    assert "0 of 3 in stock; would make 2, trying at most 6 times" in call("generate", "--dry-run").out
    for _ in range(3):
        desk.put()
    assert "3 of 3 in stock; nothing to make" in call("generate", "--dry-run").out
    for slug in ("wrenfold", "kirino"):
        call("brands", "skip", slug)
    assert "but every brand is skipped" in call("generate", "--dry-run", "--force").out


def test_init_says_what_it_made_and_what_comes_next(tmp_path: Path, call: Call) -> None:
    """And refuses the second time."""
    told = call("init", str(tmp_path / "new"), "--shop", "shop.example", "--json")
    assert isinstance(told.value, dict)
    assert (told.code, told.value["folder"], told.value["brands"]) == (0, str(tmp_path / "new"), ["shop"])
    again = call("init", str(tmp_path / "new"))
    assert (again.code, "is not overwritten" in again.err) == (66, True)
    told = call("init", str(tmp_path / "other"))
    assert (told.code, "There is no brand in brand-catalog.json yet" in told.out) == (0, True)


def test_init_inside_a_workspace_is_refused(desk: Desk, call: Call) -> None:
    """Else two of them would share a folder, and a command would mean now this, now that one."""
    told = call("init", "inner")
    assert (told.code, "it lies inside the workspace" in told.err) == (64, True)
    assert not (desk.folder / "inner").exists()


@pytest.mark.parametrize("shop", ["notaurl", "", "javascript:alert(1)", "ftp://shop.example", "file:"])
def test_what_can_be_no_shop_is_refused(tmp_path: Path, call: Call, shop: str) -> None:
    """In one line, with nothing made."""
    told = call("init", str(tmp_path / "new"), "--shop", shop)
    assert (told.code, told.err.count("\n")) == (66, 1)
    assert "this is no address of a shop" in told.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("shop", "written"),
    [("file:stuff/shop", "file:../stuff/shop"), ("file:./stuff", "file:../stuff"), ("file:later", "file:later")],
)
def test_a_shops_folder_is_named_from_where_the_person_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call, shop: str, written: str
) -> None:
    """And found from the workspace; one that is not there yet is taken as it is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stuff" / "shop").mkdir(parents=True)
    assert call("init", "new", "--shop", shop).code == 0
    (brand,) = json.loads((tmp_path / "new" / "brand-catalog.json").read_bytes())["brands"]
    assert brand["shop"] == written


@pytest.mark.parametrize("arguments", [("init", "--workspace", "named"), ("init", "named")])
def test_init_takes_its_folder_by_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call, arguments: tuple[str, ...]
) -> None:
    """--workspace is never ignored in favour of the present folder."""
    monkeypatch.chdir(tmp_path)
    assert call(*arguments).code == 0
    assert (tmp_path / "named" / "lamplighter.toml").is_file()


def test_a_demo_in_a_workspace_of_ones_own_is_refused(call: Call) -> None:
    """By either way of naming it."""
    for arguments in (("demo", "."), ("demo", "--workspace", ".")):
        told = call(*arguments)
        assert (told.code, "not a demo" in told.err) == (66, True)


def test_the_demo_says_what_was_done_where_it_is_and_what_comes_next(tmp_path: Path, call: Call) -> None:
    """On a stock that is full already, so that nothing has to be drawn."""
    folder = tmp_path / "demo"
    assert call("init", str(folder), "--shop", "sample").code == 0
    (folder / "state").mkdir()
    desk = Desk.open(folder, database="state/lamplighter.db")
    for _ in range(3):
        desk.put()
    desk.database.close()  # this process reads it as well, and a worker would take it for closed then
    told = call("demo", str(folder))
    assert told.code == 0
    lines = told.out.splitlines()
    assert any(line.startswith("generate: nothing_needed: the stock is full: 3 of 3") for line in lines)
    assert any(line.startswith(f"post: produced: posted {FIRST} for ") for line in lines)
    assert any(line.startswith("Look at:") and "preview.html" in line for line in lines)
    assert any(line.startswith("Next:      lamplighter status --workspace ") for line in lines)
    desk = Desk.open(folder, database="state/lamplighter.db")
    desk.put()
    desk.database.close()
    again = call("demo", str(folder), "--json")
    assert isinstance(again.value, dict)
    assert (again.code, again.value["new"]) == (0, False)
    assert isinstance(again.value["post"], dict)
    assert again.value["post"]["outcome"] == "nothing_needed"


def test_outside_of_a_workspace_the_way_to_one_is_said(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 66."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    told = call("status")
    assert (told.code, "lamplighter init makes a workspace" in told.err) == (66, True)


def test_broken_settings_are_one_line_for_every_command(desk: Desk, call: Call) -> None:
    """Exit 65, with the line of the file."""
    with (desk.folder / "lamplighter.toml").open("a") as stream:
        stream.write("\n[generate2]\n")
    for arguments in (
        ("status",),
        ("post",),
        ("generate",),
        ("stock", "list"),
        ("runs", "list"),
        ("post", "--dry-run"),
    ):
        told = call(*arguments)
        assert told.code == 65, arguments
        assert "generate2" in told.err + told.out
        assert "did you mean generate?" in told.err + told.out


def blunder(arguments: argparse.Namespace, console: Console) -> int:
    """Do what no command may."""
    del arguments, console
    raise ValueError("one\nand two")


def test_a_bug_is_one_line_too_and_debug_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1; a program gets its JSON value."""
    assert main(["status"], handler=blunder) == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "lamplighter: a bug: ValueError: one and two; --debug shows where\n")
    assert main(["status", "--json"], handler=blunder) == 1
    assert json.loads(capsys.readouterr().out) == {"error": "a bug: ValueError: one\nand two", "exit_code": 1}
    assert main(["status", "--debug"], handler=blunder) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_row_that_nobody_here_wrote_is_a_damaged_database(desk: Desk, call: Call) -> None:
    """Exit 74, in one line, for a look as for a run."""
    desk.put()
    desk.database.close()  # this process reads it as well, and a worker would take it for closed then
    call("post")
    database = sqlite3.connect(desk.folder / "state" / "lamplighter.db")
    database.execute("UPDATE post SET state = 'of another version'")
    database.commit()
    database.close()
    told = call("posted")
    assert (told.code, told.out) == (74, "")
    assert re.fullmatch(r"lamplighter: [^\n]+lamplighter\.db: a row is damaged: [^\n]+; move [^\n]+\n", told.err)


def test_debug_shows_where_an_expected_error_came_from(call: Call) -> None:
    """Without it there is one line."""
    assert "Traceback" in call("stock", "show", "x", "--debug").err
    assert "Traceback" not in call("stock", "show", "x").err


def test_columns_stand_under_each_other_also_in_japanese(desk: Desk, call: Call) -> None:
    """A wide letter takes two columns."""
    catalog = desk.folder / "brand-catalog.json"
    catalog.write_text(catalog.read_text().replace('"Kirino"', '"きりの道具店"'))
    one, two = call("brands", "list").out.splitlines()
    assert one.index("never") - two.index("never") == len("きりの道具店")


def test_a_folder_that_cannot_be_a_template_is_listed_as_such(desk: Desk, call: Call) -> None:
    """With what its name may have; a program gets only what can be used."""
    folder = desk.folder / "templates" / "Up"
    folder.mkdir(parents=True)
    (folder / "template.toml").touch()
    last = call("template", "list").out.splitlines()[-1]
    assert last == "templates/Up: a template's name has small letters, digits, single hyphens and underscores"
    assert call("template", "list", "--json").value == [
        {"name": "default", "built_in": True},
        {"name": "editorial", "built_in": True},
    ]
