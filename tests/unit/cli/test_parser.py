"""The command line's grammar: every command explains itself, and wrong usage ends with 64 and one line."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lamplighter import __version__
from lamplighter.cli.main import build_parser, main

EXPECTED = {
    "demo", "init", "generate", "post", "status", "posted",
    "stock list", "stock show", "stock hold", "stock release", "stock approve", "stock drop", "stock clean",
    "brands list", "brands skip", "brands unskip", "runs list", "runs show", "runs log",
    "template list", "template new", "template check", "template preview",
}  # fmt: skip


LOADED = {f"lamplighter.cli.{name}" for name in ("main", "run", "command", "console", "report")}
_LOOK = "import sys; from lamplighter.cli import main; main.build_parser(only='--help'); print(*sys.modules)"


def walk(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command below a parser."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield words
    for group in groups:
        for name, member in group.choices.items():
            yield from walk(member, (*words, name))


COMMANDS = sorted(" ".join(words) for words in walk(build_parser()))


def leave(*arguments: str) -> int:
    """Return the exit code with which the parser ends the program."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_help_has_every_command_and_loads_none() -> None:
    """The lines of help are in one place, and stand there whether or not a command is loaded."""
    code = "import sys; from lamplighter.cli.main import main; main(['--help'])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in shown.splitlines() if line.startswith("    ") and line[4] != " "]
    assert names == list(dict.fromkeys(word.split()[0] for word in (" ".join(words) for words in walk(build_parser()))))
    modules = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in modules if name.startswith("lamplighter.cli.")} <= LOADED


def test_every_command_of_the_design_is_there() -> None:
    """As far as it is built."""
    assert set(COMMANDS) >= EXPECTED


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the workspace it works in and JSON for programs."""
    assert leave(*command.split(), "--help") == 0
    told = capsys.readouterr()
    assert told.err == ""
    for word in (f"usage: lamplighter {command}", "--workspace DIR", "--json", "--debug"):
        assert word in told.out
    described = told.out.split("\n\n")[1]
    assert described[0].islower(), f"a description is part of a sentence: {described}"


def test_the_whole_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command has its line."""
    assert leave("--help") == 0
    told = capsys.readouterr().out
    assert all(command.split()[0] in told for command in COMMANDS)


def test_the_version_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """For a report of a fault."""
    assert leave("--version") == 0
    assert capsys.readouterr().out == f"lamplighter {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nope",),
        ("stock",),
        ("runs",),
        ("brands", "nope"),
        ("stock", "show"),
        ("stock", "show", "a", "b"),
        ("generate", "--dry"),
        ("generate", "--unknown"),
        ("generate", "--brand"),
        ("post", "a\nb"),
        ("runs", "show", "x"),
        ("runs", "show", "0"),
        ("runs", "show", "-1"),
        ("runs", "show", "9" * 30),
        ("runs", "log", "9223372036854775808"),
        ("runs", "list", "--limit", "0"),
        ("runs", "list", "--limit", "９"),
        ("posted", "--limit", "1.5"),
        ("brands", "skip"),
        ("brands", "skip", "x", "--days", "many"),
        ("brands", "skip", "x", "--days", "0"),
        ("--workspace", ".", "status"),
        ("run", "x", "--output", "", "--", "true"),
        ("run", "x", "--output", "  ", "--", "true"),
        ("run", "x", "echo", "hi"),
        ("run", "x", "--nope", "--", "true"),
    ],
)
def test_wrong_usage_ends_with_64_and_one_line(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """The line says where help is."""
    assert leave(*arguments) == 64
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("lamplighter: ")
    assert not told.err.startswith("lamplighter: lamplighter")
    assert told.err.endswith("--help\n")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("options", [(), ("--max-runtime", "2s"), ("--json",)])
def test_a_command_without_its_mark_is_shown_with_it(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole line is there to be typed again, and the help shows the mark."""
    assert leave("run", "x", *options, "echo", "hi") == 64
    line = " ".join(("lamplighter run x", *options, "-- echo hi"))
    assert f"put -- before the command: {line};" in capsys.readouterr().err
    leave("run", "--help")
    assert "[-- COMMAND" in capsys.readouterr().out.splitlines()[0]


HEAVY = ("httpx2", "typst", "PIL", "rich", "pypdfium2", "selectolax", "stamina", "budoux")


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("generate", "--help"), ("nope",)])
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    """It answers at once: what fetches, draws and colours stays out."""
    code = (
        "import sys\nfrom lamplighter.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print('loaded:', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines()[-1] == "loaded: []"
