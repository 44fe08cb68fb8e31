"""Graph's `fields` parameter: which members of an object are shown; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.simulators.instagram.refusal import Refused, bad_parameter
from tests.simulators.instagram.wire import Json, Members

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|\.limit\(\d+\)|[{},])\s*")
Selection = dict[str, "Selection"]


def parse_fields(text: str) -> Selection:
    """Return the names of "id,children{id,alt_text}" with what is asked of each; raise Refused on a broken one."""
    root: Selection = {}
    stack: list[Selection] = [root]
    last: Selection = root
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise Refused(bad_parameter(f"Syntax error in fields at {at}: {text[at : at + 20]}"))
        at = found.end()
        word = found[1]
        if word == "{":
            stack.append(last)
        elif word == "}" and len(stack) > 1:
            stack.pop()
        elif word[0].isalpha() or word[0] == "_":
            last = stack[-1].setdefault(word, {})
        elif word == "}":
            raise Refused(bad_parameter("Syntax error in fields: a } too many"))
    if len(stack) > 1:
        raise Refused(bad_parameter("Syntax error in fields: a } is missing"))
    return root


def select(shown: Mapping[str, Json], wanted: Selection, known: frozenset[str], *, instagram: bool) -> Members:
    """Return the members that were asked for, and always the id.

    A name that does not exist is #100; one that exists and has no value is left out, as Graph does.
    """
    for name in wanted:
        if name not in known:
            raise Refused(bad_parameter(f"Tried accessing nonexisting field ({name})", instagram=instagram))
    chosen: Members = {name: shown[name] for name in wanted if name in shown}
    if "id" in shown:
        chosen["id"] = shown["id"]
    return chosen
