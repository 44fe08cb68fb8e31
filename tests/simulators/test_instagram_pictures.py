"""How the simulated Instagram fetches pictures, and which it refuses."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import Caller
from tests.simulators.instagram.fetch import CRAWLER
from tests.simulators.instagram.media import MediaHost, make_jpeg, picture_answer
from tests.simulators.instagram.picture import examine_picture
from tests.simulators.instagram.refusal import Refused
from tests.simulators.instagram.simulator import InstagramSimulator
from tests.simulators.instagram.wire import Answer, page_answer, redirect_answer

FETCH_FAILED = (400, 9004, 2207052)
TOO_SLOW = (400, -2, 2207003)
TOO_LARGE = (400, 36000, 2207004)
WRONG_FORMAT = (400, 36001, 2207005)
WRONG_RATIO = (400, 36003, 2207009)


@pytest.fixture
def host() -> Iterator[MediaHost]:
    """Return a media host with one good picture."""
    with MediaHost(pictures={"/good.jpg": make_jpeg(320, 400)}) as server:
        yield server


@pytest.fixture
def caller() -> Caller:
    """Return a client of a simulator that waits 150 ms for a picture."""
    instagram = InstagramSimulator(clock=VirtualClock())
    instagram.knobs.fetch_timeout_real_s = 0.15
    return Caller(simulator=instagram)


def encoded(kind: str, width: int = 320, height: int = 400) -> bytes:
    """Return a picture in some format."""
    out = io.BytesIO()
    frame = Image.new("RGB", (width, height))
    frame.save(out, kind, **({"save_all": True, "append_images": [frame.copy()]} if kind == "MPO" else {}))
    return out.getvalue()


def refusal_of(content: bytes) -> int:
    """Return the code a picture is refused with, or 0."""
    try:
        examine_picture("u", content)
    except Refused as refused:
        return refused.refusal.code
    return 0


def test_the_crawler_shows_itself(host: MediaHost, caller: Caller) -> None:
    """It asks robots.txt and then for the picture, once, during the call, without cookies or token."""
    made = caller.image(f"{host.url}/good.jpg?size=full").id
    robots, picture = host.requests
    assert robots.path == "/robots.txt"
    assert picture.target == "/good.jpg?size=full"
    assert picture.headers["user-agent"] == CRAWLER
    assert {"cookie", "authorization"} & picture.headers.keys() == set()
    kept = caller.simulator.state.containers[made].picture
    assert kept is not None
    assert (kept.width, kept.height, kept.length) == (320, 400, len(make_jpeg(320, 400)))


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        (page_answer("gone", status=404), FETCH_FAILED),
        (page_answer("denied", status=403), FETCH_FAILED),
        (page_answer("broken", status=503), FETCH_FAILED),
        (page_answer("please log in"), FETCH_FAILED),
        (redirect_answer("/good.jpg"), FETCH_FAILED),
        (picture_answer(make_jpeg(320, 400), "application/octet-stream"), FETCH_FAILED),
        (Answer(body=make_jpeg(320, 400), headers=()), FETCH_FAILED),
        (Answer(drop=True), FETCH_FAILED),
        (Answer(body=make_jpeg(320, 400), headers=(("Content-Type", "image/jpeg"),), cut=900), FETCH_FAILED),
        (Answer(body=b"x", headers=(("Content-Type", "image/jpeg"),), hang=2), TOO_SLOW),
        (Answer(body=make_jpeg(320, 400), headers=(("Content-Type", "image/jpeg"),), pause=0.02), TOO_SLOW),
        (picture_answer(b"\xff\xd8\xff" + b"x" * 8_388_608), TOO_LARGE),
        (picture_answer(b"\xff\xd8\xff\xe0 no jpeg after all"), FETCH_FAILED),
        (picture_answer(make_jpeg(320, 400)[:700]), FETCH_FAILED),
        (picture_answer(b"<html>"), WRONG_FORMAT),
    ],
)
def test_what_cannot_be_fetched_makes_no_container(
    host: MediaHost, caller: Caller, answer: Answer, numbers: tuple[int, int, int]
) -> None:
    """Every way a media host fails has its code."""
    host.answers["/bad.jpg"] = answer
    assert caller.item(f"{host.url}/bad.jpg").numbers == numbers
    assert caller.simulator.state.containers == {}


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("{host}/good", 9004),
        ("{host}/good.jpg?v=é", 9004),
        ("{host}/go od.jpg", 9004),
        ("ftp://127.0.0.1/good.jpg", 100),
        ("/good.jpg", 100),
        ("http://[::1/good.jpg", 100),
        ("http://127.0.0.1:x/good.jpg", 100),
        ("http://media.example/good.jpg", 9004),
        ("http://192.0.2.1/good.jpg", 9004),
        ("https://127.0.0.1/good.jpg", 9004),
        ("http://127.0.0.1:9/good.jpg", 9004),
    ],
)
def test_addresses_are_refused_before_they_are_fetched(host: MediaHost, caller: Caller, url: str, code: int) -> None:
    """No extension, not ASCII, no web address, no reachable host: nothing arrives at the media host."""
    assert caller.image(url.format(host=host.url)).error["code"] == code
    assert host.requests == []


def test_the_message_names_the_address(host: MediaHost, caller: Caller) -> None:
    """The user's text carries the URI, the developer's does not."""
    error = caller.image(f"{host.url}/none.jpg").error
    assert error["message"] == "Only photo or video can be accepted as media type."
    assert f"could not be fetched from this URI: {host.url}/none.jpg." in str(error["error_user_msg"])


@pytest.mark.parametrize(
    ("robots", "status"),
    [
        ("User-agent: *\nDisallow: /", 400),
        ("User-agent: facebookexternalhit\nDisallow: /p", 400),
        ("User-agent: *\nDisallow: /\n\nUser-agent: facebookexternalhit\nAllow: /", 200),
        ("User-agent: *\nDisallow: /private", 200),
        ("", 200),
    ],
)
def test_robots_txt_is_obeyed(host: MediaHost, caller: Caller, robots: str, status: int) -> None:
    """What forbids facebookexternalhit forbids Meta."""
    host.robots = robots
    assert caller.image(host.put("/p/1.jpg")).status == status


def test_a_broken_robots_txt_forbids_all(host: MediaHost, caller: Caller) -> None:
    """A 5xx forbids, as RFC 9309 says, unless robots are not asked."""
    host.answers["/robots.txt"] = page_answer("broken", status=500)
    assert caller.image(f"{host.url}/good.jpg").numbers == FETCH_FAILED
    caller.simulator.knobs.robots_obeyed = False
    assert caller.image(f"{host.url}/good.jpg").status == 200


def test_redirects_can_be_followed(host: MediaHost, caller: Caller) -> None:
    """With the knob a few hops are taken, a loop is not."""
    caller.simulator.knobs.redirects_refused = False
    host.answers["/a.jpg"] = redirect_answer("/good.jpg")
    host.answers["/loop.jpg"] = redirect_answer("/loop.jpg")
    assert caller.image(f"{host.url}/a.jpg").status == 200
    assert caller.image(f"{host.url}/loop.jpg").numbers == FETCH_FAILED


def test_an_extension_may_be_left_out(host: MediaHost, caller: Caller) -> None:
    """With the knob turned off."""
    caller.simulator.knobs.extension_needed = False
    host.answers["/picture"] = picture_answer(make_jpeg(320, 400))
    assert caller.image(f"{host.url}/picture").status == 200


def test_a_public_origin_is_played_by_loopback(host: MediaHost) -> None:
    """Clients may use the addresses they would really use."""
    instagram = InstagramSimulator(clock=VirtualClock(), origins={"https://media.example": host.url})
    caller = Caller(simulator=instagram)
    made = caller.image("https://media.example/good.jpg").id
    picture = instagram.state.containers[made].picture
    assert picture is not None
    assert picture.url == "https://media.example/good.jpg"
    assert len(host.fetched("/good.jpg")) == 1


def test_a_folder_is_served(tmp_path: Path, caller: Caller) -> None:
    """Files of a directory, and nothing beside it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "1.jpg").write_bytes(make_jpeg(320, 400))
    (tmp_path / "2.jpg").write_bytes(make_jpeg(320, 400))
    with MediaHost(folder=tmp_path / "site") as host:
        assert caller.image(f"{host.url}/1.jpg").status == 200
        assert caller.image(f"{host.url}/../2.jpg").numbers == FETCH_FAILED


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "BMP", "TIFF", "MPO"])
def test_only_jpeg_is_taken(kind: str) -> None:
    """An MPO begins like a JPEG and is none."""
    with pytest.raises(Refused) as caught:
        examine_picture("u", encoded(kind))
    assert (caught.value.refusal.code, caught.value.refusal.subcode) == (36001, 2207005)
    assert f"The image format {kind} is not supported" in caught.value.refusal.user


