"""Containers of the simulated Instagram: what may be made, how long it lives, and what it says of itself."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import Caller
from tests.simulators.instagram.media import make_jpeg
from tests.simulators.instagram.simulator import InstagramSimulator

URL = "https://media.example/p/1.jpg"


def jpeg(url: str) -> bytes:
    """Return a small good picture, whatever the address."""
    del url
    return make_jpeg(320, 400)


@pytest.fixture
def instagram() -> InstagramSimulator:
    """Return a simulator whose time stands still and whose pictures are always good."""
    return InstagramSimulator(clock=VirtualClock(), fetch=jpeg)


@pytest.fixture
def caller(instagram: InstagramSimulator) -> Caller:
    """Return a client of it."""
    return Caller(simulator=instagram)


def wait(instagram: InstagramSimulator, seconds: float) -> None:
    """Let the simulator's time pass."""
    instagram.clock.advance(timedelta(seconds=seconds))


def items(caller: Caller, count: int) -> list[str]:
    """Make so many children."""
    return [caller.item(URL).id for _ in range(count)]


def test_a_container_is_in_progress_and_then_finished(instagram: InstagramSimulator, caller: Caller) -> None:
    """processing_s decides how long."""
    made = caller.image(URL).id
    assert caller.status(made) == "IN_PROGRESS"
    wait(instagram, 1.9)
    assert caller.status(made) == "IN_PROGRESS"
    wait(instagram, 0.1)
    assert caller.get(made, fields="status_code,status").body == {
        "status_code": "FINISHED",
        "status": "Finished: Media has been uploaded and it is ready to be published.",
        "id": made,
    }


def test_a_container_says_only_its_id_unless_asked(caller: Caller) -> None:
    """Without fields there is no status."""
    made = caller.image(URL).id
    assert caller.get(made).body == {"id": made}


def test_a_container_has_no_expiry_field(caller: Caller) -> None:
    """Asking for expires_at is an error."""
    made = caller.image(URL).id
    reply = caller.get(made, fields="expires_at")
    assert reply.status == 400
    assert reply.error["message"] == "(#100) Tried accessing nonexisting field (expires_at)"
    assert reply.error["type"] == "IGApiException"


def test_a_carousel_waits_for_its_children(instagram: InstagramSimulator, caller: Caller) -> None:
    """One child that is never ready keeps it IN_PROGRESS."""
    instagram.script.add("child@2:then_stuck")
    made = caller.carousel(items(caller, 3)).id
    wait(instagram, 600)
    assert caller.status(made) == "IN_PROGRESS"
    assert caller.publish(made).numbers == (400, 9007, 2207027)


def test_unready_children_may_be_refused(instagram: InstagramSimulator, caller: Caller) -> None:
    """reject_unready_children refuses the carousel itself."""
    instagram.knobs.reject_unready_children = True
    children = items(caller, 2)
    assert caller.carousel(children).numbers == (400, 9007, 2207027)
    wait(instagram, 2)
    assert caller.carousel(children).status == 200


def test_a_container_expires_after_a_day(instagram: InstagramSimulator, caller: Caller) -> None:
    """24 hours after it was made it is EXPIRED and cannot be published."""
    made = caller.ready()
    wait(instagram, 86_400 - 3)
    assert caller.status(made) == "FINISHED"
    wait(instagram, 3)
    assert caller.status(made) == "EXPIRED"
    assert caller.publish(made).numbers == (400, 24, 2207008)


def test_an_expired_child_makes_no_carousel(instagram: InstagramSimulator, caller: Caller) -> None:
    """It is answered with -2/2207020."""
    children = items(caller, 2)
    wait(instagram, 86_400)
    assert caller.carousel(children).numbers == (400, -2, 2207020)


