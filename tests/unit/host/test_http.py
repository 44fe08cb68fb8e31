"""The HTTP client against real loopback servers that misbehave in every way we know."""

from __future__ import annotations

import contextlib
import functools
import gzip
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import pytest

from lamplighter.errors import ConfigError, InternalError, UpstreamError
from lamplighter.host.address import SystemResolver, is_public, key_of
from lamplighter.host.clock import SystemClock
from lamplighter.host.exchange import Answer, Exchange, Hop
from lamplighter.host.http import (
    AddressRefused,
    BrokenAnswer,
    Client,
    Request,
    Response,
    TimedOut,
    TooLarge,
    TooManyRedirects,
    Unreachable,
    Untrusted,
)

Act = Callable[[socket.socket, threading.Event], None]


class Loopback:
    """A server on 127.0.0.1 that answers each path with scripted bytes or an act on the bare connection."""

    def __init__(self, routes: dict[str, bytes | Act], *, tls: ssl.SSLContext | None = None) -> None:
        self.routes = routes
        self.heads: list[str] = []
        self._tls = tls
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.key = f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def url(self, path: str = "/") -> str:
        """Return the address of a path here."""
        return f"http://{self.key}{path}"

    def _start(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(functools.partial(self._serve, connection))

    def _serve(self, plain: socket.socket) -> None:
        plain.settimeout(5)
        with plain, contextlib.suppress(OSError):
            connection = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(4096)
                    if not piece:
                        return
                    head += piece
                self.heads.append(head.decode())
                path = head.split(b" ")[1].decode().partition("?")[0]
                route = self.routes.get(path, answer(b"no such path", status=404))
                if isinstance(route, bytes):
                    connection.sendall(route)
                else:
                    route(connection, self._stopped)


class FixedResolver:
    """Knows the addresses of the names it was given and remembers what it was asked."""

    def __init__(self, **answers: tuple[str, ...]) -> None:
        self.answers = {name.replace("_", "."): addresses for name, addresses in answers.items()}
        self.asked: list[str] = []

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Return the fixed addresses."""
        assert port > 0
        assert limit > timedelta()
        self.asked.append(host)
        return self.answers[host]


class BracketResolver:
    """Finds every name on loopback, IPv6 addresses too."""

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Return loopback."""
        del host, port, limit
        return ("127.0.0.1",)


class BuggyResolver:
    """Has a bug."""

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Raise what no resolver may."""
        raise ValueError("a bug", host, port, limit)


class ChangingResolver:
    """A name server that has changed its mind by the second lookup."""

    def __init__(self) -> None:
        self.lookups = 0

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Return loopback first, then an address nobody must go to."""
        del host, port, limit
        self.lookups += 1
        return ("127.0.0.1",) if self.lookups == 1 else ("10.0.0.1",)


class LeapingClock:
    """A clock that leaps ahead each time it is read."""

    def __init__(self, leap: timedelta) -> None:
        self._leap = leap
        self._steady = timedelta()

    def now(self) -> datetime:
        """Return a fixed instant."""
        return datetime(2026, 5, 4, tzinfo=UTC)

    def monotonic(self) -> timedelta:
        """Return a later time at each call."""
        self._steady += self._leap
        return self._steady

    def wait(self, duration: timedelta) -> None:
        """Nobody waits here."""
        raise AssertionError(duration)


def answer(body: bytes = b"", *headers: str, status: int = 200) -> bytes:
    """Return a whole HTTP answer."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def redirect(location: str, status: int = 302) -> bytes:
    """Return an answer that leads elsewhere."""
    return answer(b"moved", f"Location: {location}", status=status)


def request(url: str, **changes: object) -> Request:
    """Return a request with limits short enough for tests."""
    second = timedelta(seconds=1)
    known: dict[str, object] = {"connect": second, "read": second, "total": 5 * second, "max_bytes": 100_000}
    return Request(url=url, **{**known, **changes})  # type: ignore[arg-type] # the dataclass's own names


def client(*listed: str, **changes: object) -> Client:
    """Return a client on the machine's clock that may also connect to the listed host:port."""
    known: dict[str, object] = {"contact": "mailto:me@shop.example", "clock": SystemClock()}
    return Client(allowed_hosts=frozenset(listed), **{**known, **changes})  # type: ignore[arg-type] # the same


def fetch(server: Loopback, path: str = "/", **changes: object) -> Response:
    """Get a path of a server that is on the list."""
    with client(server.key) as http:
        return http.get(request(server.url(path), **changes))


def test_an_answer_comes_back_with_status_lower_case_headers_and_every_cookie() -> None:
    """Status, body, final address; header names in lower case; repeated Set-Cookie stay apart."""
    route = answer(b"hello", "Set-Cookie: a=1; Path=/", "Set-Cookie: cart_currency=EUR", "X-Thing: Yes")
    with Loopback({"/": route}) as server:
        response = fetch(server)
        assert (response.status, response.body, response.url) == (200, b"hello", server.url())
    assert response.header_values("Set-Cookie") == ("a=1; Path=/", "cart_currency=EUR")
    assert response.header("x-thing") == "Yes"
    assert response.header("absent") == ""


def test_header_values_that_are_no_ascii_are_read_as_text() -> None:
    """UTF-8 as such, any other byte as Latin-1: a name in a header is never a reason to fail."""
    route = b"HTTP/1.1 200 OK\r\nX-One: \xc3\xbc\r\nX-Two: \xfc\r\nContent-Length: 0\r\n\r\n"
    with Loopback({"/": route}) as server:
        response = fetch(server)
    assert (response.header("x-one"), response.header("x-two")) == ("ü", "ü")


def test_an_address_in_brackets_is_named_in_brackets() -> None:
    """The Host header of an IPv6 address."""
    resolver = BracketResolver()
    with Loopback({"/": answer(b"ok")}) as server, client(f"[::1]:{server.port}", resolver=resolver) as http:
        assert http.get(request(f"http://[::1]:{server.port}/")).body == b"ok"
        assert f"\r\nhost: [::1]:{server.port}\r\n" in server.heads[0].lower()


def test_a_bug_of_ours_is_not_called_a_broken_answer() -> None:
    """What no network does goes through as what it is."""
    with client(resolver=BuggyResolver()) as http, pytest.raises(ValueError, match="a bug"):
        http.get(request("http://shop.example/"))


def test_a_status_that_is_no_success_is_an_answer_and_no_error() -> None:
    """What a status means is the caller's business."""
    with Loopback({"/": answer(b"no", status=503)}) as server:
        assert fetch(server).status == 503


def test_it_names_itself_with_a_contact_and_sends_the_headers_asked_for() -> None:
    """The user agent says who we are and how to reach us; nothing of the library's own shines through."""
    with Loopback({"/": answer()}) as server:
        fetch(server, headers={"Accept": "application/json"})
        head = server.heads[0].lower()
    assert "user-agent: lamplighter/" in head
    assert "(+mailto:me@shop.example)" in head
    assert "accept: application/json" in head
    assert "httpx" not in head


def test_cookies_are_not_kept_between_requests() -> None:
    """Nothing of one answer follows us to the next request."""
    with Loopback({"/": answer(b"", "Set-Cookie: id=7")}) as server, client(server.key) as http:
        http.get(request(server.url()))
        http.get(request(server.url()))
        assert len(server.heads) == 2
        assert "id=7" not in server.heads[1]


def test_a_contact_that_cannot_stand_in_a_header_is_a_configuration_error() -> None:
    """A line break in the contact would forge headers."""
    with pytest.raises(ConfigError, match="contact"):
        client(contact="me\r\nX-Evil: 1")


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would connect where we refuse to."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Loopback({"/": answer(b"direct")}) as server:
        assert fetch(server).body == b"direct"


def test_a_closed_client_refuses_to_work() -> None:
    """Using a closed client is our own bug and says so."""
    http = client()
    http.close()
    with pytest.raises(InternalError, match="closed"):
        http.get(request("http://shop.example/"))


def test_the_words_of_http_are_importable_without_the_slow_library() -> None:
    """Whoever needs only the protocol and its errors does not pay for httpx2."""
    code = "import sys, lamplighter.host.http; sys.exit(any(m in sys.modules for m in ('httpx2', 'httpcore2')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- addresses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[::7f00:1]",
        "[fc00::1]",
        "[fec0::1]",
        "[ff02::1]",
    ],
)
def test_a_private_address_is_refused_however_it_is_spelled(host: str) -> None:
    """Loopback, private, link-local, shared, multicast, and IPv4 hidden in numbers or in IPv6."""
    with client() as http, pytest.raises(AddressRefused, match=r"not a public address|Invalid IPv4"):
        http.get(request(f"http://{host}:9/"))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
)
def test_an_address_of_the_open_internet_is_public(address: str) -> None:
    """Also an IPv4 one as an IPv6-only network sees it."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address", ["", "shop.example", "192.88.99.1", "2001::1", "2001:db8::1", "3fff::1", "240.0.0.1"]
)
def test_what_is_reserved_or_no_address_is_not_public(address: str) -> None:
    """Ranges that Python calls global in some versions are named by us."""
    assert not is_public(address)


@pytest.mark.parametrize(
    ("host", "key"), [("Shop.Example", "shop.example:80"), ("::1", "[::1]:80"), ("[::1]", "[::1]:80")]
)
def test_a_host_and_port_have_one_spelling(host: str, key: str) -> None:
    """The list and the connection compare the same text."""
    assert key_of(host, 80) == key


@pytest.mark.parametrize("url", ["ftp://shop.example/x", "file:///etc/passwd", "//shop.example", "", "http://", "shop"])
def test_what_is_no_web_address_is_refused(url: str) -> None:
    """Only http and https with a host are asked for."""
    with client() as http, pytest.raises(AddressRefused):
        http.get(request(url))


def test_a_user_name_in_an_address_is_refused_and_never_repeated() -> None:
    """A password in an address would end up in logs, so it stays out of the message too."""
    with client() as http, pytest.raises(AddressRefused) as caught:
        http.get(request("https://me:hunter2@shop.example/x?key=hunter3"))
    assert "hunter" not in str(caught.value)
    assert str(caught.value).startswith("shop.example/x: ")


def test_a_private_port_next_to_the_listed_one_is_refused() -> None:
    """The list means the exact host:port and nothing around it."""
    with Loopback({"/": answer(b"secret")}) as other, client("127.0.0.1:1") as http:
        with pytest.raises(AddressRefused):
            http.get(request(other.url()))
        assert other.heads == []


def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    """A name with a public and a private address is a trap."""
    resolver = FixedResolver(trap_example=("93.184.216.34", "127.0.0.1"))
    with client(resolver=resolver) as http, pytest.raises(AddressRefused, match=r"127\.0\.0\.1"):
        http.get(request("http://trap.example/"))


def test_the_name_is_looked_up_once_and_the_checked_address_is_the_one_connected_to() -> None:
    """A name server that changes its answer between check and connection gains nothing: nobody asks it again."""
    resolver = ChangingResolver()
    with Loopback({"/": answer(b"ok")}) as server, client(f"shop.local:{server.port}", resolver=resolver) as http:
        assert http.get(request(f"http://shop.local:{server.port}/")).body == b"ok"
        assert resolver.lookups == 1


def test_a_listed_name_is_reached_by_the_address_it_has_and_keeps_its_name() -> None:
    """The list takes names; the server still hears the name it is called by."""
    resolver = FixedResolver(shop_local=("127.0.0.1",))
    with Loopback({"/": answer(b"ok")}) as server:
        with client(f"Shop.Local:{server.port}", resolver=resolver) as http:
            assert http.get(request(f"http://shop.local:{server.port}/")).body == b"ok"
        assert f"host: shop.local:{server.port}" in server.heads[0].lower()


def test_the_next_address_of_a_name_is_tried_when_the_first_does_not_answer() -> None:
    """A name with a dead address still works."""
    resolver = FixedResolver(shop_local=("127.0.0.9", "127.0.0.1"))
    with Loopback({"/": answer(b"ok")}) as server, client(f"shop.local:{server.port}", resolver=resolver) as http:
        assert http.get(request(f"http://shop.local:{server.port}/")).body == b"ok"


def test_a_name_without_addresses_is_unreachable_by_dns() -> None:
    """An empty answer of the name server is a lookup that failed."""
    with client(resolver=FixedResolver(void_example=())) as http, pytest.raises(Unreachable) as caught:
        http.get(request("http://void.example/"))
    assert caught.value.is_dns


def test_a_name_that_cannot_be_looked_up_is_unreachable_by_dns() -> None:
    """The system's resolver says why (here without asking anybody: a label of 70 letters); it may pass."""
    with client() as http, pytest.raises(Unreachable, match="cannot be looked up") as caught:
        http.get(request(f"http://{'a' * 70}.example/"))
    assert caught.value.is_dns
    assert not caught.value.permanent


