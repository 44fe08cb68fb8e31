"""What came of a carousel can be told to a person."""

from __future__ import annotations

import pytest

from lamplighter.featurepost.slides.carousel import Trouble


@pytest.mark.parametrize(
    ("text", "broken", "line"),
    [
        ("Many words", False, "slide 2: the title 'Many words' needs 520 pixels where there are 400"),
        (
            "x" * 300,
            True,
            f"slide 2: the title '{'x' * 60}…' has a word too long for its place, or is too long for any slide",
        ),
        ("one\ntwo", False, "slide 2: the title 'one two' needs 520 pixels where there are 400"),
    ],
)
def test_a_trouble_is_one_line(text: str, broken: bool, line: str) -> None:
    """It names the slide, the field and the words, cut where they are endless."""
    trouble = Trouble(slide=2, field="title", text=text, size=40, needed=520.2, limit=400, broken=broken)
    assert str(trouble) == line
