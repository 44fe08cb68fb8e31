"""The simulated Instagram by hand: its command line, its control routes, its clock."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from tests.simulators.clock import VirtualClock
from tests.simulators.instagram.__main__ import main
from tests.simulators.instagram.caller import AGENT, Caller, Reply, send
from tests.simulators.instagram.clock import RunningClock
from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.media import make_jpeg
from tests.simulators.instagram.simulator import InstagramSimulator
from tests.simulators.instagram.wire import Members

ROOT = Path(__file__).parents[2]


def jpeg(url: str) -> bytes:
    """Return a small good picture, another for each address."""
    return make_jpeg(320, 400, mark=url)


@pytest.fixture
def instagram() -> Iterator[InstagramSimulator]:
    """Return a listening simulator whose time stands still."""
    with InstagramSimulator(clock=VirtualClock(), fetch=jpeg) as simulator:
        yield simulator


def ask(instagram: InstagramSimulator, name: str, given: object = None) -> Reply:
    """Ask a control route over the socket: GET without, POST with a body; nothing is needed to be let in."""
    hand = Caller(simulator=instagram, over="socket", base="", token="", agent="curl/8.5.0")
    if given is None:
        return hand.call("GET", f"/_sim/{name}")
    return hand.call("POST", f"/_sim/{name}", body=json.dumps(given).encode())


def test_the_clock_is_moved_by_hand(instagram: InstagramSimulator) -> None:
    """Forward by seconds, or to an instant that has an offset."""
    assert ask(instagram, "clock", {"advance": 90}).body == {"clock": "2026-05-04T12:01:30+00:00"}
    assert ask(instagram, "clock", {"set": "2026-12-01T09:00:00+09:00"}).status == 200
    assert instagram.clock.now() == datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    assert ask(instagram, "clock", {"set": "2026-12-01T09:00:00"}).status == 400
    assert ask(instagram, "clock", {"advance": "soon"}).status == 400


def test_state_shows_no_token(instagram: InstagramSimulator) -> None:
    """Accounts, knobs, containers and the script, and nothing secret."""
    made = Caller(simulator=instagram).ready()
    shown = ask(instagram, "state")
    containers = cast("list[Members]", shown.body["containers"])
    assert [one["state"] for one in containers] == ["FINISHED"] * 3
    assert containers[-1]["id"] == made
    assert cast("Members", shown.body["knobs"])["republish_mode"] == "9007"
    assert instagram.token.encode() not in shown.content


def test_faults_and_knobs_are_set_by_hand(instagram: InstagramSimulator) -> None:
    """A wrong one is refused with words and changes nothing."""
    told = ask(instagram, "faults", {"add": ["publish:apply_then_drop", "me@3:html"]}).body
    assert told == {"faults_pending": ["publish@1x1:apply_then_drop", "me@3x1:html"]}
    assert ask(instagram, "faults", {"clear": True, "add": ["me:usage=95"]}).body == {
        "faults_pending": ["me@1x1:usage=95"]
    }
    wrong = ask(instagram, "faults", {"add": ["me:explode"]})
    assert (wrong.status, "no action explode" in str(wrong.body["error"])) == (400, True)
    assert ask(instagram, "knobs", {"republish_mode": "duplicate", "list_lag_s": 90}).status == 200
    assert (instagram.knobs.republish_mode, instagram.knobs.list_lag_s) == ("duplicate", 90.0)
    assert ask(instagram, "knobs", {"republish_mode": "twice"}).status == 400
    assert ask(instagram, "knobs", ["no object"]).status == 400


def test_the_profile_shows_what_is_there_twice(instagram: InstagramSimulator) -> None:
    """Posts, duplicates, and what the client did wrong."""
    instagram.knobs.republish_mode = "duplicate"
    caller = Caller(simulator=instagram)
    made = caller.ready()
    ids = [caller.publish(made).id for _ in range(2)]
    caller.get("me", access_token=instagram.token)
    shown = ask(instagram, "profile").body
    assert shown["duplicates"] == [ids]
    assert {one["id"] for one in cast("list[Members]", shown["posts"])} == set(ids)
    assert shown["client_faults"] == [[6, "me", "token_in_query"]]
    calls = cast("list[Members]", ask(instagram, "calls").body["calls"])
    assert [call["route"] for call in calls] == ["child", "child", "carousel", "publish", "publish", "me"]


def test_tokens_are_ended_and_issued_by_hand(instagram: InstagramSimulator) -> None:
    """What a person does in the app's settings."""
    assert ask(instagram, "tokens", {"revoke": 458}).status == 200
    assert Caller(simulator=instagram).get("me").numbers == (400, 190, 458)
    fresh = str(ask(instagram, "tokens", {"issue": "instagram"}).body["access_token"])
    assert Caller(simulator=instagram, token=fresh).get("me").status == 200


