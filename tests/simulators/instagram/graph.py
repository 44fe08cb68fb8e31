"""One call from its arrival to its answer: counted, hit by the fault script, worked off, and dressed with headers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.utils import format_datetime

from tests.simulators.instagram.answering import add_comment, delete_media, read_comments
from tests.simulators.instagram.creating import create_container
from tests.simulators.instagram.fault import Fault, FaultScript
from tests.simulators.instagram.publishing import plan_late, publish_container, read_limit, settle_late
from tests.simulators.instagram.reading import read_account, read_container, read_list, read_me, read_media
from tests.simulators.instagram.refusal import Refusal, Refused, unsupported_method
from tests.simulators.instagram.routing import (
    Known,
    Place,
    all_routes,
    fault_line,
    find_place,
    find_route,
    version_number,
)
from tests.simulators.instagram.signing import (
    debug_token,
    exchange_code,
    exchange_facebook,
    exchange_instagram,
    read_page,
    read_pages,
    refresh_instagram,
    show_sign_in,
)
from tests.simulators.instagram.state import Call, State
from tests.simulators.instagram.visit import Visit, calls_in_an_hour
from tests.simulators.instagram.wire import Answer, Members, Request, json_answer, plain_answer

LIBRARIES = (
    "python-httpx", "python-requests", "python-urllib", "aiohttp", "python/", "curl/", "wget/", "go-http-client",
    "okhttp", "axios/", "node-fetch", "undici", "java/", "apache-httpclient", "libwww-perl", "guzzlehttp", "httpx2",
    "niquests",
)  # fmt: skip
_SECRETS = frozenset({"access_token", "client_secret", "fb_exchange_token", "input_token", "appsecret_proof", "code"})
_TOKEN_PARAMETERS = frozenset({"access_token", "fb_exchange_token", "input_token"})
_DOCUMENTED = frozenset({"refresh", "exchange", "debug_token"})
"""Routes of which Meta documents no other form than the token in the address."""
_OLDEST = ((20, "2026-09-24"), (21, "2027-01-21"), (22, "2027-05-20"), (23, "2027-10-08"), (24, "2028-02-18"))
Handler = Callable[[Visit], Members | Answer]
_HANDLERS: dict[str, Handler] = {
    "child": create_container,
    "carousel": create_container,
    "image": create_container,
    "container": read_container,
    "publish": publish_container,
    "limit": read_limit,
    "list": read_list,
    "media": read_media,
    "me": read_me,
    "account": read_account,
    "pages": read_pages,
    "page": read_page,
    "comment": add_comment,
    "comments": read_comments,
    "delete": delete_media,
    "refresh": refresh_instagram,
    "debug_token": debug_token,
    "code": exchange_code,
    "sign_in": show_sign_in,
}


class Graph:
    """Answers requests; `watch` is told of each call right before its work, right after it, and when it is answered."""

    def __init__(self, state: State, fetch: Callable[[str], bytes], script: FaultScript) -> None:
        self._state = state
        self._fetch = fetch
        self._script = script
        self.watch: Callable[[Call, str], None] | None = None

    def answer(self, request: Request) -> Answer:
        """Decide the answer to one request; the work is done when this returns, whatever the answer says."""
        settle_late(self._state)
        place = find_place(request)
        values = request.values
        route = find_route(place, request.method, values, self._known())
        call = self._count(request, place, route, values)
        trace_id = "A" + self._state.mint_text("trace", 20)
        banned = self._banned(request, call)
        if banned is not None:
            call.status = banned.status
            return banned
        fault = self._script.take(call.routes, fault_line(request.method, place.path, values))
        call.fault = str(fault) if fault else ""
        visit = self._visit(request, call, place, values, fault)
        if fault is not None and fault.action == "apply_late":
            plan_late(visit, float(fault.value))
        answer = self._work(visit, trace_id) if fault is None or fault.applies else Answer()
        if fault is not None:
            answer = fault.spoil(answer, trace_id)
        answer = self._dress(answer, visit, trace_id)
        call.status = 0 if answer.drop else answer.status
        self._tell(call, "answered")
        return answer

    def _known(self) -> Known:
        accounts = self._state.accounts
        ids = {account.app_scoped_id for account in accounts.values()} | accounts.keys()
        pages = {account.page_id for account in accounts.values()}
        return Known(containers=self._state.containers, accounts=ids, pages=pages)

    def _count(self, request: Request, place: Place, route: str, values: Mapping[str, str]) -> Call:
        state = self._state
        with state.lock:
            call = Call(
                number=len(state.calls) + 1,
                at=state.now(),
                host=place.host,
                method=request.method,
                path=place.path,
                routes=all_routes(route),
                parameters={name: value for name, value in values.items() if name not in _SECRETS},
                auth_in=_find_auth(request),
            )
            state.calls.append(call)
        if _TOKEN_PARAMETERS & request.query.keys():
            documented = route in _DOCUMENTED
            call.notes.append("documented_token_in_query" if documented else "token_in_query")
        if "client_secret" in request.query and route not in _DOCUMENTED:
            call.notes.append("secret_in_query")
        if place.version and self._effective_version(place.version) != place.version:
            call.notes.append("expired_version")
        return call

    def _banned(self, request: Request, call: Call) -> Answer | None:
        """Refuse the default User-Agent of an HTTP library, and none at all, as a web firewall does."""
        agent = request.headers.get("user-agent", "").strip().lower()
        if not self._state.knobs.libraries_banned or (agent and not agent.startswith(LIBRARIES)):
            return None
        call.notes.append("library_agent")
        return plain_answer("error code: 1010", status=403)

    def _visit(
        self, request: Request, call: Call, place: Place, values: Mapping[str, str], fault: Fault | None
    ) -> Visit:
        token = self._state.tokens.get(_find_token(request))
        call.account_id = token.account_id if token else ""
        return Visit(
            state=self._state,
            request=request,
            call=call,
            fetch=self._fetch,
            host=place.host,
            origin=place.origin,
            version=place.version,
            object_id=place.parts[0] if place.parts else "",
            values=values,
            token_text=_find_token(request),
            fault=fault,
        )

    def _work(self, visit: Visit, trace_id: str) -> Answer:
        self._tell(visit.call, "before")
        try:
            told = self._handle(visit)
        except Refused as refused:
            answer = refused.refusal.answer(trace_id)
        else:
            answer = told if isinstance(told, Answer) else json_answer(told)
            visit.call.applied = answer.status < 400
        self._tell(visit.call, "after")
        return answer

    def _handle(self, visit: Visit) -> Members | Answer:
        if visit.host == "unknown":
            return plain_answer(
                "No host: send Host: graph.instagram.com (or graph.facebook.com, api.instagram.com), or begin the path"
                " with /ig, /fb, /api or /www.\n", status=404,
            )  # fmt: skip
        if visit.version and version_number(visit.version) > self._state.knobs.newest_version:
            text = f"Unknown path components: {visit.call.path}"
            raise Refused(Refusal(code=2500, message=text, kind="OAuthException"))
        route = visit.call.route
        if route == "exchange":
            return exchange_instagram(visit) if visit.on_instagram else exchange_facebook(visit)
        handler = _HANDLERS.get(route)
        if handler is None:
            raise Refused(unsupported_method(visit.request.method, instagram=visit.on_instagram))
        return handler(visit)

    def _dress(self, answer: Answer, visit: Visit, trace_id: str) -> Answer:
        if answer.drop or visit.host not in {"instagram", "facebook"}:
            return answer
        version = self._effective_version(visit.version) if visit.version else f"v{self._newest()}.0"
        percent = self._usage(visit)
        usage: Members = {"call_count": percent, "total_time": percent, "total_cputime": percent}
        headers = [
            *answer.headers,
            ("facebook-api-version", version),
            ("x-fb-trace-id", trace_id),
            ("Date", format_datetime(self._state.now(), usegmt=True)),
            ("X-App-Usage", json.dumps(usage, separators=(",", ":"))),
        ]
        if visit.call.account_id:
            wait = 60 if percent >= 100 else 0
            business = {"type": "instagram", **usage, "estimated_time_to_regain_access": wait}
            shown = json.dumps({visit.call.account_id: [business]}, separators=(",", ":"))
            headers.append(("X-Business-Use-Case-Usage", shown))
        return replace(answer, headers=tuple(headers))

    def _usage(self, visit: Visit) -> int:
        """Return the percentage the headers tell: of the script, of the calls, or of the knob, whichever is there."""
        if visit.fault is not None and visit.fault.usage is not None:
            return visit.fault.usage
        knobs = self._state.knobs
        if not knobs.calls_an_hour or not visit.call.account_id:
            return knobs.usage_percent
        used = calls_in_an_hour(self._state, visit.call.account_id)
        return max(knobs.usage_percent, min(100, 100 * used // knobs.calls_an_hour))

    def _effective_version(self, version: str) -> str:
        """Return the version that answers: a call of one past its end of life is upgraded in silence."""
        today = self._state.now().date().isoformat()
        ended = [number for number, end in _OLDEST if end <= today]
        oldest = max(ended, default=19) + 1
        return f"v{max(version_number(version), oldest)}.0"

    def _newest(self) -> int:
        return self._state.knobs.newest_version

    def _tell(self, call: Call, moment: str) -> None:
        if self.watch is not None:
            self.watch(call, moment)


def _find_token(request: Request) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() in {"bearer", "oauth"} and token.strip():
        return token.strip()
    return request.values.get("access_token", "")


def _find_auth(request: Request) -> str:
    if request.headers.get("authorization", ""):
        return "header"
    return "query" if "access_token" in request.query else "body" if "access_token" in request.form else ""
