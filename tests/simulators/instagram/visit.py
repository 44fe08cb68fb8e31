"""One call on its way through the simulator: what was asked, of whom, and with which token."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.simulators.instagram.fault import Fault
from tests.simulators.instagram.refusal import (
    BAD_TOKEN,
    NO_TOKEN,
    THROTTLED,
    Refusal,
    Refused,
    bad_parameter,
    missing_object,
    unsupported_method,
)
from tests.simulators.instagram.state import Account, Call, State, Token
from tests.simulators.instagram.wire import Request

_DEAD = {
    458: "Error validating access token: The user has not authorized application {app}.",
    459: "Error validating access token: You cannot access the app till you log in to www.instagram.com and follow the"
    " instructions given.",
    460: "Error validating access token: The session has been invalidated because the user changed their password or"
    " Facebook has changed the session for security reasons.",
    464: "Error validating access token: Sessions for the user are not allowed because the user is not a confirmed"
    " user.",
    467: "Error validating access token: This may be because the user logged out or may be due to a system error.",
}
_SPELLED = "%A, %d-%b-%y %H:%M:%S %Z"
_PACIFIC = ZoneInfo("America/Los_Angeles")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One call, taken apart; `object_id` is the id in the path, `origin` what the client reaches us by."""

    state: State
    request: Request
    call: Call
    fetch: Callable[[str], bytes]
    """How a picture is fetched; raises Refused."""
    host: str
    origin: str
    version: str
    object_id: str
    values: Mapping[str, str]
    token_text: str
    fault: Fault | None = None

    @property
    def on_instagram(self) -> bool:
        """Tell whether it came to graph.instagram.com."""
        return self.host == "instagram"

    def note(self, text: str) -> None:
        """Note a fault of the client, or what a test may want to know."""
        if text not in self.call.notes:
            self.call.notes.append(text)

    def need(self, name: str) -> str:
        """Return a parameter; raise Refused (#100) when it is missing or empty."""
        value = self.values.get(name, "")
        if not value:
            raise Refused(bad_parameter(f"The parameter {name} is required.", instagram=self.on_instagram))
        return value


def enter(visit: Visit, instagram_scope: str, facebook_scope: str) -> Token:
    """Return the token of a call on an account, after all that Graph checks before it looks at the call itself."""
    token = check_token(visit)
    _check_proof(visit)
    scope = instagram_scope if token.on_instagram else facebook_scope
    if scope not in token.scopes:
        text = f"(#200) The permission {scope} has not been granted, or this token may not do this."
        raise Refused(Refusal(code=200, message=text, status=visit.state.knobs.scope_status))
    _check_rate(visit)
    return token


def check_token(visit: Visit) -> Token:
    """Return the live token of a call; raise Refused with 104, 190 or what Instagram's host says of dead ones."""
    if not visit.token_text:
        raise Refused(NO_TOKEN)
    token = visit.state.tokens.get(visit.token_text)
    if token is None or token.kind == "app" or token.on_instagram != visit.on_instagram:
        raise Refused(BAD_TOKEN)
    check_alive(visit, token)
    return token


def check_alive(visit: Visit, token: Token) -> None:
    """Raise Refused when a token is expired or was revoked."""
    problem = find_death(visit.state, token)
    if problem is None:
        return
    form = visit.state.knobs.dead_token_form if visit.on_instagram else "190"
    if form == "100":
        raise Refused(unsupported_method(visit.request.method, instagram=True))
    subcode = 0 if form == "190-0" else problem.subcode
    raise Refused(Refusal(code=190, subcode=subcode, message=problem.message))


def find_death(state: State, token: Token) -> Refusal | None:
    """Return why a token is dead, or None; `debug_token` tells the same."""
    if token.revoked:
        text = _DEAD.get(token.revoked, _DEAD[467]).format(app=state.app_id)
        return Refusal(code=190, subcode=token.revoked, message=text)
    now = state.now()
    if token.expires_at is None or now < token.expires_at:
        return None
    text = (
        f"Error validating access token: Session has expired on {_spell(token.expires_at)}."
        f" The current time is {_spell(now)}."
    )
    return Refusal(code=190, subcode=463, message=text)


def find_account(visit: Visit, token: Token) -> Account:
    """Return the account of the path; raise Refused 100/33 when the token is not for it."""
    account = visit.state.accounts[token.account_id]
    own = {account.id, "me", account.app_scoped_id} if token.on_instagram else {account.id}
    if visit.object_id not in own:
        raise Refused(missing_object(visit.object_id, visit.request.method))
    return account


def _spell(at: datetime) -> str:
    return at.astimezone(_PACIFIC).strftime(_SPELLED)


def _check_proof(visit: Visit) -> None:
    """Check appsecret_proof when it was sent, and demand it on Facebook's host when the knob says so."""
    proof = visit.values.get("appsecret_proof")
    if proof is None:
        if visit.state.knobs.proof_needed and not visit.on_instagram:
            raise Refused(bad_parameter("API calls from the server require an appsecret_proof argument"))
        return
    secret, token = visit.state.app_secret.encode(), visit.token_text.encode("utf-8", "replace")
    if not hmac.compare_digest(
        proof.encode("utf-8", "replace"), hmac.new(secret, token, "sha256").hexdigest().encode()
    ):
        raise Refused(bad_parameter("Invalid appsecret_proof provided in the API argument"))


def _check_rate(visit: Visit) -> None:
    state, account_id = visit.state, visit.call.account_id
    if state.knobs.calls_an_hour and calls_in_an_hour(state, account_id) > state.knobs.calls_an_hour:
        raise Refused(THROTTLED)


def calls_in_an_hour(state: State, account_id: str) -> int:
    """Return how many calls of an account arrived in the last hour, this one included."""
    since, count = state.now() - timedelta(hours=1), 0
    for call in reversed(state.calls):
        if call.at <= since:
            break
        count += call.account_id == account_id
    return count
