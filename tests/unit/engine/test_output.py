"""Declared output: which files match, and which of them are new."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lamplighter.engine.output import choose_new, explain_none, find_missing, read_outputs


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


def test_a_file_that_only_got_an_older_time_is_not_new(folder: Path) -> None:
    """A newer time, another size or another file in its place is."""
    before = read_outputs(folder, "?.txt")
    os.utime(folder / "a.txt", (1, 1))
    assert choose_new(before, read_outputs(folder, "?.txt")) == ()
    os.utime(folder / "b.txt", (2**32, 2**32))
    assert choose_new(before, read_outputs(folder, "?.txt")) == ("b.txt",)
    (folder / "a.txt").write_text("longer than before")
    os.utime(folder / "a.txt", (1, 1))
    assert choose_new(before, read_outputs(folder, "?.txt")) == ("a.txt", "b.txt")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("empty.txt", "is empty"),
        ("folder.txt", "is a folder"),
        ("dangling.txt", "is a link to nowhere"),
        ("fifo.txt", "is not a regular file"),
    ],
)
def test_what_is_there_and_no_output_is_explained(folder: Path, name: str, why: str) -> None:
    """A person who sees the file is told why it does not count."""
    os.mkfifo(folder / "fifo.txt")
    assert explain_none(folder, name) == f"{name} {why}"
    assert explain_none(folder, f"[{name[0]}]{name[1:]}") == f"{name} {why}"
    assert explain_none(folder, "a.txt") == explain_none(folder, "none.txt") == ""


def test_an_output_that_is_named_must_be_there(folder: Path) -> None:
    """From the job's folder or by its whole path, a file with something in it."""
    assert find_missing(folder, ("a.txt", "deep/c.txt", str(folder / "b.txt"))) == ""
    assert find_missing(folder, ("a.txt", "/no/such")) == "it names the output '/no/such', which is not there"
    assert find_missing(folder, ("a.txt\0",)).endswith("which is not there")
    assert find_missing(folder, ("empty.txt",)) == "it names the output 'empty.txt', which is empty"
    assert find_missing(folder, ("deep",)) == "it names the output 'deep', which is a folder"
