"""The result file: what a worker may say of its run, and what does not count."""

from __future__ import annotations

import json
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.engine.result import parse_result, render_result
from lamplighter.errors import FailureClass

WHOLE = RunReport(
    outcome=Outcome.FAILED,
    line="shop down",
    evidence=(Evidence(name="tries", value="3"),),
    outputs=("a",),
    flags=("forced",),
    failure=FailureClass.UPSTREAM,
    signal=signal.SIGTERM,
)
BY_THE_SUPERVISOR = {Outcome.LOCK_HELD, Outcome.KILLED, Outcome.NOT_DUE, Outcome.PAUSED}
NOT_BY_COMMANDS = BY_THE_SUPERVISOR | {Outcome.INTERRUPTED, Outcome.TIMED_OUT, Outcome.CRASHED}


def test_a_worker_of_ours_says_all_of_a_report() -> None:
    """What it writes is what its supervisor reads."""
    assert parse_result(render_result(WHOLE), is_ours=True) == WHOLE


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_outcome_is_believed_of_those_who_can_know_it(outcome: Outcome) -> None:
    """Of the rest it is refused by name."""
    content = json.dumps({"outcome": outcome.value, "line": "why"}).encode()
    for is_ours, refused in ((True, BY_THE_SUPERVISOR), (False, NOT_BY_COMMANDS)):
        if outcome in refused:
            with pytest.raises(ValueError, match=f"{outcome.value} is not for a worker to say"):
                parse_result(content, is_ours=is_ours)
        else:
            assert parse_result(content, is_ours=is_ours).outcome is outcome


@pytest.mark.parametrize("failure", list(FailureClass))
def test_a_command_names_only_classes_of_a_failed_run(failure: FailureClass) -> None:
    """Usage, a busy lock and a needed person are none of `failed`."""
    content = json.dumps({"outcome": "failed", "failure": failure.name.lower()}).encode()
    if failure in {FailureClass.USAGE, FailureClass.LOCK_BUSY, FailureClass.NEEDS_HUMAN}:
        with pytest.raises(ValueError, match="is no class of failure"):
            parse_result(content)
    else:
        assert parse_result(content).failure is failure
    assert parse_result(content, is_ours=True).failure is failure


@pytest.mark.parametrize(
    "content",
    [
        b"", b"null", b"7", b"[]", b'"produced"', b"{}", b"{", b"[" * 100_000, b"\xff", b'{"outcome": null}',
        b'{"outcome": ["produced"]}', b'{"outcome": {}}', b'{"outcome": "produced", "line": []}',
        b'{"outcome": "produced", "evidence": [1]}', b'{"outcome": "produced", "evidence": {"a": null}}',
        b'{"outcome": "produced", "outputs": {"a": 1}}', b'{"outcome": "produced", "outputs": [null]}',
        b'{"outcome": "failed", "failure": 7}', b'{"outcome": "failed", "failure": ["disk"]}',
        b'{"outcome": "failed", "failure": "DISK"}', b'{"outcome": "produced", "x": 1}',
        b'{"outcome": "produced", "outputs": [' + b'"a",' * 1_001 + b'"a"]}',
    ],
)  # fmt: skip
def test_anything_else_is_one_line_of_why(content: bytes) -> None:
    """Never a crash, never a guess."""
    for is_ours in (True, False):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            parse_result(content, is_ours=is_ours)


@pytest.mark.parametrize("number", [0, -1, 65, True, "9", 1.5])
def test_a_signal_is_a_signal(number: object) -> None:
    """From 1 to 64."""
    content = json.dumps({"outcome": "interrupted", "signal": number}).encode()
    with pytest.raises(ValueError, match="is no signal"):
        parse_result(content, is_ours=True)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_value_breaks_the_reading(value: object) -> None:
    """It is a report of one printable line, or a ValueError."""
    content = json.dumps({"outcome": "completed", "line": value, "evidence": {"a": value}, "outputs": [value]}).encode()
    try:
        report = parse_result(content)
    except ValueError:
        return
    assert all(
        text.isprintable() for text in (report.line.replace("\u200d", ""), *report.flags) if "\u200d" not in text
    )


@pytest.mark.parametrize("line", [{}, {"line": ""}, {"line": " \n"}])
def test_a_person_is_not_asked_for_without_a_word(line: dict[str, str]) -> None:
    """needs_human says what to type, or it does not count; every other outcome may stay without a line."""
    with pytest.raises(ValueError, match='needs_human without a "line"'):
        parse_result(json.dumps({"outcome": "needs_human", **line}).encode())
    assert parse_result(json.dumps({"outcome": "completed", **line}).encode()).line == "completed"