def test_a_lookup_that_outlasts_the_limit_is_left_behind() -> None:
    """What cannot be stopped does not hold the run."""
    ended = threading.Event()

    def look_up(host: str, port: int) -> tuple[str, ...]:
        ended.wait(5)
        return (host, str(port))

    with pytest.raises(TimedOut, match="not looked up in time"):
        SystemResolver(look_up).resolve("slow.example", 80, timedelta(milliseconds=50))
    ended.set()


def test_a_port_where_nobody_listens_is_unreachable_but_not_by_dns() -> None:
    """The subject is host and path, the cause is the system's word."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with client(f"127.0.0.1:{port}") as http, pytest.raises(Unreachable, match="refused") as caught:
        http.get(request(f"http://127.0.0.1:{port}/products.json?limit=250"))
    assert not caught.value.is_dns
    assert caught.value.subject == f"127.0.0.1:{port}/products.json"


# --- redirects ---------------------------------------------------------------------------------------------------


def test_a_redirect_is_followed_and_the_final_address_is_told() -> None:
    """Relative and absolute locations, each kind of redirect."""
    with Loopback({"/a": redirect("/b?x=1", 301), "/b": b"", "/c": answer(b"here")}) as server:
        server.routes["/b"] = redirect(server.url("/c"), 308)
        response = fetch(server, "/a")
        assert (response.body, response.url) == (b"here", server.url("/c"))


def test_a_redirect_without_a_location_is_the_answer() -> None:
    """There is nowhere to go."""
    with Loopback({"/": answer(b"odd", status=302)}) as server:
        assert fetch(server).status == 302


def test_redirects_in_a_circle_are_refused_with_the_place() -> None:
    """The message says where the circle closes."""
    with Loopback({"/a": redirect("/b"), "/b": redirect("/a")}) as server:
        with pytest.raises(TooManyRedirects, match="circle") as caught:
            fetch(server, "/a")
        assert caught.value.permanent
        assert len(server.heads) == 2


def test_more_redirects_than_allowed_are_refused() -> None:
    """A fourth redirect is one too many."""
    routes: dict[str, bytes | Act] = {f"/{number}": redirect(f"/{number + 1}") for number in range(9)}
    with Loopback(routes) as server, pytest.raises(TooManyRedirects, match="more than 3 times"):
        fetch(server, "/0")


@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://2130706433/"])
def test_a_redirect_to_a_private_address_is_refused(location: str) -> None:
    """Even when the chain began at a listed address."""
    with Loopback({"/": redirect(location)}) as server:
        with pytest.raises(AddressRefused, match=r"it redirects to .* is not a public address$") as caught:
            fetch(server)
        assert caught.value.subject == f"{server.key}/"


def test_a_redirect_to_another_port_of_the_same_machine_is_refused_unless_listed() -> None:
    """One listed address may lead to another listed one, and to no other."""
    with Loopback({"/": answer(b"secret")}) as other, Loopback({"/": redirect(other.url())}) as server:
        with pytest.raises(AddressRefused):
            fetch(server)
        assert other.heads == []
        with client(server.key, other.key) as http:
            assert http.get(request(server.url())).body == b"secret"


class ScriptedExchange(Exchange):
    """Answers hops from a script instead of the network, and keeps them."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.hops: list[Hop] = []

    def fetch(self, hop: Hop) -> Answer:
        """Return the next answer."""
        self.hops.append(hop)
        return self._answers.pop(0)


