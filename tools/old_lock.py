"""The lock of the story, in its three versions: python tools/old_lock.py VERSION LOCK_FILE POSTS_DIR SECONDS [UID].

A run that gets the lock writes one post; one that does not says so and exits 0, as the script of the story did.
"age": a lock file younger than two hours is held. "pid": so it is unless its process is gone, and every error of
kill(2) means gone. "repaired": only "no such process" means gone, and a file without a pid goes by its age.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

_TWO_HOURS = 7_200


def is_held(version: str, lock: Path) -> bool:
    """Return whether the old way takes the lock for held."""
    if not lock.exists():
        return False
    is_young = time.time() - lock.stat().st_mtime < _TWO_HOURS
    text = lock.read_text().strip()
    if version == "age" or not text.isdigit():
        return is_young
    try:
        os.kill(int(text), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return version == "repaired"
    return is_young


def main() -> int:
    """Do one run."""
    version, lock, posts, seconds = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    if len(sys.argv) > 5:
        os.setuid(int(sys.argv[5]))
    if is_held(version, lock):
        print("lock held, nothing to do")
        return 0
    lock.write_text(str(os.getpid()))
    time.sleep(seconds)
    (posts / f"post-{time.time_ns()}").write_text("a post")
    lock.unlink(missing_ok=True)
    print("made a post")
    return 0


if __name__ == "__main__":
    sys.exit(main())
