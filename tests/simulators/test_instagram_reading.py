"""Reading from the simulated Instagram: fields, lists, pages of them, and who may see what."""

from __future__ import annotations

from datetime import timedelta
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import Caller
from tests.simulators.instagram.media import make_jpeg
from tests.simulators.instagram.refusal import Refused
from tests.simulators.instagram.selection import parse_fields
from tests.simulators.instagram.simulator import InstagramSimulator
from tests.simulators.instagram.wire import Members


def jpeg(url: str) -> bytes:
    """Return a small good picture, another for each address."""
    return make_jpeg(320, 400, mark=url)


@pytest.fixture
def instagram() -> InstagramSimulator:
    """Return a simulator whose time stands still and whose pictures are always good."""
    return InstagramSimulator(clock=VirtualClock(), fetch=jpeg)


@pytest.fixture
def caller(instagram: InstagramSimulator) -> Caller:
    """Return a client of it."""
    return Caller(simulator=instagram)


def captions(listed: list[Members]) -> list[str]:
    """Return the captions of a list."""
    return [str(one["caption"]) for one in listed]


def fill(instagram: InstagramSimulator, count: int) -> None:
    """Put posts on the profile, one a minute, numbered from 0."""
    for number in range(count):
        instagram.post_by_hand(f"Post {number}")
        instagram.clock.advance(timedelta(minutes=1))


def test_the_list_shows_what_is_asked(instagram: InstagramSimulator, caller: Caller) -> None:
    """Newest first, with the children's ids and alt texts, times in Meta's form and a permalink."""
    fill(instagram, 1)
    first = caller.item("https://media.example/1.jpg", alt_text="one").id
    second = caller.item("https://media.example/2.jpg").id
    made = caller.carousel([first, second], caption="Two").id
    instagram.clock.advance(timedelta(seconds=2))
    media_id = caller.publish(made).id
    post = instagram.oracle.posts()[0]
    newest, oldest = caller.listed()
    assert newest == {
        "id": media_id,
        "caption": "Two",
        "timestamp": "2026-05-04T12:01:02+0000",
        "permalink": post.permalink,
        "media_type": "CAROUSEL_ALBUM",
        "children": {"data": [{"id": post.children[0].id, "alt_text": "one"}, {"id": post.children[1].id}]},
    }
    assert oldest["caption"] == "Post 0"
    assert post.permalink == f"https://www.instagram.com/p/{post.shortcode}/"


def test_a_single_image_carries_its_own_alt_text(instagram: InstagramSimulator, caller: Caller) -> None:
    """alt_text can be read back; without a caption there is no caption at all."""
    made = caller.image("https://media.example/1.jpg", alt_text="A lamp on a table").id
    instagram.clock.advance(timedelta(seconds=2))
    media_id = caller.publish(made).id
    assert caller.get(media_id, fields="alt_text,caption,media_type").body == {
        "alt_text": "A lamp on a table",
        "media_type": "IMAGE",
        "id": media_id,
    }


def test_a_slide_is_a_media_of_its_own(instagram: InstagramSimulator, caller: Caller) -> None:
    """Its id can be read like a post's."""
    caller.publish(caller.ready())
    child = instagram.oracle.posts()[0].children[1]
    told = caller.get(child.id, fields="media_type,permalink").body
    assert told["media_type"] == "IMAGE"


def test_a_list_is_read_page_by_page(instagram: InstagramSimulator, caller: Caller) -> None:
    """`after` goes on, `before` goes back, 25 are usual, 100 the most, and the last page has no `next`."""
    fill(instagram, 30)
    path = f"{caller.account}/media"
    first = caller.get(path, fields="caption")
    assert len(first.data) == 25
    cursors = cast("dict[str, str]", cast("Members", first.body["paging"])["cursors"])
    second = caller.get(path, fields="caption", after=cursors["after"])
    assert captions(second.data) == [f"Post {number}" for number in (4, 3, 2, 1, 0)]
    assert "next" not in cast("Members", second.body["paging"])
    back = caller.get(
        path,
        fields="caption",
        limit="10",
        before=cast("dict[str, str]", cast("Members", second.body["paging"])["cursors"])["before"],
    )
    assert captions(back.data) == [f"Post {number}" for number in range(14, 4, -1)]
    assert len(caller.get(path, limit="1000").data) == 30


