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
    return ProcessIdentity(pid=pid, start=_read_start(pid), boot_id=read_boot_id())


def is_alive(process: ProcessIdentity) -> bool:
    """Return whether that very process still runs; a zombie is dead, an unknown start time errs towards alive."""
    if process.pid <= 1 or process.boot_id != read_boot_id():
        return False
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # alive, and another user's
    return not process.start or _read_start(process.pid) == process.start


def _read_start(pid: int) -> str:
    """Return field 22 of /proc/PID/stat, read behind the last ")"; "" for a zombie (proc_pid_stat(5))."""
    if sys.platform != "linux":
        return ""
    with contextlib.suppress(OSError, IndexError, ValueError):
        content = Path(f"/proc/{pid}/stat").read_bytes()
        fields = content[content.rindex(b")") + 2 :].split()
        return "" if fields[0] in {b"Z", b"X"} else fields[19].decode("ascii")
    return ""
