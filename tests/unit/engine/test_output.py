"""Declared output: which files match, and which of them are new."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamplighter.engine.output import choose_new, read_outputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files of every kind."""
    inside = tmp_path / "in"
    (inside / "deep" / "er").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "deep/c.txt", "deep/er/d.txt", ".hidden.txt", "odd[1].txt"):
        (inside / name).write_text(name)
    (inside / "empty.txt").touch()
    (inside / "folder.txt").mkdir()
    (inside / "link.txt").symlink_to("a.txt")
    (inside / "dangling.txt").symlink_to("nowhere")
    (inside / "circle").symlink_to(".")
    (tmp_path / "out.txt").write_text("out")
    return inside


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("", set()),
        ("a.txt", {"a.txt"}),
        ("?.txt", {"a.txt", "b.txt"}),
        ("*.txt", {"a.txt", "b.txt", ".hidden.txt", "odd[1].txt", "link.txt"}),
        ("deep/*", {"deep/c.txt"}),
        ("**/d.txt", {"deep/er/d.txt"}),
        ("**/*", {"a.txt", "b.txt", ".hidden.txt", "odd[1].txt", "link.txt", "deep/c.txt", "deep/er/d.txt"}),
        ("odd[[]1].txt", {"odd[1].txt"}),
        ("***.txt", {"a.txt", "b.txt", ".hidden.txt", "odd[1].txt", "link.txt"}),
        ("a**", {"a.txt"}),
        ("../out.txt", {"../out.txt"}),
        ("deep/../a.txt", {"deep/../a.txt"}),
        ("../*.txt", {"../out.txt"}),
        ("empty.txt", set()),
        ("folder.txt", set()),
        ("dangling.txt", set()),
        (".", set()),
        ("..", set()),
        ("/", set()),
        ("x" * 300, set()),
        ("*/" + "x" * 300 + "/*", set()),
        ("a.txt/*", set()),
        ("gone/*.txt", set()),
    ],
)
def test_files_with_something_in_them_match(folder: Path, pattern: str, names: set[str]) -> None:
    """Whatever the pattern, nothing is raised; what is no file, or an empty one, is no output."""
    assert set(read_outputs(folder, pattern)) == names


def test_an_absolute_pattern_finds_absolute_names(folder: Path) -> None:
    """Below the folder they are told from there."""
    outside = folder.parent
    assert set(read_outputs(folder, f"{outside}/*.txt")) == {f"{outside}/out.txt"}
    assert set(read_outputs(folder, f"{folder}/a.txt")) == {"a.txt"}


def test_new_is_what_was_not_there_or_was_another(folder: Path) -> None:
    """By time, size and inode; names in order, each one line."""
    before = read_outputs(folder, "*.txt")
    assert choose_new(before, before) == ()
    (folder / "b.txt").write_text("more than before")
    (folder / "a.txt").unlink()
    (folder / "n\new.txt").write_text("x")
    assert choose_new(before, read_outputs(folder, "*.txt")) == ("b.txt", "n ew.txt")
