"""Meta's rules for captions, alt texts and tags; pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import cast

from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.refusal import (
    BAD_USERNAME,
    CAPTION_TOO_LONG,
    PRODUCT_TAGS,
    TOO_MANY_TAGS,
    Refused,
    bad_parameter,
)
from tests.simulators.instagram.wire import Json

LONGEST_CAPTION = 2200
LONGEST_ALT_TEXT = 1000
_HASHTAG = re.compile(r"(?<![\w#&/])#\w+")
_MENTION = re.compile(r"(?<![\w@.])@[A-Za-z0-9_.]+")


def accept_caption(caption: str, knobs: Knobs) -> str:
    """Return the caption as it will be posted; raise Refused with 36004 or 100/2207040.

    How Meta counts letters is not said: `caption_unit` chooses UTF-16 units (the stricter, usual) or code points.
    """
    length = len(caption.encode("utf-16-le")) // 2 if knobs.caption_unit == "utf16" else len(caption)
    if length > LONGEST_CAPTION:
        raise Refused(CAPTION_TOO_LONG.fill(length=length))
    if len(_MENTION.findall(caption)) > knobs.mention_cap:
        raise Refused(TOO_MANY_TAGS.fill(most=knobs.mention_cap))
    if len(_HASHTAG.findall(unicodedata.normalize("NFC", caption))) > knobs.hashtag_cap:
        if knobs.hashtag_mode == "drop":
            return ""
        raise Refused(TOO_MANY_TAGS.fill(most=knobs.hashtag_cap))
    return caption


def check_options(values: Mapping[str, str], *, is_item: bool, facebook: bool) -> None:
    """Raise Refused for alt text, collaborators and tags that Meta does not take.

    Of numbers without a documented code (4 collaborators, 3 sponsors, an alt text of 1,001) it says a bare #100.
    """
    if len(values.get("alt_text", "")) > LONGEST_ALT_TEXT:
        raise Refused(bad_parameter(f"alt_text may have at most {LONGEST_ALT_TEXT} characters"))
    if is_item and values.get("collaborators"):
        raise Refused(bad_parameter("param collaborators is not allowed"))
    if len(read_list(values.get("product_tags", ""))) > 5:
        raise Refused(PRODUCT_TAGS)
    if len(read_list(values.get("branded_content_sponsor_ids", ""))) > 2:
        raise Refused(bad_parameter("branded_content_sponsor_ids may have at most 2 entries"))
    polls = {"poll_attachment", "is_comment_prompt_used"} & values.keys()
    if polls and not facebook:
        raise Refused(bad_parameter(f"param {min(polls)} is not allowed"))
    _check_people(values)


def _check_people(values: Mapping[str, str]) -> None:
    collaborators = read_list(values.get("collaborators", ""))
    if len(collaborators) > 3:
        raise Refused(bad_parameter("collaborators may have at most 3 entries"))
    tags = read_list(values.get("user_tags", ""))
    if len(tags) > 20:
        raise Refused(TOO_MANY_TAGS.fill(most=20))
    tagged = [str(tag.get("username", "")) if isinstance(tag, dict) else str(tag) for tag in tags]
    for name in [str(one) for one in collaborators] + tagged:
        if not re.fullmatch(r"[A-Za-z0-9_.]{1,30}", name):
            raise Refused(BAD_USERNAME.fill(name=name))


def read_list(text: str) -> list[Json]:
    """Return a list parameter, which may come as a JSON array or with commas."""
    try:
        value = cast("Json", json.loads(text)) if text.lstrip().startswith("[") else None
    except ValueError:
        value = None
    if isinstance(value, list):
        return value
    return [part.strip() for part in text.split(",") if part.strip()]


def fold_caption(text: str) -> str:
    """Return a caption as two of them are compared: NFC, line ends as LF, trimmed."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
