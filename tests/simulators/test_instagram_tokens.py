"""Tokens of the simulated Instagram: who is let in, and how a token is had, renewed and looked into."""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import timedelta
from typing import cast
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.caller import FORM, Caller, Reply
from tests.simulators.instagram.simulator import APP_ID, APP_SECRET, InstagramSimulator
from tests.simulators.instagram.wire import Members

DAY = timedelta(days=1)
BACK = "http://127.0.0.1:8765/signed-in"


@pytest.fixture
def instagram() -> InstagramSimulator:
    """Return a simulator whose time stands still."""
    return InstagramSimulator(clock=VirtualClock())


@pytest.fixture
def caller(instagram: InstagramSimulator) -> Caller:
    """Return a client of it."""
    return Caller(simulator=instagram)


def refresh(caller: Caller) -> Reply:
    """Ask for 60 more days, with the token in the header."""
    return caller.call("GET", "/refresh_access_token", query={"grant_type": "ig_refresh_token"})


def test_no_token_is_104(caller: Caller) -> None:
    """And a made-up one is 190."""
    assert Caller(simulator=caller.simulator, token="").get("me").numbers == (400, 104, None)
    assert Caller(simulator=caller.simulator, token="IGAAnonsense").get("me").numbers == (400, 190, None)


def test_tokens_of_one_login_are_nothing_to_the_other(instagram: InstagramSimulator) -> None:
    """An Instagram token on Facebook's host cannot be parsed, nor the other way round."""
    swapped = [
        Caller(simulator=instagram, base="/fb", token=instagram.token),
        Caller(simulator=instagram, base="/ig", token=instagram.page_token),
    ]
    replies = [one.get("me") for one in swapped]
    assert [reply.numbers for reply in replies] == [(400, 190, None)] * 2
    assert {str(reply.error["message"]) for reply in replies} == {
        "Invalid OAuth access token - Cannot parse access token"
    }


def test_an_expired_token_says_when(instagram: InstagramSimulator, caller: Caller) -> None:
    """190/463 with both dates, in Pacific time."""
    instagram.clock.advance(50 * DAY)
    reply = caller.get("me")
    assert reply.numbers == (400, 190, 463)
    assert reply.error["message"] == (
        "Error validating access token: Session has expired on Tuesday, 23-Jun-26 05:00:00 PDT."
        " The current time is Tuesday, 23-Jun-26 05:00:00 PDT."
    )


@pytest.mark.parametrize("subcode", [458, 459, 460, 464, 467])
def test_a_revoked_token_says_why(instagram: InstagramSimulator, caller: Caller, subcode: int) -> None:
    """By its subcode, on every route."""
    instagram.revoke_token(instagram.token, subcode=subcode)
    paths = ("me", f"{caller.account}/media", f"{caller.account}/content_publishing_limit")
    assert [caller.get(path).numbers for path in paths] == [(400, 190, subcode)] * 3
    assert caller.publish("17890000000000000").numbers == (400, 190, subcode)


@pytest.mark.parametrize(("form", "numbers"), [("190-0", (400, 190, 0)), ("100", (400, 100, None))])
def test_a_dead_token_has_other_forms(
    instagram: InstagramSimulator, caller: Caller, form: str, numbers: tuple[int, int, int | None]
) -> None:
    """Subcode 0, or an IGApiException that speaks of the method."""
    instagram.knobs.turn("dead_token_form", form)
    instagram.revoke_token(instagram.token)
    reply = caller.get("me")
    assert reply.numbers == numbers
    assert form != "100" or reply.error["message"] == "Unsupported request - method type: get"


@pytest.mark.parametrize("status", [403, 400])
def test_a_missing_permission_is_200(instagram: InstagramSimulator, caller: Caller, status: int) -> None:
    """It reads and cannot publish; the HTTP status is a knob."""
    instagram.knobs.scope_status = status
    caller.token = instagram.issue_token(scopes=("instagram_business_basic",))
    assert caller.get("me").status == 200
    assert caller.publish("1").numbers == (status, 200, None)
    assert caller.post("1/comments", message="x").numbers == (status, 200, None)


