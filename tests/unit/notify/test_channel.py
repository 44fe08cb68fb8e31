"""What a service answered says what became of a message."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lamplighter.host.network import Answered
from lamplighter.notify.channel import BrokenChannel, Message, Result, Sent, judge

OK = Answered(status=200)


@pytest.mark.parametrize(
    ("record", "result"),
    [
        ((Answered(status=401),), Result.DEAD),
        ((Answered(status=403),), Result.DEAD),
        ((Answered(status=404),), Result.DEAD),
        ((Answered(status=410),), Result.DEAD),
        ((Answered(status=302),), Result.DEAD),
        ((Answered(status=400, words='{"description":"Bad Request: chat not found"}'),), Result.DEAD),
        ((Answered(status=429),), Result.LATER),
        ((Answered(status=500),), Result.LATER),
        ((Answered(status=503),), Result.LATER),
        ((Answered(status=408),), Result.LATER),
        ((Answered(status=504),), Result.UNSURE),
        ((Answered(status=400),), Result.REFUSED),
        ((Answered(status=413),), Result.REFUSED),
        ((OK, Answered(status=500)), Result.LATER),
        ((OK,), Result.REFUSED),
        ((Answered(status=200, words='{"ok":false,"error":"invalid_auth"}'),), Result.DEAD),
        ((), Result.LATER),
        ((Answered(trouble="no connection"),), Result.LATER),
        ((Answered(trouble="no answer within 15 s", is_unsure=True),), Result.UNSURE),
        ((Answered(trouble="10.0.0.1 is not a public address", is_refused=True),), Result.DEAD),
    ],
)
def test_an_answer_says_what_became_of_a_message(record: tuple[Answered, ...], result: Result) -> None:
    """The first that failed counts; a library that says no without a request may be tried again."""
    assert judge(record, accepted=False, said="").result is result


def test_what_the_library_took_is_sent() -> None:
    """Apprise knows what an answer of its services means."""
    assert judge((OK,), accepted=True, said="").result is Result.SENT


@pytest.mark.parametrize(
    ("answered", "seconds"),
    [
        (Answered(status=429, retry_after=timedelta(seconds=7)), 7),
        (Answered(status=429, words='{"message": "You are being rate limited.", "retry_after": 1.25}'), 1.25),
        (Answered(status=429, words='{"ok":false,"parameters":{"retry_after":35}}'), 35),
        (Answered(status=429, words='{"retry_after": 999999}'), 86_400),
        (Answered(status=503, retry_after=timedelta(seconds=120)), 120),
    ],
)
def test_how_long_to_wait_is_read_from_header_or_body(answered: Answered, seconds: float) -> None:
    """Discord and Telegram say it in the body too; a day is the most."""
    assert judge((answered,), accepted=False, said="").retry_after == timedelta(seconds=seconds)


def test_a_refused_agent_is_named() -> None:
    """Cloudflare's 1010 is about who we say we are, not about the address."""
    sent = judge((Answered(status=403, words="error code: 1010"),), accepted=False, said="")
    assert sent == Sent(
        result=Result.DEAD, why="the service answered 403 (1010: it refuses who we say we are)", retry_after=None
    )


def test_a_broken_channel_says_why() -> None:
    """A variable that is not set is found when something is sent."""
    channel = BrokenChannel(why="the variable X is not set")
    assert channel.send(Message(title="a", body="b"), timedelta(1)) == Sent(
        result=Result.DEAD, why="the variable X is not set"
    )
    assert (channel.mark, channel.limits.body) == ("broken", 2_000)
