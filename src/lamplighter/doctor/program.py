"""What the scheduler starts: Python, lamplighter's own program, and the PATH that finds what the jobs need."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lamplighter import __version__
from lamplighter.doctor.finding import Finding, good, wrong
from lamplighter.engine.settings import JobSettings
from lamplighter.errors import InputError
from lamplighter.host.files import read_start

_LEAST = (3, 11)
_SHEBANG_BYTES = 500
_AGAIN = "make the environment anew, then lamplighter schedule install"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What runs us: the interpreter, its version, and what the installed entries start ("": nothing is installed)."""

    interpreter: str
    version: tuple[int, int]
    installed: str = ""


def look_at_program(program: Program) -> Iterator[Finding]:
    """Find whether Python is right, and whether the environment is where it was made."""
    said = ".".join(map(str, program.version))
    if program.version < _LEAST:
        yield wrong("python", f"this is {said}", "lamplighter needs 3.11 or newer")
        return
    moved = _find_moved(program)
    if moved:
        yield wrong("python", moved, _AGAIN)
    else:
        yield good("python", f"{said}, lamplighter {__version__}, {program.interpreter}")


def _find_moved(program: Program) -> str:
    """Return why what is installed or typed starts no more, "" where it does."""
    if program.installed and not Path(program.installed).exists():
        return f"the scheduler's entries start {program.installed}, which is gone"
    if not program.interpreter or not Path(program.interpreter).exists():
        return f"the interpreter {program.interpreter or 'of this process'} is gone"
    script = Path(program.interpreter).parent / "lamplighter"
    try:
        first = read_start(script, length=_SHEBANG_BYTES).partition(b"\n")[0]
    except InputError:  # started as `python -m lamplighter` from a checkout
        return ""
    named = os.fsdecode(first[2:].strip()) if first.startswith(b"#!/") else ""
    if named and " " not in named and not Path(named).exists():
        return f"{script} starts {named}, which is gone: the environment was moved"
    return ""


def look_at_path(path: str, jobs: Sequence[JobSettings], *, here: str, is_installed: bool) -> Iterator[Finding]:
    """Find whether the PATH of scheduled runs has what each job of one's own starts; `here` is this terminal's."""
    missing = [(job, why) for job in jobs if (why := _find_missing(job, path, here, is_installed=is_installed))]
    for job, (words, remedy) in missing:
        yield wrong("path", f"job {job.name}: {words}", remedy)
    if not missing:
        whose = f"scheduled runs have {path}" if is_installed else "this terminal has"
        found = "all that the jobs start" if jobs else "nothing that a job needs: none starts a program of its own"
        yield good("path", f"{whose}{': ' if is_installed else ' '}{found}")


def _find_missing(job: JobSettings, path: str, here: str, *, is_installed: bool) -> tuple[str, str] | None:
    """Return what is wrong with a job's command and what to do, None where it can be started."""
    command = job.command[0]
    if "/" in command:
        file = job.folder / command
        if not file.exists():
            return f"there is no {file}", f"correct jobs.{job.name}.command"
        return None if os.access(file, os.X_OK) else (f"{file} cannot be executed", f"chmod u+x {file}")
    if _find(command, path):
        return None
    if _find(command, here) and is_installed:
        return f"{command} is not on the PATH of scheduled runs", "lamplighter schedule install"
    return f"there is no program {command}", f"install it, or write where it is into jobs.{job.name}.command"


def _find(command: str, path: str) -> str | None:
    import shutil  # noqa: PLC0415 - it loads much, and only a job of one's own needs it

    return shutil.which(command, path=path)


def read_program(installed: str) -> Program:
    """Return what runs this process."""
    return Program(interpreter=sys.executable, version=sys.version_info[:2], installed=installed)