def test_a_refresh_gives_another_string(instagram: InstagramSimulator, caller: Caller) -> None:
    """60 days from now; the old one lives on to its own end."""
    told = refresh(caller).body
    fresh = str(told["access_token"])
    assert (told["token_type"], told["expires_in"]) == ("bearer", 5_184_000)
    assert fresh != instagram.token
    assert [Caller(simulator=instagram, token=one).get("me").status for one in (instagram.token, fresh)] == [200, 200]
    instagram.clock.advance(55 * DAY)
    assert [Caller(simulator=instagram, token=one).get("me").status for one in (instagram.token, fresh)] == [400, 200]


def test_a_refresh_may_keep_the_string_or_end_the_old_one(instagram: InstagramSimulator, caller: Caller) -> None:
    """Both are said of Meta."""
    instagram.knobs.refresh_keeps_string = True
    assert refresh(caller).body["access_token"] == instagram.token
    instagram.knobs.refresh_keeps_string, instagram.knobs.refresh_ends_old = False, True
    instagram.clock.advance(2 * DAY)
    assert refresh(caller).status == 200
    assert caller.get("me").numbers == (400, 190, 467)


def test_young_expired_short_and_foreign_tokens_are_not_refreshed(instagram: InstagramSimulator) -> None:
    """Only a long token of at least a day that still lives."""

    def answer(token: str) -> tuple[int, object, object]:
        return refresh(Caller(simulator=instagram, token=token)).numbers

    assert answer(instagram.issue_token(age=DAY - timedelta(seconds=1))) == (400, 100, None)
    assert answer(instagram.issue_token(age=60 * DAY)) == (400, 190, 463)
    assert answer(instagram.issue_token(kind="instagram_short")) == (400, 100, None)
    assert answer(instagram.page_token) == (400, 190, None)
    assert refresh(Caller(simulator=instagram, token=instagram.issue_token(age=DAY))).status == 200


def test_a_refresh_may_need_the_documented_parameter(instagram: InstagramSimulator, caller: Caller) -> None:
    """Meta documents the address only: that is noted and no fault of the client."""
    instagram.knobs.refresh_needs_parameter = True
    assert refresh(caller).numbers == (400, 104, None)
    query = {"grant_type": "ig_refresh_token", "access_token": instagram.token}
    bare = Caller(simulator=instagram, token="")
    assert bare.call("GET", "/refresh_access_token", query=query).status == 200
    assert instagram.oracle.calls("refresh")[-1].notes == ["documented_token_in_query"]
    assert instagram.oracle.client_faults() == []


def test_a_token_in_the_address_is_a_fault_of_the_client(instagram: InstagramSimulator) -> None:
    """It works, as it does at Meta, and it is noted; in a body it is not."""
    bare = Caller(simulator=instagram, token="")
    assert bare.get("me", access_token=instagram.token).status == 200
    assert bare.post(f"{bare.account}/media_publish", access_token=instagram.token).error["code"] == 100
    assert instagram.oracle.client_faults() == [(1, "me", "token_in_query")]
    assert [call.auth_in for call in instagram.oracle.calls()] == ["query", "body"]


def sign_in(caller: Caller, path: str, **changes: str) -> str:
    """Open the sign-in page and return the address one is sent back to."""
    query = {"client_id": APP_ID, "redirect_uri": BACK, "response_type": "code", "state": "s1",
             "scope": "instagram_business_basic,instagram_business_content_publish"}  # fmt: skip
    page = Caller(simulator=caller.simulator, base="/www", token="")
    reply = page.call("GET", path, query={**query, **changes})
    assert reply.status == 302
    return reply.headers["location"]


