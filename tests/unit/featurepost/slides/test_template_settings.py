"""template.toml is read strictly, and what is wrong is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.featurepost.slides.studio import SETTINGS, write_template

from lamplighter.errors import ConfigError
from lamplighter.featurepost.feature import Role
from lamplighter.featurepost.slides.template_folder import find_template
from lamplighter.featurepost.slides.template_settings import find_line, parse_template_settings


def _refusal(content: str | bytes) -> str:
    """Return the one line by which a file is refused."""
    with pytest.raises(ConfigError) as caught:
        parse_template_settings(content if isinstance(content, bytes) else content.encode(), subject="template plain")
    line = str(caught.value)
    assert line.startswith("template plain: template.toml:")
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("contract = 1", "contract = 2", ":1: contract is 2, this version knows 1"),
        ("contract = 1\n", "", ": contract is missing; write contract = 1"),
        ("contract = 1", "contract = 1\nfont = 3", ":2: unknown key 'font'; did you mean 'fonts'?"),
        (
            "contract = 1",
            "contract = 1\nzzz = 3",
            ":2: unknown key 'zzz'; known are contract, fonts, theme, roles, size",
        ),
        ('fonts = ["Inter", "Noto Sans JP"]', "fonts = []", ":3: fonts is empty"),
        ('fonts = ["Inter", "Noto Sans JP"]', "fonts = [1]", ":3: fonts: Expected `str`, got `int`"),
        ("size = [320, 400]", "size = [320, 0]", ":2: size: 0 is not 16 to 4096 pixels"),
        ("size = [320, 400]", "size = [320]", ":2: size: Expected `array` of length 2, got 1"),
        ("photo = [320, 200]", "photo = [320, 99999]", ":10: roles.cover.photo: 99999 is not 16 to 4096 pixels"),
        ("photo = [320, 200]", 'photo = "big"', ":10: roles.cover.photo: Expected `array | null`, got `str`"),
        ("title = 40", "title = 0", ":11: roles.cover.text.title: 0 is not 1 or more letters"),
        ("title = 40", "titel = 40", ":11: unknown key 'titel'; did you mean 'title'?"),
        ("title = 40", 'title = "a"', ":11: roles.cover.text.title: Expected `int | null`, got `str`"),
        ("[roles.cover]", "[roles.cower]", ":9: unknown key 'cower'; did you mean 'cover'?"),
        ("[roles.cover]", "[roles.cover", ":9: this is not TOML: "),
        ("[theme]", "[thema]", ":4: unknown key 'thema'; did you mean 'theme'?"),
        ('ink = "#111111"', 'ink = "#eeeeee"', ":5: the theme's ink #eeeeee on paper #ffffff has a contrast of 1.1:1"),
        ('ink = "#111111"', "", ":4: the theme's ink is ''"),
        ('ink = "#111111"', "ink = 3", ":5: theme.ink: Expected `str`, got `int`"),
        ('ink = "#111111"', 'inck = "#111111"', ":5: unknown key 'inck'; did you mean 'ink'?"),
        ("title = 40 }", "title = 40 ", ":11: this is not TOML: "),
    ],
)
def test_wrong_settings_are_refused_with_their_line(old: str, new: str, words: str) -> None:
    """The line says file, line and what is wrong, and names the nearest right key."""
    assert old in SETTINGS
    line = _refusal(SETTINGS.replace(old, new))
    assert f"template.toml{words}" in line


def test_a_template_says_so_by_its_name(tmp_path: Path) -> None:
    """The line begins with the template, as every line about one does."""
    write_template(tmp_path, settings=SETTINGS.replace("title = 40", "titel = 40"))
    with pytest.raises(ConfigError, match=r"template plain: template\.toml:11: unknown key 'titel'"):
        find_template("plain", tmp_path)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"contract = 1\n# \xe9\n", b"x = " + b"1" * 5000, b"a = " + b"[" * 9999]
)
def test_bytes_that_are_no_settings_are_one_line(content: bytes) -> None:
    """Another encoding, a number too long, brackets too deep."""
    assert "this is not" in _refusal(content)


def test_a_byte_order_mark_is_left_aside() -> None:
    """Some editors write one."""
    assert set(parse_template_settings(b"\xef\xbb\xbf" + SETTINGS.encode(), subject="t").roles) == {Role.COVER}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[roles.cover.text]\ntitle = 3", 2),
        ("[roles.cover]\ntext.title = 3", 2),
        ("[roles]\ncover.text = { kicker = 1, title = 3 }", 2),
        ("\nroles.cover.text = {title=3}", 2),
        ('[roles."cover"]\n"text" = { "title" = 3 }', 2),
        ("[roles.closing]\ntext = { title = 3 }", 0),
        ("# title = 3", 0),
        ("", 0),
    ],
)
def test_a_key_is_found_however_it_is_written(text: str, line: int) -> None:
    """Tables, dotted keys and inline tables say the same; what is not there has no line."""
    assert find_line(("roles", "cover", "text", "title"), text) == line
