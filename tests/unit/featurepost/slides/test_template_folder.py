"""A template is found by name, read strictly, and refused when it could do more than show slides."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.featurepost.slides.studio import SETTINGS, SLIDES, write_template

from lamplighter.errors import ConfigError
from lamplighter.featurepost.feature import Role, SlideText
from lamplighter.featurepost.slides.template_folder import _Texts, find_template, list_templates
from lamplighter.featurepost.slides.typesetter import Words


@pytest.mark.parametrize("name", ["default", "editorial"])
def test_a_built_in_template_has_every_role_and_its_limits(name: str) -> None:
    """Both built-in templates show all four roles and say how many letters each text may have."""
    template = find_template(name)
    assert {layout.role for layout in template.roles} == set(Role)
    assert template.size == (1080, 1350)
    for role, fields in (
        (Role.COVER, ("kicker", "title", "subtitle")),
        (Role.PRODUCT, ("name", "price", "note")),
        (Role.DETAIL, ("title", "body")),
        (Role.CLOSING, ("title", "body")),
    ):
        assert all(template.limits.limit(role, field) for field in fields)


def test_a_field_without_a_limit_has_none() -> None:
    """What the template does not name is not limited."""
    assert find_template("default").limits.limit(Role.COVER, "body") is None
    assert find_template("default").limits.limit(Role.COVER, "title") == 44


def test_every_text_of_a_slide_can_be_limited() -> None:
    """template.toml and the template know the same fields as the manifest."""
    assert _Texts.__struct_fields__ == SlideText.__struct_fields__ == Words.__struct_fields__


def test_the_workspaces_template_comes_before_the_built_in_one(tmp_path: Path) -> None:
    """A person may replace `default` by a folder of that name."""
    folder_dir = write_template(tmp_path, name="default")
    assert find_template("default", tmp_path).folder_dir == folder_dir
    assert find_template("editorial", tmp_path).name == "editorial"


def test_a_template_without_a_role_says_so(tmp_path: Path) -> None:
    """`layout` is None for a slide the template cannot show."""
    write_template(tmp_path)
    template = find_template("plain", tmp_path)
    assert template.layout(Role.CLOSING) is None
    layout = template.layout(Role.COVER)
    assert layout is not None
    assert (layout.photo_box, layout.require_photo) == ((320, 200), False)


def test_all_templates_are_listed(tmp_path: Path) -> None:
    """The list holds the workspace's and the built-in ones, but no folder that is none."""
    write_template(tmp_path)
    (tmp_path / "empty").mkdir()
    assert list_templates(tmp_path) == ("default", "editorial", "plain")
    assert list_templates(tmp_path / "nowhere") == ("default", "editorial")


@pytest.mark.parametrize("name", ["editoral", "../default", "", "DEFAULT", "/etc", "no\nsuch"])
def test_an_unknown_name_is_refused_with_the_nearest_one(name: str, tmp_path: Path) -> None:
    """A wrong or hostile name is answered in one line and never becomes a path."""
    with pytest.raises(ConfigError) as caught:
        find_template(name, tmp_path)
    assert "there is no template of this name; did you mean '" in str(caught.value)
    assert "\n" not in str(caught.value)
    if name == "editoral":
        assert "'editorial'" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("contract = 1", "contract = 2", "contract is 2, this version knows 1"),
        ("contract = 1\n", "", "missing required field `contract`"),
        ("contract = 1", "contract = 1\ncolour = 3", "unknown field `colour`"),
        ('fonts = ["Inter", "Noto Sans JP"]', "fonts = []", "fonts is empty"),
        ("size = [320, 400]", "size = [320, 0]", "a size is not 16 to 4096 pixels"),
        ("size = [320, 400]", "size = [320]", "size"),
        ("photo = [320, 200]", "photo = [320, 99999]", "a size is not 16 to 4096 pixels"),
        ("title = 40", "title = 0", "a text limit is below 1"),
        ("title = 40", "titel = 40", "unknown field `titel`"),
        ("[roles.cover]", "[roles.cower]", "cower"),
        ("[roles.cover]", "[roles.cover", "template.toml: "),
        ('ink = "#111111"', 'ink = "#eeeeee"', "ink #eeeeee on paper #ffffff has a contrast of 1.1:1"),
        ('ink = "#111111"', "", "the theme's ink is ''"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    """template.toml is read strictly, and the line says what is wrong."""
    assert old in SETTINGS
    write_template(tmp_path, settings=SETTINGS.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        find_template("plain", tmp_path)
    assert str(caught.value).startswith("template plain: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("missing", ["template.toml", "slides.typ"])
def test_a_template_lacking_a_file_is_refused(missing: str, tmp_path: Path) -> None:
    """Both files must be there."""
    (write_template(tmp_path) / missing).unlink()
    with pytest.raises(ConfigError, match=f"there is no {missing} in it"):
        find_template("plain", tmp_path)


def test_a_symbolic_link_in_a_template_is_refused(tmp_path: Path) -> None:
    """Typst would follow it out of the template (reference/slides.md §5)."""
    folder_dir = write_template(tmp_path)
    (folder_dir / "picture.png").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match=r"picture\.png is a symbolic link"):
        find_template("plain", tmp_path)


def test_a_template_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """The folder itself must not be a link either."""
    elsewhere = write_template(tmp_path / "elsewhere")
    (tmp_path / "plain").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="the folder is a symbolic link"):
        find_template("plain", tmp_path)


@pytest.mark.parametrize("name", ["slides.typ", "more.typ", "picture.png", "deep/words.txt"])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('#import "@preview/cetz:0.3.0"', "takes a package from the network"),
        ('#import "@local/own:1.0.0"', "takes a package from the network"),
        ("#eval(s.title.text)", "calls eval"),
        ("#let run = eval", "calls eval"),
    ],
)
def test_code_that_could_fetch_or_run_words_is_refused(name: str, line: str, words: str, tmp_path: Path) -> None:
    """Every text file is looked at, whatever its name, because Typst imports any."""
    file = write_template(tmp_path) / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{SLIDES}\n{line}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        find_template("plain", tmp_path)
    assert f"{name} line 4 {words}" in str(caught.value)


def test_a_handle_or_an_evaluation_in_words_is_not_refused(tmp_path: Path) -> None:
    """`"@kibo"` is no package and `evaluate` is not eval; pictures are not read as text."""
    folder_dir = write_template(tmp_path, slides=f'{SLIDES}\n#let handle = "@kibo"\n#let evaluate = 1\n')
    (folder_dir / "logo.png").write_bytes(b'\x89PNG\xff "@preview/x eval \xff')
    assert find_template("plain", tmp_path).name == "plain"


def test_a_template_of_too_many_files_is_refused(tmp_path: Path) -> None:
    """A template is a handful of files."""
    folder_dir = write_template(tmp_path)
    for number in range(200):
        (folder_dir / f"{number}.txt").touch()
    with pytest.raises(ConfigError, match="more than 200 files"):
        find_template("plain", tmp_path)


def test_a_template_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A file is read up to 10 MB."""
    folder_dir = write_template(tmp_path)
    with (folder_dir / "huge.bin").open("wb") as stream:
        stream.truncate(10_000_001)
    with pytest.raises(ConfigError, match=r"huge\.bin: this template file is larger than"):
        find_template("plain", tmp_path)
