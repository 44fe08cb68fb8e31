"""What a Retry-After header says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.simulators.clock import START

from lamplighter.host.wire import _read_retry_after


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        ("0.35", 0.35),
        ("-3", 0),
        ("999999999", 86_400),
        ("inf", 86_400),
        ("Mon, 04 May 2026 12:02:00 GMT", 120),
        ("Mon, 04 May 2026 11:00:00 GMT", 0),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_how_long_to_wait(text: str, seconds: float | None) -> None:
    """Seconds or a date, from nothing to a day; anything else is not understood."""
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert _read_retry_after(text, START) == expected