def test_eight_mebibytes_are_the_most() -> None:
    """One byte more is too large, whatever it is."""
    filler = b"\xff\xd8\xff" + bytes(8 * 1_048_576 - 3)
    assert refusal_of(filler) == 9004
    assert refusal_of(filler + b"x") == 36000


def test_png_can_be_allowed(host: MediaHost, caller: Caller) -> None:
    """As some accounts see it."""
    host.answers["/1.png"] = picture_answer(encoded("PNG"), "image/png")
    assert caller.image(f"{host.url}/1.png").numbers == WRONG_FORMAT
    caller.simulator.knobs.png_accepted = True
    assert caller.image(f"{host.url}/1.png").status == 200


@pytest.mark.parametrize(
    ("size", "accepted"),
    [
        ((1080, 1350), True),
        ((1080, 1360), True),
        ((1080, 1440), False),
        ((1080, 1920), False),
        ((1910, 1000), True),
        ((1920, 1000), True),
        ((1940, 1000), False),
        ((100, 100), True),
    ],
)
def test_the_ratio_is_four_fifths_to_191(size: tuple[int, int], accepted: bool) -> None:
    """4:5 … 1.91:1 with a tolerance of 0.01; the size itself is scaled, not refused."""
    assert refusal_of(encoded("JPEG", *size)) == (0 if accepted else 36003)


@pytest.mark.parametrize(("width", "shown"), [(200, 320), (320, 320), (1080, 1080), (1440, 1440), (2000, 1440)])
def test_the_width_is_scaled(width: int, shown: int) -> None:
    """To 320 … 1440 pixels."""
    picture = examine_picture("u", encoded("JPEG", width, width))
    assert (picture.width, picture.height) == (shown, shown)


def test_a_turned_photo_is_measured_as_seen() -> None:
    """EXIF orientation 6 makes a wide file a tall picture."""
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (500, 400)).save(out, "JPEG", exif=exif)
    picture = examine_picture("u", out.getvalue())
    assert (picture.width, picture.height) == (400, 500)


def test_the_wrong_ratio_over_the_wire(host: MediaHost, caller: Caller) -> None:
    """The number is in the user's text."""
    reply = caller.image(host.put("/wide.jpg", make_jpeg(820, 400)))
    assert reply.numbers == WRONG_RATIO
    assert "aspect ratio (2.05)" in str(reply.error["error_user_msg"])
