"""Routes H and I: the first comment, and taking a post away."""

from __future__ import annotations

from tests.simulators.instagram.refusal import Refused, bad_parameter, missing_object, unsupported_method
from tests.simulators.instagram.state import Comment, Post, Token
from tests.simulators.instagram.visit import Visit, enter
from tests.simulators.instagram.wire import Members

_COMMENTS = ("instagram_business_manage_comments", "instagram_manage_comments")


def add_comment(visit: Visit) -> Members:
    """Put a comment under a post; said twice, it stands there twice."""
    state = visit.state
    with state.lock:
        post = _find_post(visit, enter(visit, *_COMMENTS))
        comment = Comment(id=state.mint("1801"), text=visit.need("message"), at=state.now())
        post.comments.append(comment)
    return {"id": comment.id}


def read_comments(visit: Visit) -> Members:
    """Return the comments of a post, newest first."""
    with visit.state.lock:
        post = _find_post(visit, enter(visit, *_COMMENTS))
        return {
            "data": [
                {"timestamp": comment.at.strftime("%Y-%m-%dT%H:%M:%S+0000"), "text": comment.text, "id": comment.id}
                for comment in reversed(post.comments)
            ]
        }


def delete_media(visit: Visit) -> Members:
    """Take a post from the profile; Facebook Login only."""
    if visit.on_instagram:
        raise Refused(unsupported_method("delete", instagram=True))
    with visit.state.lock:
        post = _find_post(visit, enter(visit, "", "instagram_manage_contents"))
        post.deleted_at = visit.state.now()
    return {"success": True, "deleted_id": post.id}


def _find_post(visit: Visit, token: Token) -> Post:
    post = visit.state.posts.get(visit.object_id)
    if post is None or post.account_id != token.account_id or post.deleted_at is not None:
        raise Refused(missing_object(visit.object_id, visit.request.method))
    if post.media_type == "STORY" and visit.request.method == "POST":
        raise Refused(bad_parameter("Stories take no comments", instagram=visit.on_instagram))
    return post