def hop_answer(*, location: str = "", listed: bool) -> Answer:
    """Return what one hop answers: the end, or a redirect."""
    headers = (("location", location),) if location else ()
    return Answer(status=302 if location else 200, headers=headers, body=b"", listed=listed)


def test_a_stranger_cannot_lead_to_an_address_that_is_on_the_list() -> None:
    """The list speaks for the person's own address, not for where a public answer points, then or later."""
    exchange = ScriptedExchange(
        hop_answer(location="http://10.0.0.5:80/a", listed=False),
        hop_answer(location="http://10.0.0.5:80/b", listed=True),
        hop_answer(listed=False),
    )
    http = client("10.0.0.5:80")
    http._exchange = exchange
    http.get(request("http://stranger.example/"))
    assert [hop.listed_hosts for hop in exchange.hops] == [frozenset({"10.0.0.5:80"}), frozenset(), frozenset()]


def test_a_listed_address_may_lead_to_a_public_one_but_not_back() -> None:
    """Once the chain has left the list, the list no longer counts."""
    exchange = ScriptedExchange(
        hop_answer(location="https://public.example/", listed=True),
        hop_answer(location="https://10.0.0.5:80/", listed=False),
        hop_answer(listed=False),
    )
    http = client("10.0.0.5:80")
    http._exchange = exchange
    http.get(request("http://10.0.0.5/"))
    listed = frozenset({"10.0.0.5:80"})
    assert [hop.listed_hosts for hop in exchange.hops] == [listed, listed, frozenset()]


