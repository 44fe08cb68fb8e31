"""Settings, catalogs, manifests and records that nobody would write, through the command line in this process."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.acceptance.bad_input import make_workspace
from tests.simulators.child import snapshot
from tests.simulators.desk import Desk, make_feature
from tests.simulators.mutation import LONG, MEMORY, Json, damaged, fuzz, nasty_texts, spoilt

from lamplighter.cli.main import main
from lamplighter.featurepost.feature import render_manifest
from lamplighter.featurepost.stock import Place, StockItem

pytestmark = pytest.mark.timeout(7_200 if LONG else 120)
KEYS = (
    "zone", "account", "state_dir", "generate.target", "generate.max_per_run", "generate.writer", "generate.review",
    "generate.keep_drafts", "generate.slides_limit", "shop.tries", "shop.wait", "shop.total", "post.at",
    "post.publisher", "network.contact", "network.allowed_hosts", "generate", "shop", "targt", "post.x",
)  # fmt: skip
LITERALS = (
    "3", "0", "-1", "1e9", "inf", "nan", "true", '""', '"3"', '"30d"', '"0s"', '"19:30"', '"24:00"', '"UTC"',
    '"Asia/Tokyo"', '"Mars/Base"', '"template"', '"auto"', "2026-01-01", "19:30:00", "[]",
    '["127.0.0.1:80"]', '["a"]', "{}", "{a = 1}",
    "0xff", "9" * 40, "'''x'''", '"\\u0000"', '"../.."', '"state"', "[[[]]]",
)  # fmt: skip
CATALOG: Json = {
    "brands": [
        {"slug": "kiln", "name": "Kiln", "shop": "file:shop", "handle": "@kiln", "language": "en", "permission": "own"},
        {
            "slug": "lane", "name": "きりの", "shop": "https://shop.example", "handle": "@lane", "language": "ja",
            "permission": "written", "url": "https://lane.example", "currency": "JPY", "template": "editorial",
            "theme": {"ink": "#000000", "paper": "#ffffff"}, "hashtags": ["#a"], "products_per_feature": 2,
        },
    ]
}  # fmt: skip
ITEM = StockItem(id="feature-0001-kiln", number=1, place=Place.READY, folder=Path("x"))
MANIFEST: Json = json.loads(render_manifest(make_feature(ITEM, "kiln")))
LINE: Json = {
    "slot": "2026-05-04-1930", "feature": "feature-0001-kiln", "channel": "folder", "id": "a", "location": "b",
    "published_at": "2026-05-04T12:00:00Z",
}  # fmt: skip
LOOKS = (("status",), ("generate", "--dry-run"), ("post", "--dry-run"), ("stock", "list", "--all"), ("brands", "list"))
EXPECTED = {0, 64, 65, 66, 74}


def look(workspace: Path, capsys: pytest.CaptureFixture[str], *commands: tuple[str, ...]) -> None:
    """Run commands that look: an exit code of ours, at most one line of error, and nothing changed on disk."""
    before = snapshot(workspace.parent)
    for command in commands:
        code = main([*command, "--workspace", str(workspace)])
        told = capsys.readouterr()
        assert code in EXPECTED, told.err
        assert told.err.count("\n") == (1 if code else 0)
        assert told.err.replace("\u200d", "").rstrip("\n").isprintable()
    assert snapshot(workspace.parent) == before


def settings_texts() -> st.SearchStrategy[bytes]:
    """Return settings files: known and unknown keys with values of every kind, and lines that are none."""
    line = st.tuples(st.sampled_from(KEYS), st.sampled_from(LITERALS)).map(" = ".join)
    odd = st.sampled_from(("[generate]", "[shop]", "[[post]]", "[", "# x", "=", "zone", "\ufeff")) | nasty_texts()
    text = st.lists(line | line | line | odd, max_size=5).map(lambda lines: "\n".join(lines).encode("utf-8", "replace"))
    return text | text.flatmap(damaged)


@given(content=settings_texts())
@fuzz(60)
def test_any_settings_are_read_or_refused_in_one_line(capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    """By every command that reads them."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        workspace = make_workspace(Path(name) / "w")
        (workspace / "lamplighter.toml").write_bytes(content)
        look(workspace, capsys, ("status",), ("generate", "--dry-run"))


@given(data=st.data())
@fuzz(60)
def test_any_catalog_is_read_or_refused_in_one_line(capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    """Any node of it may be anything, and any of its bytes."""
    content = json.dumps(data.draw(spoilt(CATALOG)), ensure_ascii=data.draw(st.booleans())).encode("utf-8", "replace")
    if data.draw(st.integers(0, 3)) == 0:
        content = data.draw(damaged(content))
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        workspace = make_workspace(Path(name) / "w")
        (workspace / "brand-catalog.json").write_bytes(content)
        look(workspace, capsys, ("brands", "list"), ("generate", "--dry-run"))


@given(data=st.data())
@fuzz(25)
def test_any_manifest_and_record_are_read_or_told(capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    """A look says what does not count; a post goes out whole or not at all, and never twice."""
    manifest = json.dumps(data.draw(spoilt(MANIFEST))).encode()
    record = json.dumps(data.draw(spoilt(LINE))).encode()
    if data.draw(st.integers(0, 3)) == 0:
        manifest, record = data.draw(damaged(manifest)), data.draw(damaged(record))
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        workspace = make_workspace(Path(name) / "w")
        (workspace / "state").mkdir(mode=0o700)
        desk = Desk.open(workspace, database="state/lamplighter.db")
        item = desk.put("kiln")
        desk.database.close()
        (item.folder / "feature.json").write_bytes(manifest)
        (workspace / "state/folder_posted.jsonl").write_bytes(record + b"\n")
        outside = sorted(path.name for path in Path(name).iterdir())
        look(workspace, capsys, *LOOKS)
        codes = [main(["post", "--workspace", str(workspace)]) for _ in range(2)]
        assert set(codes) <= {0, 66, 74}, capsys.readouterr()
        capsys.readouterr()
        assert len(list((workspace / "outbox").glob("*"))) <= 1
        assert sorted(path.name for path in Path(name).iterdir()) == outside
