"""Routes B and E to G: what a client may see, which may lag behind what is."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from tests.simulators.instagram.life import decide_life, told_life
from tests.simulators.instagram.refusal import READ_OUTAGE, Refused, bad_parameter, missing_object
from tests.simulators.instagram.selection import Selection, parse_fields, select
from tests.simulators.instagram.state import Child, Post
from tests.simulators.instagram.visit import Visit, enter, find_account
from tests.simulators.instagram.wire import Json, Members

_CONTAINER_FIELDS = frozenset({"id", "status", "status_code", "copyright_check_status"})
_MEDIA_FIELDS = frozenset({
    "id", "ig_id", "caption", "timestamp", "permalink", "shortcode", "media_type", "media_product_type", "media_url",
    "alt_text", "children", "owner", "username", "comments_count", "like_count", "is_comment_enabled",
    "thumbnail_url", "comments",
})  # fmt: skip
_ACCOUNT_FIELDS = frozenset({"id", "user_id", "username", "name", "account_type", "media_count", "followers_count"})
_BASIC = ("instagram_business_basic", "instagram_basic")
_MOST = 100
_DEEPEST = 10_000


def read_container(visit: Visit) -> Members:
    """Return status_code and status as they are told; the first may lag or be missing."""
    state = visit.state
    with state.lock:
        token = enter(visit, *_BASIC)
        _check_outage(visit, "objects", "all")
        container = state.containers.get(visit.object_id)
        if container is None or container.account_id != token.account_id:
            raise Refused(missing_object(visit.object_id, "get"))
        life = decide_life(container, state.containers, state.now(), state.knobs)
        told: Members = {"id": container.id, **told_life(container, life, state.now(), state.knobs)}
    return select(told, _wanted(visit), _CONTAINER_FIELDS, instagram=visit.on_instagram)


def read_media(visit: Visit) -> Members:
    """Return one post, or one slide of a post; 100/33 while `object_lag_s` lasts, and for what was deleted."""
    state = visit.state
    with state.lock:
        token = enter(visit, *_BASIC)
        _check_outage(visit, "objects", "all")
        lag = timedelta(seconds=state.knobs.object_lag_s)
        for post in state.posts_of(token.account_id):
            if post.deleted_at is not None or (lag and state.now() - post.published_at < lag):
                continue
            if post.id == visit.object_id:
                return _show_post(visit, post, _wanted(visit))
            for child in post.children:
                if child.id == visit.object_id and len(post.children) > 1:
                    return _show_child(visit, post, child, _wanted(visit))
    raise Refused(missing_object(visit.object_id, "get"))


def read_list(visit: Visit) -> Members:
    """Return the newest posts first, without stories, as many as `limit` (25, at most 100), with cursors."""
    state = visit.state
    with state.lock:
        token = enter(visit, *_BASIC)
        account = find_account(visit, token)
        _check_outage(visit, "all")
        lag = timedelta(seconds=state.knobs.list_lag_s)
        posts = [post for post in state.posts_of(account.id) if _is_listed(post, state.now(), lag)]
        posts = _between(visit, posts[:_DEEPEST])
        page, more = _page(visit, posts)
        wanted = _wanted(visit)
        data: list[Json] = [_show_post(visit, post, wanted) for post in page]
    return {"data": data, **_paging(visit, page, more=more)} if page else {"data": data}


def read_me(visit: Visit) -> Members:
    """Return who the token is for: on Instagram's host the professional account, on Facebook's a person.

    `id` on Instagram's host is the app-scoped id, which is not the `user_id` that posts are made with.
    """
    state = visit.state
    with state.lock:
        token = enter(visit, *_BASIC)
        account = state.accounts[token.account_id]
        if not visit.on_instagram:
            page = token.kind == "page"
            return {"id": account.page_id if page else f"1220{account.id[-12:]}", "name": account.username}
        shown: Members = {"id": account.app_scoped_id, "user_id": account.id, **_account_members(visit, account.id)}
    told = select(shown, _wanted(visit), _ACCOUNT_FIELDS, instagram=True)
    return {"data": [told]} if state.knobs.data_wrapped else told


def read_account(visit: Visit) -> Members:
    """Return an account by its id; `user_id` is a field of /me only."""
    state = visit.state
    with state.lock:
        account = find_account(visit, enter(visit, *_BASIC))
        _check_outage(visit, "all")
        shown: Members = {"id": account.id, **_account_members(visit, account.id)}
    return select(shown, _wanted(visit), _ACCOUNT_FIELDS, instagram=visit.on_instagram)


def _account_members(visit: Visit, account_id: str) -> Members:
    posts = [post for post in visit.state.posts_of(account_id) if post.deleted_at is None]
    username = visit.state.accounts[account_id].username
    more: Members = {"account_type": "BUSINESS"} if visit.on_instagram else {}
    return {"username": username, "name": username, "media_count": len(posts), "followers_count": 100, **more}


def _check_outage(visit: Visit, *kinds: str) -> None:
    if visit.state.knobs.read_outage in kinds:
        raise Refused(READ_OUTAGE.fill(id=visit.object_id))


def _wanted(visit: Visit) -> Selection:
    return parse_fields(visit.values.get("fields", "id"))


def _is_listed(post: Post, now: datetime, lag: timedelta) -> bool:
    late = bool(lag) and now - post.published_at < lag
    return post.media_type != "STORY" and post.deleted_at is None and not late


def _show_post(visit: Visit, post: Post, wanted: Selection) -> Members:
    shown: Members = _show_common(visit, post)
    shown |= {
        "id": post.id,
        "media_type": post.media_type,
        "media_url": post.children[0].picture.url if post.children else "",
        "comments_count": len(post.comments),
        "like_count": 0,
    }
    if post.caption:
        shown["caption"] = post.caption
    if post.media_type == "CAROUSEL_ALBUM":
        inner = wanted.get("children") or {"id": {}}
        shown["children"] = {"data": [_show_child(visit, post, child, inner) for child in post.children]}
    elif post.children and post.children[0].alt_text:
        shown["alt_text"] = post.children[0].alt_text
    return select(shown, wanted, _MEDIA_FIELDS, instagram=visit.on_instagram)


def _show_child(visit: Visit, post: Post, child: Child, wanted: Selection) -> Members:
    shown: Members = _show_common(visit, post)
    shown |= {"id": child.id, "media_type": "IMAGE", "media_url": child.picture.url}
    if child.alt_text:
        shown["alt_text"] = child.alt_text
    return select(shown, wanted, _MEDIA_FIELDS, instagram=visit.on_instagram)


def _show_common(visit: Visit, post: Post) -> Members:
    return {
        "timestamp": post.published_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S+0000"),
        "permalink": post.permalink,
        "shortcode": post.shortcode,
        "media_product_type": "FEED",
        "username": visit.state.accounts[post.account_id].username,
        "owner": {"id": post.account_id},
        "is_comment_enabled": True,
    }


def _between(visit: Visit, posts: Sequence[Post]) -> list[Post]:
    since, until = _instant(visit, "since"), _instant(visit, "until")
    return [
        post
        for post in posts
        if (since is None or int(post.published_at.timestamp()) >= since)
        and (until is None or int(post.published_at.timestamp()) <= until)
    ]


def _instant(visit: Visit, name: str) -> int | None:
    """Return a time in whole Unix seconds; ISO dates are taken too, as Graph's strtotime does."""
    text = visit.values.get(name, "")
    if not text:
        return None
    if text.isdecimal():
        return int(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        message = f"Param {name} must be a valid date or Unix timestamp"
        raise Refused(bad_parameter(message, instagram=visit.on_instagram)) from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def _page(visit: Visit, posts: Sequence[Post]) -> tuple[list[Post], bool]:
    text = visit.values.get("limit", "25")
    if not text.isdecimal() or int(text) < 1:
        raise Refused(bad_parameter("Param limit must be a positive number", instagram=visit.on_instagram))
    limit = min(int(text), _MOST)
    ids = [post.id for post in posts]
    after, before = _cursor_id(visit, "after"), _cursor_id(visit, "before")
    start = ids.index(after) + 1 if after in ids else 0
    if before in ids:
        start = max(0, ids.index(before) - limit)
        limit = min(limit, ids.index(before))
    return list(posts[start : start + limit]), start + limit < len(posts)


def _cursor(post: Post) -> str:
    return base64.urlsafe_b64encode(post.id.encode()).decode()


def _cursor_id(visit: Visit, name: str) -> str:
    try:
        return base64.urlsafe_b64decode(visit.values.get(name, "").encode()).decode()
    except ValueError:
        raise Refused(bad_parameter(f"Invalid cursor {name}", instagram=visit.on_instagram)) from None


def _paging(visit: Visit, page: Sequence[Post], *, more: bool) -> Members:
    """Return cursors, and `next`, an address that carries the access token in its query, as Graph's does."""
    paging: Members = {"cursors": {"before": _cursor(page[0]), "after": _cursor(page[-1])}}
    if more:
        kept = {name: value for name, value in visit.values.items() if name not in {"after", "before", "access_token"}}
        query = urlencode({"access_token": visit.token_text, **kept, "after": _cursor(page[-1])})
        paging["next"] = f"{visit.origin}{visit.call.path}?{query}"
    return {"paging": paging}
