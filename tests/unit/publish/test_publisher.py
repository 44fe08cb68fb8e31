"""The network's own rules for a post."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamplighter.publish.publisher import lint_post


@pytest.fixture
def slide(tmp_path: Path) -> Path:
    """Return a small picture."""
    file = tmp_path / "slide-1.jpg"
    file.write_bytes(b"x")
    return file


def test_a_post_within_the_limits_has_no_findings(slide: Path) -> None:
    """Each limit itself is allowed."""
    tags = " ".join(f"#t{number}" for number in range(30))
    caption = f"{tags} ".ljust(2_200, "a")
    assert lint_post(caption, (slide,) * 10) == ()
    assert lint_post("", (slide,)) == ()


@pytest.mark.parametrize(
    ("caption", "units"),
    [
        ("a" * 2_201, 2_201),
        ("🫖" * 1_101, 2_202),
        ("湯" * 2_201, 2_201),
        ("e\u0301" * 1_101, 2_202),
        ("\ud83e" * 2_201, 2_201),
    ],
)
def test_a_caption_is_counted_in_utf_16_units(slide: Path, caption: str, units: int) -> None:
    """An emoji counts twice, a Japanese letter once."""
    assert lint_post(caption, (slide,)) == (f"the caption has {units} of at most 2200 characters",)
    assert lint_post(caption[:1_099], (slide,)) == ()


@pytest.mark.parametrize(
    ("caption", "count"),
    [
        (" ".join(f"#t{number}" for number in range(31)), 31),
        ("".join(f"#t{number}" for number in range(31)), 31),
        ("\n".join(f"(#t{number})" for number in range(32)), 32),
        ("".join(f"＃焼{number}" for number in range(31)), 31),
    ],
)
def test_hashtags_are_counted_wherever_they_stand(slide: Path, caption: str, count: int) -> None:
    """Without a space between, in brackets, with a full-width sign."""
    assert lint_post(caption, (slide,)) == (f"the caption has {count} of at most 30 hashtags",)


def test_a_bare_sign_is_no_hashtag(slide: Path) -> None:
    """A number sign alone is only a sign."""
    assert lint_post("# " * 40, (slide,)) == ()


@pytest.mark.parametrize("count", [0, 11, 20])
def test_the_number_of_pictures_has_limits(slide: Path, count: int) -> None:
    """One to ten."""
    assert lint_post("a", (slide,) * count) == (f"there are {count} pictures, 1 to 10 can be posted",)


def test_a_picture_has_a_largest_size(tmp_path: Path, slide: Path) -> None:
    """Eight million bytes are still taken."""
    large = tmp_path / "large.jpg"
    with large.open("wb") as stream:
        stream.truncate(8_000_000)
    assert lint_post("a", (slide, large)) == ()
    with large.open("ab") as stream:
        stream.write(b"x")
    assert lint_post("a", (slide, large)) == ("large.jpg is larger than 8,000,000 bytes",)


def test_a_missing_picture_is_named(tmp_path: Path, slide: Path) -> None:
    """So is a folder in its place."""
    (tmp_path / "folder.jpg").mkdir()
    assert lint_post("a", (slide, tmp_path / "gone.jpg", tmp_path / "folder.jpg")) == (
        "gone.jpg is missing",
        "folder.jpg is missing",
    )


def test_everything_that_is_wrong_is_said_at_once() -> None:
    """A person corrects it in one go."""
    assert len(lint_post("#a" * 1_200, ())) == 3
