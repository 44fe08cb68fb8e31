"""Bad settings, catalogs, names and leftovers, each given to the installed program: one line, the right exit code."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.acceptance.bad_input import BRAND, Json, make_workspace, refuse, say
from tests.acceptance.program import run, snapshot

TOML, CATALOG, LIST = "lamplighter.toml", "brand-catalog.json", "shop/products.json"
NAME = "feature-0001-wrenfold"
Spoil = Callable[[Path], object]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace of one brand."""
    return make_workspace(tmp_path / "w")


SETTINGS: dict[str, tuple[bytes, str]] = {
    "misspelt": (b"[generate]\ntargt = 3", "generate.targt (line 2) is not a setting; did you mean target?"),
    "misspelt table": (b"[genrate]\ntarget = 3", "genrate (line 1) is not a setting; did you mean generate?"),
    "unknown": (b"frobnicate = 1", "frobnicate (line 1) is not a setting; known are zone"),
    "in the wrong table": (b"[post]\ntarget = 3", "did you mean generate.target?"),
    "empty key": (b'"" = 1', "'' is not a setting"),
    "emoji key": ('"🫖" = 1'.encode(), "🫖 (line 1) is not a setting"),
    "escape in a key": (b'"a\\u001b[31mb" = 1', "a?[31mb is not a setting"),
    "text for a number": (b"[generate]\ntarget = '3'", "generate.target (line 2): Expected `int`, got `str`"),
    "number for a text": (b"zone = 3", "zone (line 1): Expected `str`, got `int`"),
    "date for a number": (b"[generate]\ntarget = 2026-01-01", "generate.target (line 2): Expected `int`, got `date`"),
    "infinity": (b"[shop]\ntries = inf", "shop.tries (line 2): Expected `int`, got `float`"),
    "nought": (b"[generate]\ntarget = 0", "generate.target must be 1 to 100"),
    "negative": (b"[generate]\nmax_per_run = -1", "generate.max_per_run must be 1 to 20"),
    "huge number": (b"[shop]\ntries = " + b"9" * 4_000, "shop.tries must be 1 to 10"),
    "endless number": (b"[shop]\ntries = " + b"9" * 5_000, "this is not TOML"),
    "negative time": (b"[shop]\nwait = '-3s'", "shop.wait = '-3s' must be like 15s"),
    "endless time": (b"[shop]\ntotal = '9999999999d'", "shop.total"),
    "no such zone": (b'zone = "Mars/Base"', "zone = 'Mars/Base' is not a zone like Europe/Berlin"),
    "zone of another folder": (b'zone = "../../etc/passwd"', "is not a zone"),
    "no such time": (b'[post]\nat = "25:00"', "post.at = '25:00' must be like 19:30"),
    "port": (b'[network]\nallowed_hosts = ["a:99999"]', "network.allowed_hosts must be like"),
    "table for a value": (b"[zone]\na = 1", "zone (line 1): Expected `str`, got `object`"),
    "list for a value": (b'zone = ["UTC"]', "Expected `str`, got `array`"),
    "twice": (b'zone = "UTC"\nzone = "UTC"', "this is not TOML"),
    "table twice": (b"[post]\n[shop]\n[post]", "this is not TOML"),
    "not UTF-8": (b'zone = "\xff"', "byte 8 is not UTF-8; save the file as UTF-8"),
    "UTF-16": ('zone = "UTC"'.encode("utf-16"), "byte 0 is not UTF-8"),
    "NUL": (b'zone = "UTC"\0', "this is not TOML"),
    "deep": (b"a = " + b"[" * 20_000, "this is not TOML"),
    "deep name": (b"[" + b".".join([b"a"] * 20_000) + b"]", "a (line 1) is not a setting"),
    "half": (b'zone = "UT', "this is not TOML"),
    "JSON": (b'{"zone": "UTC"}', "this is not TOML"),
    "web page": (b"<!doctype html>", "this is not TOML"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_bad_settings_are_refused_by_a_look_and_change_nothing(workspace: Path, case: str) -> None:
    """Exit 65; the line names the file, the key and what would be right."""
    content, words = SETTINGS[case]
    (workspace / TOML).write_bytes(content)
    before = snapshot(workspace)
    line = refuse(workspace, "status", code=65)
    assert line.startswith(f"lamplighter: {workspace / TOML}: ")
    assert words in line
    assert snapshot(workspace) == before


@pytest.mark.parametrize("command", ["generate", "post"])
def test_bad_settings_end_a_run_in_one_recorded_line(workspace: Path, command: str) -> None:
    """Exit 65 as well, and nothing but the state folder is made."""
    (workspace / TOML).write_bytes(b"[generate]\ntargt = 3")
    before = snapshot(workspace)
    assert "did you mean target?" in refuse(workspace, command, code=65)
    assert {name for name in snapshot(workspace) if not name.startswith("state")} == set(before)


@pytest.mark.parametrize("content", [b"", b"\r\n", b'\xef\xbb\xbfzone = "UTC"\r\n[post]\r\nat = "19:30"\r\n'])
def test_empty_settings_windows_line_ends_and_a_byte_order_mark_are_fine(workspace: Path, content: bytes) -> None:
    """Everything has a default, and editors differ."""
    (workspace / TOML).write_bytes(content)
    assert run("status", "--workspace", workspace).code == 0


def one(**changes: Json) -> bytes:
    """Return a catalog of one brand with some fields changed."""
    return json.dumps({"brands": [{**BRAND, **changes}]}).encode()


CATALOGS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "this is not JSON"),
    "half": (one()[:60], "this is not JSON"),
    "not UTF-8": (b'{"brands": ["\xff"]}', "byte 13 is not UTF-8; save the file as UTF-8"),
    "UTF-16": (one().decode().encode("utf-16"), "is not UTF-8"),
    "web page": (b"<html>", "this is not JSON"),
    "no brand": (b'{"brands": []}', 'there is no brand in it; add one under "brands"'),
    "list": (b"[]", "Expected `object`, got `array`"),
    "null": (b'{"brands": [null]}', "brand 1: Expected `object`, got `null`"),
    "null everywhere": (json.dumps({"brands": [dict.fromkeys(BRAND)]}).encode(), "Expected `str`, got `null`"),
    "deep": (b'{"brands": ' + b"[" * 100_000, "this is not JSON"),
    "1e999": (one(products_per_feature=3).replace(b": 3", b": 1e999"), "Number out of range"),
    "NaN": (one(products_per_feature=3).replace(b": 3", b": NaN"), "this is not JSON"),
    "surrogate": (one().replace(b"Kiln & Lane", b"\\ud800"), "this is not JSON"),
    "field twice": (one().replace(b'"name"', b'"name": "a", "name"'), "brand 'kiln': `name` is there twice"),
    "slug twice": (json.dumps({"brands": [BRAND, BRAND]}).encode(), "the slug 'kiln' is there twice"),
    "misspelt": (one(handel="@x"), "unknown field `handel`; did you mean `handle`?"),
    "endless field": (one(**{"k" * 9_000: 1}), "correct it and run again"),
    "slug with /": (one(slug="a/b"), "brand 'a/b': slug must be 1 to 40 small letters"),
    "slug ..": (one(slug=".."), "slug must be"),
    "slug emoji": (one(slug="🫖"), "slug must be"),
    "slug 300": (one(slug="a" * 300), "slug must be"),
    "slug NUL": (one(slug="a\0b"), "slug must be"),
    "slug capital": (one(slug="Kiln"), "slug must be"),
    "name 300": (one(name="é" * 300), "name must have 1 to 60 letters"),
    "name unseen": (one(name="\u200b\u202e"), "all of them to be seen"),
    "name lines": (one(name="a\nb"), "name must have"),
    "shop script": (one(shop="javascript:alert(1)"), "shop must be https://…"),
    "shop secret": (one(shop="https://me:secret@shop.example"), "shop must be https://…"),
    "negative": (one(products_per_feature=-1), "products_per_feature must be 1 to 6"),
    "huge": (one(products_per_feature=10**30), "products_per_feature must be 1 to 6"),
    "language": (one(language="de"), "language must be en or ja"),
    "colour": (one(theme={"ink": "red"}), "theme ink = 'red' must be like #c24d2c"),
}


