"""Property lists by launchd.plist(5), and launchctl's words as they were recorded. Never tried on a Mac."""

from __future__ import annotations

import plistlib
from dataclasses import replace

import pytest
from tests.unit.schedule.entries import FOLDER, GENERATE, WATCH

from lamplighter.schedule.entry import DAY_MINUTES
from lamplighter.schedule.launchd import find_edits, parse_disabled, parse_list, parse_print, render_agent

FAILED = """gui/502/com.example.collector = {
\tactive count = 0
\tpath = /Users/me/Library/LaunchAgents/com.example.collector.plist
\tstate = not running
\truns = 20
\tlast exit code = 78: EX_CONFIG
\tendpoints = {
\t\t"com.example.socket" = {
\t\t\tstate = running
\t\t}
\t}
}
"""


def test_an_agent_has_exactly_these_keys() -> None:
    """Nothing that keeps it alive, no StartInterval, no secret; times, umask and the way out as decided."""
    assert plistlib.loads(render_agent(GENERATE)) == {
        "Label": "dev.lamplighter.brand-0a1b2c3d.generate",
        "ProgramArguments": list(GENERATE.argv),
        "WorkingDirectory": str(FOLDER),
        "EnvironmentVariables": {"PATH": "/v/bin:/usr/bin", "LANG": "en_US.UTF-8", "PYTHONUNBUFFERED": "1"},
        "StandardOutPath": str(GENERATE.boot_file),
        "StandardErrorPath": str(GENERATE.boot_file),
        "StartCalendarInterval": [{"Hour": hour, "Minute": 0} for hour in (6, 12, 18)],
        "RunAtLoad": True,
        "ProcessType": "Interactive",
        "ExitTimeOut": 60,
        "Umask": 63,
    }


def test_the_watcher_looks_every_five_minutes_and_is_no_interactive_process() -> None:
    """Twelve times an hour, each without an hour."""
    agent = plistlib.loads(render_agent(WATCH))
    assert agent["StartCalendarInterval"] == [{"Minute": minute} for minute in range(0, 60, 5)]
    assert "ProcessType" not in agent


def test_every_minute_is_a_dictionary_that_leaves_all_out() -> None:
    """Not 1,440 of them."""
    agent = plistlib.loads(render_agent(replace(GENERATE, minutes=frozenset(range(DAY_MINUTES)))))
    assert agent["StartCalendarInterval"] == [{}]


def test_what_is_never_started_by_time_has_no_times() -> None:
    """The proof of an installation is kicked."""
    assert "StartCalendarInterval" not in plistlib.loads(render_agent(replace(GENERATE, minutes=frozenset())))


def test_an_agent_as_it_was_written_has_no_edits() -> None:
    """In either form of a property list."""
    content = render_agent(GENERATE)
    binary = plistlib.dumps(plistlib.loads(content), fmt=plistlib.FMT_BINARY)
    assert find_edits(GENERATE, content) == find_edits(GENERATE, binary) == ((), GENERATE.argv)


def test_an_edit_is_named_by_its_key() -> None:
    """A key that is another, one that is gone and one that was added."""
    agent = plistlib.loads(render_agent(GENERATE))
    agent["Umask"] = 18
    agent["KeepAlive"] = True
    del agent["WorkingDirectory"]
    assert find_edits(GENERATE, plistlib.dumps(agent))[0] == ("KeepAlive", "Umask", "WorkingDirectory")


@pytest.mark.parametrize(
    "content", [b"", b"not xml", b"<plist>", plistlib.dumps(["a"]), b"bplist00garbage", b"\xff\xfe"]
)
def test_what_is_no_property_list_is_an_edit(content: bytes) -> None:
    """Never a traceback."""
    assert find_edits(GENERATE, content) == (("it is no property list",), ())


def test_the_last_exit_is_read() -> None:
    """78 is launchd's own: nothing of ours began; what is deeper in is not the agent's state."""
    state = parse_print(FAILED)
    assert (state.last_exit, state.failed_start, state.is_running) == ("exit 78", True, False)
    assert state.file == "/Users/me/Library/LaunchAgents/com.example.collector.plist"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("\tlast exit code = 0", "exit 0"),
        ("\tlast exit code = (never exited)", ""),
        ("\tlast exit code = 75: EX_TEMPFAIL", "exit 75"),
        ("\tlast exit code = 0\n\tlast terminating signal = Killed: 9", "ended by Killed: 9"),
    ],
)
def test_an_end_is_told_in_words(line: str, words: str) -> None:
    """Bare, with a name, never yet, and by a signal."""
    state = parse_print(f"gui/501/x = {{\n\tstate = running\n{line}\n}}\n")
    assert (state.last_exit, state.failed_start, state.is_running) == (words, False, True)


def test_disabled_labels_are_read_in_the_words_of_old_and_new_systems() -> None:
    """disabled, and true."""
    text = 'disabled services = {\n\t\t"a" => disabled\n\t\t"b" => enabled\n\t\t"c" => true\n\t\t"d" => false\n\t}'
    assert parse_disabled(text) == {"a", "c"}


def test_labels_are_read_from_the_list() -> None:
    """Three columns, the first line apart."""
    assert parse_list("PID\tStatus\tLabel\n-\t78\tcom.a\n123\t0\tcom.b\n\n") == {"com.a", "com.b"}
