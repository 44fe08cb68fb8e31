"""What a command is to the parser: a name, a handler, a line of help; and which module has which command.

A command loads its own module alone, and `lamplighter --help` none: the lines of help that it shows are here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Protocol

from lamplighter.cli.console import Console
from lamplighter.config.basics import read_duration
from lamplighter.errors import UsageError

_MOST = 2**63 - 1  # what a column of the database holds
_SHORTEST, _LONGEST = timedelta(minutes=1), timedelta(days=30)

Handler = Callable[[argparse.Namespace, Console], int]


class Add(Protocol):
    """Adds a command to the parser and returns its own; one that stands in COMMANDS has its line of help there."""

    def __call__(self, name: str, handler: Handler, text: str = "") -> argparse.ArgumentParser:
        """Add it."""
        ...


# Each command, or group of commands, by its name: its module in this folder, and its line of help.
COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "run": ("run", "run a job of the settings, or after -- any command, under a lock and with an outcome"),
        "demo": ("making", "see it work: the sample brands, three features made, one posted, all offline"),
        "init": ("making", "make a workspace of your own"),
        "generate": ("making", "fill the stock of ready features"),
        "post": ("making", "publish the oldest ready feature for today's slot, at whatever hour"),
        "status": ("status", "what is in stock, how the last runs ended, what is due next, what is wrong"),
        "posted": ("status", "what went out"),
        "stock": ("stock", "the features: ready, held, drafts and posted"),
        "brands": ("brands", "the catalog and its state"),
        "runs": ("runs", "what ran and how it ended"),
        "watch": ("watch", "look once whether all that is expected is there; exit 2: something is missing, 3: unknown"),
        "incidents": ("incidents", "what is wrong, and answering it"),
        "pause": ("pause", "let a job rest for a while, or all of them; it ends by itself"),
        "resume": ("pause", "end the pause of a job, or every pause"),
        "schedule": ("schedule", "what this machine's scheduler starts by itself"),
        "doctor": (
            "doctor",
            "whether everything needed can work, a line each; exit 1: something is wrong, 3: not all could be checked",
        ),
        "notify": ("notify", "who is told, and whether it arrives"),
        "lock": ("lock", "who holds a job's lock, and ending it"),
        "template": ("template", "how slides look: a template of your own, tried and shown"),
    }
)
GROUPS = frozenset({"stock", "brands", "runs", "incidents", "schedule", "notify", "lock", "template"})


def whole_number(text: str) -> int:
    """Return a number from 1 on, as the parser's `type`; raises ArgumentTypeError."""
    number = int(text) if re.fullmatch(r"[0-9]{1,19}", text) else 0
    if not 1 <= number <= _MOST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 1 on")
    return number


def read_lasting(subject: str, text: str) -> timedelta:
    """Return how long something is to last; raises UsageError: nothing lasts for ever."""
    lasting = read_duration(text)
    if lasting is None:
        raise UsageError(f"{subject} --for", f"{text[:40]!r} is no time", "write it like 30m, 3h or 2d")
    if not _SHORTEST <= lasting <= _LONGEST:
        raise UsageError(f"{subject} --for", f"{text[:40]} is not 1m to 30d", "it always ends by itself")
    return lasting