@pytest.mark.parametrize("case", CATALOGS)
def test_a_bad_catalog_is_refused_and_changes_nothing(workspace: Path, case: str) -> None:
    """Exit 65; the line names the file, the brand and the field."""
    content, words = CATALOGS[case]
    (workspace / CATALOG).write_bytes(content)
    before = snapshot(workspace)
    line = refuse(workspace, "generate", "--dry-run", code=65)
    assert line.startswith(f"lamplighter: {workspace / CATALOG}: ")
    assert words in line
    assert "secret" not in line
    assert snapshot(workspace) == before


def test_thirty_thousand_brands_are_a_catalog(workspace: Path) -> None:
    """They are read, ordered and told in a moment; a larger file is refused."""
    names = ("slug", "name", "shop", "handle", "language", "permission")
    brands = [{**{name: BRAND[name] for name in names}, "slug": f"b{number}"} for number in range(30_000)]
    (workspace / CATALOG).write_text(json.dumps({"brands": brands}, separators=(",", ":")))
    ended = run("generate", "--dry-run", "--json", "--workspace", workspace)
    assert ended.value()["would_make"] == 2
    (workspace / CATALOG).write_bytes(b" " * 4_000_001)
    assert "larger than 4,000,000 bytes" in refuse(workspace, "generate", "--dry-run", code=66)


