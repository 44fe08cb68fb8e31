"""What the tests of bad input share: a small workspace to spoil, and what must hold however a command ended."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL import Image
from tests.acceptance.program import Ended, run

from lamplighter.publish.publisher import lint_post

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
BRAND: dict[str, Json] = {
    "slug": "kiln", "name": "Kiln & Lane", "shop": "file:shop", "handle": "@kiln", "language": "en",
    "permission": "own", "currency": "EUR", "url": "https://kiln.example",
}  # fmt: skip
SLIDE = (1080, 1350)
LONGEST_LINE = 1_050


def make_workspace(folder: Path, *products: Json, settings: str = "", brand: dict[str, Json] | None = None) -> Path:
    """Make a workspace of one brand whose shop is a folder with these products and the picture `p.jpg`."""
    (folder / "shop").mkdir(parents=True)
    (folder / "lamplighter.toml").write_text(settings, "utf-8")
    (folder / "brand-catalog.json").write_text(json.dumps({"brands": [{**BRAND, **(brand or {})}]}), "utf-8")
    (folder / "shop/products.json").write_text(json.dumps({"products": products or (make_product(),)}), "utf-8")
    (folder / "shop/p.jpg").write_bytes(make_jpeg())
    return folder


def make_product(number: int = 1, changes: dict[str, Json] | None = None) -> dict[str, Json]:
    """Return a product that can be featured, but for the changes."""
    return {
        "id": number, "title": f"Bowl {'ABCDEFGHIJKLMNOP'[number % 16]}", "handle": f"bowl-{number}",
        "body_html": "<p>Material: stoneware. Made by hand.</p>", "vendor": "Kiln", "product_type": "Bowls",
        "options": [{"name": "Title", "values": ["Default Title"]}],
        "variants": [{"id": number, "title": "Default Title", "price": "30.00", "available": True}],
        "images": [{"src": "p.jpg", "width": 900, "height": 1100, "position": 1}], **(changes or {}),
    }  # fmt: skip


def make_jpeg(width: int = 900, height: int = 1100) -> bytes:
    """Return a picture."""
    stream = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(stream, "JPEG", quality=70)
    return stream.getvalue()


def say(ended: Ended) -> str:
    """Return the one line by which a command told how it ended; fails unless it is a line for a person."""
    errors, lines = ended.err.splitlines(), [line for line in ended.out.splitlines() if not line.startswith(" ")]
    assert len(errors) <= 1, ended
    line = errors[0] if errors else lines[-1]
    assert ended.code != 1, ended
    assert "a bug" not in line
    assert len(line) <= LONGEST_LINE
    assert all(letter.isprintable() or letter == "\u200d" for letter in line)
    assert ": " in line
    return line


def refuse(workspace: Path, *command: str, code: int) -> str:
    """Run a command that must be refused with this exit code, and return its line; nothing half-made may be left."""
    line = say(ended := run(*command, "--workspace", workspace))
    assert ended.code == code, ended
    check_left(workspace)
    return line


def check_left(workspace: Path) -> None:
    """Fail on temporary files, on drafts that do not say why, and on ready features that no network would take."""
    assert list(workspace.rglob(".tmp-*")) == []
    stock = workspace / "content/sns"
    for draft in stock.glob("_draft-*"):
        assert json.loads((draft / "failure.json").read_bytes())["message"], draft
    for feature in stock.glob("feature-*"):
        check_ready(feature)


def check_ready(folder: Path) -> None:
    """Fail unless a ready feature is whole and its pictures and caption are as the network wants them."""
    manifest = json.loads((folder / "feature.json").read_bytes())
    files = tuple(folder / slide["file"] for slide in manifest["slides"])
    assert 2 <= len(files) <= 10
    assert lint_post(manifest["caption"], files) == ()
    assert manifest["caption"].strip()
    assert (folder / "caption.txt").read_text("utf-8") == manifest["caption"] + "\n"
    assert {path.name for path in folder.iterdir()} == {"feature.json", "caption.txt", "qa.json"} | {
        file.name for file in files
    }
    for file in files:
        with Image.open(file) as picture:
            assert (picture.format, picture.size, picture.mode) == ("JPEG", SLIDE, "RGB")
            assert "progressive" not in picture.info
            picture.load()
