"""The errand: one carousel to make, as a line of JSON to a peer's standard input; a line comes back when it is made."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

SIZE = (1080, 1350)
QUALITY = 92
BRAND, HANDLE, URL = "きりの道具店", "@kirino.dougu", "kirino-dougu.example"
INK, PAPER, ACCENT, ON_ACCENT, QUIET, SHADE = "#1d1a17", "#f6f1e7", "#b8442a", "#ffffff", "#4d4a45", "#0d0c0a"
SLIDES_DIR = Path(__file__).parents[2] / "src" / "lamplighter" / "featurepost" / "slides"
INTER, NOTO, EMOJI = (
    SLIDES_DIR / "fonts" / name for name in ("Inter-VF.ttf", "NotoSansJP-subset.ttf", "Twemoji-COLR.ttf")
)
_SEASONS = ("秋の夜長", "冬のはじめ", "春の朝", "雨の午後", "夏の終わり", "休みの日", "静かな週末")
_GLAZES = ("つきしろ", "うすずみ", "わかば", "さくら", "あいいろ", "くりかわ", "しらゆき")
_WOODS = ("Walnut", "Cherry", "Maple", "Chestnut", "Cedar", "Ash", "Cypress")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one slide, by the names of the product's SlideText."""

    role: str
    kicker: str = ""
    title: str = ""
    subtitle: str = ""
    name: str = ""
    price: str = ""
    note: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One carousel: which words (each `turn` has its own), which photos, where the pictures go as 1.jpg … 5.jpg."""

    turn: int
    photos: tuple[str, ...]
    output_dir: str

    def line(self) -> str:
        """Return the errand as a line."""
        return json.dumps(asdict(self)) + "\n"


def compose_words(turn: int) -> tuple[Words, ...]:
    """Return the words of five slides; other words in each turn, so that no cache of results can help."""
    season = _SEASONS[turn % len(_SEASONS)]
    glaze = _GLAZES[turn // 2 % len(_GLAZES)]
    wood = _WOODS[turn // 3 % len(_WOODS)]
    return (
        Words(
            role="cover",
            kicker=f"NEW {turn + 1}",
            title=f"{season}に寄りそう、あたたかい一杯と道具たち🍁",
            subtitle=f"Collection {2026 + turn} 全3品",
        ),
        Words(
            role="product",
            name=f"手びねりマグカップ「{glaze}」",
            price=f"¥{3_980 + 10 * turn:,}",
            note="少しいびつな丸みが手になじみます。毎朝のコーヒーを、もうすこしゆっくり。",
        ),
        Words(
            role="product",
            name=f"{wood} coffee tray, {30 + turn} cm",
            price=f"¥{5_480 + 10 * turn:,}",
            note="Turned from one piece of wood and oiled by hand, with a rim that is easy to lift.",
        ),
        Words(
            role="detail",
            title=f"灰がつくる釉薬「{glaze}」の色",
            body=f"{season}に焼いた松の灰をふるい、粘土と合わせます。同じ色は二度と出ません。",
        ),
        Words(
            role="closing", title=f"{season}に、どれを選びますか？", body="くわしくはプロフィールのリンクからどうぞ。"
        ),
    )


def serve(make: Callable[[Errand], None]) -> None:
    """Make what each line asks for and answer "made", until the lines end."""
    for line in sys.stdin:
        asked = json.loads(line)
        make(Errand(turn=asked["turn"], photos=tuple(asked["photos"]), output_dir=asked["output_dir"]))
        print("made", flush=True)