@pytest.fixture
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spoil]:
    """Return what puts a socket in a file's place; its name may be longer than a socket's address."""
    with socket.socket(socket.AF_UNIX) as opened:
        short = tmp_path_factory.mktemp("s") / "s"
        opened.bind(str(short))
        yield short.rename


PLACED: dict[str, Spoil] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "broken link": lambda file: file.symlink_to("gone"),
    "device": lambda file: file.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", [*PLACED, "socket"])
@pytest.mark.parametrize("name", [TOML, CATALOG, LIST])
def test_what_is_no_file_is_never_waited_for(workspace: Path, listening: Spoil, name: str, kind: str) -> None:
    """Exit 66; a dry run and a run say it in one line (a device is a file only for the settings' finder)."""
    (workspace / name).unlink()
    PLACED.get(kind, listening)(workspace / name)
    line = refuse(workspace, "generate", code=66)
    assert str(workspace / name) in line


@pytest.mark.parametrize("command", [("status",), ("generate",), ("post",), ("generate", "--dry-run")], ids=" ".join)
def test_a_workspace_that_is_a_file_is_none(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Exit 66, and the file stays as it was."""
    file = tmp_path / "file"
    file.write_text("mine")
    assert "this is not a folder" in refuse(file, *command, code=66)
    assert file.read_text() == "mine"


INITS: dict[str, tuple[str, int, str]] = {
    "a file": ("file", 66, "this is not a folder"),
    "below a file": ("file/w", 74, "file: this is not a folder"),
    "a broken link": ("gone", 66, "this is not a folder"),
    "a link to itself": ("loop", 66, "this is not a folder"),
    "300 letters": ("x" * 300, 74, "choose a shorter name"),
    "inside another": ("w/inner", 64, "it lies inside the workspace"),
    "inside by a link": ("link/inner", 64, "it lies inside the workspace"),
    "there already": ("w", 66, "is there already and is not overwritten"),
}


@pytest.mark.parametrize("case", INITS)
@pytest.mark.parametrize("command", ["init", "demo"])
def test_a_workspace_cannot_be_made_just_anywhere(tmp_path: Path, command: str, case: str) -> None:
    """Each place has its line, and nothing is made."""
    name, code, words = INITS[case]
    make_workspace(tmp_path / "w")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("w")
    before = snapshot(tmp_path)
    ended = run(command, tmp_path / name)
    if (command, case) == ("demo", "there already"):
        code, words = 66, "a workspace of your own, not a demo"
    assert (ended.code, words in say(ended)) == (code, True), ended
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["🫖 teapot", "a b", "-x", "é", ".hidden", "x" * 200])
def test_a_workspace_may_have_any_name_a_folder_can_have(tmp_path: Path, name: str) -> None:
    """It is made and can be looked at."""
    assert run("init", f"./{name}", "--shop", "https://shop.example", cwd=tmp_path).code == 0
    assert run("status", "--workspace", f"./{name}", cwd=tmp_path).code == 0


@pytest.mark.parametrize("shop", ["", " ", "file:", "shop", "ftp://a.example", "javascript:alert(1)", "https://", "🫖"])
def test_what_is_no_shop_makes_no_workspace(tmp_path: Path, shop: str) -> None:
    """The folder is not even made."""
    ended = run("init", tmp_path / "w", f"--shop={shop}")
    assert ended.code in {65, 66}, ended
    say(ended)
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_reached_by_a_link_is_the_same_one(stocked: Path, tmp_path: Path) -> None:
    """What is posted by the link is posted, and the lock is the same."""
    (tmp_path / "link").symlink_to(stocked)
    assert run("post", "--workspace", tmp_path / "link").code == 0
    assert run("post", "--json", "--workspace", stocked).value()["outcome"] == "nothing_needed"


# --- what lies in a workspace ------------------------------------------------------------------------------------


def set_manifest(change: Callable[[dict[str, Json]], object]) -> Spoil:
    """Return what writes another manifest."""

    def spoil(folder: Path) -> None:
        manifest = json.loads((folder / "feature.json").read_bytes())
        (folder / "feature.json").write_text(json.dumps(change(manifest)))

    return spoil


def write(name: str, content: bytes) -> Spoil:
    """Return what writes a file."""
    return lambda folder: (folder / name).write_bytes(content)


def put(name: str, kind: str) -> Spoil:
    """Return what puts something else in a file's place."""

    def spoil(folder: Path) -> None:
        (folder / name).unlink()
        PLACED[kind](folder / name)

    return spoil


FEATURES: dict[str, tuple[Spoil, str]] = {
    "empty manifest": (write("feature.json", b""), "this manifest is broken"),
    "half a manifest": (write("feature.json", b'{"schema": 1, "id": "feat'), "this manifest is broken"),
    "manifest not UTF-8": (write("feature.json", b'{"\xff'), "this manifest is broken"),
    "huge manifest": (write("feature.json", b" " * 4_000_001), "larger than 4,000,000 bytes"),
    "deep manifest": (write("feature.json", b"[" * 100_000), "this manifest is broken"),
    "manifest null": (write("feature.json", b"null"), "this manifest is broken"),
    "unknown key": (set_manifest(lambda old: {**old, "x": 1}), "unknown field `x`"),
    "other id": (set_manifest(lambda old: {**old, "id": "feature-0009-x"}), "the manifest says feature-0009-x"),
    "huge number": (set_manifest(lambda old: {**old, "number": 10**40}), "Expected `int` <="),
    "last day there is": (set_manifest(lambda old: {**old, "made_at": "9999-12-31T23:59:59Z"}), "has no date"),
    "slide elsewhere": (
        set_manifest(lambda old: {**old, "slides": [{"file": "../../../lamplighter.toml", "role": "cover",
                                                     "text": {}, "alt": ""}]}),
        "is no file of its folder",
    ),
    "no slides": (set_manifest(lambda old: {**old, "slides": []}), "there are 0 pictures"),
    "endless caption": (set_manifest(lambda old: {**old, "caption": "x" * 3_000}), "the caption has 3000 of at most"),
    "folder for a manifest": (put("feature.json", "folder"), "this is a folder, not a manifest"),
    "pipe for a manifest": (put("feature.json", "pipe"), "this manifest is not a regular file"),
    "folder for a slide": (put("slide-1.jpg", "folder"), "slide-1.jpg is not a regular file"),
    "device for a slide": (put("slide-1.jpg", "device"), "slide-1.jpg is not a regular file"),
    "empty slide": (write("slide-1.jpg", b""), "slide-1.jpg is not a JPEG"),
    "other slide": (write("slide-1.jpg", b"\xff\xd8\xff junk"), "slide-1.jpg is not the picture that was made"),
}  # fmt: skip


@pytest.mark.parametrize("case", FEATURES)
def test_a_spoilt_feature_is_no_stock_and_the_next_one_goes_out(stocked: Path, case: str) -> None:
    """It is told why, it does not count, and neither stock nor slot waits for it."""
    spoil, words = FEATURES[case]
    spoil(stocked / "content/sns" / NAME)
    plan = run("generate", "--dry-run", "--workspace", stocked)
    assert "2 of 3 in stock; would make 1" in plan.out
    assert words in plan.out
    ended = run("post", "--workspace", stocked)
    assert ended.code == 0
    assert words in ended.out
    assert "posted feature-0002-kirino" in say(ended)


RECORDS: dict[str, bytes] = {
    "empty": b"",
    "noise": bytes(range(256)) * 20,
    "half a line": b'{"slot":"2026-05-04-1930","feature":"feature-00',
    "deep": b"[" * 100_000 + b"\n",
    "blank lines": b"\n" * 10_000,
    "no feature": b'{"slot":"2026-05-04-1930","feature":"../../x","channel":"folder","id":"","location":"",'
    b'"published_at":"2026-05-04T19:30:00Z"}\n',
    "no slot": b'{"slot":"../../x","feature":"feature-0001-wrenfold","channel":"folder","id":"","location":"",'
    b'"published_at":"2026-05-04T19:30:00Z"}\n',
    "no date": b'{"slot":"2026-05-04-1930","feature":"feature-0001-wrenfold","channel":"folder","id":"","location":"",'
    b'"published_at":"9999-12-31T23:59:59Z"}\n',
}


@pytest.mark.parametrize("case", RECORDS)
def test_a_spoilt_record_neither_stops_nor_repeats_a_post(stocked: Path, case: str) -> None:
    """What is no line of ours says nothing; the post goes out once and is noted once."""
    record = stocked / "state/folder_posted.jsonl"
    record.write_bytes(RECORDS[case])
    assert run("post", "--workspace", stocked).code == 0
    assert run("post", "--json", "--workspace", stocked).value()["outcome"] == "nothing_needed"
    noted = [line for line in record.read_bytes().splitlines() if b'"feature":"feature-0001-wrenfold"' in line]
    assert len([line for line in noted if b"-1930-feature" in line]) == 1
    assert len(list((stocked / "outbox").iterdir())) == 1


ROWS = {
    "journal state": "UPDATE post SET state = 'bogus'",
    "journal time": "UPDATE post SET claimed_at = 1e300",
    "journal text for a time": "UPDATE post SET claimed_at = 'abc'",
    "run outcome": "UPDATE run SET outcome = 'bogus'",
    "run time": "UPDATE run SET started_at = 'abc'",
    "run evidence": "UPDATE run SET evidence = 'junk'",
    "skip": "INSERT INTO brand (account, slug, skip_until) VALUES ('main', 'wrenfold', 1e300)",
    "no table": "DROP TABLE post",
    "newer": "INSERT INTO migration VALUES ('journal-0999', 999)",
}


@pytest.mark.parametrize("case", ROWS)
def test_a_damaged_database_is_told_by_a_look_in_one_line(stocked: Path, case: str) -> None:
    """Exit 74 with the file's name; a run never crashes by it, and what is out never goes out again."""
    assert run("post", "--workspace", stocked).code == 0
    with sqlite3.connect(stocked / "state/lamplighter.db") as database:
        account = database.execute("SELECT account FROM run").fetchone()[0]
        database.execute(ROWS[case].replace("'main'", f"'{account}'"))
    database.close()
    told = refuse(stocked, "status", code=74)
    assert "state/lamplighter.db: " in told or "its row in the database makes no sense" in told
    for command in ("post", "generate"):
        assert run(command, "--workspace", stocked).code in {0, 74}
    assert len(list((stocked / "outbox").iterdir())) == 1


FILES: dict[str, tuple[str, str, int, int]] = {
    "database is a folder": ("state/lamplighter.db", "folder", 0, 0),
    "database is a pipe": ("state/lamplighter.db", "pipe", 0, 0),
    "state is a broken link": ("state", "broken link", 74, 74),
    "stock is a pipe": ("content/sns", "pipe", 74, 74),
    "posted is a pipe": ("content/sns/posted", "pipe", 74, 74),
    "outbox is a pipe": ("outbox", "pipe", 0, 74),
    "number note is a folder": ("content/sns/.highest-number", "folder", 74, 0),
    "lock is a folder": ("state/locks/generate/lock", "folder", 73, 0),
}


@pytest.mark.parametrize("case", FILES)
def test_odd_things_in_our_own_places_are_told_in_one_line(stocked: Path, case: str) -> None:
    """Neither generate nor post waits for them or crashes by them."""
    name, kind, generate, post = FILES[case]
    path = stocked / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    PLACED[kind](path)
    for command, code in ((("generate", "--force"), generate), (("post",), post)):
        ended = run(*command, "--workspace", stocked)
        assert ended.code == code, ended
        say(ended)


def test_leftovers_of_killed_writers_are_in_nobodys_way(stocked: Path) -> None:
    """Half a post in the outbox, temporary files, drafts without a word, folders with nearly our names."""
    stock, outbox = stocked / "content/sns", stocked / "outbox"
    for folder in (
        outbox / ".tmp-x",
        stock / "_draft-feature-0007-x",
        stock / "feature-1-x",
        stock / "feature-0050-🫖",
    ):
        folder.mkdir(parents=True)
    (stock / ".tmp-feature.json.1").write_bytes(b"half")
    (stock / "feature-0051-x").write_text("a file")
    (stock / "feature-0052-x").symlink_to("/etc")
    (stock / "_draft-feature-0007-x/failure.json.tmp").write_bytes(b"")
    ended = run("generate", "--workspace", stocked)
    assert ended.code == 0
    assert "_draft-feature-0007-x was left half-made" in ended.out
    assert run("post", "--workspace", stocked).code == 0
    assert not (outbox / ".tmp-x").exists()
    assert not (stock / ".tmp-feature.json.1").exists()


def test_what_stands_in_a_posts_place_is_for_a_person(stocked: Path) -> None:
    """Exit 77 with what to do; nothing is published beside it, and the slot stays free."""
    planned = run("post", "--dry-run", "--workspace", stocked).out
    target = Path(planned.partition("make ")[2].splitlines()[0])
    target.mkdir(parents=True)
    assert "move it away and post again" in refuse(stocked, "post", code=77)
    target.rmdir()
    assert run("post", "--workspace", stocked).code == 0
