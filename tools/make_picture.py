"""Makes the picture of the README from the slides of a demo: make_picture.py DEMO_DIR."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "slides.jpg"
_COLUMNS, _WIDTH, _GAP = 5, 300, 16
_PAPER = (246, 244, 240)


def choose_slides(demo_dir: Path) -> list[Path]:
    """Return the first slides of the first two features of the demo, as many of each as a row holds."""
    features = sorted((demo_dir / "content" / "sns").rglob("feature-*"), key=lambda folder: folder.name)
    folders = [folder for folder in features if folder.is_dir()][:2]
    return [folder / f"slide-{number}.jpg" for folder in folders for number in range(1, _COLUMNS + 1)]


def render_sheet(files: list[Path]) -> Image.Image:
    """Return the slides side by side, a row for each feature."""
    height = _WIDTH * 5 // 4
    rows = len(files) // _COLUMNS
    size = (_COLUMNS * (_WIDTH + _GAP) + _GAP, rows * (height + _GAP) + _GAP)
    sheet = Image.new("RGB", size, _PAPER)
    for position, file in enumerate(files):
        row, column = divmod(position, _COLUMNS)
        with Image.open(file) as slide:
            small = slide.resize((_WIDTH, height), Image.Resampling.LANCZOS)
        sheet.paste(small, (_GAP + column * (_WIDTH + _GAP), _GAP + row * (height + _GAP)))
    return sheet


def main() -> int:
    """Write the picture."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    render_sheet(choose_slides(Path(sys.argv[1]))).save(PICTURE, "JPEG", quality=86, optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
