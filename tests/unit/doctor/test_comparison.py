"""Features, records, journal and index held against each other: each difference a line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.simulators.clock import START

from lamplighter.doctor.comparison import Evidence, Folder, Record, compare
from lamplighter.doctor.finding import State
from lamplighter.featurepost.stock import Place
from lamplighter.publish.journal import Entry
from lamplighter.publish.journal import State as Row
from lamplighter.publish.publisher import Recalled, Receipt

ONE, TWO = "feature-0001-wrenfold", "feature-0002-wrenfold"
SLOT = "2026-05-04-1930"
RECEIPT = Receipt(id="x", location="x", published_at=START)
OUT = Recalled(slot=SLOT, feature_id=ONE, receipt=RECEIPT)
ROW = Entry(slot=SLOT, feature_id=ONE, state=Row.RECORDED, claimed_at=START, receipt=RECEIPT)
POSTED = Folder(id=ONE, place=Place.POSTED, name=f"posted/{ONE}")
READY = Folder(id=TWO, place=Place.READY, name=TWO)
RECORD = Record(channel="folder", file="folder_posted.jsonl", posts=(OUT,))
RIGHT = Evidence(folders=(POSTED, READY), records=(RECORD,), journal={"folder": (ROW,)}, indexed=frozenset({ONE, TWO}))


def test_what_agrees_is_no_difference() -> None:
    """One posted, one ready; a draft, and what the index alone remembers, are none either."""
    draft = Folder(id="feature-0003-kirino", place=Place.DRAFT, name="_draft-feature-0003-kirino")
    more = replace(RIGHT, folders=(*RIGHT.folders, draft), indexed=RIGHT.indexed | {"feature-0000-gone"})
    assert tuple(compare(RIGHT)) == tuple(compare(more)) == ()


@pytest.mark.parametrize(
    ("evidence", "about", "words", "remedy"),
    [
        (
            replace(RIGHT, folders=(POSTED, replace(READY, trouble="slide-2.jpg is missing"))),
            f"feature {TWO}",
            f"{TWO}: slide-2.jpg is missing",
            f"lamplighter stock drop {TWO}",
        ),
        (
            replace(RIGHT, folders=(replace(POSTED, trouble="slide-1.jpg is not the picture that was made"), READY)),
            f"feature {ONE}",
            "is not the picture that was made",
            "put it back from a backup",
        ),
        (
            replace(RIGHT, folders=(POSTED, READY, replace(READY, place=Place.HELD, name=f"_held-{TWO}"))),
            f"feature {TWO}",
            f"there are {TWO} and _held-{TWO}",
            "keep one",
        ),
        (
            replace(RIGHT, folders=(Folder(id=ONE, place=Place.READY, name=ONE), READY)),
            f"journal {SLOT}",
            f"{ONE} went out, and its folder is still ready: {ONE}",
            f"move it to content/sns/posted/{ONE}",
        ),
        (replace(RIGHT, folders=(READY,)), f"journal {SLOT}", "its folder is gone", "put it back from a backup"),
        (replace(RIGHT, records=()), f"journal {SLOT}", "no record has no line of it", "put the record back"),
        (
            replace(RIGHT, records=(replace(RECORD, posts=()),)),
            f"journal {SLOT}",
            "folder_posted.jsonl has no line of it",
            "put the record back",
        ),
        (
            replace(RIGHT, records=(replace(RECORD, unreadable=(2, 9)),)),
            "record folder_posted.jsonl",
            "line 2, 9 cannot be read",
            "correct or remove it",
        ),
        (
            replace(RIGHT, records=(replace(RECORD, unreadable=tuple(range(1, 9))),)),
            "record folder_posted.jsonl",
            "line 1, 2, 3, 4, 5 and 3 more",
            "correct or remove it",
        ),
        (
            replace(RIGHT, journal={"folder": ()}),
            "record folder_posted.jsonl",
            f"{ONE} went out for {SLOT}, and the journal does not know",
            "the next lamplighter post takes it over",
        ),
        (
            replace(RIGHT, journal={"folder": (replace(ROW, slot="2026-05-03-1930"),)}),
            "record folder_posted.jsonl",
            "the journal has it for 2026-05-03-1930",
            "correct the record's line",
        ),
        (
            replace(RIGHT, records=(replace(RECORD, posts=(OUT, OUT)),)),
            "record folder_posted.jsonl",
            "is there 2 times",
            "remove the lines too many",
        ),
        (
            replace(RIGHT, journal={"folder": (replace(ROW, state=Row.POSTING, receipt=None),)}),
            f"journal {SLOT}",
            "nobody said whether it did",
            "lamplighter post settles it",
        ),
        (
            replace(RIGHT, journal={"folder": (replace(ROW, state=Row.PUBLISHED),)}),
            f"journal {SLOT}",
            "not yet moved and noted",
            "lamplighter post settles it",
        ),
        (
            replace(RIGHT, folders=(POSTED, replace(READY, place=Place.POSTED, name=f"posted/{TWO}"))),
            f"feature {TWO}",
            "nothing says that it went out",
            f"move it to content/sns/{TWO}",
        ),
        (
            replace(RIGHT, out=(Recalled(slot="2026-05-05-1930", feature_id=TWO, receipt=RECEIPT),)),
            "channel folder",
            f"{TWO} is out on folder for 2026-05-05-1930",
            "takes it over",
        ),
        (replace(RIGHT, indexed=frozenset({ONE})), f"feature {TWO}", "is not in the database's index", "takes it in"),
    ],
)
def test_each_difference_is_a_line_with_what_to_do(evidence: Evidence, about: str, words: str, remedy: str) -> None:
    """And one only: what follows from it is not told again."""
    (found,) = compare(evidence)
    assert (found.about, found.state) == (about, State.WRONG)
    assert (words in found.words, remedy in found.remedy) == (True, True), found


def test_a_record_line_of_a_feature_that_is_still_ready_is_two_differences_at_most() -> None:
    """The record knows, the journal does not: the next post takes it over, and nothing goes out twice."""
    early = replace(RECORD, posts=(OUT, Recalled(slot="2026-05-05-1930", feature_id=TWO, receipt=RECEIPT)))
    (found,) = compare(replace(RIGHT, records=(early,)))
    assert found.words == f"{TWO} went out for 2026-05-05-1930, and the journal does not know"


def test_a_record_of_another_channel_says_which_setting_reads_it() -> None:
    """Nothing takes it over while another publisher is set."""
    other = Record(channel="other", file="other_posted.jsonl", posts=(OUT,))
    (found,) = compare(replace(RIGHT, records=(RECORD, other), journal={"folder": (ROW,), "other": ()}))
    assert found.remedy == "set post.publisher = 'other'"
