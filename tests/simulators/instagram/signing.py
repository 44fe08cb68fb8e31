"""How tokens are had, made longer, renewed and looked into."""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import urlencode

from tests.simulators.instagram.refusal import BAD_TOKEN, NO_TOKEN, Refusal, Refused, bad_parameter, missing_object
from tests.simulators.instagram.state import DAY, FACEBOOK_SCOPES, INSTAGRAM_SCOPES, State, Token
from tests.simulators.instagram.visit import Visit, check_alive, check_token, enter, find_death
from tests.simulators.instagram.wire import Answer, Json, Members, json_answer, page_answer, redirect_answer

LONG = timedelta(seconds=5_184_000)
SHORT = timedelta(hours=1)
_YOUNGEST = DAY


def issue_token(
    state: State, account_id: str, kind: str, scopes: tuple[str, ...], *, life: timedelta | None, value: str = ""
) -> Token:
    """Put a new token into the world; `life` None never ends."""
    with state.lock:
        now = state.now()
        prefix = "IGAA" if kind.startswith("instagram") else "EAAB"
        token = Token(
            value=value or prefix + state.mint_text("token", 100),
            kind=kind,
            account_id=account_id,
            scopes=scopes,
            issued_at=now,
            expires_at=None if life is None else now + life,
        )
        state.tokens[token.value] = token
    return token


def show_sign_in(visit: Visit) -> Answer:
    """Play the sign-in page and the person before it: back to redirect_uri at once, with a code or a denial."""
    state, values = visit.state, visit.values
    place = values.get("redirect_uri", "")
    if values.get("client_id") != state.app_id or not place or values.get("response_type", "code") != "code":
        return page_answer("Invalid platform app", status=400)
    instagram = visit.request.path.endswith("/oauth/authorize")
    kept = {"state": values["state"]} if "state" in values else {}
    join = "&" if "?" in place else "?"
    if state.knobs.sign_in == "deny":
        denial = {"error": "access_denied", "error_reason": "user_denied",
                  "error_description": "The user denied your request."}  # fmt: skip
        return redirect_answer(f"{place}{join}{urlencode({**denial, **kept})}")
    asked = tuple(part for part in values.get("scope", "").replace(" ", ",").split(",") if part)
    usual = INSTAGRAM_SCOPES if instagram else FACEBOOK_SCOPES
    with state.lock:
        code = "AQ" + state.mint_text("code", 60)
        account_id = next(iter(state.accounts))
        granted = tuple(scope for scope in asked if scope in usual) or usual[:1]
        state.codes[code] = (account_id, place, granted, state.now() + SHORT)
    fragment = "#_" if instagram else ""
    return redirect_answer(f"{place}{join}{urlencode({'code': code, **kept})}{fragment}")


def exchange_code(visit: Visit) -> Answer:
    """Answer POST api.instagram.com/oauth/access_token: a code for a token of an hour; a code works once."""
    state = visit.state
    try:
        account_id, scopes = _use_code(visit, grant="authorization_code")
    except _CodeRefused as refused:
        told: Members = {"error_type": "OAuthException", "code": 400, "error_message": str(refused)}
        return json_answer(told, status=400)
    token = issue_token(state, account_id, "instagram_short", scopes, life=SHORT)
    bare: Members = {
        "access_token": token.value,
        "user_id": int(state.accounts[account_id].app_scoped_id),
        "permissions": list(scopes),
    }
    return json_answer({"data": [bare]} if state.knobs.data_wrapped else bare)


def exchange_instagram(visit: Visit) -> Members:
    """Answer GET /access_token: an hour's token for one of 60 days; one that already is long is refused."""
    _check_grant(visit, "ig_exchange_token")
    if visit.need("client_secret") != visit.state.app_secret:
        raise Refused(bad_parameter("Error validating client secret.", instagram=True))
    with visit.state.lock:
        token = _given_token(visit)
        if token.kind != "instagram_short":
            raise Refused(Refusal(code=452, message="Session key invalid. Only a short-lived token can be exchanged."))
        return _told(visit, _renewed(visit, token, "instagram"))


def refresh_instagram(visit: Visit) -> Members:
    """Answer GET /refresh_access_token: 60 more days, and usually another string.

    A token younger than 24 hours is refused; how is not documented: here with IGApiException #100.
    """
    _check_grant(visit, "ig_refresh_token")
    state = visit.state
    with state.lock:
        token = _given_token(visit)
        if token.kind != "instagram":
            raise Refused(bad_parameter("A short-lived token cannot be refreshed.", instagram=True))
        if state.now() - token.issued_at < _YOUNGEST:
            raise Refused(bad_parameter("The access token must be at least 24 hours old.", instagram=True))
        if state.knobs.refresh_keeps_string:
            token.issued_at, token.expires_at = state.now(), state.now() + LONG
            return _told(visit, token)
        fresh = _renewed(visit, token, "instagram")
        if state.knobs.refresh_ends_old:
            token.revoked = 467
        return _told(visit, fresh)


