"""`lamplighter demo` from a built wheel, in an empty folder, without the network."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from PIL import Image
from tests.acceptance.program import run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program of an environment that holds the unpacked wheel, and the libraries of this one by path."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    zipfile.ZipFile(wheel).extractall(packages)
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    entry = next(packages.glob("*.dist-info")) / "entry_points.txt"
    assert "lamplighter = lamplighter.__main__:main" in entry.read_text()
    program = folder / "bin/lamplighter"
    program.write_text(f"#!{folder}/bin/python\nimport sys\nfrom lamplighter.__main__ import main\nsys.exit(main())\n")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="session")
def demo_dir(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a demo that ran once, from the wheel, in an empty folder."""
    folder = tmp_path_factory.mktemp("empty")
    ended = run("demo", cwd=folder, program=installed)
    assert ended.code == 0, ended
    return folder / "lamplighter-demo"


def test_the_wheel_carries_its_data(wheel: Path) -> None:
    """Fonts with their licences, templates, prompts, the sample brands and the settings file are inside."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "lamplighter/featurepost/slides/fonts/Inter-VF.ttf",
        "lamplighter/featurepost/slides/fonts/Inter-OFL.txt",
        "lamplighter/featurepost/slides/templates/default/slides.typ",
        "lamplighter/featurepost/slides/templates/editorial/template.toml",
        "lamplighter/featurepost/slides/lib/lamp.typ",
        "lamplighter/featurepost/prompts/copy.md",
        "lamplighter/sample/brand-catalog.json",
        "lamplighter/config/lamplighter.toml",
        "lamplighter/publish/preview.html",
    ):
        assert name in names
    assert sum(name.endswith(".jpg") for name in names) > 20


def test_the_demo_makes_three_and_posts_one(demo_dir: Path) -> None:
    """Three features exist, one of them posted, each with slides that the network takes."""
    ready = sorted((demo_dir / "content/sns").glob("feature-*"))
    posted = sorted((demo_dir / "content/sns/posted").glob("feature-*"))
    outbox = sorted((demo_dir / "outbox").iterdir())
    assert [len(ready), len(posted), len(outbox)] == [2, 1, 1]
    for slide in (demo_dir / "content/sns").rglob("slide-*.jpg"):
        with Image.open(slide) as picture:
            assert (picture.format, picture.size, picture.mode) == ("JPEG", (1080, 1350), "RGB")
            assert "progressive" not in picture.info
            assert picture.info["icc_profile"]
        assert slide.stat().st_size < 8_000_000
    assert {path.name for path in outbox[0].iterdir()} >= {"caption.txt", "feature.json", "preview.html", "slide-1.jpg"}


def test_the_same_slides_come_out_again(demo_dir: Path, installed: Path, tmp_path: Path) -> None:
    """A second demo in another folder makes the same pictures, byte for byte."""
    assert run("demo", cwd=tmp_path, program=installed).code == 0
    first = sorted((demo_dir / "outbox").glob("*/slide-*.jpg"))
    second = sorted((tmp_path / "lamplighter-demo/outbox").glob("*/slide-*.jpg"))
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_run_again_it_goes_on_honestly(installed: Path, tmp_path: Path) -> None:
    """The second run fills the stock up and does not post again; the third needs nothing and says what it counted."""
    first, second, third = (run("demo", cwd=tmp_path, program=installed) for _ in range(3))
    assert [first.code, second.code, third.code] == [0, 0, 0]
    assert "post: produced" in first.out
    assert "generate: produced: made 1 of 1" in second.out
    assert "post: nothing_needed" in second.out
    assert "generate: produced" not in third.out
    assert "stock: 3 of 3" in third.out
    assert len(list((tmp_path / "lamplighter-demo/outbox").iterdir())) == 1


def test_the_demo_says_where_to_look_and_what_to_type(installed: Path, tmp_path: Path) -> None:
    """Its last lines name the pictures, the page and the next command, and that command works."""
    ended = run("demo", "shown", cwd=tmp_path, program=installed)
    page = next((tmp_path / "shown/outbox").glob("*/preview.html"))
    assert str(page.relative_to(tmp_path)) in ended.out
    assert "slide-*.jpg" in ended.out
    line = next(line for line in ended.out.splitlines() if line.startswith("Next:"))
    assert run(*line.split()[2:], cwd=tmp_path, program=installed).code == 0
