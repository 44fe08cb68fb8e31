"""The logs of runs: where they are, how they stay small while somebody writes, and how secrets leave them."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path

from lamplighter.errors import LamplighterError, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.files import TEMPORARY_PREFIX, append_line, make_folder, read_capped, write_atomic
from lamplighter.value import value

LOG_LIMIT = 10_000_000
TAIL_LETTERS = 4_000
_OLDER = ".1"
_CHUNK = 1_000_000
_KEPT_ON_FULL_DISK = 64_000
_TAIL_BYTES = 4 * TAIL_LETTERS
_READ_LIMIT = 500_000_000
_SHORTEST_ENCODED = 6
_LOG_NAME = re.compile(
    r"(?P<number>[0-9]{1,15})\.(log|out|err|result|raw)(\.1)?"
)  # in our words, and what its worker left
_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\^_])")


@value
class Tails:
    """The last lines a run's program wrote to its two streams."""

    out: str = ""
    err: str = ""


def log_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where a run's log is."""
    return state_dir / "logs" / job / f"{number}.log"


def out_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where the standard output of a run's worker is."""
    return log_file(state_dir, job, number).with_suffix(".out")


def err_file(state_dir: Path, job: str, number: int) -> Path:
    """Return where the standard error of a run's worker is."""
    return log_file(state_dir, job, number).with_suffix(".err")


class RunLog:
    """A run's log, a line at a time, each with its moment; one that cannot be written never stops the work."""

    def __init__(self, state_dir: Path, job: str, number: int, clock: Clock) -> None:
        """Name the file; nothing is touched yet."""
        self._state_dir = state_dir
        self._file = log_file(state_dir, job, number)
        self._clock = clock

    def write(self, text: str) -> None:
        """Append one line; a state folder that somebody removed is not made again for it."""
        with contextlib.suppress(LamplighterError, OSError):
            if not self._state_dir.is_dir():
                return
            make_folder(self._file.parent, mode=0o700)
            stamp = self._clock.now().isoformat(timespec="seconds")
            append_line(self._file, f"{stamp} {render_line(text)}", mode=0o600, durable=False)


def log_parts(file: Path) -> tuple[Path, ...]:
    """Return the parts of a log that there are, older first."""
    return tuple(part for part in (_older(file), file) if part.exists())


def find_highest_log(logs_dir: Path) -> int:
    """Return the highest run number that a log is named by, 0 when there is none."""
    return max((number for _, number in _list_logs(logs_dir)), default=0)


def remove_logs(folder: Path, kept: frozenset[int], *, before: datetime) -> None:
    """Delete the logs of a job that belong to no run in `kept` and were last written before an instant.

    So do those of runs that only a lost database knew, and what a killed writer left; what cannot be deleted stays.
    """
    with contextlib.suppress(OSError):
        for path in [*_list_folder(folder)]:
            match = _LOG_NAME.fullmatch(path.name)
            foreign = match is None and not path.name.startswith(TEMPORARY_PREFIX)
            if foreign or (match is not None and int(match["number"]) in kept):
                continue
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < before.timestamp():
                    path.unlink()


def rotate(file: Path, limit: int = LOG_LIMIT) -> None:
    """Shorten a log of more than `limit` bytes in place while others append to it (O_APPEND); to be called often.

    Its last `limit` bytes replace `<file>.1`. What is written between the last look and the cut is lost: microseconds
    of it. On a full disk only the last lines stay, in the log itself. What cannot be done is left for the next time.
    """
    with contextlib.suppress(OSError):
        if file.lstat().st_size <= limit:
            return
        descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            _rotate(descriptor, _older(file), limit)
        finally:
            os.close(descriptor)


def _rotate(descriptor: int, older: Path, limit: int) -> None:
    fresh = older.with_name(f"{TEMPORARY_PREFIX}{older.name}")
    start = _find_line(descriptor, os.fstat(descriptor).st_size - limit)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as stream:
            for chunk in _read_from(descriptor, start):
                stream.write(chunk)
                stream.flush()  # so that nothing lies between the last look and the cut
            os.ftruncate(descriptor, 0)
        os.replace(fresh, older)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()
        _keep_last_lines(descriptor)


def _keep_last_lines(descriptor: int) -> None:
    """Make room where there is none: a log that fills the disk must not stop what others write."""
    size = os.fstat(descriptor).st_size
    last = b"".join(_read_from(descriptor, _find_line(descriptor, size - _KEPT_ON_FULL_DISK)))
    os.ftruncate(descriptor, 0)
    os.write(descriptor, last[-_KEPT_ON_FULL_DISK:])