def test_a_redirect_from_https_to_http_is_refused(trusted_tls: Tls) -> None:
    """What was private on the way must not become readable."""
    resolver = FixedResolver(shop_local=("127.0.0.1",))
    with (
        Loopback({"/": redirect("http://shop.local/x")}, tls=trusted_tls.server("shop.local")) as server,
        client(f"shop.local:{server.port}", resolver=resolver, tls=trusted_tls.client()) as http,
        pytest.raises(AddressRefused, match="from https to http"),
    ):
        http.get(request(f"https://shop.local:{server.port}/"))


@pytest.mark.parametrize("location", ["http://[broken", "http://:99999/", "http://a:port/", "javascript:alert(1)"])
def test_a_location_that_is_no_address_is_one_line(location: str) -> None:
    """Nonsense from the other side never becomes a traceback."""
    with Loopback({"/": redirect(location)}) as server, pytest.raises(UpstreamError) as caught:
        fetch(server)
    assert "\n" not in str(caught.value)


def test_signatures_and_cookies_do_not_follow_a_redirect() -> None:
    """Only what is meant for any host is sent on."""
    with Loopback({"/a": redirect("/b"), "/b": answer()}) as server:
        fetch(server, "/a", headers={"Accept": "x/y", "Signature": "sig1=:abc:", "Cookie": "id=7"})
        assert "sig1" in server.heads[0]
        assert "sig1" not in server.heads[1]
        assert "id=7" not in server.heads[1]
        assert "accept: x/y" in server.heads[1]


