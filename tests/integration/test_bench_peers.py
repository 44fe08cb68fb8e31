"""The benches' own parts: every peer makes what it is asked for, and the meters see what is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from bench.peers.chromium import find_chromium
from bench.peers.errand import SIZE, Errand, compose_words
from bench.peers.meter import (
    PeakMemory,
    Peer,
    PeerFailed,
    bench_environment,
    check_pictures,
    find_tree,
    read_processor_time,
    read_pss,
)
from bench.peers.photos import write_photos
from PIL import Image
from tests.unit.featurepost.slides.studio import paint

needs_chromium = pytest.mark.skipif(not find_chromium(), reason="needs Chromium: apt-get install chromium")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
SLIDES = 5


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the bench's photos."""
    return write_photos(tmp_path_factory.mktemp("photos"))


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("bench.peers.ours", ()),
        ("bench.peers.ours", ("--warm",)),
        ("bench.peers.hand_set", ()),
        pytest.param("bench.peers.chromium", (), marks=needs_chromium),
        pytest.param("bench.peers.chromium", ("--kept",), marks=needs_chromium),
    ],
)
def test_every_peer_makes_five_slides_an_errand(
    module: str, arguments: tuple[str, ...], photos: tuple[str, ...], tmp_path: Path
) -> None:
    """By the same lines, with other words each time, and pictures that Instagram would take."""
    made = []
    with bench_environment() as env, Peer(module, *arguments, env=env) as peer:
        for turn in range(2):
            assert peer.ask(Errand(turn=turn, photos=photos, output_dir=str(tmp_path)).line()) > 0
            assert check_pictures(tmp_path, SIZE, SLIDES) > 0
            made.append((tmp_path / "1.jpg").read_bytes())
    assert made[0] != made[1]


def test_the_photos_are_the_same_every_time(photos: tuple[str, ...], tmp_path: Path) -> None:
    """As large as a camera's, and no clock or chance in them."""
    again = write_photos(tmp_path)
    assert [Path(file).read_bytes() for file in photos] == [Path(file).read_bytes() for file in again]
    with Image.open(photos[0]) as photo:
        assert photo.size == (2000, 2500)


def test_no_two_turns_have_the_same_words() -> None:
    """A slide that was made before is never asked for again."""
    turns = [compose_words(turn) for turn in range(20)]
    for place in range(3):
        assert len({words[place] for words in turns}) == 20


def test_a_peer_that_ends_is_an_error(tmp_path: Path) -> None:
    """It says which and how, instead of a number measured on nothing."""
    errand = Errand(turn=0, photos=("none.jpg",) * SLIDES, output_dir=str(tmp_path))
    with (
        bench_environment() as env,
        pytest.raises(PeerFailed, match="hand_set ended with 1"),
        Peer("bench.peers.hand_set", env=env) as peer,
    ):
        peer.ask(errand.line())


@pytest.mark.parametrize(
    ("size", "options", "cause"),
    [
        ((1080, 1350), {"progressive": True}, "baseline=False"),
        ((1080, 1349), {}, "size=.1080, 1349."),
    ],
)
def test_a_picture_instagram_would_refuse_is_an_error(
    size: tuple[int, int], options: dict[str, bool], cause: str, tmp_path: Path
) -> None:
    """Another size, a progressive JPEG: the bench says which picture."""
    paint(*size).save(tmp_path / "1.jpg", "JPEG", **options)
    with pytest.raises(PeerFailed, match=f"picture 1 .*{cause}"):
        check_pictures(tmp_path, SIZE, 1)


@needs_proc
def test_memory_is_that_of_a_process_and_its_descendants() -> None:
    """This process is in its own tree and has memory; a process that ended has none."""
    assert os.getpid() in find_tree(os.getppid())
    assert read_pss(os.getpid()) > 1_000_000
    assert read_pss(2**22 + 1) == 0
    memory = PeakMemory(os.getpid())
    memory.sample()
    assert memory.peak > 1_000_000
    assert read_processor_time(os.getpid()) > 0
