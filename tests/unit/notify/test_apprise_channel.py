"""Channels by Apprise addresses, on the wire: what the services see, and what becomes of what they answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from tests.simulators.agent import LIBRARY_AGENTS, is_library_agent
from tests.simulators.clock import VirtualClock
from tests.simulators.inbox import AGENT, DISCORD, SLACK, TELEGRAM, Inbox, Reply
from tests.simulators.mailbox import Mailbox

from lamplighter.host.wire import Wire
from lamplighter.notify.apprise_channel import open_channel
from lamplighter.notify.channel import BrokenChannel, Channel, Message, Result, Sent
from lamplighter.notify.limits import split

LIMIT = timedelta(seconds=5)
SERVICES = ("discord", "telegram", "slack", "ntfy", "json")
JPEG = b"\xff\xd8\xff\xe0" + b"picture " * 100 + b"\xff\xd9"
HELLO = Message(title="no post went out", body="since: 19:30\nwhy: <nobody> knows & *cares*")


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Return the services."""
    with Inbox() as opened:
        yield opened


Heard = Callable[[], str]


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Heard:
    """Return what returns all that was logged or printed."""
    caplog.set_level(logging.DEBUG)
    return lambda: caplog.text + "".join(capfd.readouterr())


def address_of(service: str, inbox: Inbox) -> str:
    """Return the Apprise address of a service."""
    return {"discord": DISCORD, "telegram": TELEGRAM, "slack": SLACK, "ntfy": inbox.ntfy, "json": inbox.json}[service]


def channel_of(service: str, inbox: Inbox) -> Channel:
    """Open a channel to a service."""
    return open_channel(address_of(service, inbox), inbox.wire(VirtualClock()), allowed_hosts=frozenset({inbox.host}))


@pytest.mark.parametrize("service", SERVICES)
def test_a_message_arrives_whole_under_our_name(inbox: Inbox, service: str) -> None:
    """Title and body, nothing of it taken for markup, and our own agent on every request."""
    assert channel_of(service, inbox).send(HELLO, LIMIT) == Sent(result=Result.SENT)
    text = inbox.got(service)[0].replace("\r\n", "\n").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert text == f"{HELLO.title}\n{HELLO.body}"
    assert {letter.headers["user-agent"] for letter in inbox.asked} == {AGENT}


def test_the_services_refuse_the_agents_of_libraries(inbox: Inbox) -> None:
    """So that a test in which a message arrives proves which agent was sent."""
    answer = requests.post(f"http://{inbox.host}/json/x", json={"message": "hello"}, timeout=5)
    assert (answer.status_code, answer.text) == (403, "error code: 1010")
    assert all(is_library_agent({"user-agent": f"{agent}/1.0"}) for agent in LIBRARY_AGENTS)
    assert not is_library_agent({"user-agent": AGENT})


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(status=404), Sent(result=Result.DEAD, why="the service answered 404")),
        (Reply(status=401), Sent(result=Result.DEAD, why="the service answered 401")),
        (Reply(status=500), Sent(result=Result.LATER, why="the service answered 500")),
        (
            Reply(status=429, headers={"Retry-After": "7", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4e9"}),
            Sent(result=Result.LATER, why="the service answered 429", retry_after=timedelta(seconds=7)),
        ),
        (
            Reply(status=302, headers={"Location": "http://10.0.0.1/"}),
            Sent(result=Result.DEAD, why="the service answered 302: it has moved"),
        ),
        (Reply(drop=True), Sent(result=Result.UNSURE, why="the connection broke before the answer")),
    ],
)  # fmt: skip
def test_what_a_service_answers_is_told_without_its_address(
    inbox: Inbox, service: str, reply: Reply, expected: Sent, heard: Heard
) -> None:
    """One request, one answer, no waiting of Apprise's own, and no secret in any log or on any stream."""
    inbox.always(service, reply)
    assert channel_of(service, inbox).send(HELLO, LIMIT) == expected
    assert len(inbox.asked) == 1
    assert "secret" not in heard() + expected.why