def test_a_published_container_stays_published(instagram: InstagramSimulator, caller: Caller) -> None:
    """The day's limit does not turn PUBLISHED into EXPIRED, and its children are PUBLISHED too."""
    children = items(caller, 2)
    made = caller.carousel(children).id
    wait(instagram, 2)
    assert caller.publish(made).status == 200
    wait(instagram, 100_000)
    assert [caller.status(one) for one in (made, *children)] == ["PUBLISHED"] * 3


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("full", {"status_code": "ERROR", "status": "Error: Media upload has failed with error code 2207053"}),
        ("short", {"status_code": "ERROR", "status": "Error: 2207053, The media could not be processed."}),
        ("text_only", {"status": "Error: Media download has failed with error code 2207053"}),
    ],
)
def test_a_failed_container_says_so_in_three_ways(
    instagram: InstagramSimulator, caller: Caller, form: str, expected: dict[str, str]
) -> None:
    """One of them has no status_code at all."""
    instagram.knobs.turn("error_status_form", form)
    instagram.script.add("image:then_error=2207053")
    made = caller.image(URL).id
    wait(instagram, 2)
    assert caller.get(made, fields="status_code,status").body == {**expected, "id": made}
    assert caller.publish(made).numbers == (400, -1, 2207032)


def test_a_failed_child_fails_its_carousel(instagram: InstagramSimulator, caller: Caller) -> None:
    """The carousel carries the child's error."""
    instagram.script.add("child@2:then_error=2207053")
    made = caller.carousel(items(caller, 2)).id
    wait(instagram, 2)
    assert caller.status(made) == "ERROR"
    assert instagram.life_of(made).failure == 2207053


def test_a_container_can_expire_early(instagram: InstagramSimulator, caller: Caller) -> None:
    """The script ends a container before its day is over."""
    instagram.script.add("carousel:then_expired")
    assert caller.status(caller.ready()) == "EXPIRED"


@pytest.mark.parametrize(("count", "status"), [(1, 400), (2, 200), (10, 200), (11, 400)])
def test_a_carousel_has_two_to_ten_children(caller: Caller, count: int, status: int) -> None:
    """Fewer or more are refused with 100/2207028."""
    reply = caller.carousel(items(caller, count))
    assert reply.status == status
    assert status == 200 or reply.numbers == (400, 100, 2207028)


def test_children_may_come_as_a_json_list(caller: Caller) -> None:
    """An array, in a form or in a JSON body, is as good as commas."""
    first, second = items(caller, 2), items(caller, 2)
    form = caller.post(f"{caller.account}/media", media_type="CAROUSEL", children=json.dumps(first))
    body = json.dumps({"media_type": "CAROUSEL", "children": second, "is_ai_generated": True}).encode()
    headers = {"Content-Type": "application/json"}
    told = caller.call("POST", f"/v26.0/{caller.account}/media", headers=headers, body=body)
    assert (form.status, told.status) == (200, 200)
    assert caller.simulator.state.containers[told.id].is_ai_generated


def test_only_own_unused_items_are_children(instagram: InstagramSimulator, caller: Caller) -> None:
    """Unknown, foreign, used, doubled children and single images are refused."""
    own, single = items(caller, 1)[0], caller.image(URL).id
    other = instagram.add_account("kilnandco")
    foreign_token = instagram.issue_token(account=other)
    stranger = Caller(simulator=instagram, token=foreign_token)
    foreign = stranger.post(f"{other.id}/media", image_url=URL, is_carousel_item="true").id
    assert caller.carousel([own, "17890000000000000"]).numbers == (400, 24, 2207006)
    assert caller.carousel([own, foreign]).numbers == (400, 24, 2207006)
    assert caller.carousel([own, own]).numbers == (400, 100, None)
    assert caller.carousel([own, single]).numbers == (400, 100, None)
    used = items(caller, 2)
    made = caller.carousel(used).id
    wait(instagram, 2)
    assert caller.publish(made).status == 200
    assert caller.carousel(used).numbers == (400, 24, 2207006)


def test_the_401st_container_of_a_day_is_refused(instagram: InstagramSimulator, caller: Caller) -> None:
    """A refused call counts for nothing, and the window slides."""
    instagram.knobs.containers_a_day = 3
    items(caller, 2)
    wait(instagram, 3600)
    assert caller.image(URL, caption="x" * 2201).status == 400
    assert caller.image(URL).status == 200
    assert caller.image(URL).numbers == (400, 9, 2207042)
    wait(instagram, 86_400 - 3600)
    assert len(items(caller, 2)) == 2
    assert caller.image(URL).numbers == (400, 9, 2207042)


