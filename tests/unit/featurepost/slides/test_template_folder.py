"""A template is found by name, read strictly, and refused when it could do more than show slides."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.simulators.child import files_of_at_most
from tests.unit.featurepost.slides.studio import SLIDES, write_template

from lamplighter.errors import ConfigError, DiskError, InputError, LamplighterError, UsageError
from lamplighter.featurepost.feature import Role, SlideText
from lamplighter.featurepost.slides.template_folder import copy_template, find_template, list_misnamed, list_templates
from lamplighter.featurepost.slides.template_settings import Texts
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
    assert Texts.__struct_fields__ == SlideText.__struct_fields__ == Words.__struct_fields__


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
    near = {"editoral": "did you mean 'editorial'?", "../default": "did you mean 'default'?"}
    remedy = near.get(name, "known are default, editorial")
    assert str(caught.value).endswith(f"there is no template of this name; {remedy}")
    assert "\n" not in str(caught.value)


def test_a_folder_whose_name_can_be_none_is_told(tmp_path: Path) -> None:
    """It is not among the templates, and asking for it says what is wrong with the name."""
    write_template(tmp_path, name="Up")
    assert list_templates(tmp_path) == ("default", "editorial")
    assert list_misnamed(tmp_path) == ("Up",)
    assert list_misnamed(tmp_path / "nowhere") == ()
    with pytest.raises(ConfigError, match=r"template 'Up': a template's name has small .*; rename its"):
        find_template("Up", tmp_path)


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
    assert f"{name}:4: it {words}" in str(caught.value)


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
    with pytest.raises(ConfigError, match="more than 200 files in it; keep only what slides need"):
        find_template("plain", tmp_path)


def test_a_template_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A file is read up to 10 MB."""
    folder_dir = write_template(tmp_path)
    with (folder_dir / "huge.bin").open("wb") as stream:
        stream.truncate(10_000_001)
    with pytest.raises(ConfigError, match=r"huge\.bin: this template file is larger than"):
        find_template("plain", tmp_path)


def test_a_copy_is_the_whole_template_and_can_be_used(tmp_path: Path) -> None:
    """The copy has every file, also in folders below, and nothing else is left beside it."""
    source_dir = write_template(tmp_path, name="plain")
    (source_dir / "pictures").mkdir()
    (source_dir / "pictures" / "logo.png").write_bytes(b"\x89PNG")
    copied = copy_template("plain", "mine", tmp_path)
    assert (copied.name, copied.folder_dir) == ("mine", tmp_path / "mine")
    assert (copied.folder_dir / "pictures" / "logo.png").read_bytes() == b"\x89PNG"
    assert (copied.folder_dir / "slides.typ").read_text("utf-8") == SLIDES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "plain"]
    assert copied.folder_dir.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["default", "editorial"])
def test_a_copy_of_a_built_in_template_makes_its_folder(name: str, tmp_path: Path) -> None:
    """A workspace has no templates/ at first."""
    copied = copy_template(name, "mine", tmp_path / "templates")
    assert copied.limits == find_template(name).limits
    assert list_templates(tmp_path / "templates") == ("default", "editorial", "mine")


@pytest.mark.parametrize("name", ["", "..", "a/b", "Mine", "a b", ".tmp-x", "x" * 41, "é", "no\nsuch", "-a"])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    """In one line, and nothing is made."""
    with pytest.raises(UsageError, match="this cannot be its name; a name is 1 to 40 small letters") as caught:
        copy_template("default", name, tmp_path / "templates")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_never_hides_a_built_in_template(tmp_path: Path) -> None:
    """Every brand that names it would change, and the built-in one could not be copied any more."""
    with pytest.raises(UsageError, match="would take the built-in one's place for every brand; choose another name"):
        copy_template("editorial", "default", tmp_path / "templates")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_there_is_never_overwritten(kind: str, tmp_path: Path) -> None:
    """Whatever it is, also a link that leads nowhere."""
    place = tmp_path / "mine"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.touch()
    else:
        place.symlink_to("nowhere")
    with pytest.raises(InputError, match="it is there already and is not overwritten"):
        copy_template("default", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_broken_template_is_not_copied(tmp_path: Path) -> None:
    """Its line is told, and no folder is made for the copy."""
    write_template(tmp_path, slides="#eval(1)")
    with pytest.raises(ConfigError, match=r"template plain: slides\.typ:1: it calls eval"):
        copy_template("plain", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_a_copy_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    """Neither half a template nor the folder for it."""
    with files_of_at_most(1000), pytest.raises(DiskError):
        copy_template("default", "mine", tmp_path / "templates")
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_templates_that_is_no_folder_is_one_line(tmp_path: Path) -> None:
    """A file stands where templates/ should be."""
    (tmp_path / "templates").touch()
    with pytest.raises(LamplighterError) as caught:
        copy_template("default", "mine", tmp_path / "templates")
    assert "\n" not in str(caught.value)
