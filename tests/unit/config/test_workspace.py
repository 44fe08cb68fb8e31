"""The workspace: what init writes, what it never overwrites, and which one a command means."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lamplighter
from lamplighter.config.basics import find_workspace
from lamplighter.config.settings import read_settings
from lamplighter.config.workspace import make_workspace
from lamplighter.errors import ConfigError, DiskError, InputError, LamplighterError
from lamplighter.featurepost.catalog import parse_catalog, read_catalog

PROMPTS = {"prompts/copy.md", "prompts/images.md", "prompts/qa.md"}
SAMPLE = Path(lamplighter.__file__).parent / "sample"


def list_files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def list_names(folder: Path) -> set[str]:
    """Return every name below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def brands_of(folder: Path) -> list[tuple[str, str]]:
    """Return slug and shop of each brand."""
    return [(brand.slug, brand.shop) for brand in read_catalog(folder / "brand-catalog.json")]


def test_init_writes_settings_catalog_and_prompts_and_nothing_else(tmp_path: Path) -> None:
    """The rest of a workspace comes when it is needed."""
    made = make_workspace(tmp_path / "deep" / "new", ("https://shop.example",))
    assert list_files(made.folder).keys() == {"lamplighter.toml", "brand-catalog.json", *PROMPTS}
    assert {str(file.relative_to(made.folder)) for file in made.files} == list_files(made.folder).keys()
    assert made.brands == ("shop",)


def test_the_new_settings_are_right_and_name_the_zone_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day begins where the person lives."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    made = make_workspace(tmp_path / "new", ())
    found = read_settings(made.folder)
    assert (found.post.zone.key, found.account) == ("Asia/Tokyo", "main")


def test_without_a_shop_the_catalog_waits_for_a_person(tmp_path: Path) -> None:
    """It is a list without entries, and reading it says so."""
    made = make_workspace(tmp_path, ())
    assert json.loads((tmp_path / "brand-catalog.json").read_bytes()) == {"brands": []}
    assert made.brands == ()
    with pytest.raises(ConfigError, match="there is no brand in it"):
        read_catalog(tmp_path / "brand-catalog.json")


def test_the_sample_comes_with_its_shops(tmp_path: Path) -> None:
    """Every product list and photo is copied as it is."""
    made = make_workspace(tmp_path, ("sample",))
    found = list_files(tmp_path)
    for name, content in list_files(SAMPLE / "shop").items():
        assert found[f"shop/{name}"] == content
    assert found.keys() == {
        "lamplighter.toml", "brand-catalog.json", *PROMPTS, *(f"shop/{name}" for name in list_files(SAMPLE / "shop"))
    }  # fmt: skip
    assert [slug for slug, _ in brands_of(tmp_path)] == list(made.brands)
    assert read_settings(tmp_path).account == "demo"


def test_only_the_sample_alone_is_a_demo(tmp_path: Path) -> None:
    """A workspace with a shop of one's own is one's own."""
    make_workspace(tmp_path, ("sample", "shop.example"))
    assert read_settings(tmp_path).account == "main"


@pytest.mark.parametrize(
    ("shop", "slug", "address"),
    [
        ("https://www.kiln-lane.example", "kiln-lane", "https://www.kiln-lane.example"),
        ("https://kibo.myshopify.com/", "kibo", "https://kibo.myshopify.com"),
        ("shop.example", "shop", "https://shop.example"),
        ("SHOP.example/collections/all", "shop", "https://SHOP.example/collections/all"),
        ("http://127.0.0.1:8080", "127-0-0-1", "http://127.0.0.1:8080"),
        ("file:shop/my_brand", "my-brand", "file:shop/my_brand"),
        ("file:/abs/olute", "olute", "file:/abs/olute"),
        ("file:店/きりの", "brand", "file:店/きりの"),
        (f"https://{'a' * 60}.example", "a" * 36, f"https://{'a' * 60}.example"),
    ],
)
def test_a_shop_becomes_a_brand_that_can_be_read_again(tmp_path: Path, shop: str, slug: str, address: str) -> None:
    """Addresses, bare hosts and folders are taken."""
    make_workspace(tmp_path, (shop,))
    assert brands_of(tmp_path) == [(slug, address)]


def test_two_shops_of_one_name_get_slugs_of_their_own(tmp_path: Path) -> None:
    """The second is numbered, the sample's names stay."""
    make_workspace(tmp_path, ("kibo.example", "https://kibo.myshopify.com", "kibo.shop", "wrenfold.example", "sample"))
    slugs = [slug for slug, _ in brands_of(tmp_path)]
    assert len(slugs) == len(set(slugs)) == 6
    assert {"kibo", "kibo-2", "kibo-3", "wrenfold", "wrenfold-2", "kirino"} == set(slugs)


def test_a_shop_given_twice_is_one_brand(tmp_path: Path) -> None:
    """Repeating an option repeats nothing."""
    make_workspace(tmp_path, ("shop.example", "shop.example", "sample", "sample"))
    assert len(brands_of(tmp_path)) == 3


