"""Loaded by every Python process a test starts: the same guard there, coverage and the crash killer when asked for."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from tests.guard import install_guard

if os.environ.get("LAMPLIGHTER_REAL_HOME"):
    install_guard(Path(os.environ["LAMPLIGHTER_REAL_HOME"]))
if os.environ.get("COVERAGE_PROCESS_START"):
    with contextlib.suppress(ImportError):
        import coverage

        coverage.process_startup()
if os.environ.get("LAMPLIGHTER_CRASH") and "lamplighter.app.working" in sys.orig_argv:
    from tests.crash.killer import WORKER, install

    install(WORKER)
