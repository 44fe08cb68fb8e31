"""The fault script: which call is hit, when, and what the client gets to see of it.

A line of it reads `ROUTE[@NTH[xTIMES]]:ACTION[=VALUE]`:

    publish:apply_then_drop                      the first publish posts, then the connection is reset
    child@5:error=400/9004/2207052               the fifth child is refused
    container@1x0:error=400/100/33               every read of a container fails (x0: for ever)
    /POST .*media_publish/@2x3:html=502          a regular expression over "METHOD /path image_url"

Routes, each call being hit by its own name and by its groups: child, carousel, image (all: create); container,
publish, limit, list, media, me, account, pages, page, comment, comments, delete, refresh, exchange, debug_token,
code, sign_in; groups: create, reads (every GET that needs a token), objects (GET of a container or of media),
tokens, any. `NTH` counts the calls that the line matches, from 1, and only those the User-Agent rule let in.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tests.simulators.instagram.refusal import find_refusal
from tests.simulators.instagram.wire import Answer, page_answer, plain_answer

ROUTES = (
    "child", "carousel", "image", "create", "container", "publish", "limit", "list", "media", "me", "account",
    "pages", "page", "comment", "comments", "delete", "refresh", "exchange", "debug_token", "code", "sign_in",
    "reads", "objects", "tokens", "any",
)  # fmt: skip
INSTEAD = ("error", "html", "reply", "hang", "drop", "drop_before_apply", "apply_late")
"""The call is not applied; the client sees an error, or nothing. After `apply_late` (a reset, for publish only) the
post appears VALUE seconds of the simulator's clock later, whatever the client did meanwhile."""
AFTERWARDS = ("apply_then_error", "apply_then_html", "apply_then_reply", "apply_then_hang", "apply_then_drop")
"""The call is applied, and the client is told something else, or nothing."""
SPOILED = ("truncate", "cut_json", "slow", "delay", "usage")
"""The call is applied and answered, but the answer arrives cut, cut with the right length, slowly, late, or with
usage headers at VALUE percent."""
CREATED = ("then_error", "then_stuck", "then_expired")
"""The container is made, and its processing fails with the subcode VALUE, never ends, or expires it."""
ACTIONS = (*INSTEAD, *AFTERWARDS, *SPOILED, *CREATED)
_NEEDS_VALUE = ("error", "reply", "apply_then_error", "apply_then_reply", "then_error", "hang", "apply_then_hang",
                "slow", "delay", "usage", "apply_late")  # fmt: skip
_THROTTLING = frozenset({4, 17, 32, 613, 80001, 80002})
_LINE = re.compile(
    r"(?P<route>/.+?/|\w+)(?:@(?P<nth>\d+)(?:x(?P<times>\d+))?)?:(?P<action>\w+)(?:=(?P<value>.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One line of the script; `times` 0 is for ever."""

    route: str
    """A name of ROUTES, or a regular expression between slashes."""
    action: str
    value: str = ""
    nth: int = 1
    times: int = 1

    def __post_init__(self) -> None:
        if not self.route.startswith("/") and self.route not in ROUTES:
            raise ValueError(f"fault {self}: no route {self.route}; there are {', '.join(ROUTES)}")
        if self.action not in ACTIONS:
            raise ValueError(f"fault {self}: no action {self.action}; there are {', '.join(ACTIONS)}")
        if self.action in _NEEDS_VALUE and not self.value:
            raise ValueError(f"fault {self}: {self.action} needs a value, {self.action}=…")
        if self.nth < 1:
            raise ValueError(f"fault {self}: calls are counted from 1")
        _check_value(self)

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"{self.route}@{self.nth}x{self.times}:{self.action}{value}"

    @property
    def applies(self) -> bool:
        """Tell whether the work is done all the same."""
        return self.action not in INSTEAD

    @property
    def usage(self) -> int | None:
        """Return the percentage the usage headers tell because of it: 100 with an error that throttles."""
        if self.action == "usage":
            return int(self.value)
        if self.action in {"error", "apply_then_error"}:
            _, code, subcode = _parse_error(self.value)
            return 100 if code in _THROTTLING and subcode is None else None
        return None

    def hits(self, routes: Sequence[str], line: str) -> bool:
        """Tell whether a call is one that the fault is about; `line` is "METHOD /path image_url"."""
        if self.route.startswith("/"):
            return re.search(self.route[1:-1], line) is not None
        return self.route == "any" or self.route in routes

    def spoil(self, answer: Answer, trace_id: str) -> Answer:
        """Return what is sent in the place of `answer`; before the work, `answer` is empty."""
        kind = self.action.removeprefix("apply_then_")
        spoiler = _SPOILERS.get(kind)
        return spoiler(self.value, answer, trace_id) if spoiler else answer


def parse_fault(text: str) -> Fault:
    """Return the fault of one line; raise ValueError that says what is wrong."""
    found = _LINE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"fault {text!r}: not of the form ROUTE[@NTH[xTIMES]]:ACTION[=VALUE]")
    return Fault(
        route=found["route"],
        action=found["action"],
        value=found["value"] or "",
        nth=int(found["nth"] or 1),
        times=int(found["times"] or 1),
    )