def test_a_service_that_hangs_is_cut_off(inbox: Inbox) -> None:
    """When time is up the connection is closed, and nobody knows whether the words arrived."""
    inbox.always("discord", Reply(hang=20))
    sent = channel_of("discord", inbox).send(HELLO, timedelta(seconds=0.3))
    assert sent == Sent(result=Result.UNSURE, why="the connection broke before the answer")


def test_nobody_at_home_is_told_as_not_sent() -> None:
    """A refused connection: the words cannot have arrived."""
    with Inbox() as inbox:
        channel = channel_of("discord", inbox)
    assert channel.send(HELLO, LIMIT) == Sent(result=Result.LATER, why="no connection")


@pytest.mark.parametrize("service", ["discord", "telegram", "ntfy"])
def test_a_picture_is_attached(inbox: Inbox, service: str, tmp_path: Path) -> None:
    """Byte for byte, and the words with it."""
    cover = tmp_path / "slide-1.jpg"
    cover.write_bytes(JPEG)
    message = Message(title="🆕 a bowl", body="brand: Wrenfold", pictures=(str(cover),))
    assert channel_of(service, inbox).send(message, LIMIT).result is Result.SENT
    assert [picture for letter in inbox.taken for picture in letter.pictures] == [JPEG]
    assert "🆕 a bowl" in "".join(inbox.got(service))


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("damage", ["gone", "empty", "folder", "large", "odd"])
def test_a_picture_that_cannot_be_attached_does_not_stop_the_words(
    inbox: Inbox, service: str, damage: str, tmp_path: Path
) -> None:
    """Gone, empty, no file, larger than services take, or a name with a NUL."""
    cover = tmp_path / "slide-1.jpg"
    if damage == "empty":
        cover.touch()
    elif damage == "folder":
        cover.mkdir()
    elif damage == "large":
        with cover.open("wb") as stream:
            stream.truncate(9_000_000)
    message = Message(title="🆕 a bowl", body="b", pictures=("\0" if damage == "odd" else str(cover),))
    assert channel_of(service, inbox).send(message, LIMIT) == Sent(result=Result.SENT)
    assert len(inbox.got(service)) == 1


