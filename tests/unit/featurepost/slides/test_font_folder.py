"""What is in the fonts folder is given to Typst only when it looks like a font; for the rest there is a remark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lamplighter.errors import ConfigError
from lamplighter.featurepost.slides.font_folder import FontFolder, OwnFont, link_fonts, read_font_folder

SOUND = b"OTTO and more"


def test_no_folder_holds_no_fonts(tmp_path: Path) -> None:
    """A workspace needs none."""
    assert read_font_folder(None) == read_font_folder(tmp_path / "fonts") == FontFolder()
    assert link_fonts((), tmp_path / "links") is None


def test_fonts_are_found_in_folders_and_through_links_to_files(tmp_path: Path) -> None:
    """Each by its name for a person and its real place; a licence beside them is no font and no trouble."""
    (tmp_path / "fonts/deep").mkdir(parents=True)
    (tmp_path / "fonts/deep/b.OTF").write_bytes(SOUND)
    (tmp_path / "elsewhere.ttf").write_bytes(SOUND)
    (tmp_path / "fonts/a.ttf").symlink_to(tmp_path / "elsewhere.ttf")
    (tmp_path / "fonts/OFL.txt").touch()
    found = read_font_folder(tmp_path / "fonts")
    assert found == FontFolder(
        fonts=(
            OwnFont(name="fonts/a.ttf", file=str(tmp_path / "elsewhere.ttf")),
            OwnFont(name="fonts/deep/b.OTF", file=str(tmp_path / "fonts/deep/b.OTF")),
        )
    )
    links = link_fonts(found.fonts, tmp_path / "links")
    assert links is not None
    assert {link.name: link.read_bytes() for link in links.iterdir()} == {"0.ttf": SOUND, "1.otf": SOUND}


@pytest.mark.parametrize(
    ("name", "content", "remark"),
    [
        ("a.ttf", b"<html>", "fonts/a.ttf: this is no font that can be read"),
        ("a.ttf", b"", "fonts/a.ttf: this is no font that can be read"),
        ("a.woff2", b"wOF2", "fonts/a.woff2: fonts of this kind are not read; put it there as "),
        (os.fsdecode(b"o\xff.ttf"), SOUND, "fonts/o?.ttf: its name is not plain UTF-8 text; give it another name"),
        ("a\nb.ttf", SOUND, "fonts/a b.ttf: its name is not plain UTF-8 text; give it another name"),
    ],
)
def test_what_is_no_font_is_told(name: str, content: bytes, remark: str, tmp_path: Path) -> None:
    """One line each."""
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / name).write_bytes(content)
    found = read_font_folder(tmp_path / "fonts")
    assert found.fonts == ()
    assert [line[: len(remark)] for line in found.remarks] == [remark]
    assert "\n" not in found.remarks[0]


def test_pipes_links_to_nowhere_and_linked_folders_are_told(tmp_path: Path) -> None:
    """Nothing waits for the pipe, and nobody walks through the linked disk."""
    (tmp_path / "fonts").mkdir()
    os.mkfifo(tmp_path / "fonts/a.ttf")
    (tmp_path / "fonts/b.ttf").symlink_to("gone")
    (tmp_path / "fonts/root").symlink_to("/")
    assert read_font_folder(tmp_path / "fonts").remarks == (
        "fonts/a.ttf: this is no font that can be read: this font is not a regular file",
        "fonts/b.ttf: this is no font that can be read: there is no such font",
        "fonts/root: a linked folder is not followed; put the folder itself there",
    )


def test_a_folder_of_everything_is_refused(tmp_path: Path) -> None:
    """A disk is no fonts folder."""
    for number in range(2_001):
        (tmp_path / str(number)).touch()
    with pytest.raises(ConfigError, match="there are more than 2,000 files and folders in it; keep only the fonts"):
        read_font_folder(tmp_path)
