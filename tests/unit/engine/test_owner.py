"""The record of a holder: what is written is read, what is forged is nobody."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamplighter.engine.owner import Child, Owner, parse_owner, render_owner
from lamplighter.value import replace

OWNER = Owner(
    pid=4711,
    since="2026-11-29T19:30:00+00:00",
    command="lamplighter generate",
    generation=7,
    state="held",
    start="123",
    boot_id="b",
    namespaces="n",
    uid=501,
    host="mac",
    trigger="launchd",
    nonce="0123",
    since_steady=10.0,
    limit=1800.0,
    grace=20.0,
    phase="slides",
    phase_steady=12.0,
    children=(Child(pid=4712, start="124", command="claude -p"),),
    ended="",
    session=4711,
)


def test_what_is_written_is_read() -> None:
    """All of it."""
    assert parse_owner(render_owner(OWNER)) == OWNER


texts = st.text(max_size=400)


@settings(deadline=None)
@given(words=st.lists(texts, min_size=5, max_size=5), count=st.integers(0, 100))
def test_whatever_a_holder_says_its_record_can_be_read(words: list[str], count: int) -> None:
    """Long commands, many children and odd letters are cut, and never make a record that nobody can read."""
    command, phase, host, ended, word = words
    children = tuple(Child(pid=number + 1, start="1", command=word) for number in range(count))
    long = replace(OWNER, command=command * 300, phase=phase, host=host, ended=ended, children=children)
    content = render_owner(long)
    assert len(content) < 64_000
    read = parse_owner(content)
    assert read is not None
    assert [child.pid for child in read.children] == [number + 1 for number in range(count)][-64:]


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": 0}, {"pid": -1}, {"pid": 2**31}, {"pid": 2**63}, {"pid": True}, {"pid": "4711"}, {"pid": 4711.0},
        {"since_steady": 1e300}, {"since_steady": -1}, {"since_steady": 1e14}, {"limit": -5}, {"limit": 1e14},
        {"grace": -1}, {"grace": None}, {"limit": "soon"}, {"children": {}}, {"children": [{}]},
        {"children": [{"pid": 1, "start": "1", "command": ""}] * 65}, {"schema": 1}, {"schema": "2"},
    ],
)  # fmt: skip
def test_a_record_with_an_impossible_value_is_no_record(changes: dict[str, object]) -> None:
    """It names nobody, so nobody can be signalled by it."""
    assert parse_owner(json.dumps(json.loads(render_owner(OWNER)) | changes).encode()) is None


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_no_record(word: str) -> None:
    """JSON as Python reads it has more numbers than there are."""
    content = render_owner(OWNER).replace(b'"since_steady": 10.0', f'"since_steady": {word}'.encode())
    assert parse_owner(content) is None


def test_the_age_is_steady_time_of_the_same_boot_and_container() -> None:
    """Elsewhere nobody can say how old it is, so it is never overdue."""
    now = timedelta(seconds=40)
    assert OWNER.age(now, "b", "n") == timedelta(seconds=30)
    assert OWNER.age(timedelta(seconds=5), "b", "n") == timedelta(0)
    assert OWNER.age(now, "another boot", "n") is None
    assert OWNER.age(now, "b", "another container") is None
    assert OWNER.age(now, "", "n") is None