def exchange(caller: Caller, code: str, **changes: str) -> Reply:
    """Exchange a code at api.instagram.com."""
    form = {"client_id": APP_ID, "client_secret": APP_SECRET, "grant_type": "authorization_code",
            "redirect_uri": BACK, "code": code}  # fmt: skip
    body = urlencode({**form, **changes}).encode()
    host = Caller(simulator=caller.simulator, base="/api", token="")
    return host.call("POST", "/oauth/access_token", headers={"Content-Type": FORM}, body=body)


def test_a_person_is_walked_to_a_long_token(instagram: InstagramSimulator, caller: Caller) -> None:
    """Sign-in page, code, token of an hour, token of 60 days; the account is the one that signed in."""
    place = sign_in(caller, "/oauth/authorize")
    assert place.endswith("#_")
    query = parse_qs(urlsplit(place).query)
    assert query["state"] == ["s1"]
    told = exchange(caller, query["code"][0]).body
    assert told["permissions"] == ["instagram_business_basic", "instagram_business_content_publish"]
    short = Caller(simulator=instagram, token=str(told["access_token"]))
    assert short.get("me", fields="user_id").body["user_id"] == instagram.account.id
    asked = {"grant_type": "ig_exchange_token", "client_secret": APP_SECRET}
    long = short.call("GET", "/access_token", query=asked).body
    assert long["expires_in"] == 5_184_000
    instagram.clock.advance(2 * DAY)
    assert short.get("me").numbers == (400, 190, 463)
    assert Caller(simulator=instagram, token=str(long["access_token"])).get("me").status == 200


def test_a_code_works_once_and_for_an_hour(instagram: InstagramSimulator, caller: Caller) -> None:
    """Used, old, of another address or with another secret it is refused, in this host's own form."""
    codes = [parse_qs(urlsplit(sign_in(caller, "/oauth/authorize")).query)["code"][0] for _ in range(4)]
    assert exchange(caller, codes[0]).status == 200
    used = exchange(caller, codes[0])
    assert used.body == {
        "error_type": "OAuthException",
        "code": 400,
        "error_message": "Matching code was not found or was already used",
    }
    assert exchange(caller, codes[1], redirect_uri=BACK + "/").status == 400
    assert exchange(caller, codes[2], client_secret="no").status == 400
    assert exchange(caller, codes[2], grant_type="no").status == 400
    instagram.clock.advance(timedelta(hours=1))
    assert exchange(caller, codes[3]).status == 400


def test_a_person_may_say_no(instagram: InstagramSimulator, caller: Caller) -> None:
    """The address carries the denial and no code."""
    instagram.knobs.turn("sign_in", "deny")
    query = parse_qs(urlsplit(sign_in(caller, "/oauth/authorize")).query)
    assert query["error"] == ["access_denied"]
    assert "code" not in query


def test_the_data_form_of_the_code_exchange(instagram: InstagramSimulator, caller: Caller) -> None:
    """As Meta's pages show it."""
    instagram.knobs.data_wrapped = True
    code = parse_qs(urlsplit(sign_in(caller, "/oauth/authorize")).query)["code"][0]
    assert set(exchange(caller, code).data[0]) == {"access_token", "user_id", "permissions"}


def test_only_short_tokens_are_exchanged(instagram: InstagramSimulator, caller: Caller) -> None:
    """With the app's secret."""
    asked = {"grant_type": "ig_exchange_token", "client_secret": APP_SECRET}
    assert caller.call("GET", "/access_token", query=asked).numbers == (400, 452, None)
    caller.token = instagram.issue_token(kind="instagram_short")
    assert caller.call("GET", "/access_token", query={**asked, "client_secret": "no"}).numbers == (400, 100, None)
    assert caller.call("GET", "/access_token", query={**asked, "grant_type": "x"}).numbers == (400, 100, None)


