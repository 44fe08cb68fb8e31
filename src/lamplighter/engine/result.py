"""The result file: how a worker says how its run ended, as JSON; a command may write one too (DESIGN §8.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.errors import FailureClass, render_line

RESULT_VARIABLE = "LAMPLIGHTER_RESULT"
CLAIM_VARIABLE = "LAMPLIGHTER_CLAIM"
MOST_BYTES = 1_000_000
_LONGEST_LINE = 1_000
_MOST_ENTRIES = 1_000
# What only the supervisor can know of a run; of the second kind a worker of ours knows it too.
_NOT_FOR_WORKERS = frozenset({Outcome.LOCK_HELD, Outcome.KILLED, Outcome.NOT_DUE, Outcome.PAUSED})
_NOT_FOR_COMMANDS = frozenset({*_NOT_FOR_WORKERS, Outcome.INTERRUPTED, Outcome.TIMED_OUT, Outcome.CRASHED})
_KEYS = frozenset({"outcome", "line", "evidence", "outputs", "failure"})
_OUR_KEYS = frozenset({*_KEYS, "flags", "signal"})
_FAILURES = frozenset(
    {
        FailureClass.CONFIG,
        FailureClass.INPUT,
        FailureClass.UPSTREAM,
        FailureClass.INTERNAL,
        FailureClass.LOCK_UNUSABLE,
        FailureClass.DISK,
    }
)


def render_result(report: RunReport) -> bytes:
    """Return a report as a result file."""
    return json.dumps(
        {
            "outcome": report.outcome.value,
            "line": report.line,
            "evidence": {fact.name: fact.value for fact in report.evidence},
            "outputs": list(report.outputs),
            "flags": list(report.flags),
            "failure": report.failure.name.lower() if report.failure else None,
            "signal": report.signal,
        },
        ensure_ascii=False,
    ).encode("utf-8", "backslashreplace")


def parse_result(content: bytes, *, is_ours: bool = False) -> RunReport:
    """Return what a result file says; raises ValueError, one line, for anything else.

    Only `outcome` is needed, with needs_human the `line` too; `failure` is a class of DESIGN §3 in small letters, e.g.
    "upstream". A worker of ours may say more than a command: flags, a signal, and the outcomes that go with it. The
    outputs' names are as they were written, so that they can be looked for.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(found, Mapping):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - what is wrong with a file's content is a ValueError
    unknown = found.keys() - (_OUR_KEYS if is_ours else _KEYS)
    if unknown:
        raise ValueError(f"{min(unknown)[:40]!r} is no key of it")
    outcome = _outcome(found.get("outcome"), _NOT_FOR_WORKERS if is_ours else _NOT_FOR_COMMANDS)
    line = _text(found.get("line", ""))
    if outcome is Outcome.NEEDS_HUMAN and not line.strip():
        raise ValueError('needs_human without a "line" that says what to type')
    return RunReport(
        outcome=outcome,
        line=render_line(line if line.strip() else outcome.value, limit=_LONGEST_LINE),
        evidence=tuple(
            Evidence(name=render_line(name), value=render_line(_text(value)))
            for name, value in _mapping(found.get("evidence") or {}).items()
        ),
        outputs=_texts(found.get("outputs") or []),
        flags=tuple(map(render_line, _texts(found.get("flags") or []))),
        failure=_failure(found.get("failure"), frozenset(FailureClass) if is_ours else _FAILURES),
        signal=_signal(found.get("signal")),
    )


def _outcome(value: object, refused: frozenset[Outcome]) -> Outcome:
    try:
        outcome = Outcome(value)
    except ValueError:
        raise ValueError(f"{str(value)[:40]!r} is no outcome") from None
    if outcome in refused:
        raise ValueError(f"{outcome.value} is not for a worker to say")
    return outcome


def _failure(value: object, known: frozenset[FailureClass]) -> FailureClass | None:
    if value is None:
        return None
    found = next((failure for failure in known if failure.name.lower() == value), None)
    if found is None:
        raise ValueError(f"{str(value)[:40]!r} is no class of failure")
    return found


def _signal(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65):
        return value
    raise ValueError(f"{str(value)[:40]!r} is no signal")


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or len(value) > _MOST_ENTRIES:
        raise ValueError('"evidence" is no object of names and values')
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MOST_ENTRIES:
        raise ValueError("a list of texts was expected")
    return tuple(_text(entry) for entry in value)


def _text(value: object) -> str:
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ValueError(f"{str(value)[:40]!r} is no text")
