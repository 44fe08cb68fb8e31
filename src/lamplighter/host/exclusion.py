"""Who may open what is in a folder: many at a time, or one alone who moves it about; the kernel keeps count.

flock(2) on the folder itself, so that there is no file of it, nothing to clean up, and a dead process holds nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from lamplighter.errors import DiskError

_PAUSE_SECONDS = 0.002


@contextlib.contextmanager
def sharing(folder: Path, patience: timedelta) -> Iterator[None]:
    """Keep out who wants `folder` for itself; raises DiskError when one has it for longer than `patience`."""
    with _holding(folder, fcntl.LOCK_SH, patience):
        yield


@contextlib.contextmanager
def excluding(folder: Path, patience: timedelta) -> Iterator[None]:
    """Have `folder` for oneself; raises DiskError when others use it for longer than `patience`."""
    with _holding(folder, fcntl.LOCK_EX, patience):
        yield


@contextlib.contextmanager
def _holding(folder: Path, kind: int, patience: timedelta) -> Iterator[None]:
    """Hold a folder; one that cannot be opened is not held: who opens what is in it says what is wrong."""
    with contextlib.ExitStack() as stack:
        descriptor = -1
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
        end = time.monotonic() + patience.total_seconds()
        while descriptor >= 0 and not _try(descriptor, kind):
            if time.monotonic() >= end:
                raise DiskError(str(folder), "another program keeps the database in it", "run it again later")
            time.sleep(_PAUSE_SECONDS)
        yield


def _try(descriptor: int, kind: int) -> bool:
    """Return whether it is held, or can never be: on a file system without locks all go without."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