def test_facebook_login_ends_in_a_page_token_without_an_end(instagram: InstagramSimulator, caller: Caller) -> None:
    """Dialog, code, short token, long token, Page token; the Page names the account."""
    scope = "instagram_basic,instagram_content_publish,pages_show_list,pages_read_engagement"
    place = sign_in(caller, "/v26.0/dialog/oauth", scope=scope)
    app = {"client_id": APP_ID, "client_secret": APP_SECRET}
    nobody = Caller(simulator=instagram, base="/fb", token="")
    code = parse_qs(urlsplit(place).query)["code"][0]
    short = str(nobody.get("oauth/access_token", **app, redirect_uri=BACK, code=code).body["access_token"])
    asked = {**app, "grant_type": "fb_exchange_token", "fb_exchange_token": short}
    long = str(nobody.get("oauth/access_token", **asked).body["access_token"])
    (page,) = Caller(simulator=instagram, base="/fb", token=long).get("me/accounts").data
    assert page["instagram_business_account"] == {"id": instagram.account.id}
    instagram.clock.advance(400 * DAY)
    lasting = Caller(simulator=instagram, base="/fb", token=str(page["access_token"]))
    assert lasting.get(instagram.account.id, fields="username").status == 200
    told = lasting.get(str(page["id"]), fields="instagram_business_account").body
    assert told == {"instagram_business_account": {"id": instagram.account.id}, "id": page["id"]}
    assert nobody.get("oauth/access_token", **asked).numbers == (400, 190, 463)
    assert nobody.get("oauth/access_token", **app, redirect_uri=BACK, code=code).numbers == (400, 100, 36009)
    assert nobody.get("oauth/access_token", client_id=APP_ID, client_secret="no").numbers == (400, 1, None)


def inspect(instagram: InstagramSimulator, token: str) -> Members:
    """Look into a token as the app."""
    app = Caller(simulator=instagram, base="/fb", token=f"{APP_ID}|{APP_SECRET}")
    return cast("Members", app.get("debug_token", input_token=token).body["data"])


def test_a_token_can_be_looked_into(instagram: InstagramSimulator) -> None:
    """Its end (0 is never), its scopes, and why it is dead."""
    told = inspect(instagram, instagram.page_token)
    assert (told["is_valid"], told["expires_at"], told["type"]) == (True, 0, "PAGE")
    assert "instagram_content_publish" in cast("list[str]", told["scopes"])
    user = instagram.issue_token(kind="facebook_user")
    end = int((instagram.clock.now() + 60 * DAY).timestamp())
    assert inspect(instagram, user)["expires_at"] == end
    instagram.clock.advance(60 * DAY)
    dead = inspect(instagram, user)
    assert (dead["is_valid"], cast("Members", dead["error"])["subcode"]) == (False, 463)
    assert inspect(instagram, "nonsense")["is_valid"] is False
    nobody = Caller(simulator=instagram, base="/fb", token="")
    assert nobody.get("debug_token", input_token=user).numbers == (400, 104, None)


def test_a_proof_may_be_demanded(instagram: InstagramSimulator) -> None:
    """appsecret_proof is HMAC-SHA256 of the token by the app's secret; a wrong one is refused even unasked."""
    page = Caller(simulator=instagram, base="/fb", token=instagram.page_token)
    good = hmac.new(APP_SECRET.encode(), instagram.page_token.encode(), hashlib.sha256).hexdigest()
    assert page.get("me", appsecret_proof="0" * 64).numbers == (400, 100, None)
    instagram.knobs.proof_needed = True
    assert page.get("me").numbers == (400, 100, None)
    assert page.get("me", appsecret_proof=good).status == 200
    assert Caller(simulator=instagram).get("me").status == 200


def test_too_many_calls_are_throttled(instagram: InstagramSimulator, caller: Caller) -> None:
    """80002 with HTTP 400, and the hour passes."""
    instagram.knobs.calls_an_hour = 4
    replies = [caller.get("me") for _ in range(5)]
    assert [reply.status for reply in replies] == [200, 200, 200, 200, 400]
    assert replies[4].numbers == (400, 80002, None)
    usage = [int(re.findall(r'"call_count":(\d+)', reply.headers["x-app-usage"])[0]) for reply in replies]
    assert usage == [25, 50, 75, 100, 100]
    instagram.clock.advance(timedelta(hours=1))
    assert caller.get("me").status == 200