# --- limits ------------------------------------------------------------------------------------------------------


def drip(connection: socket.socket, stopped: threading.Event, letter: bytes) -> None:
    """Send one letter every 50 ms until told to stop or cut off."""
    while not stopped.wait(0.05):
        connection.sendall(letter)


def drip_body(connection: socket.socket, stopped: threading.Event) -> None:
    """Begin well, then drip."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")
    drip(connection, stopped, b"x")


def drip_headers(connection: socket.socket, stopped: threading.Event) -> None:
    """Never come to the end of the headers."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    drip(connection, stopped, b"x")


def hold_silent(connection: socket.socket, stopped: threading.Event) -> None:
    """Take the request and say nothing."""
    del connection
    stopped.wait(5)


@pytest.mark.parametrize("act", [drip_body, drip_headers])
def test_a_dripping_server_is_cut_off_at_the_total_limit(act: Act) -> None:
    """Each piece comes in time, the whole does not: body or headers, the deadline counts."""
    with Loopback({"/": act}) as server, pytest.raises(TimedOut, match="time allowed"):
        fetch(server, total=timedelta(seconds=0.3), read=timedelta(seconds=0.2))


def test_a_silent_server_is_given_up_after_the_read_limit() -> None:
    """The message says how long nothing came."""
    with Loopback({"/": hold_silent}) as server, pytest.raises(TimedOut, match=r"nothing came for 0\.2 s") as caught:
        fetch(server, read=timedelta(seconds=0.2))
    assert not caught.value.permanent


