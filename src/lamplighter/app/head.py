"""The line at the head of every command: what is wrong, and whether anybody watches. Loads next to nothing."""

from __future__ import annotations

from pathlib import Path

from lamplighter.app.place import absolute
from lamplighter.config.basics import find_basics, find_workspace
from lamplighter.engine import alert
from lamplighter.errors import LamplighterError
from lamplighter.host.clock import Clock, SystemClock


def find_head_line(workspace: str | None) -> str:
    """Return the line for the workspace that a command means, "" where there is none; it never fails."""
    try:
        folder = find_workspace(absolute(Path(workspace or ".")))
    except LamplighterError:
        return ""
    return head_line(folder, SystemClock())


def head_line(workspace_dir: Path, clock: Clock) -> str:
    """Return the line, "" when all is well or nobody ever watched; it never fails."""
    state_dir, _ = find_basics(workspace_dir)
    return alert.head_line(workspace_dir, state_dir, clock.now())
