"""The fault script of the simulated Instagram: which call it hits, what was done, and what the client gets to see."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.client import IncompleteRead, RemoteDisconnected

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import Caller
from tests.simulators.instagram.fault import ACTIONS, Fault, FaultScript, parse_fault
from tests.simulators.instagram.media import make_jpeg
from tests.simulators.instagram.simulator import InstagramSimulator
from tests.simulators.instagram.state import Call


def jpeg(url: str) -> bytes:
    """Return a small good picture, another for each address."""
    return make_jpeg(320, 400, mark=url)


@pytest.fixture
def instagram() -> Iterator[InstagramSimulator]:
    """Return a listening simulator whose time stands still and whose pictures are always good."""
    with InstagramSimulator(clock=VirtualClock(), fetch=jpeg) as simulator:
        yield simulator


@pytest.fixture
def caller(instagram: InstagramSimulator) -> Caller:
    """Return a client in the same process."""
    return Caller(simulator=instagram)


@pytest.fixture
def wire(instagram: InstagramSimulator) -> Caller:
    """Return a client over a socket."""
    return Caller(simulator=instagram, over="socket")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("publish:apply_then_drop", Fault(route="publish", action="apply_then_drop")),
        ("child@5:error=400/9004/2207052", Fault(route="child", action="error", value="400/9004/2207052", nth=5)),
        ("any@2x0:html", Fault(route="any", action="html", nth=2, times=0)),
        ("/POST .*publish/@1x3:slow=0.5", Fault(route="/POST .*publish/", action="slow", value="0.5", times=3)),
        ('list:reply=200 {"data": []}', Fault(route="list", action="reply", value='200 {"data": []}')),
    ],
)
def test_a_line_is_a_fault(line: str, fault: Fault) -> None:
    """And a fault, written out, is a line again."""
    assert parse_fault(line) == fault
    assert parse_fault(str(fault)) == fault


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("publish", "not of the form"),
        ("publsh:drop", "no route publsh"),
        ("publish:dropp", "no action dropp"),
        ("publish:error", "needs a value"),
        ("publish:error=soon", "does not take 'soon'"),
        ("publish:hang=long", "does not take 'long'"),
        ("publish@0:drop", "counted from 1"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(line: str, complaint: str) -> None:
    """A typing error in a script never passes as a script without effect."""
    with pytest.raises(ValueError, match=complaint):
        parse_fault(line)


def test_every_action_can_be_written() -> None:
    """No action of the list is unknown to the parser."""
    for action in ACTIONS:
        value = {"error": "=400/1", "reply": "=200 x"}.get(action.removeprefix("apply_then_"), "=1")
        assert parse_fault(f"any:{action}{value}").action == action


def test_calls_are_counted_per_line() -> None:
    """Nth and times count the calls that a line matches, and the first line whose turn it is wins."""
    script = FaultScript()
    script.add("child@2x2:drop", "create@3:html", "/9999/:drop")
    hits = [script.take(routes, "POST /x/media") for routes in [("child", "create")] * 4 + [("image", "create")]]
    assert [str(hit) if hit else "" for hit in hits] == ["", "child@2x2:drop", "child@2x2:drop", "", ""]
    assert [str(fault) for fault in script.pending] == ["/9999/@1x1:drop"]


def test_a_line_of_a_group_hits_its_routes(instagram: InstagramSimulator, caller: Caller) -> None:
    """`create` counts children and carousels together; `reads` leaves writes alone."""
    instagram.script.add("create@3:error=400/1", "reads@1x0:error=400/100/33")
    urls = ("https://m.example/1.jpg", "https://m.example/2.jpg")
    children = [caller.item(url).id for url in urls]
    assert caller.carousel(children).numbers == (400, 1, None)
    assert caller.carousel(children).status == 200
    assert [caller.get(path).numbers for path in ("me", children[0])] == [(400, 100, 33)] * 2


def test_a_fault_may_be_bound_to_a_media_host(instagram: InstagramSimulator, caller: Caller) -> None:
    """A regular expression sees the image_url, so that one host fails and another does not."""
    instagram.script.add("/media http://bad[.]example/@1x0:error=400/9004/2207052")
    assert caller.item("http://bad.example/1.jpg").numbers == (400, 9004, 2207052)
    assert caller.item("http://good.example/1.jpg").status == 200
    assert caller.item("http://bad.example/1.jpg").numbers == (400, 9004, 2207052)


@pytest.mark.parametrize(
    "action", ["drop", "drop_before_apply", "hang=0.01", "error=500/2", "html=502", "reply=200 ok"]
)
def test_before_the_work_nothing_is_posted(instagram: InstagramSimulator, wire: Caller, action: str) -> None:
    """Whatever the client sees, the profile is empty, and the same container can be published then."""
    made = wire.ready()
    instagram.script.add(f"publish:{action}")
    try:
        wire.publish(made)
    except (ConnectionResetError, RemoteDisconnected):
        assert action.startswith(("drop", "hang"))
    assert instagram.oracle.posts() == []
    assert wire.publish(made).status == 200
    assert [call.applied for call in instagram.oracle.calls("publish")] == [False, True]


@pytest.mark.parametrize(
    "action",
    ["apply_then_drop", "apply_then_hang=0.01", "apply_then_error=403/4/2207051", "apply_then_html=500",
     "apply_then_reply=200 <ok>", "truncate", "cut_json"],
)  # fmt: skip
def test_after_the_work_the_post_is_there(instagram: InstagramSimulator, wire: Caller, action: str) -> None:
    """Whatever the client sees, and it is never told the media's id."""
    made = wire.ready()
    instagram.script.add(f"publish:{action}")
    told = ""
    try:
        told = wire.publish(made).content.decode()
    except (ConnectionResetError, RemoteDisconnected, IncompleteRead):
        assert action.startswith(("apply_then_drop", "apply_then_hang", "truncate"))
    (post,) = instagram.oracle.posts()
    assert post.id not in told
    assert wire.status(made) == "PUBLISHED"
    (call,) = instagram.oracle.calls("publish")
    assert (call.applied, call.fault.partition(":")[2]) == (True, action)


