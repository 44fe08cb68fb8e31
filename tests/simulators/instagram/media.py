"""A loopback server of pictures, good and bad, for Meta's crawler to fetch from."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from PIL import Image
from tests.simulators.instagram.server import LoopbackServer
from tests.simulators.instagram.wire import Answer, Request

_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".html": "text/html"}


def make_jpeg(width: int = 1080, height: int = 1350, *, mark: str = "") -> bytes:
    """Return a baseline JPEG; another mark is another file that looks the same."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (194, 77, 44)).save(out, "JPEG", quality=80, comment=mark.encode())
    return out.getvalue()


def picture_answer(content: bytes, kind: str = "image/jpeg", *, status: int = 200) -> Answer:
    """Return a file as a media host sends it."""
    return Answer(status=status, body=content, headers=(("Content-Type", kind),))


@dataclass(kw_only=True)
class MediaHost:
    """A media host on a free loopback port while the `with` block lasts.

    `pictures` gives bytes by path ("/p/a.jpg"); `folder` serves a directory as a static host does; `answers` wins over
    both and may be slow, cut, a redirect, or a page. `robots` is the text of robots.txt; without it there is none.
    """

    pictures: dict[str, bytes] = field(default_factory=dict)
    folder: Path | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    robots: str | None = None
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._server = LoopbackServer(self.answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *reason: object) -> None:
        self._server.__exit__(*reason)

    @property
    def url(self) -> str:
        """Return the address, without a slash at its end."""
        return self._server.url

    def put(self, path: str, content: bytes | None = None, **changes: object) -> str:
        """Serve a picture at a path and return its address; `changes` are fields of its Answer (hang, pause, cut …)."""
        body = make_jpeg() if content is None else content
        self.pictures[path] = body
        if changes:
            self.answers[path] = replace(picture_answer(body), **changes)  # type: ignore[arg-type]  # names are Answer's
        return self.url + path

    def fetched(self, path: str | None = None) -> list[Request]:
        """Return the requests for pictures in their order, robots.txt left out."""
        return [one for one in self.requests if one.path != "/robots.txt" and path in {None, one.path}]

    def answer(self, request: Request) -> Answer:
        """Decide the answer to one request."""
        with self._lock:
            self.requests.append(request)
        path = request.path
        if path == "/robots.txt" and self.robots is not None:
            return picture_answer(self.robots.encode(), "text/plain")
        if path in self.answers:
            return self.answers[path]
        content = self.pictures.get(path)
        if content is None and self.folder is not None:
            content = _read_file(self.folder, path)
        if content is None:
            return picture_answer(b"not found", "text/html", status=404)
        return picture_answer(content, _type_of(path, _TYPES))


def _type_of(path: str, types: Mapping[str, str]) -> str:
    return types.get(Path(path).suffix.lower(), "application/octet-stream")


def _read_file(folder: Path, path: str) -> bytes | None:
    file = (folder / path.lstrip("/")).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        return None
    return file.read_bytes()
