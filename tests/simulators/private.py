"""A machine of one's own for a child process: its own mounts and pids, its own cron or user manager, gone with it.

Nothing of the real machine's schedulers can be reached from there: /run, the crontabs and the home are new and empty.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import cast

import pytest

_UNSHARE = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
_SYSTEMD = Path("/lib/systemd/systemd")
_CRON = ("/usr/sbin/cron", "/usr/sbin/crond")
Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def can_unshare() -> bool:
    """Return whether this user may have mounts and pids of their own."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False, timeout=30).returncode == 0


def find_cron() -> str:
    """Return the cron daemon, "" where there is none."""
    return next((program for program in _CRON if os.access(program, os.X_OK)), "")


def find_cgroups() -> Path | None:
    """Return where control groups of version 2 are mounted, None where they are not, or not to write."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        found = [Path(line.split()[1]) for line in mounts if line.split()[2] == "cgroup2"]
    return next((folder for folder in found if os.access(folder, os.W_OK)), None)


needs_cron = pytest.mark.skipif(
    not (find_cron() and can_unshare()), reason="needs cron and root: apt-get install cron, and unshare(1)"
)
needs_systemd = pytest.mark.skipif(
    not (_SYSTEMD.exists() and find_cgroups() and can_unshare()),
    reason="needs systemd, control groups and root: apt-get install systemd, and unshare(1)",
)
needs_analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze: apt-get install systemd"
)

CRON = """
mount -t tmpfs none /run
mount -t tmpfs none /var/spool/cron
mkdir -m 1730 /var/spool/cron/crontabs
chgrp crontab /var/spool/cron/crontabs 2>/dev/null || true
mkdir -p /etc/cron.d
mount -t tmpfs none /etc/cron.d
: > /run/empty
test ! -e /etc/crontab || mount --bind /run/empty /etc/crontab
"""
SYSTEMD = """
mount -t tmpfs none /run
mkdir -p /run/systemd/system
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
mount -t cgroup2 none /sys/fs/cgroup
/lib/systemd/systemd --user --log-target=null --show-status=no >/dev/null 2>&1 &
for _ in $(seq 100); do test -S "$XDG_RUNTIME_DIR/systemd/private" && break; sleep 0.05; done
"""


def run_privately(prepare: str, code: str, folder: Path, *, limit: int = 110) -> dict[str, Json]:
    """Run Python `code` on such a machine, with `folder` as its argument and home, and return the JSON it printed."""
    group = _make_group() if prepare == SYSTEMD else None
    home = folder / "home"
    home.mkdir()
    join = f"echo $$ > {group}/cgroup.procs; " if group else ""
    ways = (*_UNSHARE, "--cgroup") if group else _UNSHARE
    inside = f'set -e; {prepare}\nset +e\n"$1" -P -c "$2" "$3"\ncode=$?\nkill -TERM $! 2>/dev/null\nexit $code'
    command = ["sh", "-c", f'{join}exec "$@"', "sh", *ways, "sh", "-c", inside, "sh"]
    try:
        done = subprocess.run(
            [*command, sys.executable, textwrap.dedent(code), str(folder)],
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            stdin=subprocess.DEVNULL,
            env=_environment(home),
            cwd=folder,
        )
    finally:
        if group:
            _remove_group(group)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return cast("dict[str, Json]", json.loads(done.stdout))


def _environment(home: Path) -> dict[str, str]:
    """Return an environment without the guard, which forbids what is private here, and without the refusing stubs."""
    folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if "stubs" not in folder]
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), *folders)),
        "LANG": "C.UTF-8",
        "XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}",
    }


def _make_group() -> Path:
    base = find_cgroups()
    assert base is not None
    group = base / f"lamplighter-test-{os.getpid()}"
    group.mkdir(exist_ok=True)
    return group


def _remove_group(group: Path) -> None:
    """Remove an emptied control group, deepest first; the kernel may need a moment after its last process."""
    for folder, _, _ in os.walk(group, topdown=False):
        for _ in range(100):
            try:
                os.rmdir(folder)
                break
            except OSError:
                import time  # noqa: PLC0415 - the kernel's own time

                time.sleep(0.02)
