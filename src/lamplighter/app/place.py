"""Where a command works: the workspace it means, opened as its owner only."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from lamplighter.config.basics import SETTINGS_FILE, find_basics, find_workspace, refuse_odd_place
from lamplighter.errors import ConfigError, InputError, LamplighterError, NoWorkspace, UsageError
from lamplighter.host.clock import Clock, SystemClock, read_zone_name
from lamplighter.host.files import current_user, make_folder, open_to_append, read_capped, read_owner, write_atomic
from lamplighter.value import value

_CLAIM_FILE = "workspace"
_LONGEST_PATH = 4_096
Say = Callable[[str], None]
_OWN_SETTINGS = "# The runs of `lamplighter run NAME -- COMMAND` outside any workspace are recorded here.\n"


@value
class Workspace:
    """Where a command works and by which clock; `say` takes its progress, a line at a time.

    Jobs run `apart`, in processes of their own; a virtual clock is known to one process only.
    """

    folder: Path
    clock: Clock
    say: Say
    apart: bool = True


def open_workspace(workspace: str | None, say: Say) -> Workspace:
    """Return the workspace a command means: the named folder, or the nearest above the present one."""
    start = absolute(Path(workspace or "."))
    if workspace and not is_folder(start):
        cause = "this is not a folder" if os.path.lexists(start) else "there is no such folder"
        raise InputError(str(start), cause, "lamplighter init makes a workspace")
    folder = find_workspace(start).resolve()
    refuse_odd_place(folder)
    return Workspace(folder=folder, clock=SystemClock(), say=say)


def open_workspace_or_own(workspace: str | None, say: Say) -> Workspace:
    """Return the workspace a command means, or outside any the one that is lamplighter's own, made on first use."""
    try:
        return open_workspace(workspace, say)
    except NoWorkspace:
        if workspace:
            raise
    folder = own_dir(os.environ)
    make_folder(folder, mode=0o700)
    if not (folder / SETTINGS_FILE).exists():
        write_atomic(folder / SETTINGS_FILE, f'{_OWN_SETTINGS}zone = "{read_zone_name()}"\n'.encode())
    return Workspace(folder=folder.resolve(), clock=SystemClock(), say=say)


def open_workspace_to_look(workspace: str | None, say: Say) -> Workspace:
    """Return the workspace a command means, or outside any lamplighter's own where there is one."""
    try:
        return open_workspace(workspace, say)
    except NoWorkspace:
        folder = own_dir(os.environ)
        if workspace or not (folder / SETTINGS_FILE).exists():
            raise
    return Workspace(folder=folder.resolve(), clock=SystemClock(), say=say)


def claim_state(state_dir: Path, folder: Path) -> None:
    """Note whose features and posts a state folder tells of; raises ConfigError where they are another workspace's.

    A workspace that is gone, was moved, or has its state elsewhere by now claims nothing; a state folder inside a
    workspace is that one's, whatever the mark says.
    """
    mark = state_dir / _CLAIM_FILE
    try:
        text = os.fsdecode(read_capped(mark, limit=_LONGEST_PATH))
    except LamplighterError:
        text = ""
    known = Path(text) if text else folder
    place = state_dir.resolve()
    for other in () if folder in place.parents else (known, *place.parents):
        if other != folder and (other / SETTINGS_FILE).is_file() and find_basics(other)[0].resolve() == place:
            cause = f"the workspace {other} keeps its features and posts here too"
            raise ConfigError(str(state_dir), cause, "give one of them a state_dir of its own")
    if known != folder or not text:
        # In place and in one piece: what a kill leaves is an empty mark, which claims nothing, and no second file.
        descriptor = open_to_append(mark, mode=0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.truncate(0)
            stream.write(os.fsencode(folder))


def own_dir(environment: Mapping[str, str]) -> Path:
    """Return where runs outside any workspace are recorded (XDG Base Directory Specification)."""
    state = environment.get("XDG_STATE_HOME", "")
    if Path(state).is_absolute():
        return Path(state) / "lamplighter" / "own"
    try:
        return Path.home() / ".local" / "state" / "lamplighter" / "own"
    except RuntimeError:
        raise InputError("run", "this user has no home folder", "set HOME or XDG_STATE_HOME") from None


def absolute(folder: Path) -> Path:
    """Return a folder seen from the present one; raises InputError when that is gone."""
    try:
        return folder.absolute()
    except FileNotFoundError:
        raise InputError(str(folder), "the present folder is gone", "change to one that exists") from None


def is_folder(path: Path) -> bool:
    """Say whether there is a folder, as far as this user may see."""
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, a folder we may not look into
        return False


def refuse_other_user(folder: Path) -> None:
    """Raise UsageError unless this process acts as the owner of the folder, root included."""
    owner, user = read_owner(folder), current_user()
    if owner != user:
        raise UsageError(str(folder), f"it belongs to user {owner}, and this is user {user}", "run it as its owner")