def test_a_reset_forgets_what_happened(instagram: InstagramSimulator) -> None:
    """Accounts and tokens stay."""
    caller = Caller(simulator=instagram)
    caller.publish(caller.ready())
    assert ask(instagram, "reset", {}).status == 200
    assert (instagram.oracle.posts(), instagram.oracle.calls(), caller.get("me").status) == ([], [], 200)


def test_an_unknown_control_route_names_the_known(instagram: InstagramSimulator) -> None:
    """Nobody has to read the source."""
    assert "POST /_sim/clock" in str(ask(instagram, "colck").body["error"])


def test_the_running_clock_runs_from_where_it_was_put() -> None:
    """It can be moved, and set."""
    clock = RunningClock()
    begun = clock.now()
    clock.advance(timedelta(days=2))
    assert timedelta(days=2) <= clock.now() - begun < timedelta(days=2, minutes=1)
    clock.jump(datetime(2030, 1, 1, tzinfo=UTC))
    assert datetime(2030, 1, 1, tzinfo=UTC) <= clock.now() < datetime(2030, 1, 1, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("republish_mod", "9007", "there is none of that name"),
        ("quota_total", "many", "is no number"),
        ("png_accepted", "maybe", "is neither yes nor no"),
        ("caption_unit", "bytes", "is none of 'utf16', 'code_points'"),
    ],
)
def test_a_wrong_knob_says_what_is_possible(name: str, value: str, complaint: str) -> None:
    """Neither a wrong name nor a wrong value passes."""
    with pytest.raises(ValueError, match=complaint):
        Knobs().turn(name, value)


def test_knobs_are_turned_from_text() -> None:
    """Each kind has its form."""
    knobs = Knobs()
    for name, value in (("quota_total", "25"), ("processing_s", "0.5"), ("png_accepted", "yes"), ("sign_in", "deny")):
        knobs.turn(name, value)
    assert (knobs.quota_total, knobs.processing_s, knobs.png_accepted, knobs.sign_in) == (25, 0.5, True, "deny")


@pytest.mark.parametrize("arguments", [["--knob", "no=1"], ["--fault", "me:explode"], ["--fault", "@/nowhere"]])
def test_a_wrong_argument_ends_with_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and no traceback."""
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("instagram simulator: ")


def test_it_runs_by_hand(tmp_path: Path) -> None:
    """`python -m tests.simulators.instagram` says its addresses and its token, and obeys its script."""
    script = tmp_path / "script"
    script.write_text("# the second is spoilt\nme@2:html=502\n")
    command = [sys.executable, "-m", "tests.simulators.instagram", "--fault", f"@{script}", "--token", "IGAAmine"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = dict(line.split(maxsplit=1) for line in [next(process.stdout) for _ in range(8)] if "page" not in line)
        port = int(said["graph.instagram.com"].strip().rpartition(":")[2].partition("/")[0])
        assert said["token"] == "IGAAmine\n"
        headers = {"User-Agent": AGENT, "Authorization": "Bearer IGAAmine"}
        replies = [send(port, "GET", "/ig/v26.0/me", headers) for _ in range(2)]
        assert [reply.status for reply in replies] == [200, 502]
    finally:
        process.terminate()
        process.communicate(timeout=10)
