"""The simulated Instagram as a test sees it: started, scripted, moved in time, and asked what really happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Self

from tests.simulators.instagram.clock import MovableClock, RunningClock
from tests.simulators.instagram.control import PREFIX, Control
from tests.simulators.instagram.fault import Fault, FaultScript
from tests.simulators.instagram.fetch import Crawler
from tests.simulators.instagram.graph import Graph
from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.life import Life, decide_life
from tests.simulators.instagram.oracle import Oracle
from tests.simulators.instagram.picture import Picture
from tests.simulators.instagram.server import LoopbackServer
from tests.simulators.instagram.signing import LONG, SHORT, issue_token
from tests.simulators.instagram.state import (
    FACEBOOK_SCOPES,
    INSTAGRAM_SCOPES,
    Account,
    Call,
    Child,
    Post,
    State,
    Token,
)
from tests.simulators.instagram.wire import Answer, Request

APP_ID = "990602627938098"
APP_SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
_AGE = timedelta(days=10)


class InstagramSimulator:
    """Instagram, in this process and, while the `with` block lasts, on a loopback port.

    It begins with one account (`account`), a long-lived Instagram token of it that is ten days old (`token`) and a
    Page token without an end (`page_token`). Without a `clock` it runs with the computer's; a test gives it a
    `VirtualClock`. Pictures are fetched over real sockets from loopback; `origins` maps public media origins to
    loopback ones, see `fetch.Crawler`; `fetch` gives bytes by address without any socket, for a thousand runs in one
    process.

    `answer(Request(...))` is the same without a socket; whoever calls it must honour the Answer's hang, drop, cut and
    pause. `watch` is called as watch(call, moment) with "before" and "after" the work of a call, and "answered".
    """

    def __init__(
        self,
        *,
        clock: MovableClock | None = None,
        knobs: Knobs | None = None,
        faults: Sequence[Fault | str] = (),
        origins: Mapping[str, str] | None = None,
        fetch: Callable[[str], bytes] | None = None,
        port: int = 0,
    ) -> None:
        self.clock: MovableClock = clock or RunningClock()
        self.knobs = knobs or Knobs()
        self.state = State(clock=self.clock, knobs=self.knobs, app_id=APP_ID, app_secret=APP_SECRET)
        self.script = FaultScript()
        self.script.add(*faults)
        self.crawler = Crawler(knobs=self.knobs, origins=dict(origins or {}))
        self.oracle = Oracle(state=self.state)
        self._graph = Graph(self.state, fetch or self.crawler.fetch, self.script)
        self._control = Control(self.state, self.script)
        self._port = port
        self._server: LoopbackServer | None = None
        self.account = self.add_account("wrenfold")
        self.token = self.issue_token(age=_AGE)
        self.page_token = self.issue_token(kind="page", age=_AGE, life=None)

    def __enter__(self) -> Self:
        self._server = LoopbackServer(self.answer, port=self._port)
        self._server.__enter__()
        return self

    def __exit__(self, *reason: object) -> None:
        if self._server is not None:
            self._server.__exit__(*reason)
            self._server = None

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        if self._server is None:
            raise RuntimeError("the simulator listens only inside its with block")
        return self._server.port

    @property
    def url(self) -> str:
        """Return its address; the host must then be named by the Host header."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def instagram_url(self) -> str:
        """Return what plays https://graph.instagram.com."""
        return f"{self.url}/ig"

    @property
    def facebook_url(self) -> str:
        """Return what plays https://graph.facebook.com."""
        return f"{self.url}/fb"

    @property
    def api_url(self) -> str:
        """Return what plays https://api.instagram.com."""
        return f"{self.url}/api"

    @property
    def sign_in_url(self) -> str:
        """Return what plays https://www.instagram.com and https://www.facebook.com."""
        return f"{self.url}/www"

    @property
    def watch(self) -> Callable[[Call, str], None] | None:
        """Return who is told of each call's moments."""
        return self._graph.watch

    @watch.setter
    def watch(self, watch: Callable[[Call, str], None] | None) -> None:
        self._graph.watch = watch

    def answer(self, request: Request) -> Answer:
        """Answer one request without a socket."""
        control = request.path.startswith(PREFIX)
        return self._control.answer(request) if control else self._graph.answer(request)

    def add_account(self, username: str) -> Account:
        """Add a professional account with a Page."""
        state = self.state
        account = Account(
            id=state.mint("1784"), app_scoped_id=state.mint("2495"), username=username, page_id=state.mint("1061")
        )
        state.accounts[account.id] = account
        return account

    def issue_token(
        self,
        *,
        account: Account | None = None,
        kind: str = "instagram",
        scopes: tuple[str, ...] | None = None,
        age: timedelta = timedelta(),
        life: timedelta | None = LONG,
        value: str = "",
    ) -> str:
        """Issue a token: instagram, instagram_short, facebook_user or page; `life` counts from its issue."""
        usual = INSTAGRAM_SCOPES if kind.startswith("instagram") else FACEBOOK_SCOPES
        chosen = SHORT if kind == "instagram_short" and life == LONG else life
        account_id = (account or self.account).id
        token = issue_token(self.state, account_id, kind, usual if scopes is None else scopes, life=chosen, value=value)
        token.issued_at -= age
        token.expires_at = token.expires_at - age if token.expires_at else None
        return token.value

    def revoke_token(self, value: str, *, subcode: int = 460) -> None:
        """End a token before its time: 458 app removed, 459 checkpoint, 460 password, 464 unconfirmed, 467 other."""
        self.find_token(value).revoked = subcode

    def find_token(self, value: str) -> Token:
        """Return what is known of a token."""
        return self.state.tokens[value]

    def life_of(self, container_id: str) -> Life:
        """Return a container's true state, whatever the client is told."""
        with self.state.lock:
            container = self.state.containers[container_id]
            return decide_life(container, self.state.containers, self.clock.now(), self.knobs)

    def post_by_hand(
        self,
        caption: str,
        *,
        pictures: Sequence[Picture] = (),
        alt_texts: Sequence[str] = (),
        account: Account | None = None,
    ) -> Post:
        """Post as a person does in the app: it is on the profile and in the list, and no quota knows of it."""
        state = self.state
        with state.lock:
            children = tuple(
                Child(
                    id=state.mint("1791"),
                    picture=picture,
                    alt_text=alt_texts[at] if at < len(alt_texts) else "",
                    cropped=False,
                )
                for at, picture in enumerate(pictures)
            )
            post = Post(
                id=state.mint("1790"),
                account_id=(account or self.account).id,
                container_id="",
                media_type="CAROUSEL_ALBUM" if len(children) > 1 else "IMAGE",
                caption=caption,
                children=children,
                published_at=state.now(),
                shortcode="D" + state.mint_text("shortcode", 10),
            )
            state.posts[post.id] = post
        return post

    def delete_by_hand(self, post: Post) -> None:
        """Delete a post as a person does in the app."""
        with self.state.lock:
            post.deleted_at = self.clock.now()