def exchange_facebook(visit: Visit) -> Members:
    """Answer GET /vN/oauth/access_token on Facebook's host: a code, or a short token for one of 60 days."""
    state = visit.state
    if (visit.need("client_id"), visit.need("client_secret")) != (state.app_id, state.app_secret):
        raise Refused(Refusal(code=1, message="Error validating application. Invalid application secret."))
    if visit.values.get("grant_type") != "fb_exchange_token":
        try:
            account_id, scopes = _use_code(visit)
        except _CodeRefused as refused:
            raise Refused(Refusal(code=100, subcode=36009, message=str(refused))) from None
        return _told(visit, issue_token(state, account_id, "facebook_user", scopes, life=2 * SHORT))
    token = state.tokens.get(visit.need("fb_exchange_token"))
    if token is None or token.on_instagram:
        raise Refused(BAD_TOKEN)
    check_alive(visit, token)
    return _told(visit, _renewed(visit, token, "facebook_user"))


def read_pages(visit: Visit) -> Members:
    """Answer GET /me/accounts: the Page, its token, and the Instagram account it is linked to."""
    token = enter(visit, "", "pages_show_list")
    return {"data": [_show_page(visit, token)]}


def read_page(visit: Visit) -> Members:
    """Answer GET /{page}?fields=instagram_business_account."""
    token = enter(visit, "", "pages_read_engagement")
    if visit.state.accounts[token.account_id].page_id != visit.object_id:
        raise Refused(missing_object(visit.object_id, "get"))
    shown = _show_page(visit, token)
    wanted = visit.values.get("fields", "id,name").split(",")
    return {name: value for name, value in shown.items() if name in wanted or name == "id"}


def debug_token(visit: Visit) -> Members:
    """Tell all of input_token, dead or alive, to the app (id|secret) or to a token of the same app."""
    state = visit.state
    if not visit.token_text:
        raise Refused(NO_TOKEN)
    if visit.token_text != f"{state.app_id}|{state.app_secret}":
        check_token(visit)
    token = state.tokens.get(visit.need("input_token"))
    if token is None or token.on_instagram:
        unknown: Members = {"code": 190, "message": "Invalid OAuth access token."}
        return {"data": {"error": unknown, "is_valid": False, "scopes": []}}
    death = find_death(state, token)
    data: Members = {
        "app_id": state.app_id,
        "application": "lamplighter test",
        "type": "PAGE" if token.kind == "page" else "USER",
        "is_valid": death is None,
        "issued_at": _seconds(token.issued_at),
        "expires_at": _seconds(token.expires_at),
        "data_access_expires_at": _seconds(token.issued_at + 90 * DAY),
        "scopes": list(token.scopes),
        "user_id": f"1220{token.account_id[-12:]}",
    }
    if death is not None:
        data["error"] = {"code": 190, "subcode": death.subcode, "message": death.message}
    return {"data": data}


class _CodeRefused(Exception):
    """A sign-in code does not work."""


def _use_code(visit: Visit, *, grant: str = "") -> tuple[str, tuple[str, ...]]:
    state, values = visit.state, visit.values
    if grant and values.get("grant_type") != grant:
        raise _CodeRefused(f"Invalid grant_type: {values.get('grant_type', '')}")
    if (values.get("client_id"), values.get("client_secret")) != (state.app_id, state.app_secret):
        raise _CodeRefused("Invalid platform app")
    with state.lock:
        known = state.codes.pop(values.get("code", "").removesuffix("#_"), None)
    if known is None or known[3] <= state.now():
        raise _CodeRefused("Matching code was not found or was already used")
    if known[1] != values.get("redirect_uri"):
        raise _CodeRefused(
            "Error validating verification code. Please make sure your redirect_uri is identical to the one you used"
            " in the OAuth dialog request"
        )
    return known[0], known[2]


def _check_grant(visit: Visit, expected: str) -> None:
    if visit.need("grant_type") != expected:
        raise Refused(bad_parameter(f"Param grant_type must be one of {{{expected}}}", instagram=True))


def _given_token(visit: Visit) -> Token:
    """Return the token a call is about, from its parameter or its header."""
    if visit.state.knobs.refresh_needs_parameter and "access_token" not in visit.values:
        raise Refused(NO_TOKEN)
    return check_token(visit)


def _renewed(visit: Visit, token: Token, kind: str) -> Token:
    return issue_token(visit.state, token.account_id, kind, token.scopes, life=LONG)


def _told(visit: Visit, token: Token) -> Members:
    left = int((token.expires_at - visit.state.now()).total_seconds()) if token.expires_at else 0
    permissions: Members = {"permissions": ",".join(token.scopes)} if visit.call.route == "refresh" else {}
    return {"access_token": token.value, "token_type": "bearer", "expires_in": left, **permissions}


def _show_page(visit: Visit, token: Token) -> Members:
    """Return the Page of an account; its token never ends when it was asked for with a long one."""
    state = visit.state
    account = state.accounts[token.account_id]
    lasting = token.expires_at is None or token.expires_at - token.issued_at > DAY
    life = None if lasting or token.expires_at is None else token.expires_at - state.now()
    page = next((one for one in state.tokens.values() if one.kind == "page" and _serves(one, token)), None)
    page = page or issue_token(state, account.id, "page", token.scopes, life=life)
    linked: Json = {"id": account.id}
    return {
        "access_token": page.value,
        "name": account.username,
        "id": account.page_id,
        "instagram_business_account": linked,
        "tasks": ["CREATE_CONTENT", "MANAGE"],
    }


def _serves(page: Token, asked: Token) -> bool:
    lasting = asked.expires_at is None or asked.expires_at - asked.issued_at > DAY
    return page.account_id == asked.account_id and not page.revoked and (page.expires_at is None) == lasting


def _seconds(at: datetime | None) -> int:
    return int(at.timestamp()) if at else 0
