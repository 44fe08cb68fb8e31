"""Routes C and D: the one call that cannot be taken back, and the quota it is counted against."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.simulators.instagram.life import ERROR, EXPIRED, FINISHED, IN_PROGRESS, PUBLISHED, decide_life
from tests.simulators.instagram.refusal import (
    ACTION_BLOCKED,
    BUILDER_NOT_FOUND,
    CREATE_FAILED,
    MEDIA_NOT_FOUND,
    NOT_READY,
    QUOTA_REACHED,
    RESTRICTED,
    Refusal,
    Refused,
    bad_parameter,
)
from tests.simulators.instagram.state import DAY, Account, Child, Container, Post, State
from tests.simulators.instagram.visit import Visit, enter, find_account
from tests.simulators.instagram.wire import Members


def publish_container(visit: Visit) -> Members:
    """Post a container and answer the media's id, which is not the container's.

    What is checked first is not documented: here the account, then the container, then the quota. A failed
    container is answered with -1/2207032, an expired one with 24/2207008. A carousel that shares children with one
    already posted is posted too, so that a client that builds a second one is found out.
    """
    state = visit.state
    with state.lock:
        token = enter(visit, "instagram_business_content_publish", "instagram_content_publish")
        account = find_account(visit, token)
        creation_id = visit.need("creation_id")
        if account.restricted:
            raise Refused(RESTRICTED)
        if account.blocked:
            raise Refused(ACTION_BLOCKED)
        container = state.containers.get(creation_id)
        if container is None or container.account_id != account.id:
            raise Refused(BUILDER_NOT_FOUND.fill(id=creation_id))
        _check_container(visit, container)
        if used_quota(state, account, state.now() - DAY) >= state.knobs.quota_total:
            raise Refused(QUOTA_REACHED)
        return {"id": post_container(state, container).id}


def post_container(state: State, container: Container, *, at: datetime | None = None) -> Post:
    """Put a container on the profile; its children are used up with it."""
    now = at or state.now()
    post = Post(
        id=state.mint("1790"),
        account_id=container.account_id,
        container_id=container.id,
        media_type={"CAROUSEL": "CAROUSEL_ALBUM", "STORIES": "STORY"}.get(container.kind, "IMAGE"),
        caption=container.caption,
        children=_show_children(state, container),
        published_at=now,
        shortcode="D" + state.mint_text("shortcode", 10),
        is_ai_generated=container.is_ai_generated,
        options=container.options,
    )
    state.posts[post.id] = post
    container.media_ids = (*container.media_ids, post.id)
    for one in (container, *(state.containers[child] for child in container.children)):
        one.published_at = one.published_at or now
    return post


def plan_late(visit: Visit, seconds: float) -> None:
    """Remember a publish whose client is told nothing, and which happens later all the same."""
    with visit.state.lock:
        at = visit.state.now() + timedelta(seconds=seconds)
        visit.state.late.append((at, visit.values.get("creation_id", "")))


def settle_late(state: State) -> None:
    """Let the late publishes whose time has come happen; a second one of a container obeys republish_mode."""
    with state.lock:
        due = [entry for entry in state.late if entry[0] <= state.now()]
        for entry in due:
            state.late.remove(entry)
            container = state.containers.get(entry[1])
            if container is None or container.is_item:
                continue
            code = decide_life(container, state.containers, entry[0], state.knobs).code
            again = code == PUBLISHED and state.knobs.republish_mode == "duplicate"
            if code == FINISHED or again:
                post_container(state, container, at=entry[0])


def used_quota(state: State, account: Account, since: datetime, *, until: datetime | None = None) -> int:
    """Return the publishes of this app that count; a carousel is one."""
    return state.published_since(account.id, since, until or state.now())


def read_limit(visit: Visit) -> Members:
    """Return quota_usage, and config when it is asked for."""
    state, fields = visit.state, visit.values.get("fields", "quota_usage").split(",")
    with state.lock:
        token = enter(visit, "instagram_business_content_publish", "instagram_content_publish")
        account = find_account(visit, token)
        unknown = [name for name in fields if name not in {"config", "quota_usage"}]
        if unknown:
            text = f"Tried accessing nonexisting field ({unknown[0]})"
            raise Refused(bad_parameter(text, instagram=visit.on_instagram))
        until = state.now() - timedelta(seconds=state.knobs.quota_lag_s)
        shown: Members = {"quota_usage": used_quota(state, account, _read_since(visit), until=until)}
    if "config" in fields:
        shown["config"] = {"quota_total": state.knobs.quota_total, "quota_duration": 86_400}
    return {"data": [{name: value for name, value in shown.items() if name in fields}]}


def _check_container(visit: Visit, container: Container) -> None:
    state = visit.state
    if container.is_item:
        raise Refused(bad_parameter("A carousel item cannot be published alone", instagram=visit.on_instagram))
    life = decide_life(container, state.containers, state.now(), state.knobs)
    refusals: dict[str, Refusal] = {
        IN_PROGRESS: NOT_READY,
        ERROR: CREATE_FAILED,
        EXPIRED: BUILDER_NOT_FOUND.fill(id=container.id),
    }
    if life.code in refusals:
        raise Refused(refusals[life.code])
    if life.code == PUBLISHED and state.knobs.republish_mode != "duplicate":
        raise Refused(_REPUBLISHED[state.knobs.republish_mode](container.id))


def _show_children(state: State, container: Container) -> tuple[Child, ...]:
    """Return the slides as people see them: all cut to the first one's ratio."""
    sources = [state.containers[child] for child in container.children] or [container]
    shown = [(one, one.picture) for one in sources if one.picture is not None]
    first = shown[0][1].ratio
    return tuple(
        Child(
            id=state.mint("1791"),
            picture=picture,
            alt_text=one.alt_text,
            cropped=abs(picture.ratio - first) > 0.005,
        )
        for one, picture in shown
    )


def _read_since(visit: Visit) -> datetime:
    text, now = visit.values.get("since", ""), visit.state.now()
    if not text:
        return now - DAY
    seconds = int(text) if text.isdecimal() else 0
    if not now.timestamp() - 86_401 <= seconds <= now.timestamp() + 86_400:
        text = "Param since must be a Unix timestamp no older than 24 hours"
        raise Refused(bad_parameter(text, instagram=visit.on_instagram))
    return datetime.fromtimestamp(seconds, tz=UTC)


_REPUBLISHED: dict[str, Callable[[str], Refusal]] = {
    "9007": lambda _: NOT_READY,
    "24": lambda container_id: MEDIA_NOT_FOUND.fill(id=container_id),
    "100": lambda _: bad_parameter("This media container has already been published"),
}