def test_a_restricted_account_makes_nothing(instagram: InstagramSimulator, caller: Caller) -> None:
    """Every write answers 25/2207050."""
    made = caller.ready()
    instagram.account.restricted = True
    assert caller.image(URL).numbers == (400, 25, 2207050)
    assert caller.publish(made).numbers == (400, 25, 2207050)


@pytest.mark.parametrize(
    ("caption", "subcode"),
    [
        ("x" * 2200, None),
        ("x" * 2201, 2207010),
        ("🎉" * 1100, None),
        ("🎉" * 1101, 2207010),
        ("@a " * 20, None),
        ("@a " * 21, 2207040),
        ("hello@example.com " * 25, None),
        ("#a " * 30, None),
        ("#a " * 31, 2207040),
        ("&#39; http://x.example/#a " * 31, None),
    ],
)
def test_captions_have_their_limits(caller: Caller, caption: str, subcode: int | None) -> None:
    """2200 UTF-16 units, 20 mentions and 30 hashtags are taken, one more is not."""
    reply = caller.image(URL, caption=caption)
    assert (reply.status, reply.error.get("error_subcode") if reply.status == 400 else None) == (
        200 if subcode is None else 400,
        subcode,
    )


def test_the_caption_arrives_whole(caller: Caller) -> None:
    """&, #, + and emoji of a form are not cut or changed."""
    text = "Salt & pepper #lamp + 100% 🎉\r\nきりの道具店"
    made = caller.image(URL, caption=text).id
    assert caller.simulator.state.containers[made].caption == text


def test_captions_can_be_counted_in_code_points(instagram: InstagramSimulator, caller: Caller) -> None:
    """The knob takes what UTF-16 would refuse."""
    instagram.knobs.turn("caption_unit", "code_points")
    assert caller.image(URL, caption="🎉" * 2200).status == 200


def test_too_many_hashtags_may_cost_the_caption(instagram: InstagramSimulator, caller: Caller) -> None:
    """hashtag_mode=drop posts without a word and without an error; hashtag_cap=5 is Instagram's later limit."""
    instagram.knobs.turn("hashtag_mode", "drop")
    instagram.knobs.turn("hashtag_cap", "5")
    made = caller.ready("#a #b #c #d #e #f")
    assert caller.publish(made).status == 200
    assert [post.caption for post in instagram.oracle.posts()] == [""]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"alt_text": "x" * 1001}, (400, 100, None)),
        ({"is_carousel_item": "true", "collaborators": "kiln"}, (400, 100, None)),
        ({"collaborators": "@kiln"}, (400, 110, 2207018)),
        ({"collaborators": "a,b,c,d"}, (400, 100, None)),
        ({"user_tags": '[{"username":"@a","x":0.5,"y":0.5}]'}, (400, 110, 2207018)),
        ({"product_tags": "1,2,3,4,5,6"}, (400, 100, 2207035)),
        ({"branded_content_sponsor_ids": "1,2,3"}, (400, 100, None)),
        ({"media_type": "POLAROID"}, (400, 100, 2207023)),
        ({"media_type": "REELS"}, (400, 352, 2207026)),
        ({"upload_type": "resumable"}, (400, 100, None)),
        ({"poll_attachment": "{}"}, (400, 100, None)),
    ],
)
def test_options_are_checked(caller: Caller, options: dict[str, str], numbers: tuple[int, int, int | None]) -> None:
    """What Meta does not take is refused and nothing is made."""
    assert caller.image(URL, **options).numbers == numbers
    assert caller.simulator.state.containers == {}


def test_no_image_url_is_a_missing_parameter(caller: Caller) -> None:
    """An image needs its address."""
    assert caller.post(f"{caller.account}/media").numbers == (400, 100, None)


def test_what_instagram_ignores_is_noted(instagram: InstagramSimulator, caller: Caller) -> None:
    """A caption on a child and an alt text on a carousel are taken without a word and never shown."""
    children = [caller.item(URL, caption="lost").id, caller.item(URL).id]
    caller.carousel(children, alt_text="lost too")
    assert [(route, note) for _, route, note in instagram.oracle.client_faults()] == [
        ("child", "caption_ignored"),
        ("carousel", "alt_text_ignored"),
    ]
