"""What a container says of itself at an instant; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.state import Container

IN_PROGRESS = "IN_PROGRESS"
FINISHED = "FINISHED"
PUBLISHED = "PUBLISHED"
ERROR = "ERROR"
EXPIRED = "EXPIRED"
_WORDS = {
    IN_PROGRESS: "In Progress: Media is still being processed.",
    FINISHED: "Finished: Media has been uploaded and it is ready to be published.",
    PUBLISHED: "Published: Media has been already published.",
    EXPIRED: "Expired: Media was not published within 24 hours.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A container's true state, whatever is told to the client."""

    code: str
    failure: int = 0


def decide_life(container: Container, containers: Mapping[str, Container], now: datetime, knobs: Knobs) -> Life:
    """Return the state of a container; a carousel is ready when all its children are.

    A published one stays PUBLISHED after 24 hours. A carousel made of children whose own 24 hours end first lives on:
    it has already taken their pictures.
    """
    if container.published_at is not None:
        return Life(code=PUBLISHED)
    if container.expired or now - container.created_at >= timedelta(seconds=knobs.container_life_s):
        return Life(code=EXPIRED)
    if container.stuck or now - container.created_at < timedelta(seconds=knobs.processing_s):
        return Life(code=IN_PROGRESS)
    if container.failure:
        return Life(code=ERROR, failure=container.failure)
    return _decide_by_children(container, containers, now, knobs)


def _decide_by_children(container: Container, containers: Mapping[str, Container], now: datetime, knobs: Knobs) -> Life:
    lives = [decide_life(containers[child], containers, now, knobs) for child in container.children]
    for life in lives:
        if life.code == ERROR:
            return life
    return Life(code=IN_PROGRESS if any(life.code == IN_PROGRESS for life in lives) else FINISHED)


def told_life(container: Container, life: Life, now: datetime, knobs: Knobs) -> dict[str, str]:
    """Return `status_code` and `status` as the client is told them; the first may be missing."""
    fresh = container.published_at and now - container.published_at < timedelta(seconds=knobs.stale_status_s)
    code = FINISHED if life.code == PUBLISHED and fresh else life.code
    if code != ERROR:
        return {"status_code": code, "status": _WORDS[code]}
    if knobs.error_status_form == "text_only":
        return {"status": f"Error: Media download has failed with error code {life.failure}"}
    short = f"Error: {life.failure}, The media could not be processed."
    full = f"Error: Media upload has failed with error code {life.failure}"
    return {"status_code": code, "status": short if knobs.error_status_form == "short" else full}
