"""Addresses of the simulated Instagram: hosts, versions, methods, headers, and whom it does not talk to."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import FORM, Caller
from tests.simulators.instagram.simulator import InstagramSimulator


@pytest.fixture
def instagram() -> InstagramSimulator:
    """Return a simulator whose time stands still."""
    return InstagramSimulator(clock=VirtualClock(datetime(2026, 11, 30, 12, 0, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("base", "host", "token_kind"),
    [
        ("/ig", "127.0.0.1:8000", "instagram"),
        ("/graph.instagram.com", "127.0.0.1:8000", "instagram"),
        ("", "graph.instagram.com", "instagram"),
        ("", "Graph.Instagram.com:443", "instagram"),
        ("/fb", "localhost", "page"),
        ("", "graph.facebook.com", "page"),
    ],
)
def test_a_host_is_named_by_header_or_path(
    instagram: InstagramSimulator, base: str, host: str, token_kind: str
) -> None:
    """One port plays both."""
    token = instagram.token if token_kind == "instagram" else instagram.page_token
    caller = Caller(simulator=instagram, base=base, token=token)
    reply = caller.call("GET", f"/v26.0/{caller.account}", query={"fields": "username"}, headers={"Host": host})
    assert reply.body["username"] == "wrenfold"
    assert instagram.oracle.calls()[0].host == ("instagram" if token_kind == "instagram" else "facebook")


def test_no_host_is_said_in_words(instagram: InstagramSimulator) -> None:
    """Somebody who forgets the prefix is told how it goes."""
    reply = Caller(simulator=instagram, base="").get("me")
    assert reply.status == 404
    assert b"begin the path with /ig, /fb" in reply.content


@pytest.mark.parametrize(
    ("version", "answers", "note"),
    [("/v26.0", "v26.0", []), ("/v21.0", "v21.0", []), ("/v20.0", "v21.0", ["expired_version"]), ("", "v26.0", [])],
)
def test_a_version_past_its_end_is_upgraded(
    instagram: InstagramSimulator, version: str, answers: str, note: list[str]
) -> None:
    """In silence: a header and our note are all there is; without a version the newest answers."""
    reply = Caller(simulator=instagram, version=version).get("me")
    assert (reply.status, reply.headers["facebook-api-version"]) == (200, answers)
    assert instagram.oracle.calls()[0].notes == note


def test_a_version_from_the_future_is_no_path(instagram: InstagramSimulator) -> None:
    """It is 2500."""
    reply = Caller(simulator=instagram, version="/v99.0").get("me")
    assert reply.numbers == (400, 2500, None)
    assert reply.error["message"] == "Unknown path components: /v99.0/me"


@pytest.mark.parametrize(
    "agent",
    ["", "python-httpx/0.28.1", "python-requests/2.32", "Python-urllib/3.11", "curl/8.5.0", "httpx2/2.1", "axios/1.7"],
)
def test_default_agents_of_libraries_are_refused(instagram: InstagramSimulator, agent: str) -> None:
    """403 with "error code: 1010" and not even JSON; the fault script does not count the call."""
    instagram.script.add("me:html=502")
    caller = Caller(simulator=instagram, agent=agent)
    reply = caller.get("me")
    assert (reply.status, reply.content) == (403, b"error code: 1010")
    assert [note for _, _, note in instagram.oracle.client_faults()] == ["library_agent"]
    assert len(instagram.script.pending) == 1
    instagram.script.clear()
    instagram.knobs.libraries_banned = False
    assert caller.get("me").status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "me"), ("POST", "me"), ("GET", "1/media_publish"), ("POST", "1/nothing"), ("GET", "1/2/3"), ("GET", "")],
)
def test_what_is_not_there_is_100(instagram: InstagramSimulator, method: str, path: str) -> None:
    """The type tells the hosts apart."""
    for base, kind in (("/ig", "IGApiException"), ("/fb", "GraphMethodException")):
        reply = Caller(simulator=instagram, base=base).call(method, f"/v26.0/{path}")
        assert (reply.numbers, reply.error["type"]) == ((400, 100, None), kind)
        assert reply.error["message"] == f"Unsupported request - method type: {method.lower()}"


def test_every_answer_has_usage_time_and_trace(instagram: InstagramSimulator) -> None:
    """Errors too; the time is the simulator's; each trace id is another."""
    caller = Caller(simulator=instagram)
    fine, wrong, worse = caller.get("me"), caller.get("17000000000000000"), caller.publish("1")
    for reply in (fine, wrong, worse):
        assert set(json.loads(reply.headers["x-app-usage"])) == {"call_count", "total_time", "total_cputime"}
        (entry,) = json.loads(reply.headers["x-business-use-case-usage"])[caller.account]
        assert (entry["type"], entry["call_count"], entry["estimated_time_to_regain_access"]) == ("instagram", 3, 0)
        assert parsedate_to_datetime(reply.headers["date"]) == instagram.clock.now()
    traces = {str(reply.error["fbtrace_id"]) for reply in (wrong, worse)}
    assert len(traces) == 2
    assert all(re.fullmatch(r"A[A-Za-z0-9]{20}", trace) for trace in traces)


