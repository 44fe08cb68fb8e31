"""What the simulated Instagram holds: accounts, tokens, containers, what is on the profiles, and every call."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.simulators.instagram.clock import MovableClock
from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.picture import Picture

INSTAGRAM_SCOPES = (
    "instagram_business_basic", "instagram_business_content_publish", "instagram_business_manage_comments",
)  # fmt: skip
FACEBOOK_SCOPES = (
    "instagram_basic", "instagram_content_publish", "instagram_manage_comments", "instagram_manage_contents",
    "pages_read_engagement", "pages_show_list",
)  # fmt: skip
DAY = timedelta(days=1)


@dataclass(slots=True, kw_only=True)
class Account:
    """One professional account; `restricted` and `blocked` may be set at any time."""

    id: str
    app_scoped_id: str
    username: str
    page_id: str
    restricted: bool = False
    """Every write answers 25/2207050."""
    blocked: bool = False
    """Every publish answers 403 4/2207051 and posts nothing."""


@dataclass(slots=True, kw_only=True)
class Token:
    """One access token. Kinds: instagram_short, instagram, facebook_user, page, app."""

    value: str
    kind: str
    account_id: str
    scopes: tuple[str, ...]
    issued_at: datetime
    expires_at: datetime | None
    revoked: int = 0
    """The subcode of why it is dead before its time: 458, 459, 460, 464 or 467."""

    @property
    def on_instagram(self) -> bool:
        """Tell whether it belongs to Instagram Login."""
        return self.kind.startswith("instagram")


@dataclass(slots=True, kw_only=True)
class Container:
    """One media container; what it says of itself is decided in `life`."""

    id: str
    account_id: str
    kind: str
    """IMAGE, CAROUSEL or STORIES."""
    created_at: datetime
    is_item: bool = False
    children: tuple[str, ...] = ()
    caption: str = ""
    alt_text: str = ""
    picture: Picture | None = None
    is_ai_generated: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    """What else was asked for: location_id, user_tags, collaborators …"""
    failure: int = 0
    """The subcode it fails with when its processing ends."""
    stuck: bool = False
    """It never ends its processing."""
    expired: bool = False
    """It is expired before its time."""
    published_at: datetime | None = None
    media_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One slide of a post as it is on the profile."""

    id: str
    picture: Picture
    alt_text: str
    cropped: bool
    """Its ratio was not the first slide's, so Instagram cut it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment under a post."""

    id: str
    text: str
    at: datetime


@dataclass(slots=True, kw_only=True)
class Post:
    """One post that is really on a profile, whatever the client was told."""

    id: str
    account_id: str
    container_id: str
    """Empty when a person posted it in the app."""
    media_type: str
    """IMAGE, CAROUSEL_ALBUM or STORY."""
    caption: str
    children: tuple[Child, ...]
    """All slides; a single image is one."""
    published_at: datetime
    shortcode: str
    is_ai_generated: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    deleted_at: datetime | None = None

    @property
    def permalink(self) -> str:
        """Return the address people see."""
        return f"https://www.instagram.com/p/{self.shortcode}/"

    @property
    def pictures(self) -> tuple[str, ...]:
        """Return the SHA-256 of each slide, in order."""
        return tuple(child.picture.sha256 for child in self.children)


@dataclass(slots=True, kw_only=True)
class Call:
    """One call that arrived, as counted; it holds no token and no secret."""

    number: int
    at: datetime
    host: str
    """instagram, facebook, code (api.instagram.com), sign_in, or unknown."""
    method: str
    path: str
    """Without host prefix and query."""
    routes: tuple[str, ...]
    """The route and the groups it belongs to, the narrowest first."""
    parameters: Mapping[str, str]
    account_id: str = ""
    """Whose token it was, once that is known."""
    auth_in: str = ""
    """header, query, body, or nothing."""
    notes: list[str] = field(default_factory=list)
    fault: str = ""
    """The line of the script that hit it."""
    applied: bool = False
    """The work was done and accepted, whatever the client was told."""
    status: int = 0
    """What was sent; 0 when the connection was reset."""

    @property
    def route(self) -> str:
        """Return the narrowest name."""
        return self.routes[0]


@dataclass(slots=True, kw_only=True)
class State:
    """All there is; change it only under `lock`."""

    clock: MovableClock
    knobs: Knobs
    app_id: str
    app_secret: str
    accounts: dict[str, Account] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    codes: dict[str, tuple[str, str, tuple[str, ...], datetime]] = field(default_factory=dict)
    """Sign-in codes: (account id, redirect address, scopes, valid until)."""
    containers: dict[str, Container] = field(default_factory=dict)
    posts: dict[str, Post] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    late: list[tuple[datetime, str]] = field(default_factory=list)
    """Publishes that were not answered and happen at an instant: (when, container id)."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    minted: int = 0

    def now(self) -> datetime:
        """Return the simulator's instant."""
        return self.clock.now()

    def mint(self, prefix: str) -> str:
        """Return a new id of 17 digits; ids of containers and media share nothing but their form."""
        with self.lock:
            self.minted += 1
            noise = int.from_bytes(hashlib.sha256(f"{prefix}{self.minted}".encode()).digest()[:4]) % 1_000_000
            return f"{prefix}{noise:06d}{self.minted:07d}"

    def mint_text(self, purpose: str, length: int) -> str:
        """Return new letters and digits, as in shortcodes, trace ids and tokens; the same in every run."""
        with self.lock:
            self.minted += 1
            raw = b"".join(hashlib.sha256(f"{purpose}{self.minted}.{turn}".encode()).digest() for turn in range(4))
        return base64.b64encode(raw).decode().replace("+", "x").replace("/", "y")[:length]

    def posts_of(self, account_id: str) -> list[Post]:
        """Return what is on a profile, newest first; stories and deleted posts too."""
        with self.lock:
            found = [post for post in self.posts.values() if post.account_id == account_id]
        found.reverse()
        found.sort(key=lambda post: post.published_at, reverse=True)
        return found

    def made_in_a_day(self, account_id: str) -> int:
        """Return how many containers an account made in the last 24 hours."""
        since, made = self.now() - DAY, 0
        for one in reversed(self.containers.values()):
            if one.created_at <= since:
                break
            made += one.account_id == account_id
        return made

    def published_since(self, account_id: str, since: datetime, until: datetime) -> int:
        """Return how many posts through this app fall after `since` and not after `until`; deleted posts count."""
        return sum(
            bool(post.container_id) and post.account_id == account_id and since < post.published_at <= until
            for post in self.posts.values()
        )
