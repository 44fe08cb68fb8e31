"""Logs are found, stay small while somebody writes, and lose their secrets."""

from __future__ import annotations

import base64
import json
import os
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulators.child import Child, files_of_at_most
from tests.simulators.clock import START

from lamplighter.engine.log import (
    TAIL_LETTERS,
    find_highest_log,
    log_file,
    log_parts,
    read_tail,
    redact,
    redact_file,
    remove_logs,
    render_tail,
    rotate,
)
from lamplighter.errors import DiskError

SECRET = "s3cr3t/Key+with=odd&letters ü"
OLD = datetime(2020, 1, 1, tzinfo=START.tzinfo)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return where a log belongs."""
    file = log_file(tmp_path, "backup", 7)
    file.parent.mkdir(parents=True)
    return file


def numbered(count: int) -> bytes:
    """Return lines of 10 bytes that can be counted."""
    return b"".join(b"%09d\n" % number for number in range(count))


def test_a_log_is_named_by_job_and_number(tmp_path: Path) -> None:
    """Where everybody looks for it."""
    assert log_file(tmp_path, "generate", 12) == tmp_path / "logs" / "generate" / "12.log"


def test_a_small_log_is_left_alone(log: Path) -> None:
    """As is one that is not there, and what is no file."""
    log.write_bytes(numbered(10))
    rotate(log, 100)
    assert (log.read_bytes(), log_parts(log)) == (numbered(10), (log,))
    rotate(log.with_name("gone.log"), 100)
    log.unlink()
    log.mkdir()
    rotate(log, 1)
    assert log.is_dir()


def test_a_large_log_is_emptied_in_place_and_its_end_kept(log: Path) -> None:
    """Whoever appends goes on in the same file; the older part begins with a whole line and is not too long."""
    log.write_bytes(numbered(1_000))
    with log.open("ab", buffering=0) as writer:
        rotate(log, 1_005)
        writer.write(b"afterwards\n")
    older = log.with_name("7.log.1")
    assert log_parts(log) == (older, log)
    assert (older.read_bytes(), log.read_bytes()) == (numbered(1_000)[-1_000:], b"afterwards\n")
    assert older.stat().st_mode & 0o777 == 0o600


def test_there_is_one_older_part(log: Path) -> None:
    """The one before it goes."""
    for letter in (b"a", b"b"):
        log.write_bytes(letter * 9 + b"\n")
        rotate(log, 5)
    assert [part.read_bytes() for part in log_parts(log)] == [b"bbbb\n", b""]
    assert sorted(path.name for path in log.parent.iterdir()) == ["7.log", "7.log.1"]


def test_on_a_full_disk_only_the_last_lines_stay(log: Path) -> None:
    """A log must not keep others from writing; nothing half-written is left beside it."""
    log.write_bytes(numbered(30_000))
    with files_of_at_most(100_000):
        rotate(log, 200_000)
    assert log_parts(log) == (log,)
    assert [path.name for path in log.parent.iterdir()] == ["7.log"]
    assert log.read_bytes() == numbered(30_000)[-64_000:]


FLOOD = """
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
begin = time.monotonic()
written = 0
print("up", flush=True)
while written < 30_000_000:
    if written <= (time.monotonic() - begin) * 10_000_000:
        chunk = b"".join(b"%011d\\n" % ((written + 12 * line) // 12) for line in range(1_000))
        os.write(file, chunk)
        written += len(chunk)
print("done", flush=True)
input()
"""


def test_a_flood_of_10_mb_a_second_is_kept_small_and_in_order(log: Path) -> None:
    """Rotated while it is written: bounded on disk, every line whole, nothing twice, the end all there."""
    limit, largest = 1_000_000, 0
    with Child(FLOOD, log) as child:
        child.hear()
        done = False
        while not done:
            rotate(log, limit)
            largest = max(largest, sum(part.stat().st_size for part in log_parts(log)))
            done = os.path.exists(log) and _last_number(log) == 30_000_000 // 12 - 1
        child.hear()
    assert largest < 3 * limit
    numbers = [int(line) for part in log_parts(log) for line in part.read_bytes().splitlines()]
    assert numbers[-1] == 30_000_000 // 12 - 1
    gaps = [after - before for before, after in pairwise(numbers)]
    assert min(gaps) == 1
    assert sum(gap > 1 for gap in gaps) <= 1


def _last_number(log: Path) -> int:
    lines = log.read_bytes()[-12:].splitlines()
    return int(lines[-1]) if lines and len(lines[-1]) == 11 else -1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\n", "one\ntwo"),
        ("\x1b[1;31mred\x1b[0m\x1b]0;title\x07 plain\x1b[2K", "red plain"),
        ("10 %\r50 %\r100 %\r\ndone\r\n", "100 %\ndone"),
        ("a\tb\x00\x9bc\u202e", "a    b??c?"),
        ("👩\u200d🍳 皿", "👩\u200d🍳 皿"),
        ("\n\n", ""),
        ("", ""),
    ],
)
def test_a_tail_is_printable(text: str, shown: str) -> None:
    """Colours go, a progress line is as it last was, nothing moves a terminal."""
    assert render_tail(text) == shown


@given(st.text(max_size=9_000))
def test_a_tail_is_short_and_stays_as_it_is_when_rendered_again(text: str) -> None:
    """Whatever a program printed."""
    tail = render_tail(text)
    assert len(tail) <= TAIL_LETTERS
    assert all(letter.isprintable() or letter in "\n\u200d" for letter in tail)


def test_the_tail_of_a_file_begins_with_a_whole_line(log: Path) -> None:
    """Bytes that are no text are shown as such, and a file that is gone has no tail."""
    log.write_bytes(b"\xff\xfe" + numbered(100_000))
    tail = read_tail(log)
    assert tail.endswith("000099999")
    assert len(tail) == TAIL_LETTERS
    log.write_bytes(b"a\xffb")
    assert read_tail(log) == "a\N{REPLACEMENT CHARACTER}b"
    assert read_tail(log.with_name("gone")) == ""
    assert read_tail(log.parent) == ""


def test_the_tail_of_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    """A program may have put anything in the place of its log."""
    os.mkfifo(tmp_path / "fifo")
    assert read_tail(tmp_path / "fifo") == ""


def _forms(secret: str) -> list[str]:
    content = secret.encode()
    return [
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        quote(secret, safe="").replace("%2F", "%2f"),
        json.dumps(secret)[1:-1],
        base64.b64encode(content).decode(),
        base64.urlsafe_b64encode(content).decode(),
        base64.b64encode(b"user:" + content).decode(),
        base64.b64encode(b"me:" + content + b"\n").decode(),
    ]


@pytest.mark.parametrize("form", _forms(SECRET))
def test_a_secret_is_redacted_however_it_is_written(form: str) -> None:
    """In clear, quoted for a URL or JSON, in base64, also after a user's name."""
    redacted = redact(f"before {form} after", [SECRET])
    assert "***" in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    assert not any(part in redacted for part in (form[8:-8], SECRET[:8]))


@given(st.text(min_size=1, max_size=30).filter(lambda text: text.strip()), st.binary(max_size=5), st.binary(max_size=5))
def test_no_secret_is_left_in_base64(secret: str, before: bytes, after: bytes) -> None:
    """Wherever it begins in what was encoded: what is left decodes to nothing of it."""
    secret = f"secret-{secret.strip()}".strip()
    try:
        content = secret.encode()
    except UnicodeEncodeError:
        return
    assert "***" in redact(base64.b64encode(before + content + after).decode(), [secret])


def test_of_two_secrets_the_longer_one_goes_first() -> None:
    """Nothing of the longer one is left behind the shorter one."""
    assert redact("token-123 and token", ["token", "token-123"]) == "*** and ***"


def test_short_and_empty_secrets_do_not_make_a_log_unreadable() -> None:
    """Nothing is no secret; a short one goes in clear only."""
    assert redact("a b c", ["", "  ", "\n"]) == "a b c"
    assert redact("pin 123", ["123"]) == "pin ***"
    assert redact("unchanged", []) == "unchanged"


def test_a_secret_of_several_lines_goes_line_by_line_too() -> None:
    """A key file is printed with something before each of its lines."""
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----\n"
    assert "MIIEvQIBADANBgkqhkiG9w0B" not in redact("> " + key.replace("\n", "\n> "), [key])


def test_text_that_is_none_is_redacted_as_well() -> None:
    """Half letters and foreign bytes never stop it."""
    assert redact("\udcff hush-hush \ud800", ["hush-hush"]) == "\udcff *** \\ud800".replace("\udcff", "\\udcff")
    assert redact("\udcff hush-hush", ["hush-hush"]) == "\udcff ***"


def test_a_log_is_redacted_as_a_whole(log: Path) -> None:
    """Both parts, a secret that was cut in two by the rotation as well; other bytes stay as they are."""
    older = log.with_name("7.log.1")
    older.write_bytes(b"\xff first hush-hush, then hush-")
    log.write_bytes(b"hush and the rest \xfe hush-hush")
    redact_file(log, ["hush-hush"])
    assert older.read_bytes() == b"\xff first ***, then ***"
    assert log.read_bytes() == b" and the rest \xfe ***"


def test_a_log_without_secrets_is_not_touched(log: Path) -> None:
    """Neither its time nor its inode changes; one that is not there is none."""
    log.write_bytes(b"nothing to hide\n")
    before = log.stat()
    redact_file(log, ["hush-hush"])
    redact_file(log, [])
    redact_file(log.with_name("gone.log"), ["hush-hush"])
    assert (log.stat().st_ino, log.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_log_that_cannot_be_rewritten_stays_as_it_was(log: Path) -> None:
    """On a full disk there is an error of one line, and no half log."""
    log.write_bytes(b"hush-hush" * 1_000)
    with files_of_at_most(100), pytest.raises(DiskError, match="raise the limit for file sizes"):
        redact_file(log, ["hush-hush"])
    assert log.read_bytes() == b"hush-hush" * 1_000
    assert [path.name for path in log.parent.iterdir()] == ["7.log"]


def test_the_highest_log_is_of_any_job(tmp_path: Path) -> None:
    """Older parts count, other files don't, and no number is too odd."""
    assert find_highest_log(tmp_path / "logs") == 0
    for name in ("generate/3.log", "post/12.log.1", "post/x.log", "post/99.txt", f"post/{9**30}.log", "notes"):
        file = tmp_path / "logs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert find_highest_log(tmp_path / "logs") == 12


def test_old_logs_of_no_run_are_removed(tmp_path: Path) -> None:
    """Those of runs that are kept stay, and so does what is young or not ours."""
    for name in ("1.log", "1.out", "1.err.1", "2.log", "2.out", "3.log", ".tmp-4.log.5", "notes.txt"):
        (tmp_path / name).touch()
        if name != "3.log":
            os.utime(tmp_path / name, (OLD.timestamp(), OLD.timestamp()))
    remove_logs(tmp_path, frozenset({2}), before=START)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.log", "2.out", "3.log", "notes.txt"]
    remove_logs(tmp_path / "gone", frozenset(), before=START)


def test_nothing_here_needs_more_than_it_must() -> None:
    """The supervisor loads this at every start: what only secrets need comes when there are some."""
    code = """
    import sys
    before = set(sys.modules)
    import lamplighter.engine.log
    print(*sorted(set(sys.modules) - before))
    """
    with Child(code) as child:
        loaded = child.hear().split()
    assert "lamplighter.engine.log" in loaded
    assert not {"socket", "ssl", "http", "html", "email", "asyncio", "msgspec", "urllib.parse", "base64"} & set(loaded)
