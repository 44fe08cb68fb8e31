"""The palette: the four colours of a template or a brand, and whether words in them can be read."""

from __future__ import annotations

import re

from lamplighter.errors import ConfigError
from lamplighter.featurepost.catalog import Theme
from lamplighter.featurepost.feature import Struct

LEAST_CONTRAST = 4.5
_DARK_ENOUGH = 10.0
_NEUTRAL_DARK = "#0e0a08"
_WHITE = "#ffffff"
_QUIET_SHARE = 0.78
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class Palette(Struct, frozen=True, kw_only=True):
    """Four colours as #rrggbb and three that follow from them.

    `accent_text` is the accent where it can be read on paper, else the ink; `quiet` is a softer ink for long texts that
    can still be read on paper; `dark` is a ground for white words.
    """

    ink: str
    paper: str
    accent: str
    on_accent: str
    accent_text: str
    quiet: str
    dark: str


def choose_palette(defaults: Theme, theme: Theme, *, subject: str) -> Palette:
    """Return a brand's colours over a template's own; raises ConfigError for a bad colour or one that hides words."""
    ink, paper = theme.ink or defaults.ink, theme.paper or defaults.paper
    accent, on_accent = theme.accent or defaults.accent, theme.on_accent or defaults.on_accent
    for name, colour in (("ink", ink), ("paper", paper), ("accent", accent), ("on_accent", on_accent)):
        if not _COLOUR.fullmatch(colour):
            raise ConfigError(subject, f"the theme's {name} is {colour[:20]!r}", "write it like #c24d2c")
    for (name, colour), (ground_name, ground) in (
        (("ink", ink), ("paper", paper)),
        (("on_accent", on_accent), ("accent", accent)),
    ):
        ratio = contrast(colour, ground)
        if ratio < LEAST_CONTRAST:
            raise ConfigError(
                subject,
                f"the theme's {name} {colour} on {ground_name} {ground} has a contrast of {_floor(ratio)}:1",
                f"take colours of at least {LEAST_CONTRAST}:1",
            )
    quiet = _mix(ink, paper, _QUIET_SHARE)
    return Palette(
        ink=ink,
        paper=paper,
        accent=accent,
        on_accent=on_accent,
        accent_text=accent if contrast(accent, paper) >= LEAST_CONTRAST else ink,
        quiet=quiet if contrast(quiet, paper) >= LEAST_CONTRAST else ink,
        dark=next((colour for colour in (ink, paper) if contrast(colour, _WHITE) >= _DARK_ENOUGH), _NEUTRAL_DARK),
    )


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two #rrggbb colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb (WCAG 2.2, "relative luminance")."""
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mix(colour: str, other: str, share: float) -> str:
    """Return `colour` with as much of it as `share` says over `other`."""
    pairs = ((int(colour[start : start + 2], 16), int(other[start : start + 2], 16)) for start in (1, 3, 5))
    return "#" + "".join(f"{round(share * mine + (1 - share) * its):02x}" for mine, its in pairs)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def _floor(ratio: float) -> str:
    """Round down to one digit, so that 4.49 is never shown as 4.5."""
    return f"{int(ratio * 10) / 10:.1f}"
