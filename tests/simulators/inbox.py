"""Discord, Slack, Telegram, ntfy, a plain JSON webhook and a Healthchecks-style ping server, on loopback.

    with Inbox() as inbox:
        inbox.will("discord", Reply(status=429, headers={"Retry-After": "7"}))   # the next answer of a service
        inbox.always("discord", Reply(status=500))                                # every answer from now on
        ...
        inbox.got("discord")                                                      # what it took, in order

What a service refuses in the field is refused here: a library's agent (403/1010), too long a text (400), too many at a
time (429, where `keeps_time`). Services whose address Apprise knows by heart are reached by a wire that is led here.
"""

from __future__ import annotations

import html
import json
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

from tests.simulators.agent import BLOCKED_BODY, BLOCKED_STATUS, is_library_agent

from lamplighter.host.clock import Clock
from lamplighter.host.wire import Wire

AGENT = "lamplighter/test (+mailto:test@example.com)"
DISCORD = "discord://123456789012345678/" + "secret-Discord_Token-" * 3 + "12345"
TELEGRAM = "tgram://123456789:secret_telegram_token/12345/"
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/secretSlackToken12345678/#general"
_HOSTS = {
    "discord.com": "discord",
    "api.telegram.org": "telegram",
    "hooks.slack.com": "slack",
    "ping": "ping",
    "json": "json",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: what is sent, and how badly."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: float = 0.0
    drop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One message as it arrived; header names are in lower case."""

    service: str
    path: str
    headers: Mapping[str, str]
    text: str = ""
    pictures: tuple[bytes, ...] = ()
    query: Mapping[str, str] = field(default_factory=dict)


class Inbox:
    """The server; leaving the block ends it."""

    def __init__(self, *, keeps_time: bool = False) -> None:
        """Take everything that is right."""
        self.asked: list[Letter] = []
        self.taken: list[Letter] = []
        self.keeps_time = keeps_time
        self._script: dict[str, deque[Reply]] = defaultdict(deque)
        self._standing: dict[str, Reply] = {}
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self._over = threading.Event()
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                inbox._serve(self)

            do_GET = do_POST  # noqa: N815 - http.server looks for this name
            do_PUT = do_POST  # noqa: N815 - the same

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def host(self) -> str:
        """Return host:port, as a person lists it."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def ntfy(self) -> str:
        """Return an Apprise address of the ntfy server in here."""
        return f"ntfy://{self.host}/secret-topic-98765"

    @property
    def json(self) -> str:
        """Return an Apprise address of the JSON webhook in here."""
        return f"json://{self.host}/json/secret-hook-45678"

    @property
    def ping(self) -> str:
        """Return the address of a check."""
        return f"http://{self.host}/ping/1f3c-secret-check-uuid"

    def wire(self, clock: Clock) -> Wire:
        """Return a wire that leads here wherever it is asked to go."""
        return _LedHere(self.host, clock)

    def will(self, service: str, *replies: Reply) -> None:
        """Answer the next requests of a service like this."""
        self._script[service].extend(replies)

    def always(self, service: str, reply: Reply | None) -> None:
        """Answer every request of a service like this from now on, None: as it usually does."""
        if reply is None:
            self._standing.pop(service, None)
        else:
            self._standing[service] = reply

    def got(self, service: str) -> tuple[str, ...]:
        """Return the texts a service took, in order."""
        return tuple(letter.text for letter in self.taken if letter.service == service)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        letter = _open(
            handler.path, {name.lower(): value for name, value in handler.headers.items()}, handler.rfile.read(length)
        )
        self.asked.append(letter)
        reply = self._choose(letter)
        if reply.hang:
            self._over.wait(reply.hang)
        if reply.drop:
            handler.close_connection = True
            return
        if 200 <= reply.status < 300:
            self.taken.append(letter)
        handler.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(reply.body)

    def _choose(self, letter: Letter) -> Reply:
        if is_library_agent(letter.headers):
            return Reply(status=BLOCKED_STATUS, body=BLOCKED_BODY)
        script = self._script[letter.service]
        if script:
            return script.popleft()
        if letter.service in self._standing:
            return self._standing[letter.service]
        if self.keeps_time and self._is_too_often(letter.service):
            return Reply(status=429, body=b'{"retry_after": 0.5}', headers={"Retry-After": "1"})
        return _usual(letter)

    def _is_too_often(self, service: str) -> bool:
        """Return whether this is the sixth request within two seconds, as Discord counts."""
        times, now = self._times[service], time.monotonic()
        while times and now - times[0] > 2:
            times.popleft()
        times.append(now)
        return len(times) > 5


class _LedHere(Wire):
    """A wire to the services in here."""

    def __init__(self, host: str, clock: Clock) -> None:
        super().__init__(user_agent=AGENT, allowed_hosts=frozenset({host}), clock=clock)
        self._host = host

    def address(self, url: str) -> str:
        """Lead a request here, with the host it was for at the head of its path."""
        parts = urlsplit(url)
        if parts.netloc == self._host:
            return url
        return f"http://{self._host}/{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def _open(target: str, headers: Mapping[str, str], body: bytes) -> Letter:
    path, _, query = target.partition("?")
    service = _HOSTS.get(path.split("/")[1], "ntfy")
    asked = {name: values[0] for name, values in parse_qs(query).items()}
    fields, pictures = _read_fields(headers.get("content-type", ""), body)
    if service == "ntfy" and "message" in asked:
        fields, pictures = {**asked}, (body,)
    return Letter(
        service=service,
        path=path,
        headers=headers,
        text=_find_text(service, fields) or (body.decode("utf-8", "replace") if service == "ping" else ""),
        pictures=pictures,
        query=asked,
    )


def _read_fields(kind: str, body: bytes) -> tuple[dict[str, object], tuple[bytes, ...]]:
    if kind.startswith("multipart/"):
        message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        fields: dict[str, object] = {}
        pictures = []
        for part in message.iter_parts():
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            if part.get_filename():
                pictures.append(content)
            else:
                fields[str(part.get_param("name", header="content-disposition"))] = content.decode()
        inner = fields.get("payload_json")
        return (json.loads(inner) if isinstance(inner, str) else fields), tuple(pictures)
    try:
        found = json.loads(body)
    except ValueError:
        return {}, ()
    return (found if isinstance(found, dict) else {}), ()


def _find_text(service: str, fields: Mapping[str, object]) -> str:
    if service == "slack":
        inner = fields.get("attachments")
        found = inner[0] if isinstance(inner, list) and inner else {}
        return f"{found.get('title', '')}\n{found.get('text', '')}" if isinstance(found, dict) else ""
    names = {
        "discord": ("content",),
        "telegram": ("text", "caption"),
        "ntfy": ("title", "message"),
        "json": ("title", "message"),
    }
    text = "\n".join(str(fields[name]) for name in names.get(service, ()) if fields.get(name))
    return html.unescape(re.sub(r"</?b>", "", text)) if service == "telegram" else text


def _usual(letter: Letter) -> Reply:
    """Answer as the service does when nothing is wrong with it."""
    if letter.service == "discord":
        return Reply() if len(letter.text) <= 2_000 else Reply(status=400, body=b'{"content": ["too long"]}')
    if letter.service == "telegram":
        most = 1_024 if letter.pictures else 4_096
        units = len(letter.text.encode("utf-16-le")) // 2
        ok = b'{"ok": true, "result": {"message_id": 1}}'
        return Reply(body=ok) if units <= most else Reply(status=400, body=b'{"description": "message is too long"}')
    if letter.service == "slack":
        return Reply(body=b"ok") if len(letter.text) <= 3_000 else Reply(status=400, body=b"invalid_payload")
    if letter.service == "ntfy":
        return Reply() if len(letter.text.encode()) <= 4_096 else Reply(status=413)
    return Reply(body=b"OK")