@pytest.mark.parametrize("service", ["discord", "telegram", "ntfy"])
def test_a_picture_that_is_not_taken_does_not_stop_the_words(inbox: Inbox, service: str, tmp_path: Path) -> None:
    """413 for the upload: the words arrive once, before it or after it."""
    cover = tmp_path / "slide-1.jpg"
    cover.write_bytes(JPEG)
    refused = Reply(status=413)
    inbox.will(service, *((Reply(), refused) if service == "discord" else (refused,)))
    message = Message(title="🆕 a bowl", body="b", pictures=(str(cover),))
    assert channel_of(service, inbox).send(message, LIMIT).result is Result.SENT
    words = [letter for letter in inbox.taken if "a bowl" in letter.text]
    assert len(words) == 1


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("letter", ["a", "皿", "🆕", "_", "<", "&", '"', "\\"])
def test_the_longest_message_is_taken(inbox: Inbox, service: str, letter: str) -> None:
    """Whatever a service makes of the letters, what we call the limit is within its own."""
    channel = channel_of(service, inbox)
    body = split(letter * 9_000, channel.limits.body - 10, channel.limits.measure)[0]
    assert channel.send(Message(title="t", body=body), LIMIT) == Sent(result=Result.SENT)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "garbage",
        "nosuch://x",
        "discord://only-one",
        "tgram://x/y",
        "slack://a",
        "://",
        "json://",
        "\0",
        "https://shop.example",
    ],
)
def test_an_address_that_is_none_is_said_without_it(
    inbox: Inbox, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """No Apprise line gets out either, which would have the address in it."""
    channel = open_channel(address, inbox.wire(VirtualClock()))
    sent = channel.send(HELLO, LIMIT)
    assert isinstance(channel, BrokenChannel)
    assert sent.result is Result.DEAD
    assert capfd.readouterr() == ("", "")


def test_an_address_that_turns_certificates_off_is_refused(inbox: Inbox) -> None:
    """verify=no lets anybody in between read the token; on a listed host it is the person's own affair."""
    for address in (f"{DISCORD}?verify=no", "jsons://hooks.example/x?verify=no"):
        channel = open_channel(address, inbox.wire(VirtualClock()))
        assert isinstance(channel, BrokenChannel)
        assert "verify=no" in channel.why
    listed = frozenset({"hooks.example:443"})
    assert not isinstance(
        open_channel("jsons://hooks.example/x?verify=no", inbox.wire(VirtualClock()), allowed_hosts=listed),
        BrokenChannel,
    )


class _Table:
    """A resolver by a table."""

    def __init__(self, **names: str) -> None:
        self._names = names

    def resolve(self, host: str, port: int, limit: timedelta) -> tuple[str, ...]:
        """Return what the table says."""
        del port, limit
        return (self._names[host.partition(".")[0]],)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("json://127.0.0.1:9/x", "plain http"),
        ("json://hooks.example/x", "plain http"),
        ("jsons://127.0.0.1:9/x", "127.0.0.1 is not a public address"),
        ("jsons://inner.example/x", "10.1.2.3 is not a public address"),
        ("ntfys://meta.example/topic", "169.254.169.254 is not a public address"),
    ],
)
def test_only_public_addresses_are_reached(address: str, words: str) -> None:
    """And only by https, unless host:port is listed: a token is nothing to be read on the way."""
    resolver = _Table(hooks="93.184.216.34", inner="10.1.2.3", meta="169.254.169.254", **{"127": "127.0.0.1"})
    wire = Wire(user_agent=AGENT, allowed_hosts=frozenset(), clock=VirtualClock(), resolver=resolver)
    sent = open_channel(address, wire).send(HELLO, LIMIT)
    assert sent.result is Result.DEAD
    assert words in sent.why


def test_the_wire_is_closed_again(inbox: Inbox) -> None:
    """After a message `requests` is what it was."""
    before = requests.sessions.Session
    channel_of("discord", inbox).send(HELLO, LIMIT)
    inbox.always("discord", Reply(status=500))
    channel_of("discord", inbox).send(HELLO, LIMIT)
    assert requests.sessions.Session is before


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """Return a mail server."""
    with Mailbox() as opened:
        yield opened


def test_a_notice_goes_by_mail_with_its_picture(inbox: Inbox, mailbox: Mailbox, tmp_path: Path) -> None:
    """One mail: the title is its subject."""
    cover = tmp_path / "slide-1.jpg"
    cover.write_bytes(JPEG)
    channel = open_channel(mailbox.address, inbox.wire(VirtualClock()))
    message = Message(title="🆕 a bowl", body="brand: きりの道具店 <b>&", pictures=(str(cover),))
    assert channel.send(message, LIMIT) == Sent(result=Result.SENT)
    (mail,) = mailbox.taken
    assert (mail.subject, mail.text.strip(), mail.pictures) == ("🆕 a bowl", "brand: きりの道具店 <b>&", (JPEG,))


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (("AUTH", "535 5.7.8 no such user"), Result.DEAD),
        (("MAIL", "451 try later"), Result.LATER),
        (("EHLO", "421 too busy"), Result.LATER),
    ],
)
def test_a_mail_that_is_not_taken_is_told_without_the_password(
    inbox: Inbox, mailbox: Mailbox, answer: tuple[str, str], result: Result, heard: Heard
) -> None:
    """A refused password needs a person, a busy server does not."""
    mailbox.answers.update([answer])
    sent = open_channel(mailbox.address, inbox.wire(VirtualClock())).send(HELLO, LIMIT)
    assert sent.result is result
    assert "secret" not in heard() + sent.why
