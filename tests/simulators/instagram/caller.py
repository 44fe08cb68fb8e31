"""A plain client of the simulator, over a raw socket or in the same process, for tests of the simulator itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPConnection
from typing import cast
from urllib.parse import urlencode

from tests.simulators.instagram.simulator import InstagramSimulator
from tests.simulators.instagram.wire import Json, Members, Request

AGENT = "test-caller/1.0"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes

    @property
    def body(self) -> Members:
        """Return the JSON object."""
        return cast("Members", json.loads(self.content))

    @property
    def id(self) -> str:
        """Return the id of what was made; an AssertionError shows what came instead."""
        assert self.status == 200, self.content
        return str(self.body["id"])

    @property
    def error(self) -> Members:
        """Return the error object."""
        return cast("Members", self.body["error"])

    @property
    def numbers(self) -> tuple[int, Json, Json]:
        """Return (HTTP status, code, subcode) of an error."""
        return self.status, self.error["code"], self.error.get("error_subcode")

    @property
    def data(self) -> list[Members]:
        """Return the list of a list."""
        return cast("list[Members]", self.body["data"])


@dataclass(kw_only=True)
class Caller:
    """Calls one account of a simulator; `over` is "socket" or "process"."""

    simulator: InstagramSimulator
    over: str = "process"
    base: str = "/ig"
    version: str = "/v26.0"
    token: str | None = None
    """Another token than the simulator's first; "" sends none."""
    agent: str = AGENT

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Reply:
        """Send one request as it stands."""
        token = self.simulator.token if self.token is None else self.token
        given = {"User-Agent": self.agent, "Authorization": f"Bearer {token}" if token else "", **(headers or {})}
        sent = {name: value for name, value in given.items() if value}
        target = f"{self.base}{path}" + (f"?{urlencode(query)}" if query else "")
        if self.over == "socket":
            return send(self.simulator.port, method, target, sent, body)
        lower = {name.lower(): value for name, value in {"Host": "127.0.0.1", **sent}.items()}
        answer = self.simulator.answer(Request(method=method, target=target, headers=lower, body=body))
        if not answer.whole:
            raise ConnectionResetError
        told = {name.lower(): value for name, value in answer.headers}
        return Reply(status=answer.status, headers=told, content=answer.body)

    def get(self, path: str, **query: str) -> Reply:
        """Read."""
        return self.call("GET", f"{self.version}/{path}", query=query)

    def post(self, path: str, **form: str) -> Reply:
        """Write, with a form."""
        headers, body = {"Content-Type": FORM}, urlencode(form).encode()
        return self.call("POST", f"{self.version}/{path}", headers=headers, body=body)

    @property
    def account(self) -> str:
        """Return the account's id."""
        return self.simulator.account.id

    def item(self, url: str, **more: str) -> Reply:
        """Make a carousel's child."""
        return self.post(f"{self.account}/media", image_url=url, is_carousel_item="true", **more)

    def image(self, url: str, **more: str) -> Reply:
        """Make a single image."""
        return self.post(f"{self.account}/media", image_url=url, **more)

    def carousel(self, children: Sequence[str], **more: str) -> Reply:
        """Make a carousel of children."""
        return self.post(f"{self.account}/media", media_type="CAROUSEL", children=",".join(children), **more)

    def publish(self, creation_id: str) -> Reply:
        """Publish a container."""
        return self.post(f"{self.account}/media_publish", creation_id=creation_id)

    def status(self, container_id: str) -> str:
        """Return what a container says its state is, or ""."""
        return str(self.get(container_id, fields="status_code,status").body.get("status_code", ""))

    def listed(self, **query: str) -> list[Members]:
        """Return the media list."""
        fields = "id,caption,timestamp,permalink,media_type,alt_text,children{id,alt_text}"
        return self.get(f"{self.account}/media", **{"fields": fields, **query}).data

    def ready(self, caption: str = "A lamp") -> str:
        """Make a carousel of two slides, let it get ready, and return its container's id."""
        urls = ("https://media.example/1.jpg", "https://media.example/2.jpg")
        made = self.carousel([self.item(url).id for url in urls], caption=caption).id
        self.simulator.clock.advance(timedelta(seconds=self.simulator.knobs.processing_s))
        return made


def send(port: int, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
    """Send one request over a fresh connection to loopback."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request(method, target, body=body or None, headers=dict(headers))
        response = connection.getresponse()
        told = {name.lower(): value for name, value in response.headers.items()}
        return Reply(status=response.status, headers=told, content=response.read())
    finally:
        connection.close()
