"""Builds the parser, calls the one function of a command, and turns expected errors into one line and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, Protocol, cast

from lamplighter import __version__
from lamplighter.app.head import find_head_line
from lamplighter.cli import run
from lamplighter.cli.command import COMMANDS, GROUPS, Add, Handler
from lamplighter.cli.console import Console, Json, close_output, print_error
from lamplighter.errors import DiskError, FailureClass, LamplighterError
from lamplighter.host.signals import Interrupted, holding_interrupts

_DESCRIPTION = "Posts from a shop's own products, kept in stock and published one a day, exactly once."
_BUG_EXIT = 1
_HEADLESS = frozenset({"watch", "init", "demo", "doctor"})


class Parser(argparse.ArgumentParser):
    """An argument parser that ends wrong usage with exit code 64."""

    def error(self, message: str) -> NoReturn:
        """Print one line and the way to help."""
        command = self.prog.removeprefix("lamplighter").strip()
        print_error(f"{command}{': ' if command else ''}{message}; see {self.prog} --help")
        raise SystemExit(FailureClass.USAGE.value)

    def _get_formatter(self) -> argparse.HelpFormatter:
        """Return what formats the help; argparse asks for one with each argument, and its own loads shutil."""
        return argparse.HelpFormatter(self.prog, width=_read_width())


def _read_width() -> int:
    """Return the columns there are for help: what COLUMNS says, else those of the terminal, else 80."""
    columns = os.environ.get("COLUMNS", "")
    try:
        return max(11, int(columns) - 2 if columns.isdecimal() else os.get_terminal_size(1).columns - 2)
    except OSError:
        return 78


class _Commands(Protocol):
    """A module of commands."""

    def add_commands(self, add: Add) -> None:
        """Add them to the parser."""


def build_parser(*, only: str | None = None) -> Parser:
    """Return the parser of the whole command line, or that which the command `only` needs.

    A command loads its own module and no other. For any other word, `--help` for one, each command has its name and its
    line of help alone, and nothing is loaded.
    """
    parser = Parser(prog="lamplighter", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"lamplighter {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    if only is not None and only not in COMMANDS:
        for name, (_, text) in COMMANDS.items():
            commands.add_parser(name, help=text)
        return parser
    shared = Parser(add_help=False)
    shared.add_argument("--workspace", metavar="DIR", help="default: the nearest parent with lamplighter.toml")
    shared.add_argument("--json", action="store_true", help="print one JSON value")
    shared.add_argument("--debug", action="store_true", help="show tracebacks")

    def add_to(group: argparse._SubParsersAction[Parser]) -> Add:
        def add(name: str, handler: Handler, text: str = "") -> argparse.ArgumentParser:
            words = text or COMMANDS[name][1]
            command = group.add_parser(name, help=words, description=words, parents=[shared], allow_abbrev=False)
            command.set_defaults(handler=handler)
            return command

        return add

    names = COMMANDS if only is None else (only,)
    for module in dict.fromkeys(COMMANDS[name][0] for name in names):
        group = commands
        if module in GROUPS:
            text = COMMANDS[module][1]
            members = commands.add_parser(module, help=text, description=text)
            group = members.add_subparsers(dest="subcommand", required=True, metavar="WHAT")
        _load(module).add_commands(add_to(group))
    return parser


def _load(module: str) -> _Commands:
    """Return a module of commands; `run`, which starts often, is there already."""
    if module == "run":
        return run
    import importlib  # noqa: PLC0415 - `run` needs none

    return cast("_Commands", importlib.import_module(f"lamplighter.cli.{module}"))


def main(argv: Sequence[str] | None = None, *, handler: Handler | None = None) -> int:
    """Run one command, by its own handler unless another is given, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = _parse(argv)
    console = Console(as_json=arguments.json)
    try:
        _tell_head(arguments)
        with holding_interrupts() as interrupts, interrupts.raising():
            code: int = (handler or arguments.handler)(arguments, console)
    except LamplighterError as error:
        return _tell_error(error, arguments)
    except OSError as error:  # what the machine did, in a place that no part expects it
        return _tell_error(DiskError(str(error.filename or "lamplighter"), error.strerror or str(error)), arguments)
    except Interrupted as error:
        print_error("interrupted")
        return 128 + error.number
    except Exception as error:  # noqa: BLE001 - the last boundary: a bug is said in one line too
        _tell_traceback(arguments)
        text = f"a bug: {type(error).__name__}: {error}"
        _tell_value({"error": text, "exit_code": _BUG_EXIT}, arguments)
        print_error(f"{text}; --debug shows where")
        return _BUG_EXIT
    finally:
        console.finish()
    return code


def _tell_head(arguments: argparse.Namespace) -> None:
    """Say above everything else what is wrong: to a person, not to a scheduler, and not where it is said anyway."""
    if arguments.command in _HEADLESS or getattr(arguments, "scheduled", False):
        return
    head = find_head_line(arguments.workspace)
    if head:
        print_error(head)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments; raises SystemExit after --help, --version and wrong usage."""
    try:
        given = list(sys.argv[1:] if argv is None else argv)
        is_run = given[:1] == ["run"]
        ours, mark, words = _split(given) if is_run else (given, False, [])
        parser = build_parser(only=given[0] if given else "")
        arguments, unknown = parser.parse_known_args(ours)
        if unknown:
            _refuse_unknown(parser, unknown, ours, is_run=is_run and not mark)
        arguments.has_words, arguments.words = mark, words
        if any("\udc80" <= letter <= "\udcff" for word in vars(arguments).values() for letter in str(word)):
            parser.error("an argument is not text in this terminal's encoding")
    except SystemExit:
        if sys.stdout is not None:
            try:
                sys.stdout.flush()
            except OSError:  # `lamplighter --help | head -1`
                close_output(sys.stdout)
        raise
    return arguments


def _refuse_unknown(parser: Parser, unknown: list[str], ours: list[str], *, is_run: bool) -> NoReturn:
    first = ours.index(unknown[0]) if unknown[0] in ours else 0
    if is_run and first > 1 and not unknown[0].startswith("-"):
        words = [*ours[:first], "--", *ours[first:]]
        parser.error(f"put -- before the command: lamplighter {' '.join(words)}")
    parser.error(f"unrecognized arguments: {' '.join(unknown)}")


def _split(given: list[str]) -> tuple[list[str], bool, list[str]]:
    """Part our arguments from the command behind the first --, which is nobody's to read but its own."""
    if "--" not in given:
        return given, False, []
    at = given.index("--")
    return given[:at], True, given[at + 1 :]


def _tell_traceback(arguments: argparse.Namespace) -> None:
    if arguments.debug:
        import traceback  # noqa: PLC0415 - it loads much

        traceback.print_exc()


def _tell_error(error: LamplighterError, arguments: argparse.Namespace) -> int:
    _tell_traceback(arguments)
    _tell_value({"error": str(error), "exit_code": error.failure.value}, arguments)
    print_error(str(error))
    return error.failure.value


def _tell_value(value: Json, arguments: argparse.Namespace) -> None:
    console = Console(as_json=arguments.json)
    console.hurry()
    with contextlib.suppress(LamplighterError):
        console.value(value)
