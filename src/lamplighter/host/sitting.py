"""Since when this user is logged in: agents and user timers run only then, unless they linger."""

from __future__ import annotations

import contextlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path


def read_session_begin(
    *,
    uid: int | None = None,
    run_dir: Path = Path("/run/user"),
    console: Path = Path("/dev/console"),
    is_mac: bool = sys.platform == "darwin",
) -> datetime | None:
    """Return it, None where nobody can tell.

    On Linux the user manager's socket is as old as the first session since the user was last logged out; on macOS
    /dev/console passes to whoever logs in at the screen, and its status changes with that. Never tried on a Mac.
    """
    user = os.geteuid() if uid is None else uid
    with contextlib.suppress(OSError):
        status = (console if is_mac else run_dir / str(user) / "systemd" / "private").stat()
        if status.st_uid == user:
            return datetime.fromtimestamp(status.st_ctime if is_mac else status.st_mtime, tz=UTC)
    return None
