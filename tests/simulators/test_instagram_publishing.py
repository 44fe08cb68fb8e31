"""Publishing to the simulated Instagram: once, twice, over the quota, late, and told late."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import Caller
from tests.simulators.instagram.media import make_jpeg
from tests.simulators.instagram.picture import examine_picture
from tests.simulators.instagram.simulator import InstagramSimulator
from tests.simulators.instagram.wire import Json

URL = "https://media.example/p/1.jpg"


def jpeg(url: str) -> bytes:
    """Return a good picture, another for each address; the address says its size: …/320x400-1.jpg."""
    name = url.rpartition("/")[2].removesuffix(".jpg")
    width, _, height = name.partition("-")[0].partition("x")
    return make_jpeg(int(width), int(height), mark=name) if height else make_jpeg(320, 400, mark=name)


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


def usage(caller: Caller, **query: str) -> Json:
    """Return quota_usage as it is told."""
    return caller.get(f"{caller.account}/content_publishing_limit", **query).data[0]["quota_usage"]


def test_a_post_is_on_the_profile_as_it_was_made(instagram: InstagramSimulator, caller: Caller) -> None:
    """Caption, slides in their order, alt texts and time; the media's id is not the container's."""
    first = caller.item("https://media.example/1080x1350-1.jpg", alt_text="one").id
    second = caller.item("https://media.example/1080x1350-2.jpg", alt_text="two").id
    made = caller.carousel([second, first], caption="Two lamps", is_ai_generated="true").id
    wait(instagram, 2)
    media_id = caller.publish(made).id
    (post,) = instagram.oracle.posts()
    assert media_id == post.id != made
    assert (post.caption, post.media_type, post.is_ai_generated) == ("Two lamps", "CAROUSEL_ALBUM", True)
    assert [(child.alt_text, child.cropped) for child in post.children] == [("two", False), ("one", False)]
    assert len(set(post.pictures)) == 2
    assert post.published_at == instagram.clock.now()
    assert post.permalink == caller.get(media_id, fields="permalink").body["permalink"]


def test_slides_of_another_ratio_are_cut(instagram: InstagramSimulator, caller: Caller) -> None:
    """All are cut to the first slide's ratio, and the oracle knows which."""
    sizes = ("1080x1350-1", "1080x1080-2", "1080x1350-3")
    children = [caller.item(f"https://media.example/{size}.jpg").id for size in sizes]
    made = caller.carousel(children).id
    wait(instagram, 2)
    assert caller.publish(made).status == 200
    assert [child.cropped for child in instagram.oracle.posts()[0].children] == [False, True, False]


def test_too_early_a_publish_posts_nothing(instagram: InstagramSimulator, caller: Caller) -> None:
    """9007/2207027, and the same container can be published later."""
    made = caller.image(URL).id
    assert caller.publish(made).numbers == (400, 9007, 2207027)
    wait(instagram, 2)
    assert caller.publish(made).status == 200
    assert len(instagram.oracle.posts()) == 1


def test_only_a_parent_is_published(caller: Caller) -> None:
    """A child alone is #100, an unknown container 24/2207008, none at all #100."""
    assert caller.publish(caller.item(URL).id).numbers == (400, 100, None)
    assert caller.publish("17890000000000000").numbers == (400, 24, 2207008)
    assert caller.post(f"{caller.account}/media_publish").numbers == (400, 100, None)


@pytest.mark.parametrize(
    ("mode", "numbers"), [("9007", (400, 9007, 2207027)), ("24", (400, 24, 2207006)), ("100", (400, 100, None))]
)
def test_a_second_publish_is_refused_in_three_ways(
    instagram: InstagramSimulator, caller: Caller, mode: str, numbers: tuple[int, int, int | None]
) -> None:
    """Which one Meta does is undocumented."""
    instagram.knobs.turn("republish_mode", mode)
    made = caller.ready()
    assert caller.publish(made).status == 200
    assert caller.publish(made).numbers == numbers
    assert instagram.oracle.count("A lamp") == 1
    assert instagram.oracle.duplicates() == []


def test_a_second_publish_may_post_twice(instagram: InstagramSimulator, caller: Caller) -> None:
    """republish_mode=duplicate, and the oracle sees it, also when a person deletes one."""
    instagram.knobs.turn("republish_mode", "duplicate")
    made = caller.ready()
    assert caller.publish(made).id != caller.publish(made).id
    (group,) = instagram.oracle.duplicates()
    instagram.delete_by_hand(group[1])
    assert instagram.oracle.count("A lamp") == 2
    assert len(instagram.oracle.posts(caption="A lamp")) == 1
    assert instagram.oracle.duplicates() == [group]


def test_the_same_post_made_anew_is_a_duplicate(instagram: InstagramSimulator, caller: Caller) -> None:
    """Another container of the same words and pictures is found; captions are compared as NFC, LF and trimmed."""
    for caption in ("Caf\u00e9\nopen", "Cafe\u0301\r\nopen "):
        assert caller.publish(caller.ready(caption)).status == 200
    assert [len(group) for group in instagram.oracle.duplicates()] == [2]