def test_an_error_object_is_whole(instagram: InstagramSimulator) -> None:
    """All members of Graph's form, and none of ours."""
    reply = Caller(simulator=instagram).publish("17890000000000000")
    trace = reply.error["fbtrace_id"]
    assert reply.body == {
        "error": {
            "message": "The media builder with creation id = 17890000000000000 does not exist or has been expired.",
            "type": "OAuthException",
            "code": 24,
            "error_subcode": 2207008,
            "is_transient": False,
            "error_user_title": "Media builder not found",
            "error_user_msg": "The media builder with creation id = 17890000000000000 does not exist or has been"
            " expired.",
            "fbtrace_id": trace,
        }
    }


def test_a_connection_serves_many_calls(instagram: InstagramSimulator) -> None:
    """Over a socket; a body without a length is not read."""
    with instagram:
        caller = Caller(simulator=instagram, over="socket")
        assert [caller.get("me").status for _ in range(3)] == [200, 200, 200]
        chunked = {"Transfer-Encoding": "chunked"}
        assert caller.call("POST", "/v26.0/me/media", headers=chunked).status == 411


_WORDS = st.one_of(
    st.sampled_from([
        "", "me", "media", "media_publish", "comments", "content_publishing_limit", "oauth", "access_token",
        "refresh_access_token", "debug_token", "accounts", "v26.0", "v0.0", "1789", "true", "CAROUSEL", "STORIES",
        "id,children{id", "[1,2]", "[{]", "2026-01-01", "99999999999999999999", "http://[::1", "http://127.0.0.1:x/a.jpg",
    ]),
    st.text(max_size=12),
)  # fmt: skip
_NAMES = st.sampled_from([
    "fields", "since", "until", "limit", "after", "before", "image_url", "media_type", "children", "caption",
    "is_carousel_item", "creation_id", "message", "appsecret_proof", "input_token", "grant_type", "client_id",
    "client_secret", "redirect_uri", "code", "user_tags", "collaborators", "alt_text", "upload_type",
])  # fmt: skip


@settings(max_examples=50)
@given(
    base=st.sampled_from(["/ig", "/fb", "/api", "/www", "", "/_sim"]),
    method=st.sampled_from(["GET", "POST", "DELETE"]),
    parts=st.lists(_WORDS, max_size=3),
    given_values=st.dictionaries(_NAMES, _WORDS, max_size=5),
    as_json=st.booleans(),
)
def test_nonsense_is_answered(
    base: str, method: str, parts: list[str], given_values: dict[str, str], *, as_json: bool
) -> None:
    """Whatever arrives gets an answer; the simulator never breaks on a client's nonsense."""
    instagram = InstagramSimulator(clock=VirtualClock())
    token = instagram.page_token if base == "/fb" else instagram.token
    caller = Caller(simulator=instagram, base=base, token=token)
    path = "/" + "/".join([quote(part, safe="{},:") if part != "me" else instagram.account.id for part in parts])
    if method != "POST":
        reply = caller.call(method, path, query=given_values)
    elif as_json:
        body = json.dumps({**given_values, "alt_text": None, "product_tags": [1, {}]}).encode()
        reply = caller.call(method, path, headers={"Content-Type": "application/json"}, body=body)
    else:
        reply = caller.call(method, path, headers={"Content-Type": FORM}, body=urlencode(given_values).encode())
    assert 200 <= reply.status < 600
