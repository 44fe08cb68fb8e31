"""The times of reminders: an hour, four hours, the next nine o'clock, then daily, by the wall of a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from lamplighter.engine.ladder import ONCE, Ladder, find_step

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 10, 24, 19, 45, tzinfo=BERLIN)  # the clocks go back in the night
HOUR = timedelta(hours=1)


def step(now: datetime, ladder: Ladder | None = None) -> datetime | None:
    """Return the newest step by then, in Berlin."""
    found = find_step(ladder or Ladder(), FIRST.astimezone(UTC), now.astimezone(UTC), BERLIN)
    return found.astimezone(BERLIN) if found else None


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (FIRST, None),
        (FIRST + timedelta(minutes=59), None),
        (FIRST + HOUR, FIRST + HOUR),
        (datetime(2026, 10, 24, 23, 44, tzinfo=BERLIN), FIRST + HOUR),
        (datetime(2026, 10, 25, 8, 59, tzinfo=BERLIN), datetime(2026, 10, 24, 23, 45, tzinfo=BERLIN)),
        (datetime(2026, 10, 25, 9, 0, tzinfo=BERLIN), datetime(2026, 10, 25, 9, 0, tzinfo=BERLIN)),
        (datetime(2026, 10, 29, 8, 0, tzinfo=BERLIN), datetime(2026, 10, 28, 9, 0, tzinfo=BERLIN)),
    ],
)
def test_the_newest_step_that_has_come(now: datetime, expected: datetime | None) -> None:
    """Over the change of the clocks too, at nine by the wall."""
    assert step(now) == expected


def test_nine_oclock_is_not_before_the_four_hours() -> None:
    """Opened at seven: eight and eleven, and nine only on the next day."""
    begin = datetime(2026, 5, 4, 7, 0, tzinfo=BERLIN).astimezone(UTC)
    found = [find_step(Ladder(), begin, begin + number * HOUR, BERLIN) for number in (2, 3, 4, 25, 26)]
    assert found == [begin + HOUR, begin + HOUR, begin + 4 * HOUR, begin + 4 * HOUR, begin + 26 * HOUR]


def test_what_is_told_once_has_no_steps() -> None:
    """Not after a year either."""
    assert step(FIRST + timedelta(days=365), ONCE) is None