def test_shared_children_do_not_protect(instagram: InstagramSimulator, caller: Caller) -> None:
    """A second carousel of the same children, made before the first was posted, is posted too."""
    children = [caller.item(URL).id for _ in range(2)]
    parents = [caller.carousel(children, caption="Same").id for _ in range(2)]
    wait(instagram, 2)
    assert [caller.publish(parent).status for parent in parents] == [200, 200]
    assert instagram.oracle.count("Same") == 2


def test_two_publishes_at_once_post_once(instagram: InstagramSimulator, caller: Caller) -> None:
    """Eight threads publish one container: one is told its id, seven are refused."""
    made = caller.ready()
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(caller.publish(made).status)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(statuses) == [200, *[400] * 7]
    assert len(instagram.oracle.posts()) == 1


def test_the_quota_is_told_and_kept(instagram: InstagramSimulator, caller: Caller) -> None:
    """A carousel is one; the post after the last is 9/2207042; the window slides; config comes only when asked."""
    instagram.knobs.quota_total = 2
    path = f"{caller.account}/content_publishing_limit"
    assert caller.get(path).data == [{"quota_usage": 0}]
    for number in range(2):
        assert caller.publish(caller.ready(f"Post {number}")).status == 200
        wait(instagram, 3600)
    assert caller.get(path, fields="config,quota_usage").data == [
        {"quota_usage": 2, "config": {"quota_total": 2, "quota_duration": 86_400}}
    ]
    waiting = caller.ready("Post 2")
    assert caller.publish(waiting).numbers == (400, 9, 2207042)
    wait(instagram, 86_400 - 7200)
    assert caller.publish(caller.ready("Post 3")).status == 200
    assert instagram.oracle.count("Post 2") == 0


def test_the_quota_can_be_asked_since(instagram: InstagramSimulator, caller: Caller) -> None:
    """`since` narrows the window and may not be older than a day."""
    assert caller.publish(caller.ready()).status == 200
    now = int(instagram.clock.now().timestamp())
    assert usage(caller, since=str(now - 60)) == 1
    wait(instagram, 60)
    assert usage(caller, since=str(now + 30)) == 0
    path = f"{caller.account}/content_publishing_limit"
    assert caller.get(path, since=str(now - 90_000)).numbers == (400, 100, None)
    assert caller.get(path, fields="quota_left").numbers == (400, 100, None)


def test_a_post_counts_for_exactly_a_day(instagram: InstagramSimulator, caller: Caller) -> None:
    """At 24 hours to the second it is out of the window."""
    assert caller.publish(caller.ready()).status == 200
    wait(instagram, 86_399)
    assert usage(caller) == 1
    wait(instagram, 1)
    assert usage(caller) == 0


def test_a_container_of_another_account_is_unknown(instagram: InstagramSimulator, caller: Caller) -> None:
    """Its owner can publish it, nobody else; a refused call is not counted as applied."""
    made = caller.ready()
    other = instagram.add_account("kilnandco")
    stranger = Caller(simulator=instagram, token=instagram.issue_token(account=other))
    refused = stranger.post(f"{other.id}/media_publish", creation_id=made)
    assert refused.numbers == (400, 24, 2207008)
    assert caller.publish(made).status == 200
    assert [call.applied for call in instagram.oracle.calls("publish")] == [False, True]
    assert [call.account_id for call in instagram.oracle.calls("publish")] == [other.id, caller.account]


def test_a_blocked_account_posts_nothing(instagram: InstagramSimulator, caller: Caller) -> None:
    """403 4/2207051, this time truly without a post."""
    made = caller.ready()
    instagram.account.blocked = True
    reply = caller.publish(made)
    assert reply.numbers == (403, 4, 2207051)
    assert (reply.error["message"], reply.error["is_transient"]) == ("Application request limit reached", False)
    assert instagram.oracle.posts() == []


def test_the_status_may_be_stale(instagram: InstagramSimulator, caller: Caller) -> None:
    """For stale_status_s a published container still says FINISHED."""
    instagram.knobs.stale_status_s = 90
    made = caller.ready()
    assert caller.publish(made).status == 200
    wait(instagram, 89)
    assert caller.status(made) == "FINISHED"
    assert instagram.life_of(made).code == "PUBLISHED"
    wait(instagram, 1)
    assert caller.status(made) == "PUBLISHED"


def test_list_quota_and_media_may_lag(instagram: InstagramSimulator, caller: Caller) -> None:
    """Each witness has its own lag; the oracle has none."""
    instagram.knobs.list_lag_s, instagram.knobs.quota_lag_s, instagram.knobs.object_lag_s = 30, 60, 90
    media_id = caller.publish(caller.ready()).id
    seen: list[tuple[int, Json, int]] = []
    for _ in range(4):
        seen.append((len(caller.listed()), usage(caller), caller.get(media_id).status))
        wait(instagram, 30)
    assert seen == [(0, 0, 400), (1, 0, 400), (1, 1, 400), (1, 1, 200)]
    assert caller.simulator.oracle.count("A lamp") == 1