@pytest.mark.parametrize(
    "shop",
    ["", "https://", "ftp://shop.example", "https://[::1", "file:", "https://me:secret@shop.example", "a b.example"],
)
def test_what_is_no_shop_is_refused_before_anything_is_written(tmp_path: Path, shop: str) -> None:
    """One line, and the folder is not even made."""
    with pytest.raises(LamplighterError) as caught:
        make_workspace(tmp_path / "new", (shop,))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "name", ["lamplighter.toml", "brand-catalog.json", "prompts/qa.md", "shop/wrenfold/products.json"]
)
def test_a_file_that_is_there_is_never_overwritten_and_all_stays_as_it_was(tmp_path: Path, name: str) -> None:
    """Also when it is the last one that would be written."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = list_names(tmp_path)
    with pytest.raises(InputError, match="is not overwritten"):
        make_workspace(tmp_path, ("sample",))
    assert list_names(tmp_path) == before
    assert (tmp_path / name).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_replaced(tmp_path: Path) -> None:
    """A link is somebody's file too."""
    (tmp_path / "lamplighter.toml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is not overwritten"):
        make_workspace(tmp_path, ())
    assert list_names(tmp_path) == {"lamplighter.toml"}


@pytest.mark.parametrize("name", ["prompts", "shop", "shop/wrenfold"])
def test_a_file_in_the_place_of_a_folder_stops_it_first(tmp_path: Path, name: str) -> None:
    """Nothing is written before everything is known to be right."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = list_names(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        make_workspace(tmp_path, ("sample",))
    assert list_names(tmp_path) == before


def test_the_folder_itself_may_be_a_file(tmp_path: Path) -> None:
    """Then it is said in one line."""
    (tmp_path / "new").write_text("mine")
    with pytest.raises(InputError, match="not a folder"):
        make_workspace(tmp_path / "new", ())


def test_other_files_of_the_folder_stay(tmp_path: Path) -> None:
    """A workspace may be made in a folder that is in use."""
    (tmp_path / "notes.txt").write_text("mine")
    make_workspace(tmp_path, ())
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_second_init_refuses(tmp_path: Path) -> None:
    """A workspace is made once."""
    make_workspace(tmp_path, ("sample",))
    before = list_files(tmp_path)
    with pytest.raises(InputError):
        make_workspace(tmp_path, ("sample",))
    assert list_files(tmp_path) == before


def test_an_init_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    """Files with exactly our content were ours; settings come last, and with them it would be a workspace."""
    make_workspace(tmp_path, ("sample",))
    whole = list_files(tmp_path)
    for name in ("lamplighter.toml", "prompts/copy.md", "shop/kirino/products.json"):
        (tmp_path / name).unlink()
    make_workspace(tmp_path, ("sample",))
    assert list_files(tmp_path) == whole


@pytest.fixture
def small_disk() -> Iterator[None]:
    """Let no file grow beyond 2,000 bytes, as on a disk that fills up."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_disk")
def test_a_disk_that_fills_up_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    """What was written before is taken away again, so that the next try is not refused by our own leftovers."""
    (tmp_path / "shop").mkdir()
    with pytest.raises(DiskError):
        make_workspace(tmp_path, ("sample",))
    assert list_names(tmp_path) == {"shop"}


def test_the_nearest_parent_is_the_workspace(tmp_path: Path) -> None:
    """A workspace inside another is found first."""
    inner = tmp_path / "a" / "b"
    (inner / "c" / "d").mkdir(parents=True)
    for folder in (tmp_path, inner):
        (folder / "lamplighter.toml").touch()
    assert find_workspace(inner / "c" / "d") == inner
    assert find_workspace(inner) == inner
    assert find_workspace(tmp_path / "a") == tmp_path


def test_without_a_workspace_the_way_to_one_is_said(tmp_path: Path) -> None:
    """There is none here, and none above."""
    with pytest.raises(InputError, match="lamplighter init makes a workspace"):
        find_workspace(tmp_path)


@pytest.mark.parametrize(
    "make", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to("gone"), lambda file: file.symlink_to(file)]
)
def test_what_only_has_the_name_of_the_settings_is_never_passed_over(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A folder, a pipe, a broken link: to go on upwards would be to take another workspace."""
    (tmp_path / "lamplighter.toml").touch()
    inner = tmp_path / "inner"
    inner.mkdir()
    make(inner / "lamplighter.toml")
    with pytest.raises(InputError, match=r"inner/lamplighter\.toml: it is in the way: this is not a file"):
        find_workspace(inner)


def test_a_name_that_is_too_long_is_said_with_the_way_out(tmp_path: Path) -> None:
    """And nothing is made."""
    with pytest.raises(DiskError, match="choose a shorter name"):
        make_workspace(tmp_path / ("x" * 300), ())
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_no_folder_can_have_is_no_bug(tmp_path: Path) -> None:
    """The system refuses it, and we say that there is none."""
    with pytest.raises(InputError):
        find_workspace(tmp_path / ("x" * 300))


def test_the_sample_catalog_keeps_our_own_rules() -> None:
    """It is what a person starts from."""
    brands = parse_catalog((SAMPLE / "brand-catalog.json").read_bytes())
    assert {brand.language for brand in brands} == {"en", "ja"}
    assert all((SAMPLE / brand.shop_folder / "products.json").is_file() for brand in brands)


def test_a_workspace_is_readable_by_its_owner(tmp_path: Path) -> None:
    """Files are plain files with plain rights."""
    made = make_workspace(tmp_path / "w", ())
    assert all(os.access(file, os.R_OK | os.W_OK) and not file.is_symlink() for file in made.files)
