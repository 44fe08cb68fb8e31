"""The socket: takes requests off it, and sends answers as badly as they say."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from tests.simulators.instagram.wire import Answer, Request, plain_answer

LONGEST_BODY = 4_194_304
_LINGER_NOT = struct.pack("ii", 1, 0)


class LoopbackServer:
    """A threading HTTP server on 127.0.0.1 while the `with` block lasts; port 0 takes a free one."""

    def __init__(self, answer: Callable[[Request], Answer], *, port: int = 0) -> None:
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.answer = answer
        self._server.closing = self.closing
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Return its address, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    answer: Callable[[Request], Answer]
    closing: threading.Event

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a caller that hangs up; that is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer one request of any method."""
        length = self.headers.get("Content-Length", "0")
        chunked = "Transfer-Encoding" in self.headers or not length.isdecimal()
        body = b"" if chunked else self.rfile.read(min(int(length), LONGEST_BODY))
        if chunked or int(length) > LONGEST_BODY:
            self.close_connection = True
            self._send(plain_answer("The body has no length, or is too long.", status=411 if chunked else 413))
            return
        request = Request(
            method=self.command,
            target=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        answer = self.server.answer(request)
        if answer.hang:
            self.server.closing.wait(answer.hang)
        if answer.drop or self.server.closing.is_set():
            self._reset()
            return
        with suppress(ConnectionError, TimeoutError):
            self._send(answer)

    do_POST = do_DELETE = do_PUT = do_HEAD = do_PATCH = do_GET  # noqa: N815  (the library's own names)

    def _reset(self) -> None:
        """Close so that the other side gets a reset, not an end."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
            self.rfile.close()  # it holds the socket open
            self.connection.close()

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        if "Date" not in dict(answer.headers):
            self.send_header("Date", self.date_time_string())
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.cut is not None:
            self.send_header("Connection", "close")
        self.end_headers()
        body = answer.body if answer.cut is None else answer.body[: answer.cut]
        if self.command == "HEAD":
            return
        if not answer.pause:
            self.wfile.write(body)
        for at in range(len(body) if answer.pause else 0):
            self.wfile.write(body[at : at + 1])
            if self.server.closing.wait(answer.pause):
                break
        self.close_connection = self.close_connection or answer.cut is not None

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the library's own name)
        """Say nothing: the calls are recorded."""
