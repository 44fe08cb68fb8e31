"""What really is on the profiles, and whether anything is there twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.simulators.instagram.caption import fold_caption
from tests.simulators.instagram.publishing import settle_late
from tests.simulators.instagram.state import Call, Post, State
from tests.simulators.instagram.wire import Json, Members


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """Knows the truth that no lag, no outage and no fault of the script touches."""

    state: State

    def posts(self, *, account_id: str = "", caption: str | None = None, deleted: bool = False) -> list[Post]:
        """Return the posts on the profile(s), newest first; captions are compared folded (NFC, LF, trimmed)."""
        settle_late(self.state)
        with self.state.lock:
            ids = [account_id] if account_id else list(self.state.accounts)
            found = [post for one in ids for post in self.state.posts_of(one)]
        return [
            post
            for post in found
            if (deleted or post.deleted_at is None)
            and (caption is None or fold_caption(post.caption) == fold_caption(caption))
        ]

    def count(self, caption: str) -> int:
        """Return how often a caption was posted, also when one of them was deleted since."""
        return len(self.posts(caption=caption, deleted=True))

    def duplicates(self) -> list[list[Post]]:
        """Return the groups of posts of one account that show the same caption and the same pictures.

        Deleted posts and those a person made by hand count: followers saw both.
        """
        groups: dict[tuple[object, ...], list[Post]] = {}
        for post in reversed(self.posts(deleted=True)):
            key = (post.account_id, fold_caption(post.caption), post.pictures)
            groups.setdefault(key, []).append(post)
        return [group for group in groups.values() if len(group) > 1]

    def calls(self, route: str = "any", *, since: datetime | None = None) -> list[Call]:
        """Return the calls of a route or a group in their order, those refused by the User-Agent rule too."""
        with self.state.lock:
            calls = list(self.state.calls)
        return [call for call in calls if route in call.routes and (since is None or call.at >= since)]

    def client_faults(self) -> list[tuple[int, str, str]]:
        """Return what a client did that it must not: (call number, route, token_in_query, library_agent …).

        What Meta documents no other way for (documented_token_in_query) stays a note of the call.
        """
        kept = ("token_in_query", "secret_in_query", "library_agent", "expired_version")
        return [
            (call.number, call.route, note)
            for call in self.calls()
            for note in call.notes
            if note in kept or note.endswith("_ignored")
        ]


def describe_post(post: Post) -> Members:
    """Return a post as JSON for people."""
    return {
        "id": post.id,
        "account": post.account_id,
        "container": post.container_id,
        "media_type": post.media_type,
        "caption": post.caption,
        "permalink": post.permalink,
        "published_at": post.published_at.isoformat(),
        "deleted_at": post.deleted_at.isoformat() if post.deleted_at else None,
        "is_ai_generated": post.is_ai_generated,
        "comments": [comment.text for comment in post.comments],
        "children": [
            {
                "id": child.id,
                "sha256": child.picture.sha256,
                "width": child.picture.width,
                "height": child.picture.height,
                "alt_text": child.alt_text,
                "cropped": child.cropped,
            }
            for child in post.children
        ],
    }


def describe_calls(calls: Sequence[Call]) -> list[Json]:
    """Return calls as JSON for people."""
    return [
        {
            "number": call.number,
            "at": call.at.isoformat(),
            "host": call.host,
            "call": f"{call.method} {call.path}",
            "route": call.route,
            "parameters": dict(call.parameters),
            "auth_in": call.auth_in,
            "notes": list(call.notes),
            "fault": call.fault,
            "applied": call.applied,
            "status": call.status,
        }
        for call in calls
    ]