def test_the_deadline_is_read_from_the_clock_that_was_given() -> None:
    """A simulated clock decides, not the machine's."""
    with Loopback({"/": answer(b"x" * 1000)}) as server:
        http = client(server.key, clock=LeapingClock(timedelta(seconds=2)))
        with http, pytest.raises(TimedOut):
            http.get(request(server.url(), total=timedelta(seconds=9), read=timedelta(seconds=9)))


def test_redirects_share_one_deadline() -> None:
    """Three slow hops do not take three times the limit."""

    def slow(connection: socket.socket, stopped: threading.Event) -> None:
        stopped.wait(0.2)
        connection.sendall(redirect(f"/{len(server.heads)}"))

    with Loopback({"/": slow, "/1": slow, "/2": slow, "/3": slow}) as server, pytest.raises(TimedOut):
        fetch(server, total=timedelta(seconds=0.3))


def test_a_slow_name_server_is_given_up_at_the_connect_limit() -> None:
    """The message says that it was the name, and where it was asked for."""
    ended = threading.Event()

    def look_up(host: str, port: int) -> tuple[str, ...]:
        ended.wait(5)
        return (host, str(port))

    with (
        client(resolver=SystemResolver(look_up)) as http,
        pytest.raises(TimedOut, match="not looked up in time") as caught,
    ):
        http.get(request("http://slow.example/x", connect=timedelta(seconds=0.1)))
    assert caught.value.subject == "slow.example/x"
    ended.set()


@pytest.mark.parametrize("announce", [True, False])
def test_more_bytes_than_allowed_are_refused_announced_or_not(announce: bool) -> None:
    """By Content-Length before the first byte, by counting otherwise."""
    head = b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 2000\r\n" if announce else b"") + b"\r\n"
    with Loopback({"/": head + b"x" * 2000}) as server, pytest.raises(TooLarge, match="1,000 bytes") as caught:
        fetch(server, max_bytes=1000)
    assert caught.value.permanent


def test_an_announced_length_over_the_cap_is_refused_before_the_body_comes() -> None:
    """Nobody waits for what will not be taken."""

    def announce(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n")
        stopped.wait(5)

    with Loopback({"/": announce}) as server, pytest.raises(TooLarge):
        fetch(server, max_bytes=1000, read=timedelta(seconds=0.5))


def test_exactly_as_many_bytes_as_allowed_pass() -> None:
    """The cap is the last number that is fine."""
    with Loopback({"/": answer(b"x" * 1000)}) as server:
        assert len(fetch(server, max_bytes=1000).body) == 1000


def test_a_gzip_bomb_is_stopped_by_its_decoded_size() -> None:
    """Fifty megabytes of zeros in fifty kilobytes."""
    bomb = gzip.compress(bytes(50_000_000))
    with Loopback({"/": answer(bomb, "Content-Encoding: gzip")}) as server, pytest.raises(TooLarge):
        fetch(server, max_bytes=100_000)


# --- broken answers ----------------------------------------------------------------------------------------------


def test_a_gzip_answer_is_decoded() -> None:
    """Also when it is longer than one piece of the decoder."""
    text = b"".join(str(number).encode() for number in range(30_000))
    with Loopback({"/": answer(gzip.compress(text), "Content-Encoding: gzip")}) as server:
        assert fetch(server, max_bytes=1_000_000).body == text


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_has_no_broken_one(status: int) -> None:
    """Whatever its headers say of a body."""
    with Loopback({"/": answer(b"", "Content-Encoding: gzip", status=status)}) as server:
        assert (fetch(server).status, fetch(server).body) == (status, b"")


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(b"hello" * 1000, mtime=0)[:-12], "gzip"),
        (gzip.compress(b"hello", mtime=0) + b"more", "gzip"),
        (b"not gzip at all", "gzip"),
        (b"", "gzip"),
        (zlib.compress(b"hello"), "deflate"),
        (b"hello", "br"),
    ],
    ids=["half", "more", "other", "empty", "deflate", "br"],
)
def test_an_encoding_that_does_not_hold_is_a_broken_answer(body: bytes, encoding: str) -> None:
    """Half a gzip is never taken for a whole one; an encoding nobody asked for is refused."""
    with (
        Loopback({"/": answer(body, f"Content-Encoding: {encoding}")}) as server,
        pytest.raises(BrokenAnswer) as caught,
    ):
        fetch(server)
    assert not caught.value.permanent


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 200_000,
    ],
)
def test_what_is_no_whole_http_answer_is_a_broken_answer(wire: bytes) -> None:
    """A connection that closes early, another protocol, bad chunks, endless headers."""
    with Loopback({"/": wire}) as server, pytest.raises(BrokenAnswer):
        fetch(server)


