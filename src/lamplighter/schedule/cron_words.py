"""Cron expressions, five fields as crontab(5) has them: when they are due, and what is wrong with one (pure).

cronsim counts as Debian's cron does (its README): a job with fixed hours that the clock skips is due when the clock is
set forward, one in an hour that comes twice the first time; a job whose hours or minutes are * goes by elapsed time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

_MOST_LETTERS = 200
_FIELDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CronFields:
    """The minutes and hours at which an expression can be due at all, whatever the day."""

    minutes: frozenset[int]
    hours: frozenset[int]


def explain_cron(text: str) -> str:
    """Return why a text is no cron expression, or one that never comes, "" when it is a good one."""
    if len(text) > _MOST_LETTERS:
        return f"it has more than {_MOST_LETTERS} letters"
    fields = len(text.split())
    if fields != _FIELDS:
        return f'it has {fields} fields and must have five, like "30 19 * * 1-5": minute, hour, day, month, weekday'
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - only a job with such an expression needs it

    try:
        next(CronSim(text, datetime(2024, 1, 1, tzinfo=UTC)))
    except StopIteration:
        return "no day ever matches it"
    except CronSimError as error:
        words = str(error).removeprefix("Bad ")
        return (
            f"its {words} is not one, or no day ever has it" if "day-of-month" in words else f"its {words} is not one"
        )
    except (ValueError, TypeError, AssertionError, ArithmeticError):
        return "it makes no sense"
    return ""


def parse_fields(text: str) -> CronFields:
    """Return minutes and hours of a good expression."""
    from cronsim import CronSim  # noqa: PLC0415 - as above

    found = CronSim(text, datetime(2024, 1, 1, tzinfo=UTC))
    return CronFields(minutes=frozenset(found.minutes), hours=frozenset(found.hours))


def due_after(text: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield the instants after `after`, in UTC and strictly increasing, at which a good expression is due."""
    from cronsim import CronSim  # noqa: PLC0415 - as above

    last = after
    for found in CronSim(text, after.astimezone(zone)):
        due_at = found.astimezone(UTC)
        if due_at > last:  # two times that the clock skips together are due at one moment
            last = due_at
            yield due_at
