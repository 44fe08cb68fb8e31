"""What the renderer and its worker say to each other is strict in both directions."""

from __future__ import annotations

import msgspec
import pytest

from lamplighter.errors import FailureClass
from lamplighter.featurepost.slides.carousel import Made, Picture
from lamplighter.featurepost.slides.order import Refused, parse_answer, parse_order, render_answer


@pytest.mark.parametrize(
    "answer",
    [
        Made(pictures=(Picture(file="slide-1.jpg", size_bytes=3, sha256="ab"),), notes=("n",), fit=()),
        Refused(subject="slide 4", cause="no font has 简", remedy=""),
        Refused(subject="the disk", cause="full", remedy="free some", failure=FailureClass.DISK),
    ],
)
def test_an_answer_arrives_as_it_was_sent(answer: Made | Refused) -> None:
    """Both kinds survive the pipe."""
    assert parse_answer(render_answer(answer)) == answer


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"null", b'{"type":"other"}', b'{"type":"made","pictures":[],"notes":[],"fit":[],"more":1}'],
)
def test_anything_else_is_an_error(content: bytes) -> None:
    """An unknown kind or field is never guessed at."""
    with pytest.raises(msgspec.DecodeError):
        parse_answer(content)
    with pytest.raises(msgspec.DecodeError):
        parse_order(content)
