"""What goes over the wire: a request as it came, an answer and how badly it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import parse_qsl

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
Members = dict[str, Json]

JSON_TYPE = "application/json; charset=UTF-8"
HTML_TYPE = "text/html; charset=utf-8"
TEXT_TYPE = "text/plain; charset=UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it arrived; header names are lower case."""

    method: str
    target: str
    """Path and query, as in the request line."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def path(self) -> str:
        """Return the path without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """Return the parameters of the address."""
        return dict(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        """Return the parameters of the body: a form, or a JSON object whose lists and objects stay JSON text."""
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))
        try:
            value = cast("Json", json.loads(self.body or b"{}"))
        except ValueError:
            return {}
        given = value if isinstance(value, dict) else {}
        return {name: _text(item) for name, item in given.items() if item is not None}

    @property
    def values(self) -> dict[str, str]:
        """Return all parameters; the body's win over the address's."""
        return {**self.query, **self.form}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, and how it ends on the wire; seconds are real ones."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", JSON_TYPE),)
    hang: float = 0.0
    """Seconds of silence before the first byte, or before the connection is reset when `drop` is set."""
    drop: bool = False
    """Reset the connection and send nothing."""
    cut: int | None = None
    """Send only so many bytes of the body, though the Content-Length promises all."""
    pause: float = 0.0
    """Seconds between two bytes of the body."""

    @property
    def whole(self) -> bool:
        """Tell whether a patient client receives all of it."""
        return not self.drop and self.cut is None

    def read(self) -> Members:
        """Return the body as a JSON object, for tests in the same process."""
        return cast("Members", json.loads(self.body))


Transport = Callable[[Request], Answer]
"""What a client in the same process may be given in the place of a socket."""


def json_answer(value: Json, *, status: int = 200) -> Answer:
    """Return JSON as Graph sends it: compact, and not escaped more than JSON asks."""
    return Answer(status=status, body=json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def page_answer(text: str, *, status: int = 200) -> Answer:
    """Return an HTML page where JSON was asked for, as a proxy or an outage does."""
    page = f"<!DOCTYPE html><html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>"
    return Answer(status=status, body=page.encode(), headers=(("Content-Type", HTML_TYPE),))


def plain_answer(text: str, *, status: int = 200) -> Answer:
    """Return plain text."""
    return Answer(status=status, body=text.encode(), headers=(("Content-Type", TEXT_TYPE),))


def redirect_answer(location: str) -> Answer:
    """Send the caller elsewhere."""
    return Answer(status=302, headers=(("Location", location), ("Content-Type", HTML_TYPE)))
