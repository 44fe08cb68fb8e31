"""The entry point."""

from __future__ import annotations

import contextlib
import gc
import os
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
        with contextlib.suppress(OSError, AttributeError):  # no standard error
            os.write(sys.stderr.fileno(), b"lamplighter: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
