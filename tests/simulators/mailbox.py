"""A mail server on loopback: as much of SMTP as a mail program needs, and the two ways it says no."""

from __future__ import annotations

import socketserver
import threading
from dataclasses import dataclass
from email import message_from_bytes, policy
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail as it arrived."""

    subject: str
    text: str
    pictures: tuple[bytes, ...]


class Mailbox:
    """Takes mail from whoever logs in; leaving the block ends it."""

    def __init__(self) -> None:
        """Take everybody's mail."""
        self.taken: list[Mail] = []
        self.answers: dict[str, str] = {}
        mailbox = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                mailbox._talk(self)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def address(self) -> str:
        """Return its Apprise address."""
        port = self._server.server_address[1]
        return f"mailto://me:secret-password@127.0.0.1:{port}?from=me@example.com&to=you@example.com"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _talk(self, handler: socketserver.StreamRequestHandler) -> None:
        def answer(text: str) -> None:
            handler.wfile.write(f"{text}\r\n".encode())

        answer("220 mailbox")
        while line := handler.rfile.readline():
            verb = line.split()[0].decode().upper() if line.split() else ""
            if verb in self.answers:
                answer(self.answers[verb])
            elif verb == "EHLO":
                answer("250-mailbox")
                answer("250 AUTH PLAIN LOGIN")
            elif verb == "AUTH":
                answer("235 ok")
            elif verb == "DATA":
                answer("354 go on")
                self.taken.append(_read_mail(handler))
                answer("250 taken")
            elif verb == "QUIT":
                answer("221 bye")
                return
            else:
                answer("250 ok")


def _read_mail(handler: socketserver.StreamRequestHandler) -> Mail:
    lines = []
    while (line := handler.rfile.readline()) not in {b".\r\n", b""}:
        lines.append(line.removeprefix(b"."))
    mail = message_from_bytes(b"".join(lines), policy=policy.default)
    text = mail.get_body(("plain",))
    return Mail(
        subject=str(mail["subject"]),
        text=str(text.get_content()) if text else "",
        pictures=tuple(bytes(part.get_content()) for part in mail.iter_attachments()),
    )
