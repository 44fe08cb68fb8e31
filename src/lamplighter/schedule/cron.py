"""cron: our lines in a crontab that may hold other people's, every byte of which stays (pure).

Ours stand at the head, between two marks. A crontab's assignments hold for the lines below them: there nobody's PATH,
SHELL or CRON_TZ reaches our lines, and since ours come with their own environment, none of it reaches theirs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamplighter.errors import ConfigError, InputError
from lamplighter.schedule.entry import DAY_MINUTES, LABEL_PREFIX, Entry, group_minutes

_LONGEST_COMMAND = 998  # cron's MAX_COMMAND is 1000; it cuts or refuses what is longer
_SETS = re.compile(rb"^[ \t]*[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[\"']?[ \t]*=", re.MULTILINE)
_HARMFUL = frozenset({"SHELL", "CRON_TZ", "TZ", "BASH_ENV", "ENV"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Crontab:
    """A crontab taken apart: what is ours of one project (None: nothing), and the bytes before and after it."""

    before: bytes
    ours: bytes | None
    after: bytes

    @property
    def theirs(self) -> bytes:
        """Return everything that is not ours."""
        return self.before + self.after


def parse_crontab(content: bytes, project: str) -> Crontab:
    """Take a crontab apart; raises InputError when our marks are not one pair, so that nothing is guessed."""
    begin, end = _marks(project)
    lines = content.splitlines(keepends=True)
    begins = [number for number, line in enumerate(lines) if line.rstrip(b"\r\n") == begin]
    ends = [number for number, line in enumerate(lines) if line.rstrip(b"\r\n") == end]
    if not begins and not ends:
        return Crontab(before=b"", ours=None, after=content)
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise InputError(
            "crontab",
            f"its lines {begin.decode()} and {end.decode()} are not one pair, so it was left as it is",
            "take them out by crontab -e, with what is between them",
        )
    return Crontab(
        before=b"".join(lines[: begins[0]]),
        ours=b"".join(lines[begins[0] : ends[0] + 1]),
        after=b"".join(lines[ends[0] + 1 :]),
    )


def render_crontab(crontab: Crontab, entries: Sequence[Entry], project: str) -> bytes:
    """Return a crontab with our lines at its head, or without any where there are no entries."""
    if not entries:
        return crontab.theirs
    return render_block(entries, project) + crontab.theirs


def render_block(entries: Sequence[Entry], project: str) -> bytes:
    """Return our lines, marks included; raises ConfigError for what cron cannot hold."""
    begin, end = _marks(project)
    lines = [line for entry in entries for line in list_lines(entry)]
    return b"\n".join((begin, *(line.encode() for line in lines), end, b""))


def list_lines(entry: Entry) -> Iterator[str]:
    """Yield the lines of an entry: its times, the machine's start and each hour, since cron makes up for nothing."""
    command = render_command(entry)
    yield f"# {entry.label}"
    for hours, shared in group_minutes(entry.minutes):
        yield f"{_list(shared, 60)} {_list(hours, 24)} * * * {command}"
    if entry.catches_up:
        yield f"@reboot {command}"
        if len({minute // 60 for minute in entry.minutes}) < 24:
            yield f"{_hint_minute(entry)} * * * * {command}"


def render_command(entry: Entry) -> str:
    """Return what cron hands to the shell: % means a new line there, so it is escaped; raises ConfigError."""
    environment = (shlex.quote(f"{name}={value}") for name, value in entry.environment)
    words = ("/usr/bin/env", *environment, *map(shlex.quote, entry.argv))
    command = f"{' '.join(words)} >>{shlex.quote(str(entry.boot_file))} 2>&1".replace("%", "\\%")
    if len(command.encode()) > _LONGEST_COMMAND:
        raise ConfigError(
            f"job {entry.job}",
            f"its line in the crontab would have {len(command.encode())} letters, and cron takes {_LONGEST_COMMAND}",
            "shorten PATH for this one command, or use --with systemd",
        )
    return command


def find_edits(wanted: bytes, found: bytes) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the labels whose lines are not as they are to be, and the lines of each label that there is."""
    right, there = _by_label(wanted), _by_label(found)
    return tuple(label for label in {**right, **there} if right.get(label) != there.get(label)), there


def add_lines(block: bytes, label: str, lines: Sequence[str]) -> bytes:
    """Return our lines with those of one more label at their end."""
    kept = drop_label(block, label).splitlines(keepends=True)
    added = [f"{line}\n".encode() for line in (f"# {label}", *lines)]
    return b"".join((*kept[:-1], *added, *kept[-1:]))


def drop_label(block: bytes, label: str) -> bytes:
    """Return our lines without those of a label."""
    kept, dropping = [], False
    lines = block.splitlines(keepends=True)
    for line in lines[1:-1]:
        if line.startswith(f"# {LABEL_PREFIX}.".encode()):
            dropping = line.strip() == f"# {label}".encode()
        if not dropping:
            kept.append(line)
    return b"".join((lines[0], *kept, lines[-1]))


def describe_above(crontab: Crontab) -> str:
    """Return which assignment above our lines changes what they mean, "" when none does."""
    names = [found["name"].decode() for found in _SETS.finditer(crontab.before)]
    return next((name for name in names if name in _HARMFUL), "")


def parse_argv(lines: Sequence[str]) -> tuple[str, ...]:
    """Return what the first line of an entry starts, as far as it can be read."""
    try:
        words = shlex.split(lines[0].replace("\\%", "%").partition(" >>")[0]) if lines else []
    except ValueError:
        return ()
    begin = next((number for number, word in enumerate(words) if word.startswith("PYTHONUNBUFFERED=")), -1)
    return tuple(words[begin + 1 :]) if begin >= 0 else ()


def list_expressions(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the five fields of each line of an entry that has them."""
    return tuple(" ".join(line.split()[:5]) for line in lines if line and not line.startswith(("#", "@")))


def _by_label(block: bytes) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    label = ""
    for line in block.decode("utf-8", "replace").splitlines()[1:-1]:
        name = line.removeprefix("# ")
        if line.startswith(f"# {LABEL_PREFIX}."):
            label = name
            found[label] = []
        else:
            found.setdefault(label, []).append(line)
    return {name: tuple(lines) for name, lines in found.items()}


def _marks(project: str) -> tuple[bytes, bytes]:
    return (
        f"# >>> lamplighter {project}: written by lamplighter schedule install >>>".encode(),
        f"# <<< lamplighter {project} <<<".encode(),
    )


def _list(numbers: tuple[int, ...], whole: int) -> str:
    """Return a field: * for all there is, a step where the numbers are one, else a list."""
    if len(numbers) == whole:
        return "*"
    step = whole // len(numbers)
    if len(numbers) > 2 and numbers == tuple(range(0, whole, step)):
        return f"*/{step}"
    return ",".join(map(str, numbers))


def _hint_minute(entry: Entry) -> int:
    """Return the minute of the hourly look, another for each entry, so that they do not all come at once."""
    return sum(entry.label.encode()) % (DAY_MINUTES // 24)