def test_every_network_error_is_one_line_of_ours() -> None:
    """Whatever came, the message has no line break and no traceback words."""
    with Loopback({"/": b"HTTP/1.1 999 \x00\x01\r\nbad\r\n\r\n"}) as server, pytest.raises(UpstreamError) as caught:
        fetch(server)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{server.key}/: ")


# --- certificates ------------------------------------------------------------------------------------------------


class Tls:
    """A certificate authority of our own in a folder, made by the openssl program."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                  "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-subj", "/CN=Lamplighter Test CA",
                  "-keyout", "ca.key", "-out", "ca.pem")  # fmt: skip

    def server(self, name: str) -> ssl.SSLContext:
        """Return the context of a server with a certificate for one name."""
        extensions = self._folder / "extensions"
        extensions.write_text(f"subjectAltName=DNS:{name}\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
        self._run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                  "-subj", f"/CN={name}", "-keyout", "key.pem", "-out", "request.pem")  # fmt: skip
        self._run("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "7",
                  "-days", "2", "-extfile", "extensions", "-out", "server.pem")  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "server.pem", self._folder / "key.pem")
        return context

    def client(self) -> ssl.SSLContext:
        """Return a client context that trusts this authority alone."""
        return ssl.create_default_context(cafile=self._folder / "ca.pem")

    def _run(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True)


@pytest.fixture
def trusted_tls(tmp_path: Path) -> Tls:
    """Return an authority of our own; skips where the openssl program is not there."""
    if not shutil.which("openssl"):
        pytest.skip("the openssl program makes the certificates")
    return Tls(tmp_path)


def test_a_certificate_for_the_name_is_accepted_at_the_pinned_address(trusted_tls: Tls) -> None:
    """We connect to the address but verify the name, and send it as SNI."""
    resolver = FixedResolver(shop_local=("127.0.0.1",))
    with (
        Loopback({"/": answer(b"safe")}, tls=trusted_tls.server("shop.local")) as server,
        client(f"shop.local:{server.port}", resolver=resolver, tls=trusted_tls.client()) as http,
    ):
        assert http.get(request(f"https://shop.local:{server.port}/")).body == b"safe"


def test_a_certificate_for_another_name_is_not_trusted(trusted_tls: Tls) -> None:
    """The same address with another name's certificate is refused for good."""
    resolver = FixedResolver(shop_local=("127.0.0.1",))
    with (
        Loopback({"/": answer(b"evil")}, tls=trusted_tls.server("other.local")) as server,
        client(f"shop.local:{server.port}", resolver=resolver, tls=trusted_tls.client()) as http,
    ):
        with pytest.raises(Untrusted, match="certificate") as caught:
            http.get(request(f"https://shop.local:{server.port}/"))
        assert caught.value.permanent
        assert server.heads == []


def test_a_certificate_nobody_vouches_for_is_not_trusted(trusted_tls: Tls) -> None:
    """The machine's own store decides when nothing else is given."""
    with (
        Loopback({"/": answer(b"evil")}, tls=trusted_tls.server("127.0.0.1")) as server,
        client(server.key) as http,
        pytest.raises(Untrusted),
    ):
        http.get(request(f"https://{server.key}/"))


def test_a_plain_server_asked_by_https_is_unreachable() -> None:
    """What is no TLS is no trusted connection, in one line."""
    with Loopback({"/": answer()}) as server, client(server.key) as http, pytest.raises(UpstreamError) as caught:
        http.get(request(f"https://{server.key}/", connect=timedelta(seconds=0.3)))
    assert "\n" not in str(caught.value)
