"""Crontabs: ours in, ours out, and every byte of theirs as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.schedule.entries import GENERATE, PROJECT, WATCH

from lamplighter.errors import ConfigError, InputError
from lamplighter.schedule.cron import (
    add_lines,
    describe_above,
    drop_label,
    find_edits,
    list_expressions,
    list_lines,
    parse_argv,
    parse_crontab,
    render_block,
    render_command,
    render_crontab,
)
from lamplighter.schedule.entry import DAY_MINUTES

ENTRIES = (GENERATE, WATCH)
BLOCK = render_block(ENTRIES, PROJECT)
COMMAND = (
    "/usr/bin/env PATH=/v/bin:/usr/bin LANG=en_US.UTF-8 PYTHONUNBUFFERED=1 /v/bin/python -P -m lamplighter run "
    "generate --scheduled --workspace '/home/me/my brand' >>'/home/me/my brand/state/schedule/boot-generate.log' 2>&1"
)
theirs = st.lists(
    st.one_of(
        st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ").replace(b"\r", b" ")),
        st.sampled_from([b"MAILTO=x@example", b"5 4 * * sun  echo 100\\% # x", b"# \xff odd", b"", b"@daily true"]),
    ),
    max_size=6,
).map(lambda lines: b"".join(line + b"\n" for line in lines))


def test_an_entry_has_its_times_the_start_of_the_machine_and_each_hour() -> None:
    """Since cron makes up for nothing, something has to look; nothing goes to nowhere."""
    assert list(list_lines(GENERATE)) == [
        "# dev.lamplighter.brand-0a1b2c3d.generate",
        f"0 6,12,18 * * * {COMMAND}",
        f"@reboot {COMMAND}",
        f"{sum(GENERATE.label.encode()) % 60} * * * * {COMMAND}",
    ]


def test_what_is_due_each_hour_needs_no_other_line() -> None:
    """The watcher, every five minutes."""
    lines = list(list_lines(WATCH))
    assert [" ".join(line.split()[:5]) for line in lines[1:2]] == ["*/5 * * * *"]
    assert len(lines) == 3


def test_every_minute_is_a_star() -> None:
    """Not sixty numbers."""
    assert list(list_lines(replace(GENERATE, minutes=frozenset(range(DAY_MINUTES)))))[1].startswith("* * * * * /usr")


@given(before=theirs)
def test_install_and_remove_leave_every_byte_of_theirs(before: bytes) -> None:
    """Odd bytes, blank lines and other people's marks."""
    installed = render_crontab(parse_crontab(before, PROJECT), ENTRIES, PROJECT)
    again = parse_crontab(installed, PROJECT)
    assert (again.ours, again.theirs) == (BLOCK, before)
    assert render_crontab(again, ENTRIES, PROJECT) == installed
    assert render_crontab(again, (), PROJECT) == before


@given(above=theirs, below=theirs)
def test_what_was_written_around_ours_stays_too(above: bytes, below: bytes) -> None:
    """Somebody put lines above and below."""
    crontab = parse_crontab(above + BLOCK + below, PROJECT)
    assert (crontab.before, crontab.ours, crontab.after) == (above, BLOCK, below)
    assert render_crontab(crontab, (), PROJECT) == above + below


def test_two_workspaces_have_a_block_each() -> None:
    """Taking one out leaves the other."""
    other = render_block((replace(WATCH, label="dev.lamplighter.other-1.watch"),), "other-1")
    both = render_crontab(parse_crontab(other, PROJECT), ENTRIES, PROJECT)
    assert both == BLOCK + other
    assert render_crontab(parse_crontab(both, PROJECT), (), PROJECT) == other


@pytest.mark.parametrize(
    "content",
    [
        BLOCK + BLOCK,
        BLOCK.rpartition(b"# <<<")[0],
        BLOCK.partition(b"\n")[2],
        BLOCK.splitlines(keepends=True)[-1] + b"".join(BLOCK.splitlines(keepends=True)[:-1]),
    ],
)
def test_marks_that_are_no_pair_are_left_alone(content: bytes) -> None:
    """Twice, without an end, without a beginning, the wrong way round: nothing is guessed."""
    with pytest.raises(InputError, match="are not one pair, so it was left as it is"):
        parse_crontab(content, PROJECT)


def test_a_percent_sign_is_no_new_line() -> None:
    """crontab(5): the rest of the line would be the command's input."""
    odd = replace(GENERATE, argv=(*GENERATE.argv[:-1], "/a 100%/it's"), boot_file=Path("/a 100%/x.log"))
    command = render_command(odd)
    assert "/a 100\\%/x.log" in command
    assert command.replace("\\%", "").count("%") == 0
    assert parse_argv((f"1 2 * * * {command}",)) == odd.argv


def test_what_cron_would_cut_is_refused() -> None:
    """A PATH of a thousand letters: said before anything is written."""
    with pytest.raises(
        ConfigError, match=r"job generate: its line in the crontab would have \d+ letters, and cron takes"
    ):
        render_command(replace(GENERATE, path="/x" * 600))


def test_edits_are_found_by_label() -> None:
    """A changed line, a label that is gone, and one that nobody asked for."""
    assert find_edits(BLOCK, BLOCK)[0] == ()
    edited = BLOCK.replace(b"run generate", b"run post", 1)
    assert find_edits(BLOCK, edited)[0] == (GENERATE.label,)
    assert find_edits(BLOCK, render_block((GENERATE,), PROJECT))[0] == (WATCH.label,)
    assert find_edits(render_block((GENERATE,), PROJECT), BLOCK)[0] == (WATCH.label,)
    stray = BLOCK.replace(b"\n", b"\n1 1 * * * true\n", 1)
    assert find_edits(BLOCK, stray)[0] == ("",)


def test_a_line_for_once_comes_and_goes() -> None:
    """The proof of an installation, as often as one likes."""
    label = "dev.lamplighter.brand-0a1b2c3d.schedule-probe"
    with_probe = add_lines(BLOCK, label, ("5 4 3 2 * true",))
    assert find_edits(BLOCK, with_probe)[0] == (label,)
    assert add_lines(with_probe, label, ("5 4 3 2 * true",)) == with_probe
    assert drop_label(with_probe, label) == BLOCK


@pytest.mark.parametrize(
    ("above", "name"),
    [
        (b"CRON_TZ=Asia/Tokyo\n", "CRON_TZ"),
        (b'  SHELL = "/bin/fish"\n', "SHELL"),
        (b"MAILTO=x\nPATH=/x\n", ""),
        (b"# SHELL=/bin/sh\n", ""),
        (b"1 2 * * * SHELL=x true\n", ""),
    ],
)
def test_an_assignment_above_ours_that_changes_them_is_found(above: bytes, name: str) -> None:
    """Another zone, another shell; our own environment makes up for the rest."""
    assert describe_above(parse_crontab(above + BLOCK, PROJECT)) == name


def test_an_entry_that_catches_up_with_nothing_has_its_times_alone() -> None:
    """No look at the machine's start, none each hour."""
    assert len(list(list_lines(replace(GENERATE, catches_up=False)))) == 2


def test_the_times_of_lines_are_read() -> None:
    """Comments and @reboot have none."""
    assert list_expressions(("# x", "0 6,12 * * * true", "@reboot true", "41 * * * * true")) == (
        "0 6,12 * * *",
        "41 * * * *",
    )
    assert parse_argv(()) == parse_argv(("1 2 * * * echo 'x",)) == parse_argv(("1 2 * * * true",)) == ()