def _find_line(descriptor: int, start: int) -> int:
    """Return where the next line begins at or after `start`, `start` itself where none does for long."""
    if start <= 0:
        return 0
    near = os.pread(descriptor, _CHUNK // 100, start - 1)
    found = near.find(b"\n") + 1
    return start + found - 1 if 0 < found < len(near) else start


def _read_from(descriptor: int, start: int) -> Iterator[bytes]:
    while chunk := os.pread(descriptor, _CHUNK, start):
        start += len(chunk)
        yield chunk


def read_tail(file: Path) -> str:
    """Return the last lines of a file as `render_tail` does, "" when it cannot be read."""
    with contextlib.suppress(OSError), open(file, "rb", opener=_open_without_waiting) as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - _TAIL_BYTES))
        content = stream.read(_TAIL_BYTES)
        if size > _TAIL_BYTES:
            content = content.partition(b"\n")[2] or content
        return render_tail(content.decode("utf-8", "replace"))
    return ""


def render_tail(text: str) -> str:
    """Return the end of foreign text, at most 4,000 letters: line breaks stay, colours go, the unprintable is "?"."""
    lines = _ESCAPE.sub("", text).replace("\t", "    ").split("\n")
    shown = ("".join(map(_printable, line.rstrip("\r").rpartition("\r")[2])) for line in lines)
    tail = "\n".join(shown).strip("\n")
    return tail if len(tail) <= TAIL_LETTERS else f"…{tail[1 - TAIL_LETTERS :]}"


def _printable(letter: str) -> str:
    return letter if letter.isprintable() or letter == "\u200d" else "?"


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return text with each secret as ***, also where it is quoted for a URL or JSON, or inside base64."""
    pattern = _compose_pattern(secrets)
    if pattern is None:
        return text
    redacted = pattern.sub(b"***", _encode(text))
    return redacted.decode("utf-8", "surrogateescape")


def redact_file(file: Path, secrets: Iterable[str]) -> None:
    """Replace each secret in a log, its older part included, by ***; raises DiskError, and then the log is as it was.

    For a log that nobody writes any more. A secret that was cut in two by a rotation is found as well.
    """
    pattern = _compose_pattern(secrets)
    parts = log_parts(file) if pattern is not None else ()
    if pattern is None or not parts:
        return
    contents = [read_capped(part, limit=_READ_LIMIT, what="log") for part in parts]
    border = len(contents[0])
    whole = b"".join(contents)
    redacted = [bytearray() for _ in parts]
    done = 0
    for found in (*pattern.finditer(whole), None):
        start = found.start() if found else len(whole)
        for position, (low, high) in enumerate(((0, border), (border, len(whole)))[: len(parts)]):
            redacted[position] += whole[max(done, low) : max(min(start, high), low, done)]
        if found:
            redacted[0 if start < border else 1] += b"***"
            done = found.end()
    for part, before, after in zip(parts, contents, redacted, strict=True):
        if before != after:
            write_atomic(part, bytes(after), mode=0o600)


def _compose_pattern(secrets: Iterable[str]) -> re.Pattern[bytes] | None:
    forms = set(chain.from_iterable(map(_list_forms, secrets)))
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(b"|".join(longest_first)) if longest_first else None


def _list_forms(secret: str) -> Iterator[bytes]:
    """Give patterns of how a secret may be written; a short one only in clear, or every word would look like it."""
    from urllib.parse import quote, quote_plus  # noqa: PLC0415 - most runs have no secrets

    secret = secret.strip()
    lines = secret.splitlines()
    for text in {secret, *(line.strip() for line in lines if len(lines) > 1 and len(line.strip()) >= 16)}:
        content = _encode(text)
        if content:
            yield re.escape(content)
        if len(content) < _SHORTEST_ENCODED:
            continue
        for quoted in (quote(content, safe=""), quote(content, safe="/"), quote_plus(content)):
            yield re.sub(rb"%(..)", rb"%(?i:\1)", re.escape(quoted.encode()))  # %2F and %2f are the same
        for ascii_only in (True, False):
            yield re.escape(_encode(json.dumps(text, ensure_ascii=ascii_only)[1:-1]))
        yield from map(re.escape, _list_base64(content))


def _list_base64(content: bytes) -> Iterator[bytes]:
    """Give what base64 makes of it, wherever it begins in a longer text: the letters that hold nothing else."""
    import base64  # noqa: PLC0415 - the same

    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + content)
        first = (0, 2, 3)[offset]
        last = (len(content) + offset) * 8 // 6
        yield encoded[first:last]
        yield encoded[first:last].translate(bytes.maketrans(b"+/", b"-_"))


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a letter of UTF-16
        return text.encode("utf-8", "backslashreplace")


def _older(file: Path) -> Path:
    return file.with_name(file.name + _OLDER)


def _list_logs(logs_dir: Path) -> Iterator[tuple[Path, int]]:
    """Give every log of every job with its number."""
    with contextlib.suppress(OSError):
        for folder in [*_list_folder(logs_dir)]:
            if folder.is_dir():
                for path in _list_folder(folder):
                    match = _LOG_NAME.fullmatch(path.name)
                    if match is not None:
                        yield path, int(match["number"])


def _list_folder(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from folder.iterdir()


def _open_without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK | os.O_NOFOLLOW)
