"""Graph's error objects: those that are known, and their form."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.simulators.instagram.wire import Answer, Members, json_answer

GET_HELP = "Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One error as Graph says it; `title` and `user` are the texts for people, which follow the token's language."""

    code: int
    subcode: int | None = None
    message: str = ""
    title: str = ""
    user: str = ""
    status: int = 400
    kind: str = "OAuthException"
    transient: bool = False

    def fill(self, **values: object) -> Refusal:
        """Return it with the {names} in its texts replaced."""
        return replace(self, message=self.message.format(**values), user=self.user.format(**values))

    def error(self, trace_id: str) -> Members:
        """Return the JSON object of the answer."""
        error: Members = {"message": self.message, "type": self.kind, "code": self.code}
        if self.subcode is not None:
            error["error_subcode"] = self.subcode
        if self.transient or self.user:
            error["is_transient"] = self.transient
        if self.title or self.user:
            error |= {"error_user_title": self.title, "error_user_msg": self.user}
        return {"error": {**error, "fbtrace_id": trace_id}}

    def answer(self, trace_id: str) -> Answer:
        """Return the whole answer."""
        return json_answer(self.error(trace_id), status=self.status)


class Refused(Exception):
    """The call was refused and nothing was changed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.code}/{refusal.subcode} {refusal.message or refusal.user}")
        self.refusal = refusal


def _known(  # noqa: PLR0917  (one row of a table)
    status: int, code: int, subcode: int | None, user: str, message: str = "", title: str = ""
) -> Refusal:
    return Refusal(
        status=status, code=code, subcode=subcode, message=message or user or "Fatal", title=title, user=user
    )


TOO_SLOW = _known(400, -2, 2207003, "It takes too long to download the media.", "Timeout", "Timeout")
MEDIA_EXPIRED = _known(
    400, -2, 2207020, "The media you are trying to access has expired. Please try to upload again.", title="Expired"
)
SERVER_ERROR = _known(400, -1, 2207001, "", "Instagram server error", "")
CREATE_FAILED = _known(400, -1, 2207032, "Create media fail, please try to re-create media", title="Create media fail")
ACTION_BLOCKED = _known(
    403, 4, 2207051,
    "We restrict certain activity to protect our community. Tell us if you think we made a mistake.",
    "Application request limit reached", "Action is blocked",
)  # fmt: skip
QUOTA_REACHED = _known(
    400, 9, 2207042,
    "You reached maximum number of posts that is allowed to be published by Content Publishing API.",
    "Application request limit reached", "Maximum number of posts reached",
)  # fmt: skip
CONTAINERS_REACHED = _known(
    400, 9, 2207042, "You reached the maximum number of media containers that may be created in 24 hours.",
    "Application request limit reached", "Maximum number of containers reached",
)  # fmt: skip
MEDIA_NOT_FOUND = _known(400, 24, 2207006, "The media with {id} cannot be found", title="Media not found")
BUILDER_NOT_FOUND = _known(
    400, 24, 2207008, "The media builder with creation id = {id} does not exist or has been expired.",
    title="Media builder not found",
)  # fmt: skip
RESTRICTED = _known(400, 25, 2207050, "The Instagram account is restricted.", title="Account restricted")
UNKNOWN_TYPE = _known(400, 100, 2207023, "The media type {kind} is unknown.", "Invalid parameter")
BAD_CAROUSEL = _known(
    400, 100, 2207028,
    "Your post won't work as a carousel. Carousels need at least 2 photos/videos and no more than 10 photos/videos.",
    "Invalid parameter", "Carousel validation failed",
)  # fmt: skip
PRODUCT_TAGS = _known(400, 100, 2207035, "Product tags are not valid.", "Invalid parameter", "Product tags")
TOO_MANY_TAGS = _known(
    400, 100, 2207040, "Cannot use more than {most} tags per created media.", "Invalid parameter", "Too many tags"
)
BAD_USERNAME = _known(400, 110, 2207018, "The user {name} is invalid.", "Invalid user id", "Invalid user")
VIDEO_FORMAT = _known(400, 352, 2207026, "The video format is not supported. Please check spec for supported formats.")
FETCH_FAILED = _known(
    400, 9004, 2207052,
    "The media could not be fetched from this URI: {url}. Please check the limitations for this media type."
    " Reason: {why}",
    "Only photo or video can be accepted as media type.",
    "Media download has failed. The media URI doesn't meet our requirements.",
)  # fmt: skip
NOT_READY = _known(
    400, 9007, 2207027, "The media is not ready for publishing, please wait for a moment",
    "Media ID is not available", "Cannot publish",
)  # fmt: skip
IMAGE_TOO_LARGE = _known(
    400, 36000, 2207004, "The image is too large to download. It should be less than 8 MiB.",
    "The image size is too large.", "Image size too large",
)  # fmt: skip
IMAGE_FORMAT = _known(
    400, 36001, 2207005, "The image format {kind} is not supported. Supported formats are: JPEG.",
    "The image format is not supported.", "Unsupported image format",
)  # fmt: skip
IMAGE_RATIO = _known(
    400, 36003, 2207009,
    "The submitted image with aspect ratio ({ratio}) cannot be published."
    " Please submit an image with a valid aspect ratio.",
    "The aspect ratio is not supported.", "Invalid aspect ratio",
)  # fmt: skip
CAPTION_TOO_LONG = _known(
    400, 36004, 2207010,
    "The submitted image's caption was {length} characters long. The maximum number of characters permitted for a"
    " caption is 2200. Please submit media with a shorter caption.",
    "The caption is too long.", "Caption too long",
)  # fmt: skip
NO_TOKEN = Refusal(code=104, message="An access token is required to request this resource.")
BAD_TOKEN = Refusal(code=190, message="Invalid OAuth access token - Cannot parse access token")
THROTTLED = Refusal(
    code=80002,
    message="There have been too many calls to this Instagram account. Wait a bit and try again. For more info, please"
    " refer to https://developers.facebook.com/docs/graph-api/overview/rate-limiting.",
)
UNKNOWN_ERROR = Refusal(code=1, message="An unknown error occurred", status=500, transient=True)
UNAVAILABLE = Refusal(code=2, message="Service temporarily unavailable", status=500, transient=True)
READ_OUTAGE = Refusal(
    code=100, subcode=33, kind="GraphMethodException",
    message="Unsupported get request. Object with ID '{id}' does not exist, cannot be loaded due to missing"
    f" permissions, or does not support this operation. {GET_HELP}",
    title="Authorization Error", user="Authorization Error",
)  # fmt: skip

_CATALOGUE = (
    TOO_SLOW, MEDIA_EXPIRED, SERVER_ERROR, CREATE_FAILED, ACTION_BLOCKED, QUOTA_REACHED, MEDIA_NOT_FOUND,
    BUILDER_NOT_FOUND, RESTRICTED, UNKNOWN_TYPE, BAD_CAROUSEL, PRODUCT_TAGS, TOO_MANY_TAGS, BAD_USERNAME,
    VIDEO_FORMAT, FETCH_FAILED, NOT_READY, IMAGE_TOO_LARGE, IMAGE_FORMAT, IMAGE_RATIO, CAPTION_TOO_LONG, NO_TOKEN,
    BAD_TOKEN, THROTTLED, UNKNOWN_ERROR, UNAVAILABLE, READ_OUTAGE,
)  # fmt: skip
_DEFAULTS = {"id": "0", "url": "", "why": "unknown", "kind": "unknown", "most": 20, "name": "unknown"} | {
    "ratio": "2.05", "length": 2201,
}  # fmt: skip


def find_refusal(code: int, subcode: int | None = None, *, status: int | None = None) -> Refusal:
    """Return the catalogue's error of these numbers, or a bare one of them; `status` wins over the usual one."""
    for known in _CATALOGUE:
        if (known.code, known.subcode) == (code, subcode):
            return replace(known.fill(**_DEFAULTS), status=status or known.status)
    return Refusal(code=code, subcode=subcode, message=f"(#{code}) Error", status=status or 400)


def missing_object(object_id: str, method: str) -> Refusal:
    """Return 100/33: no such object, or not for this token; Graph does not say which."""
    return Refusal(
        code=100, subcode=33, kind="GraphMethodException",
        message=f"Unsupported {method.lower()} request. Object with ID '{object_id}' does not exist, cannot be loaded"
        f" due to missing permissions, or does not support this operation. {GET_HELP}",
    )  # fmt: skip


def unsupported_method(method: str, *, instagram: bool) -> Refusal:
    """Return what a wrong method yields, and on Instagram's host a dead or foreign token too."""
    kind = "IGApiException" if instagram else "GraphMethodException"
    return Refusal(code=100, message=f"Unsupported request - method type: {method.lower()}", kind=kind)


def bad_parameter(text: str, *, instagram: bool = False) -> Refusal:
    """Return a #100 without a subcode."""
    return Refusal(code=100, message=f"(#100) {text}", kind="IGApiException" if instagram else "OAuthException")
