"""The page of a post in a real browser: it works, and nothing of the shop's text runs in it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from lamplighter.featurepost.feature import Feature, parse_manifest
from lamplighter.publish.folder import render_preview

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=600,1000 --virtual-time-budget=2000"
)
_HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> ${title} $count"

needs_chromium = pytest.mark.skipif(_BROWSER is None, reason="needs Chromium: apt-get install chromium")


def read_page(page: Path, profile_dir: Path) -> str:
    """Return the page as the browser has it after its script ran."""
    assert _BROWSER is not None
    command = [_BROWSER, *_FLAGS.split(), f"--user-data-dir={profile_dir}", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout


def first_ready(workspace: Path) -> tuple[Path, Feature]:
    """Return the folder and manifest of the oldest ready feature."""
    folder = min((workspace / "content/sns").glob("feature-*"))
    return folder, parse_manifest((folder / "feature.json").read_bytes())


@needs_chromium
def test_the_page_shows_a_carousel(made_once: Path, tmp_path: Path) -> None:
    """It counts its slides, lights the first dot, offers the next slide, and loads every picture."""
    folder, feature = first_ready(made_once)
    page = tmp_path / "preview.html"
    shown = render_preview(feature).replace(
        "</script>",
        "onload = () => { document.title = [...document.images].map((i) => i.naturalWidth).join(); };</script>",
    )
    page.write_text(shown, "utf-8")
    for slide in feature.slides:
        shutil.copy(folder / slide.file, tmp_path)
    dom = read_page(page, tmp_path / "profile")
    assert f">1/{len(feature.slides)}<" in dom
    assert dom.count('<i class="on">') == 1
    assert re.search(r'class="step back"[^>]*hidden', dom)
    assert not re.search(r'class="step next"[^>]*hidden', dom)
    assert "<title>" + ",".join(["1080"] * len(feature.slides)) in dom


@needs_chromium
def test_nothing_of_a_features_text_runs(made_once: Path, tmp_path: Path) -> None:
    """Title, caption, brand and descriptions with markup in them are shown as text."""
    _, feature = first_ready(made_once)
    slides = tuple(msgspec.structs.replace(slide, alt=_HOSTILE) for slide in feature.slides)
    hostile = msgspec.structs.replace(feature, title=_HOSTILE, caption=_HOSTILE, brand_name=_HOSTILE, slides=slides)
    page = tmp_path / "preview.html"
    page.write_text(render_preview(hostile), "utf-8")
    dom = read_page(page, tmp_path / "profile")
    assert "<title>taken" not in dom
    assert "&lt;script&gt;document.title='taken'" in dom
