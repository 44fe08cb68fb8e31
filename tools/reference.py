"""Writes the tables of README.md that the code knows better: outcomes and commands. `--check` only compares."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from lamplighter.cli.main import build_parser
from lamplighter.engine.job import MEANING, Outcome, RunReport
from lamplighter.errors import FailureClass

README = Path(__file__).parents[1] / "README.md"
_RUN_FAILURES = (
    FailureClass.CONFIG,
    FailureClass.INPUT,
    FailureClass.UPSTREAM,
    FailureClass.INTERNAL,
    FailureClass.LOCK_UNUSABLE,
    FailureClass.DISK,
)


def render_outcomes() -> str:
    """Return the table of outcomes, meanings and exit codes."""
    rows = [f"| `{outcome.value}` | {MEANING[outcome]} | {_exit_code(outcome)} |" for outcome in Outcome]
    return "\n".join(("| outcome | meaning | exit |", "|---|---|---|", *rows))


def _exit_code(outcome: Outcome) -> str:
    if outcome is Outcome.FAILED:
        return ", ".join(f"{failure.value} {failure.name.lower().replace('_', ' ')}" for failure in _RUN_FAILURES)
    if outcome in {Outcome.INTERRUPTED, Outcome.KILLED}:
        return "128 + signal"
    return str(RunReport(outcome=outcome, line="").exit_code)


def render_commands() -> str:
    """Return the table of commands with their arguments and what they do."""
    rows = [f"| `{usage}` | {text} |" for usage, text in _walk(build_parser())]
    return "\n".join(("| command | does |", "|---|---|", *rows))


def _walk(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for name, member in action.choices.items():
            if any(isinstance(inner, argparse._SubParsersAction) for inner in member._actions):
                yield from _walk(member)
            else:
                yield _usage(member), member.description or name


def _usage(parser: argparse.ArgumentParser) -> str:
    """Return a command with its own arguments, those that every command takes left out."""
    words = [parser.prog]
    for action in parser._actions:
        if action.dest in {"help", "workspace", "json", "debug"}:
            continue
        value = str(action.metavar or "")
        if not action.option_strings:
            words.append(f"[{value}]" if action.nargs == "?" else value)
            continue
        flag = action.option_strings[0]
        more = "…" if isinstance(action, argparse._AppendAction) else ""
        words.append(f"[{flag} {value}]{more}" if value else f"[{flag}]")
    return " ".join(words)


def render_readme(text: str) -> str:
    """Return the README with both tables as the code has them."""
    for name, table in (("outcomes", render_outcomes()), ("commands", render_commands())):
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end {name} -->"
        head, found, rest = text.partition(begin)
        _, found_end, tail = rest.partition(end)
        if not (found and found_end):
            raise ValueError(f"README.md has no place for the table of {name}")
        text = f"{head}{begin}{table}{end}{tail}"
    return text


def main() -> int:
    """Write the tables, or with --check return 1 when they are not as the code has them."""
    text = README.read_text("utf-8")
    right = render_readme(text)
    if "--check" in sys.argv:
        print("README.md: the tables are " + ("as the code has them" if text == right else "out of date: make format"))
        return int(text != right)
    README.write_text(right, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