def test_a_drop_is_a_reset(instagram: InstagramSimulator, wire: Caller) -> None:
    """The other side sees the connection reset, not an orderly end."""
    instagram.script.add("me:drop")
    with pytest.raises(ConnectionResetError):
        wire.get("me")


def test_an_error_after_the_work_is_metas(instagram: InstagramSimulator, wire: Caller) -> None:
    """403 4/2207051 as it is seen in the wild, of a post that is live."""
    made = wire.ready()
    instagram.script.add("publish:apply_then_error=403/4/2207051")
    reply = wire.publish(made)
    assert reply.numbers == (403, 4, 2207051)
    assert reply.error["error_user_title"] == "Action is blocked"
    assert reply.headers["content-type"] == "application/json; charset=UTF-8"
    assert instagram.oracle.count("A lamp") == 1


def test_an_error_keeps_its_own_status(instagram: InstagramSimulator, caller: Caller) -> None:
    """A dash or 0 is the status the code usually has; an unknown code is 400."""
    instagram.script.add("me:error=-/2", "me@2:error=0/4/2207051", "me@3:error=-/368")
    assert [caller.get("me").numbers for _ in range(3)] == [(500, 2, None), (403, 4, 2207051), (400, 368, None)]


def test_json_may_end_in_the_middle(instagram: InstagramSimulator, wire: Caller) -> None:
    """cut_json keeps the length right; truncate promises more than it sends."""
    instagram.script.add("me:cut_json=9", "me@2:truncate=9")
    assert wire.get("me", fields="username").content == b'{"usernam'
    with pytest.raises(IncompleteRead):
        wire.get("me", fields="username")


def test_an_answer_may_come_late_or_slowly(instagram: InstagramSimulator, wire: Caller) -> None:
    """Delay is silence first, slow is a pause after each byte; both are whole in the end."""
    instagram.script.add("me:delay=0.05", "me@2:slow=0.002")
    for _ in range(2):
        start = time.monotonic()
        assert wire.get("me").status == 200
        assert time.monotonic() - start > 0.04


def test_usage_headers_can_be_scripted(instagram: InstagramSimulator, caller: Caller) -> None:
    """95 percent on one call; an error that throttles tells 100 and when to come back."""
    instagram.script.add("me:usage=95", "me@2:error=400/80002")
    calm, throttled, after = (caller.get("me") for _ in range(3))
    assert [json.loads(reply.headers["x-app-usage"])["call_count"] for reply in (calm, throttled, after)] == [
        95,
        100,
        3,
    ]
    business = json.loads(throttled.headers["x-business-use-case-usage"])[caller.account][0]
    assert (business["type"], business["estimated_time_to_regain_access"]) == ("instagram", 60)


def test_the_watch_sees_each_moment(instagram: InstagramSimulator, caller: Caller) -> None:
    """Right before the work, right after it, and when it is answered; a test may kill its client there."""
    seen: list[tuple[str, str, int]] = []

    def watch(call: Call, moment: str) -> None:
        seen.append((call.route, moment, len(instagram.state.posts)))

    made = caller.ready()
    instagram.watch = watch
    instagram.script.add("publish@2:drop")
    assert caller.publish(made).status == 200
    with pytest.raises(ConnectionResetError):
        caller.publish(made)
    assert seen == [
        ("publish", "before", 0), ("publish", "after", 1), ("publish", "answered", 1), ("publish", "answered", 1),
    ]  # fmt: skip


def test_calls_are_counted_with_what_happened(instagram: InstagramSimulator, wire: Caller) -> None:
    """By route and by group, with the fault that hit them; no token is kept."""
    instagram.script.add("publish:apply_then_drop")
    with pytest.raises(ConnectionResetError):
        wire.publish(wire.ready())
    counted = {route: len(instagram.oracle.calls(route)) for route in ("child", "carousel", "create", "publish", "any")}
    assert counted == {"child": 2, "carousel": 1, "create": 3, "publish": 1, "any": 4}
    (call,) = instagram.oracle.calls("publish")
    assert (call.status, call.applied, call.auth_in, call.method) == (0, True, "header", "POST")
    assert instagram.token not in repr(instagram.state.calls)


def test_the_script_can_be_forgotten(instagram: InstagramSimulator, caller: Caller) -> None:
    """After clear nothing is hit any more."""
    instagram.script.add("any@1x0:drop")
    instagram.script.clear()
    assert caller.get("me").status == 200
    assert instagram.script.pending == []
