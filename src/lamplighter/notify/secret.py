"""Addresses that let anybody write to a channel: where they are kept, and how they stay out of every word we say."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from lamplighter.errors import ConfigError, LamplighterError, render_line
from lamplighter.host.files import current_user, read_capped

_MOST_BYTES = 8_000
_SHORTEST = 4  # shorter pieces are no secret, and stand in ordinary words too


def read_secret(source: str, *, about: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Return what `env:NAME` or `file:PATH` holds, or `source` itself where it is a local address.

    Raises ConfigError, which names `about` and never the content: a variable or file that is missing or empty, a file
    that others may read, or that is not ours.
    """
    kind, _, place = source.partition(":")
    if kind == "env":
        content = environment.get(place, "")
        if not content.strip():
            raise ConfigError(about, f"the variable {place} is not set", "set it, or keep the address in a file")
    elif kind == "file":
        content = _read_file(folder / place, about)
    else:
        content = source
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    if len(lines) != 1 or not lines[0].isprintable():
        raise ConfigError(about, "it must hold one line: the address", "write nothing else into it")
    return lines[0]


def _read_file(file: Path, about: str) -> str:
    try:
        found = file.stat()
    except OSError as error:
        raise ConfigError(about, f"{file}: {error.strerror or error}", "write the address into it") from error
    if found.st_uid != current_user():
        raise ConfigError(about, f"{file} belongs to another user", "make it yours")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise ConfigError(about, f"{file} can be read by others", f"chmod 600 {file}")
    try:
        return read_capped(file, limit=_MOST_BYTES, what="address").decode("utf-8", "replace")
    except LamplighterError as error:
        raise ConfigError(about, str(error)) from error


def mark_of(secret: str) -> str:
    """Return by what it is known again whether an address is still the same; it tells nothing of the address."""
    return sha256(secret.encode()).hexdigest()[:8]


def redact(text: str, secret: str) -> str:
    """Return text as one line without the address, or any piece of it that could be a secret."""
    _, _, rest = secret.partition("://")
    pieces = {secret, rest, *re.split(r"[/:@?&=,;\s]+", rest), *re.split(r"[/:@?&=,;.\s]+", rest)}
    pieces |= {unquote(piece) for piece in pieces}
    for piece in sorted(pieces, key=len, reverse=True):
        if len(piece) >= _SHORTEST:
            text = text.replace(piece, "…")
    return render_line(re.sub(r"\b[a-z]+://\S+", "…", text), limit=300)
