"""What a command is to the parser: a name, a handler, a line of help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from lamplighter.cli.console import Console

_MOST = 2**63 - 1  # what a column of the database holds

Handler = Callable[[argparse.Namespace, Console], int]
Add = Callable[[str, Handler, str], argparse.ArgumentParser]


def whole_number(text: str) -> int:
    """Return a number from 1 on, as the parser's `type`; raises ArgumentTypeError."""
    number = int(text) if re.fullmatch(r"[0-9]{1,19}", text) else 0
    if not 1 <= number <= _MOST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 1 on")
    return number
