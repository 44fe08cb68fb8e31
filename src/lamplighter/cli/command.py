"""What a command is to the parser: a name, a handler, a line of help."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from lamplighter.cli.console import Console

Handler = Callable[[argparse.Namespace, Console], int]
Add = Callable[[str, Handler, str], argparse.ArgumentParser]
