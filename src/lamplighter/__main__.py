"""The entry point."""

from __future__ import annotations

import gc
import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        gc.disable()  # loading makes no garbage, and looking for it costs 4 ms at each start
        from lamplighter.cli.main import main as run  # noqa: PLC0415 - Ctrl-C while it loads is no traceback

        gc.enable()
        try:
            return run()
        finally:
            gc.freeze()  # nor does leaving: to look through all that was loaded once more costs 12 ms
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
