"""The slides by headless Chromium: one browser and one page for all errands, pictures as JPEG.

Each carousel is loaded as a page of its own, as an HTML template comes; with `--kept` the page stays, fonts and all,
and only its content changes: less work than a template engine can have, told beside it for comparison.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from bench.peers.errand import BRAND, HANDLE, QUALITY, SIZE, URL, Errand, compose_words, serve
from playwright.sync_api import sync_playwright

PAGE = Path(__file__).with_name("slides.html")
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
)


def find_chromium() -> str:
    """Return the system's browser, "" when there is none."""
    return next((found for program in _PROGRAMS if (found := shutil.which(program))), "")


def main() -> None:
    """Serve errands until they end."""
    kept = "--kept" in sys.argv
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), headless=True, args=_FLAGS)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.goto(PAGE.as_uri())

        def make(errand: Errand) -> None:
            if not kept and errand.turn:
                page.goto(PAGE.as_uri())
            content = {
                "slides": [asdict(words) for words in compose_words(errand.turn)],
                "photos": [Path(photo).as_uri() for photo in errand.photos],
                "brand": {"name": BRAND, "handle": HANDLE, "url": URL},
            }
            page.evaluate("carousel => show(carousel)", content)
            for index in range(len(errand.photos)):  # a clip of the whole page is quicker than an element's picture
                page.screenshot(
                    path=f"{errand.output_dir}/{index + 1}.jpg",
                    type="jpeg",
                    quality=QUALITY,
                    full_page=True,
                    clip={"x": 0, "y": index * SIZE[1], "width": SIZE[0], "height": SIZE[1]},
                )

        serve(make)
        browser.close()


if __name__ == "__main__":
    main()
