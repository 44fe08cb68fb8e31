"""The entry point."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    from lamplighter.cli.main import main as run  # noqa: PLC0415 - so that the import is part of the run

    return run()


if __name__ == "__main__":
    sys.exit(main())