def test_next_carries_the_token_in_its_address(instagram: InstagramSimulator, caller: Caller) -> None:
    """As Graph's does: whoever follows it as it stands puts the token into the address, and that is noted."""
    fill(instagram, 3)
    with instagram:
        caller.over = "socket"
        first = caller.get(f"{caller.account}/media", fields="caption", limit="2")
        address = urlsplit(str(cast("Members", first.body["paging"])["next"]))
        assert address.netloc == f"127.0.0.1:{instagram.port}"
        assert parse_qs(address.query)["access_token"] == [instagram.token]
        caller.base = ""
        followed = caller.call("GET", f"{address.path}?{address.query}")
    assert captions(followed.data) == ["Post 0"]
    assert [note for _, _, note in instagram.oracle.client_faults()] == ["token_in_query"]


def test_a_list_can_be_narrowed_in_time(instagram: InstagramSimulator, caller: Caller) -> None:
    """Since and until are inclusive whole seconds; ISO dates are taken too; anything else is refused."""
    start = int(instagram.clock.now().timestamp())
    fill(instagram, 5)
    assert captions(caller.listed(since=str(start + 120), until=str(start + 180))) == ["Post 3", "Post 2"]
    assert captions(caller.listed(since="2026-05-04T12:04:00+00:00")) == ["Post 4"]
    path = f"{caller.account}/media"
    assert caller.get(path, since="yesterday-ish").numbers == (400, 100, None)
    assert caller.get(path, limit="0").numbers == (400, 100, None)


def test_an_empty_list_has_no_paging(caller: Caller) -> None:
    """A new account's list is an empty one."""
    assert caller.get(f"{caller.account}/media").body == {"data": []}


def test_me_is_the_account(instagram: InstagramSimulator, caller: Caller) -> None:
    """On Instagram's host user_id is the account and id another number; `me` stands for the account in paths."""
    told = caller.get("me", fields="user_id,username").body
    assert told == {"user_id": caller.account, "username": "wrenfold", "id": instagram.account.app_scoped_id}
    assert caller.get("me/media").status == 200
    instagram.knobs.data_wrapped = True
    assert caller.get("me", fields="username").data[0]["username"] == "wrenfold"


def test_facebooks_me_is_a_person_or_a_page(instagram: InstagramSimulator) -> None:
    """It has no user_id; the account is found through its Page, and `me` is no account there."""
    page = Caller(simulator=instagram, base="/fb", token=instagram.page_token)
    assert page.get("me").body["id"] == instagram.account.page_id
    assert page.get(page.account, fields="username").body["username"] == "wrenfold"
    assert page.get("me/media").numbers == (400, 100, 33)


def test_another_account_does_not_exist(instagram: InstagramSimulator, caller: Caller) -> None:
    """With a token of one account, another's paths, containers and posts are 100/33, for reads and for writes."""
    made = caller.ready()
    media_id = caller.publish(made).id
    other = instagram.add_account("kilnandco")
    stranger = Caller(simulator=instagram, token=instagram.issue_token(account=other))
    replies = [
        stranger.get(made),
        stranger.get(media_id),
        stranger.get(f"{caller.account}/media"),
        stranger.publish(made),
    ]
    assert [reply.numbers for reply in replies] == [(400, 100, 33)] * 4
    assert [reply.error["type"] for reply in replies] == ["GraphMethodException"] * 4
    assert str(replies[3].error["message"]).startswith("Unsupported post request. Object with ID")


def test_an_unknown_field_is_an_error_on_both_hosts(instagram: InstagramSimulator, caller: Caller) -> None:
    """The type tells the hosts apart."""
    media_id = caller.publish(caller.ready()).id
    page = Caller(simulator=instagram, base="/fb", token=instagram.page_token)
    replies = [one.get(media_id, fields="id,mood") for one in (caller, page)]
    assert [(reply.numbers, reply.error["type"]) for reply in replies] == [
        ((400, 100, None), "IGApiException"),
        ((400, 100, None), "OAuthException"),
    ]


def test_fields_are_parsed_with_what_is_inside() -> None:
    """Names, braces and a limit."""
    assert parse_fields("id, caption,children.limit(5){id,alt_text},owner{id}") == {
        "id": {},
        "caption": {},
        "children": {"id": {}, "alt_text": {}},
        "owner": {"id": {}},
    }


@pytest.mark.parametrize("text", ["id{", "id}", "id,children{id", "id;caption"])
def test_broken_fields_are_refused(text: str) -> None:
    """A syntax error is #100."""
    with pytest.raises(Refused):
        parse_fields(text)