@pytest.mark.parametrize(("kind", "statuses"), [("objects", [400, 400, 200, 200]), ("all", [400, 400, 400, 200])])
def test_reads_can_fail_while_writes_work(
    instagram: InstagramSimulator, caller: Caller, kind: str, statuses: list[int]
) -> None:
    """read_outage answers 100/33 "Authorization Error" on objects, or on every read of an account."""
    made = caller.ready()
    instagram.knobs.turn("read_outage", kind)
    media_id = caller.publish(made).id
    replies = [
        caller.get(made, fields="status_code"),
        caller.get(media_id),
        caller.get(f"{caller.account}/media"),
        caller.get("me"),
    ]
    assert [reply.status for reply in replies] == statuses
    assert replies[0].numbers == (400, 100, 33)
    assert replies[0].error["error_user_title"] == "Authorization Error"


def test_a_person_posts_beside_us(instagram: InstagramSimulator, caller: Caller) -> None:
    """It is in the list and on the profile, and in no quota."""
    picture = examine_picture("https://app.example/x.jpg", make_jpeg(320, 400))
    instagram.post_by_hand("By hand", pictures=[picture, picture], alt_texts=["a"])
    (listed,) = caller.listed()
    assert (listed["caption"], listed["media_type"]) == ("By hand", "CAROUSEL_ALBUM")
    assert usage(caller) == 0
    assert [post.container_id for post in instagram.oracle.posts()] == [""]


def test_a_story_is_not_in_the_list(instagram: InstagramSimulator, caller: Caller) -> None:
    """It counts against the quota and is readable by its id only."""
    made = caller.image(URL, media_type="STORIES").id
    wait(instagram, 2)
    media_id = caller.publish(made).id
    assert caller.listed() == []
    assert usage(caller) == 1
    assert caller.get(media_id, fields="media_type").body["media_type"] == "STORY"


def test_a_comment_stands_under_its_post(instagram: InstagramSimulator, caller: Caller) -> None:
    """Said twice it stands there twice; an empty one is refused, and so is one under nothing."""
    media_id = caller.publish(caller.ready()).id
    assert caller.post(f"{media_id}/comments", message="First!").status == 200
    assert caller.post(f"{media_id}/comments", message="First!").status == 200
    assert caller.post(f"{media_id}/comments").numbers == (400, 100, None)
    assert caller.post("17900000000000000/comments", message="x").numbers == (400, 100, 33)
    assert [comment.text for comment in instagram.oracle.posts()[0].comments] == ["First!", "First!"]
    assert [comment["text"] for comment in caller.get(f"{media_id}/comments").data] == ["First!", "First!"]


def test_only_facebook_login_deletes(instagram: InstagramSimulator, caller: Caller) -> None:
    """A deleted post is gone for every reader, and the oracle remembers it."""
    media_id = caller.publish(caller.ready()).id
    refused = caller.call("DELETE", f"/v26.0/{media_id}")
    assert (refused.numbers, refused.error["type"]) == ((400, 100, None), "IGApiException")
    page = Caller(simulator=instagram, base="/fb", token=instagram.page_token)
    assert page.call("DELETE", f"/v26.0/{media_id}").body == {"success": True, "deleted_id": media_id}
    assert caller.get(media_id).numbers == (400, 100, 33)
    assert caller.listed() == []
    assert usage(caller) == 1
    assert [post.id for post in instagram.oracle.posts(deleted=True)] == [media_id]


def test_a_late_publish_appears_afterwards(instagram: InstagramSimulator, caller: Caller) -> None:
    """apply_late resets the connection, and the post is there when its time has come."""
    instagram.script.add("publish:apply_late=120")
    made = caller.ready()
    with pytest.raises(ConnectionResetError):
        caller.publish(made)
    assert (caller.status(made), instagram.oracle.posts()) == ("FINISHED", [])
    wait(instagram, 120)
    assert caller.status(made) == "PUBLISHED"
    assert instagram.oracle.count("A lamp") == 1


@pytest.mark.parametrize(("mode", "posts"), [("9007", 1), ("duplicate", 2)])
def test_a_publish_between_obeys_the_mode(instagram: InstagramSimulator, caller: Caller, mode: str, posts: int) -> None:
    """Whoever publishes again before the late one arrives posts twice only under `duplicate`."""
    instagram.knobs.turn("republish_mode", mode)
    instagram.script.add("publish:apply_late=120")
    made = caller.ready()
    with pytest.raises(ConnectionResetError):
        caller.publish(made)
    assert caller.publish(made).status == 200
    for _ in range(2):
        wait(instagram, 120)
        assert instagram.oracle.count("A lamp") == posts