class FaultScript:
    """The faults in force; each counts the calls it matches, and the first whose turn it is wins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[tuple[Fault, list[int]]] = []

    def add(self, *faults: Fault | str) -> None:
        """Add lines; they begin to count now."""
        parsed = [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults]
        with self._lock:
            self._faults.extend((fault, [0]) for fault in parsed)

    def clear(self) -> None:
        """Forget all lines."""
        with self._lock:
            self._faults.clear()

    def take(self, routes: Sequence[str], line: str) -> Fault | None:
        """Count a call in all lines that match it, and return the first whose turn it is."""
        chosen: Fault | None = None
        with self._lock:
            for fault, count in self._faults:
                if not fault.hits(routes, line):
                    continue
                count[0] += 1
                due = count[0] >= fault.nth and (fault.times == 0 or count[0] < fault.nth + fault.times)
                chosen = chosen or (fault if due else None)
        return chosen

    @property
    def pending(self) -> list[Fault]:
        """Return the lines that may still hit; a test that ends with any was not hit by all it planned."""
        with self._lock:
            return [
                fault for fault, count in self._faults if fault.times == 0 or count[0] < fault.nth + fault.times - 1
            ]


def _check_value(fault: Fault) -> None:
    try:
        if fault.action in {"hang", "apply_then_hang", "slow", "delay", "apply_late"}:
            float(fault.value)
        elif fault.action in {"usage", "then_error"}:
            int(fault.value)
        elif fault.action.endswith("error"):
            _parse_error(fault.value)
        elif fault.action.endswith("reply"):
            int(fault.value.partition(" ")[0])
        elif fault.action.endswith("html"):
            int(fault.value or 502)
    except ValueError:
        raise ValueError(f"fault {fault}: {fault.action} does not take {fault.value!r}") from None


def _parse_error(value: str) -> tuple[int | None, int, int | None]:
    """Return (status, code, subcode) of "STATUS/CODE[/SUBCODE]"; status 0 or "-" is the usual one of the code."""
    status, code, *rest = value.split("/")
    return (int(status) or None) if status != "-" else None, int(code), int(rest[0]) if rest else None


def _send_error(value: str, answer: Answer, trace_id: str) -> Answer:
    del answer
    status, code, subcode = _parse_error(value)
    return find_refusal(code, subcode, status=status).answer(trace_id)


def _send_page(value: str, answer: Answer, trace_id: str) -> Answer:
    del answer, trace_id
    return page_answer("Sorry, something went wrong.", status=int(value or 502))


def _send_reply(value: str, answer: Answer, trace_id: str) -> Answer:
    del answer, trace_id
    status, _, body = value.partition(" ")
    told = plain_answer(body, status=int(status))
    return replace(told, headers=Answer().headers) if body.startswith(("{", "[")) else told


def _hang(value: str, answer: Answer, trace_id: str) -> Answer:
    del answer, trace_id
    return Answer(hang=float(value), drop=True)


def _drop(value: str, answer: Answer, trace_id: str) -> Answer:
    del value, answer, trace_id
    return Answer(drop=True)


def _truncate(value: str, answer: Answer, trace_id: str) -> Answer:
    del trace_id
    return replace(answer, cut=int(value or len(answer.body) // 2))


def _cut_json(value: str, answer: Answer, trace_id: str) -> Answer:
    del trace_id
    return replace(answer, body=answer.body[: int(value or len(answer.body) // 2)])


def _slow(value: str, answer: Answer, trace_id: str) -> Answer:
    del trace_id
    return replace(answer, pause=float(value))


def _delay(value: str, answer: Answer, trace_id: str) -> Answer:
    del trace_id
    return replace(answer, hang=float(value))


_SPOILERS: dict[str, Callable[[str, Answer, str], Answer]] = {
    "error": _send_error,
    "html": _send_page,
    "reply": _send_reply,
    "hang": _hang,
    "drop": _drop,
    "drop_before_apply": _drop,
    "apply_late": _drop,
    "truncate": _truncate,
    "cut_json": _cut_json,
    "slow": _slow,
    "delay": _delay,
}
