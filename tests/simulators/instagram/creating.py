"""Route A: containers are made, and the picture is fetched while the client waits."""

from __future__ import annotations

from tests.simulators.instagram.caption import accept_caption, check_options, read_list
from tests.simulators.instagram.life import ERROR, EXPIRED, IN_PROGRESS, PUBLISHED, decide_life
from tests.simulators.instagram.picture import Picture, examine_picture
from tests.simulators.instagram.refusal import (
    BAD_CAROUSEL,
    CONTAINERS_REACHED,
    MEDIA_EXPIRED,
    MEDIA_NOT_FOUND,
    NOT_READY,
    RESTRICTED,
    UNKNOWN_TYPE,
    VIDEO_FORMAT,
    Refused,
    bad_parameter,
)
from tests.simulators.instagram.state import Account, Container
from tests.simulators.instagram.visit import Visit, enter, find_account
from tests.simulators.instagram.wire import Members

_PLAIN = {"image_url", "media_type", "is_carousel_item", "children", "caption", "alt_text", "is_ai_generated",
          "access_token", "appsecret_proof"}  # fmt: skip


def create_container(visit: Visit) -> Members:
    """Make one container; a refused call makes none and counts against nothing."""
    state = visit.state
    with state.lock:
        token = enter(visit, "instagram_business_content_publish", "instagram_content_publish")
        account = find_account(visit, token)
        _check_account(visit, account)
        draft = _draft(visit, account)
    if draft.kind != "CAROUSEL":
        draft.picture = _take_picture(visit)
    with state.lock:
        draft.id = state.mint("1789")
        draft.created_at = state.now()
        _plant(visit, draft)
        state.containers[draft.id] = draft
    return {"id": draft.id}


def read_flag(text: str) -> bool:
    """Return a parameter that is true or false."""
    return text.strip().lower() in {"true", "1"}


def _check_account(visit: Visit, account: Account) -> None:
    if account.restricted:
        raise Refused(RESTRICTED)
    if visit.state.made_in_a_day(account.id) >= visit.state.knobs.containers_a_day:
        raise Refused(CONTAINERS_REACHED)


def _draft(visit: Visit, account: Account) -> Container:
    values, is_item = visit.values, read_flag(visit.values.get("is_carousel_item", ""))
    kind = _find_kind(visit)
    check_options(values, is_item=is_item, facebook=not visit.on_instagram)
    children = _take_children(visit, account) if kind == "CAROUSEL" else ()
    if kind == "CAROUSEL" and is_item:
        raise Refused(bad_parameter("A carousel cannot be an item of a carousel", instagram=visit.on_instagram))
    _note_ignored(visit, kind=kind, is_item=is_item)
    caption = "" if is_item else accept_caption(values.get("caption", ""), visit.state.knobs)
    return Container(
        id="",
        account_id=account.id,
        kind=kind,
        created_at=visit.state.now(),
        is_item=is_item,
        children=children,
        caption=caption,
        alt_text="" if kind == "CAROUSEL" else values.get("alt_text", ""),
        is_ai_generated=not is_item and read_flag(values.get("is_ai_generated", "")),
        options={name: value for name, value in values.items() if name not in _PLAIN},
    )


def _find_kind(visit: Visit) -> str:
    """Return what is to be made. IMAGE may be spelled out; videos are refused, since this simulator has none."""
    kind = visit.values.get("media_type", "").upper()
    if kind in {"VIDEO", "REELS"} or "video_url" in visit.values:
        raise Refused(VIDEO_FORMAT)
    if visit.values.get("upload_type"):
        raise Refused(bad_parameter("upload_type is for videos only", instagram=visit.on_instagram))
    if kind not in {"", "IMAGE", "CAROUSEL", "STORIES"}:
        raise Refused(UNKNOWN_TYPE.fill(kind=kind))
    return kind or "IMAGE"


def _note_ignored(visit: Visit, *, kind: str, is_item: bool) -> None:
    """Note what Instagram takes without a word and never shows."""
    ignored = ("caption", "location_id", "is_ai_generated") if is_item else ()
    if kind == "CAROUSEL":
        ignored = ("alt_text", "image_url", "user_tags")
    for name in ignored:
        if visit.values.get(name):
            visit.note(f"{name}_ignored")


def _take_children(visit: Visit, account: Account) -> tuple[str, ...]:
    """Return the ids of a carousel's children; a child twice is refused like an unknown one."""
    ids = tuple(str(one) for one in read_list(visit.values.get("children", "")))
    if not 2 <= len(ids) <= 10:
        raise Refused(BAD_CAROUSEL)
    seen: set[str] = set()
    for child_id in ids:
        _check_child(visit, account, child_id)
        if child_id in seen:
            raise Refused(bad_parameter(f"The child {child_id} is there twice", instagram=visit.on_instagram))
        seen.add(child_id)
    return ids


def _check_child(visit: Visit, account: Account, child_id: str) -> None:
    state = visit.state
    child = state.containers.get(child_id)
    if child is None or child.account_id != account.id:
        raise Refused(MEDIA_NOT_FOUND.fill(id=child_id))
    if not child.is_item:
        raise Refused(bad_parameter(f"The media {child_id} is no carousel item", instagram=visit.on_instagram))
    code = decide_life(child, state.containers, state.now(), state.knobs).code
    if code == PUBLISHED:  # it went out with another carousel
        raise Refused(MEDIA_NOT_FOUND.fill(id=child_id))
    if code == EXPIRED:
        raise Refused(MEDIA_EXPIRED)
    if code in {IN_PROGRESS, ERROR} and state.knobs.reject_unready_children:
        raise Refused(NOT_READY)


def _take_picture(visit: Visit) -> Picture:
    knobs, url = visit.state.knobs, visit.need("image_url")
    content = visit.fetch(url)
    return examine_picture(url, content, tolerance=knobs.ratio_tolerance, png=knobs.png_accepted)


def _plant(visit: Visit, container: Container) -> None:
    """Let the container fail later, when the script says so."""
    fault = visit.fault
    if fault is None:
        return
    container.stuck = fault.action == "then_stuck"
    container.failure = int(fault.value) if fault.action == "then_error" else 0
    container.expired = fault.action == "then_expired"
