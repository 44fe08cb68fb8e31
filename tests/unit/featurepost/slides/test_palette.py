"""A theme is taken only where words in it can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.errors import ConfigError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.slides.palette import choose_palette, contrast

DEFAULTS = Theme(ink="#111111", paper="#ffffff", accent="#aa2200", on_accent="#ffffff")
COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def test_black_on_white_has_the_greatest_contrast() -> None:
    """WCAG's ends of the scale: 21 for black on white, 1 for a colour on itself."""
    assert (round(contrast("#000000", "#ffffff"), 6), contrast("#3a7b9c", "#3a7b9c")) == (21.0, 1.0)


@given(COLOURS, COLOURS)
def test_contrast_does_not_depend_on_the_order(colour: str, other: str) -> None:
    """Which colour is the ground makes no difference, and the ratio stays on the scale."""
    assert contrast(colour, other) == contrast(other, colour)
    assert 1.0 <= contrast(colour, other) <= 21.0001


def test_a_brands_colours_replace_the_templates_own_one_by_one() -> None:
    """An empty colour is the template's."""
    palette = choose_palette(DEFAULTS, Theme(accent="#0b5fa5"), subject="brand Kibo")
    assert (palette.ink, palette.paper, palette.accent, palette.on_accent) == (
        "#111111",
        "#ffffff",
        "#0b5fa5",
        "#ffffff",
    )


def test_an_accent_too_pale_for_words_leaves_words_to_the_ink() -> None:
    """A yellow brand keeps its yellow grounds, but words on paper are in ink."""
    yellow = Theme(accent="#f2c14e", on_accent="#111111")
    assert choose_palette(DEFAULTS, yellow, subject="brand Kibo").accent_text == "#111111"
    assert choose_palette(DEFAULTS, Theme(), subject="brand Kibo").accent_text == "#aa2200"


@given(COLOURS, COLOURS)
def test_every_colour_words_are_set_in_can_be_read(ink: str, accent: str) -> None:
    """What a palette calls readable is, for any theme that is taken at all."""
    on_accent = "#ffffff" if contrast(accent, "#ffffff") >= 4.5 else "#000000"
    theme = Theme(
        ink=ink if contrast(ink, "#f6f1e7") >= 4.5 else "", paper="#f6f1e7", accent=accent, on_accent=on_accent
    )
    palette = choose_palette(DEFAULTS, theme, subject="brand Kibo")
    assert all(contrast(colour, palette.paper) >= 4.5 for colour in (palette.ink, palette.accent_text, palette.quiet))
    assert contrast(palette.dark, "#ffffff") >= 10


@pytest.mark.parametrize(
    ("theme", "dark"),
    [
        (Theme(), "#111111"),
        (Theme(ink="#ffffff", paper="#101820"), "#101820"),
        (Theme(ink="#0b5fa5"), "#0e0a08"),
    ],
)
def test_white_words_stand_on_the_brands_own_dark(theme: Theme, dark: str) -> None:
    """The ink or the paper, whichever is dark enough, else a neutral one."""
    assert choose_palette(DEFAULTS, theme, subject="brand Kibo").dark == dark


@pytest.mark.parametrize(
    ("theme", "words"),
    [
        (Theme(ink="#777777", paper="#888888"), "ink #777777 on paper #888888 has a contrast of 1.2:1"),
        (Theme(accent="#f2c14e"), "on_accent #ffffff on accent #f2c14e has a contrast of 1.6:1"),
        (Theme(ink="#777777"), "ink #777777 on paper #ffffff has a contrast of 4.4:1"),
        (Theme(ink="red"), "the theme's ink is 'red'"),
    ],
)
def test_colours_that_hide_words_are_refused_in_one_line(theme: Theme, words: str) -> None:
    """The line names both colours and the ratio, rounded down so that 4.47 is not shown as 4.5."""
    with pytest.raises(ConfigError) as caught:
        choose_palette(DEFAULTS, theme, subject="brand Kibo")
    assert str(caught.value).startswith("brand Kibo: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
