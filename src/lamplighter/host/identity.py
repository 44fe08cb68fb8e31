"""Which process a pid means: a pid alone is reused, a pid with its start time and boot is not."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from lamplighter.host.clock import read_boot_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """A process for good: pid, start in clock ticks since boot ("" where unknown), boot id ("" where unknown)."""

    pid: int
    start: str
    boot_id: str


def read_own_identity() -> ProcessIdentity:
    """Return the identity of this process."""
    pid = os.getpid()
    return ProcessIdentity(pid=pid, start=_read_state_and_start(pid)[1], boot_id=read_boot_id())


def is_alive(process: ProcessIdentity) -> bool:
    """Return whether that very process still runs; a zombie is dead, an unknown start time errs towards alive."""
    if process.pid <= 1 or process.boot_id != read_boot_id():
        return False
    state, start = _read_state_and_start(process.pid)
    if state in {"Z", "X"} or (start and process.start and start != process.start):
        return False
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # alive, and another user's, whose start may be hidden (hidepid, proc(5))
    return True


def _read_state_and_start(pid: int) -> tuple[str, str]:
    """Return fields 3 and 22 of /proc/PID/stat, read behind the last ")"; ("", "") unknown (proc_pid_stat(5))."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            content = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
            fields = content[content.rindex(")") + 2 :].split()
            return fields[0], fields[19]
    return "", ""
