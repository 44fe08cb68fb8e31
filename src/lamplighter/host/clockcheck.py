"""How far this machine's clock is from that of others, by the Date header of an answer (RFC 9110 6.6.1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from lamplighter.errors import UpstreamError
from lamplighter.host.clock import Clock
from lamplighter.host.http import Http
from lamplighter.host.network import Request, Response, subject_of

_PATH = "/robots.txt"  # small, and meant for programs
_MOST_BYTES = 1_000_000
_MOST_AGE = timedelta(days=30)


def read_offset(http: Http, origin: str, clock: Clock, *, limit: timedelta) -> timedelta:
    """Return by how much this clock is ahead of that of a host, as "https://shop.example"; below nought it is behind.

    The header has whole seconds, and the answer took its time: what is less than that apart is not told from nought.
    Raises UpstreamError where the host does not answer or does not say the time.
    """
    url = f"{origin}{_PATH}"
    before = clock.now()
    response = http.get(Request(url=url, connect=limit, read=limit, total=limit, max_bytes=_MOST_BYTES))
    after = clock.now()
    offsets = [_offset(said, before, after) for said in _list_times(response, url)]
    return min(offsets, key=abs)


def _list_times(response: Response, url: str) -> tuple[datetime, ...]:
    """Return what time it may be there: a cache says the time of its copy and its age, or the time of the answer."""
    try:
        said = parsedate_to_datetime(response.header("date"))
    except (ValueError, TypeError, OverflowError):
        raise UpstreamError(subject_of(url), "it does not say what time it is there") from None
    said = said.replace(tzinfo=UTC) if said.tzinfo is None else said
    age = response.header("age")
    if not (age.isascii() and age.isdecimal() and len(age) < 9):
        return (said,)
    return (said, said + min(timedelta(seconds=int(age)), _MOST_AGE))


def _offset(said: datetime, before: datetime, after: datetime) -> timedelta:
    """Return how far a time is from those between which it was said, to its whole second."""
    if before - timedelta(seconds=1) <= said <= after:
        return timedelta()
    return before - said if said < before else after - said
