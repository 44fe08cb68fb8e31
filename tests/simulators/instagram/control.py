"""The control routes under /_sim, for people and for tests in another process.

GET  /_sim/state      clock, accounts, knobs, containers and the script; no token
GET  /_sim/profile    what really is on the profiles, and the duplicates
GET  /_sim/calls      every call, counted, with what was wrong with it
POST /_sim/clock      {"advance": seconds} or {"set": "2026-12-01T09:00:00+00:00"}
POST /_sim/knobs      {"republish_mode": "duplicate", "list_lag_s": 90}
POST /_sim/faults     {"add": ["publish:apply_then_drop"]}; {"clear": true} first forgets the old ones
POST /_sim/tokens     {"revoke": 460} ends all tokens for that reason; {"issue": "instagram"} returns a new one
POST /_sim/reset      forgets posts, containers, calls and faults; accounts, tokens, knobs and the clock stay
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import cast

from tests.simulators.instagram.fault import FaultScript
from tests.simulators.instagram.life import decide_life
from tests.simulators.instagram.oracle import Oracle, describe_calls, describe_post
from tests.simulators.instagram.signing import LONG, issue_token
from tests.simulators.instagram.state import FACEBOOK_SCOPES, INSTAGRAM_SCOPES, State
from tests.simulators.instagram.wire import Answer, Json, Members, Request, json_answer

PREFIX = "/_sim/"


class Control:
    """Answers the control routes."""

    def __init__(self, state: State, script: FaultScript) -> None:
        self._state = state
        self._script = script
        self._oracle = Oracle(state=state)
        self._routes: dict[tuple[str, str], Callable[[Members], Members]] = {
            ("GET", "state"): lambda _: self._show_state(),
            ("GET", "profile"): lambda _: self._show_profile(),
            ("GET", "calls"): lambda _: {"calls": describe_calls(self._oracle.calls())},
            ("POST", "clock"): self._move_clock,
            ("POST", "knobs"): self._turn_knobs,
            ("POST", "faults"): self._set_faults,
            ("POST", "tokens"): self._change_tokens,
            ("POST", "reset"): lambda _: self._reset(),
        }

    def answer(self, request: Request) -> Answer:
        """Answer one control request; what it cannot do it says with 400."""
        name = request.path.removeprefix(PREFIX).strip("/")
        act = self._routes.get((request.method, name))
        if act is None:
            known = ", ".join(f"{method} {PREFIX}{route}" for method, route in self._routes)
            return json_answer({"error": f"there are {known}"}, status=404)
        try:
            given = _read_object(request.body)
            with self._state.lock:
                return json_answer(act(given))
        except (ValueError, TypeError, OverflowError) as error:
            return json_answer({"error": str(error)}, status=400)

    def _show_state(self) -> Members:
        state = self._state
        lives = {
            one.id: decide_life(one, state.containers, state.now(), state.knobs).code
            for one in state.containers.values()
        }
        return {
            "clock": state.now().isoformat(),
            "accounts": [
                {"id": one.id, "username": one.username, "page": one.page_id} for one in state.accounts.values()
            ],
            "tokens": [
                {"kind": one.kind, "account": one.account_id, "scopes": list(one.scopes), "revoked": one.revoked,
                 "expires_at": one.expires_at.isoformat() if one.expires_at else None}
                for one in state.tokens.values()
            ],
            "knobs": dict(state.knobs.shown()),
            "faults_pending": [str(fault) for fault in self._script.pending],
            "containers": [
                {"id": one.id, "kind": one.kind, "state": lives[one.id], "children": list(one.children),
                 "caption": one.caption, "created_at": one.created_at.isoformat()}
                for one in state.containers.values()
            ],
        }  # fmt: skip

    def _show_profile(self) -> Members:
        return {
            "posts": [describe_post(post) for post in self._oracle.posts(deleted=True)],
            "duplicates": [[post.id for post in group] for group in self._oracle.duplicates()],
            "client_faults": [list(fault) for fault in self._oracle.client_faults()],
        }

    def _move_clock(self, given: Members) -> Members:
        if "set" in given:
            at = datetime.fromisoformat(str(given["set"]))
            if at.tzinfo is None:
                raise ValueError("set: the instant needs an offset, as in 2026-12-01T09:00:00+00:00")
            self._state.clock.jump(at)
        if "advance" in given:
            self._state.clock.advance(timedelta(seconds=float(str(given["advance"]))))
        return {"clock": self._state.now().isoformat()}

    def _turn_knobs(self, given: Members) -> Members:
        for name, value in given.items():
            self._state.knobs.turn(name, str(value))
        return dict(self._state.knobs.shown())

    def _set_faults(self, given: Members) -> Members:
        lines = given.get("add", [])
        if not isinstance(lines, list):
            raise TypeError("add: must be a list of lines")
        if given.get("clear"):
            self._script.clear()
        self._script.add(*(str(line) for line in lines))
        return {"faults_pending": [str(fault) for fault in self._script.pending]}

    def _change_tokens(self, given: Members) -> Members:
        state = self._state
        if "revoke" in given:
            for token in state.tokens.values():
                token.revoked = int(str(given["revoke"]))
        if "issue" not in given:
            return {"tokens": len(state.tokens)}
        kind = str(given["issue"])
        scopes = INSTAGRAM_SCOPES if kind.startswith("instagram") else FACEBOOK_SCOPES
        return {"access_token": issue_token(state, next(iter(state.accounts)), kind, scopes, life=LONG).value}

    def _reset(self) -> Members:
        state = self._state
        for held in (state.posts, state.containers, state.calls, state.codes, state.late):
            held.clear()
        self._script.clear()
        return {"clock": state.now().isoformat()}


def _read_object(body: bytes) -> Members:
    given = cast("Json", json.loads(body or b"{}"))
    if not isinstance(given, dict):
        raise TypeError("the body must be a JSON object")
    return given
