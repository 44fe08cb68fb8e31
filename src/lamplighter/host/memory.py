"""Whether the kernel has killed for want of memory, as far as the system tells."""

from __future__ import annotations

import contextlib
from pathlib import Path

_COUNT = "oom_kill "


def count_oom_kills(groups: Path = Path("/proc/self/cgroup"), tree: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return how many processes of this control group the kernel has killed so far, None where it does not say.

    memory.events of cgroup v2, memory.oom_control of v1 (Documentation/admin-guide/cgroup-v2.rst of Linux).
    """
    with contextlib.suppress(OSError, ValueError):
        for line in groups.read_text("utf-8", "replace").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                file = tree / path.lstrip("/") / "memory.events"
            elif "memory" in controllers.split(","):
                file = tree / "memory" / path.lstrip("/") / "memory.oom_control"
            else:
                continue
            with contextlib.suppress(OSError, ValueError):
                counts = file.read_text("ascii", "replace").splitlines()
                found = [int(count.removeprefix(_COUNT)) for count in counts if count.startswith(_COUNT)]
                if found:  # before Linux 4.13 there is no such line
                    return found[0]
    return None
